//! Numbers that are made of two: ranges, shares ("one in four"), and amounts with a smaller part
//! ("two hours and 30 minutes", "an hour and a half").

use super::notations::OtherReading;
use super::numbers::{Number, RangeEnd, Reader, Value, digits_value, is_dash, word_value};
use super::units::{self, MeasureUnit, UnitKind};
use crate::text::lower_case;

const BETWEEN: &[&str] = list!("numbers.between");
const BETWEEN_AND: &[&str] = list!("numbers.between-and");
const IN: &[&str] = list!("numbers.in");
const OUT: &[&str] = list!("numbers.out-of");
const AND: &[&str] = list!("numbers.and");
const HALF: &[&str] = list!("numbers.half-words");

/// Maximum number of words between the ends of a range: "between 10 euros and 20 euros".
const MOST_BETWEEN: usize = 3;

/// The largest whole of a share in words.
const MOST_OF_A_SHARE: f64 = 1000.0;

impl Reader<'_> {
    /// Reads "Hälfte", "halbe Stunde", "anderthalb" or "achteinhalb".
    pub(super) fn half_in_words(&self, i: usize, lower: &str) -> Option<Value> {
        const HALVES: &[&str] = list!("numbers.halves");
        const HALVES_OF: &[&str] = list!("numbers.halves-of");
        const AND_A_HALF: &[&str] = list!("numbers.and-a-half");
        if lower == "anderthalb" {
            return Some(Value::words(1.5, i + 1));
        }
        let has_unit = || self.unit_after(i + 1).0.is_some();
        if HALVES.contains(&lower) || HALVES_OF.contains(&lower) && has_unit() {
            return Some(Value::words(0.5, i + 1));
        }
        let whole = AND_A_HALF.iter().find_map(|end| lower.strip_suffix(end))?;
        let whole = match whole {
            "ein" => 1.0,
            _ => word_value(whole)?,
        };
        Some(Value::words(whole + 0.5, i + 1))
    }

    /// The unit of "half an hour" and "a quarter of an hour" behind the fraction, and of "two more
    /// hours" behind the number; and the index behind it.
    pub(super) fn unit_of_a_part(
        &self,
        value: f64,
        next: usize,
    ) -> Option<(Option<MeasureUnit>, usize)> {
        const OF_ONE: &[&str] = list!("numbers.of-one");
        const MORE: &[&str] = list!("numbers.more");
        if self.before(next) != " " {
            return None;
        }
        let rest = self.rest_from(next).get(1..)?;
        let phrases = match value < 1.0 {
            true => OF_ONE,
            false => MORE,
        };
        let phrase = phrases.iter().find(|phrase| {
            let behind = rest.strip_prefix(**phrase);
            behind.is_some_and(|behind| behind.starts_with(' '))
        })?;
        let (unit, behind) = self.unit_after(next + phrase.split(' ').count());
        unit.map(|unit| (Some(unit), behind))
    }

    /// Which end of a range the number from token `i` to `next` is: "5–10", "5 to 10", "between 5
    /// and 10".
    pub(super) fn range_end(&self, i: usize, next: usize) -> Option<RangeEnd> {
        let to_before = i > 1
            && self.lower(i - 1) == "to"
            && (self.begins_with_digit(i - 2) || i > 2 && self.begins_with_digit(i - 3));
        let dash_before = i > 0 && is_dash(self.before(i)) && self.begins_with_digit(i - 1);
        if dash_before || to_before || self.ends_between(i) {
            return Some(RangeEnd::Upper);
        }
        let dash_behind = is_dash(self.before(next)) && self.begins_with_digit(next);
        let to_behind = self.lower(next) == "to" && self.begins_with_digit(next + 1);
        let between = self.begins_between(i);
        (dash_behind || to_behind || between).then_some(RangeEnd::Lower)
    }

    fn begins_between(&self, i: usize) -> bool {
        BETWEEN.contains(&&*self.lower_before(i, 1))
    }

    /// Whether the number at token `i` is behind "between", a number and "and".
    fn ends_between(&self, i: usize) -> bool {
        if !BETWEEN_AND.contains(&&*self.lower_before(i, 1)) {
            return false;
        }
        let from = i.saturating_sub(MOST_BETWEEN + 2);
        let mut starts = from..i.saturating_sub(1);
        starts.any(|at| self.begins_between(at) && self.simple_value(at).is_some())
    }

    /// The value of one token, in digits or in a word.
    fn simple_value(&self, i: usize) -> Option<f64> {
        simple_value(self.word(i))
    }

    /// Reads "one in four" or "3 out of 5" from token `i`, whose number has a value and ends before
    /// `next`.
    pub(super) fn share_of(&self, i: usize, value: f64, next: usize) -> Option<(Number, usize)> {
        let is_out_of = OUT.contains(&&*self.lower(next)) && self.lower(next + 1) == "of";
        let in_words = word_value(&self.lower(i)).is_some() && next == i + 1;
        let is_in = IN.contains(&&*self.lower(next)) && in_words;
        let at = match (is_out_of, is_in) {
            (true, _) => next + 2,
            (_, true) if word_value(&self.lower(next + 1)).is_some() => next + 1,
            _ => return None,
        };
        let whole = self.simple_value(at)?;
        let fits = value >= 1.0 && value < whole && whole <= MOST_OF_A_SHARE;
        let measures = self.unit_after(at + 1).0.is_some();
        if !fits || measures || value.fract() != 0.0 {
            return None;
        }
        let share = Number {
            value: value / whole,
            unit: None,
            per: None,
            bound: self.bound(i, at + 1),
            ordinal: false,
            words: true,
            range: None,
            also: Some(OtherReading::Parts),
        };
        Some((share, at + 1))
    }

    /// Reads the "an hour" of "an hour and a half"; the rest is a smaller part.
    pub(super) fn one_and_a_half(&self, i: usize) -> Option<Value> {
        let unit = units::unit(self.word(i + 1))?;
        self.half_behind(unit, i + 2)?;
        Some(Value::words(1.0, i + 1))
    }

    /// The part of an amount that is behind it in the same or a smaller unit, in the unit of the
    /// amount, and the index behind: "… and a half", "… and 30 minutes", "… 30 min".
    pub(super) fn smaller_part(
        &self,
        unit: MeasureUnit,
        value: f64,
        next: usize,
    ) -> Option<(f64, usize)> {
        if value.fract() != 0.0 {
            return None;
        }
        if let Some(found) = self.half_behind(unit, next) {
            return Some(found);
        }
        let is_time = kind_of(unit) == Some(UnitKind::Time);
        let is_added = AND.contains(&&*self.lower(next)) && is_time;
        let at = next + usize::from(is_added);
        if self.before(next) != " " || self.before(at) != " " {
            return None;
        }
        let part = self.simple_value(at)?;
        let (smaller, behind) = self.unit_after(at + 1);
        let by = smaller_by(unit, smaller?)?;
        (part < by).then_some((part / by, behind))
    }

    fn half_behind(&self, unit: MeasureUnit, next: usize) -> Option<(f64, usize)> {
        let is_time = unit
            .iter()
            .any(|(kind, _)| matches!(kind, UnitKind::Time | UnitKind::Calendar));
        let words = [next, next + 1, next + 2].map(|i| lower_case(self.word(i)));
        let [and, article, half] = words;
        let is_half = AND.contains(&&*and) && article == "a" && HALF.contains(&&*half);
        (is_time && is_half && self.before(next) == " ").then_some((0.5, next + 3))
    }
}

/// The value of one word, in digits or in letters.
pub(crate) fn simple_value(word: &str) -> Option<f64> {
    digits_value(word).or_else(|| word_value(&lower_case(word)))
}

fn kind_of(unit: MeasureUnit) -> Option<UnitKind> {
    match unit {
        [(kind, _)] => Some(*kind),
        _ => None,
    }
}

/// How many of the smaller unit are one of the larger.
fn smaller_by(larger: MeasureUnit, smaller: MeasureUnit) -> Option<f64> {
    let ([(kind, one)], [(other, part)]) = (larger, smaller) else {
        return None;
    };
    let by = one / part;
    let counts = !units::is_currency(larger) && *kind != UnitKind::Percent;
    (kind == other && by > 1.0 && counts).then_some(by)
}
