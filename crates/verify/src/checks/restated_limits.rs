//! L4: a limit that the claim states from its other side. "Files larger than 50 MB are rejected" allows
//! files up to 50 MB; "up to 20 guests are admitted" turns more than 20 away.

use super::numbers::equal;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, Bound, Number, What};
use crate::finding::Objection;
use crate::reading::Reading;
use crate::tables::{Quantity, Status};
use crate::text::Token;

/// Words by which a text turns away what is beyond a limit, besides those that deny or reject.
const TURNED_AWAY: &[&str] = list!("limits.turned-away");

/// Removes the objections that a claim has only because it states a limit from the other side.
pub(super) fn settle(case: &Case<'_>, objections: &mut Vec<Objection>) {
    let is_of_a_limit = |o: &Objection| {
        let codes = [
            Code::Quantifier,
            Code::Status,
            Code::Negation,
            Code::Direction,
        ];
        codes.contains(&o.code)
    };
    let rejecting = || objections.iter().filter(|o| o.effect != Effect::Remarks);
    // Another objection shows that the claim is about something else.
    if rejecting().next().is_some() && rejecting().all(is_of_a_limit) && is_restated(case) {
        objections.retain(|o| !is_of_a_limit(o));
    }
}

/// Whether the only limit of the claim is the other side of one in the cited text: one of both turns
/// away what is beyond it, and the other one allows the rest.
fn is_restated(case: &Case<'_>) -> bool {
    let own = case.claim.atoms.iter();
    let mut limits = own.filter_map(|atom| limit(case.claim, atom));
    let (Some((own, n)), None) = (limits.next(), limits.next()) else {
        return false;
    };
    let turns_away = is_turned_away(case.claim, own);
    case.cited.iter().any(|source| {
        let reading = source.reading;
        let theirs = reading.atoms.iter();
        let mut theirs = theirs.filter_map(|atom| limit(reading, atom));
        theirs.any(|(atom, m)| {
            equal(&n, &m, reading)
                && are_two_sides(n.bound, m.bound)
                && is_turned_away(reading, atom) != turns_away
        })
    })
}

/// A number with a bound. "Über 50 MB" is one where the rest is turned away.
fn limit<'t>(reading: &Reading, atom: &'t Atom) -> Option<(&'t Atom, Number)> {
    const OPEN: &[&str] = list!("bounds.open");
    let What::Number(n) = &atom.what else {
        return None;
    };
    let before = atom.tokens.start.checked_sub(1);
    let before = before.and_then(|at| reading.text.tokens.get(at));
    let is_over = before.is_some_and(|t| OPEN.contains(&&*reading.lower_word(t)));
    let bound = n.bound.or(is_over.then_some(Bound::MoreThan));
    let is_limit = !matches!(bound, None | Some(Bound::About | Bound::Exactly));
    is_limit.then_some((atom, Number { bound, ..*n }))
}

/// Whether everything is on one side of a number or on the other: "at most 20" and "more than 20".
fn are_two_sides(own: Option<Bound>, other: Option<Bound>) -> bool {
    use Bound::{AtLeast, AtMost, LessThan, MoreThan};
    matches!(
        (own, other),
        (Some(AtMost), Some(MoreThan))
            | (Some(MoreThan), Some(AtMost))
            | (Some(AtLeast), Some(LessThan))
            | (Some(LessThan), Some(AtLeast))
    )
}

/// Whether the clause of a limit turns away what is beyond it. Two such words take each other back.
fn is_turned_away(reading: &Reading, atom: &Atom) -> bool {
    let tokens = &reading.text.tokens;
    let clause = tokens.get(atom.tokens.start).map(|t| t.clause);
    let sentence = reading.tokens_of(reading.sentence_of(atom.tokens.start));
    let own = sentence.iter().filter(|t| Some(t.clause) == clause);
    own.filter(|t| turns_away(reading, t)).count() == 1
}

fn turns_away(reading: &Reading, token: &Token) -> bool {
    token.negates()
        || token.turns()
        || token.quantity() == Some(Quantity::Nothing)
        || matches!(token.status(), Some(Status::Rejected | Status::Removed))
        || TURNED_AWAY.contains(&&*reading.lower_word(token))
}
