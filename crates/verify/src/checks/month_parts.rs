//! L4: a part of a month in a claim ("early March", "end of June") is the part that the day of the
//! cited text is in.

use std::ops::RangeInclusive;

use super::atoms::readings;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, Date, What, day_of};
use crate::reading::Reading;

/// Phrases before a month, and the days that they can mean.
const PARTS: [(&[&str], RangeInclusive<u32>); 3] = [
    (list!("dates.early"), 1..=11),
    (list!("dates.mid"), 9..=21),
    (list!("dates.late"), 19..=31),
];

/// The objection to a part of a month.
pub(super) fn check(case: &Case<'_>, atom: &Atom, date: &Date) -> Option<(Effect, Code, String)> {
    let (phrase, days) = part_before(case.claim, atom, date)?;
    let mut said: Option<&str> = None;
    for reading in readings(case) {
        for e in &reading.atoms {
            let What::Date(other) = &e.what else { continue };
            if other.month != date.month || !date.agrees(other) {
                continue;
            }
            let agrees = match other.day {
                Some(day) => days.contains(&day),
                None => part_before(reading, e, other).is_some_and(|(_, same)| same == days),
            };
            if agrees {
                return None;
            }
            said = said.or(other.day.map(|_| reading.shown_atom(e)));
        }
    }
    let month = case.claim.shown_atom(atom);
    Some(match said {
        Some(said) => {
            let why =
                format!("The claim says “{phrase} {month}”, but the cited text says “{said}”.");
            (Effect::Rejects, Code::Date, why)
        }
        None => {
            let why = format!("The cited text does not say “{phrase} {month}”.");
            (Effect::Doubts, Code::Date, why)
        }
    })
}

/// The phrase before a month without a day that names a part of it, and the days that it can mean.
fn part_before(
    reading: &Reading,
    atom: &Atom,
    date: &Date,
) -> Option<(&'static str, RangeInclusive<u32>)> {
    if date.month.is_none() || date.day.is_some() || date.weekday.is_some() {
        return None;
    }
    let before = reading.lower().get(..atom.bytes.start)?;
    let before = before.trim_end_matches([' ', '-']);
    PARTS.iter().find_map(|(phrases, days)| {
        let mut phrases = phrases.iter().copied();
        let phrase = phrases.find(|phrase| ends_with_words(before, phrase))?;
        Some((phrase, days.clone()))
    })
}

/// Whether a whole number from 1 to 31 stands for a day: "el día 15", "am 15.", "dal 3 al 9". No noun
/// that it may count is behind it.
pub(super) fn names_a_day(reading: &Reading, atom: &Atom) -> bool {
    const HEADS: &[&str] = list!("dates.before-day");
    let What::Number(n) = &atom.what else {
        return false;
    };
    let before = atom.tokens.start.checked_sub(1);
    let before = before.and_then(|at| reading.text.tokens.get(at));
    let is_headed = before.is_some_and(|t| HEADS.contains(&&*reading.lower_word(t)));
    let behind = reading.text.tokens.get(atom.tokens.end);
    let counts =
        behind.is_some_and(|t| t.is_content() && t.start == atom.bytes.end + 1 && t.capital);
    is_headed && !counts && !n.words && day_of(n).is_some()
}

/// Whether a text ends with these whole words.
fn ends_with_words(text: &str, words: &str) -> bool {
    let rest = text.strip_suffix(words);
    rest.is_some_and(|rest| !rest.ends_with(char::is_alphanumeric))
}
