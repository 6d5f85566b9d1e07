//! German writes every noun with a capital: which of these words stand where a noun stands, and are
//! no names.

use super::language::Language;
use crate::reading::Reading;
use crate::text::Token;

/// Articles and other words before a noun, with prepositions that contain an article.
const BEFORE_NOUNS: &[&str] = list!("nouns.before");

/// Endings of adjectives before a noun, and of nouns.
const ADJECTIVES: [&str; 5] = ["e", "en", "er", "es", "em"];
const ENDINGS: &[&str] = list!("nouns.endings");

/// Words before a name.
const TITLES: &[&str] = list!("nouns.titles");

/// Whether the word at token `i` of a German text may be a common noun: it stands behind an article,
/// an adjective or a number, or has an ending of nouns.
pub(super) fn is_german_noun(reading: &Reading, i: usize, language: Option<Language>) -> bool {
    if language != Some(Language::German) {
        return false;
    }
    let tokens = &reading.text.tokens;
    let Some(token) = tokens.get(i) else {
        return false;
    };
    let lower = reading.lower_word(token);
    let before = i.checked_sub(1).and_then(|at| tokens.get(at));
    let before = before.filter(|b| b.clause == token.clause && !token.first);
    let Some(before) = before else {
        return has_ending(&lower);
    };
    let word = reading.lower_word(before);
    if TITLES.contains(&&*word) {
        return false;
    }
    let is_article = BEFORE_NOUNS.contains(&&*word);
    is_article || before.number || is_adjective(before, &word) || has_ending(&lower)
}

fn is_adjective(token: &Token, word: &str) -> bool {
    const SHORTEST: usize = 4;
    let is_long = word.chars().count() >= SHORTEST;
    !token.capital && is_long && !token.is_stop() && ADJECTIVES.iter().any(|e| word.ends_with(e))
}

fn has_ending(lower: &str) -> bool {
    let is_longer = |ending: &&str| lower.len() > ending.len() + 2;
    let mut endings = ENDINGS.iter().filter(|ending| is_longer(ending));
    endings.any(|ending| lower.ends_with(ending))
}
