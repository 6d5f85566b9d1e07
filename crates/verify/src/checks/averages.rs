//! L4: a number that a claim calls an average, or gives to each or to all together.

use super::atoms::readings;
use super::derive::ClaimNumber;
use super::numbers::{derivation, equal};
use super::totals::total;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, Number, What};
use crate::reading::Reading;

/// Maximum number of words from a number to "each" or "together".
const NEAR: usize = 2;

/// The doubt about an average that the cited text does not call one and that is not computed, or
/// about a number that the cited text gives to all together and the claim to each, or the other way
/// round.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    let is_added = says_average(case.claim) && !readings(case).any(says_average);
    let mut atoms = case.claim.atoms.iter();
    atoms.find_map(|atom| match &atom.what {
        What::Number(n) if !n.ordinal => {
            let number = ClaimNumber { atom, number: n };
            let average = is_added.then(|| average(case, number)).flatten();
            average.or_else(|| shared(case, number))
        }
        _ => None,
    })
}

/// The objection to an amount of a claim that alone calls something an average.
fn average(case: &Case<'_>, number: ClaimNumber<'_>) -> Option<(Effect, Code, String)> {
    // Of several numbers without a unit, others than the average may be counts.
    let others = case.claim.atoms.iter();
    let others = others.filter(|atom| matches!(atom.what, What::Number(_)));
    let may_be_meant = number.number.unit.is_some() || others.count() == 1;
    let is_unproven =
        may_be_meant && total(case, number).is_none() && derivation(case, number.atom).is_none();
    is_unproven.then(|| {
        let shown = case.claim.shown_amount(number.atom);
        let why = format!("The cited text does not say that “{shown}” is an average.");
        (Effect::Doubts, Code::Number, why)
    })
}

/// Whether a text has a word for an average.
pub(super) fn says_average(reading: &Reading) -> bool {
    const AVERAGE: &[&str] = list!("formulas.average");
    let mut tokens = reading.text.tokens.iter();
    tokens.any(|t| AVERAGE.contains(&&*reading.lower_word(t)))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Each,
    Together,
}

fn shared(case: &Case<'_>, number: ClaimNumber<'_>) -> Option<(Effect, Code, String)> {
    let own = sharing(case.claim, number.atom)?;
    let mut other = None;
    for reading in readings(case) {
        for atom in &reading.atoms {
            let What::Number(m) = &atom.what else {
                continue;
            };
            if !is_same(number.number, m, reading) {
                continue;
            }
            if sharing(reading, atom).is_none_or(|theirs| theirs == own) {
                return None;
            }
            other = Some(reading.shown_amount(atom));
        }
    }
    let shown = other?;
    let why = match own {
        Sharing::Each => format!("In the cited text “{shown}” is for all together, not for each."),
        Sharing::Together => format!("In the cited text “{shown}” is for each, not for all."),
    };
    Some((Effect::Doubts, Code::Number, why))
}

fn is_same(n: &Number, m: &Number, reading: &Reading) -> bool {
    !m.ordinal && equal(n, m, reading)
}

/// Whether "each" or "together" is directly behind an amount.
fn sharing(reading: &Reading, atom: &Atom) -> Option<Sharing> {
    const EACH: &[&str] = list!("shared.each");
    const TOGETHER: &[&str] = list!("shared.together");
    let behind = reading.text.tokens.get(atom.tokens.end..)?;
    let mut near = behind.iter().take(NEAR);
    near.find_map(|t| {
        let word = reading.lower_word(t);
        let each = EACH.contains(&&*word).then_some(Sharing::Each);
        each.or(TOGETHER.contains(&&*word).then_some(Sharing::Together))
    })
}
