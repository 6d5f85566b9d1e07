//! L5: a claim goes from the same end to the same end as the cited text: not "from Fulda to Kassel" for
//! "from Kassel to Fulda", and not "from 60 to 80" for "from 80 to 60".

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, UnitKind, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;

/// Words before the first and before the second end.
const FROM: &[&str] = list!("ends.from");
const TO: &[&str] = list!("ends.to");

/// Maximum number of words between the two, and of those that name the second end.
const APART: usize = 6;
const NAMED_BY: usize = 3;

/// Maximum number of pairs of ends of one sentence.
const MOST_PAIRS: usize = 8;

/// The two ends, as stems, and the words that name them.
struct Ends<'t> {
    from: Vec<u32>,
    to: Vec<u32>,
    tokens: &'t [Token],
}

/// Finds two ends of the claim that the cited text has the other way round, and nowhere in the claim's
/// way. The distance between two ends is the same both ways.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let own = ends(claim, claim.text.tokens.as_slice())
        .into_iter()
        .next()?;
    if says_how_far(claim) {
        return None;
    }
    let mut reversed = None;
    for passage in passages.with(1) {
        for theirs in ends(passage.reading(), passage.tokens()) {
            if is_shared(&own.from, &theirs.from) || is_shared(&own.to, &theirs.to) {
                return None;
            }
            let is_reversed = is_shared(&own.from, &theirs.to) && is_shared(&own.to, &theirs.from);
            if is_reversed && reversed.is_none() {
                reversed = Some((passage, theirs));
            }
        }
    }
    let (passage, theirs) = reversed?;
    let detail = Detail::Differs {
        said: shown(claim, own.tokens)?,
        found: shown(passage.reading(), theirs.tokens)?,
    };
    let bytes = own.tokens.first()?.start..own.tokens.last()?.end;
    let found = Objection::new(Code::Order, Effect::Rejects, detail).at(bytes);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

fn shown(reading: &Reading, tokens: &[Token]) -> Option<String> {
    let bytes = tokens.first()?.start..tokens.last()?.end;
    Some(reading.normal.get(bytes)?.to_owned())
}

/// Whether a claim has a length or a time.
fn says_how_far(claim: &Reading) -> bool {
    claim.atoms.iter().any(|atom| match &atom.what {
        What::Number(n) => n.unit.is_some_and(|unit| {
            let mut kinds = unit.iter().map(|(kind, _)| kind);
            kinds.any(|kind| matches!(kind, UnitKind::Length | UnitKind::Time))
        }),
        _ => false,
    })
}

/// Whether two lists of stems have one in common.
pub(super) fn is_shared(x: &[u32], y: &[u32]) -> bool {
    x.iter().any(|id| y.contains(id))
}

/// The pairs of ends that some words name.
fn ends<'t>(reading: &Reading, tokens: &'t [Token]) -> Vec<Ends<'t>> {
    let is_from = |t: &Token| FROM.contains(&&*reading.lower_word(t));
    let starts = tokens.iter().enumerate().filter(|(_, t)| is_from(t));
    let starts = starts.take(MOST_PAIRS);
    starts
        .filter_map(|(at, _)| ends_at(reading, tokens, at))
        .collect()
}

/// The two ends of which the first is behind word `at`.
fn ends_at<'t>(reading: &Reading, tokens: &'t [Token], at: usize) -> Option<Ends<'t>> {
    let is_to = |t: &Token| TO.contains(&&*reading.lower_word(t));
    let behind = tokens.get(at + 1..)?;
    let mut apart = behind.iter().take(APART).enumerate();
    let to = apart.find(|(n, t)| *n > 0 && is_to(t))?.0;
    let last = behind.get(to + 1..)?;
    let last = last.get(..NAMED_BY.min(last.len()))?;
    let (from, to_names) = (names(reading, behind.get(..to)?), names(reading, last));
    let is_named = !from.is_empty() && !to_names.is_empty();
    is_named.then_some(Ends {
        from,
        to: to_names,
        tokens: tokens.get(at..at + 2 + to + last.len())?,
    })
}

/// The stems of the words that name something. "From 80 to 60 euros": the unit names no end.
fn names(reading: &Reading, tokens: &[Token]) -> Vec<u32> {
    let named = tokens.iter().filter(|t| t.is_content_or_number());
    let named = named.filter(|t| a::unit(&reading.lower_word(t)).is_none());
    named.map(|t| t.id).collect()
}
