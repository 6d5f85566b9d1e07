//! Names of languages and countries and their codes ("DE" for "German"), and abbreviations in the
//! plural ("RGs" for "RG").

use crate::reading::Reading;

/// Codes of languages and countries, each with its names: "DE german germany".
const CODES: &[&str] = list!("names.codes");

/// Whether the text has the code of a name, in capitals, or a name of a code.
pub(super) fn has_other_form(reading: &Reading, word: &str) -> bool {
    let lower = word.to_lowercase();
    let mut rows = CODES.iter().filter_map(|row| row.split_once(' '));
    rows.any(|(codes, names)| {
        let is_named = names.split(' ').any(|name| name == lower);
        let is_code = codes.split('/').any(|code| code == word);
        is_named && has_written(reading, codes.split('/'))
            || is_code && names.split(' ').any(|name| is_capitalised(reading, name))
    })
}

/// Whether a lower-case word is the name of a language or a country.
pub(super) fn is_known(lower: &str) -> bool {
    let mut rows = CODES.iter().filter_map(|row| row.split_once(' '));
    rows.any(|(_, names)| names.split(' ').any(|name| name == lower))
}

fn has_written<'w>(reading: &Reading, mut words: impl Iterator<Item = &'w str>) -> bool {
    words.any(|word| {
        is_capitalised(reading, &word.to_lowercase())
            && reading.text.tokens.iter().any(|t| reading.word(t) == word)
    })
}

fn is_capitalised(reading: &Reading, lower: &str) -> bool {
    let words = &reading.capitals().words;
    words.binary_search_by(|w| w.as_str().cmp(lower)).is_ok()
}

/// Whether the text has an abbreviation in the singular for its plural, or the reverse.
pub(super) fn has_in_the_other_number(reading: &Reading, word: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_abbreviation = singular.chars().count() >= 2 && singular.chars().all(char::is_uppercase);
    let lower = singular.to_lowercase();
    let plural = format!("{lower}s");
    is_abbreviation && (is_capitalised(reading, &lower) || is_capitalised(reading, &plural))
}
