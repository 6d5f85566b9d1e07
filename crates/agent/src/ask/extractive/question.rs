//! What a question asks for: the words it is about, and the kind of answer it wants.
//!
//! Everything taken from the word lists is a soft cue: no answer is refused because of one.

use std::collections::{HashMap, HashSet};

use super::pins::{self, Pin};
use super::words;

/// A word of the question that says what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    /// As [`local_agent_index::lexical::terms`] gives it.
    pub stem: String,
    /// How much it says: the index's idf, times the share of it that is not grammar.
    pub weight: f32,
}

/// What kind of answer is asked for. More than one may be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    pub time: bool,
    pub number: bool,
    /// "How long?": an amount of time or of space.
    pub extent: bool,
    pub person: bool,
    pub reason: bool,
    /// "What is X?", about one thing.
    pub definition: bool,
    /// "How do I …?"
    pub steps: bool,
    /// A command or code, named as such.
    pub code: bool,
    /// The question itself speaks of what is not in force.
    pub past: bool,
    /// More than one thing: "when …, and what …?"
    pub several: bool,
}

/// How much of its weight a verb that says little keeps.
const LIGHT: f32 = 0.35;

/// A question, analysed.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub terms: Vec<Term>,
    pub wants: Wants,
    /// The time or number that the answer must be of.
    pub pins: Vec<Pin>,
}

impl Question {
    /// Reads `text`; `idf` weighs a stem. Terms are distinct and in order of appearance.
    pub fn read(text: &str, idf: &dyn Fn(&str) -> f32) -> Self {
        let lower = text.to_lowercase();
        let bare = without_grammar(text, words::of_language(&lower));
        let mut stems = local_agent_index::lexical::terms(&bare);
        if stems.is_empty() {
            stems = local_agent_index::lexical::terms(text);
        }
        let shares = unspaced_shares(&lower);
        let light = words::split(&lower)
            .filter(|word| words::holds(words::LIGHT, word))
            .collect::<Vec<_>>()
            .join(" ");
        let light = local_agent_index::lexical::terms(&light);
        let weight = |stem: &String| {
            let share = if light.contains(stem) {
                LIGHT
            } else {
                shares.get(stem).copied().unwrap_or(1.0)
            };
            idf(stem).max(0.0) * share
        };
        let mut seen = HashSet::new();
        let distinct = stems.into_iter().filter(|stem| seen.insert(stem.clone()));
        let mut terms: Vec<Term> = distinct
            .map(|stem| Term {
                weight: weight(&stem),
                stem,
            })
            .collect();
        if terms.iter().any(|t| t.weight > 0.0) {
            terms.retain(|t| t.weight > 0.0);
        } else {
            terms.iter_mut().for_each(|t| t.weight = 1.0);
        }
        let wants = Wants::of(&lower, terms.len());
        Self {
            terms,
            wants,
            pins: pins::of(text),
        }
    }

    /// The weight of all terms together.
    pub fn total(&self) -> f32 {
        self.terms.iter().map(|t| t.weight).sum()
    }
}

/// `text` with the function words of its language blanked out; parts of compounds stay.
fn without_grammar(text: &str, list: &'static str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut asks = false;
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word
            .strip_suffix("'s")
            .or_else(|| word.strip_suffix("’s"))
            .unwrap_or(word);
        // "IT", "US": capitals throughout are an abbreviation, not a pronoun.
        let shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
        let lower = word.to_lowercase();
        // "in May" is a month, "May I" is not.
        let month = !out.trim().is_empty()
            && word.starts_with(char::is_uppercase)
            && words::month(&lower).is_some();
        // "long" after "how" asks for an amount; nothing need be called so.
        let degree = asks && words::holds(words::DEGREES, &lower);
        asks = matches!(lower.as_str(), "how" | "wie");
        let is_grammar = !shouted && !month && (degree || words::holds(list, &lower));
        out.push_str(if is_grammar { " " } else { piece });
    }
    out
}

/// Kinds of characters in scripts written without spaces.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Hiragana,
    Katakana,
    Other,
}

fn script(c: char) -> Option<Script> {
    match c {
        'ぁ'..='ゟ' => Some(Script::Hiragana),
        'ァ'..='ヿ' => Some(Script::Katakana),
        c if is_unspaced(c) => Some(Script::Other),
        _ => None,
    }
}

/// Scripts written without spaces between words: kana, ideographs, Thai.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{0e00}'..='\u{0e7f}' | '\u{20000}'..='\u{2ffff}')
}

/// How much each pair of neighbouring unspaced characters says, 0 to 1.
///
/// Japanese writes its grammar in hiragana: a pair of two says nothing, one that begins with it is
/// a particle and the start of a word, one that ends with it is the end of a word and its
/// inflection. A katakana word of many characters is one word: its pairs share the weight of one
/// and a half. A pair across two scripts is a seam. Chinese (ideographs and no kana) has its
/// grammar in characters of their own: a pair with one of them says nothing.
fn unspaced_shares(text: &str) -> HashMap<String, f32> {
    let chars: Vec<char> = text.chars().collect();
    let mut shares = HashMap::new();
    let chinese = !chars
        .iter()
        .any(|c| matches!(script(*c), Some(Script::Hiragana | Script::Katakana)));
    let grammar =
        |pair: &[char]| chinese && pair.iter().any(|c| words::CHINESE_GRAMMAR.contains(*c));
    let mut start = 0;
    while start < chars.len() {
        let kind = script(chars[start]);
        let end = start
            + chars[start..]
                .iter()
                .take_while(|c| script(**c) == kind)
                .count();
        let pairs = (end - start).saturating_sub(1);
        let share = match kind {
            Some(Script::Hiragana) => 0.0,
            Some(Script::Katakana) => (1.5 / pairs.max(1) as f32).min(1.0),
            _ => 1.0,
        };
        if kind.is_some() {
            for pair in chars[start..end].windows(2) {
                shares.insert(
                    pair.iter().collect(),
                    if grammar(pair) { 0.0 } else { share },
                );
            }
            if end - start == 1 && kind == Some(Script::Hiragana) {
                shares.insert(chars[start].to_string(), 0.0);
            }
            if let Some(next) = chars.get(end).filter(|c| script(**c).is_some()) {
                let seam = if kind == Some(Script::Hiragana) {
                    0.0
                } else {
                    0.35
                };
                shares.insert([chars[end - 1], *next].iter().collect(), seam);
            }
        }
        start = end;
    }
    shares
}

impl Wants {
    fn of(lower: &str, terms: usize) -> Self {
        let all: Vec<&str> = words::split(lower).collect();
        let degree = all
            .windows(2)
            .any(|w| matches!(w, ["how" | "wie", d] if words::holds(words::DEGREES, d)));
        Self {
            time: words::TIME.are_in(lower),
            number: degree || words::NUMBER.are_in(lower),
            extent: words::EXTENT.are_in(lower),
            person: words::PERSON.are_in(lower),
            reason: words::REASON.are_in(lower),
            definition: terms <= 2 && words::DEFINITION.are_in(lower),
            steps: words::STEPS.are_in(lower),
            code: words::CODE.are_in(lower),
            past: words::NOT_IN_FORCE.are_in(lower),
            several: words::split(lower)
                .filter(|w| words::holds(words::ASKING, w))
                .count()
                > 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        Question::read(text, &|_| 1.0)
            .terms
            .into_iter()
            .map(|t| t.stem)
            .collect()
    }

    #[test]
    fn grammar_is_not_what_a_question_is_about() {
        assert_eq!(
            stems("How do I reset the proofbox?"),
            local_agent_index::lexical::terms("reset proofbox")
        );
        assert_eq!(
            stems("Wie hoch ist die Kaltmiete?"),
            local_agent_index::lexical::terms("Kaltmiete")
        );
        assert_eq!(
            stems("May I bake in May?"),
            local_agent_index::lexical::terms("bake May")
        );
        assert_eq!(
            stems("What does IT do?"),
            local_agent_index::lexical::terms("IT")
        );
        assert!(
            !stems("who is it").is_empty(),
            "nothing but grammar is still asked"
        );
    }

    #[test]
    fn japanese_grammar_weighs_nothing_and_long_loanwords_no_more_than_words() {
        let question = Question::read("定休日のベーカリーはいつですか。", &|_| 1.0);
        let of = |stem: &str| {
            question
                .terms
                .iter()
                .find(|t| t.stem == stem)
                .map_or(0.0, |t| t.weight)
        };
        assert_eq!((of("定休"), of("です"), of("のベ")), (1.0, 0.0, 0.0));
        assert!(of("ーカ") > 0.0 && of("ーカ") < 0.5);
    }

    #[test]
    fn chinese_grammar_weighs_nothing() {
        let stems = stems("黑豹队的防守丢了多少分？");
        assert!(
            stems.contains(&"防守".to_owned()) && stems.contains(&"黑豹".to_owned()),
            "{stems:?}"
        );
        assert!(
            stems.iter().all(|s| !s.contains(['的', '了', '多'])),
            "{stems:?}"
        );
    }

    #[test]
    fn what_is_wanted_is_read_from_the_question() {
        let wants = |text: &str| Question::read(text, &|_| 1.0).wants;
        assert!(
            wants("When was it built?").time
                && wants("Wann kam er?").time
                && wants("いつ来ますか").time
        );
        assert!(wants("How far is the mill?").number && wants("Wie viele Brote?").number);
        assert!(
            wants("How do I bake?").steps
                && wants("Was ist zu tun?").steps
                && wants("どうすればいいですか").steps
        );
        assert!(
            wants("What is yudane?").definition
                && !wants("What is the price of a red wheel?").definition
        );
        assert!(
            wants("When did it come, and what did it cost?").several
                && wants("Wann und wo war es?").several
        );
        assert!(!wants("How many loaves do we bake a day?").several);
        assert_eq!(wants("blue umbrella"), Wants::default());
    }
}
