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

fn turned(x: &str, y: &str) -> String {
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
