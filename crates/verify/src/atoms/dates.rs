//! Parses dates in many notations and compares the parts that each of them gives.

use super::numbers::Reader;
use crate::text::lower_case;
use local_agent_text::language::calendar;

/// A date; parts that were not given are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Date {
    pub year: Option<i32>,
    pub month: Option<u32>,
    pub day: Option<u32>,
    /// 0 is Monday.
    pub weekday: Option<u32>,
    /// `03/04/2026`: the month may be either number; `month` and `day` keep them in the order
    /// written.
    pub ambiguous: bool,
}

impl Date {
    /// Whether all parts that both give are equal, and `other` gives every part that this one
    /// gives.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        let order = self.ambiguous == other.ambiguous
            || self.month == self.day
            || self.day.is_none()
            || other.day.is_none();
        are_compatible(self.year, other.year)
            && are_compatible(self.month, other.month)
            && are_compatible(self.day, other.day)
            && order
    }

    /// Whether both give the same parts, or `other` gives more.
    pub(crate) fn is_part_of(&self, other: &Self) -> bool {
        self.agrees(other)
            && (self.month.is_none() || other.month.is_some())
            && (self.day.is_none() || other.day.is_some())
            && (self.year.is_none() || other.year.is_some())
    }

    /// Whether a calendar has this day, as far as it is given.
    fn exists(&self) -> bool {
        match (self.month, self.day) {
            (Some(month), Some(day)) => calendar::is_day(self.year, month, day),
            _ => true,
        }
    }

    /// The number of days between two days; days without a year are taken to be in the same year.
    pub(crate) fn days_to(&self, other: &Self) -> Option<f64> {
        self.days_after(other).map(f64::abs)
    }

    /// The number of days by which this day is after another; days without a year are taken to be
    /// in the same year.
    pub(crate) fn days_after(&self, other: &Self) -> Option<f64> {
        let year = self.year.or(other.year).unwrap_or(2001);
        let apart = self.day_number(year)? - other.day_number(year)?;
        i32::try_from(apart).ok().map(f64::from)
    }

    /// The number of days of the Gregorian calendar since March of the year 0; without a year, in
    /// `year`.
    fn day_number(&self, year: i32) -> Option<i64> {
        let month = i64::from(self.month?);
        let day = i64::from(self.day?);
        let year = i64::from(self.year.unwrap_or(year)) - i64::from(month <= 2);
        let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        Some(365 * year + leaps + (153 * ((month + 9) % 12) + 2) / 5 + day)
    }

    /// The number of months between two months; months without a year are taken to be in the same
    /// year.
    pub(crate) fn months_to(&self, other: &Self) -> Option<f64> {
        let year = self.year.or(other.year).unwrap_or(2001);
        let apart = self.month_number(year)? - other.month_number(year)?;
        u32::try_from(apart.unsigned_abs()).ok().map(f64::from)
    }

    /// The number of months since the year 0; without a year, in `year`.
    fn month_number(&self, year: i32) -> Option<i64> {
        let month = i64::from(self.month?);
        Some(i64::from(self.year.unwrap_or(year)) * 12 + month)
    }

    /// The weekday of a full date, 0 is Monday (Sakamoto's method).
    pub(crate) fn computed_weekday(&self) -> Option<u32> {
        const SHIFT: [i32; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
        let (mut y, m, d) = (self.year?, self.month?, i32::try_from(self.day?).ok()?);
        let shift = SHIFT.get(usize::try_from(m).ok()?.checked_sub(1)?)?;
        y -= i32::from(m < 3);
        u32::try_from((y + y / 4 - y / 100 + y / 400 + shift + d + 6).rem_euclid(7)).ok()
    }
}

/// Whether two parts of dates are equal, as far as both are given.
fn are_compatible<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    a.is_none() || b.is_none() || a == b
}

const MONTHS: &[&[&str]] = &[
    &["january", "jan", "januar", "jänner"],
    &["february", "feb", "februar"],
    &["march", "mar", "märz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober"],
    &["november", "nov"],
    &["december", "dec", "dezember"],
];

const WEEKDAYS: &[&[&str]] = &[
    &["monday", "mondays", "montag"],
    &["tuesday", "tuesdays", "dienstag"],
    &["wednesday", "wednesdays", "mittwoch"],
    &["thursday", "thursdays", "donnerstag"],
    &["friday", "fridays", "freitag"],
    &["saturday", "saturdays", "samstag"],
    &["sunday", "sundays", "sonntag"],
];

fn place(list: &[&[&str]], word: &str) -> Option<u32> {
    u32::try_from(list.iter().position(|names| names.contains(&word))?).ok()
}

/// The month that a word names; words with another meaning too ("may") only with a capital letter.
pub(super) fn month(word: &str) -> Option<u32> {
    if !word.starts_with(|c: char| c.is_alphabetic()) || word.len() > 10 {
        return None;
    }
    if !word.starts_with(char::is_uppercase)
        && matches!(
            word,
            "may" | "march" | "mar" | "mai" | "dec" | "sep" | "sept" | "jun" | "jan" | "august"
        )
    {
        return None;
    }
    place(MONTHS, &lower_case(word)).map(|m| m + 1)
}

/// The weekday that a word names.
pub(super) fn weekday(word: &str) -> Option<u32> {
    if word.len() > 11 || !word.starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    place(WEEKDAYS, &lower_case(word))
}

/// The weekday that an English word names in short: "Mon", "Thurs".
pub(super) fn short_weekday(word: &str) -> Option<u32> {
    const SHORT: &[&str] = list!("dates.short-weekdays");
    if word.len() > 5 || !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let lower = lower_case(word);
    let start = lower.get(..3).filter(|_| SHORT.contains(&&*lower))?;
    let mut days = WEEKDAYS.iter();
    let place = days.position(|names| names.first().is_some_and(|day| day.starts_with(start)))?;
    u32::try_from(place).ok()
}

/// Whether the short name of a weekday at token `i` is one, and no other word: it is beside another
/// weekday, a day or a month, or behind a word that comes before days.
fn is_among_days(r: &Reader<'_>, i: usize) -> bool {
    const BEFORE: &[&str] = list!("dates.before-weekday");
    let next = r.word(i + 1);
    let numbered = day(next).is_some() || month(next).is_some();
    let is_near = |gap: &str| matches!(gap.trim(), "-" | "–" | "/" | ",") || gap == " – ";
    let is_day = |word: &str| weekday(word).or_else(|| short_weekday(word)).is_some();
    let last = i.checked_sub(1).map(|p| r.word(p)).unwrap_or_default();
    numbered && matches!(r.gap(i), " " | ", " | ". ")
        || is_day(next) && is_near(r.gap(i))
        || is_day(last) && is_near(r.before(i))
        || BEFORE.contains(&&*lower_case(last))
}

/// The month that a word behind a day names, in any language.
fn month_behind_a_day(word: &str) -> Option<u32> {
    const SHORTEST: usize = 4;
    month(word).or_else(|| {
        let is_long = word.chars().count() >= SHORTEST || !word.is_ascii();
        let foreign = is_long && word.starts_with(char::is_alphabetic);
        let is_lower = !word.starts_with(char::is_uppercase);
        calendar::any_month(word).filter(|_| foreign && is_lower)
    })
}

/// Four digits that can be a year.
pub(super) fn year(word: &str) -> Option<i32> {
    let four = word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit());
    word.parse()
        .ok()
        .filter(|y| four && (1000..2200).contains(y))
}

pub(super) fn day(word: &str) -> Option<u32> {
    let short = word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    word.parse().ok().filter(|d| short && (1..=31).contains(d))
}

fn day_word(word: &str) -> Option<u32> {
    const WORDS: [&str; 12] = *list!("dates.words");
    let n = WORDS.iter().position(|w| *w == word)?;
    u32::try_from(n + 1).ok()
}

/// Reads the date that begins at token `i` and returns it with the index after its last token.
/// Returns `None` for a day that does not exist, such as 31 February.
pub(super) fn date(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    written_date(r, i).filter(|(date, _)| date.exists())
}

/// Reads a date like [`date`], but does not check that the day exists.
fn written_date(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    let short = short_weekday(r.word(i)).filter(|_| is_among_days(r, i));
    let plain = weekday(r.word(i)).or(short).map(|day| (day, i + 1));
    if let Some((weekday, behind)) = plain.or_else(|| r.weekday_in_words(i)) {
        let near = matches!(r.before(behind), ", " | " " | ". ");
        let rest = near
            .then(|| date(r, behind).filter(|(d, _)| d.weekday.is_none() && d.day.is_some()))
            .flatten();
        return Some(match rest {
            Some((date, next)) => (
                Date {
                    weekday: Some(weekday),
                    ..date
                },
                next,
            ),
            None => (
                Date {
                    weekday: Some(weekday),
                    ..Date::default()
                },
                behind,
            ),
        });
    }
    if let Some(m) = month(r.word(i)) {
        return Some(after_month(r, i, m));
    }
    if let Some(found) = weekday_of_month(r, i) {
        return Some(found);
    }
    if let Some(m) = r.month_in_words(i) {
        return Some(with_year_behind(r, i, m));
    }
    if let Some(found) = in_ideographs(r, i) {
        return Some(found);
    }
    let word = r.word(i);
    if let Some(y) = year(word)
        && matches!(r.gap(i), "-" | "/")
        && let Some(month) = day(r.word(i + 1)).filter(|m| *m <= 12 && r.word(i + 1).len() == 2)
    {
        let day = day(r.word(i + 2)).filter(|_| r.gap(i + 1) == r.gap(i));
        let full = Date {
            year: Some(y),
            month: Some(month),
            day,
            ..Date::default()
        };
        return Some((full, i + 2 + usize::from(day.is_some())));
    }
    if let Some(found) = day_first(r, i) {
        return Some(found);
    }
    numeric(r, i)
}

/// Reads "first Monday of May 2026": the day that a calendar has there.
fn weekday_of_month(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    const OF: &[&str] = list!("dates.of");
    const DAYS: u32 = 7;
    let which = day_word(&r.lower(i)).filter(|which| *which <= 5)?;
    let weekday = weekday(r.word(i + 1))?;
    let month = month(r.word(i + 3)).filter(|_| OF.contains(&&*r.lower(i + 2)))?;
    let year = year(r.word(i + 4))?;
    let first = Date {
        year: Some(year),
        month: Some(month),
        day: Some(1),
        ..Date::default()
    };
    let ahead = (weekday + DAYS - first.computed_weekday()?) % DAYS;
    let day = 1 + ahead + DAYS * (which - 1);
    let found = Date {
        day: Some(day),
        weekday: Some(weekday),
        ..first
    };
    Some((found, i + 5))
}

/// Reads "March 3rd, 2026", "March 2026" or "March".
fn after_month(r: &Reader<'_>, i: usize, month: u32) -> (Date, usize) {
    let mut out = Date {
        month: Some(month),
        ..Date::default()
    };
    let mut next = i + 1;
    if matches!(r.gap(i), " " | ". " | ", " | " the " | "/" | "-") {
        let skip = usize::from(r.lower(next) == "the");
        if let Some(d) = day(r.word(next + skip)).or_else(|| day_word(&r.lower(next + skip))) {
            out.day = Some(d);
            next += 1 + skip;
        }
        let gap = r.before(next);
        if matches!(
            gap,
            " " | ", " | ". " | "th, " | "rd, " | "nd, " | "st, " | "th " | "rd " | "nd " | "st "
        ) && let Some(y) = year(r.word(next))
        {
            out.year = Some(y);
            next += 1;
        } else if r.lower(next) == "of"
            && let Some(y) = year(r.word(next + 1))
        {
            out.year = Some(y);
            next += 2;
        }
    }
    (out, next)
}

/// Reads "mars 2024" or "marzo de 2024".
fn with_year_behind(r: &Reader<'_>, i: usize, month: u32) -> (Date, usize) {
    let of = usize::from(matches!(&*r.lower(i + 1), "de" | "del"));
    let found = year(r.word(i + 1 + of)).filter(|_| r.gap(i) == " ");
    let out = Date {
        month: Some(month),
        year: found,
        ..Date::default()
    };
    let next = if found.is_some() { i + 2 + of } else { i + 1 };
    (out, next)
}

/// The day that begins at token `i`, in digits or in words, and the index behind it.
fn day_at(r: &Reader<'_>, i: usize) -> Option<(u32, usize)> {
    let lower = r.lower(i);
    let known = day(r.word(i)).or_else(|| day_word(&lower));
    if let Some(day) = known {
        // "1er mars", "1º de mayo".
        let ends = r.gap(i).is_empty() && matches!(&*r.lower(i + 1), "er" | "º" | "°" | "re" | "e");
        return Some((day, i + 1 + usize::from(ends)));
    }
    if let Some(day) = super::spelled::day_by_ordinal(&lower) {
        return Some((day, i + 1));
    }
    // "двадцать третьего".
    if let Some(tens) = super::spelled::numeral(&lower, r.language, false)
        && let Some(ones) = super::spelled::day_by_ordinal(&r.lower(i + 1))
        && (tens == 20.0 && ones < 10 || tens == 30.0 && ones == 1)
    {
        return Some((if tens == 20.0 { 20 } else { 30 } + ones, i + 2));
    }
    let small = r.spelled(i).and_then(|value| value.small());
    small.filter(|(day, _)| (1..=31).contains(day))
}

/// Reads "3 March 2026", "3rd of March", "3. März" or "tre ottobre".
fn day_first(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    let (d, behind) = day_at(r, i)?;
    let gap = r.before(behind);
    let close = matches!(
        gap,
        " " | ". " | "-" | "st " | "nd " | "rd " | "th " | "° " | "º "
    );
    let of = usize::from(matches!(&*r.lower(behind), "of" | "de"));
    let m = month_behind_a_day(r.word(behind + of))
        .or_else(|| r.month_in_words(behind + of))
        .or_else(|| r.short_month(behind + of))
        .filter(|_| close)?;
    let mut next = behind + 1 + of;
    let mut out = Date {
        month: Some(m),
        day: Some(d),
        ..Date::default()
    };
    let of = usize::from(r.before(next) == " " && matches!(&*r.lower(next), "de" | "del"));
    if matches!(r.before(next + of), " " | ", " | ". " | "-")
        && let Some(y) = year(r.word(next + of))
    {
        out.year = Some(y);
        next += 1 + of;
    }
    Some((out, next))
}

/// The number at token `i` in digits or Chinese numerals, and the index behind it.
fn counted(r: &Reader<'_>, i: usize) -> Option<(u32, usize)> {
    match day(r.word(i)) {
        Some(number) => Some((number, i + 1)),
        None => r.ideographs(i).filter(|(n, _)| (1..=31).contains(n)),
    }
}

/// Reads "2024年1月3日", "1月3日", "三月五日" or "2024년 1월 3일".
fn in_ideographs(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    let year = year(r.word(i)).filter(|_| matches!(r.word(i + 1), "年" | "년"));
    let at = i + if year.is_some() { 2 } else { 0 };
    let (month, name) = counted(r, at)?;
    let is_month = matches!(r.word(name), "月" | "월") && r.before(name).is_empty();
    let day = counted(r, name + 1).filter(|(_, behind)| {
        let is_near = matches!(r.before(name + 1), "" | " ") && r.before(*behind).is_empty();
        is_near && matches!(r.word(*behind), "日" | "号" | "號" | "일")
    });
    if !is_month || month > 12 {
        return None;
    }
    let found = Date {
        year,
        month: Some(month),
        day: day.map(|(day, _)| day),
        ..Date::default()
    };
    Some((found, day.map_or(name, |(_, behind)| behind) + 1))
}

/// The day that digits with dots may mean, without a year ("03.01") or with a short one
/// ("03.01.24").
pub(super) fn day_and_month(digits: &str) -> Option<Date> {
    let mut parts = digits.split('.');
    let (day, month) = (day(parts.next()?)?, day(parts.next()?)?);
    let year = match parts.next() {
        None | Some("") => None,
        Some(short) => Some(short_year(short)?),
    };
    let date = Date {
        year,
        month: Some(month).filter(|m| *m <= 12),
        day: Some(day),
        ..Date::default()
    };
    (date.month.is_some() && parts.next().is_none() && date.exists()).then_some(date)
}

/// The year of two digits: of this century up to 2050.
fn short_year(digits: &str) -> Option<i32> {
    let two = digits.len() == 2 && digits.bytes().all(|b| b.is_ascii_digit());
    let year: i32 = digits.parse().ok().filter(|_| two)?;
    Some(if year <= 50 { 2000 + year } else { 1900 + year })
}

/// Reads "03.04.2026" or "25/12/2026". Only the dotted form can be a single token.
fn numeric(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    let word = r.word(i);
    let mut dotted = word.split('.');
    if let (Some(d), Some(m), Some(y), None) =
        (dotted.next(), dotted.next(), dotted.next(), dotted.next())
        && let (Some(d), Some(m), Some(y)) = (day(d), day(m).filter(|m| *m <= 12), year(y))
    {
        return Some((
            Date {
                year: Some(y),
                month: Some(m),
                day: Some(d),
                ..Date::default()
            },
            i + 1,
        ));
    }
    if let Some(found) = month_of_year(r, i) {
        return Some(found);
    }
    let (a, b, y) = (day(word)?, day(r.word(i + 1))?, year(r.word(i + 2))?);
    if !(is_slash(r.gap(i)) && is_slash(r.gap(i + 1))) {
        return None;
    }
    let (month, day, ambiguous) = match (a <= 12, b <= 12) {
        (true, true) => (a, b, a != b),
        (true, false) => (a, b, false),
        (false, true) => (b, a, false),
        (false, false) => return None,
    };
    Some((
        Date {
            year: Some(y),
            month: Some(month),
            day: Some(day),
            ambiguous,
            ..Date::default()
        },
        i + 3,
    ))
}

/// Reads "11/2025".
fn month_of_year(r: &Reader<'_>, i: usize) -> Option<(Date, usize)> {
    let month = day(r.word(i)).filter(|month| *month <= 12)?;
    let year = year(r.word(i + 1)).filter(|_| r.gap(i) == "/" && r.gap(i + 1) != "/")?;
    let found = Date {
        year: Some(year),
        month: Some(month),
        ..Date::default()
    };
    Some((found, i + 2))
}

fn is_slash(gap: &str) -> bool {
    matches!(gap, "/" | "-")
}
