//! L5: a claim goes from the same end to the same end as the cited text: not "from Fulda to Kassel" for
//! "from Kassel to Fulda", and not "from 60 to 80" for "from 80 to 60".

use super::passages::Passages;
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::Token;

/// Words before the first and before the second end.
const FROM: &[&str] = list!("ends.from");
const TO: &[&str] = list!("ends.to");

/// Maximum number of words between the two, and of those that name the second end.
const APART: usize = 6;
const NAMED_BY: usize = 3;

/// The two ends, as stems, and the words that name them.
struct Ends<'t> {
    from: Vec<u32>,
    to: Vec<u32>,
    tokens: &'t [Token],
}

/// Finds two ends of the claim that the cited text has the other way round, and nowhere in the claim's
/// way.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let claim = case.claim;
    let own = ends(claim, claim.text.tokens.as_slice())?;
    let mut reversed = None;
    for passage in passages.with(1) {
        let Some(theirs) = ends(passage.reading(), passage.tokens()) else {
            continue;
        };
        if is_shared(&own.from, &theirs.from) || is_shared(&own.to, &theirs.to) {
            return None;
        }
        let is_reversed = is_shared(&own.from, &theirs.to) && is_shared(&own.to, &theirs.from);
        if is_reversed && reversed.is_none() {
            reversed = Some((passage, theirs));
        }
    }
    let (passage, theirs) = reversed?;
    let shown = |reading: &Reading, tokens: &[Token]| -> Option<String> {
        let bytes = tokens.first()?.start..tokens.last()?.end;
        Some(reading.normal.get(bytes)?.to_owned())
    };
    let detail = Detail::Differs {
        said: shown(claim, own.tokens)?,
        found: shown(passage.reading(), theirs.tokens)?,
    };
    let bytes = own.tokens.first()?.start..own.tokens.last()?.end;
    let found = Objection::new(Code::Order, Effect::Rejects, detail).at(bytes);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

fn is_shared(x: &[u32], y: &[u32]) -> bool {
    x.iter().any(|id| y.contains(id))
}

/// The first two ends that some words name.
fn ends<'t>(reading: &Reading, tokens: &'t [Token]) -> Option<Ends<'t>> {
    let is = |t: &Token, list: &[&str]| list.contains(&&*reading.lower_word(t));
    let starts = tokens.iter().enumerate().filter(|(_, t)| is(t, FROM));
    starts.take(NAMED_BY).find_map(|(at, _)| {
        let behind = tokens.get(at + 1..)?;
        let apart = behind.iter().take(APART);
        let to = apart.enumerate().find(|(n, t)| *n > 0 && is(t, TO))?.0;
        let last = behind.get(to + 1..)?;
        let last = last.get(..NAMED_BY.min(last.len()))?;
        let names = |tokens: &[Token]| -> Vec<u32> {
            let named = tokens.iter().filter(|t| t.is_content_or_number());
            named.map(|t| t.id).collect()
        };
        let (from, to_names) = (names(behind.get(..to)?), names(last));
        let is_named = !from.is_empty() && !to_names.is_empty();
        is_named.then_some(Ends {
            from,
            to: to_names,
            tokens: tokens.get(at..at + 2 + to + last.len())?,
        })
    })
}
