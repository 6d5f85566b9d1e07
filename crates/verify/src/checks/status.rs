//! L5: what became of a plan or a thing is what the cited text says became of it.

use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::tables::Status;
use crate::text::Token;

/// How much of a statement must be the same.
const ALIKE: f64 = 0.4;
const SAME: f64 = 0.5;

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
    let one = |pairing: &Pairing<'_>| compare(case, pairing).or_else(|| silent(case, pairing));
    let found = pairings.iter().filter_map(one);
    found.take(1).collect()
}

/// From this share on, a claim says what a plan says that came to nothing.
const SILENT: f64 = 0.75;

/// "We replace RabbitMQ with NATS" where the proposal to do so was rejected.
fn silent(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let near = pairing.near.first().filter(|n| n.share >= SILENT)?;
    let reading = near.source.reading;
    let theirs = reading.tokens_of(near.statement.sentence).iter();
    let turned = theirs
        .clone()
        .find(|t| t.status() == Some(Status::Rejected) && !t.negated)?;
    let claim = &case.claim.text.tokens;
    let told = claim.iter().any(|t| {
        t.id == turned.id
            || t.negates()
            || t.turns()
            || t.status().is_some()
            || t.pairs().iter().any(|p| turned.pairs().contains(p))
    });
    if told || claim.iter().filter(|t| t.is_content()).count() < 3 {
        return None;
    }
    let detail = Detail::LeftOut {
        found: reading.word(turned).to_owned(),
    };
    let found = Objection::new(Code::Status, Effect::Rejects, detail);
    Some(found.against(near.source.item.label, sentence(near)?))
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
