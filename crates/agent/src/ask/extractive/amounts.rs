//! Numbers as notes write them, and exact arithmetic with them.

use std::fmt;

/// An amount is stored as a multiple of 1/10,000.
const PARTS: i64 = 10_000;
const DIGITS: u32 = 4;

/// A number with its unit, exact to four decimals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Amount {
    /// The value in ten-thousandths.
    pub parts: i64,
    /// The number of written decimals.
    pub decimals: u32,
    /// The text around the number, such as `€` or `kWh`; may be empty.
    pub unit: String,
}

impl Amount {
    /// A whole number.
    pub(super) fn whole(number: usize, unit: &str) -> Self {
        Self {
            parts: i64::try_from(number)
                .unwrap_or(i64::MAX / PARTS)
                .saturating_mul(PARTS),
            decimals: 0,
            unit: unit.to_owned(),
        }
    }

    /// Reads a table cell: one number with at most three words of unit around it. Dates, clock
    /// times and ranges are not amounts.
    pub(super) fn of_cell(cell: &str) -> Option<Self> {
        let cell = cell.trim().trim_matches('*');
        let numbers = runs(cell);
        let [(start, end)] = numbers.as_slice() else {
            return None;
        };
        let around = format!("{} {}", &cell[..*start], &cell[*end..]);
        let unit = around
            .trim()
            .trim_matches(['~', '+', '≈'])
            .trim()
            .to_owned();
        if unit.split_whitespace().count() > 3 || unit.contains(':') {
            return None;
        }
        let negative = cell[..*start].trim_end().ends_with(['-', '−']);
        let mut amount = Self::of_number(cell.get(*start..*end)?)?;
        if negative {
            amount.parts = -amount.parts;
        }
        amount.unit = unit.trim_start_matches(['-', '−']).trim().to_owned();
        Some(amount)
    }

    /// Reads digits with separators: `1,234.50`, `1.234,50`, `12,5`, `1 234`.
    fn of_number(text: &str) -> Option<Self> {
        let marks: Vec<(usize, char)> = text
            .char_indices()
            .filter(|(_, c)| matches!(c, '.' | ','))
            .collect();
        let decimal = match marks.as_slice() {
            [] => None,
            [(at, _)] => {
                let after = text.len() - at - 1;
                // One separator before exactly three digits separates thousands, unless the number
                // begins with 0.
                (after != 3 || text.starts_with('0')).then_some(*at)
            }
            [.., (before, a), (at, b)] => (a != b && before < at).then_some(*at),
        };
        let whole = ascii_digits(&text[..decimal.unwrap_or(text.len())]);
        let rest = decimal.map_or_else(String::new, |at| ascii_digits(&text[at + 1..]));
        if rest.len() > DIGITS as usize {
            return None;
        }
        let decimals = u32::try_from(rest.len()).ok()?;
        let fraction: i64 = if rest.is_empty() {
            0
        } else {
            rest.parse().ok()?
        };
        let scale = 10_i64.pow(DIGITS - decimals);
        let whole: i64 = whole.parse().ok()?;
        let parts = whole.checked_mul(PARTS)?.checked_add(fraction * scale)?;
        Some(Self {
            parts,
            decimals,
            unit: String::new(),
        })
    }
}

/// The digits of the text.
fn ascii_digits(t: &str) -> String {
    t.chars().filter(char::is_ascii_digit).collect::<String>()
}

/// The byte ranges of the numbers in a text.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for (at, c) in text.char_indices() {
        if !c.is_ascii_digit() {
            continue;
        }
        match out.last_mut() {
            Some((_, end)) if continues_number(text, at, *end) => *end = at + 1,
            _ => out.push((at, at + 1)),
        }
    }
    out
}

/// Whether the digits at `at` belong to the number that ended at `end`.
fn continues_number(text: &str, at: usize, end: usize) -> bool {
    let gap = &text[end..at];
    gap.is_empty()
        || matches!(gap, "." | "," | "'" | "\u{a0}" | "\u{202f}")
        || gap == " " && text[at..].chars().take_while(char::is_ascii_digit).count() == 3
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.parts < 0 { "-" } else { "" };
        let (whole, part) = (self.parts.abs() / PARTS, self.parts.abs() % PARTS);
        let fraction = part / 10_i64.pow(DIGITS - self.decimals.min(DIGITS));
        write!(f, "{sign}{whole}")?;
        if self.decimals > 0 {
            let width = self.decimals as usize;
            write!(f, ".{fraction:0width$}")?;
        }
        Ok(())
    }
}

/// The sum; `None` on overflow.
pub(super) fn sum(amounts: &[Amount]) -> Option<Amount> {
    let parts = amounts
        .iter()
        .try_fold(0_i64, |sum, a| sum.checked_add(a.parts))?;
    Some(Amount {
        parts,
        decimals: amounts.iter().map(|a| a.decimals).max()?,
        unit: common_unit(amounts),
    })
}

/// The mean, with two more decimals than the amounts have.
pub(super) fn mean(amounts: &[Amount]) -> Option<Amount> {
    let sum = sum(amounts)?;
    let count = i64::try_from(amounts.len()).ok().filter(|n| *n > 0)?;
    let decimals = (sum.decimals + 2).min(DIGITS);
    let step = 10_i64.pow(DIGITS - decimals);
    let parts = (sum.parts as f64 / count as f64 / step as f64).round() as i64 * step;
    Some(Amount {
        parts,
        decimals,
        ..sum
    })
}

fn common_unit(amounts: &[Amount]) -> String {
    let first = amounts.first().map_or("", |a| a.unit.as_str());
    let same = amounts.iter().all(|a| a.unit == first);
    if same {
        first.to_owned()
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(text: &str) -> Option<(String, String)> {
        Amount::of_cell(text).map(|a| (a.to_string(), a.unit))
    }

    #[test]
    fn amounts_are_read_however_they_are_written() {
        for (text, number, unit) in [
            ("84.30 €", "84.30", "€"),
            ("€1,234.50", "1234.50", "€"),
            ("1.234,50 EUR", "1234.50", "EUR"),
            ("12,5 %", "12.5", "%"),
            ("1,200 kWh", "1200", "kWh"),
            ("**310**", "310", ""),
            ("-5.00", "-5.00", ""),
        ] {
            let wanted = Some((number.to_owned(), unit.to_owned()));
            assert_eq!(amount(text), wanted, "{text}");
        }
        for text in ["2026-05-14", "8:30", "3 to 5", "none", "120/80"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn sums_and_means_are_exact() {
        let amounts: Vec<Amount> = ["0.10 €", "0.20 €", "1.00 €"]
            .iter()
            .filter_map(|t| Amount::of_cell(t))
            .collect();
        let sum = sum(&amounts).unwrap();
        assert_eq!((sum.to_string().as_str(), sum.unit.as_str()), ("1.30", "€"));
        assert_eq!(mean(&amounts).unwrap().to_string(), "0.4333");
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_whole_numbers_come_back(n in 0_u32..1_000_000, any in any::<String>()) {
            let _ = Amount::of_cell(&any);
            prop_assert_eq!(Amount::of_cell(&n.to_string()).map(|a| a.to_string()), Some(n.to_string()));
        }
    }
}
