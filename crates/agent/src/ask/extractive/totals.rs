//! Computes values from several values of the notes: sums, counts, extremes, days between dates.
//!
//! All operands are shown and cited, with the arithmetic.

use std::collections::HashSet;

use super::across;
use super::ages;
use super::amounts::{self, Amount};
use super::calendar;
use super::confidence;
use super::cues;
use super::distances;
use super::items;
use super::list_amounts;
use super::lists;
use super::newest;
use super::note::NoteText;
use super::passage::{self, Passage};
use super::periods;
use super::question::{Operation, ParsedQuestion, Term};
use super::rank::{Candidate, Found, Ranked};
use super::readings;
use super::rows::{self, cell_at, cells, stems_of};
use super::score;
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
        Operation::Years => ages::age(ranked),
        Operation::Count if counts_days(ranked) => {
            let between = distances::between(ranked).or_else(|| days_in_a_row(ranked));
            between.or_else(|| count(ranked))
        }
        Operation::Count => count(ranked),
        _ => of_table(ranked, operation).or_else(|| list_amounts::compute(ranked, operation)),
    }
}

/// A table with a column of amounts, and the rows that match the question.
pub(super) struct Column {
    pub header: Option<usize>,
    pub rows: Vec<usize>,
    /// The amounts in one unit.
    pub amounts: Vec<Amount>,
    /// The amounts as they are in the calculation.
    pub written: Vec<String>,
    /// The position of the column.
    pub at: usize,
    /// The number of rows of the table, those that do not match included.
    pub of: usize,
}

/// The best row of a table that fits the question.
fn table_row<'r>(ranked: &'r Ranked<'_>) -> Option<&'r Candidate> {
    let best = ranked.order.iter().take(12).find(|c| is_about(ranked, c));
    best.filter(|c| confidence::nearly_fits(ranked, c) || rows::says_everything(ranked, c))
        .filter(|c| !goes_the_other_way(ranked, c))
}

/// Whether the question is about money that goes out, and the table about money that comes in.
fn goes_the_other_way(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let Some(unit) = ranked.unit(candidate.index) else {
        return false;
    };
    let header = unit.lead.and_then(|lead| ranked.unit(lead));
    let header = header.map_or("", |header| &header.plain);
    let question = &ranked.question.text;
    let place = &unit.place.written;
    let comes_in = has_word_of(header, cues::MONEY_IN) || has_word_of(place, cues::MONEY_IN);
    let goes_out = has_word_of(header, cues::MONEY_OUT) || has_word_of(place, cues::MONEY_OUT);
    let asks_for_out =
        has_word_of(question, cues::MONEY_OUT) && !has_word_of(question, cues::MONEY_IN);
    asks_for_out && comes_in && !goes_out
}

/// Whether a text has a word of a list.
fn has_word_of(text: &str, list: &'static str) -> bool {
    cues::split(&text.to_lowercase()).any(|word| cues::holds(list, word))
}

fn of_table(ranked: &Ranked<'_>, operation: Operation) -> Option<(Computed, Vec<Passage>)> {
    let candidate = table_row(ranked)?;
    let unit = ranked.unit(candidate.index)?;
    let is_whole = ranked.found.note_of(unit).is_some_and(|note| note.is_whole);
    if !is_whole || ranked.question.has_unclear_time {
        return None;
    }
    if let Some(compared) = across::compute(ranked, candidate, operation) {
        return Some(compared);
    }
    let column = column(ranked, candidate)?;
    let sums = operation == Operation::Sum;
    if let Some(grown) = sums
        .then(|| readings::growth(ranked, unit.note, &column))
        .flatten()
    {
        return Some(grown);
    }
    let (value, arithmetic, rows) = match operation {
        Operation::Minimum | Operation::Maximum => extreme(ranked, &column, operation)?,
        Operation::Average => (
            with_unit(&amounts::mean(&column.amounts)?),
            format!("({}) / {}", column.written.join(" + "), column.rows.len()),
            column.rows.clone(),
        ),
        _ => (
            with_unit(&amounts::sum(&column.amounts)?),
            column.written.join(" + "),
            column.rows.clone(),
        ),
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

/// The smallest or largest amount, the calculation, and the rows that have it; `None` if several
/// rows may be about one of the things that are compared, or if only one of the rows is compared.
fn extreme(
    ranked: &Ranked<'_>,
    column: &Column,
    operation: Operation,
) -> Option<(String, String, Vec<usize>)> {
    let is_alone = column.rows.len() == 1 && column.of > 1;
    if is_alone || has_groups(ranked, column) {
        return None;
    }
    let of = column.amounts.iter();
    let (name, amount) = match operation {
        Operation::Minimum => ("smallest", of.min_by_key(|a| a.parts)?),
        _ => ("largest", of.max_by_key(|a| a.parts)?),
    };
    let rows = column.rows.iter().zip(&column.amounts);
    let rows = rows.filter(|(_, a)| a.parts == amount.parts);
    let arithmetic = format!("the {name} of {}", column.written.join(", "));
    Some((
        with_unit(amount),
        arithmetic,
        rows.map(|(row, _)| *row).collect(),
    ))
}

/// Whether things that the question compares have more than one row each: the shops of "at which
/// shop did I spend the most", if one of them is in two rows.
fn has_groups(ranked: &Ranked<'_>, column: &Column) -> bool {
    let header = column.header.and_then(|h| ranked.unit(h));
    let names = header.map(cells).unwrap_or_default();
    let spends = cues::SUM.are_in(&ranked.question.text.to_lowercase());
    let others = (0..names.len()).filter(|at| *at != column.at);
    let mut compared = others.filter(|at| spends || is_asked_column(&ranked.question, &names, *at));
    compared.any(|at| {
        let mut seen = HashSet::new();
        let values = column.rows.iter().filter_map(|row| ranked.unit(*row));
        let mut values = values.filter_map(|unit| cells(unit).get(at).map(|c| c.to_lowercase()));
        values.any(|value| !value.is_empty() && !seen.insert(value))
    })
}

/// The amount and its unit.
pub(super) fn with_unit(a: &Amount) -> String {
    format!("{a} {}", a.unit).trim().to_owned()
}

/// The bytes of these rows.
pub(super) fn keys(ranked: &Ranked<'_>, rows: &[usize]) -> Vec<std::ops::Range<usize>> {
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

/// The amounts of the column that the question means, in the rows that match it.
fn column(ranked: &Ranked<'_>, candidate: &Candidate) -> Option<Column> {
    let found = ranked.found;
    let header = ranked.unit(candidate.index)?.lead;
    let names = header.and_then(|h| found.unit(h)).map(cells)?;
    let all: Vec<usize> = passage::rows_beside(found, candidate.index)
        .into_iter()
        .filter(|i| found.unit(*i).is_some_and(|u| !is_total(u)))
        .collect();
    if ranked.question.period.is_some() && are_partly_dated(found, &all) {
        return None;
    }
    let rows = rows::asked(ranked, &names, all.clone())?;
    let at = asked_column(ranked, &names, &rows)?;
    // An empty cell has no amount of its column's kind, such as income or expense.
    let rows: Vec<usize> = rows
        .into_iter()
        .filter(|r| !is_blank_cell(found, *r, at))
        .collect();
    if rows.is_empty() || rows.len() > MOST_ROWS {
        return None;
    }
    let written: Vec<&str> = rows.iter().filter_map(|r| cell_at(found, *r, at)).collect();
    let note = ranked.unit(candidate.index)?.note;
    let read = amounts::of_column(&written, ranked.found.decimal_sign(note))
        .filter(|amounts| amounts.len() == rows.len())?;
    let amounts = amounts::in_one_unit(&read)?;
    let written = match amounts == read {
        true => read.iter().map(Amount::to_string).collect(),
        false => read.iter().map(with_unit).collect(),
    };
    Some(Column {
        header,
        rows,
        amounts,
        written,
        at,
        of: all.len(),
    })
}

/// The column that the question means, of those that mostly have numbers: the only one, or one that
/// the question names. It may turn out not to have amounts; another one is not what the question
/// asks for.
pub(super) fn asked_column(ranked: &Ranked<'_>, names: &[&str], rows: &[usize]) -> Option<usize> {
    let numeric: Vec<usize> = (0..names.len())
        .filter(|at| has_numbers(ranked.found, (names, *at), rows))
        .collect();
    let lower = ranked.question.text.to_lowercase();
    let money = cues::MONEY.are_in(&lower);
    let first = |wanted: &dyn Fn(usize) -> bool| numeric.iter().copied().find(|at| wanted(*at));
    first(&|at| goes_out(&lower, names, at))
        .or_else(|| first(&|at| is_asked_column(&ranked.question, names, at)))
        .or_else(|| first(&|at| money && is_money(names.get(at))))
        .or_else(|| first(&|at| money && has_money(ranked.found, at, rows)))
        .or_else(|| first(&|at| is_measured_column(ranked, at, rows)))
        .or_else(|| first(&|at| is_compared_column(&lower, names, at)))
        .or_else(|| first(&|at| cues::compares_prices(&lower) && has_money(ranked.found, at, rows)))
        .or_else(|| numeric.last().copied().filter(|_| numeric.len() == 1))
}

/// Whether the cells of a column have the unit of which the question asks how many: "km".
fn is_measured_column(ranked: &Ranked<'_>, column: usize, rows: &[usize]) -> bool {
    let Some(unit) = cues::counted_unit(&ranked.question.text) else {
        return false;
    };
    let mut cells = rows
        .iter()
        .filter(|row| !is_blank_cell(ranked.found, **row, column))
        .filter_map(|row| cell_at(ranked.found, *row, column))
        .peekable();
    cells.peek().is_some()
        && cells.all(|cell| cues::split(&cell.to_lowercase()).any(|word| word == unit))
}

/// Whether at least half of a column's cells have digits, and they are not dates or years.
fn has_numbers(found: Found<'_>, (names, at): (&[&str], usize), rows: &[usize]) -> bool {
    let filled: Vec<&str> = rows
        .iter()
        .filter(|row| !is_blank_cell(found, **row, at))
        .filter_map(|row| cell_at(found, *row, at))
        .collect();
    let with_digits = |cell: &&&str| cell.contains(|c: char| c.is_ascii_digit());
    let numbers = filled.iter().filter(with_digits).count();
    let is_of_dates = names_dates(names.get(at).unwrap_or(&""))
        || !is_money(names.get(at)) && filled.iter().all(|cell| is_date_cell(cell));
    let codes = filled.iter().filter(|cell| has_code(cell)).count();
    let is_of_codes = 2 * codes > filled.len();
    numbers > 0 && 2 * numbers >= filled.len() && !is_of_dates && !is_of_codes
}

/// Whether a cell has a letter and a digit joined by a hyphen: "AM-77120-B" is no amount.
fn has_code(cell: &str) -> bool {
    let chars: Vec<char> = cell.chars().collect();
    chars.windows(3).any(|three| {
        let (before, behind) = (three[0], three[2]);
        three[1] == '-'
            && (before.is_alphabetic() && behind.is_ascii_digit()
                || before.is_ascii_digit() && behind.is_alphabetic())
    })
}

/// Whether the name of a column says that it has dates: "Month", but not "€ / month".
fn names_dates(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_rate = |before: &str| {
        let before = before.trim_end();
        before.ends_with('/')
            || cues::split(before)
                .last()
                .is_some_and(|w| cues::holds(cues::RATES, w))
    };
    let mut words = cues::split(&lower).filter(|word| cues::holds(cues::DATE_COLUMNS, word));
    words.any(|word| {
        let before = lower.split(word).next().unwrap_or("");
        !is_rate(before)
    })
}

/// Whether a cell has only a date or a year.
fn is_date_cell(cell: &str) -> bool {
    let cell = cell.trim_matches(['*', ' ']);
    let number: Option<u32> = cell.parse().ok();
    let compact = cell.len() == 8 && number.is_some_and(is_compact_date);
    let year = cell.len() == 4 && number.is_some_and(|year| (1900..2100).contains(&year));
    compact || year || !calendar::all(cell).is_empty()
}

/// Whether a number is a date such as 20260512.
fn is_compact_date(number: u32) -> bool {
    let (year, month, day) = (number / 10_000, number / 100 % 100, number % 100);
    (1900..2100).contains(&year) && calendar::Day::new(year, month, day).is_some()
}

/// Whether some rows have a day of their own and others have none.
fn are_partly_dated(found: Found<'_>, rows: &[usize]) -> bool {
    let is_dated = |row: &&usize| {
        let unit = found.unit(**row);
        unit.is_some_and(|u| !calendar::all(&u.plain).is_empty())
    };
    let dated = rows.iter().filter(is_dated).count();
    dated > 0 && dated < rows.len()
}

/// Whether the column is one of costs and the question asks for that.
fn goes_out(lower: &str, names: &[&str], column: usize) -> bool {
    let name = names.get(column).unwrap_or(&"").to_lowercase();
    let mut asked = cues::split(lower).filter(|word| cues::holds(GOES_OUT, word));
    asked.any(|word| cues::split(&name).any(|w| w == word))
}

/// Whether the question contains a word of the column's name.
fn is_asked_column(question: &ParsedQuestion, names: &[&str], column: usize) -> bool {
    let stems = stems_of(names.get(column).unwrap_or(&""));
    let mut terms = question.terms.iter();
    terms.any(|t| score::covers(&stems, t) > 0.0)
}

/// Whether a superlative of the question compares what the column has: "lightest" and "weight".
fn is_compared_column(lower: &str, names: &[&str], column: usize) -> bool {
    let stems = stems_of(names.get(column).unwrap_or(&""));
    let mut attributes = cues::compared_attributes(lower).into_iter();
    attributes.any(|attribute| !stems.is_disjoint(&stems_of(attribute)))
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

/// Whether the name of a column has a unit, as "Width (cm)" has "cm"; a column of money may leave
/// its currency out.
pub(super) fn has_unit(name: &str, unit: &str) -> bool {
    let is_sign = |c: char| cues::MONEY_MARKS.contains(c);
    let lower = unit.to_lowercase();
    let is_currency = unit.contains(is_sign) || cues::holds(cues::CURRENCIES, &lower);
    let names_it = name.contains(unit) && unit.contains(is_sign)
        || cues::split(&name.to_lowercase()).any(|word| word == lower);
    names_it || is_currency && is_money(Some(&name)) && !name.contains(is_sign)
}

/// Whether every filled cell of a column, at least one, has the sign or the name of a currency.
fn has_money(found: Found<'_>, column: usize, rows: &[usize]) -> bool {
    let mut filled = rows
        .iter()
        .filter(|row| !is_blank_cell(found, **row, column))
        .filter_map(|row| cell_at(found, *row, column))
        .peekable();
    filled.peek().is_some()
        && filled.all(|cell| {
            let lower = cell.to_lowercase();
            cell.contains(|c: char| cues::MONEY_MARKS.contains(c))
                || cues::split(&lower).any(|word| cues::holds(cues::CURRENCIES, word))
        })
}

/// Whether a row is already the total of the others.
pub(super) fn is_total(unit: &Unit) -> bool {
    let cells = cells(unit);
    let first = cells.first().map_or(String::new(), |c| c.to_lowercase());
    cues::SUM.are_in(&first)
        || cues::AVERAGE.are_in(&first)
        || cells.iter().any(|cell| is_total_name(cell))
}

/// Whether a cell names a total and little else.
pub(super) fn is_total_name(cell: &str) -> bool {
    let lower = cell.to_lowercase();
    let mut words = cues::split(&lower);
    cues::split(&lower).count() <= 2 && words.any(|word| cues::holds(cues::TOTAL_ROWS, word))
}

/// Whether a row or item is one of the things that the question counts: their name is in it or
/// above it. A folder names notes, and neither the items of a list nor the rows of a table.
fn lists_counted(ranked: &Ranked<'_>, candidate: &Candidate) -> bool {
    let Some(at) = ranked.question.counted else {
        return true;
    };
    let credit = candidate.credits.all.get(at).copied().unwrap_or(0.0);
    let unit = ranked.unit(candidate.index);
    let term = ranked.question.terms.get(at);
    let in_folder_only = unit
        .zip(term)
        .is_some_and(|(unit, term)| items::only_folder_says(ranked, unit, term));
    credit >= confidence::ATTRIBUTE && !in_folder_only
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

/// The sum of those rows of a table of money that the question names, for a question that asks how
/// much; `None` when fewer than two rows match, or when all rows do.
pub(super) fn several_rows(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let candidate = table_row(ranked).filter(|c| confidence::fits(ranked, c))?;
    let header = ranked.unit(ranked.unit(candidate.index)?.lead?)?;
    let column = column(ranked, candidate)?;
    let is_part = column.rows.len() > 1 && column.rows.len() < column.of;
    let adds_up = is_part && is_money(cells(header).get(column.at));
    adds_up.then(|| of_table(ranked, Operation::Sum)).flatten()
}

/// Counts rows or items of a list. A count that a note states in a sentence is preferred.
fn count(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    if let Some(counted) = notes_of_period(ranked) {
        return Some(counted);
    }
    let best = ranked.best()?;
    // Numbers in a row are rarely the number of rows.
    let says = ranked.unit(best.index).is_some_and(|u| u.form != Form::Row);
    if says && best.features.kind > 0.0 && confidence::fits(ranked, best) {
        return None;
    }
    if cues::counted_unit(&ranked.question.text).is_some() {
        return measured(ranked);
    }
    let candidate = ranked.order.iter().take(8).find(|c| {
        let listed = ranked
            .unit(c.index)
            .is_some_and(|u| matches!(u.form, Form::Row | Form::Item));
        let about = share_above(ranked, c) >= ABOUT;
        listed && about && lists_counted(ranked, c)
    })?;
    let unit = ranked.unit(candidate.index)?;
    let note = ranked.found.note_of(unit)?;
    if !note.is_whole || ranked.question.has_unclear_time {
        return None;
    }
    match unit.form {
        Form::Row => count_rows(ranked, candidate, unit),
        _ => count_items(ranked, unit),
    }
}

/// The sum of a column for "how many kilos of coffee"; `None` if the table does not have the thing.
fn measured(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let candidate = table_row(ranked)?;
    let thing = ranked.question.counted;
    let thing = thing.and_then(|at| ranked.question.terms.get(at))?;
    rows::says(ranked, candidate, thing)
        .then(|| of_table(ranked, Operation::Sum))
        .flatten()
}

/// The share of the question that is above a unit, without the words for a time and for conditions
/// on amounts.
fn share_above(ranked: &Ranked<'_>, candidate: &Candidate) -> f32 {
    let question = &ranked.question;
    let dates = match question.counted_days() {
        Some(_) => periods::date_words(&question.text),
        None => HashSet::new(),
    };
    let numbers = question.stems_of_conditions();
    let is_subject =
        |term: &Term| !dates.contains(&term.word.to_lowercase()) && !numbers.contains(&term.stem);
    let terms = question.terms.iter().zip(&candidate.credits.above);
    let (mut found, mut total) = (0.0, 0.0);
    for (term, credit) in terms.filter(|(term, _)| is_subject(term)) {
        found += term.weight * credit;
        total += term.weight;
    }
    if total > 0.0 { found / total } else { 0.0 }
}

/// Counts the notes of some days whose folder or tag has the name of what the question counts: the
/// meetings in November.
fn notes_of_period(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let question = &ranked.question;
    let period = question
        .counted_days()
        .filter(|_| !question.has_unclear_time)?;
    let kind = question.terms.get(question.counted?)?;
    let dates = periods::date_words(&question.text);
    let others = question.terms.iter().filter(|t| t.stem != kind.stem);
    let others: Vec<_> = others
        .filter(|t| !dates.contains(&t.word.to_lowercase()))
        .collect();
    let stems = stems_of(&kind.word);
    let notes = ranked.found.notes.iter().enumerate();
    let of_kind = notes.filter(|(_, note)| newest::is_of_kind(note, &stems));
    let days = of_kind.filter_map(|(at, note)| Some((at, note, note.date?)));
    let mut meant: Vec<(usize, &NoteText, calendar::Day)> = days
        .filter(|(_, _, day)| day.day > 0 && period.holds(*day))
        .filter(|(_, note, _)| {
            let names = stems_of(&note.names.join("\n"));
            others.iter().all(|term| score::covers(&names, term) > 0.0)
        })
        .collect();
    meant.sort_by_key(|(_, _, day)| *day);
    let passages = meant.iter().filter_map(|(at, note, day)| {
        let mut passage = Passage::new(*at, vec![passage::title(note)?]);
        passage.date = Some(*day);
        Some(passage)
    });
    let passages: Vec<Passage> = passages.collect();
    let count = meant.len();
    (count > 0 && passages.len() == count && count < MOST_ROWS)
        .then(|| (counted(count, &kind.word, count), passages))
}

/// Counts the rows of a table that the question means.
fn count_rows(
    ranked: &Ranked<'_>,
    candidate: &Candidate,
    unit: &Unit,
) -> Option<(Computed, Vec<Passage>)> {
    let header = ranked.unit(unit.lead?)?;
    let all: Vec<usize> = passage::rows_beside(ranked.found, candidate.index)
        .into_iter()
        .filter(|i| ranked.unit(*i).is_some_and(|u| !is_total(u)))
        .collect();
    if ranked.question.period.is_some() && are_partly_dated(ranked.found, &all) {
        return None;
    }
    let names = cells(header);
    if is_cell_asked(ranked, &names, &all) || is_amount_asked(ranked, &names, &all) {
        return None;
    }
    let rows = rows::asked(ranked, &names, all)?;
    let shown = Passage::new(unit.note, passage::rows(ranked.found, unit.lead, &rows));
    let noun = if rows.len() == 1 { "row" } else { "rows" };
    (!rows.is_empty()).then(|| (counted(rows.len(), noun, 1), vec![shown]))
}

/// Whether what the question counts is the name of a row, and another of its words the name of a
/// column: the number is in a cell. "How many items may I have with Candle?"
fn is_cell_asked(ranked: &Ranked<'_>, names: &[&str], rows: &[usize]) -> bool {
    let question = &ranked.question;
    let Some(counted) = question.counted.and_then(|at| question.terms.get(at)) else {
        return false;
    };
    let is_row = rows.iter().any(|row| {
        let first = stems_of(cell_at(ranked.found, *row, 0).unwrap_or(""));
        score::covers(&first, counted) > 0.0
    });
    let columns = stems_of(&names.get(1..).unwrap_or_default().join(" "));
    let mut others = question.terms.iter().filter(|t| t.stem != counted.stem);
    is_row && others.any(|term| score::covers(&columns, term) > 0.0)
}

/// Whether what the question counts is the name of a column of numbers: "how many adults came in
/// May?" asks for the number in a cell and not for the number of rows.
fn is_amount_asked(ranked: &Ranked<'_>, names: &[&str], rows: &[usize]) -> bool {
    let question = &ranked.question;
    let Some(counted) = question.counted.and_then(|at| question.terms.get(at)) else {
        return false;
    };
    let mut columns = (0..names.len()).filter(|at| {
        let name = stems_of(names.get(*at).unwrap_or(&""));
        score::covers(&name, counted) > 0.0
    });
    columns.any(|at| has_numbers(ranked.found, (names, at), rows))
}

/// Counts the items of a list that the question means.
fn count_items(ranked: &Ranked<'_>, unit: &Unit) -> Option<(Computed, Vec<Passage>)> {
    let shown = lists::list(ranked, unit, unit.outer?)?;
    let items = items::asked(ranked, unit)?;
    if items::leaves_open(ranked, unit) {
        return None;
    }
    let noun = if items == 1 { "item" } else { "items" };
    Some((counted(items, noun, 1), vec![shown]))
}

/// A count, with the word for the counted things.
pub(super) fn counted(count: usize, what: &str, notes: usize) -> Computed {
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
        value: days_of(days),
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
        .filter(|day| *day >= today)
        .min();
    full.or_else(|| calendar::next_without_year(&unit.plain, today))
}

/// The day, or its next occurrence if it is yearly.
fn next_time(yearly: bool, today: calendar::Day, day: calendar::Day) -> Option<calendar::Day> {
    match yearly {
        true => calendar::coming(today, day.month, day.day),
        false => Some(day),
    }
}

/// The days between the dates of two things, or from today to the next date of one.
fn days(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let asked = ranked.question.text.to_lowercase();
    let is_between = cues::BETWEEN.are_in(&asked) || distances::names_two_things(&ranked.question);
    match cues::UNTIL.are_in(&asked) && !is_between {
        true => days_until(ranked),
        false => distances::between(ranked).or_else(|| days_in_a_row(ranked)),
    }
}

/// Whether the question counts days: "how many days did it take".
fn counts_days(ranked: &Ranked<'_>) -> bool {
    let counted = ranked.question.counted;
    let term = counted.and_then(|at| ranked.question.terms.get(at));
    term.is_some_and(|term| cues::holds(cues::DAYS_COUNTED, &term.word.to_lowercase()))
}

/// The days between the two dates of the only row that the question means.
fn days_in_a_row(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let candidate = table_row(ranked)?;
    let unit = ranked.unit(candidate.index)?;
    let names = unit
        .lead
        .and_then(|header| ranked.unit(header))
        .map(cells)?;
    let all = passage::rows_beside(ranked.found, candidate.index);
    let of = all.len();
    let meant = rows::asked(ranked, &names, all)?;
    let ([row], true) = (meant.as_slice(), of > 1) else {
        return None;
    };
    let days = calendar::all(&ranked.unit(*row)?.plain);
    let [one, two] = days.as_slice() else {
        return None;
    };
    if one.day == 0 || two.day == 0 {
        return None;
    }
    let (from, to) = (one.min(two), one.max(two));
    let mut shown = Passage::new(unit.note, passage::rows(ranked.found, unit.lead, &meant));
    shown.keys.extend(keys(ranked, &meant));
    let computed = Computed {
        operation: Operation::Days,
        value: days_of(to.number() - from.number()),
        arithmetic: format!("from {from} to {to}"),
        count: 2,
        notes: 1,
    };
    Some((computed, vec![shown]))
}

/// A number of days.
pub(super) fn days_of(days: i64) -> String {
    let noun = if days == 1 { "day" } else { "days" };
    format!("{days} {noun}")
}
