//! The rows of a table that are of the days in question: "What did I harvest in September?"

use super::calendar::{self, Day, Period};
use super::choose::Choice;
use super::confidence;
use super::cues;
use super::passage::{self, Passage, WHOLE_TABLE};
use super::periods;
use super::question::Term;
use super::rank::{Candidate, Found, Ranked};
use super::rows::{self, cell_at, cells, stems_of};
use super::score;
use super::totals;
use super::units::Form;

/// Number of the best units whose tables are tried.
const TRIED: usize = 12;

/// The rows of the first table that has a row for the days in question and a word for every other word
/// of it; `None` if there is no such table.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let question = &ranked.question;
    let month = || periods::month_without_year(&question.text, question.today);
    let period = question.period.or_else(month)?;
    let mut best = ranked.order.iter().take(TRIED);
    best.find_map(|candidate| of_table(ranked, candidate, &period))
}

fn of_table(ranked: &Ranked<'_>, candidate: &Candidate, period: &Period) -> Option<Choice> {
    let found = ranked.found;
    let unit = found
        .unit(candidate.index)
        .filter(|unit| unit.form == Form::Row && candidate.features.unknown_name == 0.0)?;
    let header = unit.lead?;
    let names = cells(found.unit(header)?);
    let all: Vec<usize> = passage::rows_beside(found, candidate.index)
        .into_iter()
        .filter(|row| found.unit(*row).is_some_and(|unit| !totals::is_total(unit)))
        .collect();
    let column = date_column(ranked, &names, &all)?;
    let dated: Vec<usize> = all
        .into_iter()
        .filter(|row| day_at(found, *row, column).is_some_and(|day| period.holds(day)))
        .collect();
    if dated.is_empty() || !says_the_rest(ranked, candidate, &dated) {
        return None;
    }
    let meant = rows::asked(ranked, &names, dated)?;
    let shown: Vec<usize> = meant.iter().copied().take(WHOLE_TABLE).collect();
    let mut passage = Passage::new(unit.note, passage::rows(found, Some(header), &shown));
    let units = shown.iter().filter_map(|row| found.unit(*row));
    passage.keys.extend(units.map(|unit| unit.span.clone()));
    let counts = (shown.len(), meant.len());
    (counts.0 > 0).then(|| Choice::part_of(vec![passage], counts, "rows"))
}

/// The column whose cells are all days: the one that the question names, or the only one.
fn date_column(ranked: &Ranked<'_>, names: &[&str], rows: &[usize]) -> Option<usize> {
    let of_dates: Vec<usize> = (0..names.len())
        .filter(|at| is_of_dates(ranked.found, rows, *at))
        .collect();
    let is_named = |at: &usize| {
        let stems = stems_of(names.get(*at).unwrap_or(&""));
        let mut terms = ranked.question.terms.iter();
        terms.any(|term| score::covers(&stems, term) > 0.0)
    };
    let named = of_dates.iter().copied().find(is_named);
    named.or_else(|| of_dates.first().copied().filter(|_| of_dates.len() == 1))
}

/// Whether most rows have a day in this column, and no filled cell has anything else.
fn is_of_dates(found: Found<'_>, rows: &[usize], column: usize) -> bool {
    let filled = rows
        .iter()
        .filter_map(|row| cell_at(found, *row, column))
        .filter(|cell| cell.contains(char::is_alphanumeric));
    let (mut dated, mut others) = (0, 0);
    for cell in filled {
        match calendar::latest(cell) {
            Some(_) => dated += 1,
            None => others += 1,
        }
    }
    dated * 2 > rows.len() && others == 0
}

fn day_at(found: Found<'_>, row: usize, column: usize) -> Option<Day> {
    calendar::latest(cell_at(found, row, column)?).filter(|day| day.day > 0)
}

/// Whether the table, its rows or what is above it has every word of the question but those for the
/// days, literally or with a similar meaning, and at least one of them literally.
fn says_the_rest(ranked: &Ranked<'_>, candidate: &Candidate, dated: &[usize]) -> bool {
    let dates = periods::date_words(&ranked.question.text);
    let is_light = |term: &Term| {
        let word = term.word.to_lowercase();
        dates.contains(&word) || cues::holds(cues::LIGHT, &word)
    };
    let terms = ranked.question.terms.iter().enumerate();
    let subject = terms.filter(|(_, term)| !is_light(term));
    let (literal, others): (Vec<_>, Vec<_>) =
        subject.partition(|(_, term)| rows::says(ranked, candidate, term));
    !literal.is_empty() && others.iter().all(|(at, _)| is_meant(ranked, dated, *at))
}

/// Whether one of the rows has a word with a similar meaning as the word of the question at this
/// position.
fn is_meant(ranked: &Ranked<'_>, rows: &[usize], at: usize) -> bool {
    let mut of_rows = ranked.order.iter().filter(|c| rows.contains(&c.index));
    of_rows.any(|candidate| confidence::says(candidate, at))
}
