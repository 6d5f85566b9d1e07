//! Numbers in further notations: digits that can be read in two ways, fractions in one character,
//! Chinese numerals, magnitudes in one letter.

use super::dates::{Date, day_and_month};
use super::numbers::{Reader, Value, digits_value, fraction_value};
use super::times::{Time, hour_and_minute};
use super::units::{self, MeasureUnit};

/// Another way to read what a number is written as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OtherReading {
    /// Another amount of the same unit: "1.500" is 1500 in German.
    Amount(f64),
    /// A count without a unit: "3 m people" are three million.
    Count(f64),
    /// The groups of digits are separate numbers: "12 500".
    Parts,
}

impl OtherReading {
    /// The same with a magnitude.
    pub(super) fn times(self, by: f64) -> Self {
        match self {
            Self::Amount(value) => Self::Amount(value * by),
            other => other,
        }
    }
}

/// The other value of digits whose one separator may part thousands or begin the decimals: "1.500",
/// "1,500".
pub(super) fn other_value(digits: &str) -> Option<f64> {
    let (whole, rest) = digits.split_once(['.', ','])?;
    let fits = (1..=3).contains(&whole.len()) && rest.len() == 3 && !whole.starts_with('0');
    if !fits || !rest.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let other = match digits.contains('.') {
        true => format!("{whole}{rest}"),
        false => format!("{whole}.{rest}"),
    };
    digits_value(&other)
}

/// The value of digits whose dots part thousands: "2.000", "1.250.000".
pub(crate) fn grouped_value(digits: &str) -> Option<f64> {
    let mut groups = digits.split('.');
    let first = groups
        .next()
        .filter(|g| (1..=3).contains(&g.len()) && !g.starts_with('0'))?;
    let rest: Vec<&str> = groups.collect();
    let is_grouped = !rest.is_empty() && rest.iter().all(|g| g.len() == 3);
    let all = [first].into_iter().chain(rest.iter().copied());
    let plain = all.collect::<String>();
    plain.parse().ok().filter(|_| is_grouped)
}

/// The time of day that digits with a dot may mean: "14.30".
pub(crate) fn clock(digits: &str) -> Option<Time> {
    let (hour, minute) = digits.split_once('.')?;
    hour_and_minute(hour, minute)
}

/// The day that digits with dots may mean: "03.01", "03.01.24".
pub(crate) fn day(digits: &str) -> Option<Date> {
    day_and_month(digits)
}

/// The value of a fraction in one character: "½".
pub(crate) fn fraction_sign(c: char) -> Option<f64> {
    const SIGNS: &[(char, f64, f64)] = &[
        ('½', 1.0, 2.0),
        ('⅓', 1.0, 3.0),
        ('⅔', 2.0, 3.0),
        ('¼', 1.0, 4.0),
        ('¾', 3.0, 4.0),
        ('⅕', 1.0, 5.0),
        ('⅖', 2.0, 5.0),
        ('⅗', 3.0, 5.0),
        ('⅘', 4.0, 5.0),
        ('⅙', 1.0, 6.0),
        ('⅚', 5.0, 6.0),
        ('⅛', 1.0, 8.0),
        ('⅜', 3.0, 8.0),
        ('⅝', 5.0, 8.0),
        ('⅞', 7.0, 8.0),
    ];
    if c.is_ascii() {
        return None;
    }
    let known = SIGNS.iter().find(|(sign, ..)| *sign == c);
    known.map(|(_, above, below)| above / below)
}

/// The factor that may be behind a number.
pub(super) enum Magnitude {
    None,
    /// A magnitude, and the index behind it.
    Sure {
        by: f64,
        behind: usize,
    },
    /// A letter that may be a magnitude or a unit: "3 m people".
    Perhaps(f64),
}

/// The magnitude that a letter may mean.
fn letter_magnitude(word: &str) -> Option<f64> {
    match word {
        "k" => Some(1e3),
        "m" | "M" => Some(1e6),
        "b" | "B" => Some(1e9),
        _ => None,
    }
}

/// The fewest letters of a word that a letter before it can count.
const SHORTEST_NOUN: usize = 3;

impl Reader<'_> {
    /// The magnitude at token `next`, behind a number; with `is_price` a currency is before it.
    pub(super) fn magnitude_behind(&self, next: usize, is_price: bool) -> Magnitude {
        if next == 0 || !self.joined(next - 1) {
            return Magnitude::None;
        }
        let word = self.word(next);
        let Some(by) = letter_magnitude(word) else {
            return self.magnitudes(next);
        };
        let attached = self.gap(next - 1).is_empty();
        if attached && matches!(word, "k" | "M") || is_price || self.is_before_a_currency(next) {
            let behind = next + 1;
            return Magnitude::Sure { by, behind };
        }
        let noun = self.word(next + 1);
        let counts = self.gap(next) == " "
            && noun.len() >= SHORTEST_NOUN
            && noun.starts_with(char::is_alphabetic);
        match counts {
            true => Magnitude::Perhaps(by),
            false => Magnitude::None,
        }
    }

    /// The magnitude in words at token `next`; Chinese ones follow each other: "3百万".
    fn magnitudes(&self, next: usize) -> Magnitude {
        let word = self.word(next);
        let Some(mut by) = units::magnitude(word).or_else(|| ideograph_magnitude(word)) else {
            return Magnitude::None;
        };
        let mut behind = next + 1;
        while self.before(behind).is_empty()
            && let Some(more) = ideograph_magnitude(self.word(behind))
        {
            by *= more;
            behind += 1;
        }
        Magnitude::Sure { by, behind }
    }

    /// Whether a currency is behind token `i`.
    fn is_before_a_currency(&self, i: usize) -> bool {
        let gap = self.gap(i);
        let sign = gap.trim_start().chars().next();
        let signed = sign.is_some_and(|c| units::CURRENCY_SIGNS.contains(&c));
        signed || matches!(gap, "" | " ") && self.currency(i + 1).is_some()
    }

    fn currency(&self, i: usize) -> Option<MeasureUnit> {
        let is_word = self.word(i).starts_with(char::is_alphabetic);
        units::unit(self.word(i)).filter(|unit| is_word && units::is_currency(unit))
    }

    /// The currency behind "d'" or "de", as in "3 millions d'euros", and the index behind it.
    pub(super) fn currency_behind_of(&self, next: usize) -> Option<(Option<MeasureUnit>, usize)> {
        let of = matches!(&*self.lower(next), "d" | "de") && self.before(next) == " ";
        if !of {
            return None;
        }
        match self.currency(next + 1) {
            Some(unit) => Some((Some(unit), next + 2)),
            // "d'" is no unit.
            None if self.gap(next).starts_with('\'') => Some((None, next)),
            None => None,
        }
    }

    /// The unit before the number at token `i`: a currency, or the percent of "百分之五".
    pub(super) fn unit_before(&self, i: usize) -> Option<MeasureUnit> {
        let start = self.words.tokens.get(i).map_or(0, |t| t.start);
        let before = self.text.get(..start).unwrap_or("");
        match before.ends_with("百分之") {
            true => units::unit("%"),
            false => self.currency_before(i),
        }
    }

    /// The fraction that continues a number, and the index behind it: "3½", "three and a half".
    pub(super) fn fraction_behind(&self, next: usize) -> Option<(f64, usize)> {
        let sign = self.word(next).chars().next().and_then(fraction_sign);
        if let Some(part) = sign.filter(|_| matches!(self.before(next), "" | " ")) {
            return Some((part, next + 1));
        }
        let [and, one] = [next, next + 1].map(|i| self.lower(i));
        let is_added = self.before(next) == " " && and == "and" && matches!(&*one, "a" | "one");
        let part = fraction_value(&self.lower(next + 2)).filter(|_| is_added)?;
        Some((part, next + 3))
    }

    /// Reads a number that begins with a fraction in one character or with a Chinese numeral.
    pub(super) fn in_signs(&self, i: usize) -> Option<Value> {
        let first = self.word(i).chars().next()?;
        if let Some(value) = fraction_sign(first) {
            return Some(Value::words(value, i + 1).in_digits());
        }
        // "半年"; behind a number it is a part of that.
        let is_half = self.word(i) == "半" && self.before(i + 1).is_empty();
        if is_half && self.unit_after(i + 1).0.is_some() {
            return Some(Value::words(0.5, i + 1));
        }
        self.in_ideographs(i)
    }

    /// The small number in Chinese numerals or in digits from token `i`, and the index behind it.
    pub(super) fn ideographs(&self, i: usize) -> Option<(u32, usize)> {
        if let Some(value) = self.in_ideographs(i) {
            return value.small();
        }
        // "一" alone.
        let is_one = self.word(i) == "一" && ideograph_digit(self.word(i + 1)).is_none();
        is_one.then_some((1, i + 1))
    }

    /// Reads the Chinese numerals from token `i`: "三百五十", "二〇一九".
    fn in_ideographs(&self, i: usize) -> Option<Value> {
        ideograph_digit(self.word(i)).or_else(|| ideograph_magnitude(self.word(i)))?;
        let mut next = i;
        let mut signs: Vec<&str> = Vec::new();
        while (next == i || self.before(next).is_empty())
            && signs.len() < MOST_IDEOGRAPHS
            && (ideograph_digit(self.word(next)).is_some()
                || ideograph_magnitude(self.word(next)).is_some())
        {
            signs.push(self.word(next));
            next += 1;
        }
        let value = match signs.iter().any(|s| ideograph_magnitude(s).is_some()) {
            true => in_magnitudes(&signs)?,
            false => in_places(&signs)?,
        };
        // "一" alone is an article more often than a number, and "两者" means both.
        let is_article = matches!(signs.as_slice(), ["一"]) || self.word(next) == "者";
        (!is_article).then(|| Value::words(value, next))
    }
}

/// Maximum number of Chinese numerals of one number.
const MOST_IDEOGRAPHS: usize = 24;

fn ideograph_digit(word: &str) -> Option<f64> {
    Some(match word {
        "〇" | "零" => 0.0,
        "一" => 1.0,
        "二" | "两" | "兩" => 2.0,
        "三" => 3.0,
        "四" => 4.0,
        "五" => 5.0,
        "六" => 6.0,
        "七" => 7.0,
        "八" => 8.0,
        "九" => 9.0,
        _ => return None,
    })
}

fn ideograph_magnitude(word: &str) -> Option<f64> {
    Some(match word {
        "十" => 10.0,
        "百" => 100.0,
        "千" => 1000.0,
        "万" | "萬" => 1e4,
        "亿" | "億" => 1e8,
        _ => return None,
    })
}

/// The value of numerals with magnitudes. Only "十" can be without a digit before it.
fn in_magnitudes(signs: &[&str]) -> Option<f64> {
    let begins = signs
        .first()
        .is_some_and(|s| *s == "十" || ideograph_digit(s).is_some());
    if !begins {
        return None;
    }
    let (mut total, mut part, mut digit) = (0.0, 0.0, None);
    for sign in signs {
        if let Some(value) = ideograph_digit(sign) {
            digit = Some(value);
            continue;
        }
        let by = ideograph_magnitude(sign)?;
        if by < 1e4 {
            part += digit.take().unwrap_or(1.0) * by;
        } else {
            total += (part + digit.take().unwrap_or(0.0)) * by;
            part = 0.0;
        }
    }
    Some(total + part + digit.unwrap_or(0.0))
}

/// The fewest numerals that are read as the digits of one number: "三四" are "three or four".
const FEWEST_PLACES: usize = 4;

/// The value of one numeral, or of numerals that are the digits of a number.
fn in_places(signs: &[&str]) -> Option<f64> {
    let has_zero = signs.iter().any(|s| ideograph_digit(s) == Some(0.0));
    if signs.len() > 1 && signs.len() < FEWEST_PLACES && !has_zero {
        return None;
    }
    let digits = signs.iter().map(|s| ideograph_digit(s));
    digits
        .into_iter()
        .try_fold(0.0, |value, digit| Some(value * 10.0 + digit?))
}
