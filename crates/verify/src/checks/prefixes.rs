//! L5: a word with a prefix that denies it is not the word: "unguarded" against "guarded".

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::text::Token;

/// Prefixes that deny an adjective or participle.
const PREFIXES: &[&str] = list!("prefixes.denying");
/// Prefixes that deny only words with such endings: "invalid", but not "income".
const LATIN: &[&str] = list!("prefixes.latin");
const ENDINGS: &[&str] = list!("prefixes.endings");

/// Least number of letters of a word without its prefix.
const SHORTEST: usize = 4;

/// Maximum number of words of a claim, and of sentences for each, that are compared.
const MOST_WORDS: usize = 24;
const MOST_SENTENCES: usize = 6;

/// A sentence is about the claim if it has this share of its other words.
const ABOUT: f64 = 0.4;

/// Finds a word of the claim that the text has only with such a prefix, or the reverse.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    if tokens.iter().any(Token::negates) {
        return None;
    }
    let mut words = passages.words.iter().take(MOST_WORDS);
    words.find_map(|own| turned(case, passages, own))
}

fn turned(case: &Case<'_>, passages: &Passages<'_>, own: &Token) -> Option<Objection> {
    let said = case.claim.lower_word(own);
    if said.len() < SHORTEST || case.cited.iter().any(|s| s.reading.has(own.id)) {
        return None;
    }
    let others: Vec<&Token> = passages
        .words
        .iter()
        .copied()
        .filter(|t| t.id != own.id)
        .collect();
    let about = passages
        .all
        .iter()
        .take(MOST_SENTENCES)
        .filter(|p| Passages::share(&others, p.tokens()) >= ABOUT);
    for passage in about {
        let reading = passage.reading();
        let theirs = passage.tokens();
        if theirs.iter().any(Token::negates) {
            continue;
        }
        let Some(other) = theirs
            .iter()
            .find(|t| is_denied_form(&said, &reading.lower_word(t)))
        else {
            continue;
        };
        let detail = Detail::Opposite {
            said: case.claim.word(own).to_owned(),
            found: reading.word(other).to_owned(),
        };
        let found = Objection::new(Code::Direction, Effect::Doubts, detail);
        let found = found.at(own.start..own.end);
        return Some(found.against(passage.source.item.label, passage.bytes()));
    }
    None
}

/// Whether one of two words is the other with a prefix that denies it.
fn is_denied_form(one: &str, other: &str) -> bool {
    denies(one, other) || denies(other, one)
}

fn denies(long: &str, short: &str) -> bool {
    let Some(prefix) = long.strip_suffix(short) else {
        return false;
    };
    let prefix = prefix.trim_end_matches('-');
    short.len() >= SHORTEST
        && (PREFIXES.contains(&prefix)
            || LATIN.contains(&prefix) && ENDINGS.iter().any(|end| short.ends_with(end)))
}
