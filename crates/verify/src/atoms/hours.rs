//! Times of day in words: "half past seven", "quarter to six", "noon", "4 in the afternoon".

use super::dates::day;
use super::numbers::{Reader, word_value};
use super::times::{Time, may_be_either};

const NOON: &[&str] = list!("times.noon");
const MIDNIGHT: &[&str] = list!("times.midnight");
const PAST: &[&str] = list!("times.past");
const TO: &[&str] = list!("times.to");
const HALF_PAST: &[&str] = list!("times.half-past");
const HALF_TO: &[&str] = list!("times.half-to");
const QUARTER: &[&str] = list!("times.quarter");
const HOUR: &[&str] = list!("times.hour");

/// A part of the day, and the phrases that name it behind a time.
const PARTS: [(&[&str], PartOfDay); 4] = [
    (list!("times.morning"), PartOfDay::Morning),
    (list!("times.afternoon"), PartOfDay::Afternoon),
    (list!("times.evening"), PartOfDay::Evening),
    (list!("times.night"), PartOfDay::Night),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartOfDay {
    Morning,
    Afternoon,
    Evening,
    Night,
}

/// Reads the time in words that begins at token `i`, and the index behind it.
pub(super) fn in_words(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    let word = r.lower(i);
    // "Après-midi" is no noon.
    if NOON.contains(&&*word) && r.before(i) != "-" {
        return Some((Time::new(12, 0, false), i + 1));
    }
    if MIDNIGHT.contains(&&*word) {
        return Some((Time::new(0, 0, false), i + 1));
    }
    if let Some((time, next)) = around_an_hour(r, i) {
        return Some(placed(r, time, next));
    }
    hour_alone(r, i)
}

/// Reads "half past seven", "quarter to six", "ten past four", "halb acht" or "Viertel nach sechs".
fn around_an_hour(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    let (word, next) = (r.lower(i), r.lower(i + 1));
    if r.gap(i) != " " {
        return None;
    }
    if HALF_TO.contains(&&*word) {
        return before_or_after(hour(r, i + 1)?, -30, i + 2);
    }
    if HALF_PAST.contains(&&*word) && PAST.contains(&&*next) {
        return before_or_after(hour(r, i + 2)?, 30, i + 3);
    }
    let minutes = match QUARTER.contains(&&*word) {
        true => 15,
        false => minutes(r, i).filter(|m| m % 5 == 0)?,
    };
    if PAST.contains(&&*next) {
        return before_or_after(hour(r, i + 2)?, minutes, i + 3);
    }
    let is_before = TO.contains(&&*next);
    // "ten to six" is more often a range than a time.
    let is_range = next == "to" && !QUARTER.contains(&&*word);
    if !is_before || is_range {
        return None;
    }
    before_or_after(hour(r, i + 2)?, -minutes, i + 3)
}

/// The time some minutes after the hour, or before it; and `next`.
fn before_or_after(hour: u32, minutes: i32, next: usize) -> Option<(Time, usize)> {
    const HALF: i32 = 12 * 60;
    let either = (1..=12).contains(&hour);
    let hour = i32::try_from(hour).ok()?;
    let all = (hour * 60 + minutes).rem_euclid(if either { HALF } else { 2 * HALF });
    let all = u32::try_from(all).ok()?;
    Some((Time::new(all / 60, all % 60, either), next))
}

/// Reads "seven o'clock", "7 in the evening" or "12 noon".
fn hour_alone(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    let hour = hour(r, i)?;
    let next = r.lower(i + 1);
    if hour == 12 && r.gap(i) == " " {
        let [noon, midnight] = [NOON, MIDNIGHT].map(|names| names.contains(&&*next));
        if noon || midnight {
            return Some((Time::new(if noon { 12 } else { 0 }, 0, false), i + 2));
        }
    }
    let time = Time::new(hour, 0, may_be_either(hour, r.word(i)));
    let in_digits = r.word(i).starts_with(|c: char| c.is_ascii_digit());
    // "8 Uhr 30" is read with the times in digits.
    let is_named = HOUR.contains(&&*next) && !(in_digits && next == "uhr");
    if r.gap(i) == " " && is_named {
        return Some(placed(r, time, i + 2));
    }
    let (placed, next) = placed(r, time, i + 1);
    (next > i + 1).then_some((placed, next))
}

/// The time with the part of the day that token `next` names, if it does; and the index behind.
pub(super) fn placed(r: &Reader<'_>, time: Time, next: usize) -> (Time, usize) {
    let rest = r.rest_from(next);
    let Some(rest) = rest.strip_prefix(' ').or(rest.strip_prefix(", ")) else {
        return (time, next);
    };
    let named = PARTS.iter().find_map(|(phrases, part)| {
        let mut phrases = phrases.iter();
        let phrase = phrases.find(|phrase| begins_with(rest, phrase))?;
        Some((*part, phrase.split(' ').count()))
    });
    let Some((part, words)) = named else {
        return (time, next);
    };
    (at_part_of_day(time, part), next + words)
}

/// Whether a text begins with these whole words.
fn begins_with(text: &str, words: &str) -> bool {
    let start = text.get(..words.len()).map(str::to_lowercase);
    let behind = text.get(words.len()..).unwrap_or("");
    start.is_some_and(|start| start == words) && !behind.starts_with(char::is_alphanumeric)
}

fn at_part_of_day(time: Time, part: PartOfDay) -> Time {
    const HALF: u32 = 12 * 60;
    if !time.either_half {
        return time;
    }
    let minutes = time.minutes % HALF;
    let is_after_noon = match part {
        PartOfDay::Morning => false,
        PartOfDay::Afternoon | PartOfDay::Evening => true,
        PartOfDay::Night => minutes >= HALF / 2,
    };
    Time {
        minutes: minutes + if is_after_noon { HALF } else { 0 },
        either_half: false,
    }
}

/// The hour at token `i`, in digits or in words.
fn hour(r: &Reader<'_>, i: usize) -> Option<u32> {
    let lower = r.lower(i);
    if NOON.contains(&&*lower) {
        return Some(12);
    }
    if MIDNIGHT.contains(&&*lower) {
        return Some(24);
    }
    let written = day(r.word(i)).or_else(|| whole(word_value(&lower)?));
    written.filter(|hour| (1..=24).contains(hour))
}

/// The minutes at token `i`, in digits or in words.
fn minutes(r: &Reader<'_>, i: usize) -> Option<i32> {
    let written = day(r.word(i)).or_else(|| whole(word_value(&r.lower(i))?));
    written
        .filter(|m| (1..60).contains(m))
        .and_then(|m| i32::try_from(m).ok())
}

fn whole(value: f64) -> Option<u32> {
    (1..60).find(|n| f64::from(*n) == value)
}
