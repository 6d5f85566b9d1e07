//! L4: a number that may be a part of an amount which words name: "a third of 14,500".

use std::collections::BTreeSet;

use super::Case;
use super::atoms::readings;
use crate::atoms as a;
use crate::reading::Reading;

/// Words for parts, each with the number of parts of the whole.
const PARTS: &[&str] = list!("fractions.words");

/// A part is rounded to whole numbers.
const ROUNDING: f64 = 0.5;

/// The amount and the part of it that may be `wanted`, if the claim or the cited text names such parts.
pub(super) fn part<'t>(
    case: &Case<'_>,
    amounts: impl Iterator<Item = (&'t str, f64)>,
    wanted: f64,
) -> Option<[String; 2]> {
    let named = readings(case).chain([case.claim]).flat_map(parts_named);
    let named: BTreeSet<u32> = named.collect();
    let mut amounts = amounts.filter(|_| !named.is_empty());
    amounts.find_map(|(shown, whole)| {
        let of = named.iter().find(|of| is_part(whole, **of, wanted))?;
        Some([shown.to_owned(), format!("1/{of}")])
    })
}

/// Whether a number is one or more parts of a whole, but not all of it.
fn is_part(whole: f64, of: u32, wanted: f64) -> bool {
    let exact = (1..of).map(|count| whole * f64::from(count) / f64::from(of));
    let rounding = match wanted.fract() == 0.0 && wanted >= 10.0 {
        true => ROUNDING,
        false => 0.0,
    };
    exact
        .into_iter()
        .any(|part| a::same(part, wanted) || (part - wanted).abs() < rounding)
}

/// The parts that the words of a text name: 3 for "a third".
fn parts_named(reading: &Reading) -> impl Iterator<Item = u32> {
    let tokens = reading.text.tokens.iter().filter(|t| !t.number);
    tokens.filter_map(|t| {
        let word = reading.lower_word(t);
        PARTS.iter().find_map(|entry| {
            let (name, of) = entry.split_once(' ')?;
            of.parse().ok().filter(|_| name == word)
        })
    })
}
