//! L5: what became of a plan or a thing is what the cited text says became of it.

use super::Case;
use super::align::Alignment;
use crate::Code;
use crate::tables::Status;
use crate::text::Token;

/// Whether something that is `own` cannot be `theirs`.
fn excludes(own: Status, theirs: Status) -> bool {
    use Status::{Active, Decided, Deprecated, Done, Ongoing, Proposed, Rejected};
    matches!(
        (own, theirs),
        (Decided, Proposed | Rejected)
            | (Done, Proposed | Ongoing | Rejected)
            | (Active, Deprecated | Rejected)
            | (Rejected, Decided | Done | Active)
            | (Deprecated, Active)
            | (Ongoing, Done)
    )
}

/// A status of the claim that the nearest sentences contradict, or a rejection that the claim
/// leaves out.
pub fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    let claim = &case.claim.text.tokens;
    let near: Vec<&Token> = alignment
        .0
        .iter()
        .filter(|a| a.share >= 0.4)
        .flat_map(|a| a.tokens())
        .collect();
    for token in claim {
        let Some(own) = token.status() else { continue };
        if token.negated
            || near
                .iter()
                .any(|e| e.id == token.id || e.status() == Some(own))
        {
            continue;
        }
        let clash = near
            .iter()
            .find(|e| !e.negated && e.status().is_some_and(|theirs| excludes(own, theirs)));
        if clash.is_some() {
            let said = case.claim.word(token);
            return Some((
                Code::Status,
                format!("The claim says “{said}”; the cited text says otherwise."),
            ));
        }
    }
    // "We replace RabbitMQ with NATS" where the proposal to do so was rejected.
    let best = alignment.best().filter(|a| a.share >= 0.75)?;
    let turned = best
        .tokens()
        .iter()
        .find(|t| matches!(t.status(), Some(Status::Rejected)) && !t.negated)?;
    let told = claim.iter().any(|t| {
        t.id == turned.id
            || t.negates()
            || t.turns()
            || t.status() == Some(Status::Rejected)
            || t.pairs().iter().any(|p| turned.pairs().contains(p))
    });
    // "accepted" against "rejected" was found above; here the claim is silent about it.
    (!told).then(|| {
        let said = best.source.reading.word(turned);
        (
            Code::Status,
            format!("The cited text says “{said}”; the claim leaves it out."),
        )
    })
}
