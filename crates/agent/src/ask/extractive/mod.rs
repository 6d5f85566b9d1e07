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
//! | `constraints`, `calendar` | the time or number that the answer must have |
//! | `note` | the current content of a file: properties, sections, blocks, date |
//! | `units` | quotable units: sentences, items, rows, properties, each with its context |
//! | `score`, `rank` | rate how well each unit answers the question |
//! | `confidence` | decides whether the best unit is good enough to be shown as the answer |
//! | `passage` | the text shown around a unit |
//! | `choose` | chooses the passages of the answer |
//! | `steps`, `lists`, `sides`, `times`, `tasks`, `totals`, `hops`, `summary`, `properties` | one kind of question each |
//! | `amounts` | exact arithmetic |
//! | `draft` | passages → a draft over a snapshot that contains them |
//! | `cues` | function words and question words |
//! | `synonyms` | everyday words that mean the same |

mod amounts;
mod calendar;
mod choose;
mod confidence;
mod constraints;
mod cues;
mod draft;
mod hops;
mod lists;
mod note;
mod parts;
mod passage;
mod properties;
mod question;
mod rank;
mod score;
mod sides;
mod steps;
mod summary;
mod synonyms;
mod tasks;
mod times;
mod totals;
mod units;

use choose::Choice;
use local_agent_text::error::Result;
use note::NoteText;
use parts::Part;
use passage::Passage;
use question::{ParsedQuestion, QuestionKind};
use rank::{Found, Ranked};

pub use calendar::Day;
pub(super) use draft::draft;
pub use draft::{Shown, ShownPiece};
pub(super) use note::NoteSource;
pub use note::{named_day, stated_day};
pub use passage::PieceForm;
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
    pub more: &'a dyn Fn(&Lookup<'_>) -> Result<Vec<NoteSource>>,
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
    /// Notes with open tasks.
    WithTasks,
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
    if let Some(period) = asked.period {
        let days = days_in_paths(&period);
        add_new(&mut sources, more(&Lookup::InPath(&days))?);
    }
    if asked.is_about_all_tasks() {
        add_new(&mut sources, more(&Lookup::WithTasks)?);
    }
    let mut notes: Vec<NoteText> = sources.into_iter().map(NoteText::read).collect();
    let mut units = units::of_notes(&notes);
    if asked.kind != QuestionKind::Summary {
        // A first pass, without the model, to find the notes that two hops would need.
        let first = rank::rank(
            asked.clone(),
            Found {
                notes: &notes,
                units: &units,
            },
            None,
        )?;
        let leads = hops::leads(&first);
        let names: Vec<String> = hops::unknown(first.found, &leads)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let mut found = Vec::new();
        for name in &names {
            let new = more(&Lookup::Named(name))?;
            found.extend(new.into_iter().map(NoteText::read));
        }
        found.retain(|new| {
            !is_known_note(&notes, new) && names.iter().any(|name| hops::is_called(new, name))
        });
        if !found.is_empty() {
            notes.extend(found);
            units = units::of_notes(&notes);
        }
    }
    let found = Found {
        notes: &notes,
        units: &units,
    };
    let parts = match asked.kind {
        QuestionKind::Difference | QuestionKind::Summary => Vec::new(),
        _ => parts::of(question),
    };
    let answer = match parts.as_slice() {
        [_, _] => in_parts(&parts, found, (rarity, meaning, today))?,
        _ => one(&rank::rank(asked, found, meaning)?),
    };
    Ok(Extracted {
        passages: answer.choice.passages,
        certain: answer.choice.certain,
        computed: answer.computed,
        why: answer.why,
        notes,
    })
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

impl From<Choice> for Single {
    fn from(choice: Choice) -> Self {
        Self {
            choice,
            computed: None,
            why: None,
        }
    }
}

fn one(ranked: &Ranked<'_>) -> Single {
    match ranked.question.kind {
        QuestionKind::Summary => {
            if let Some(choice) = summary::choose(ranked) {
                let why = "These are the note's own headings and first sentences; without a chat model \
                           nothing is put into other words.";
                return Single {
                    choice,
                    computed: None,
                    why: Some(why.to_owned()),
                };
            }
        }
        QuestionKind::Tasks => {
            if let Some(choice) = tasks::choose(ranked) {
                return choice.into();
            }
        }
        QuestionKind::List => {
            if let Some(choice) = properties::choose(ranked) {
                return choice.into();
            }
        }
        QuestionKind::Total(operation) => {
            if let Some((computed, passages)) = totals::compute(ranked, operation) {
                return Single {
                    choice: Choice::certain(passages),
                    computed: Some(computed),
                    why: None,
                };
            }
        }
        QuestionKind::Fact if ranked.question.is_about_spending() => {
            if let Some((computed, passages)) = totals::spending(ranked) {
                return Single {
                    choice: Choice::certain(passages),
                    computed: Some(computed),
                    why: None,
                };
            }
        }
        _ => {}
    }
    if !matches!(
        ranked.question.kind,
        QuestionKind::Steps | QuestionKind::List | QuestionKind::Summary
    ) && let Some(choice) = hops::choose(ranked, &hops::leads(ranked))
    {
        return choice.into();
    }
    choose::choose(ranked).into()
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
    for part in parts {
        let question = ParsedQuestion::read(&part.text, today, rarity);
        let mut ranked = rank::rank(question, found, meaning)?;
        if let Some(first) = passages.first().filter(|_| part.follows) {
            prefer_note(&mut ranked, first.note);
        }
        let answer = one(&ranked);
        if answer.choice.certain {
            let new = answer.choice.passages.into_iter();
            let new: Vec<Passage> = new.filter(|p| !is_shown(&passages, p)).collect();
            passages.extend(new);
            computed = computed.or(answer.computed);
        } else {
            missing.push(part.text.trim_end_matches(['?', '？', ' ']).to_owned());
            closest.extend(answer.choice.passages);
        }
    }
    if passages.is_empty() {
        closest.truncate(3);
        return Ok(Choice {
            passages: closest,
            certain: false,
        }
        .into());
    }
    let why = (!missing.is_empty()).then(|| {
        let named: Vec<String> = missing.iter().map(|m| format!("“{m}”")).collect();
        format!(
            "No sentence was found that answers {}.",
            named.join(" and ")
        )
    });
    Ok(Single {
        choice: Choice::certain(passages),
        computed,
        why,
    })
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
mod tests;
