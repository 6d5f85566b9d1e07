//! Finds the older versions of a thing in one note: the row of a flour in the prices of last year,
//! below headings that differ in their dates alone.

use std::collections::{HashMap, HashSet};

use super::calendar::{self, Day};
use super::cues;
use super::question::{ParsedQuestion, QuestionKind};
use super::rank::Found;
use super::score;
use super::units::{Form, Unit};

/// The units of which a later section of the same note has a newer version. None if the question is
/// for a time, for what was, or for more than a single fact: then the newest is no better.
pub(super) fn superseded(question: &ParsedQuestion, found: Found<'_>) -> HashSet<usize> {
    let lower = question.text.to_lowercase();
    let is_of_the_past = cues::split(&lower).any(|word| cues::holds(cues::OF_THE_PAST, word));
    if question.kind != QuestionKind::Fact || question.period.is_some() || is_of_the_past {
        return HashSet::new();
    }
    let mut versions: HashMap<VersionName, Vec<(Day, usize)>> = HashMap::new();
    for (index, unit) in found.units.iter().enumerate() {
        if let Some((day, name)) = version(found, unit).filter(|(day, _)| *day <= question.today) {
            versions.entry(name).or_default().push((day, index));
        }
    }
    let mut older = HashSet::new();
    for mut of_one in versions.into_values() {
        of_one.sort_unstable();
        // In a log, several entries of one day may have the same name.
        if of_one.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            continue;
        }
        let Some((_, newest)) = of_one.pop() else {
            continue;
        };
        let before = of_one.into_iter().map(|(_, index)| index);
        older.extend(before.filter(|index| !says_more(question, found, *index, newest)));
    }
    older
}

/// What the versions of one thing share: the note, the heading without its date, the first column's
/// name, and their own name.
type VersionName = (usize, String, String, String);

/// The day of the heading above a row or a labelled item, and what it is a version of. The name of
/// a row is its first cell, that of an item the text before its colon.
fn version(found: Found<'_>, unit: &Unit) -> Option<(Day, VersionName)> {
    let first =
        |text: &str, end: &str| text.split(end).next().map(str::trim).map(str::to_lowercase);
    let lead = unit.lead.and_then(|lead| found.unit(lead));
    let (name, column) = match unit.form {
        Form::Row => (first(&unit.plain, "|")?, first(&lead?.plain, "|")?),
        Form::Item => (unit.plain.split_once(": ")?.0.to_lowercase(), String::new()),
        _ => return None,
    };
    let section = found.note_of(unit)?.sections.get(unit.section)?;
    let title = &section.heading.headings().last()?.title;
    let day = calendar::latest(title).filter(|day| day.day > 0)?;
    let bare = title.to_lowercase();
    let words = cues::split(&bare).filter(|word| !is_of_date(word));
    let heading = words.collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some((day, (unit.note, heading, column, name)))
}

/// Whether a word of a heading is a part of a date.
fn is_of_date(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        || cues::month(word).is_some()
        || cues::names_day(word)
}

/// Whether an older version has a word of the question that the newest does not.
fn says_more(question: &ParsedQuestion, found: Found<'_>, older: usize, newest: usize) -> bool {
    let (Some(older), Some(newest)) = (found.unit(older), found.unit(newest)) else {
        return true;
    };
    let covers = |unit: &Unit, term| score::covers(&unit.stems, term) > 0.0;
    let mut terms = question.terms.iter();
    terms.any(|term| covers(older, term) && !covers(newest, term))
}
