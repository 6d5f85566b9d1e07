//! Phrases that bound a number, in other languages than English.

use super::{Bound, CURRENCY_SIGNS, simple_value};
use crate::text::lower_case;

const AT_LEAST: &[&str] = list!("bounds.at-least");
const AT_MOST: &[&str] = list!("bounds.at-most");
const MORE_THAN: &[&str] = list!("bounds.more-than");
const LESS_THAN: &[&str] = list!("bounds.less-than");
const AT_LEAST_BEHIND: &[&str] = list!("bounds.at-least-behind");
const AT_MOST_BEHIND: &[&str] = list!("bounds.at-most-behind");
const LESS_THAN_BEHIND: &[&str] = list!("bounds.less-than-behind");

/// "nicht mehr als" is found before "mehr als".
const BEFORE: [(&[&str], Bound); 4] = [
    (AT_LEAST, Bound::AtLeast),
    (AT_MOST, Bound::AtMost),
    (MORE_THAN, Bound::MoreThan),
    (LESS_THAN, Bound::LessThan),
];

const BEHIND: [(&[&str], Bound); 3] = [
    (AT_LEAST_BEHIND, Bound::AtLeast),
    (AT_MOST_BEHIND, Bound::AtMost),
    (LESS_THAN_BEHIND, Bound::LessThan),
];

/// Maximum number of bytes of a phrase.
const LONGEST: usize = 40;

/// The bound at the end of the text before a number.
pub(super) fn bound_before(text: &str) -> Option<Bound> {
    let text = text.trim_end_matches(|c| c == ' ' || CURRENCY_SIGNS.contains(&c));
    let mut from = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let near = lower_case(text.get(from..)?);
    let found = BEFORE.iter().find(|(phrases, _)| {
        let mut phrases = phrases.iter();
        phrases.any(|phrase| ends_with_words(&near, phrase))
    });
    found.map(|(_, bound)| *bound)
}

/// Whether a text ends with a phrase, which begins a word of it or is written without blanks.
fn ends_with_words(text: &str, phrase: &str) -> bool {
    let Some(rest) = text.strip_suffix(phrase) else {
        return false;
    };
    let is_unspaced = phrase.contains(local_agent_text::language::is_unspaced);
    is_unspaced || !rest.ends_with(char::is_alphanumeric)
}

/// The bound at the start of the text behind a number, or behind the letter that says what it
/// counts: "20人以上".
pub(super) fn bound_behind(text: &str) -> Option<Bound> {
    let counted = text.strip_prefix(local_agent_text::language::is_unspaced);
    [Some(text), counted]
        .into_iter()
        .flatten()
        .find_map(bound_at)
}

/// Maximum number of words between a number and the bound behind it.
const MOST_BETWEEN: usize = 3;

/// The bound some words behind a number, in the same clause and before another number: "three per
/// flat at most".
pub(super) fn bound_after(text: &str) -> Option<Bound> {
    const AT_MOST: &[&str] = list!("bounds.at-most-after");
    const AT_LEAST: &[&str] = list!("bounds.at-least-after");
    let mut rest = text;
    for _ in 0..=MOST_BETWEEN {
        rest = rest.strip_prefix(' ')?;
        for (phrases, bound) in [(AT_MOST, Bound::AtMost), (AT_LEAST, Bound::AtLeast)] {
            if phrases.iter().any(|phrase| is_whole_phrase(rest, phrase)) {
                return Some(bound);
            }
        }
        let end = rest.find(|c: char| !c.is_alphabetic())?;
        rest = rest.get(end..)?;
    }
    None
}

/// Whether a text begins with a phrase that bounds no number behind it.
fn is_whole_phrase(text: &str, phrase: &str) -> bool {
    let Some(behind) = text.strip_prefix(phrase) else {
        return false;
    };
    let next = behind.trim_start_matches(' ');
    let word = next.split(|c: char| !c.is_alphanumeric()).next();
    let is_number = word
        .is_some_and(|word| matches!(word, "a" | "an" | "half") || simple_value(word).is_some());
    !behind.starts_with(char::is_alphanumeric) && !is_number
}

fn bound_at(text: &str) -> Option<Bound> {
    let found = BEHIND.iter().find(|(phrases, _)| {
        let mut phrases = phrases.iter();
        phrases.any(|phrase| text.starts_with(phrase))
    });
    found.map(|(_, bound)| *bound)
}
