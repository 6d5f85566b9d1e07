//! Numbers as people write them: digits with separators, words, magnitudes, units, currencies,
//! rates, bounds.

use std::borrow::Cow;

use super::notations::{Magnitude, OtherReading, other_value};
use super::phrases;
use super::units::{self, MeasureUnit};
use crate::text::{Text, Token, lower_case};
use local_agent_text::language::Language;

/// How a number is bounded by the words before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    AtLeast,
    AtMost,
    MoreThan,
    LessThan,
    Exactly,
    About,
}

/// An end of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RangeEnd {
    /// The first, which is the lower one.
    Lower,
    /// The second, which is the upper one.
    Upper,
}

/// A number with its unit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Number {
    /// The value, with magnitude words applied.
    pub value: f64,
    /// The unit or currency.
    pub unit: Option<MeasureUnit>,
    /// "per second", "a minute": the second unit of a rate.
    pub per: Option<MeasureUnit>,
    /// The bound before it.
    pub bound: Option<Bound>,
    /// Whether it is an ordinal ("third", "3rd").
    pub ordinal: bool,
    /// Whether it was written in words: small ones often count listed things.
    pub words: bool,
    /// Which end of a range it is ("5–10", "between 5 and 10").
    pub range: Option<RangeEnd>,
    /// Another way to read what is written.
    pub also: Option<OtherReading>,
}

/// The value of one number word.
pub(super) fn word_value(word: &str) -> Option<f64> {
    const WORDS: &[(&str, f64)] = &[
        ("zero", 0.0),
        ("one", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("eleven", 11.0),
        ("twelve", 12.0),
        ("dozen", 12.0),
        ("thirteen", 13.0),
        ("fourteen", 14.0),
        ("fifteen", 15.0),
        ("sixteen", 16.0),
        ("seventeen", 17.0),
        ("eighteen", 18.0),
        ("nineteen", 19.0),
        ("twenty", 20.0),
        ("thirty", 30.0),
        ("forty", 40.0),
        ("fifty", 50.0),
        ("sixty", 60.0),
        ("seventy", 70.0),
        ("eighty", 80.0),
        ("ninety", 90.0),
        ("zwei", 2.0),
        ("drei", 3.0),
        ("vier", 4.0),
        ("fünf", 5.0),
        ("sechs", 6.0),
        ("sieben", 7.0),
        ("acht", 8.0),
        ("neun", 9.0),
        ("zehn", 10.0),
        ("elf", 11.0),
        ("zwölf", 12.0),
        ("zwanzig", 20.0),
        ("dreißig", 30.0),
    ];
    WORDS.iter().find(|(w, _)| *w == word).map(|(_, v)| *v)
}

fn ordinal_value(word: &str) -> Option<f64> {
    const WORDS: &[&str] = list!("numbers.words");
    let n = WORDS.iter().position(|w| *w == word)?;
    u32::try_from(n + 1).ok().map(f64::from)
}

pub(super) fn fraction_value(word: &str) -> Option<f64> {
    Some(match word {
        "half" => 0.5,
        "third" | "thirds" | "drittel" => 1.0 / 3.0,
        "quarter" | "quarters" | "viertel" => 0.25,
        "fifth" | "fifths" => 0.2,
        "tenth" | "tenths" => 0.1,
        _ => return None,
    })
}

/// The value of digits with separators, read as in English; an apostrophe separates thousands. A comma that cannot separate thousands
/// is a decimal comma, and two dots separate thousands.
pub(crate) fn digits_value(digits: &str) -> Option<f64> {
    // The common case.
    if digits.len() < 10 && digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits.parse::<u32>().ok().map(f64::from);
    }
    if digits.contains('\'') {
        let plain = digits.replace('\'', "");
        return plain.parse().ok().filter(|v: &f64| v.is_finite());
    }
    let dots = digits.matches('.').count();
    let commas = digits.matches(',').count();
    let plain = match (dots, commas) {
        (0 | 1, 0) => digits.to_owned(),
        (_, 0) if separates_thousands(digits, '.') => digits.replace('.', ""),
        (0 | 1, _)
            if separates_thousands(digits, ',')
                && digits
                    .find('.')
                    .is_none_or(|d| digits.rfind(',').is_none_or(|c| c < d)) =>
        {
            digits.replace(',', "")
        }
        (0, 1) => digits.replace(',', "."),
        (_, 1) if digits.rfind(',') > digits.rfind('.') => {
            digits.replace('.', "").replace(',', ".")
        }
        _ => return None,
    };
    plain.parse().ok().filter(|v: &f64| v.is_finite())
}

/// Whether all groups between a separator have three digits, except the first.
fn separates_thousands(digits: &str, separator: char) -> bool {
    let mut groups = digits.split(separator);
    groups.next().is_some_and(|g| (1..=3).contains(&g.len()))
        && groups.all(|g| g.split('.').next().is_some_and(|g| g.len() == 3))
}

/// A number before its magnitude and unit.
pub(super) struct Value {
    pub value: f64,
    /// The token after it.
    pub next: usize,
    ordinal: bool,
    /// Whether it was written in words.
    words: bool,
    /// Another way to read the digits.
    also: Option<OtherReading>,
}

impl Value {
    pub(super) fn words(value: f64, next: usize) -> Self {
        Self {
            value,
            next,
            ordinal: false,
            words: true,
            also: None,
        }
    }

    /// A whole number below a thousand, and the index behind it.
    pub(super) fn small(&self) -> Option<(u32, usize)> {
        let mut whole = (0..1000_u32).filter(|n| f64::from(*n) == self.value);
        Some((whole.next()?, self.next))
    }

    /// The same, written in digits.
    pub(super) fn in_digits(self) -> Self {
        Self {
            words: false,
            ..self
        }
    }
}

/// Words that count days.
const NIGHTS: &[&str] = list!("numbers.nights");

/// The longest word for a number, in bytes.
const LONGEST_WORD: usize = 16;

const TIMES: MeasureUnit = &[
    (units::UnitKind::Time, 1.0),
    (units::UnitKind::Calendar, 1.0),
];

/// Maximum number of letters of a unit in a script without blanks.
const MOST_LETTERS: usize = 6;

pub(super) fn is_dash(gap: &str) -> bool {
    matches!(gap.trim(), "-" | "–" | "—" | "‑" | "−")
}

/// What languages call degrees, and the two scales of temperature.
const DEGREES: &[&str] = list!("numbers.degrees");
const CELSIUS: &[&str] = list!("numbers.celsius");
const FAHRENHEIT: &[&str] = list!("numbers.fahrenheit");

/// Whether a unit measures a temperature.
fn is_temperature(unit: MeasureUnit) -> bool {
    let mut kinds = unit.iter();
    kinds.any(|(kind, _)| matches!(kind, units::UnitKind::Celsius | units::UnitKind::Fahrenheit))
}

/// Words before the second unit of a rate.
const PER: &[&str] = list!("numbers.per");

/// Reads numbers at a position of a text.
pub(super) struct Reader<'t> {
    /// The normalised text.
    pub text: &'t str,
    /// Its words.
    pub words: &'t Text,
    /// The language of the text, if it is known.
    pub language: Option<Language>,
}

impl<'t> Reader<'t> {
    /// The bytes of a token.
    pub(super) fn word(&self, i: usize) -> &'t str {
        self.words
            .tokens
            .get(i)
            .and_then(|t| self.text.get(t.start..t.end))
            .unwrap_or("")
    }

    /// The same in lower case.
    pub(super) fn lower(&self, i: usize) -> Cow<'t, str> {
        lower_case(self.word(i))
    }

    fn token(&self, i: usize) -> Option<&'t Token> {
        self.words.tokens.get(i)
    }

    /// The text between token `i` and the next one.
    pub(super) fn gap(&self, i: usize) -> &'t str {
        let from = self.token(i).map_or(0, |t| t.end);
        let to = self.token(i + 1).map_or(self.text.len(), |t| t.start);
        self.text.get(from..to).unwrap_or("")
    }

    /// The text between token `i` and the one before it.
    pub(super) fn before(&self, i: usize) -> &'t str {
        let from = i
            .checked_sub(1)
            .and_then(|p| self.token(p))
            .map_or(0, |t| t.end);
        let to = self.token(i).map_or(0, |t| t.start);
        self.text.get(from..to).unwrap_or("")
    }

    /// The text behind the token before `next`.
    pub(super) fn rest_from(&self, next: usize) -> &'t str {
        let end = next.checked_sub(1).and_then(|p| self.token(p));
        self.text.get(end.map_or(0, |t| t.end)..).unwrap_or("")
    }

    /// Whether only a blank, a hyphen or nothing separates token `i` from the next one.
    pub(super) fn joined(&self, i: usize) -> bool {
        matches!(self.gap(i), "" | " " | "-") && self.token(i + 1).is_some()
    }

    /// Reads the number that begins at token `i`; returns it with the index after its last token.
    pub(super) fn number(&self, i: usize) -> Option<(Number, usize)> {
        let Value {
            mut value,
            mut next,
            ordinal,
            words,
            mut also,
        } = self.value(i)?;
        if let Some((part, behind)) = self.fraction_behind(next).filter(|_| !ordinal) {
            (value, next, also) = (value + part, behind, None);
        }
        if let Some((share, behind)) = self.share_of(i, value, next).filter(|_| !ordinal) {
            return Some((share, behind));
        }
        let mut unit = self.unit_before(i);
        match self.magnitude_behind(next, unit.is_some()) {
            _ if ordinal => {}
            Magnitude::None => {}
            Magnitude::Sure { by, behind } => {
                (value, next) = (value * by, behind);
                also = also.map(|also| also.times(by));
            }
            Magnitude::Perhaps(by) => also = also.or(Some(OtherReading::Count(value * by))),
        }
        if unit.is_none() && !ordinal {
            (unit, next) = self
                .currency_behind_of(next)
                .or_else(|| self.unit_of_a_part(value, next))
                .unwrap_or_else(|| self.unit_after(next));
        }
        if let Some((part, behind)) = unit.and_then(|unit| self.smaller_part(unit, value, next)) {
            (value, next, also) = (value + part, behind, Some(OtherReading::Parts));
        } else if let Some(behind) = self.half_behind_a_unit(next).filter(|_| unit.is_some()) {
            (value, next) = (value + 0.5, behind);
        }
        let sign = self.before(i).ends_with(['-', '−'])
            && !self
                .before(i)
                .trim_end_matches(['-', '−'])
                .ends_with(|c: char| !c.is_whitespace() && !matches!(c, '(' | '|' | '['))
            && (i == 0 || self.before(i).len() > 1);
        let sign = sign || unit.is_some_and(is_temperature) && self.is_behind_a_minus(i);
        let number = Number {
            value: if sign { -value } else { value },
            unit,
            per: self.per(next),
            bound: self.bound(i, next),
            ordinal,
            words,
            range: self.range_end(i, next),
            also,
        };
        Some((number, next))
    }

    /// Whether "minus" stands before a temperature, as its sign: "minus 15 degrees Celsius". Behind
    /// another number it computes, and "al menos" is a limit.
    fn is_behind_a_minus(&self, i: usize) -> bool {
        const MINUS: &[&str] = list!("numbers.minus");
        const NOT_ALONE: &[&str] = list!("numbers.before-no-minus");
        let is_minus = MINUS.contains(&&*self.lower_before(i, 1)) && self.before(i) == " ";
        let earlier = self.lower_before(i, 2);
        let computes = earlier.starts_with(|c: char| c.is_ascii_digit())
            || i.checked_sub(2)
                .is_some_and(|at| units::unit(self.word(at)).is_some());
        is_minus && !computes && !NOT_ALONE.contains(&&*earlier)
    }

    /// The value that begins at token `i`, before magnitudes and units.
    pub(super) fn value(&self, i: usize) -> Option<Value> {
        let word = self.word(i);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self.in_digits(i);
        }
        if let Some(found) = self.in_signs(i) {
            return Some(found);
        }
        if self.language != Some(Language::English)
            && let Some(found) = self.spelled(i)
        {
            return Some(found);
        }
        if !word
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphabetic() || b >= 0x80)
            || word.len() > LONGEST_WORD
        {
            return None;
        }
        let lower = self.lower(i);
        if let Some(found) = self.half_in_words(i, &lower) {
            return Some(found);
        }
        if let Some(value) = ordinal_value(&lower) {
            return self.ordinal(i, &lower, value);
        }
        match &*lower {
            "half" | "quarter" if self.is_one_of_several(i) => None,
            "half" | "quarter" | "quarters" | "thirds" | "viertel" | "drittel" => {
                self.fraction(i, &lower)
            }
            "a" | "an" => {
                if let Some(found) = self.one_and_a_half(i) {
                    return Some(found);
                }
                let next = self.lower(i + 1);
                let big = units::magnitude(&next)
                    .filter(|_| next.len() > 1)
                    .or((next == "dozen").then_some(12.0))?;
                Some(Value::words(big, i + 2))
            }
            _ => self.in_words(i, &lower),
        }
    }

    fn in_digits(&self, i: usize) -> Option<Value> {
        let value = digits_value(self.word(i))?;
        let rest = self.text.get(self.token(i)?.end..).unwrap_or("");
        let mut behind = ["st", "nd", "rd", "th"]
            .iter()
            .filter_map(|ending| rest.strip_prefix(ending));
        let ordinal = behind.any(|rest| !rest.starts_with(char::is_alphanumeric));
        if let Some(found) = self.in_groups(i) {
            return Some(found);
        }
        Some(Value {
            value,
            next: i + 1,
            ordinal,
            words: false,
            also: other_value(self.word(i)).map(OtherReading::Amount),
        })
    }

    /// Reads "350 000": groups of thousands separated by blanks. Two separate numbers look the
    /// same, unless the last group is round.
    fn in_groups(&self, i: usize) -> Option<Value> {
        let first = self.only_digits(i);
        let mut whole = first.filter(|w| (1..=3).contains(&w.len()))?.to_owned();
        let mut next = i + 1;
        while self.gap(next - 1) == " "
            && next < i + 4
            && let Some(group) = self.only_digits(next).filter(|w| w.len() == 3)
        {
            whole.push_str(group);
            next += 1;
        }
        if next == i + 1 || whole.starts_with('0') {
            return None;
        }
        let is_round = whole.ends_with("000");
        Some(Value {
            value: whole.parse().ok()?,
            next,
            ordinal: false,
            words: false,
            also: (!is_round).then_some(OtherReading::Parts),
        })
    }

    /// A token that has nothing but digits.
    fn only_digits(&self, i: usize) -> Option<&'t str> {
        let word = self.word(i);
        word.bytes().all(|b| b.is_ascii_digit()).then_some(word)
    }

    /// Reads "first" or "second" as an ordinal. A fraction ("a third of", "one third") and a unit
    /// ("per second") are not ordinals.
    fn ordinal(&self, i: usize, lower: &str, value: f64) -> Option<Value> {
        let before = self.lower_before(i, 1);
        let is_part = before == "one" || before == "a" && !self.counts_a_noun(i);
        if value >= 3.0 && is_part {
            return Some(Value::words(1.0 / value, i + 1));
        }
        if lower == "second" && matches!(&*before, "a" | "per" | "each" | "every") {
            return None;
        }
        Some(Value {
            ordinal: true,
            ..Value::words(value, i + 1)
        })
    }

    /// Whether an ordinal counts a noun: "a third family" does; "a third of them" and "a third
    /// more" are fractions.
    fn counts_a_noun(&self, i: usize) -> bool {
        let next = self.lower(i + 1);
        let share = matches!(&*next, "" | "of" | "more" | "less" | "fewer" | "as" | "the");
        let is_stop = self.token(i + 1).is_some_and(Token::is_stop);
        !share && !is_stop && self.joined(i)
    }

    /// Whether "half" or "quarter" names one of several parts, as in "the upper half" and "every
    /// quarter".
    fn is_one_of_several(&self, i: usize) -> bool {
        const BEFORE: &[&str] = list!("numbers.one-of-several");
        let before = i.checked_sub(1).filter(|p| self.joined(*p));
        before.is_some_and(|p| BEFORE.contains(&&*self.lower(p)))
    }

    /// Reads "half", "three quarters" or "half a million".
    fn fraction(&self, i: usize, lower: &str) -> Option<Value> {
        let value = fraction_value(lower)?;
        let times = i
            .checked_sub(1)
            .and_then(|p| word_value(&self.lower(p)))
            .filter(|_| lower != "half");
        let article = matches!(&*self.lower(i + 1), "a" | "an");
        let big = units::magnitude(self.word(i + 2)).filter(|_| article);
        let next = if big.is_some() { i + 3 } else { i + 1 };
        Some(Value::words(
            value * times.unwrap_or(1.0) * big.unwrap_or(1.0),
            next,
        ))
    }

    /// Reads "twenty-five", "two hundred and fifty" or "two thirds".
    fn in_words(&self, i: usize, lower: &str) -> Option<Value> {
        let mut value = word_value(lower)?;
        let mut next = i + 1;
        if matches!(
            &*self.lower(next),
            "third"
                | "thirds"
                | "quarter"
                | "quarters"
                | "fifths"
                | "tenths"
                | "drittel"
                | "viertel"
        ) && self.joined(i)
        {
            return Some(Value::words(
                value * fraction_value(&self.lower(next))?,
                next + 1,
            ));
        }
        let mut total = 0.0;
        while self.joined(next - 1) {
            let word = self.lower(next);
            if let Some(more) =
                word_value(&word).filter(|m| *m < 10.0 && value % 10.0 == 0.0 && value >= 20.0)
            {
                value += more;
            } else if let Some(by) = units::magnitude(&word).filter(|_| word.len() > 1) {
                value *= by;
                if by >= 1000.0 {
                    total += value;
                    value = 0.0;
                }
            } else if word == "and"
                && (value >= 100.0 || total > 0.0)
                && word_value(&self.lower(next + 1)).is_some()
            {
                value += word_value(&self.lower(next + 1)).unwrap_or(0.0);
                next += 1;
            } else {
                break;
            }
            next += 1;
        }
        // "one" alone is a pronoun more often than a number.
        let alone = next == i + 1
            && self.fraction_behind(next).is_none()
            && self.share_of(i, value, next).is_none();
        if lower == "one" && alone && self.unit_after(next).0.is_none() {
            return None;
        }
        Some(Value::words(value + total, next))
    }

    pub(super) fn currency_before(&self, i: usize) -> Option<MeasureUnit> {
        let before = self.before(i);
        let sign = before
            .trim_end()
            .chars()
            .next_back()
            .filter(|c| units::CURRENCY_SIGNS.contains(c));
        if let Some(sign) = sign {
            let letters = i.checked_sub(1).filter(|_| before.starts_with('$'));
            let named = letters.and_then(|p| units::unit(&format!("{}$", self.word(p))));
            return named.or_else(|| units::unit(sign.encode_utf8(&mut [0; 4])));
        }
        let word = i
            .checked_sub(1)
            .filter(|_| before == " ")
            .map(|p| self.word(p))?;
        let code = word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase());
        units::unit(word).filter(|u| code && units::is_currency(u))
    }

    /// The unit that begins at token `next`, or the sign just before it (`%`, `°`, `€`); and the
    /// index after the unit.
    pub(super) fn unit_after(&self, next: usize) -> (Option<MeasureUnit>, usize) {
        let gap = self.text_before(next);
        if let Some(found) = self.sign_unit(gap.trim_start(), next) {
            return found;
        }
        let is_word = self.words.tokens.get(next).is_some_and(|t| !t.number);
        if !is_word || !matches!(gap, "" | " " | "-") || self.is_elided(next) {
            return (None, next);
        }
        if let Some(name) = self.unit_of_two_words(next) {
            return (units::unit(name), next + 2);
        }
        if let Some(found) = self.unit_of_letters(next) {
            return found;
        }
        // "in" and "a" are words, not units; a single letter is a unit only when nothing is
        // attached after it.
        let word = self.word(next);
        match units::unit(word) {
            Some(unit) if word != "in" => (Some(unit), next + 1),
            None if NIGHTS.contains(&&*self.lower(next)) => (units::unit("day"), next + 1),
            _ => (None, next),
        }
    }

    /// Whether a token is an article or pronoun without its vowel: "Nel 2024 l'olio".
    fn is_elided(&self, next: usize) -> bool {
        let behind = self.gap(next);
        self.word(next).len() == 1 && matches!(behind, "'" | "’")
    }

    /// The text between the token before `next` and `next`, or the end of the text.
    pub(super) fn text_before(&self, next: usize) -> &str {
        if self.token(next).is_some() {
            return self.before(next);
        }
        let end = self.token(next.wrapping_sub(1)).map_or(0, |t| t.end);
        self.text.get(end..).unwrap_or("")
    }

    /// The unit of a sign at the start of `sign`, the text before token `next`; and the index after
    /// the unit, which may take the token ("°C").
    fn sign_unit(&self, sign: &str, next: usize) -> Option<(Option<MeasureUnit>, usize)> {
        if sign.starts_with('°') {
            let is_attached = self.token(next).is_some() && matches!(sign, "°" | "° ");
            return Some(match self.word(next) {
                "C" if is_attached => (units::unit("°c"), next + 1),
                "F" if is_attached => (units::unit("°f"), next + 1),
                _ => (units::unit("°"), next),
            });
        }
        let sign = sign.chars().next()?;
        if !matches!(sign, '%' | '‰') && !units::CURRENCY_SIGNS.contains(&sign) {
            return None;
        }
        let is_point = sign == '%' && self.lower(next).starts_with("point");
        let unit = if is_point {
            units::unit("pp")
        } else {
            units::unit(sign.encode_utf8(&mut [0; 4]))
        };
        Some((unit, next))
    }

    /// The unit that the letters from token `next` write together, in a script without blanks:
    /// "3時間".
    fn unit_of_letters(&self, next: usize) -> Option<(Option<MeasureUnit>, usize)> {
        let start = self.token(next)?.start;
        let letters =
            (next..next + MOST_LETTERS).take_while(|i| *i == next || self.before(*i).is_empty());
        let ends = letters.filter_map(|i| Some((i + 1, self.token(i)?.end)));
        let ends: Vec<(usize, usize)> = ends.collect();
        ends.into_iter().skip(1).rev().find_map(|(after, end)| {
            let unit = units::unit(self.text.get(start..end)?)?;
            Some((Some(unit), after))
        })
    }

    /// The name of the unit that the words `next` and `next + 1` write together.
    fn unit_of_two_words(&self, next: usize) -> Option<&'static str> {
        let (first, second) = (self.lower(next), self.lower(next + 1));
        if self.gap(next) == "/" && first == "km" && second == "h" {
            return Some("km/h");
        }
        match (&*first, &*second) {
            ("percentage", s) if s.starts_with("point") => Some("pp"),
            ("basis", s) if s.starts_with("point") => Some("bps"),
            ("per", "cent") => Some("%"),
            (degrees, scale) if DEGREES.contains(&degrees) => match scale {
                _ if CELSIUS.contains(&scale) => Some("°c"),
                _ if FAHRENHEIT.contains(&scale) => Some("°f"),
                _ => None,
            },
            ("kilowatt", "hour" | "hours") => Some("kwh"),
            ("watt", "hour" | "hours") => Some("wh"),
            ("megawatt", "hour" | "hours") => Some("mwh"),
            ("square", s) if s.starts_with("met") => Some("m²"),
            ("square", s) if s.starts_with("kilomet") => Some("km²"),
            _ => None,
        }
    }

    /// Finds the unit in "per second", "a minute" or "/s", which may come at most two words after a
    /// number.
    fn per(&self, next: usize) -> Option<MeasureUnit> {
        for i in next..next + 3 {
            let (before, word) = (self.before(i), self.lower(i));
            if before == "/" && i == next {
                return units::unit(self.word(i));
            }
            if before.contains([',', ';', ':', '.', '(']) {
                return None;
            }
            if PER.contains(&&*word) {
                let unit = units::unit(self.word(i + 1));
                return unit.filter(|unit| units::same_kind(unit, TIMES));
            }
        }
        None
    }

    pub(super) fn begins_with_digit(&self, i: usize) -> bool {
        self.word(i).starts_with(|c: char| c.is_ascii_digit())
    }

    /// The word `n` tokens before token `i`, in lower case.
    pub(super) fn lower_before(&self, i: usize, n: usize) -> Cow<'t, str> {
        i.checked_sub(n)
            .map(|at| self.lower(at))
            .unwrap_or_default()
    }

    /// The bound of the number from token `i` to `next`, in any language.
    pub(super) fn bound(&self, i: usize, next: usize) -> Option<Bound> {
        self.english_bound(i, next).or_else(|| {
            let start = self.token(i).map_or(0, |t| t.start);
            let end = self.token(next.checked_sub(1)?)?.end;
            let before = phrases::bound_before(self.text.get(..start)?);
            let before = before.map(|bound| match bound {
                Bound::MoreThan if self.is_denied_before(i) => Bound::AtMost,
                Bound::LessThan if self.is_denied_before(i) => Bound::AtLeast,
                other => other,
            });
            before
                .or_else(|| phrases::bound_behind(self.text.get(end..)?))
                .or_else(|| phrases::bound_after(self.text.get(end..)?))
        })
    }

    /// Whether a word before the bound of the number at token `i` denies it: "no pueden durar más de
    /// siete semanas".
    fn is_denied_before(&self, i: usize) -> bool {
        const REACH: usize = 6;
        let clause = self.token(i).map(|t| t.clause);
        let before = self.words.tokens.get(i.saturating_sub(REACH)..i);
        let mut before = before.unwrap_or(&[]).iter();
        before.any(|t| Some(t.clause) == clause && t.negates())
    }

    /// Whether a currency in capitals stands right before token `i`: "NOK 500".
    fn is_currency_before(&self, i: usize) -> bool {
        let before = i.checked_sub(1).map(|at| self.word(at));
        before.is_some_and(|word| {
            let is_code = word.len() == 3 && word.bytes().all(|b| b.is_ascii_uppercase());
            is_code && units::unit(word).is_some()
        })
    }

    fn english_bound(&self, i: usize, next: usize) -> Option<Bound> {
        let sign = self
            .before(i)
            .trim_end_matches(|c| c == ' ' || units::CURRENCY_SIGNS.contains(&c));
        for (mark, bound) in [
            (">=", Bound::AtLeast),
            ("≥", Bound::AtLeast),
            ("<=", Bound::AtMost),
            ("≤", Bound::AtMost),
            (">", Bound::MoreThan),
            ("<", Bound::LessThan),
            ("~", Bound::About),
            ("≈", Bound::About),
        ] {
            if sign.ends_with(mark) {
                return Some(bound);
            }
        }
        // "Less than 100 or more than 5,000" are two bounds.
        let is_one = self.lower(next + 2) != "than";
        if self.before(next).trim() == "+"
            || is_one
                && matches!(
                    (&*self.lower(next), &*self.lower(next + 1)),
                    ("or", "more" | "later" | "newer" | "above")
                )
        {
            return Some(Bound::AtLeast);
        }
        if is_one
            && matches!(
                (&*self.lower(next), &*self.lower(next + 1)),
                ("or", "less" | "fewer" | "below")
            )
        {
            return Some(Bound::AtMost);
        }
        // "up to NOK 500": the currency stands between.
        let skipped = usize::from(self.is_currency_before(i));
        let [one, two, three] = [1, 2, 3].map(|n| self.lower_before(i, n + skipped));
        let negated = matches!(&*three, "no" | "not" | "never");
        Some(match (&*two, &*one) {
            ("at", "least") => Bound::AtLeast,
            // "At or above 5".
            ("or", "above" | "over") if three == "at" => Bound::AtLeast,
            ("or", "below" | "under") if three == "at" => Bound::AtMost,
            ("at" | "the", "most") => Bound::AtMost,
            ("up", "to") => Bound::AtMost,
            (
                "more" | "larger" | "greater" | "higher" | "longer" | "bigger" | "older"
                | "heavier",
                "than",
            ) if negated => Bound::AtMost,
            ("less" | "fewer" | "smaller" | "lower" | "shorter", "than") if negated => {
                Bound::AtLeast
            }
            (
                "more" | "larger" | "greater" | "higher" | "longer" | "bigger" | "older"
                | "heavier",
                "than",
            ) => Bound::MoreThan,
            ("less" | "fewer" | "smaller" | "lower" | "shorter" | "younger", "than") => {
                Bound::LessThan
            }
            ("not" | "no" | "never", "over" | "above" | "exceeding" | "beyond") => Bound::AtMost,
            ("not" | "no" | "never", "under" | "below") => Bound::AtLeast,
            (_, "over" | "above" | "exceeding" | "exceeds" | "beyond") => Bound::MoreThan,
            (_, "under" | "below") => Bound::LessThan,
            (_, "minimum" | "min") => Bound::AtLeast,
            (_, "maximum" | "max") => Bound::AtMost,
            (_, "exactly" | "precisely") => Bound::Exactly,
            (
                _,
                "about" | "around" | "approximately" | "roughly" | "nearly" | "almost" | "circa"
                | "ca" | "some" | "etwa" | "rund",
            ) => Bound::About,
            _ => return None,
        })
    }
}
