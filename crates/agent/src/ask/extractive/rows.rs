//! Selects the rows of a table that a question means.
//!
//! A word of the header, or above the table, does not tell one row from another. A condition that no
//! column can decide leaves the rows open, and then nothing is computed from them.

use std::collections::HashSet;

use super::calendar::{self, Period};
use super::conditions;
use super::confidence;
use super::cues;
use super::passage;
use super::periods;
use super::question::{Operation, ParsedQuestion, QuestionKind, Term};
use super::rank::{Candidate, Found, Ranked};
use super::score;
use super::units::{Form, Unit};

/// The rows that meet the conditions of the question that a column decides.
pub(super) struct MatchingRows {
    pub rows: Vec<usize>,
    /// Whether a column decided anything.
    pub is_decided: bool,
    /// The stems of the question's words that were used.
    used: HashSet<String>,
}

/// The cells of a row.
pub(super) fn cells(unit: &Unit) -> Vec<&str> {
    unit.plain.split('|').map(str::trim).collect()
}

/// The text of a cell.
pub(super) fn cell_at(found: Found<'_>, row: usize, column: usize) -> Option<&str> {
    cells(found.unit(row)?).get(column).copied()
}

/// Whether a row contains the term.
pub(super) fn is_in_row(found: Found<'_>, i: usize, t: &Term) -> bool {
    found
        .unit(i)
        .is_some_and(|u| score::covers(&u.stems, t) > 0.0)
}

/// The stems of a text.
pub(super) fn stems_of(text: &str) -> HashSet<String> {
    local_agent_index::lexical::terms(text)
        .into_iter()
        .collect()
}

/// The rows that have what the question asks for in a column of yes and no, in a column of few
/// values such as a status, or in a column of amounts; all rows if no column decides anything. `None` if the question has a
/// "not" that no column decides.
pub(super) fn matching(
    ranked: &Ranked<'_>,
    names: &[&str],
    all: Vec<usize>,
) -> Option<MatchingRows> {
    let lower = ranked.question.text.to_lowercase();
    let is_negated = cues::negates(&lower);
    let mut out = MatchingRows {
        rows: all.clone(),
        is_decided: false,
        used: HashSet::new(),
    };
    let asked = stems_of(&lower);
    let mut is_open = is_negated;
    for (at, name) in names.iter().enumerate() {
        let stems = stems_of(name);
        let is_asked = !stems.is_empty() && stems.is_subset(&asked);
        if is_asked && is_of_yes_and_no(ranked.found, &all, at) {
            out.rows
                .retain(|row| says_yes(ranked.found, *row, at) != is_negated);
            out.used.extend(stems);
            out.is_decided = true;
            is_open = false;
        }
    }
    for (at, name) in names.iter().enumerate() {
        let values = asked_values(ranked, (name, at), &all);
        if values.is_empty() {
            continue;
        }
        let is_not = is_open && is_status(name);
        out.rows
            .retain(|row| has_value(ranked.found, (*row, at), &values, is_not));
        out.used
            .extend(values.iter().flat_map(|value| stems_of(value)));
        out.is_decided = true;
        is_open &= !is_not;
    }
    for condition in &ranked.question.conditions {
        let Some((rows, at)) = conditions::decide(ranked, names, &all, condition) else {
            continue;
        };
        out.rows.retain(|row| rows.contains(row));
        out.used.extend(condition.stems());
        out.used.extend(stems_of(names.get(at).unwrap_or(&"")));
        out.is_decided = true;
    }
    (!is_open).then_some(out)
}

/// Whether a row has one of the values in a column; with `is_not`, whether it has another one.
fn has_value(
    found: Found<'_>,
    (row, column): (usize, usize),
    values: &[String],
    is_not: bool,
) -> bool {
    let cell = cell_at(found, row, column).map(spaced).unwrap_or_default();
    match is_not {
        true => !cell.is_empty() && !values.contains(&cell),
        false => values.contains(&cell),
    }
}

/// The words of a cell in lower case, with one space between them.
fn spaced(cell: &str) -> String {
    let lower = cell.to_lowercase();
    cues::split(&lower).collect::<Vec<_>>().join(" ")
}

/// Whether the filled cells of a column, at least one, say only yes or no.
fn is_of_yes_and_no(found: Found<'_>, rows: &[usize], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| cell_at(found, *row, column));
    let mut filled = cells.filter(|cell| !cell.is_empty()).peekable();
    filled.peek().is_some() && filled.all(|cell| cues::yes_or_no(cell).is_some())
}

/// Whether a cell says yes; an empty one does not.
fn says_yes(found: Found<'_>, row: usize, column: usize) -> bool {
    let cell = cell_at(found, row, column);
    cell.and_then(cues::yes_or_no).unwrap_or(false)
}

/// Whether a column has a name for the state of a thing.
fn is_status(name: &str) -> bool {
    let lower = name.to_lowercase();
    cues::split(&lower).any(|word| cues::holds(cues::STATUS_KEYS, word))
}

/// The values of a column of states, or of one in which values recur, that the question names
/// completely; the longest of those that contain each other ("to read", not "read").
fn asked_values(ranked: &Ranked<'_>, (name, column): (&str, usize), rows: &[usize]) -> Vec<String> {
    let cells = rows
        .iter()
        .filter_map(|row| cell_at(ranked.found, *row, column));
    let all: Vec<String> = cells.map(spaced).filter(|cell| !cell.is_empty()).collect();
    let distinct: HashSet<&String> = all.iter().collect();
    if distinct.len() == all.len() && !is_status(name) {
        return Vec::new();
    }
    let note = rows.first().and_then(|row| ranked.found.unit(*row));
    let note = note.and_then(|unit| ranked.found.note_of(unit));
    let mut asked = format!(" {} ", spaced(&ranked.question.text));
    // "The reading list" names the note and not the books with the status "reading".
    for name in note.into_iter().flat_map(|note| &note.names) {
        asked = asked.replace(&format!(" {} ", spaced(name)), " | ");
    }
    let is_asked = |value: &&&String| {
        let words = ranked.question.terms.iter().map(|t| t.word.to_lowercase());
        let mut words = words.filter(|word| word.contains(char::is_alphabetic));
        asked.contains(&format!(" {value} "))
            && words.any(|word| cues::split(value).any(|w| w == word))
    };
    let mut values: Vec<String> = distinct
        .iter()
        .filter(is_asked)
        .map(|v| (*v).clone())
        .collect();
    let longest = values.clone();
    values.retain(|value| {
        let mut others = longest.iter().filter(|other| *other != value);
        !others.any(|other| format!(" {other} ").contains(&format!(" {value} ")))
    });
    values.sort();
    values
}

/// The rows that the question means; `None` if it has a condition that the table does not decide.
/// Rows for another time than the question's are excluded.
pub(super) fn asked(ranked: &Ranked<'_>, names: &[&str], all: Vec<usize>) -> Option<Vec<usize>> {
    let found = ranked.found;
    let question = &ranked.question;
    let month = || periods::month_without_year(&question.text, question.today);
    let period = match are_dated(found, &all) {
        true => question.period.or_else(month),
        false => question.period,
    };
    let dates = match period.is_some() && are_dated(found, &all) {
        // The period already says which of the dated rows are meant.
        true => periods::date_words(&question.text),
        false => HashSet::new(),
    };
    let matching = matching(ranked, names, all.clone())?;
    let header = stems_of(&names.join(" "));
    let place = all.first().and_then(|i| found.unit(*i)).map(|u| &u.place);
    let is_open = |t: &&Term| {
        !matching.used.contains(&t.stem)
            && !dates.contains(&t.word.to_lowercase())
            && score::covers(&header, t) == 0.0
            && !place.is_some_and(|p| score::covers(&p.stems, t) > 0.0)
    };
    let open: Vec<&Term> = ranked.question.terms.iter().filter(is_open).collect();
    // In a question for an amount, other words than conditions are left: "how much did it go for?"
    let counts = question.kind == QuestionKind::Total(Operation::Count);
    if counts && open.iter().any(|t| is_nowhere(ranked, &all, t)) {
        return None;
    }
    let deciding: Vec<&Term> = open
        .into_iter()
        .filter(|t| {
            let rows = all.iter().filter(|i| is_in_row(found, **i, t)).count();
            rows > 0 && rows < all.len()
        })
        .collect();
    let rows = matching.rows.into_iter();
    let rows: Vec<usize> = rows.filter(|i| is_in(ranked, period, *i)).collect();
    if deciding.is_empty() {
        return Some(rows);
    }
    Some(of_terms(ranked, &deciding, rows))
}

/// Whether the question has every word of the first cell of a row.
fn is_named(ranked: &Ranked<'_>, row: usize) -> bool {
    let stems = stems_of(cell_at(ranked.found, row, 0).unwrap_or(""));
    let terms = &ranked.question.terms;
    let is_asked = |stem: &String| terms.iter().any(|term| term.stem == *stem);
    !stems.is_empty() && stems.iter().all(is_asked)
}

/// Of the rows, those with all of the terms; if there are none, those with any of them and those that
/// the question names: of "oven, delivery and fitting", the oven in a table below "Oven budget".
fn of_terms(ranked: &Ranked<'_>, deciding: &[&Term], rows: Vec<usize>) -> Vec<usize> {
    let found = ranked.found;
    // "January to May": the rows from the first month to the last.
    let months: Vec<usize> = deciding
        .iter()
        .filter(|t| cues::month(&t.word.to_lowercase()).is_some())
        .filter_map(|t| rows.iter().position(|i| is_in_row(found, *i, t)))
        .collect();
    if let [first, last] = months.as_slice()
        && months.len() == deciding.len()
        && periods::joins_months(&ranked.question.text, ranked.question.today)
    {
        let (first, last) = (first.min(last), first.max(last));
        return rows.get(*first..=*last).unwrap_or(&rows).to_vec();
    }
    let strict: Vec<usize> = rows
        .iter()
        .copied()
        .filter(|i| deciding.iter().all(|t| is_in_row(found, *i, t)))
        .collect();
    match strict.is_empty() {
        false => strict,
        true => rows
            .into_iter()
            .filter(|i| is_named(ranked, *i) || deciding.iter().any(|t| is_in_row(found, *i, t)))
            .collect(),
    }
}

/// Whether no row of a table, or no item of a list, has the term or a word with a similar meaning.
pub(super) fn is_nowhere(ranked: &Ranked<'_>, rows: &[usize], term: &Term) -> bool {
    let Some(at) = ranked
        .question
        .terms
        .iter()
        .position(|t| t.stem == term.stem)
    else {
        return false;
    };
    // Whether the table is one of what is counted is decided where it is chosen.
    let is_counted = ranked.question.counted == Some(at);
    let is_light = cues::holds(cues::LIGHT, &term.word.to_lowercase())
        || !term.word.contains(char::is_alphabetic);
    let is_row = |c: &&Candidate| rows.contains(&c.index);
    let mut candidates = ranked.order.iter().filter(is_row);
    !is_light
        && !is_counted
        && !rows.iter().any(|i| is_in_row(ranked.found, *i, term))
        && !candidates.any(|c| confidence::says(c, at))
}

/// Whether the row's date, if it has one, is in the period.
fn is_in(ranked: &Ranked<'_>, period: Option<Period>, i: usize) -> bool {
    match (period, ranked.unit(i).and_then(|u| u.date)) {
        (Some(period), Some(day)) => period.holds(day),
        _ => true,
    }
}

/// Whether all rows have a day of their own.
fn are_dated(found: Found<'_>, rows: &[usize]) -> bool {
    let mut units = rows.iter().filter_map(|row| found.unit(*row));
    units.all(|unit| !calendar::all(&unit.plain).is_empty())
}

/// Whether a unit is a row of a table of which the question asks for several rows, with a "not" that
/// the table does not decide.
pub(super) fn is_undecided(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let asks_for_rows = matches!(
        ranked.question.kind,
        QuestionKind::List | QuestionKind::Total(_)
    );
    let row = ranked.unit(candidate.index);
    let Some(row) = row.filter(|unit| asks_for_rows && unit.form == Form::Row) else {
        return false;
    };
    let header = row.lead.and_then(|header| ranked.unit(header));
    let names = header.map(cells).unwrap_or_default();
    let all = passage::rows_beside(ranked.found, candidate.index);
    all.len() > 1 && matching(ranked, &names, all).is_none()
}

/// Whether a term is in a row of the table around a candidate, in its header, or above it.
pub(super) fn says(ranked: &Ranked<'_>, candidate: &Candidate, term: &Term) -> bool {
    let Some(unit) = ranked.unit(candidate.index) else {
        return false;
    };
    let header = unit.lead.and_then(|lead| ranked.unit(lead));
    header.is_some_and(|header| score::covers(&header.stems, term) > 0.0)
        || score::covers(&unit.place.stems, term) > 0.0
        || passage::rows_beside(ranked.found, candidate.index)
            .iter()
            .any(|row| is_in_row(ranked.found, *row, term))
}

/// Whether every word of the question is in a row of the table, in its header, above it, or part of
/// a date or of a condition on an amount.
pub(super) fn says_everything(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let question = &ranked.question;
    let Some(unit) = ranked.unit(candidate.index) else {
        return false;
    };
    let header = unit.lead.and_then(|lead| ranked.unit(lead));
    let dates = periods::date_words(&question.text);
    let numbers = question.stems_of_conditions();
    let is_said = |term: &Term| {
        numbers.contains(&term.stem)
            || cues::holds(cues::LIGHT, &term.word.to_lowercase())
            || dates.contains(&term.word.to_lowercase())
            || says(ranked, candidate, term)
    };
    let mut names = question.terms.iter();
    let has_column = header.is_some_and(|header| {
        let of_header = |term: &Term| score::covers(&header.stems, term) > 0.0;
        names.any(of_header)
    });
    has_column && question.terms.iter().all(is_said)
}

/// The share of the question that a row's own cells cover, without the words of the header.
pub(super) fn share_without_header(
    question: &ParsedQuestion,
    unit: &Unit,
    header: &HashSet<String>,
) -> f32 {
    let terms = question.terms.iter();
    let own: Vec<f32> = terms
        .map(|term| match score::covers(header, term) > 0.0 {
            true => 0.0,
            false => score::covers(&unit.stems, term),
        })
        .collect();
    score::share(question, &own)
}
