//! Computes values from several values of the notes: sums, counts, extremes, days between dates.
//!
//! All operands are shown and cited, with the arithmetic.

use super::amounts::{self, Amount};
use super::calendar;
use super::confidence;
use super::cues;
use super::lists;
use super::passage::{self, Passage};
use super::question::{Operation, ParsedQuestion, Term};
use super::rank::{Candidate, Found, Ranked};
use super::score;
use super::tasks;
use super::units::{Form, Unit};

/// The rows of a list or table match the question if they and the text above them cover this share
/// of it.
const ABOUT: f32 = 0.5;
/// Names of columns for expenses. ("In" is a preposition in most questions.)
const GOES_OUT: &str = "out aus";
/// Maximum number of rows in one computation.
const MOST_ROWS: usize = 60;

/// A computed value and its operands.
#[derive(Debug, Clone, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct Computed {
    /// The kind of computation.
    pub operation: Operation,
    /// The value with its unit.
    pub value: String,
    /// The calculation in the form that a person would write.
    pub arithmetic: String,
    /// Number of rows, items or tasks that were used.
    pub count: usize,
    /// Number of notes that contain them.
    pub notes: usize,
}

/// Computes what the question asks for; `None` when the notes do not give the values.
pub(super) fn compute(
    ranked: &Ranked<'_>,
    operation: Operation,
) -> Option<(Computed, Vec<Passage>)> {
    match operation {
        Operation::Days => days(ranked),
        Operation::Years => age(ranked),
        Operation::Count => count(ranked),
        _ => of_table(ranked, operation),
    }
}

/// A table with a column of amounts, and the rows that match the question.
struct Column {
    header: Option<usize>,
    rows: Vec<usize>,
    amounts: Vec<Amount>,
}

/// The best row of a table that fits the question.
fn table_row<'r>(ranked: &'r Ranked<'_>) -> Option<&'r Candidate> {
    let best = ranked.order.iter().take(12).find(|c| is_about(ranked, c));
    best.filter(|candidate| confidence::nearly_fits(ranked, candidate))
}

fn of_table(ranked: &Ranked<'_>, operation: Operation) -> Option<(Computed, Vec<Passage>)> {
    let candidate = table_row(ranked)?;
    let column = column(ranked, candidate)?;
    let unit = ranked.unit(candidate.index)?;
    let written = |a: &Amount| format!("{a}");
    let (value, arithmetic, rows) = match operation {
        Operation::Minimum | Operation::Maximum => {
            let order = |a: &Amount| match operation {
                Operation::Minimum => -a.parts,
                _ => a.parts,
            };
            let all = column.rows.iter().zip(&column.amounts);
            let (row, amount) = all.max_by_key(|(_, a)| order(a))?;
            let name = match operation {
                Operation::Minimum => "smallest",
                _ => "largest",
            };
            let list: Vec<String> = column.amounts.iter().map(written).collect();
            let arithmetic = format!("the {name} of {}", list.join(", "));
            (with_unit(amount), arithmetic, vec![*row])
        }
        _ => {
            let list: Vec<String> = column.amounts.iter().map(written).collect();
            let sum = amounts::sum(&column.amounts)?;
            let (value, arithmetic) = match operation {
                Operation::Average => (
                    amounts::mean(&column.amounts)?,
                    format!("({}) / {}", list.join(" + "), list.len()),
                ),
                _ => (sum, list.join(" + ")),
            };
            (with_unit(&value), arithmetic, column.rows.clone())
        }
    };
    let mut shown = Passage::new(unit.note, passage::rows(ranked.found, column.header, &rows));
    shown.keys.extend(keys(ranked, &rows));
    let computed = Computed {
        operation,
        value,
        arithmetic,
        count: column.rows.len(),
        notes: 1,
    };
    Some((computed, vec![shown]))
}

/// The amount and its unit.
fn with_unit(a: &Amount) -> String {
    format!("{a} {}", a.unit).trim().to_owned()
}

fn keys(ranked: &Ranked<'_>, rows: &[usize]) -> Vec<std::ops::Range<usize>> {
    let units = rows.iter().filter_map(|i| ranked.unit(*i));
    units.map(|u| u.span.clone()).collect()
}

/// Whether a candidate is a table row that is related to the question.
fn is_about(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let row = ranked
        .unit(candidate.index)
        .is_some_and(|u| u.form == Form::Row && u.lead.is_some());
    row && candidate.features.unknown_name == 0.0
        && candidate.features.covered.max(candidate.features.own) >= ABOUT
}

fn cells(unit: &Unit) -> Vec<&str> {
    unit.plain.split('|').map(str::trim).collect()
}

/// The amounts of the column that the question means, in the rows that match it.
fn column(ranked: &Ranked<'_>, candidate: &Candidate) -> Option<Column> {
    let found = ranked.found;
    let header = ranked.unit(candidate.index)?.lead;
    let names = header.and_then(|h| found.unit(h)).map(cells)?;
    let all: Vec<usize> = passage::rows_beside(found, candidate.index)
        .into_iter()
        .filter(|i| found.unit(*i).is_some_and(|u| !is_total(u)))
        .collect();
    let rows = asked_rows(ranked, &names, all);
    // An empty cell has no amount of its column's kind, such as income or expense.
    let numeric: Vec<usize> = (0..names.len())
        .filter(|c| rows.iter().any(|r| amount_at(found, *r, *c).is_some()))
        .filter(|c| {
            rows.iter()
                .all(|r| amount_at(found, *r, *c).is_some() || is_blank_cell(found, *r, *c))
        })
        .collect();
    let lower = ranked.question.text.to_lowercase();
    let money = cues::MONEY.are_in(&lower);
    let column = numeric
        .iter()
        .copied()
        .find(|column| goes_out(&lower, &names, *column))
        .or_else(|| {
            numeric
                .iter()
                .copied()
                .find(|column| is_asked_column(&ranked.question, &names, *column))
        })
        .or_else(|| {
            numeric
                .iter()
                .copied()
                .find(|c| money && is_money(names.get(*c)))
        })
        .or_else(|| numeric.last().copied())?;
    let rows: Vec<usize> = rows
        .into_iter()
        .filter(|r| !is_blank_cell(found, *r, column))
        .collect();
    let amounts: Vec<Amount> = rows
        .iter()
        .filter_map(|r| amount_at(found, *r, column))
        .collect();
    let usable = !amounts.is_empty() && amounts.len() <= MOST_ROWS && amounts.len() == rows.len();
    usable.then_some(Column {
        header,
        rows,
        amounts,
    })
}

/// Whether the column is one of costs and the question asks for that.
fn goes_out(lower: &str, names: &[&str], column: usize) -> bool {
    let name = names.get(column).unwrap_or(&"").to_lowercase();
    let mut asked = cues::split(lower).filter(|word| cues::holds(GOES_OUT, word));
    asked.any(|word| cues::split(&name).any(|w| w == word))
}

/// Whether the question contains a word of the column's name.
fn is_asked_column(question: &ParsedQuestion, names: &[&str], column: usize) -> bool {
    let stems: std::collections::HashSet<String> =
        local_agent_index::lexical::terms(names.get(column).unwrap_or(&""))
            .into_iter()
            .collect();
    let mut terms = question.terms.iter();
    terms.any(|t| score::covers(&stems, t) > 0.0)
}

/// Whether a cell has neither letters nor digits.
fn is_blank_cell(found: Found<'_>, row: usize, column: usize) -> bool {
    let unit = found.unit(row);
    unit.is_some_and(|u| {
        cells(u)
            .get(column)
            .is_none_or(|c| !c.contains(char::is_alphanumeric))
    })
}

/// The amount in a cell.
fn amount_at(found: Found<'_>, row: usize, column: usize) -> Option<Amount> {
    let unit = found.unit(row)?;
    Amount::of_cell(cells(unit).get(column)?)
}

/// Whether a column has a name for money.
fn is_money(name: Option<&&str>) -> bool {
    let Some(name) = name else {
        return false;
    };
    let lower = name.to_lowercase();
    let mut words = cues::split(&lower);
    name.chars().any(|c| cues::MONEY_MARKS.contains(c))
        || words.any(|w| cues::holds(cues::MONEY_COLUMNS, w))
}

/// Whether a row is already the total of the others.
fn is_total(unit: &Unit) -> bool {
    let first = cells(unit)
        .first()
        .map_or(String::new(), |c| c.to_lowercase());
    cues::SUM.are_in(&first) || cues::AVERAGE.are_in(&first)
}

/// The rows with the question's words that are in cells and not in the header or above; all rows if
/// there are no such words. Rows for another time than the question's are excluded.
fn asked_rows(ranked: &Ranked<'_>, names: &[&str], all: Vec<usize>) -> Vec<usize> {
    let found = ranked.found;
    let header: std::collections::HashSet<String> =
        local_agent_index::lexical::terms(&names.join(" "))
            .into_iter()
            .collect();
    // A word in the headings identifies the table, not one of its rows.
    let place = all.first().and_then(|i| found.unit(*i)).map(|u| &u.place);
    let deciding: Vec<_> = ranked
        .question
        .terms
        .iter()
        .filter(|t| score::covers(&header, t) == 0.0)
        .filter(|t| !place.is_some_and(|p| score::covers(&p.stems, t) > 0.0))
        .filter(|t| {
            all.iter().any(|i| is_in_row(found, *i, t))
                && !all.iter().all(|i| is_in_row(found, *i, t))
        })
        .collect();
    let rows: Vec<usize> = all
        .into_iter()
        .filter(|i| is_in_period(ranked, *i))
        .collect();
    if deciding.is_empty() {
        return rows;
    }
    // "January to May": the rows from the first month to the last.
    let months: Vec<usize> = deciding
        .iter()
        .filter(|t| cues::month(&t.word.to_lowercase()).is_some())
        .filter_map(|t| rows.iter().position(|i| is_in_row(found, *i, t)))
        .collect();
    if let [first, last] = months.as_slice()
        && months.len() == deciding.len()
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
            .filter(|i| deciding.iter().any(|t| is_in_row(found, *i, t)))
            .collect(),
    }
}

/// Whether a row or item is one of the things that the question counts: their name is in it or
/// above it.
fn lists_counted(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let credit = |at: usize| candidate.credits.all.get(at).copied().unwrap_or(0.0);
    let counted = ranked.question.counted;
    counted.is_none_or(|at| credit(at) >= confidence::ATTRIBUTE)
}

/// The sum of several rows of one table, for a question about money spent in some time; `None` when
/// fewer than two rows match, or when one of them has no day in that time.
pub(super) fn spending(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let rows = column(ranked, table_row(ranked)?)?.rows;
    let is_dated = |row: &usize| {
        let day = ranked.unit(*row).and_then(|unit| unit.date);
        let period = ranked.question.period;
        period
            .zip(day)
            .is_some_and(|(period, day)| period.holds(day))
    };
    let sums = rows.len() > 1 && rows.iter().all(is_dated);
    sums.then(|| of_table(ranked, Operation::Sum)).flatten()
}

/// Whether the row's date, if it has one, is in the period of the question.
fn is_in_period(ranked: &Ranked<'_>, i: usize) -> bool {
    match (ranked.question.period, ranked.unit(i).and_then(|u| u.date)) {
        (Some(period), Some(day)) => period.holds(day),
        _ => true,
    }
}

/// Whether a row contains the term.
fn is_in_row(found: Found<'_>, i: usize, t: &Term) -> bool {
    found
        .unit(i)
        .is_some_and(|u| score::covers(&u.stems, t) > 0.0)
}

/// Counts tasks, rows or items of a list. A count that a note states in a sentence is preferred.
fn count(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    if tasks::are_counted(ranked) {
        let (number, passages) = tasks::count(ranked)?;
        let notes = passages.len();
        return Some((counted(number, "tasks", notes), passages));
    }
    let best = ranked.best()?;
    // Numbers in a row are rarely the number of rows.
    let says = ranked.unit(best.index).is_some_and(|u| u.form != Form::Row);
    if says && best.features.kind > 0.0 && confidence::fits(ranked, best) {
        return None;
    }
    let candidate = ranked.order.iter().take(8).find(|c| {
        let listed = ranked
            .unit(c.index)
            .is_some_and(|u| matches!(u.form, Form::Row | Form::Item));
        let about = score::share(&ranked.question, &c.credits.above) >= ABOUT;
        listed && about && lists_counted(ranked, c)
    })?;
    let unit = ranked.unit(candidate.index)?;
    if unit.form == Form::Row {
        let header = ranked.unit(unit.lead?)?;
        let all = passage::rows_beside(ranked.found, candidate.index);
        let all: Vec<usize> = all
            .into_iter()
            .filter(|i| ranked.unit(*i).is_some_and(|u| !is_total(u)))
            .collect();
        let rows = asked_rows(ranked, &cells(header), all);
        let shown = Passage::new(unit.note, passage::rows(ranked.found, unit.lead, &rows));
        return Some((counted(rows.len(), "rows", 1), vec![shown]));
    }
    let outer = unit.outer?;
    let shown = lists::list(ranked, unit, outer)?;
    let note = ranked.found.note_of(unit)?;
    let items = note
        .blocks
        .iter()
        .filter(|b| b.parent == Some(outer))
        .count();
    Some((counted(items, "items", 1), vec![shown]))
}

/// A count, with the word for the counted things.
fn counted(count: usize, what: &str, notes: usize) -> Computed {
    Computed {
        operation: Operation::Count,
        value: Amount::whole(count, "").to_string(),
        arithmetic: format!("{count} {what}"),
        count,
        notes,
    }
}

/// A unit whose score is less than this share of the best one is about something else.
const STILL_ABOUT: f32 = 0.7;

/// The units that may give a date, best first.
fn dated<'r>(ranked: &'r Ranked<'_>) -> impl Iterator<Item = (&'r Candidate, &'r Unit)> {
    let best = ranked.best().map_or(0.0, |best| best.score);
    let about =
        move |c: &&Candidate| c.features.unknown_name == 0.0 && c.score >= STILL_ABOUT * best;
    let with_unit = |c: &'r Candidate| Some((c, ranked.unit(c.index)?));
    ranked.order.iter().filter(about).filter_map(with_unit)
}

/// The days from today to the next date of the question's subject.
fn days_until(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let today = ranked.question.today;
    let asked = ranked.question.text.to_lowercase();
    let (candidate, to) =
        dated(ranked).find_map(|(c, unit)| Some((c, coming_day(&asked, today, unit)?)))?;
    let days = to.number() - today.number();
    let computed = Computed {
        operation: Operation::Days,
        value: format!("{days} days"),
        arithmetic: format!("from {today} (today) to {to}"),
        count: 2,
        notes: 1,
    };
    Some((
        computed,
        vec![passage::around(ranked.found, candidate.index)?],
    ))
}

/// The next day that the unit names. A yearly day is moved to its next occurrence.
fn coming_day(asked: &str, today: calendar::Day, unit: &Unit) -> Option<calendar::Day> {
    let yearly = cues::YEARLY.are_in(asked) && cues::YEARLY.are_in(&unit.plain.to_lowercase());
    let days = calendar::all(&unit.plain)
        .into_iter()
        .filter(|day| day.day > 0);
    let full = days
        .filter_map(|day| next_time(yearly, today, day))
        .find(|day| *day >= today);
    full.or_else(|| calendar::next_without_year(&unit.plain, today))
}

/// The day, or its next occurrence if it is yearly.
fn next_time(yearly: bool, today: calendar::Day, day: calendar::Day) -> Option<calendar::Day> {
    match yearly {
        true => calendar::coming(today, day.month, day.day),
        false => Some(day),
    }
}

/// The whole years since the birth of the person in question.
fn age(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let today = ranked.question.today;
    let units = ranked.found.units.iter().enumerate();
    let about = units.filter(|(_, unit)| unit.sayable && is_asked_unit(&ranked.question, unit));
    let (index, from) = about
        .into_iter()
        .find_map(|(i, unit)| Some((i, birthday(today, unit)?)))?;
    let years = calendar::years_between(from, today)?;
    let computed = Computed {
        operation: Operation::Years,
        value: format!("{years} years"),
        arithmetic: format!("from {from} to {today} (today)"),
        count: 1,
        notes: 1,
    };
    Some((computed, vec![passage::around(ranked.found, index)?]))
}

/// Whether the unit or the names of its note contain a word of the question.
fn is_asked_unit(question: &ParsedQuestion, unit: &Unit) -> bool {
    let mut terms = question.terms.iter();
    terms.any(|t| score::covers(&unit.place.names, t) > 0.0 || score::covers(&unit.stems, t) > 0.0)
}

/// The past day that recurs every year.
fn birthday(today: calendar::Day, unit: &Unit) -> Option<calendar::Day> {
    let says = cues::YEARLY.are_in(&unit.plain.to_lowercase());
    let mut days = calendar::all(&unit.plain).into_iter();
    days.find(|day| says && day.day > 0 && *day <= today)
}

/// The days between the dates of two things.
fn days(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let asked = ranked.question.text.to_lowercase();
    if cues::UNTIL.are_in(&asked) && !cues::BETWEEN.are_in(&asked) {
        return days_until(ranked);
    }
    let first = ranked.order.iter().find(|c| has_day(ranked, c))?;
    let mut found: Vec<(usize, calendar::Day)> = Vec::new();
    let both = calendar::all(&ranked.unit(first.index)?.plain);
    match both.as_slice() {
        [a, b] if a.day > 0 && b.day > 0 => {
            found.push((first.index, *a));
            found.push((first.index, *b));
        }
        _ => {
            let second = ranked
                .order
                .iter()
                .filter(|c| has_day(ranked, c))
                .find(|c| adds_to(ranked, first, c))?;
            found.push((first.index, first_day(ranked, first)?));
            found.push((second.index, first_day(ranked, second)?));
        }
    }
    let [(one, a), (two, b)] = found.as_slice() else {
        return None;
    };
    let (from, to) = if a <= b { (a, b) } else { (b, a) };
    let days = to.number() - from.number();
    let mut passages = vec![passage::around(ranked.found, *one)?];
    if one != two {
        passages.extend(passage::around(ranked.found, *two));
    }
    let notes: std::collections::HashSet<usize> = passages.iter().map(|p| p.note).collect();
    let computed = Computed {
        operation: Operation::Days,
        value: format!("{days} days"),
        arithmetic: format!("from {from} to {to}"),
        count: 2,
        notes: notes.len(),
    };
    Some((computed, passages))
}

/// The first full day that a candidate names.
fn first_day(ranked: &Ranked<'_>, c: &Candidate) -> Option<calendar::Day> {
    let unit = ranked.unit(c.index)?;
    calendar::all(&unit.plain)
        .into_iter()
        .find(|day| day.day > 0)
}

/// Whether a candidate covers words of the question that the first does not.
fn adds_to(ranked: &Ranked<'_>, first: &Candidate, c: &Candidate) -> bool {
    let new = first.credits.own.iter().zip(&c.credits.own);
    let gain: Vec<f32> = new.map(|(had, c)| (c - had).max(0.0)).collect();
    c.index != first.index && score::share(&ranked.question, &gain) > 0.15
}

/// Whether a candidate names a day and lacks no name of the question.
fn has_day(ranked: &Ranked<'_>, c: &Candidate) -> bool {
    c.features.unknown_name == 0.0
        && ranked
            .unit(c.index)
            .is_some_and(|u| calendar::all(&u.plain).iter().any(|day| day.day > 0))
}
