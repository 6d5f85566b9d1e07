//! L5: a denial in Japanese or Korean, which the ending of the verb carries: "ありません".
//!
//! The words of these scripts are single signs, so a claim is compared with the sentence that shares
//! most of its Chinese signs, katakana and syllables.

use std::collections::HashSet;

use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};

/// Endings that deny.
const ENDINGS: &[&str] = list!("denials.endings");

/// A sentence with this share of the signs of the claim is about the same thing.
const SAME: f64 = 0.6;

/// Maximum number of sentences of an item that are compared, and of signs of one sentence.
const MOST_SENTENCES: usize = 200;
const MOST_SIGNS: usize = 200;

/// The doubt about a claim that denies what the nearest sentence asserts, or the reverse.
pub(super) fn check(case: &Case<'_>) -> Option<Objection> {
    let claim = case.claim.normal.as_str();
    if !claim.contains(has_endings) {
        return None;
    }
    let own = signs(claim);
    let mut best: Option<(f64, &str)> = None;
    for source in case.cited {
        let reading = source.reading;
        for sentence in reading.text.sentences.iter().take(MOST_SENTENCES) {
            let text = reading.normal.get(sentence.bytes.clone()).unwrap_or("");
            let theirs = signs(text);
            let shared = super::ratio(own.intersection(&theirs).count(), own.len());
            if best.is_none_or(|(share, _)| shared > share) {
                best = Some((shared, text));
            }
        }
    }
    let (share, text) = best?;
    if share < SAME || denials(claim) % 2 == denials(text) % 2 {
        return None;
    }
    let said = claim.trim_end_matches(['。', ' ']).to_owned();
    let detail = match denials(text) % 2 {
        0 => Detail::ClaimNegates { said },
        _ => Detail::TextNegates { said },
    };
    Some(Objection::new(Code::Negation, Effect::Doubts, detail))
}

/// Whether a sign is of a script in which endings deny.
fn has_endings(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{309f}' | '\u{ac00}'..='\u{d7af}')
}

/// The signs of a sentence that carry its content.
fn signs(text: &str) -> HashSet<char> {
    let signs = text.chars().take(MOST_SIGNS);
    signs
        .filter(|c| c.is_alphanumeric() && !matches!(c, '\u{3040}'..='\u{309f}'))
        .collect()
}

fn denials(text: &str) -> usize {
    ENDINGS.iter().map(|e| text.matches(e).count()).sum()
}
