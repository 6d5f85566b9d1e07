//! L5: reasons and conditions of the claim are those of the cited text.
//!
//! The words behind "because" or "if" must be found together in the cited text, as those of every
//! other part of the claim; a reason whose words are nowhere is the answerer's own.

use std::ops::Range;

use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::text::{Token, lower_case};

/// Less than this share of the words of a reason or condition in the cited text raises a doubt.
const LEAST: f64 = 0.5;

/// Less than this rejects a reason.
const NOTHING: f64 = 0.2;

/// Content words that are enough to tell.
const ENOUGH: usize = 2;

/// Most words of a reason or condition.
const MOST_WORDS: usize = 30;

/// Reasons and conditions without support.
pub fn check(case: &Case<'_>) -> Vec<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut out = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let word = lower_case(case.claim.word(token));
        let next = tokens.get(i + 1).map(|t| lower_case(case.claim.word(t)));
        let code = match (&*word, next.as_deref()) {
            ("because" | "since" | "weil" | "da", _) | ("due" | "owing", Some("to")) => Code::Cause,
            ("reason" | "reasons", Some("of" | "is")) => Code::Cause,
            ("if" | "unless" | "when" | "wenn" | "once" | "provided", _) => Code::Condition,
            _ => continue,
        };
        out.extend(unsupported(case, i, code));
    }
    out.truncate(1);
    out
}

fn unsupported(case: &Case<'_>, at: usize, code: Code) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let range = extent(case, at);
    let words: Vec<&Token> = tokens
        .get(range.clone())?
        .iter()
        .filter(|t| t.is_content() || t.number)
        .collect();
    if words.len() < ENOUGH {
        return None;
    }
    let found = |t: &&&Token| {
        let weight = case
            .cited
            .iter()
            .map(|s| s.reading.matches(t.id, case.lexicon))
            .fold(0.0, f64::max);
        weight > 0.0
    };
    let share = super::ratio(words.iter().filter(found).count(), words.len());
    if share >= LEAST {
        return None;
    }
    let effect = if code == Code::Cause && share <= NOTHING {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let (first, last) = (tokens.get(range.start)?, tokens.get(range.end - 1)?);
    let bytes = first.start..last.end;
    let said = case.claim.normal.get(bytes.clone())?.to_owned();
    Some(Objection::new(code, effect, Detail::Absent { said }).at(bytes))
}

/// The words of the clause that begins at token `at`: up to the next sign that ends it.
fn extent(case: &Case<'_>, at: usize) -> Range<usize> {
    let tokens = &case.claim.text.tokens;
    let mut end = at + 1;
    while end < tokens.len().min(at + MOST_WORDS) {
        let gap = tokens
            .get(end - 1)
            .zip(tokens.get(end))
            .and_then(|(a, b)| case.claim.normal.get(a.end..b.start))
            .unwrap_or("");
        if end > at + 1 && gap.contains([',', ';', ':', '(', ')', '—', '–']) {
            break;
        }
        end += 1;
    }
    at..end
}
