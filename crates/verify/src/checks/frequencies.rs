//! L4: how often something happens: "every 15 minutes" is "four times an hour", and "every other
//! week" is "every two weeks".

use std::ops::Range;

use super::align::Alignment;
use super::atoms::readings;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{self as a, Atom, MeasureUnit, Number, UnitKind, What, simple_value, unit};
use crate::reading::Reading;

const EVERY: &[&str] = list!("frequencies.every");
const OTHER: &[&str] = list!("frequencies.other");
const HALF: &[&str] = list!("frequencies.half");
const PER: &[&str] = list!("frequencies.per");
const TIMES: &[&str] = list!("frequencies.times");
const ONCE: &[&str] = list!("frequencies.once");
const TWICE: &[&str] = list!("frequencies.twice");
const THRICE: &[&str] = list!("frequencies.thrice");

/// Adverbs, and the unit that each repeats.
const ADVERBS: [(&[&str], &str); 5] = [
    (list!("frequencies.hourly"), "hour"),
    (list!("frequencies.daily"), "day"),
    (list!("frequencies.weekly"), "week"),
    (list!("frequencies.monthly"), "month"),
    (list!("frequencies.yearly"), "year"),
];

/// How often something happens.
struct Frequency {
    /// The time from one to the next.
    period: f64,
    unit: MeasureUnit,
    /// Tokens of the text.
    tokens: Range<usize>,
}

impl Frequency {
    fn equals(&self, other: &Self) -> bool {
        a::equal_amounts(self.period, self.unit, other.period, other.unit)
    }
}

/// Maximum number of frequencies of a claim that are looked at; bounds the work on hostile text.
const MOST: usize = 16;

/// Whether a number of the claim belongs to a frequency that the cited text has in other words.
pub(super) fn agrees(case: &Case<'_>, atom: &Atom) -> bool {
    // This runs for every number.
    if case.has_many_atoms() {
        return false;
    }
    let own = frequencies(case.claim);
    let mut own = own
        .iter()
        .take(MOST)
        .filter(|f| f.tokens.start < atom.tokens.end && atom.tokens.start < f.tokens.end);
    own.any(|f| has(case, f))
}

/// The tokens of the frequencies of the claim that the cited text has in other words.
pub(super) fn explained(case: &Case<'_>) -> Vec<Range<usize>> {
    let own = frequencies(case.claim).into_iter().take(MOST);
    own.filter(|f| has(case, f) && !stands(case, f))
        .map(|f| f.tokens)
        .collect()
}

/// Whether the cited text has a frequency in the same words.
fn stands(case: &Case<'_>, own: &Frequency) -> bool {
    let shown = case.claim.shown(own.tokens.clone()).to_lowercase();
    readings(case).any(|reading| reading.lower().contains(&shown))
}

fn has(case: &Case<'_>, own: &Frequency) -> bool {
    readings(case).any(|reading| frequencies(reading).iter().any(|f| f.equals(own)))
}

/// Whether the number is a count of times that the cited text has in one word: "two times" and "twice".
pub(super) fn is_adverb(case: &Case<'_>, atom: &Atom, n: &Number) -> bool {
    const UNIT: MeasureUnit = &[(UnitKind::Times, 1.0)];
    let is_counted = n.unit.is_none() && TIMES.contains(&&*word(case.claim, atom.tokens.end));
    let is_count = is_counted || n.unit.is_some_and(|unit| a::same_kind(unit, UNIT));
    is_count
        && n.per.is_none()
        && readings(case).any(|reading| {
            let mut tokens = reading.text.tokens.iter();
            tokens.any(|t| {
                count_of(&reading.lower_word(t)).is_some_and(|count| a::same(count, n.value))
            })
        })
}

/// How often something happens by one word: "twice", "dreimal".
fn count_of(word: &str) -> Option<f64> {
    const LISTS: [(&[&str], f64); 3] = [(ONCE, 1.0), (TWICE, 2.0), (THRICE, 3.0)];
    let known = LISTS.iter().find(|(words, _)| words.contains(&word));
    let known = known.map(|(_, count)| *count);
    known.or_else(|| word.strip_suffix("mal").and_then(simple_value))
}

/// Whether the cited text has the period as an amount: "(was 2 min)".
fn is_amount(case: &Case<'_>, own: &Frequency) -> bool {
    let atoms = readings(case).flat_map(|reading| &reading.atoms);
    let mut numbers = atoms.filter_map(|atom| match &atom.what {
        What::Number(n) => n.unit.map(|unit| (n.value, unit)),
        _ => None,
    });
    numbers.any(|(value, unit)| a::equal_amounts(own.period, own.unit, value, unit))
}

/// The doubts about frequencies of the claim, where the nearest sentence has only another one.
pub(super) fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Effect, Code, String)> {
    let own = frequencies(case.claim);
    let best = alignment.best()?;
    let mut wrong = own.iter().take(MOST).filter(|f| !has(case, f));
    let wrong = wrong.find(|f| !is_amount(case, f))?;
    let reading = best.source.reading;
    let within = reading.sentence(best.sentence)?.tokens.clone();
    let theirs = frequencies(reading);
    let said = theirs.iter().find(|f| within.contains(&f.tokens.start))?;
    let [ours, theirs] = [(case.claim, wrong), (reading, said)]
        .map(|(reading, f)| reading.shown(f.tokens.clone()).to_owned());
    let why = format!("The claim says “{ours}”, but the cited text says “{theirs}”.");
    Some((Effect::Doubts, Code::Number, why))
}

/// The frequencies of a text.
fn frequencies(reading: &Reading) -> Vec<Frequency> {
    let count = reading.text.tokens.len();
    let mut out = Vec::new();
    let mut at = 0;
    while at < count {
        let found = times(reading, at)
            .or_else(|| every(reading, at))
            .or_else(|| adverb(reading, at));
        at = found.as_ref().map_or(at + 1, |f| f.tokens.end);
        out.extend(found);
    }
    out
}

/// The word of a token in lower case; empty behind the end.
fn word(reading: &Reading, at: usize) -> std::borrow::Cow<'_, str> {
    let token = reading.text.tokens.get(at);
    token.map(|t| reading.lower_word(t)).unwrap_or_default()
}

/// The unit of time at a token.
fn time_unit(reading: &Reading, at: usize) -> Option<MeasureUnit> {
    let word = word(reading, at);
    // "Each s" is no second.
    let is_long = word.chars().count() > 1;
    unit_of_time(&word).filter(|_| is_long)
}

fn unit_of_time(word: &str) -> Option<MeasureUnit> {
    let is_time = |(kind, _): &(UnitKind, f64)| matches!(kind, UnitKind::Time | UnitKind::Calendar);
    unit(word).filter(|unit| unit.iter().all(is_time))
}

/// Reads "every 15 minutes", "every other week", "every third day" or "each month".
fn every(reading: &Reading, at: usize) -> Option<Frequency> {
    if !EVERY.contains(&&*word(reading, at)) {
        return None;
    }
    let next = word(reading, at + 1);
    let counted = simple_value(&next).filter(|period| *period > 0.0);
    let (period, behind) = if OTHER.contains(&&*next) {
        (2.0, at + 2)
    } else if HALF.contains(&&*next) {
        (0.5, at + 2)
    } else if let Some(period) = counted {
        (period, at + 2)
    } else {
        (1.0, at + 1)
    };
    let unit = match next.starts_with(|c: char| c.is_ascii_digit()) {
        true => unit_of_time(&word(reading, behind))?,
        false => time_unit(reading, behind)?,
    };
    Some(Frequency {
        period,
        unit,
        tokens: at..behind + 1,
    })
}

/// Reads "four times an hour", "twice a week" or "once every two weeks".
fn times(reading: &Reading, at: usize) -> Option<Frequency> {
    let first = word(reading, at);
    let (count, next) = if let Some(count) = count_of(&first) {
        (count, at + 1)
    } else {
        let count = simple_value(&first).filter(|count| *count > 0.0)?;
        TIMES
            .contains(&&*word(reading, at + 1))
            .then_some((count, at + 2))?
    };
    let period = every(reading, next).or_else(|| {
        let unit = time_unit(reading, next + 1)?;
        let per = PER.contains(&&*word(reading, next));
        per.then_some(Frequency {
            period: 1.0,
            unit,
            tokens: next..next + 2,
        })
    })?;
    Some(Frequency {
        period: period.period / count,
        unit: period.unit,
        tokens: at..period.tokens.end,
    })
}

/// Reads "weekly".
fn adverb(reading: &Reading, at: usize) -> Option<Frequency> {
    let word = word(reading, at);
    let (_, name) = ADVERBS.iter().find(|(names, _)| names.contains(&&*word))?;
    Some(Frequency {
        period: 1.0,
        unit: unit(name)?,
        tokens: at..at + 1,
    })
}
