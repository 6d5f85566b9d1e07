//! L6: no part of a claim is made of words that the cited text does not have.

use super::{Case, Effect, Extent};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::text::Token;

/// Content words that are enough to tell.
const ENOUGH: usize = 3;

/// From this share of strange words on, a part raises a doubt.
const STRANGE: f64 = 0.7;

/// Parts of the claim whose words are mostly strange to the cited text.
pub fn check(case: &Case<'_>) -> Option<Objection> {
    if case.extent != Extent::Sentence {
        return None;
    }
    case.claim.statements().iter().find_map(|statement| {
        let own = case.claim.text.tokens.get(statement.own.clone())?;
        let words: Vec<&Token> = own.iter().filter(|t| t.is_content() || t.number).collect();
        if words.len() < ENOUGH {
            return None;
        }
        let known = |t: &Token| {
            case.cited
                .iter()
                .map(|s| s.reading)
                .chain([case.around])
                .any(|r| r.matches(t.id, case.lexicon) > 0.0)
        };
        let strange = words.iter().filter(|t| !known(t)).count();
        (super::ratio(strange, words.len()) >= STRANGE).then(|| {
            let said = case.claim.shown(statement.own.clone()).to_owned();
            let bytes = own.first().map_or(0, |t| t.start)..own.last().map_or(0, |t| t.end);
            Objection::new(Code::LowSupport, Effect::Doubts, Detail::Absent { said }).at(bytes)
        })
    })
}
