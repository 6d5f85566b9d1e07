//! Finds the newest entry of a log, and the newest of several dated notes: "the last meeting".

use super::calendar::{self, Day};
use super::choose::{Choice, around};
use super::cues;
use super::note::NoteText;
use super::passage::{self, Passage, Piece};
use super::question::{ParsedQuestion, QuestionKind, Term};
use super::rank::Ranked;
use super::rows::stems_of;
use super::score;
use super::summary;
use super::units::Form;

/// A log has at least this many entries; a kind of notes has at least this many notes.
const SEVERAL: usize = 2;
/// How many months back the newest note of a kind is looked for.
const MONTHS: i64 = 12;
/// A name of notes has at least this many letters.
const SHORTEST_NAME: usize = 4;
/// The name of a kind of notes is among this many words behind "last".
const KIND_WORDS: usize = 2;

/// The newest entry of the log that the question names, or the newest note of the kind that it
/// names; `None` if it asks for neither.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    if ranked.question.kind != QuestionKind::Latest {
        return None;
    }
    entry(ranked).or_else(|| note(ranked))
}

/// The terms of the question that say which log or note is meant.
fn subject(question: &ParsedQuestion) -> Vec<&Term> {
    let is_quiet = |term: &&Term| {
        let word = term.word.to_lowercase();
        cues::holds(cues::ENTRIES, &word) || cues::holds(cues::HAPPENED, &word)
    };
    question.terms.iter().filter(|t| !is_quiet(t)).collect()
}

/// The newest dated section, or the newest dated item, of the note that the question names.
fn entry(ranked: &Ranked<'_>) -> Option<Choice> {
    let subject = subject(&ranked.question);
    // "The newest object in the log": the log need not be called that.
    let first = kinds(&ranked.question).into_iter().next();
    let without_kind: Vec<&Term> = subject
        .iter()
        .filter(|term| Some(term.word.as_str()) != first)
        .copied()
        .collect();
    let passage = [subject, without_kind]
        .iter()
        .find_map(|subject| newest_entry(ranked, subject))?;
    Some(Choice::certain(vec![passage]))
}

/// The newest entry of the first log whose names have all of the terms.
fn newest_entry(ranked: &Ranked<'_>, subject: &[&Term]) -> Option<Passage> {
    let mut notes = (0..ranked.found.notes.len())
        .filter(|note| is_named(&stems_of_names(ranked, *note), subject));
    notes.find_map(|note| section(ranked, note).or_else(|| item(ranked, note)))
}

/// The stems of the names of a note.
fn stems_of_names(ranked: &Ranked<'_>, note: usize) -> std::collections::HashSet<String> {
    let names = ranked
        .found
        .notes
        .get(note)
        .map(|note| note.names.join("\n"));
    stems_of(&names.unwrap_or_default())
}

/// Whether the stems cover all terms, of which there is at least one.
fn is_named(stems: &std::collections::HashSet<String>, terms: &[&Term]) -> bool {
    !terms.is_empty() && terms.iter().all(|term| score::covers(stems, term) > 0.0)
}

/// The newest of the sections whose heading has a day, whole.
fn section(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    let of = ranked.found.notes.get(note)?;
    let sections = of.sections.iter().enumerate();
    let dated: Vec<(Day, usize)> = sections
        .filter_map(|(at, section)| {
            let heading = section.heading.headings().last()?;
            Some((day_of(&heading.title)?, at))
        })
        .collect();
    let (day, section) = newest(ranked, &dated)?;
    let blocks = of.blocks_of_section(section);
    let pieces: Vec<Piece> = blocks
        .flat_map(|block| passage::whole_block(ranked.found, note, block))
        .collect();
    let mut out = Passage::new(note, pieces);
    out.keys.extend(
        out.pieces
            .iter()
            .map(|p| p.span.clone())
            .collect::<Vec<_>>(),
    );
    out.date = Some(day);
    (!out.pieces.is_empty()).then_some(out)
}

/// The newest of the items and rows that have a day.
fn item(ranked: &Ranked<'_>, note: usize) -> Option<Passage> {
    let units = passage::of_note(ranked.found, note);
    let dated: Vec<(Day, usize)> = units
        .filter(|(_, unit)| matches!(unit.form, Form::Item | Form::Row))
        .filter_map(|(at, unit)| Some((day_of(&unit.plain)?, at)))
        .collect();
    let (day, index) = newest(ranked, &dated)?;
    let mut out = around(ranked, index)?;
    out.date = Some(day);
    Some(out)
}

/// The full day of a text.
fn day_of(text: &str) -> Option<Day> {
    calendar::latest(text).filter(|day| day.day > 0)
}

/// The newest that is not in the future; `None` if there are not several.
fn newest(ranked: &Ranked<'_>, dated: &[(Day, usize)]) -> Option<(Day, usize)> {
    let past = dated
        .iter()
        .filter(|(day, _)| *day <= ranked.question.today);
    let newest = past.max_by_key(|(day, at)| (*day, std::cmp::Reverse(*at)))?;
    (dated.len() >= SEVERAL).then_some(*newest)
}

/// The newest of the dated notes of one kind, in short.
fn note(ranked: &Ranked<'_>) -> Option<Choice> {
    let mut kinds = kinds(&ranked.question).into_iter();
    kinds.find_map(|kind| note_of_kind(ranked, kind))
}

fn note_of_kind(ranked: &Ranked<'_>, kind: &str) -> Option<Choice> {
    let subject = subject(&ranked.question);
    let others: Vec<&Term> = subject.into_iter().filter(|t| t.word != kind).collect();
    let kind = stems_of(kind);
    let notes = ranked.found.notes.iter().enumerate();
    let dated: Vec<(Day, usize)> = notes
        .filter(|(_, note)| is_of_kind(note, &kind))
        .filter(|(_, note)| {
            let names = stems_of(&note.names.join("\n"));
            others.iter().all(|term| score::covers(&names, term) > 0.0)
        })
        .filter_map(|(at, note)| Some((note.date.filter(|day| day.day > 0)?, at)))
        .collect();
    let (day, note) = newest(ranked, &dated)?;
    let mut passage = summary::of_note(ranked, note)?;
    passage.date = Some(day);
    Some(Choice::certain(vec![passage]))
}

/// Whether a folder or a tag of a note names its kind.
pub(super) fn is_of_kind(note: &NoteText, kind: &std::collections::HashSet<String>) -> bool {
    let path = note.path.as_str();
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    let tags = note.properties.iter().filter(|p| is_tag_key(&p.key));
    let tags: Vec<&str> = tags.map(|p| p.value.as_str()).collect();
    let said = stems_of(&format!("{} {}", folders.replace('/', " "), tags.join(" ")));
    !kind.is_empty() && kind.is_subset(&said)
}

/// Whether a property lists tags.
pub(super) fn is_tag_key(key: &str) -> bool {
    matches!(key.to_lowercase().as_str(), "tag" | "tags")
}

/// The terms of the question behind "last" or "newest", up to two: one of them may name the kind of
/// notes, as "meeting" does in "the last board meeting".
fn kinds(question: &ParsedQuestion) -> Vec<&str> {
    let lower = question.text.to_lowercase();
    let words: Vec<&str> = cues::split(&lower).collect();
    let is_newest = |word: &str| cues::LATEST.spaced().split('|').any(|cue| cue == word);
    let Some(at) = words.iter().rposition(|word| is_newest(word)) else {
        return Vec::new();
    };
    let behind = words.iter().skip(at + 1).take(KIND_WORDS);
    let terms = behind.map_while(|word| {
        let mut terms = question.terms.iter();
        terms.find(|term| term.word.to_lowercase() == *word)
    });
    let is_name =
        |word: &&str| word.chars().all(char::is_alphabetic) && word.len() >= SHORTEST_NAME;
    terms
        .map(|term| term.word.as_str())
        .filter(is_name)
        .collect()
}

/// The parts of paths, the newest first, in which the newest note of the kind is looked for.
pub(super) fn paths(question: &ParsedQuestion) -> Vec<String> {
    if question.kind != QuestionKind::Latest {
        return Vec::new();
    }
    let (year, month) = (question.today.year, question.today.month);
    let last = i64::from(year) * 12 + i64::from(month) - 1;
    let months: Vec<i64> = (0..MONTHS)
        .map(|back| (last - back).div_euclid(12) * 100 + (last - back).rem_euclid(12) + 1)
        .collect();
    let kinds = kinds(question).into_iter().map(str::to_lowercase);
    kinds
        .flat_map(|kind| {
            let in_month = |month: &i64| format!("{kind}%{}-{:02}", month / 100, month % 100);
            months.iter().map(in_month).collect::<Vec<_>>()
        })
        .collect()
}
