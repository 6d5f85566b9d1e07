//! L5: what became of a plan or a thing is what the cited text says became of it.

use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::Status;
use crate::text::Token;

/// How much of a statement must be the same.
const ALIKE: f64 = 0.4;
const SAME: f64 = 0.7;

/// Whether something that is `own` cannot be `theirs`.
fn excludes(own: Status, theirs: Status) -> bool {
    use Status::{Active, Decided, Deprecated, Done, Ongoing, Proposed, Rejected, Removed};
    matches!(
        (own, theirs),
        (Decided, Proposed | Rejected)
            | (Done, Proposed | Ongoing | Rejected)
            | (Active, Deprecated | Rejected | Removed)
            | (Rejected, Decided | Done | Active)
            | (Deprecated, Active | Removed)
            | (Removed, Active | Deprecated | Proposed)
            | (Proposed, Removed | Done)
            | (Ongoing, Done)
    )
}

/// A status of the claim that its nearest statements contradict.
pub fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Vec<Objection> {
    let found = pairings.iter().filter_map(|pairing| compare(case, pairing));
    found.take(1).collect()
}

fn compare(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let best = pairing.near.first().filter(|n| n.share >= ALIKE)?;
    let own = case.claim.text.tokens.get(pairing.own.own.clone())?;
    let token = own.iter().find(|t| t.status().is_some() && !t.negated)?;
    let status = token.status()?;
    let mut clash: Option<(&Near<'_>, &Token)> = None;
    for near in &pairing.near {
        let tokens = near.source.reading.tokens_of(near.statement.sentence);
        let same = |e: &Token| e.id == token.id || e.status() == Some(status) && !e.negated;
        if tokens.iter().any(same) {
            return None;
        }
        let excluded =
            |e: &&Token| !e.negated && e.status().is_some_and(|theirs| excludes(status, theirs));
        clash = clash.or(tokens.iter().find(excluded).map(|e| (near, e)));
    }
    let (near, other) = clash?;
    let effect = if best.share >= SAME {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let detail = Detail::Differs {
        said: case.claim.word(token).to_owned(),
        found: near.source.reading.word(other).to_owned(),
    };
    let found = Objection::new(Code::Status, effect, detail).at(token.start..token.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}
