//! The extractive answerer: the passages of the notes that answer the question, byte for byte.
//!
//! No model writes anything here, so nothing can be made up. The passages may still not fit the
//! question. [`confidence`] decides that, and passages that do not fit are shown as the closest
//! ones.
//!
//! | file | contents |
//! | --- | --- |
//! | `parts` | splits a question of two parts into two questions |
//! | `question` | parses the question: weighted words, the kind of answer |
//! | `constraints`, `calendar`, `periods` | the time or number that the answer must have |
//! | `note` | the current content of a file: properties, sections, blocks, date |
//! | `units` | quotable units: sentences, items, rows, properties, each with its context |
//! | `score`, `rank` | rate how well each unit answers the question |
//! | `versions` | older versions of a thing, below headings that differ in their dates |
//! | `confidence` | decides whether the best unit is good enough to be shown as the answer |
//! | `passage` | the text shown around a unit |
//! | `choose` | chooses the passages of the answer |
//! | `steps`, `lists`, `sides`, `times`, `tasks`, `totals`, `hops`, `summary`, `properties` | one kind of question each |
//! | `ages`, `distances` | the age of a person, the days between two things |
//! | `conditions` | conditions on amounts, which a column of a table decides |
//! | `rows`, `items`, `across` | which rows, items or columns a question means |
//! | `list_amounts`, `gaps`, `readings` | values computed from the items of a list, from two rows, and from the readings of a counter |
//! | `dated_rows` | the rows of a table that are of the days in question |
//! | `tags`, `newest`, `status` | the notes with a tag, the newest entry or note, yes or no by a status |
//! | `elsewhere` | signs that a unit is about something else |
//! | `amounts` | exact arithmetic |
//! | `draft` | passages → a draft over a snapshot that contains them |
//! | `cues` | function words and question words |
//! | `synonyms` | everyday words that mean the same |

mod across;
mod ages;
mod amounts;
mod announced_items;
mod attributes;
mod calendar;
mod choose;
mod conditions;
mod confidence;
mod constraints;
mod cues;
mod dated_rows;
mod distances;
mod draft;
mod elsewhere;
mod folder_notes;
mod gaps;
mod hops;
mod items;
mod list_amounts;
mod lists;
mod newest;
mod note;
mod overview;
mod parts;
mod passage;
mod periods;
mod properties;
mod question;
mod rank;
mod readings;
mod rows;
mod score;
mod sides;
mod status;
mod steps;
mod summary;
mod synonyms;
mod tags;
mod tasks;
mod times;
mod totals;
mod units;
mod versions;
mod whole_rows;

use std::collections::HashSet;

use choose::Choice;
use local_agent_text::error::Result;
use parts::Part;
use question::{ParsedQuestion, QuestionKind, Term};
use rank::{Found, Ranked};
use units::Unit;

pub use calendar::Day;
pub(super) use draft::draft;
pub use draft::{Shown, ShownPiece};
pub(super) use note::{NoteSource, NoteText, Section};
pub use note::{named_day, stated_day};
pub use passage::PieceForm;
pub(super) use passage::{Passage, Piece};
pub use question::Operation;
pub(super) use question::Rarity;
pub(super) use rank::{Comparison, Meaning};
pub use totals::Computed;

/// The input for an extracted answer.
pub(super) struct Evidence<'a> {
    /// The notes that were found, with their current text, the best first.
    pub notes: Vec<NoteSource>,
    /// How common a stemmed term is in the whole index. Called only for terms of the question.
    pub rarity: &'a dyn Fn(&str) -> Rarity,
    /// Compares the question with texts, if a model is available.
    pub meaning: Option<&'a dyn Meaning>,
    /// Gets the notes for a name or a day that a first answer leads to.
    pub more: &'a dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
    /// The day on which the question is asked.
    pub today: Day,
}

/// Which additional notes are needed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Lookup<'a> {
    /// Notes with this name.
    Named(&'a str),
    /// Notes whose path contains one of these.
    InPath(&'a [String]),
    /// Notes with tasks.
    WithTasks,
    /// Notes with this tag, or one below it.
    Tagged(&'a str),
    /// At most this many notes in folders, or below them, whose name has this one stem.
    InFolder(&'a str, usize),
    /// At most this many notes, those to which most others link first.
    MostLinked(usize),
}

/// Additional notes.
#[derive(Debug, Default)]
pub(super) struct MoreNotes {
    pub notes: Vec<NoteSource>,
    /// How many there are. More than `notes` holds if there are too many to read.
    pub all: usize,
}

/// The extracted answer.
#[derive(Debug)]
pub(super) struct Extracted {
    pub notes: Vec<NoteText>,
    /// The passages to show, in order; empty if nothing was found.
    pub passages: Vec<Passage>,
    /// Whether they answer the question; otherwise they are only the closest.
    pub certain: bool,
    /// A value computed from them.
    pub computed: Option<Computed>,
    /// Additional information for the user: one or more plain sentences.
    pub why: Option<String>,
}

/// Extracts the answer to `question`. The same arguments give the same answer.
///
/// # Errors
/// Those of `meaning` and `more`.
pub(super) fn extract(question: &str, evidence: Evidence<'_>) -> Result<Extracted> {
    let Evidence {
        notes,
        rarity,
        meaning,
        more,
        today,
    } = evidence;
    let mut sources = notes;
    let asked = ParsedQuestion::read(question, today, rarity);
    if overview::is_asked(&asked)
        && let Some(extracted) = overview::extract(&asked, more)?
    {
        return Ok(extracted);
    }
    if let Some(extracted) = folder_notes::extract(&asked, more)? {
        return Ok(extracted);
    }
    let parts = match asked.kind {
        QuestionKind::Difference | QuestionKind::Summary => Vec::new(),
        _ => parts::of(question),
    };
    let mut questions: Vec<ParsedQuestion> = vec![asked.clone()];
    if parts.len() > 1 {
        let of_parts = parts.iter();
        questions.extend(of_parts.map(|part| ParsedQuestion::read(&part.text, today, rarity)));
    }
    let unread = add_asked(&mut sources, &questions, more)?;
    let read: fn(NoteSource) -> NoteText = match questions.iter().any(ParsedQuestion::is_computed) {
        true => NoteText::read_for_computing,
        false => NoteText::read,
    };
    let mut notes: Vec<NoteText> = sources.into_iter().map(read).collect();
    let units = match asked.kind {
        QuestionKind::Summary => units::of_notes(&notes),
        _ => add_named(&mut notes, &asked, read, more)?,
    };
    let found = Found {
        notes: &notes,
        units: &units,
    };
    let mut answer = match parts.as_slice() {
        [_, _] => in_parts(&parts, found, (rarity, meaning, today))?,
        _ => one(&rank::rank(asked, found, meaning)?),
    };
    if let Some(unread) = unread {
        answer.without_count(unread);
    }
    Ok(Extracted {
        passages: answer.choice.passages,
        certain: answer.choice.certain,
        computed: answer.computed,
        why: answer.why,
        notes,
    })
}

/// The sentence that says how many of the notes with these things were read, if not all of them.
fn unread_notes(read: usize, all: usize, things: &str) -> Option<String> {
    (read < all).then(|| format!("Only {read} of {all} notes with {things} were read."))
}

/// Adds the notes that the questions ask for by a day, a tag or tasks; gives the sentence that says
/// that not all notes with tasks, or with the tag, were read.
fn add_asked(
    sources: &mut Vec<NoteSource>,
    questions: &[ParsedQuestion],
    more: &dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
) -> Result<Option<String>> {
    for period in questions.iter().filter_map(ParsedQuestion::counted_days) {
        let days = days_in_paths(&period);
        add_new(sources, more(&Lookup::InPath(&days))?.notes);
    }
    for paths in questions.iter().map(newest::paths) {
        add_new(sources, more(&Lookup::InPath(&paths))?.notes);
    }
    let mut unread = None;
    if let Some(tag) = questions.iter().find_map(tags::asked) {
        let found = more(&Lookup::Tagged(tag))?;
        unread = unread_notes(found.notes.len(), found.all, "this tag");
        add_new(sources, found.notes);
    }
    if !questions.iter().any(ParsedQuestion::is_about_tasks) {
        return Ok(unread);
    }
    let found = more(&Lookup::WithTasks)?;
    let unread = unread.or_else(|| unread_notes(found.notes.len(), found.all, "tasks"));
    add_new(sources, found.notes);
    Ok(unread)
}

/// Adds the notes that two hops would need, found by a first pass without the model. Gives the units
/// of all notes.
fn add_named(
    notes: &mut Vec<NoteText>,
    asked: &ParsedQuestion,
    read: fn(NoteSource) -> NoteText,
    more: &dyn Fn(&Lookup<'_>) -> Result<MoreNotes>,
) -> Result<Vec<Unit>> {
    let units = units::of_notes(notes);
    let found = Found {
        notes,
        units: &units,
    };
    let first = rank::rank(asked.clone(), found, None)?;
    let leads = hops::leads(&first);
    let names: Vec<String> = hops::unknown(first.found, &leads)
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut new = Vec::new();
    for name in &names {
        new.extend(more(&Lookup::Named(name))?.notes.into_iter().map(read));
    }
    new.retain(|new| {
        !is_known_note(notes, new) && names.iter().any(|name| hops::is_called(new, name))
    });
    if new.is_empty() {
        return Ok(units);
    }
    notes.extend(new);
    Ok(units::of_notes(notes))
}

/// Whether the search had already found the note.
fn is_known_note(notes: &[NoteText], new: &NoteText) -> bool {
    notes
        .iter()
        .any(|n| n.path == new.path && n.source == new.source)
}

/// The answer to one question.
struct Single {
    choice: Choice,
    computed: Option<Computed>,
    why: Option<String>,
}

impl Single {
    /// Removes a count and says why there is none.
    fn without_count(&mut self, why: String) {
        let counts = |computed: &Computed| computed.operation == Operation::Count;
        self.computed = self.computed.take().filter(|computed| !counts(computed));
        self.why = Some(with_sentence(self.why.take(), why));
    }
}

/// The text with one more sentence.
fn with_sentence(text: Option<String>, sentence: String) -> String {
    match text {
        Some(text) => format!("{text} {sentence}"),
        None => sentence,
    }
}

impl From<Choice> for Single {
    fn from(choice: Choice) -> Self {
        Self {
            why: choice.cut.clone(),
            choice,
            computed: None,
        }
    }
}

impl From<(Computed, Vec<Passage>)> for Single {
    fn from((computed, passages): (Computed, Vec<Passage>)) -> Self {
        Self {
            choice: Choice::certain(passages),
            computed: Some(computed),
            why: None,
        }
    }
}

/// The answer to a question of one part.
fn one(ranked: &Ranked<'_>) -> Single {
    if let Some(answer) = status::choose(ranked) {
        return answer;
    }
    if let Some((computed, choice)) = tags::choose(ranked) {
        return Single {
            computed,
            ..Single::from(choice)
        };
    }
    if let Some(choice) = conditions::choose(ranked) {
        return choice.into();
    }
    if let Some(gap) = gaps::choose(ranked) {
        return gap.into();
    }
    if let Some(answer) = by_kind(ranked) {
        return answer;
    }
    let may_hop = !matches!(
        ranked.question.kind,
        QuestionKind::Steps | QuestionKind::List | QuestionKind::Summary
    );
    if may_hop
        && ranked.question.names_relation()
        && let Some(choice) = hops::choose(ranked, &hops::leads(ranked))
    {
        return choice.into();
    }
    if let Some(choice) = properties::attribute(ranked) {
        return choice.into();
    }
    choose::choose(ranked).into()
}

/// What only questions of this kind are answered with.
fn by_kind(ranked: &Ranked<'_>) -> Option<Single> {
    let question = &ranked.question;
    match question.kind {
        QuestionKind::Summary => Some(Single {
            why: Some(SKELETON.to_owned()),
            ..Single::from(summary::choose(ranked)?)
        }),
        QuestionKind::Tasks => tasks::choose(ranked).map(Single::from),
        QuestionKind::List => properties::choose(ranked).map(Single::from),
        QuestionKind::Total(_) if question.counts_tasks() => counted_tasks(ranked),
        QuestionKind::Total(operation) => totals::compute(ranked, operation).map(Single::from),
        QuestionKind::Fact if question.is_about_spending() => {
            totals::spending(ranked).map(Single::from)
        }
        QuestionKind::Fact if question.asks_how_much() => {
            totals::several_rows(ranked).map(Single::from)
        }
        _ => None,
    }
}

/// What is said of a summary without a chat model.
const SKELETON: &str = "These are the note's own headings and first sentences; without a chat model \
                        nothing is put into other words.";

/// The tasks that the question counts, with their number if it is certain.
fn counted_tasks(ranked: &Ranked<'_>) -> Option<Single> {
    let tasks::CountedTasks { choice, computed } = tasks::count(ranked)?;
    Some(Single {
        computed,
        ..Single::from(choice)
    })
}

/// The rarity of terms, the model and the day for one question.
type Means<'a> = (&'a dyn Fn(&str) -> Rarity, Option<&'a dyn Meaning>, Day);

/// The bonus for units of the first part's note or section, if the second part refers to its
/// subject.
const SAME_NOTE: f32 = 0.15;

/// Answers both parts, and names the parts without an answer.
fn in_parts(parts: &[Part], found: Found<'_>, means: Means<'_>) -> Result<Single> {
    let (rarity, meaning, today) = means;
    let mut passages: Vec<Passage> = Vec::new();
    let mut missing = Vec::new();
    let mut closest = Vec::new();
    let mut computed = None;
    let mut why: Vec<String> = Vec::new();
    for part in parts {
        let first = passages.first().filter(|_| part.follows);
        let subject = match first {
            Some(first) => subject_of(question_of(parts, means), found, first),
            // "It" is what the first part asks about, even if nothing answers that part.
            None if part.follows => question_of(parts, means).map(|question| question.terms),
            None => None,
        };
        let whole = subject.as_ref().and_then(|subject| {
            let written: Vec<&str> = subject.iter().map(|t| t.word.as_str()).collect();
            parts::with_subject(&part.text, &written.join(" "))
        });
        let text = whole.as_ref().unwrap_or(&part.text);
        let mut ranked = rank::rank(ParsedQuestion::read(text, today, rarity), found, meaning)?;
        if let Some(first) = first {
            prefer_note(&mut ranked, first.note);
        }
        let answer = one(&ranked);
        let subject = subject.filter(|_| whole.is_some()).unwrap_or_default();
        if answer.choice.certain && is_about(&answer.choice, found, &subject) {
            let new = answer.choice.passages.into_iter();
            let new: Vec<Passage> = new.filter(|p| !is_shown(&passages, p)).collect();
            passages.extend(new);
            why.extend(answer.why);
            match computed {
                None => computed = answer.computed,
                Some(_) if answer.computed.is_some() => why.push(format!(
                    "One value is computed for a question; ask “{}” alone.",
                    without_mark(&part.text)
                )),
                Some(_) => {}
            }
        } else {
            missing.push(without_mark(&part.text).to_owned());
            closest.extend(answer.choice.passages);
        }
    }
    if passages.is_empty() {
        closest.truncate(3);
        return Ok(Choice {
            passages: closest,
            certain: false,
            cut: None,
        }
        .into());
    }
    if !missing.is_empty() {
        let named: Vec<String> = missing.iter().map(|m| format!("“{m}”")).collect();
        let named = named.join(" and ");
        why.push(format!("No sentence was found that answers {named}."));
    }
    Ok(Single {
        choice: Choice::certain(passages),
        computed,
        why: (!why.is_empty()).then(|| why.join(" ")),
    })
}

/// The first part as a question.
fn question_of(parts: &[Part], (rarity, _, today): Means<'_>) -> Option<ParsedQuestion> {
    let first = parts.first()?;
    Some(ParsedQuestion::read(&first.text, today, rarity))
}

/// The words of a question that name the note of its answer; `None` if there are none.
fn subject_of(
    question: Option<ParsedQuestion>,
    found: Found<'_>,
    answer: &Passage,
) -> Option<Vec<Term>> {
    let names = &found.notes.get(answer.note)?.names;
    let names = rows::stems_of(&names.join("\n"));
    let terms = question?.terms.into_iter();
    let named: Vec<Term> = terms.filter(|t| names.contains(&t.stem)).collect();
    (!named.is_empty()).then_some(named)
}

/// Whether the first passage of an answer, its headings or the names of its note have every word of
/// the subject.
fn is_about(choice: &Choice, found: Found<'_>, subject: &[Term]) -> bool {
    let Some(passage) = choice.passages.first() else {
        return true;
    };
    let Some(note) = found.notes.get(passage.note) else {
        return true;
    };
    let mut said = rows::stems_of(&note.names.join("\n"));
    for piece in &passage.pieces {
        said.extend(rows::stems_of(note.slice(&piece.span)));
        let section = note.sections.get(note.section_at(piece.span.start));
        said.extend(section.map_or_else(HashSet::new, |section| {
            rows::stems_of(&section.heading.to_string())
        }));
    }
    subject.iter().all(|t| score::covers(&said, t) > 0.0)
}

/// A question without the mark at its end.
fn without_mark(question: &str) -> &str {
    question.trim_end_matches(['?', '？', ' '])
}

/// Whether other passages show all of this one.
fn is_shown(passages: &[Passage], p: &Passage) -> bool {
    p.pieces.iter().all(|piece| {
        passages
            .iter()
            .any(|other| other.shows(p.note, &piece.span))
    })
}

/// Puts the units of one note first if they fit nearly as well.
fn prefer_note(ranked: &mut Ranked<'_>, note: usize) {
    let units = ranked.found.units;
    for candidate in &mut ranked.order {
        if units.get(candidate.index).is_some_and(|u| u.note == note) {
            candidate.score += SAME_NOTE;
            candidate.features.covered = (candidate.features.covered + SAME_NOTE).min(1.0);
        }
    }
    ranked.order.sort_by(|a, b| {
        let by_score = b.score.total_cmp(&a.score);
        by_score.then(a.index.cmp(&b.index))
    });
}

/// Maximum number of days of a question's period that are searched one by one.
const MOST_DAYS: i64 = 14;

/// The days of a period as they are written in paths: each day, or the months of a longer period.
fn days_in_paths(period: &calendar::Period) -> Vec<String> {
    let (first, last) = (period.first.number(), period.last.number());
    if last - first < MOST_DAYS {
        return (first..=last)
            .map(|day| Day::from_number(day).to_string())
            .collect();
    }
    let mut months: Vec<String> = (first..=last).map(month_in_path).collect();
    months.dedup();
    months.truncate(12);
    months
}

/// The month of a day as paths of daily notes name it.
fn month_in_path(day: i64) -> String {
    let day = Day::from_number(day);
    format!("{:04}-{:02}-", day.year, day.month)
}

fn add_new(sources: &mut Vec<NoteSource>, more: Vec<NoteSource>) {
    for new in more {
        let known = sources
            .iter()
            .any(|s| s.path == new.path && s.source == new.source);
        if !known {
            sources.push(new);
        }
    }
}

#[cfg(test)]
mod selection_tests;
#[cfg(test)]
mod tests;
