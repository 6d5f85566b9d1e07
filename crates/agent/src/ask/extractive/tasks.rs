//! Finds open or completed tasks.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::calendar::{self, Period};
use super::choose::Choice;
use super::cues;
use super::passage::{self, Passage};
use super::periods;
use super::rank::Ranked;
use super::score::Credits;
use super::totals::{self, Computed};
use super::units::Unit;

/// A task matches if it, its headings and its note together cover this share of the question.
const BELONGS: f32 = 0.5;
/// Maximum number of tasks that are shown.
const MOST: usize = 40;

/// The tasks that a question asks for, by note; `None` if no task matches.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let chosen: Vec<usize> = matching(ranked).into_iter().map(|task| task.unit).collect();
    shown(ranked, &chosen)
}

/// The passages that show the tasks, at most [`MOST`] of them.
fn shown(ranked: &Ranked<'_>, chosen: &[usize]) -> Option<Choice> {
    let mut out: Vec<Passage> = Vec::new();
    for index in chosen.iter().take(MOST) {
        let unit = ranked.unit(*index)?;
        let note = ranked.found.note_of(unit)?;
        let piece = passage::piece(note, unit);
        match out.iter_mut().find(|p| p.note == unit.note) {
            Some(passage) => passage.pieces.push(piece),
            None => {
                let mut passage = Passage::new(unit.note, vec![piece]);
                passage.date = note.date;
                out.push(passage);
            }
        }
    }
    let counts = (chosen.len().min(MOST), chosen.len());
    (!out.is_empty()).then(|| Choice::part_of(out, counts, "tasks"))
}

/// A task that the question asks for.
struct MatchingTask {
    /// Its first sentence.
    unit: usize,
    /// Whether it has every word of the question, not only enough of them.
    has_every_word: bool,
}

/// The tasks that the question asks for, those of the best note first. A task of a note that the
/// search did not find must have every word of the question.
fn matching(ranked: &Ranked<'_>) -> Vec<MatchingTask> {
    let lower = ranked.question.text.to_lowercase();
    let done = asks_for_completed(&lower);
    let overdue = cues::OVERDUE.are_in(&lower);
    let due = cues::DUE.are_in(&lower);
    let question = &ranked.question;
    let month = || periods::month_without_year(&question.text, question.today);
    let period = question.period.or_else(month);
    let dated = period.is_some();
    let asked: Vec<bool> = ranked
        .question
        .terms
        .iter()
        .map(|t| t.word.to_lowercase())
        .map(|word| !(says_tasks(&word) || dated && is_of_date(&word)))
        .collect();
    let wanted = WantedTasks {
        ranked,
        asked,
        period,
        overdue,
        due,
    };
    let units = ranked.found.units.iter().enumerate();
    let mut chosen: Vec<(usize, &Unit, bool)> = units
        .filter(|(_, u)| u.task == Some(done) && u.before.is_none() && u.sayable)
        .filter_map(|(i, u)| Some((i, u, wanted.has_every_word(i, u)?)))
        .collect();
    // Notes in search order; tasks in file order.
    let scores = best_scores(ranked);
    chosen.sort_by_key(|(i, u, _)| (Reverse(scores.get(u.note).copied()), u.note, *i));
    let tasks = chosen.into_iter();
    tasks
        .map(|(unit, _, has_every_word)| MatchingTask {
            unit,
            has_every_word,
        })
        .collect()
}

/// Whether the question asks for tasks that are completed.
fn asks_for_completed(lower: &str) -> bool {
    cues::DONE.are_in(lower) && !cues::NOT_DONE.are_in(lower)
}

/// Which tasks a question asks for.
struct WantedTasks<'r, 'a> {
    ranked: &'r Ranked<'a>,
    /// For each term of the question, whether it says what the tasks are about.
    asked: Vec<bool>,
    /// The days that the question names.
    period: Option<Period>,
    /// Whether the question asks for tasks whose day has passed.
    overdue: bool,
    /// Whether the question is about the days by which tasks must be done.
    due: bool,
}

impl WantedTasks<'_, '_> {
    /// Whether this task has every word of the question; `None` if the question does not ask for
    /// it.
    fn has_every_word(&self, index: usize, unit: &Unit) -> Option<bool> {
        let question = &self.ranked.question;
        let credits = Credits::of(question, self.ranked.found.units, index);
        let total = self.weigh(&vec![1.0; question.terms.len()]);
        let named = question.terms.iter().zip(&credits.all).zip(&self.asked);
        let lacks_name = named
            .into_iter()
            .any(|((term, credit), asked)| *asked && term.is_name && *credit == 0.0);
        let is_late = !self.overdue
            || calendar::latest(&unit.plain).is_some_and(|day| day.day > 0 && day < question.today);
        let asked = credits.all.iter().zip(&self.asked);
        let every = asked
            .filter(|(_, asked)| **asked)
            .all(|(credit, _)| *credit > 0.0);
        let note = self.ranked.found.note_of(unit)?;
        let enough = every || !note.hits.is_empty() && self.weigh(&credits.all) >= BELONGS * total;
        (self.is_in_time(unit) && is_late && !lacks_name && enough).then_some(every)
    }

    /// Whether the task is in the period of the question, if it has one.
    fn is_in_time(&self, unit: &Unit) -> bool {
        let of_day = match self.due {
            true => calendar::latest(&unit.plain),
            false => unit.date,
        };
        match (self.period, of_day) {
            (Some(period), Some(day)) => period.holds(day),
            (Some(_), None) => false,
            (None, _) => true,
        }
    }

    /// The weight of the terms that say what the tasks are about, as far as they are credited.
    fn weigh(&self, credits: &[f32]) -> f32 {
        let terms = self.ranked.question.terms.iter();
        let terms = terms.zip(credits).zip(&self.asked);
        terms
            .filter(|(_, asked)| **asked)
            .map(|((t, c), _)| t.weight * c)
            .sum()
    }
}

/// The best score of each note, in thousandths.
fn best_scores(ranked: &Ranked<'_>) -> Vec<i64> {
    let mut best = vec![0; ranked.found.notes.len()];
    for candidate in &ranked.order {
        let note = ranked.unit(candidate.index).map(|unit| unit.note);
        if let Some(slot) = note.and_then(|note| best.get_mut(note)) {
            *slot = (*slot).max((candidate.score * 1000.0) as i64);
        }
    }
    best
}

/// Whether a word does not say which tasks are meant.
fn says_tasks(word: &str) -> bool {
    let mut sums = cues::SUM.spaced().split([' ', '|']);
    cues::holds(cues::TASK_WORDS, word) || sums.any(|sum| sum == word)
}

/// Whether a word is part of a date, or of words such as "this week".
fn is_of_date(word: &str) -> bool {
    let relative = cues::RELATIVE_TIMES.iter();
    let mut relative = relative.flat_map(|cue| cue.spaced().split([' ', '|']));
    word.chars().all(|c| c.is_ascii_digit())
        || cues::month(word).is_some()
        || relative.any(|part| part == word)
}

/// The tasks that a question counts.
pub(super) struct CountedTasks {
    /// The tasks.
    pub choice: Choice,
    /// Their number; `None` if it is not certain that these are all.
    pub computed: Option<Computed>,
}

/// The tasks that the question counts: those with every word of it. There is no number when a task
/// has only some of the words, the question's time is not clear, or a note was not read whole.
/// `None` if no task matches.
pub(super) fn count(ranked: &Ranked<'_>) -> Option<CountedTasks> {
    let all = matching(ranked);
    let of_every_word: Vec<usize> = all
        .iter()
        .filter(|task| task.has_every_word)
        .map(|task| task.unit)
        .collect();
    let is_whole = ranked.found.notes.iter().all(|note| note.is_whole);
    if of_every_word.is_empty() || ranked.question.has_unclear_time || !is_whole {
        let chosen: Vec<usize> = all.iter().map(|task| task.unit).collect();
        return Some(CountedTasks {
            choice: shown(ranked, &chosen)?,
            computed: None,
        });
    }
    let units = of_every_word.iter().filter_map(|i| ranked.unit(*i));
    let notes: BTreeSet<usize> = units.map(|unit| unit.note).collect();
    let lower = ranked.question.text.to_lowercase();
    let kind = match (asks_for_completed(&lower), cues::OVERDUE.are_in(&lower)) {
        (true, _) => "completed",
        (false, true) => "overdue",
        (false, false) => "open",
    };
    let number = of_every_word.len();
    let noun = if number == 1 { "task" } else { "tasks" };
    Some(CountedTasks {
        choice: shown(ranked, &of_every_word)?,
        computed: Some(totals::counted(
            number,
            &format!("{kind} {noun}"),
            notes.len(),
        )),
    })
}
