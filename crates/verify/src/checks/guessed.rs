//! L4: numbers of a claim that a computation with another number of the claim may give, in any words.
//!
//! This proves nothing: it only keeps a number from being rejected because the words for its
//! computation are unknown.

use super::Case;
use super::derive::{ClaimNumber, may_be_computed};
use super::numbers::{equal, numbers};
use crate::atoms::{self as a, Atom, Number, What};
use crate::reading::Reading;

/// Maximum number of amounts of the claim, and of the cited text, that are combined.
const MOST_OWN: usize = 8;
const MOST_CITED: usize = 24;

/// A smaller number agrees with too many computations by chance.
const SMALLEST: f64 = 10.0;

/// A quotient may be rounded to whole numbers.
const ROUNDING: f64 = 0.5;

/// A number and its digits as people may read them.
type Shown<'t> = (&'t str, &'t Number);

/// Two amounts whose sum, difference, product or quotient may be the result: one that the claim has
/// beside it, and another of the claim or of the cited text.
pub(super) fn possible(case: &Case<'_>, result: ClaimNumber<'_>) -> Option<[String; 2]> {
    let n = result.number;
    if !may_be_computed(n) || case.has_many_atoms() || n.value.abs() < SMALLEST {
        return None;
    }
    let own = case.claim.atoms.iter();
    let beside = own.filter(|atom| atom.bytes != result.atom.bytes);
    let own: Vec<Shown<'_>> = amounts(case.claim, beside)
        .filter(|(_, m)| is_cited(case, m))
        .take(MOST_OWN)
        .collect();
    let cited = case.cited.iter();
    let cited = cited.flat_map(|source| amounts(source.reading, source.reading.atoms.iter()));
    let all: Vec<Shown<'_>> = cited.take(MOST_CITED).chain(own.iter().copied()).collect();
    own.iter().find_map(|(x, p)| {
        let found = all.iter().find(|(_, q)| gives(p, q, n));
        found.map(|(y, _)| [(*x).to_owned(), (*y).to_owned()])
    })
}

fn amounts<'t>(
    reading: &'t Reading,
    atoms: impl Iterator<Item = &'t Atom>,
) -> impl Iterator<Item = Shown<'t>> {
    atoms.filter_map(|atom| match &atom.what {
        What::Number(m) if !m.ordinal => Some((reading.shown_amount(atom), m)),
        _ => None,
    })
}

fn is_cited(case: &Case<'_>, n: &Number) -> bool {
    let mut cited = case.cited.iter();
    cited.any(|s| numbers(s.reading.atoms.iter()).any(|m| equal(n, m, s.reading)))
}

/// Whether two different amounts give the result, whatever their units are called.
fn gives(p: &Number, q: &Number, n: &Number) -> bool {
    let (x, y, wanted) = (p.value.abs(), q.value.abs(), n.value.abs());
    if a::same(x, y) || y == 0.0 {
        return false;
    }
    let alike = p.unit.zip(q.unit).is_none_or(|(p, q)| a::same_kind(p, q));
    let added = alike && (a::same(x + y, wanted) || a::same((x - y).abs(), wanted));
    let counts = x.min(y) >= 2.0 && (is_whole(x) || is_whole(y));
    let multiplied = counts && a::same(x * y, wanted);
    let divided = [x / y, y / x]
        .iter()
        .any(|quotient| (quotient - wanted).abs() < ROUNDING);
    added || multiplied || counts && divided
}

fn is_whole(value: f64) -> bool {
    value.fract() == 0.0
}
