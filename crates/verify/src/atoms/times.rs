//! Parses times of day in many notations.

use super::dates::day;
use super::hours;
use super::numbers::Reader;

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Time {
    /// Since midnight.
    pub minutes: u32,
    /// Whether it may be before or after noon: "2:30".
    pub either_half: bool,
}

impl Time {
    /// Hour 24 is midnight.
    pub(super) fn new(hour: u32, minute: u32, either_half: bool) -> Self {
        Self {
            minutes: hour % 24 * 60 + minute,
            either_half,
        }
    }

    /// The hours as people read them, with the minutes as their part.
    pub(crate) fn hours(self) -> f64 {
        f64::from(self.minutes) / 60.0
    }

    /// A time from its minutes since midnight.
    pub(super) fn of(minutes: u32, either_half: bool) -> Self {
        Self {
            minutes,
            either_half,
        }
    }

    /// The time in one half of the day.
    pub(super) fn in_half(self, after_noon: bool) -> Self {
        const HALF: u32 = 12 * 60;
        let minutes = self.minutes % HALF + if after_noon { HALF } else { 0 };
        Self::of(minutes, false)
    }

    /// Whether both can be the same time.
    pub(crate) fn agrees(self, other: Self) -> bool {
        const HALF: u32 = 12 * 60;
        let free = self.either_half || other.either_half;
        self.minutes == other.minutes || free && self.minutes % HALF == other.minutes % HALF
    }
}

/// Reads "14:30", "14h30", "2.30 Uhr", "2:30 pm", "2 pm", "half past two" or "2 in the afternoon".
pub(super) fn time(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    hours::in_words(r, i).or_else(|| in_digits(r, i))
}

fn in_digits(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    let Clock {
        hour,
        minute,
        is_marked,
        next,
    } = clock(r, i)?;
    let (either_half, minutes) = (may_be_either(hour, r.word(i)), minute.unwrap_or(0));
    match half_of_day(r, next) {
        Some((is_after_noon, next)) => {
            let hour = hour % 12 + if is_after_noon { 12 } else { 0 };
            Some((Time::new(hour, minutes, false), next))
        }
        None if is_marked || minute.is_some() => {
            let (is_named, next) = match matches!(&*r.lower(next), "uhr") && r.before(next) == " " {
                true => (true, next + 1),
                false => (is_marked, next),
            };
            // "12 Uhr" is noon: midnight is called 0 or 24.
            let is_noon = hour == 12 && r.lower_before(next, 1) == "uhr";
            let time = Time::new(hour, minutes, either_half && !is_noon);
            is_named.then(|| hours::placed(r, time, next))
        }
        None => None,
    }
}

/// A time before what names the half of the day.
struct Clock {
    hour: u32,
    minute: Option<u32>,
    /// Whether something other than a dot marks it as a time.
    is_marked: bool,
    next: usize,
}

/// The hour and minute that begin at token `i`.
fn clock(r: &Reader<'_>, i: usize) -> Option<Clock> {
    if let Some((hour, minute)) = r.word(i).split_once('.') {
        let Time { minutes, .. } = hour_and_minute(hour, minute)?;
        return Some(Clock {
            hour: minutes / 60,
            minute: Some(minutes % 60),
            is_marked: false,
            next: i + 1,
        });
    }
    let hour = hour(r.word(i))?;
    let (minute, is_marked, next) = minute_behind(r, i).unwrap_or((None, false, i + 1));
    Some(Clock {
        hour,
        minute,
        is_marked,
        next,
    })
}

/// The minute behind the hour at token `i`, whether a word names the hour, and the index behind.
fn minute_behind(r: &Reader<'_>, i: usize) -> Option<(Option<u32>, bool, usize)> {
    if let Some(minute) = minutes(r.word(i + 1)).filter(|_| matches!(r.gap(i), ":" | "：")) {
        let seconds = r.before(i + 2) == ":" && minutes(r.word(i + 2)).is_some();
        return Some((Some(minute), true, i + 2 + usize::from(seconds)));
    }
    if let Some(minute) = r.word(i + 1).strip_prefix(['h', 'H']).and_then(minutes) {
        return Some((Some(minute), true, i + 2)).filter(|_| r.gap(i).is_empty());
    }
    let name = r.lower(i + 1);
    let is_close = matches!(r.gap(i), "" | " ");
    let is_hour = matches!(&*name, "h" | "uhr" | "点" | "點" | "时" | "時" | "시");
    let minute = minutes(r.word(i + 2)).filter(|_| matches!(r.before(i + 2), "" | " "));
    let is_duration = name == "h" && super::unit(r.word(i + 3)).is_some();
    match minute {
        Some(minute) if is_close && is_hour && !is_duration => {
            let named = matches!(r.word(i + 3), "分" | "분") && r.before(i + 3).is_empty();
            Some((Some(minute), true, i + 3 + usize::from(named)))
        }
        _ if is_close && name == "uhr" => Some((None, true, i + 2)),
        _ => None,
    }
}

/// Whether token `next` says that a time is after noon, and the index behind it.
fn half_of_day(r: &Reader<'_>, next: usize) -> Option<(bool, usize)> {
    // "12 Uhr am Montag".
    let is_german = r.lower_before(next, 1) == "uhr";
    match (&*r.lower(next), &*r.lower(next + 1)) {
        ("am" | "pm", _) if is_german => None,
        ("am" | "pm", _) if matches!(r.before(next), "" | " ") => {
            Some((r.lower(next) == "pm", next + 1))
        }
        ("a" | "p", "m") if r.gap(next) == "." => Some((r.lower(next) == "p", next + 2)),
        _ => None,
    }
}

/// Whether an hour may be before or after noon.
pub(super) fn may_be_either(hour: u32, written: &str) -> bool {
    (1..=12).contains(&hour) && !written.starts_with('0')
}

fn hour(word: &str) -> Option<u32> {
    let midnight = (word == "0" || word == "00").then_some(0);
    day(word).or(midnight).filter(|h| *h < 25)
}

/// The time that an hour and two digits of minutes mean.
pub(super) fn hour_and_minute(hour_word: &str, minute: &str) -> Option<Time> {
    let (hour, minute) = (hour(hour_word)?, minutes(minute)?);
    Some(Time::new(hour, minute, may_be_either(hour, hour_word)))
}

/// Two digits below 60: minutes, or seconds.
fn minutes(word: &str) -> Option<u32> {
    let number = word.parse::<u32>().ok()?;
    (word.len() == 2 && number < 60).then_some(number)
}
