//! Names and their initials: "NFL" and "National Football League".

use super::Case;
use super::names::is_next_to;
use crate::reading::Reading;

/// Whether the word is the initials of words of the text: "NFL" for "National Football League".
pub(super) fn initials(reading: &Reading, word: &str) -> bool {
    let letters: Vec<char> = word.chars().filter(|c| c.is_alphabetic()).collect();
    if letters.len() < 2 || !letters.iter().all(|c| c.is_uppercase()) {
        return false;
    }
    let long = letters.len() > 2;
    let mut places = 0..reading.text.tokens.len();
    long && reading
        .capitals()
        .letters
        .windows(letters.len())
        .any(|w| w == letters)
        || !long && places.any(|at| stands_for(reading, at, &letters))
}

/// Whether the words from token `at` on begin with these letters, in order.
fn stands_for(reading: &Reading, at: usize, letters: &[char]) -> bool {
    let words = reading
        .text
        .tokens
        .get(at..at + letters.len())
        .unwrap_or(&[]);
    let joined = words.windows(2).all(|pair| is_next_to(&pair[0], &pair[1]));
    !words.is_empty()
        && joined
        && words
            .iter()
            .zip(letters)
            .all(|(t, letter)| reading.word(t).starts_with(*letter))
}

/// Whether the text has the initials of the name: "NFL" for "National Football League".
pub(super) fn spelled_out(case: &Case<'_>, i: usize) -> bool {
    let tokens = &case.claim.text.tokens;
    let mut from = i;
    while from > 0 && tokens.get(from - 1).is_some_and(|t| t.capital) {
        from -= 1;
    }
    let letters: String = tokens
        .get(from..)
        .unwrap_or(&[])
        .iter()
        .take_while(|t| t.capital)
        .filter_map(|t| case.claim.word(t).chars().next())
        .collect();
    letters.chars().count() >= 2
        && case
            .cited
            .iter()
            .any(|s| has_abbreviation(s.reading, &letters))
}

/// Whether a word of the text is these letters, with or without full stops.
fn has_abbreviation(reading: &Reading, letters: &str) -> bool {
    let mut words = reading.text.tokens.iter().map(|t| reading.word(t));
    words.any(|word| word.chars().filter(|c| *c != '.').eq(letters.chars()))
}
