//! Numbers as notes write them, and exact arithmetic with them.

use std::fmt;

use super::calendar;
use super::cues;
use local_agent_verify::UnitKind;

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
}

/// The amounts of a column, one for each cell; `None` if a cell is not an amount, or if it is not
/// certain which mark is the decimal sign: `1.250` alone is either 1250 or 1.25. `usual` is the
/// decimal sign of the language of the note, and decides then.
pub(super) fn of_column(cells: &[&str], usual: Option<char>) -> Option<Vec<Amount>> {
    let written: Option<Vec<WrittenAmount<'_>>> = cells
        .iter()
        .map(|cell| WrittenAmount::of_cell(cell))
        .collect();
    let written = written?;
    let numbers: Vec<&str> = written.iter().map(|amount| amount.number).collect();
    let decimal = decimal_sign(&numbers, usual)?;
    written
        .into_iter()
        .map(|amount| amount.value(decimal))
        .collect()
}

/// The amounts of a text that have a unit or a currency, each as a cell: its number and its unit, of
/// which "/month" and "each" are a part. `None` if one of them is no single amount: a range, a
/// bound, a product.
pub(super) fn with_units(text: &str) -> Option<Vec<(String, String)>> {
    let mut found = Vec::new();
    for (start, end) in runs(text) {
        let (before, after) = (text.get(..start)?, text.get(end..)?);
        let Some(unit) = unit_beside(before, after) else {
            continue;
        };
        let minus = match sign_before(before) {
            NumberSign::Plus => "",
            NumberSign::Minus => "-",
            NumberSign::Unclear => return None,
        };
        found.push((format!("{minus}{}", text.get(start..end)?), unit));
    }
    Some(found)
}

/// What stands before a number.
enum NumberSign {
    Plus,
    Minus,
    /// The number is the end of a range, a bound, or a factor.
    Unclear,
}

/// Marks before a number that is no exact amount, and signs of a product.
const INEXACT: [char; 10] = ['~', '≈', '<', '>', '≤', '≥', '±', '+', '×', '*'];

/// The sign of the number behind this text. "Paint – 43 €" has a dash, "-20 €" a minus, and
/// "10-20 €" a range.
fn sign_before(before: &str) -> NumberSign {
    let is_currency = |c: char| cues::MONEY_MARKS.contains(c);
    let bare = before.trim_end_matches(is_currency);
    let rest = bare.trim_end();
    let last = rest.split_whitespace().next_back().unwrap_or("");
    let ends_in_number = |text: &str| text.trim_end().ends_with(|c: char| c.is_ascii_digit());
    let before_last = rest.strip_suffix(last).unwrap_or("");
    let joins = cues::holds(cues::RANGE_TO, &last.to_lowercase()) || matches!(last, "x" | "X");
    if rest.ends_with(INEXACT) || joins && ends_in_number(before_last) {
        return NumberSign::Unclear;
    }
    let Some(first) = rest.strip_suffix(MINUS) else {
        return NumberSign::Plus;
    };
    match (ends_in_number(first), bare.ends_with(MINUS)) {
        (true, _) => NumberSign::Unclear,
        (false, true) => NumberSign::Minus,
        (false, false) => NumberSign::Plus,
    }
}

/// The currency sign before a number or the unit behind it, with what it is counted by.
fn unit_beside(before: &str, after: &str) -> Option<String> {
    let is_sign = |c: &char| cues::MONEY_MARKS.contains(*c);
    if let Some(sign) = before.trim_end().chars().next_back().filter(is_sign) {
        return Some(format!("{sign}{}", rate(after)));
    }
    let after = after.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    if let Some(sign) = after.chars().next().filter(is_sign) {
        let behind = after.get(sign.len_utf8()..)?;
        return Some(format!("{sign}{}", rate(behind)));
    }
    let word = after.split(|c: char| !c.is_alphabetic()).next()?;
    is_unit(word).then(|| format!("{word}{}", rate(after.get(word.len()..).unwrap_or(""))))
}

/// Whether a word is a unit or the name of a currency.
pub(super) fn is_unit(word: &str) -> bool {
    local_agent_verify::unit(word).is_some() || cues::holds(cues::CURRENCIES, &word.to_lowercase())
}

/// What the amount before this text is counted by: "/month", " each", " per person".
fn rate(after: &str) -> String {
    if let Some(by) = after.trim_start().strip_prefix('/') {
        let by = cues::split(by).next().unwrap_or("");
        return format!("/{by}");
    }
    let mut words = cues::split(after);
    let first = words.next().unwrap_or("");
    let is_next = after.trim_start().starts_with(first);
    match is_next && cues::holds(cues::RATES, &first.to_lowercase()) {
        true if cues::holds(cues::RATES_ALONE, &first.to_lowercase()) => format!(" {first}"),
        true => format!(" {first} {}", words.next().unwrap_or("")),
        false => String::new(),
    }
}

/// A cell with one number, before it is known which of its marks is the decimal sign.
struct WrittenAmount<'a> {
    number: &'a str,
    is_negative: bool,
    unit: String,
}

/// Signs of a negative number.
const MINUS: [char; 4] = ['-', '−', '–', '—'];

impl<'a> WrittenAmount<'a> {
    /// Reads a table cell: one number with at most three words of unit around it. Dates, clock
    /// times, ranges, bounds and numbers in parentheses are not amounts.
    fn of_cell(cell: &'a str) -> Option<Self> {
        let cell = cell.trim().trim_matches('*');
        let numbers = runs(cell);
        let [(start, end)] = numbers.as_slice() else {
            return None;
        };
        let (before, after) = (cell.get(..*start)?, cell.get(*end..)?);
        let is_cut = after.starts_with(MINUS) || after.starts_with(['.', ',']);
        if is_cut || before.contains(['(', '<', '>', '≤', '≥', '±']) || names_date(cell) {
            return None;
        }
        let (is_negative, before) = without_minus(before)?;
        let around = format!("{before} {after}");
        let unit = around
            .trim()
            .trim_matches(['~', '+', '≈'])
            .trim()
            .to_owned();
        if unit.split_whitespace().count() > 3 || unit.contains(':') {
            return None;
        }
        Some(Self {
            number: cell.get(*start..*end)?,
            is_negative,
            unit,
        })
    }

    /// The amount, if `decimal` is the decimal sign; `None` if its groups of digits are not those
    /// of a number.
    fn value(self, decimal: char) -> Option<Amount> {
        let (whole, fraction) = self.number.split_once(decimal).unwrap_or((self.number, ""));
        let is_number = is_grouped(whole) && fraction.bytes().all(|b| b.is_ascii_digit());
        if !is_number || fraction.len() > DIGITS as usize {
            return None;
        }
        let decimals = u32::try_from(fraction.len()).ok()?;
        let scale = 10_i64.pow(DIGITS - decimals);
        let fraction: i64 = match fraction {
            "" => 0,
            digits => digits.parse().ok()?,
        };
        let whole: i64 = ascii_digits(whole).parse().ok()?;
        let parts = whole.checked_mul(PARTS)?.checked_add(fraction * scale)?;
        Some(Amount {
            parts: if self.is_negative { -parts } else { parts },
            decimals,
            unit: self.unit,
        })
    }
}

/// Whether the cell names a day or a month.
fn names_date(cell: &str) -> bool {
    let lower = cell.to_lowercase();
    let mut words = cues::split(&lower);
    !calendar::all(cell).is_empty() || words.any(|word| cues::month(word).is_some())
}

/// The text before a number without its minus, and whether there is one. Only a currency may stand
/// between the minus and the number, or before the minus; `None` if other words do.
fn without_minus(before: &str) -> Option<(bool, &str)> {
    let bare = before.trim().trim_start_matches(['~', '≈']).trim_start();
    if !bare.contains(MINUS) {
        return Some((false, before));
    }
    let rest = bare
        .strip_prefix(MINUS)
        .or_else(|| bare.strip_suffix(MINUS))?
        .trim();
    let is_currency = rest.chars().all(|c| cues::MONEY_MARKS.contains(c))
        || local_agent_verify::unit(rest).is_some();
    is_currency.then_some((true, rest))
}

/// Whether the digits are whole, or in groups of three after the first.
fn is_grouped(whole: &str) -> bool {
    let mut groups = whole.split(|c: char| !c.is_ascii_digit());
    let first = groups.next().map_or(0, str::len);
    let rest: Vec<usize> = groups.map(str::len).collect();
    rest.is_empty() || (1..=3).contains(&first) && rest.iter().all(|length| *length == 3)
}

/// What one number shows about the marks of its column.
enum MarkProof {
    /// It has no mark.
    Nothing,
    /// This mark is the decimal sign.
    Decimal(char),
    /// This mark is either.
    Either,
}

/// The decimal sign of a column, the `usual` one if none of its numbers with a mark decides; `None` if
/// they contradict each other.
fn decimal_sign(numbers: &[&str], usual: Option<char>) -> Option<char> {
    let mut decimal = None;
    let mut is_open = false;
    for number in numbers {
        match proof(number)? {
            MarkProof::Nothing => {}
            MarkProof::Either => is_open = true,
            MarkProof::Decimal(mark) if decimal.is_none_or(|known| known == mark) => {
                decimal = Some(mark);
            }
            MarkProof::Decimal(_) => return None,
        }
    }
    match (decimal, is_open) {
        (None, true) => usual,
        (known, _) => Some(known.unwrap_or('.')),
    }
}

/// What a number shows; `None` if it is no number: `1.2,3.4`.
fn proof(number: &str) -> Option<MarkProof> {
    let marks: Vec<(usize, char)> = number
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | ','))
        .collect();
    let other = |mark: char| if mark == '.' { ',' } else { '.' };
    let (at, last) = match marks.as_slice() {
        [] => return Some(MarkProof::Nothing),
        [one] => *one,
        [.., last] => {
            let (_, mark) = *last;
            let same = marks.iter().filter(|(_, c)| *c == mark).count();
            return match (same == marks.len(), same) {
                (true, _) => Some(MarkProof::Decimal(other(mark))),
                (false, 1) => Some(MarkProof::Decimal(mark)),
                (false, _) => None,
            };
        }
    };
    let whole = number.get(..at)?;
    let is_plain = whole.bytes().all(|b| b.is_ascii_digit());
    let may_group =
        is_plain && number.len() - at == 4 && whole.len() <= 3 && !whole.starts_with('0');
    Some(match may_group {
        true => MarkProof::Either,
        false => MarkProof::Decimal(last),
    })
}

/// The amounts in one unit; `None` if their units cannot be added. Amounts in different units of
/// one kind are converted to the smallest of these units.
pub(super) fn in_one_unit(amounts: &[Amount]) -> Option<Vec<Amount>> {
    let first = amounts.first()?;
    if amounts.iter().all(|amount| amount.unit == first.unit) {
        return Some(amounts.to_vec());
    }
    let units: Option<Vec<(UnitKind, f64)>> = amounts
        .iter()
        .map(|amount| single_unit(&amount.unit))
        .collect();
    let units = units?;
    let (kind, _) = *units.first()?;
    let (smallest, (_, size)) = amounts
        .iter()
        .zip(&units)
        .min_by(|(_, (_, a)), (_, (_, b))| a.total_cmp(b))?;
    if units.iter().any(|(other, _)| *other != kind) {
        return None;
    }
    let converted = amounts.iter().zip(&units);
    converted
        .map(|(amount, (_, one))| multiplied(amount, one / size, &smallest.unit))
        .collect()
}

/// The kind and the size of a unit that has only one meaning.
fn single_unit(name: &str) -> Option<(UnitKind, f64)> {
    match local_agent_verify::unit(name)? {
        // Several countries have a currency of this name.
        [(UnitKind::Krone | UnitKind::Franc | UnitKind::Rupee, _)] => None,
        [unit] => Some(*unit),
        _ => None,
    }
}

/// The amount times a whole factor, in another unit.
fn multiplied(amount: &Amount, factor: f64, unit: &str) -> Option<Amount> {
    let whole = factor.round();
    if (factor - whole).abs() > 1e-9 * whole || !(1.0..1e12).contains(&whole) {
        return None;
    }
    let parts = amount.parts.checked_mul(whole as i64)?;
    let is_exact = |decimals: &u32| parts % 10_i64.pow(DIGITS - decimals) == 0;
    let decimals = match whole > 1.0 {
        true => (0..=DIGITS).find(is_exact)?,
        false => amount.decimals,
    };
    Some(Amount {
        parts,
        decimals,
        unit: unit.to_owned(),
    })
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

/// The sum of amounts in one unit; `None` on overflow.
pub(super) fn sum(amounts: &[Amount]) -> Option<Amount> {
    let parts = amounts
        .iter()
        .try_fold(0_i64, |sum, a| sum.checked_add(a.parts))?;
    Some(Amount {
        parts,
        decimals: amounts.iter().map(|a| a.decimals).max()?,
        unit: amounts.first()?.unit.clone(),
    })
}

/// The mean, with two more decimals than the amounts have.
pub(super) fn mean(amounts: &[Amount]) -> Option<Amount> {
    let sum = sum(amounts)?;
    let count = i64::try_from(amounts.len()).ok().filter(|n| *n > 0)?;
    let decimals = (sum.decimals + 2).min(DIGITS);
    let step = 10_i64.pow(DIGITS - decimals);
    let divisor = count.checked_mul(step)?;
    let half = (divisor / 2) * sum.parts.signum();
    let parts = sum.parts.checked_add(half)? / divisor * step;
    Some(Amount {
        parts,
        decimals,
        ..sum
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn amount(text: &str) -> Option<(String, String)> {
        let amounts = of_column(&[text], None)?;
        amounts.first().map(|a| (a.to_string(), a.unit.clone()))
    }

    fn column(cells: &[&str]) -> Option<Vec<String>> {
        let amounts = of_column(cells, None)?;
        Some(amounts.iter().map(Amount::to_string).collect())
    }

    fn total(cells: &[&str]) -> Option<String> {
        let sum = sum(&in_one_unit(&of_column(cells, None)?)?)?;
        Some(format!("{sum} {}", sum.unit))
    }

    #[test]
    fn the_language_of_the_note_decides_what_no_number_shows() {
        let sums = |usual| {
            let amounts = of_column(&["2,180 €", "900 €"], usual)?;
            Some(sum(&in_one_unit(&amounts)?)?.to_string())
        };
        assert_eq!(sums(None), None);
        assert_eq!(sums(Some('.')).as_deref(), Some("3080"));
        assert_eq!(sums(Some(',')).as_deref(), Some("902.180"));
        // A number that shows it is believed more than the language.
        let shown = of_column(&["2,180 €", "9,50 €"], Some('.')).unwrap();
        assert_eq!(shown[0].to_string(), "2.180");
    }

    #[test]
    fn amounts_are_read_however_they_are_written() {
        for (text, number, unit) in [
            ("84.30 €", "84.30", "€"),
            ("€1,234.50", "1234.50", "€"),
            ("1.234,50 EUR", "1234.50", "EUR"),
            ("12,5 %", "12.5", "%"),
            ("1,200,000 kWh", "1200000", "kWh"),
            ("1 200 kWh", "1200", "kWh"),
            ("**310**", "310", ""),
            ("-5.00", "-5.00", ""),
            ("0.875 kg", "0.875", "kg"),
        ] {
            let wanted = Some((number.to_owned(), unit.to_owned()));
            assert_eq!(amount(text), wanted, "{text}");
        }
        for text in ["2026-05-14", "8:30", "3 to 5", "none", "120/80"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    fn amounts_in(text: &str) -> Option<String> {
        let all = with_units(text)?;
        let all: Vec<String> = all.iter().map(|(n, unit)| format!("{n} {unit}")).collect();
        Some(all.join(", "))
    }

    #[test]
    fn amounts_with_a_unit_are_found_in_a_sentence() {
        for (text, found) in [
            ("Orla: cardigan, 79 €", "79 €"),
            ("2026-10-06: banner again, 5 hours", "5 hours"),
            ("Mobile, 2 cards: €25.98 a month", "25.98 €"),
            ("3 l of paint for 43.50 EUR", "3 l, 43.50 EUR"),
            ("bus 51 at 8:30", ""),
            ("refund: -20 €", "-20 €"),
            ("paint – 43 €", "43 €"),
            ("power: 42 €/month", "42 €/month"),
            ("chairs, 15 € each", "15 € each"),
            ("lunch: $9 per person", "9 $ per person"),
        ] {
            assert_eq!(amounts_in(text).as_deref(), Some(found), "{text}");
        }
        for text in [
            "10-20 €",
            "10 – 20 €",
            "10 to 20 €",
            "2 x 15 €",
            "2 × 15 €",
            "~20 €",
            "< 20 €",
        ] {
            assert_eq!(amounts_in(text), None, "{text}");
        }
    }

    #[test]
    fn a_minus_before_a_currency_sign_counts() {
        for text in ["-$50.00", "−$50.00", "$-50.00", "- $ 50.00", "–50.00 $"] {
            let wanted = ("-50.00".to_owned(), "$".to_owned());
            assert_eq!(amount(text), Some(wanted), "{text}");
        }
        for text in ["($50.00)", "(50.00)", "50.00-", "top-up 50", "<50", "50,-"] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn one_cell_decides_the_decimal_sign_of_its_column() {
        let read = |cells: &[&str]| column(cells).map(|numbers| numbers.join(" "));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(read(&["1.250 kg", "0.875 kg"]), some("1.250 0.875"));
        assert_eq!(read(&["1.250 €", "12,50 €"]), some("1250 12.50"));
        assert_eq!(read(&["1,250", "12.50"]), some("1250 12.50"));
        assert_eq!(read(&["1,250", "2,000", "900"]), None, "either is possible");
        assert_eq!(read(&["1.5", "1,5"]), None, "they contradict each other");
    }

    #[test]
    fn dates_and_odd_groups_are_no_amounts() {
        for text in [
            "12.05.2026",
            "12.05.",
            "1.12.2026",
            "5 May",
            "May 2026",
            "1.23.456",
            "12,34,567",
        ] {
            assert_eq!(amount(text), None, "{text}");
        }
    }

    #[test]
    fn only_amounts_of_one_kind_are_added() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(total(&["1.5 kg", "300 g"]), some("1800 g"));
        assert_eq!(total(&["20 €", "5 EUR"]), some("25 €"));
        assert_eq!(total(&["1 h", "30 min"]), some("90 min"));
        for mixed in [
            ["100 €", "$300"],
            ["100 €", "300"],
            ["5 kg", "5 l"],
            ["5 SEK", "5 NOK"],
            ["5 €/month", "5 €/year"],
            ["1.2k", "900"],
        ] {
            assert_eq!(total(&mixed), None, "{mixed:?}");
        }
    }

    #[test]
    fn sums_and_means_are_exact() {
        let amounts = of_column(&["0.10 €", "0.20 €", "1.00 €"], None).unwrap();
        let sum = sum(&amounts).unwrap();
        assert_eq!((sum.to_string().as_str(), sum.unit.as_str()), ("1.30", "€"));
        assert_eq!(mean(&amounts).unwrap().to_string(), "0.4333");
        let below = of_column(&["-1", "-1", "0"], None).unwrap();
        assert_eq!(mean(&below).unwrap().to_string(), "-0.67");
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_whole_numbers_come_back(n in 0_u32..1_000_000, any in any::<String>()) {
            let _ = of_column(&[&any], Some(',')).and_then(|amounts| mean(&in_one_unit(&amounts)?));
            prop_assert_eq!(amount(&n.to_string()).map(|(number, _)| number), Some(n.to_string()));
        }
    }
}
