//! L4: proper names. A name in the claim appears in the cited text, its heading or its path.
//!
//! A name is a capitalised word inside a sentence. The first word of a sentence is a name if the
//! cited text has in its place another name, or a pronoun for a person named before. In English, a
//! first word that no dictionary has may be a name too, which raises only a doubt: "Karim leads",
//! but not "Revenue grew".

use std::collections::HashSet;

use super::align::{Aligned, Alignment};
use super::atoms::readings;
use super::initials::{initials, spelled_out};
use super::language::{Language, is_english, is_little_word, supposed};
use super::name_forms::{
    has_form_of_name, has_stem_of_name, is_part_of_a_word, may_be_a_form_of_name, unaccented,
};
use super::nouns::is_german_noun;
use super::{Case, Effect, Source, name_codes};
use crate::Code;
use crate::atoms as a;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};
use local_agent_text::language::is_common_english_word;

/// Finds names without support. Nouns are capitalised in German, so for a claim in another language
/// than its evidence, only words that look the same in both are checked.
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>, foreign: bool) -> Vec<Objection> {
    if foreign {
        return foreign_names(case);
    }
    let missing = missing_names(case, alignment);
    missing
        .iter()
        .map(|token| objection(case, alignment, token, missing.len()))
        .collect()
}

/// The names that nothing in the cited text supports, each once.
fn missing_names<'c>(case: &Case<'c>, alignment: &Alignment<'_>) -> Vec<&'c Token> {
    let tokens = &case.claim.text.tokens;
    let titled = in_title_case(case.claim, tokens);
    let in_atom = tokens_in_atoms(case.claim);
    // Code is compared as a whole: see `code`.
    let coded = words_of_code(case);
    let language = language_of(case);
    let mut missing: Vec<&Token> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let word = case.claim.word(token);
        let roman = word.chars().all(|c| matches!(c, 'I' | 'V' | 'X'));
        let skipped = roman
            || is_currency_before(case.claim, i)
            || in_atom.get(i) == Some(&true)
            || case.claim.is_explained(i)
            || titled && !is_abbreviation(word)
            || is_title(case.claim, token)
            || token.first && !is_abbreviation(word) && opens(&case.claim.lower_word(token))
            || coded.contains(word)
            || is_german_noun(case.claim, i, language) && !replaces_a_noun(alignment, token);
        if is_name(token)
            && !skipped
            && !is_capital_by_place(case, alignment, token)
            && !is_known(case, alignment, i)
            && !missing.iter().any(|t| t.id == token.id)
        {
            missing.push(token);
        }
    }
    missing
}

/// Whether a word has a capital only because it begins a sentence, whatever the texts have: a little
/// word, or one that gives an order ("Zuerst", "Ensuite").
fn opens(word: &str) -> bool {
    const IN_ORDER: &[&str] = list!("names.in-order");
    is_little_word(word) || IN_ORDER.contains(&word)
}

/// Whether a word is the code of a currency directly before its amount: "EUR 62".
fn is_currency_before(claim: &Reading, i: usize) -> bool {
    let tokens = &claim.text.tokens;
    let (Some(word), Some(next)) = (tokens.get(i), tokens.get(i + 1)) else {
        return false;
    };
    let unit = a::unit(&claim.lower_word(word));
    next.number && unit.is_some_and(a::is_currency)
}

/// Whether a word is only the title before a name: "Madame".
fn is_title(claim: &Reading, token: &Token) -> bool {
    const TITLES: &[&str] = list!("names.titles");
    TITLES.contains(&&*claim.lower_word(token))
}

/// The doubts about names in a claim of another language than the cited text, if both are in Latin
/// script. Names of places and languages may differ, so nothing is sure.
fn foreign_names(case: &Case<'_>) -> Vec<Objection> {
    if language_of(case) == Some(Language::German) || !case.cited.iter().all(is_latin) {
        return Vec::new();
    }
    let in_atom = tokens_in_atoms(case.claim);
    let coded = words_of_code(case);
    let tokens = case.claim.text.tokens.iter().enumerate();
    let strange = tokens.filter(|(i, token)| {
        let word = case.claim.word(token);
        let is_word = word.starts_with(|c: char| c.is_alphabetic() && (c as u32) < 0x250);
        is_word
            && is_name(token)
            && word.chars().count() > USUAL_LETTERS
            && !token.first
            && in_atom.get(*i) != Some(&true)
            && !coded.contains(word)
            && !is_common_english_word(word)
            && !carried(case, *i)
            && !case.asked.has(token.id)
    });
    let doubts = strange.map(|(_, token)| {
        let said = case.claim.word(token).to_owned();
        let found = Objection::new(Code::Name, Effect::Doubts, Detail::Absent { said });
        found.at(token.start..token.end)
    });
    doubts.take(1).collect()
}

/// Whether a text is in Latin script.
fn is_latin(source: &Source<'_>) -> bool {
    let letters = source.reading.normal.chars().filter(|c| c.is_alphabetic());
    let (all, latin) = letters.take(400).fold((0, 0), |(all, latin), c| {
        (all + 1, latin + usize::from((c as u32) < 0x250))
    });
    latin * 2 >= all
}

/// For every token: whether it is part of a number, a date or another atom.
fn tokens_in_atoms(claim: &Reading) -> Vec<bool> {
    let mut in_atom = vec![false; claim.text.tokens.len()];
    for atom in &claim.atoms {
        if let Some(covered) = in_atom.get_mut(atom.tokens.clone()) {
            covered.fill(true);
        }
    }
    in_atom
}

/// Whether a word is capitalised only because it begins the sentence.
fn is_capital_by_place(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    token.first
        && !is_abbreviation(case.claim.word(token))
        && !named_elsewhere(case, token)
        && !replaces_a_name(case, alignment, token)
        && !replaces_a_likely_name(case, alignment, token)
        && !is_no_common_word(case, token)
}

/// Whether the cited text, the question or the claim itself explains the name at token `i`.
fn is_known(case: &Case<'_>, alignment: &Alignment<'_>, i: usize) -> bool {
    let Some(token) = case.claim.text.tokens.get(i) else {
        return true;
    };
    carried(case, i)
        || case.asked.has(token.id)
        || !(token.first && is_no_common_word(case, token))
            && stands_for_pronoun(case, alignment, i)
        || given_name(case, alignment, i)
        || explained(case, i)
}

/// A claim begins with a setting if at most this many words stand before its name: "In Britain, …".
const SETTING: usize = 1;

/// The objection to a name without support, one of `missing`.
fn objection(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    token: &Token,
    missing: usize,
) -> Objection {
    let word = case.claim.word(token);
    let elsewhere = case.others.iter().any(|s| s.reading.has(token.id));
    let lower = word.to_lowercase();
    let at = case
        .claim
        .text
        .tokens
        .partition_point(|t| t.start < token.start);
    // "In Britain, …", where the text has only towns: the answerer may simply know it.
    let is_known_place = at <= SETTING
        && name_codes::is_known(&lower)
        && !readings(case).any(|r| r.capitals().words.iter().any(|w| name_codes::is_known(w)));
    let mild = elsewhere
        || is_known_place
        || is_german_noun(case.claim, at, language_of(case))
        || readings(case).any(|r| is_part_of_a_word(r, &lower))
        || readings(case).any(|r| may_be_a_form_of_name(r, &lower, language_of(case)))
        || (token.first || is_german(case)) && !replaces_a_name(case, alignment, token)
        || !is_listed(case, token)
            && missing == 1
            && is_abbreviation(word)
            && word.len() <= USUAL_LETTERS;
    // A name that replaces another one. If it replaces none, the answerer may simply know it.
    let named = alignment.best().is_some_and(speaks_of_somebody_named);
    let rival = named || has_rival(case, alignment);
    let effect = if mild || !(rival || missing > 1) {
        Effect::Doubts
    } else {
        Effect::Rejects
    };
    let detail = Detail::Absent {
        said: word.to_owned(),
    };
    Objection::new(Code::Name, effect, detail).at(token.start..token.end)
}

/// Whether a word stands in the place of another noun in an otherwise equal sentence.
fn replaces_a_noun(alignment: &Alignment<'_>, token: &Token) -> bool {
    let mut edits = alignment.edits().iter();
    edits.any(|edit| {
        let is_own = edit.claim.is_some_and(|t| t.start == token.start);
        is_own && edit.evidence.is_some_and(is_name)
    })
}

/// Whether the claim is German, where a capital shows a noun and not yet a name.
fn is_german(case: &Case<'_>) -> bool {
    language_of(case) == Some(Language::German)
}

/// The words between back-ticks.
fn words_of_code<'a>(case: &Case<'a>) -> HashSet<&'a str> {
    let spans = case.code.iter().copied();
    spans
        .flat_map(|span| span.split(|c: char| !c.is_alphanumeric()))
        .collect()
}

/// Whether the nearest sentences have a name that the claim does not have.
fn has_rival(case: &Case<'_>, alignment: &Alignment<'_>) -> bool {
    alignment.0.iter().any(|near| {
        let reading = near.source.reading;
        near.tokens().iter().any(|t| is_rival(case, reading, t))
    })
}

/// Whether a word of the cited text is a name that the claim does not have.
fn is_rival(case: &Case<'_>, reading: &Reading, token: &Token) -> bool {
    is_name(token)
        && !case.claim.has(token.id)
        && (!token.first
            || !ends_as_a_word(reading.word(token)) && !reading.has_uncapitalised(token.id))
}

/// Whether the name is in a list whose other items the text has: "JPEG, PNG and BMP" where the text
/// lists the first two. Then it is more than an everyday abbreviation.
fn is_listed(case: &Case<'_>, token: &Token) -> bool {
    let tokens = &case.claim.text.tokens;

    let at = tokens.partition_point(|t| t.start < token.start);
    let before = tokens.get(..at).unwrap_or(&[]).iter().rev();
    let after = tokens.get(at + 1..).unwrap_or(&[]).iter();
    let nearest = [
        before.take(2).find(|t| !joins(case.claim, t)),
        after.take(2).find(|t| !joins(case.claim, t)),
    ];
    nearest.into_iter().flatten().any(|t| {
        let gap = t.end.min(token.end)..t.start.max(token.start);
        let gap = case.claim.normal.get(gap).unwrap_or("");
        let listed = gap.contains(',') || gap.contains(" and ") || gap.contains(" or ");
        let known = case.cited.iter().any(|s| s.reading.has(t.id));
        listed && known && is_abbreviation(case.claim.word(t))
    })
}

fn joins(claim: &Reading, token: &Token) -> bool {
    matches!(claim.word(token), "and" | "or" | "und" | "oder")
}

/// Whether another item of the snapshot has the word as a name, capitalised inside a sentence, and
/// no text has it in lower case.
fn named_elsewhere(case: &Case<'_>, token: &Token) -> bool {
    case.others
        .iter()
        .any(|s| s.reading.has(token.id) && is_capital_inside_a_sentence(s.reading, token.id))
        && looks_like_a_name_here(case, token)
}

fn is_capital_inside_a_sentence(reading: &Reading, id: u32) -> bool {
    let mut tokens = reading.text.tokens.iter();
    tokens.any(|t| t.id == id && t.capital && !t.first)
}

/// Abbreviations with at most this many letters are often everyday words: "an API", "the ID".
const USUAL_LETTERS: usize = 4;

/// Whether a word is written in capitals throughout.
fn is_abbreviation(word: &str) -> bool {
    word.chars().count() >= 2
        && word.chars().filter(|c| c.is_alphabetic()).count() >= 2
        && !word.contains(char::is_lowercase)
}

/// Capitalised, and not a word that is often capitalised for other reasons.
pub(crate) fn is_name(token: &Token) -> bool {
    token.capital
        && !token.number
        && token.end - token.start > 1
        && token.is_content()
        && token.quantity().is_none()
        && token.mood().is_none()
}

/// Whether most words are capitalised, as in a title, so that capitals do not show names.
/// Abbreviations do not count.
fn in_title_case(reading: &Reading, tokens: &[Token]) -> bool {
    let words: Vec<&Token> = tokens
        .iter()
        .filter(|t| !t.number && t.is_content() && !is_abbreviation(reading.word(t)))
        .collect();
    words.len() >= 4 && words.iter().filter(|t| t.capital).count() * 10 > words.len() * 8
}

/// Whether the cited text has the name at token `i`, in any form.
fn carried(case: &Case<'_>, i: usize) -> bool {
    let Some(token) = case.claim.text.tokens.get(i) else {
        return true;
    };
    let word = case.claim.word(token);
    let lower = word.to_lowercase();
    if readings(case).any(|r| has_stem_of_name(r, token.id, &lower)) {
        return true;
    }
    let language = language_of(case);
    readings(case).any(|r| {
        has_form_of_name(r, &lower, language)
            || unaccented(r, &lower)
            || initials(r, word)
            || name_codes::has_in_the_other_number(r, word)
            || name_codes::has_other_form(r, word)
    }) || spelled_out(case, i)
}

/// The language of the claim and of what it cites, if it is known.
fn language_of(case: &Case<'_>) -> Option<Language> {
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    supposed(case.claim, case.language, &cited)
}

/// Whether the word is a given name that the text never has with that surname: "Robin Singh" where
/// the text mentions Singh.
fn given_name(case: &Case<'_>, alignment: &Alignment<'_>, i: usize) -> bool {
    let tokens = &case.claim.text.tokens;
    let Some(first) = tokens.get(i) else {
        return false;
    };
    let last = last_of_full_name(tokens, i).unwrap_or(first);
    let stands = alignment.tokens().any(|t| is_same_name(t, last));
    last.start != first.start
        && stands
        && !case
            .cited
            .iter()
            .any(|s| has_other_given_name(s.reading, last))
}

/// The last of the capitalised words that follow each other from token `i` on.
fn last_of_full_name(tokens: &[Token], i: usize) -> Option<&Token> {
    let mut last = tokens.get(i)?;
    let behind = tokens.get(i + 1..).unwrap_or(&[]).iter();
    for next in behind.take_while(|t| t.capital && !t.number) {
        if !is_next_to(last, next) {
            break;
        }
        last = next;
    }
    Some(last)
}

/// Whether at most one character is between two words.
pub(super) fn is_next_to(word: &Token, next: &Token) -> bool {
    next.start <= word.end + 1
}

fn is_same_name(token: &Token, name: &Token) -> bool {
    token.id == name.id && token.capital
}

/// Whether the text has the family name behind another capitalised word.
fn has_other_given_name(reading: &Reading, family_name: &Token) -> bool {
    let mut pairs = reading.text.tokens.windows(2);
    pairs.any(|pair| match pair {
        [before, name] => {
            is_same_name(name, family_name)
                && before.capital
                && before.end - before.start > 1
                && is_next_to(before, name)
        }
        _ => false,
    })
}

/// Whether the claim itself explains the abbreviation: "diastolic blood pressure (DBP)".
fn explained(case: &Case<'_>, i: usize) -> bool {
    let tokens = &case.claim.text.tokens;
    let Some(token) = tokens.get(i) else {
        return false;
    };
    let word = case.claim.word(token);
    let letters = word.strip_suffix('s').unwrap_or(word);
    let count = letters.chars().count();
    let Some(before) = i.checked_sub(count).and_then(|from| tokens.get(from..i)) else {
        return false;
    };
    count >= 2
        && before
            .iter()
            .zip(letters.chars())
            .all(|(t, c)| begins_with_capital(case.claim.word(t), c))
}

/// Whether the first letter of a word, as a capital, is this letter.
fn begins_with_capital(word: &str, letter: char) -> bool {
    let first = word.chars().next();
    first.is_some_and(|f| f.to_uppercase().eq([letter]))
}

/// Whether the name is the subject of the claim where the nearest sentence begins with a pronoun or
/// a description. A text often names its subject only in its title, which may not be cited.
fn stands_for_pronoun(case: &Case<'_>, alignment: &Alignment<'_>, i: usize) -> bool {
    const ANAPHORS: [&str; 16] = *list!("names.anaphors");
    /// After these words the description does not refer to the name: "the Pier".
    const ARTICLES: [&str; 3] = ["the", "this", "these"];
    /// After these words a name is a place, a time or a means, and not a subject: "Polished in
    /// Jena, the mirror".
    const PREPOSITIONS: [&str; 16] = *list!("names.prepositions");
    let Some(best) = alignment.best().filter(|b| b.share >= 0.4) else {
        return false;
    };
    let lead = case.claim.text.tokens.get(..=i).unwrap_or(&[]);
    let behind = lead
        .iter()
        .any(|t| PREPOSITIONS.contains(&&*case.claim.lower_word(t)));
    let subject =
        !behind && lead.len() <= 6 && lead.iter().all(|t| t.capital || t.is_stop() || t.number);
    let reading = best.source.reading;
    let Some(at) = best
        .tokens()
        .iter()
        .take(3)
        .position(|t| ANAPHORS.contains(&&*reading.lower_word(t)))
    else {
        return false;
    };
    if speaks_of_somebody_named(best) {
        return false;
    }
    let article = best
        .tokens()
        .get(at)
        .is_some_and(|t| ARTICLES.contains(&&*reading.lower_word(t)));
    let named = best
        .tokens()
        .iter()
        .take(if article { 5 } else { at })
        .any(is_name);
    subject && !named
}

/// Whether a sentence begins with a pronoun for a person, and the cited text gives a full name
/// before it: then the text says who is meant.
fn speaks_of_somebody_named(best: &Aligned<'_>) -> bool {
    let reading = best.source.reading;
    let Some(start) = best.tokens().first().map(|t| t.start) else {
        return false;
    };
    let before = reading
        .text
        .tokens
        .iter()
        .take_while(|t| t.start < start)
        .count();
    let mut pairs = reading.text.tokens[..before].windows(2);
    best.tokens()
        .iter()
        .take(3)
        .any(|t| is_person(reading.word(t)))
        && pairs.any(is_full_name)
}

/// Whether two words are names behind each other.
fn is_full_name(pair: &[Token]) -> bool {
    pair.iter().all(is_name)
        && !pair[1].first
        && pair[1].start == pair[0].end + 1
        && pair[1].clause == pair[0].clause
}

/// A pronoun for a person.
fn is_person(word: &str) -> bool {
    ["he", "she", "his", "her"]
        .iter()
        .any(|person| person.eq_ignore_ascii_case(word))
}

/// Whether the first word of the claim is in the place where the nearest sentence has a name that
/// the claim does not mention: the same words follow, or the rest of the sentence is the same.
fn replaces_a_name(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    let Some(best) = alignment.best() else {
        return false;
    };
    let claim = &case.claim.text.tokens;
    let replaced = alignment.edits().iter().any(|e| {
        e.claim.is_some_and(|c| c.start == token.start)
            && e.evidence.is_some_and(|t| is_unmentioned_name(claim, t))
    });
    let next = claim.iter().find(|t| t.start > token.start);
    let same_goes_on = next.is_some_and(|next| has_unmentioned_name_before(claim, best, next));
    // A pronoun where the text has named a person: "Allergies trouble her".
    let says_who = claim
        .iter()
        .any(|t| is_person(case.claim.word(t)) || !t.first && is_name(t));
    let pronoun = best.share >= NEAR && !says_who && speaks_of_somebody_named(best);
    (replaced || same_goes_on || pronoun) && looks_like_a_name_here(case, token)
}

/// Whether a word of the cited text is a name that none of these tokens is.
fn is_unmentioned_name(claim: &[Token], token: &Token) -> bool {
    is_name(token) && !has_stem(claim, token.id)
}

/// Whether the sentence has the word `next` behind such a name.
fn has_unmentioned_name_before(claim: &[Token], best: &Aligned<'_>, next: &Token) -> bool {
    let reading = best.source.reading;
    let mut pairs = best.tokens().windows(2);
    pairs.any(|pair| {
        pair[1].id == next.id
            && is_unmentioned_name(claim, &pair[0])
            && (!pair[0].first || looks_like_a_name(reading, &pair[0]))
    })
}

/// Whether the claim begins with this word where the nearest sentence begins with a word that no
/// dictionary has, and the same words follow: "Carol leads" and "Alice leads".
fn replaces_a_likely_name(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    let Some(best) = alignment.best().filter(|best| best.share >= NEAR) else {
        return false;
    };
    let claim = &case.claim.text.tokens;
    let (Some(first), Some(next)) = (best.tokens().first(), best.tokens().get(1)) else {
        return false;
    };
    let follows = claim.iter().find(|t| t.start > token.start);
    follows.is_some_and(|t| t.id == next.id)
        && is_unmentioned_name(claim, first)
        && is_in_no_dictionary(best.source.reading, first)
        && looks_like_a_name_here(case, token)
}

/// Whether a word of letters is in no dictionary of English.
fn is_in_no_dictionary(reading: &Reading, token: &Token) -> bool {
    let word = reading.word(token);
    word.chars().all(|c| c.is_ascii_alphabetic()) && !is_common_english_word(word)
}

/// Whether the first word of an English claim is in no dictionary of the language. Words with digits
/// or other marks in them are names of things of the text rather than of people.
fn is_no_common_word(case: &Case<'_>, token: &Token) -> bool {
    let word = case.claim.word(token);
    let letters = word.chars().all(char::is_alphabetic) && word.chars().count() >= SHORTEST_NAME;
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    letters
        && is_english(case.claim, case.language, &cited)
        && !is_common_english_word(word)
        && token.status().is_none()
        && token.pairs().is_empty()
}

/// A shorter capitalised word is rarely a name.
const SHORTEST_NAME: usize = 3;

/// A sentence with this share of the claim's words says the same except for the name. One of two
/// words is less than half, because the name weighs more.
const NEAR: f64 = 0.45;

/// Whether a capitalised first word is capitalised elsewhere too, or never in lower case in the
/// text.
fn looks_like_a_name(reading: &Reading, token: &Token) -> bool {
    let mut others = reading
        .text
        .tokens
        .iter()
        .filter(|t| t.id == token.id && !t.first);
    let small = others.clone().any(|t| !t.capital);
    !small && others.any(|t| t.capital)
}

/// Whether a word of the claim looks like a name because no text of the snapshot has it in lower
/// case.
fn looks_like_a_name_here(case: &Case<'_>, token: &Token) -> bool {
    !ends_as_a_word(case.claim.word(token))
        && !case
            .cited
            .iter()
            .chain(case.others)
            .any(|s| s.reading.has_uncapitalised(token.id))
        && token.status().is_none()
        && token.pairs().is_empty()
}

/// Whether a word has an ending of common words; names rarely do.
pub(super) fn ends_as_a_word(word: &str) -> bool {
    [
        "ing", "ed", "tion", "ment", "ness", "ly", "s", "al", "ive", "able",
    ]
    .iter()
    .any(|e| word.ends_with(e))
}
