//! Finds open or completed tasks.

use super::calendar;
use super::choose::Choice;
use super::cues;
use super::passage::{self, Passage};
use super::rank::Ranked;
use super::score::Credits;
use super::units::Unit;

/// A task matches if it, its headings and its note together cover this share of the question.
const BELONGS: f32 = 0.5;
/// Maximum number of tasks that are shown.
const MOST: usize = 40;

/// The tasks that a question asks for, by note, and the number of their notes; `None` if no task
/// matches.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let chosen = matching(ranked);
    let mut out: Vec<Passage> = Vec::new();
    for index in chosen.into_iter().take(MOST) {
        let unit = ranked.unit(index)?;
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
    (!out.is_empty()).then(|| Choice::certain(out))
}

/// The first sentences of the tasks that the question asks for, those of the best note first.
pub(super) fn matching(ranked: &Ranked<'_>) -> Vec<usize> {
    let lower = ranked.question.text.to_lowercase();
    let done = cues::DONE.are_in(&lower);
    let overdue = cues::OVERDUE.are_in(&lower);
    let due = cues::DUE.are_in(&lower);
    let dated = ranked.question.period.is_some();
    let asked: Vec<bool> = ranked
        .question
        .terms
        .iter()
        .map(|t| t.word.to_lowercase())
        .map(|word| !(cues::holds(cues::TASK_WORDS, &word) || dated && is_of_date(&word)))
        .collect();
    let wanted = WantedTasks {
        ranked,
        asked,
        overdue,
        due,
    };
    let mut chosen: Vec<(usize, &Unit)> = ranked
        .found
        .units
        .iter()
        .enumerate()
        .filter(|(_, u)| u.task == Some(done) && u.before.is_none() && u.sayable)
        .filter(|(i, u)| wanted.holds(*i, u))
        .collect();
    // Notes in search order; tasks in file order.
    chosen.sort_by_key(|(i, u)| (note_order(ranked, u), u.note, *i));
    chosen.into_iter().map(|(i, _)| i).collect()
}

/// Which tasks a question asks for.
struct WantedTasks<'r, 'a> {
    ranked: &'r Ranked<'a>,
    /// For each term of the question, whether it says what the tasks are about.
    asked: Vec<bool>,
    /// Whether the question asks for tasks whose day has passed.
    overdue: bool,
    /// Whether the question is about the days by which tasks must be done.
    due: bool,
}

impl WantedTasks<'_, '_> {
    /// Whether the question asks for this task.
    fn holds(&self, index: usize, unit: &Unit) -> bool {
        let question = &self.ranked.question;
        let credits = Credits::of(question, self.ranked.found.units, index);
        let total = self.weigh(&vec![1.0; question.terms.len()]);
        let named = question.terms.iter().zip(&credits.all);
        let lacks_name = named.into_iter().any(|(t, c)| t.is_name && *c == 0.0);
        let is_late = !self.overdue
            || calendar::latest(&unit.plain).is_some_and(|day| day.day > 0 && day < question.today);
        self.is_in_time(unit)
            && is_late
            && !lacks_name
            && (total <= 0.0 || self.weigh(&credits.all) >= BELONGS * total)
    }

    /// Whether the task is in the period of the question, if it has one.
    fn is_in_time(&self, unit: &Unit) -> bool {
        let of_day = match self.due {
            true => calendar::latest(&unit.plain),
            false => unit.date,
        };
        match (self.ranked.question.period, of_day) {
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

/// The sort key that puts better notes first, in thousandths of a score.
fn note_order(ranked: &Ranked<'_>, u: &Unit) -> std::cmp::Reverse<i64> {
    let of = chosen_score(ranked, u.note);
    std::cmp::Reverse((of * 1000.0) as i64)
}

/// Whether a word is part of a date.
fn is_of_date(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit()) || cues::month(word).is_some()
}

fn chosen_score(ranked: &Ranked<'_>, note: usize) -> f32 {
    let of_note = ranked
        .order
        .iter()
        .filter(|c| ranked.unit(c.index).is_some_and(|u| u.note == note));
    of_note.map(|c| c.score).fold(0.0, f32::max)
}

/// The number of tasks that the question asks for, and the passages that show them.
pub(super) fn count(ranked: &Ranked<'_>) -> Option<(usize, Vec<Passage>)> {
    let number = matching(ranked).len();
    let choice = choose(ranked)?;
    Some((number, choice.passages))
}

/// Whether the question counts tasks.
pub(super) fn are_counted(ranked: &Ranked<'_>) -> bool {
    let mut terms = ranked.question.terms.iter();
    terms.any(|t| score_is_task(&t.word))
}

fn score_is_task(word: &str) -> bool {
    let lower = word.to_lowercase();
    [
        "task",
        "tasks",
        "todo",
        "todos",
        "aufgabe",
        "aufgaben",
        "tâches",
        "tareas",
        "задачи",
    ]
    .contains(&lower.as_str())
}
