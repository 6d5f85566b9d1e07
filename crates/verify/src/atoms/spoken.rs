//! Times of day in words: "halb acht", "huit heures et demie", "siete y media", "половина восьмого",
//! "七時半", "half past seven".

use super::numbers::Reader;
use super::spelled::{HALVES, TIES, hour_by_ordinal, numeral};
use super::times::Time;
use crate::text::Token;
use local_agent_text::language::Language;

const QUARTERS: &[&str] = list!("spelled.quarters");
const HEADS: &[&str] = list!("spelled.clock-heads");
const SURE_HEADS: &[&str] = list!("spelled.sure-clock-heads");
const BEFORE: &[&str] = list!("spelled.minutes-before");
const AFTER: &[&str] = list!("spelled.minutes-after");
const LESS: &[&str] = list!("spelled.less");
const HALF_TO: &[&str] = list!("spelled.half-to");
const HOUR_NAMES: &[&str] = list!("spelled.hour-names");
const HOUR_HEADS: &[&str] = list!("spelled.hour-heads");
const AFTERNOON: &[&str] = list!("spelled.afternoon");
const MORNING: &[&str] = list!("spelled.morning");
const OF_THE_DAY: &[&str] = list!("spelled.of-the-day");

/// Words at which such a time may begin, beside numbers.
pub(super) const OPENERS: [&[&str]; 3] = [HALF_TO, QUARTERS, &["без"]];

/// Reads a time in words that begins at token `i`, and returns it with the index behind it.
pub(super) fn spoken_time(r: &Reader<'_>, i: usize) -> Option<(Time, usize)> {
    let (minutes, next, hour) = in_signs(r, i)
        .or_else(|| half_to(r, i))
        .or_else(|| minutes_first(r, i))
        .or_else(|| hour_first(r, i))?;
    let either = (1..=12).contains(&hour);
    let time = Time::of(minutes.rem_euclid(24 * 60).unsigned_abs(), either);
    let (time, next) = in_half_of_day(r, time, next);
    Some((in_half_before(r, time, i), next))
}

/// The minutes since midnight, the index behind, and the hour as said.
type ClockReading = (i32, usize, u32);

/// The hour at token `i`, and the index behind it; whether it is in words.
fn hour_at(r: &Reader<'_>, i: usize) -> Option<(u32, usize, bool)> {
    let word = r.word(i);
    if word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit()) {
        let hour: u32 = word.parse().ok().filter(|h| *h < 25)?;
        return Some((hour, i + 1, false));
    }
    let (hour, next) = small_number(r, i)?;
    ((1..=24).contains(&hour)).then_some((hour, next, true))
}

/// A small number in words at token `i`.
fn small_number(r: &Reader<'_>, i: usize) -> Option<(u32, usize)> {
    let lower = r.lower(i);
    let english = super::numbers::word_value(&lower);
    let value = numeral(&lower, r.language, true).or(english)?;
    // "vingt-deux", "twenty-five".
    let two = r.joined(i).then(|| r.lower(i + 1)).and_then(|second| {
        let part = numeral(&second, r.language, false).or(super::numbers::word_value(&second))?;
        (value >= 20.0 && value % 10.0 == 0.0 && part < 10.0).then_some(value + part)
    });
    let (value, next) = match two {
        Some(value) => (value, i + 2),
        None => (value, i + 1),
    };
    let whole = (0..60_u32).find(|n| f64::from(*n) == value)?;
    Some((whole, next))
}

fn at(hour: u32, minute: i32) -> i32 {
    i32::try_from(hour).unwrap_or(0) * 60 + minute
}

/// Reads "halb acht", "half acht", "половина восьмого", "half past seven".
fn half_to(r: &Reader<'_>, i: usize) -> Option<ClockReading> {
    let lower = r.lower(i);
    if let Some(hour) = lower.strip_prefix("пол").and_then(hour_by_ordinal) {
        return Some((at(hour, -30), i + 1, hour));
    }
    if !HALF_TO.contains(&&*lower) || r.gap(i) != " " {
        return None;
    }
    if let Some(hour) = hour_by_ordinal(&r.lower(i + 1)) {
        return Some((at(hour, -30), i + 2, hour));
    }
    if lower == "half" && r.lower(i + 1) == "past" {
        let (hour, next, _) = hour_at(r, i + 2)?;
        return Some((at(hour, 30), next, hour));
    }
    let (hour, next, in_words) = hour_at(r, i + 1)?;
    // "half eight" is something else in English.
    let is_english = super::numbers::word_value(&r.lower(i + 1)).is_some()
        && r.language != Some(Language::Dutch)
        && r.lower(i + 1) != "acht";
    let sure = match &*lower {
        "halb" => true,
        "half" => in_words && !is_english || r.language == Some(Language::Dutch),
        _ => false,
    };
    (sure && hour <= 12 && hour > 0).then_some((at(hour, -30), next, hour))
}

/// Reads "zwanzig nach sieben", "kwart over acht", "без четверти восемь", "четверть восьмого".
fn minutes_first(r: &Reader<'_>, i: usize) -> Option<ClockReading> {
    if r.lower(i) == "без" {
        let (minutes, next) = minutes_at(r, i + 1)?;
        let (hour, next, _) = hour_at(r, next)?;
        return Some((at(hour, -minutes), next, hour));
    }
    let (minutes, next) = minutes_at(r, i)?;
    if let Some(hour) = hour_by_ordinal(&r.lower(next)) {
        return Some((at(hour, minutes - 60), next + 1, hour));
    }
    let relation = r.lower(next);
    let sign = match () {
        () if BEFORE.contains(&&*relation) => -1,
        () if AFTER.contains(&&*relation) => 1,
        () if relation == "to" && QUARTERS_IN_ENGLISH.contains(&&*r.lower(i)) => -1,
        () => return None,
    };
    if !r.joined(next - 1) || r.gap(next) != " " {
        return None;
    }
    let (base, behind, hour) = half_to(r, next + 1).or_else(|| {
        let (hour, behind, _) = hour_at(r, next + 1)?;
        Some((at(hour, 0), behind, hour))
    })?;
    // "five days before two weeks" is no time.
    let counts = r.unit_after(behind).0.is_some() && !HOUR_NAMES.contains(&&*r.lower(behind));
    (!counts).then_some((base + sign * minutes, behind, hour))
}

const QUARTERS_IN_ENGLISH: &[&str] = &["quarter"];

/// A round number of minutes at token `i`: "zwanzig", "Viertel", "двадцать минут".
fn minutes_at(r: &Reader<'_>, i: usize) -> Option<(i32, usize)> {
    let lower = r.lower(i);
    if QUARTERS.contains(&&*lower) || QUARTERS_IN_ENGLISH.contains(&&*lower) {
        return Some((15, i + 1));
    }
    let digits = r.word(i).parse::<u32>().ok().map(|n| (n, i + 1));
    let (minutes, next) = digits.or_else(|| small_number(r, i))?;
    let is_round = matches!(minutes, 5 | 10 | 15 | 20 | 25);
    let is_named = matches!(&*r.lower(next), "минут" | "минуты" | "minuten" | "minutes");
    let minutes = i32::try_from(minutes).ok()?;
    is_round.then_some((minutes, next + usize::from(is_named)))
}

/// Reads "à huit heures et demie", "las siete y media", "alle otto meno un quarto", "acht Uhr".
fn hour_first(r: &Reader<'_>, i: usize) -> Option<ClockReading> {
    let (hour, mut next, in_words) = hour_at(r, i)?;
    let head = i.checked_sub(1).map(|p| r.lower(p)).unwrap_or_default();
    let name = r.lower(next);
    let named = HOUR_NAMES.contains(&&*name) && matches!(r.before(next), "" | " ");
    let clock = matches!(&*name, "uhr" | "o'clock");
    if named {
        next += 1;
    }
    let headed = HOUR_HEADS.contains(&&*head) && (named || head == "в" || head == "к");
    let pointed = HEADS.contains(&&*head);
    let certain = SURE_HEADS.contains(&&*head);
    if let Some((minutes, behind)) = added(r, next, certain || headed) {
        let is_time = headed || certain || pointed && !named || is_half_of_day(r, behind);
        return is_time.then_some((at(hour, minutes), behind, hour));
    }
    let takes_minutes = headed || named && name.starts_with("heure");
    if let Some((minutes, behind)) = minutes_behind(r, next).filter(|_| takes_minutes) {
        return Some((at(hour, minutes), behind, hour));
    }
    let is_alone = certain && !named && (ends_here(r, next) || is_half_of_day(r, next));
    let is_time = in_words && (clock || headed || is_alone);
    (is_time && hour > 0).then_some((at(hour, 0), next, hour))
}

/// The minutes of "et demie", "y cuarto", "meno un quarto", "e venti" from token `next`.
fn added(r: &Reader<'_>, next: usize, sure: bool) -> Option<(i32, usize)> {
    if next == 0 || !r.joined(next - 1) {
        return None;
    }
    let word = r.lower(next);
    let sign = match () {
        () if TIES.contains(&&*word) => 1,
        () if LESS.contains(&&*word) => -1,
        () => return None,
    };
    let article = matches!(&*r.lower(next + 1), "le" | "un" | "um");
    let part = next + 1 + usize::from(article);
    let lower = r.lower(part);
    if HALVES.contains(&&*lower) && sign > 0 {
        return Some((30, part + 1));
    }
    if QUARTERS.contains(&&*lower) {
        return Some((15 * sign, part + 1));
    }
    let (minutes, behind) = small_number(r, part).filter(|_| sure && !article)?;
    let counts = r.unit_after(behind).0.is_some();
    let minutes = i32::try_from(minutes).ok()?;
    (minutes >= 5 && !counts).then_some((minutes * sign, behind))
}

/// The minutes directly behind the name of the hour: "huit heures vingt", "8 heures 30".
fn minutes_behind(r: &Reader<'_>, next: usize) -> Option<(i32, usize)> {
    if next == 0 || !r.joined(next - 1) {
        return None;
    }
    let word = r.word(next);
    let digits = word.parse::<u32>().ok().filter(|_| word.len() == 2);
    let digits = digits.map(|n| (n, next + 1));
    let (minutes, behind) = digits.or_else(|| small_number(r, next))?;
    let counts = r.unit_after(behind).0.is_some();
    let minutes = i32::try_from(minutes).ok()?;
    ((1..60).contains(&minutes) && !counts).then_some((minutes, behind))
}

/// Whether nothing that could be counted follows.
fn ends_here(r: &Reader<'_>, next: usize) -> bool {
    let token = r.words.tokens.get(next);
    token.is_none_or(Token::is_stop) || !matches!(r.before(next), " " | "-")
}

fn is_half_of_day(r: &Reader<'_>, next: usize) -> bool {
    half_of_day(r, next).is_some()
}

/// Whether the words from token `next` name the half of the day after noon, and the index behind
/// them: "de la tarde", "abends".
fn half_of_day(r: &Reader<'_>, next: usize) -> Option<(bool, usize)> {
    for at in next..next + 3 {
        if !matches!(r.before(at), " " | "'") {
            return None;
        }
        let word = r.lower(at);
        if AFTERNOON.contains(&&*word) {
            return Some((true, at + 1));
        }
        if MORNING.contains(&&*word) {
            return Some((false, at + 1));
        }
        if !OF_THE_DAY.contains(&&*word) {
            return None;
        }
    }
    None
}

/// A time with the half of the day that the words behind it name.
fn in_half_of_day(r: &Reader<'_>, time: Time, next: usize) -> (Time, usize) {
    match half_of_day(r, next) {
        Some((after_noon, behind)) if time.either_half => (time.in_half(after_noon), behind),
        _ => (time, next),
    }
}

/// A time with the half of the day that the signs before it name: "午後", "早上".
fn in_half_before(r: &Reader<'_>, time: Time, i: usize) -> Time {
    half_before(r, i).map_or(time, |is_after_noon| time.in_half(is_after_noon))
}

/// Whether the signs before token `i` name the half of the day after noon.
fn half_before(r: &Reader<'_>, i: usize) -> Option<bool> {
    let start = r.words.tokens.get(i).map_or(0, |t| t.start);
    let before = r.text.get(..start).unwrap_or("");
    let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
    // "夜12時" is midnight, and "夜1時" is after it.
    let is_evening = || hour_at(r, i).is_none_or(|(hour, ..)| (5..12).contains(&hour));
    if ends(list!("times.after-noon")) || ends(list!("times.at-night")) && is_evening() {
        return Some(true);
    }
    ends(list!("times.before-noon")).then_some(false)
}

/// Reads "七時半", "八点三十分", "8点一刻".
fn in_signs(r: &Reader<'_>, i: usize) -> Option<ClockReading> {
    let written = r.ideographs(i);
    let (hour, name) = match written {
        Some(found) => found,
        None => {
            let (hour, next, _) = hour_at(r, i)?;
            (hour, next)
        }
    };
    let is_hour = matches!(r.word(name), "点" | "點" | "时" | "時") && r.before(name).is_empty();
    let behind = name + 1;
    let close = r.before(behind).is_empty();
    if !is_hour || hour > 24 || close && matches!(r.word(behind), "間" | "间") {
        return None;
    }
    if close && r.word(behind) == "半" {
        return Some((at(hour, 30), behind + 1, hour));
    }
    if let Some((minutes, end)) = r.ideographs(behind).filter(|_| close) {
        let minutes = i32::try_from(minutes).ok()?;
        match r.word(end) {
            "刻" => return Some((at(hour, 15 * minutes), end + 1, hour)),
            "分" => return Some((at(hour, minutes), end + 1, hour)),
            _ => {}
        }
    }
    let minutes_follow = r.word(behind).starts_with(|c: char| c.is_ascii_digit());
    // "8点" may be eight points.
    let is_clear =
        written.is_some() || matches!(r.word(name), "时" | "時") || half_before(r, i).is_some();
    (is_clear && !minutes_follow).then_some((at(hour, 0), behind, hour))
}
