//! The forms of a name: with the endings of its language, as a part of an identifier or of a German
//! compound, derived, and with other accents.
//!
//! A name never stands inside another word: "Tim" is not in "time".

use super::language::Language;
use crate::reading::Reading;
use local_agent_text::language::is_common_english_word;

/// Whether the text has the name, in lower case, in any of its forms.
pub(super) fn has_form_of_name(reading: &Reading, lower: &str, language: Option<Language>) -> bool {
    stands_alone(reading, lower) || inflected(reading, lower, language) || derived(reading, lower)
}

/// The most letters of a name whose stem is also that of common words: "Tim" and "time".
const SHORT: usize = 4;

/// Whether the text has a word with the stem of the name. Different names can have one stem: "Simon"
/// and "Simone". So the word must be the same up to an "s"; a longer name may also be a common word
/// with a capital, or stand for one.
pub(super) fn has_stem_of_name(reading: &Reading, id: u32, lower: &str) -> bool {
    let is_short = lower.chars().count() <= SHORT;
    if !is_short && is_common_english_word(lower) {
        return reading.has(id);
    }
    let sentences = reading.sentences_with(id).iter();
    let mut tokens = sentences.flat_map(|n| reading.tokens_of(*n as usize));
    tokens.any(|t| {
        let word = reading.lower_word(t);
        let is_same = word.trim_end_matches('s') == lower.trim_end_matches('s');
        t.id == id && (is_same || !is_short && !t.capital)
    })
}

/// The least letters of a name that is looked for inside identifiers.
const SHORTEST: usize = 3;

/// The least letters of a name that begins an identifier and is no part of it: "Postgres" in
/// "PostgreSQL".
const LONG: usize = 5;

/// Whether the name stands between boundaries of words, or as a part of an identifier: "Harbour" in
/// `harbour_plan`, "SQL" in "MySQL".
fn stands_alone(reading: &Reading, lower: &str) -> bool {
    if lower.chars().count() < SHORTEST {
        return false;
    }
    let mut found = reading.lower().match_indices(lower);
    found.any(|(at, _)| is_alone(reading, at, at + lower.len()))
}

fn is_alone(reading: &Reading, start: usize, end: usize) -> bool {
    let text = as_written(reading);
    let first = text.get(start..).and_then(|rest| rest.chars().next());
    let before = text.get(..start).and_then(|rest| rest.chars().next_back());
    let last = text.get(..end).and_then(|rest| rest.chars().next_back());
    let rest = text.get(end..).unwrap_or("");
    let begins = divides(before, first);
    begins && (divides(last, rest.chars().next()) || is_long_opening(text, start, end))
}

/// The text with its capitals, if its letters keep their places in lower case.
fn as_written(reading: &Reading) -> &str {
    let lower = reading.lower();
    if lower.len() == reading.normal.len() {
        &reading.normal
    } else {
        lower
    }
}

/// Whether a word ends between two characters: at a sign, a digit, an inner capital, or a script that
/// is written without spaces.
fn divides(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return true;
    };
    !(before.is_alphabetic() && after.is_alphabetic())
        || before.is_lowercase() && after.is_uppercase()
        || is_unspaced(before) != is_unspaced(after)
}

/// Scripts without spaces, and Korean, which adds particles to foreign names.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Whether a long name begins an identifier with inner capitals.
fn is_long_opening(text: &str, start: usize, end: usize) -> bool {
    let name = text.get(start..end).unwrap_or("");
    let word = text.get(start..).unwrap_or("");
    let word = word
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or("");
    let is_identifier =
        word.contains(char::is_lowercase) && word.chars().skip(1).any(char::is_uppercase);
    is_identifier && name.chars().count() >= LONG
}

/// Whether a name begins or ends a longer word of the text: then it may be that word in another
/// form, and nothing is sure.
pub(super) fn is_part_of_a_word(reading: &Reading, lower: &str) -> bool {
    const LEAST: usize = 4;
    lower.chars().count() >= LEAST
        && reading.lower().match_indices(lower).any(|(at, _)| {
            let text = reading.lower();
            let before = text.get(..at).and_then(|rest| rest.chars().next_back());
            let after = text
                .get(at + lower.len()..)
                .and_then(|rest| rest.chars().next());
            let first = lower.chars().next();
            divides(before, first) || divides(lower.chars().next_back(), after)
        })
}

/// Endings of names, by language and script.
const GENITIVE: &[&str] = list!("names.endings-genitive");
const GERMAN: &[&str] = list!("names.endings-german");
const OTHERS: &[&str] = list!("names.endings-others");
const CYRILLIC: &[&str] = list!("names.endings-cyrillic");
const GREEK: &[&str] = list!("names.endings-greek");

/// How the names of a language change.
struct Inflection {
    endings: &'static [&'static str],
    /// How many letters both forms share at least.
    shared: usize,
    /// Whether the letters before an ending may change: "Helsinki", "Helsingissä".
    changes: bool,
}

fn inflection(lower: &str, language: Option<Language>) -> Inflection {
    let first = lower.chars().next().map_or(0, u32::from);
    let (endings, shared, changes) = match (first, language) {
        (0x370..=0x3ff, _) => (GREEK, 3, false),
        (0x400..=0x52f, _) => (CYRILLIC, 3, false),
        (_, Some(Language::German)) => (GERMAN, 3, false),
        (
            _,
            Some(
                Language::English
                | Language::French
                | Language::Spanish
                | Language::Italian
                | Language::Portuguese
                | Language::Dutch,
            ),
        ) => (GENITIVE, 3, false),
        _ => (OTHERS, 4, true),
    };
    Inflection {
        endings,
        shared,
        changes,
    }
}

/// Whether the text has the name with another ending: "Annas" and "Anna", "Москве" and "Москва";
/// or, in German, where every noun has a capital, as a part of a compound.
fn inflected(reading: &Reading, lower: &str, language: Option<Language>) -> bool {
    let rule = inflection(lower, language);
    let opening: String = lower.chars().take(rule.shared).collect();
    let words = &reading.capitals().words;
    let from = words.partition_point(|w| *w < opening);
    let mut near = words
        .iter()
        .skip(from)
        .take_while(|w| w.starts_with(&opening));
    let has_opening = opening.chars().count() == rule.shared;
    has_opening && near.any(|word| is_inflected(word, lower, &rule))
        || language == Some(Language::German)
            && words.iter().any(|word| is_compound_of(word, lower))
}

/// Whether the text has a name with the same opening, in a language whose names change more than their
/// endings: "Ołomuniec", "Ołomuńca". Then nothing is sure.
pub(super) fn may_be_a_form_of_name(
    reading: &Reading,
    lower: &str,
    language: Option<Language>,
) -> bool {
    const LONGEST_TAIL: usize = 4;
    let rule = inflection(lower, language);
    let letters = lower.chars().count();
    let mut words = reading.capitals().words.iter();
    rule.changes
        && words.any(|word| {
            let pairs = word.chars().zip(lower.chars());
            let shared = pairs.take_while(|(a, b)| a == b).count();
            let longest = word.chars().count().max(letters);
            shared >= rule.shared && shared * 2 >= longest && longest - shared <= LONGEST_TAIL
        })
}

fn is_inflected(word: &str, name: &str, rule: &Inflection) -> bool {
    let shared: usize = word
        .chars()
        .zip(name.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let (one, other) = (
        word.get(shared..).unwrap_or(""),
        name.get(shared..).unwrap_or(""),
    );
    let is_ending = |tail: &str| tail.is_empty() || rule.endings.contains(&tail);
    let before = word.get(..shared).unwrap_or("");
    // "The Joneses": an English name takes a longer plural behind a hiss.
    let is_plural =
        matches!((one, other), ("es", "") | ("", "es")) && before.ends_with(['s', 'x', 'z', 'h']);
    if is_ending(one) && is_ending(other) || is_plural {
        return true;
    }
    let (short, long) = if one.len() < other.len() {
        (one, other)
    } else {
        (other, one)
    };
    rule.changes
        && before.chars().count() >= LONG
        && short.chars().count() <= 2
        && long.chars().count() <= LONG
        && rule
            .endings
            .iter()
            .any(|e| e.chars().count() >= 2 && long.ends_with(e))
}

/// Whether one word is a compound that begins or ends with the other.
fn is_compound_of(word: &str, name: &str) -> bool {
    const REST: usize = 3;
    let (short, long) = if word.len() < name.len() {
        (word, name)
    } else {
        (name, word)
    };
    let letters = short.chars().count();
    letters >= LONG
        && long.chars().count() >= letters + REST
        && (long.starts_with(short) || long.ends_with(short))
}

/// Whether the text has a word from which the name is derived, or the reverse: "Norwegian" and
/// "Norway", "Chinese" and "China"; "Thatcherism" and "Thatcher".
fn derived(reading: &Reading, lower: &str) -> bool {
    let root: String = lower.chars().take(4).collect();
    let words = &reading.capitals().words;
    let from = words.partition_point(|w| *w < root);
    root.chars().count() == 4
        && words
            .iter()
            .skip(from)
            .take_while(|w| w.starts_with(&root))
            .any(|w| {
                has_ending_of_derived_name(lower)
                    || has_ending_of_derived_name(w)
                    || is_made_of(lower, w)
            })
}

fn has_ending_of_derived_name(word: &str) -> bool {
    const ENDINGS: [&str; 8] = *list!("names.endings");
    ENDINGS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word is made of a name: "Thatcherism"; not "Robertson" of "Robert".
fn is_made_of(word: &str, name: &str) -> bool {
    const ENDINGS: &[&str] = list!("names.endings-derived");
    let tail = word.strip_prefix(name);
    name.chars().count() >= LONG && tail.is_some_and(|tail| ENDINGS.contains(&tail))
}

/// Whether the text has the name with other accents: "Noel" for "Noël", or the reverse.
pub(super) fn unaccented(reading: &Reading, lower: &str) -> bool {
    let mut words = reading.capitals().words.iter();
    lower.chars().count() >= 4 && words.any(|word| differs_in_accents(word, lower))
}

/// Whether two words have the same letters except for accents, which only one of them has.
fn differs_in_accents(word: &str, other: &str) -> bool {
    let count = other.chars().count();
    let mut letters = word.chars().zip(other.chars());
    word.chars().count() == count
        && word.is_ascii() != other.is_ascii()
        && letters.clone().filter(|(a, b)| a == b).count() * 2 >= count
        && letters.all(|(a, b)| a == b || a.is_ascii() != b.is_ascii())
}
