//! Finds what a question asks about a thing: the price in "what is the price of oak?", in "quel est le
//! prix du chêne ?" and in "welchen Preis hat die Eiche?".

use std::ops::Range;

use super::cues::{self, ATTRIBUTED, BIRTH, BIRTHDAY_KEYS, DATA, WordList, holds, split};
use local_agent_text::language::Language;
use local_agent_text::language::lists::list;

/// The words of a question, as they are written and in lower case.
struct Words<'t> {
    written: Vec<&'t str>,
    lower: Vec<String>,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        let written: Vec<&str> = text
            .split_inclusive(char::is_whitespace)
            .flat_map(words_of)
            .collect();
        let lower = written.iter().map(|word| word.to_lowercase()).collect();
        Self { written, lower }
    }

    fn lower(&self) -> Vec<&str> {
        self.lower.iter().map(String::as_str).collect()
    }
}

/// The words of a text without blanks. The owner in "Tomas' birthday" has an "s" of its own.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let bare = text.trim_end();
    let owns = bare.ends_with("s'") || bare.ends_with("s’");
    split(text).chain(owns.then_some("s"))
}

/// The word for the attribute in "what is the … of …", "what is Mira's …" or "… of …".
pub(super) fn in_english(text: &str) -> Option<&str> {
    of_thing_or_owner(&Words::of(text))
}

/// The word for the attribute in questions like "what is the … of …" in other languages, and behind
/// a word like "which".
pub(super) fn in_any_language(text: &str) -> Option<&str> {
    let words = Words::of(text);
    before_owner(&words).or_else(|| behind_which(&words))
}

/// The noun behind a word like "which", if a verb in the singular follows: "what colour is the
/// boat?", "De quelle marque est la remorque ?"
fn behind_which<'t>(words: &Words<'t>) -> Option<&'t str> {
    let lower = words.lower();
    let has_preposition = lower.first().is_some_and(|word| holds(PREPOSITIONS, word));
    let start = usize::from(has_preposition);
    if !holds(WHICH, lower.get(start)?) {
        return None;
    }
    let behind = lower.get(start + 1..)?;
    let verb = behind.iter().position(|word| holds(SINGULAR_VERBS, word))?;
    let noun = behind.get(verb.checked_sub(1)?)?;
    let is_plural =
        lower.get(start) == Some(&"what") && noun.ends_with('s') && !noun.ends_with("ss");
    let names_kind = behind.iter().take(verb).any(|word| holds(KINDS, word));
    let is_attribute = verb <= NAMED && !is_plural && !names_kind;
    is_attribute.then(|| telling(&words.written[start + 1..start + 1 + verb]))
}

/// The noun between an article and the owner: "Quel est le prix du chêne ?"
fn before_owner<'t>(words: &Words<'t>) -> Option<&'t str> {
    let lower = words.lower();
    let [asking, verb, behind @ ..] = lower.as_slice() else {
        return None;
    };
    if !holds(WHAT, asking) || !holds(IS, verb) {
        return None;
    }
    let start = usize::from(behind.first().is_some_and(|word| holds(DEFINITE, word)));
    let noun = behind.get(start..)?;
    let owner = noun.iter().position(|word| holds(ATTRIBUTED, word))?;
    let range = 2 + start..2 + start + owner;
    (start > 0 && (1..=NAMED).contains(&owner)).then(|| telling(&words.written[range]))
}

/// Words that ask which one of several, and prepositions before them.
const WHICH: WordList = list(DATA, "which-one");
const PREPOSITIONS: WordList = list(DATA, "before-which");
/// Words that ask what something is, …
const WHAT: WordList = list(DATA, "what-is");
/// … the verbs behind them, and articles behind those.
const IS: WordList = list(DATA, "is");
const DEFINITE: WordList = list(DATA, "definite");
/// Auxiliary verbs in the singular.
const SINGULAR_VERBS: WordList = list(DATA, "singular-verbs");
/// Words for a kind, which are no attribute: "what kind of wood is it?"
const KINDS: WordList = list(DATA, "kinds");

/// The attribute in an English question, or in words as they are typed for a search.
fn of_thing_or_owner<'t>(words: &Words<'t>) -> Option<&'t str> {
    let lower = words.lower();
    let words = &words.written;
    let of = lower.iter().position(|w| holds(ATTRIBUTED, w));
    match lower.as_slice() {
        [
            asking @ ("what" | "when" | "where"),
            "is" | "was" | "are" | "s",
            rest @ ..,
        ] => {
            let owner = rest.iter().position(|w| *w == "s").map_or(0, |at| at + 2);
            // "When is the meeting in June?" asks for no attribute.
            let is_of = of.is_some_and(|of| lower[of] == "of");
            let is_thing = *asking == "what" || *asking == "when" && is_of;
            let is_asked = owner > 0 || is_thing && rest.first() == Some(&"the");
            let end = match of {
                Some(of) if of > owner => of,
                _ if owner > 0 => words.len(),
                _ => return None,
            };
            let end = before_verb(&lower, owner.max(2)..end);
            (is_asked && end > owner.max(2) + 1).then(|| telling(&words[owner.max(2)..end]))
        }
        // Words as they are typed for a search: "booking code of the flights".
        [first, ..] if !holds(cues::ASKING, first) && !holds(cues::POLAR, first) => {
            let end = of.filter(|of| (1..=NAMED).contains(of) && lower[*of] == "of")?;
            let before = lower.get(..end)?;
            let asks = before
                .iter()
                .any(|w| cues::is_grammar(Language::English, w));
            (!asks).then(|| telling(&words[..end]))
        }
        _ => None,
    }
}

/// The end of an attribute without the verb behind it: "sire" in "what was Tolly's sire called?"
fn before_verb(lower: &[&str], attribute: Range<usize>) -> usize {
    let words = lower.get(attribute.clone()).unwrap_or_default();
    let behind = words.iter().rev().take_while(|word| holds(CALLED, word));
    attribute.end - behind.count()
}

/// Verbs behind an attribute.
const CALLED: WordList = list(DATA, "called");

/// The word of an attribute that tells it from others: "serial" in "serial number", "size" in "shoe
/// size". A phone number need not be called one.
fn telling<'t>(attribute: &[&'t str]) -> &'t str {
    match attribute {
        [.., before, last] if holds(GENERAL, &last.to_lowercase()) => {
            let lower = before.to_lowercase();
            let is_grammar = cues::is_grammar(Language::English, &lower) || lower == "s";
            if is_grammar || holds(PHONE_WORDS, &lower) {
                last
            } else {
                before
            }
        }
        [.., last] => last,
        [] => "",
    }
}

/// Words for attributes of which a thing may have several.
const GENERAL: WordList = list(DATA, "general");

/// Words before "number" that mean a telephone.
const PHONE_WORDS: WordList = list(DATA, "phones");

/// An attribute has at most this many words.
const NAMED: usize = 3;

/// Words for one attribute in several languages; those of one attribute are between two bars.
const ATTRIBUTES: WordList = list(DATA, "attributes");

/// Whether two words in lower case mean the same attribute.
pub(super) fn same(one: &str, other: &str) -> bool {
    let mut attributes = ATTRIBUTES.split('|');
    attributes.any(|words| holds(words, one) && holds(words, other))
}

/// Whether a text in lower case says an attribute, in one of its names in several languages; for a
/// birthday also by a word for birth.
pub(super) fn says(lower: &str, attribute: &str) -> bool {
    let is_birthday = holds(BIRTHDAY_KEYS, attribute);
    split(lower).any(|word| same(word, attribute) || is_birthday && holds(BIRTH, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_attribute_is_found_in_several_languages() {
        assert_eq!(in_english("What is the price of oak?"), Some("price"));
        assert_eq!(in_english("What's Tomas' birthday?"), Some("birthday"));
        for (question, attribute) in [
            ("Quel est le prix du chêne ?", "prix"),
            ("Wie lautet die Adresse von Ada?", "Adresse"),
            ("¿Cuál es el precio de la puerta?", "precio"),
        ] {
            assert_eq!(in_any_language(question), Some(attribute), "{question}");
        }
        for question in ["Was ist neu?", "Wie ist das Wetter?", "Quel est ton nom ?"] {
            assert_eq!(in_any_language(question), None, "{question}");
        }
    }

    #[test]
    fn the_noun_behind_which_is_an_attribute_before_a_verb_in_the_singular() {
        for (question, attribute) in [
            ("What colour is the boat?", "colour"),
            ("Welche Farbe hat das Boot?", "Farbe"),
            ("De quelle marque est la remorque de Thierry ?", "marque"),
            ("¿De qué color es la puerta?", "color"),
        ] {
            assert_eq!(in_any_language(question), Some(attribute), "{question}");
        }
        for question in [
            "What tools does he have?",
            "What kind of wood is it?",
            "Welche Werkzeuge sind im Schrank?",
            "What did Ada say?",
        ] {
            assert_eq!(in_any_language(question), None, "{question}");
        }
    }
}
