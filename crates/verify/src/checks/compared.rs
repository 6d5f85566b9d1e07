//! L4: of two amounts that a claim compares, the greater one is greater in the cited text too: "the
//! wheat is 50 g more than the rye".

use std::collections::HashSet;

use super::derive::{ClaimNumber, Operand};
use super::operands::candidates;
use super::things::thing;
use super::{Case, Effect, arithmetic, derive};
use crate::Code;
use crate::atoms::{self as a, Number, What};
use crate::reading::Reading;
use crate::text::Token;

/// A comparison with "than": what is before the difference, what is behind "than", and whether the
/// first is said to be the greater one.
struct DifferenceClaim {
    first: HashSet<u32>,
    second: HashSet<u32>,
    is_more: bool,
}

/// The doubt about a difference that is computed from two amounts in the wrong order.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    if case.has_many_atoms() || case.claim.text.tokens.iter().any(Token::negates) {
        return None;
    }
    let mut atoms = case.claim.atoms.iter();
    atoms.find_map(|atom| match &atom.what {
        What::Number(n) if !n.ordinal && derive::may_be_computed(n) => {
            turned_round(case, ClaimNumber { atom, number: n })
        }
        _ => None,
    })
}

/// The objection to a rise to a smaller amount, or a fall to a greater one: "rose from 6 to 1".
pub(super) fn check_changes(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    const RISING: &[&str] = list!("compared.rising");
    const FALLING: &[&str] = list!("compared.falling");
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let mut verbs = tokens.iter().filter(|t| is(t, RISING) || is(t, FALLING));
    let verb = verbs.next()?;
    if verbs.next().is_some() || tokens.iter().any(Token::negates) {
        return None;
    }
    claim.atoms.windows(2).find_map(|pair| {
        let ([a, b], clause) = (pair, verb.clause) else {
            return None;
        };
        let (from, to) = (plain_amount(a)?, plain_amount(b)?);
        let begins = tokens.get(a.tokens.start.checked_sub(1)?)?;
        let between = tokens.get(a.tokens.end..b.tokens.start)?;
        let reaches = between.last().filter(|_| between.len() <= 2)?;
        let alike = match (from.unit, to.unit) {
            (Some(x), Some(y)) => a::same_kind(x, y) && a::equal_amounts(1.0, x, 1.0, y),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let is_said = is(begins, FROM) && is(reaches, TO) && begins.clause == clause && alike;
        let fits = if is(verb, RISING) {
            from.value < to.value
        } else {
            from.value > to.value
        };
        if !is_said || fits {
            return None;
        }
        // A place in an order is counted down: "rose from 6 to 1".
        let is_place = from.unit.or(to.unit).is_none() && from.value.max(to.value) <= PLACES;
        let effect = if is_place {
            Effect::Doubts
        } else {
            Effect::Rejects
        };
        let shown = claim.shown(a.tokens.start..b.tokens.end);
        let why = format!(
            "The claim says “{}”, but “{shown}” is the opposite.",
            claim.word(verb)
        );
        Some((effect, Code::Direction, why))
    })
}

/// The objection to a difference that is not the one of the two amounts beside it: "from 62 to 134, a gain
/// of 82".
pub(super) fn check_differences(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    const CHANGES: &[&str] = list!("compared.changes");
    let claim = case.claim;
    let tokens = claim.text.tokens.as_slice();
    let is = |t: &Token, list: &[&str]| list.contains(&&*claim.lower_word(t));
    let (from, to) = claim.atoms.windows(2).take(MOST_PAIRS).find_map(|pair| {
        let [a, b] = pair else { return None };
        let (from, to) = (plain_amount(a)?, plain_amount(b)?);
        let begins = tokens.get(a.tokens.start.checked_sub(1)?)?;
        let between = tokens.get(a.tokens.end..b.tokens.start)?;
        let reaches = between.last().filter(|_| between.len() <= NEAR)?;
        (is(begins, FROM) && is(reaches, TO)).then_some((from, to))
    })?;
    let unit = from.unit.or(to.unit);
    claim.atoms.iter().take(MOST_PAIRS).find_map(|atom| {
        let n = plain_amount(atom)?;
        let start = atom.tokens.start;
        let last = tokens.get(start.checked_sub(1)?)?;
        let earlier = start.checked_sub(2).and_then(|at| tokens.get(at));
        let is_change = n.per.is_none()
            && (is(last, CHANGES) || is(last, OF) && earlier.is_some_and(|t| is(t, CHANGES)));
        let is_end = a::same(n.value, from.value) || a::same(n.value, to.value);
        let alike = match (n.unit, unit) {
            (Some(x), Some(y)) => a::equal_amounts(1.0, x, 1.0, y),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let ends = [from.unit, to.unit];
        let one_unit = ends
            .iter()
            .flatten()
            .all(|x| a::equal_amounts(1.0, x, 1.0, unit.unwrap_or(x)));
        let difference = (to.value - from.value).abs();
        let is_near = (difference - n.value).abs() <= ROUNDED * difference;
        if !is_change || is_end || !alike || !one_unit || is_near {
            return None;
        }
        let shown = claim.shown_amount(atom);
        let (x, y) = (from.value, to.value);
        let why = format!("“{shown}” is not the difference of “{x}” and “{y}”.");
        Some((Effect::Rejects, Code::Number, why))
    })
}

/// A difference may be rounded by this share of it.
const ROUNDED: f64 = 0.05;

/// Maximum number of atoms of a claim that are looked at for a difference.
const MOST_PAIRS: usize = 32;

/// Up to this number an amount without a unit may be a place in an order.
const PLACES: f64 = 20.0;

const FROM: &[&str] = list!("compared.from");
const TO: &[&str] = list!("compared.to");
const OF: &[&str] = list!("compared.of");

/// The number of an atom that is no ordinal and no limit.
fn plain_amount(atom: &a::Atom) -> Option<&Number> {
    match &atom.what {
        What::Number(n) if !n.ordinal && n.bound.is_none() => Some(n),
        _ => None,
    }
}

fn turned_round(case: &Case<'_>, number: ClaimNumber<'_>) -> Option<(Effect, Code, String)> {
    let comparison = comparison(case.claim, number)?;
    let all = candidates(case, number);
    let of = |words: &HashSet<u32>, others: &HashSet<u32>| {
        let found = all
            .iter()
            .filter(|c| belongs_only_to(&c.operand, words, others));
        found.map(|c| c.operand).collect::<Vec<Operand<'_>>>()
    };
    let mut first = of(&comparison.first, &comparison.second);
    if comparison.first.is_empty() {
        // "£3,664, which is £664 above the reserve".
        let claimed = all.iter().filter(|c| c.is_claimed());
        first = claimed.map(|c| c.operand).collect();
    }
    let second = of(&comparison.second, &comparison.first);
    for x in &first {
        for y in &second {
            let is_greater = is_greater_by(number.number, &x.number, &y.number);
            if let Some(is_greater) = is_greater {
                let why = turned(x.shown, y.shown);
                return (is_greater != comparison.is_more).then_some((
                    Effect::Doubts,
                    Code::Number,
                    why,
                ));
            }
        }
    }
    let ([x], [y]) = (first.as_slice(), second.as_slice()) else {
        return None;
    };
    // The difference of the only two amounts is another one.
    let both = [number.number, &x.number, &y.number];
    let exact = both.iter().all(|n| n.bound.is_none() && n.range.is_none());
    let alike = arithmetic::in_one_unit(number.number, true, &[&x.number, &y.number]).is_some();
    (exact && alike && number.number.unit.is_some()).then(|| {
        let shown = case.claim.shown_amount(number.atom);
        let why = format!(
            "“{shown}” is not the difference of “{}” and “{}”.",
            x.shown, y.shown
        );
        (Effect::Doubts, Code::Number, why)
    })
}

/// What is wrong with amounts that are compared the wrong way round.
pub(super) fn turned(x: &str, y: &str) -> String {
    format!("The claim compares “{x}” and “{y}” the wrong way round.")
}

/// Whether the first amount is the greater one, if `n` is their difference.
fn is_greater_by(n: &Number, x: &Number, y: &Number) -> Option<bool> {
    let values = arithmetic::in_one_unit(n, true, &[x, y])?;
    let difference = values.first()? - values.get(1)?;
    a::same(difference.abs(), n.value).then_some(difference > 0.0)
}

fn belongs_only_to(operand: &Operand<'_>, words: &HashSet<u32>, others: &HashSet<u32>) -> bool {
    let thing = thing(operand.reading, operand.atom);
    let mut ids = thing.iter();
    ids.any(|id| words.contains(id) && !others.contains(id))
        && !thing
            .iter()
            .any(|id| others.contains(id) && !words.contains(id))
}

/// Maximum number of words from a difference to "than".
const NEAR: usize = 4;

fn comparison(claim: &Reading, number: ClaimNumber<'_>) -> Option<DifferenceClaim> {
    const MORE: &[&str] = list!("compared.more");
    const LESS: &[&str] = list!("compared.less");
    const THAN: &[&str] = list!("compared.than");
    let tokens = claim.text.tokens.as_slice();
    let at = &number.atom.tokens;
    let behind = tokens.get(at.end..)?;
    let is_in = |list: &[&str], token: &Token| list.contains(&&*claim.lower_word(token));
    let near = behind.get(..behind.len().min(NEAR))?;
    if let Some(is_more) = above_or_below(claim, near.first()?) {
        return Some(DifferenceClaim {
            first: HashSet::new(),
            second: ids(behind.get(1..)?),
            is_more,
        });
    }
    let than = near.iter().position(|t| is_in(THAN, t))?;
    let words = near.get(..than)?;
    let [more, less] = [MORE, LESS].map(|list| words.iter().any(|t| is_in(list, t)));
    if more == less {
        return None;
    }
    Some(DifferenceClaim {
        first: ids(tokens.get(..at.start)?),
        second: ids(behind.get(than + 1..)?),
        is_more: more,
    })
}

/// Whether "above" or "below" is directly behind a difference; `None` for other words.
fn above_or_below(claim: &Reading, token: &Token) -> Option<bool> {
    const ABOVE: &[&str] = list!("compared.above");
    const BELOW: &[&str] = list!("compared.below");
    let word = claim.lower_word(token);
    let below = BELOW.contains(&&*word);
    (below || ABOVE.contains(&&*word)).then_some(!below)
}

fn ids(tokens: &[Token]) -> HashSet<u32> {
    let words = tokens.iter().filter(|t| t.is_content() && !t.number);
    words.map(|t| t.id).collect()
}
