//! Conditions on amounts and years, which a column of a table decides: "fewer than 5 in stock", "made
//! before 1910".

use std::collections::HashSet;

use super::amounts::{self, Amount};
use super::choose::Choice;
use super::confidence;
use super::constraints::Constraint;
use super::cues::{self, Cues};
use super::passage::{self, Passage};
use super::question::QuestionKind;
use super::rank::{Candidate, Found, Ranked};
use super::rows::{self, cell_at, cells, stems_of};
use super::score;
use super::totals;
use super::units::{Form, Unit};

/// The longest phrase of a comparison, in words.
const LONGEST_PHRASE: usize = 3;
/// Years that a condition may name.
const YEARS: std::ops::Range<i64> = 1000..2100;
/// The header, the text above the table and the conditions cover this share of the question.
const ABOUT: f32 = 0.5;

/// Which amounts meet a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    Below,
    AtMost,
    Above,
    AtLeast,
}

/// A condition on an amount or a year.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AmountCondition {
    limit: Limit,
    /// The number as it is in the question, in digits.
    number: String,
    /// Its unit or currency; may be empty.
    unit: String,
    /// The number as it is written.
    written: String,
    /// The words of the comparison.
    phrase: String,
    /// Whether it is a year: "before 1910".
    is_year: bool,
}

impl AmountCondition {
    /// The year, if the condition is on one.
    pub(super) fn year(&self) -> Option<u32> {
        self.written.parse().ok().filter(|_| self.is_year)
    }

    fn is_met(&self, amount: &Amount, limit: &Amount) -> bool {
        let (value, limit) = (amount.parts, limit.parts);
        match self.limit {
            Limit::Below => value < limit,
            Limit::AtMost => value <= limit,
            Limit::Above => value > limit,
            Limit::AtLeast => value >= limit,
        }
    }

    /// The stems of its number and its comparison.
    pub(super) fn stems(&self) -> HashSet<String> {
        stems_of(&format!("{} {}", self.phrase, self.written))
    }
}

/// The conditions of a question in lower case.
pub(super) fn of(lower: &str) -> Vec<AmountCondition> {
    let words: Vec<&str> = lower.split_whitespace().map(bare).collect();
    let at = 0..words.len();
    at.filter_map(|at| before_number(&words, at).or_else(|| behind_number(&words, at)))
        .collect()
}

/// A word without the marks around it, except those of money.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && !cues::MONEY_MARKS.contains(c))
}

/// The condition whose comparison begins at word `at`: "less than 5".
fn before_number(words: &[&str], at: usize) -> Option<AmountCondition> {
    for length in (1..=LONGEST_PHRASE).rev() {
        let Some(phrase) = words.get(at..at + length).map(|words| words.join(" ")) else {
            continue;
        };
        let is_article = |word: &&str| cues::holds(cues::ARTICLES, word);
        let next = at + length + usize::from(words.get(at + length).is_some_and(is_article));
        let Some(number) = words.get(next).and_then(|word| NumberWord::of(word)) else {
            continue;
        };
        let unit = number.unit_with(words.get(next + 1).copied().unwrap_or(""), words);
        let of_years = match is_year(&number.digits) && unit.is_empty() {
            true => named(&BEFORE_YEAR, &phrase),
            false => None,
        };
        if let Some(limit) = of_years.or_else(|| named(&BEFORE_NUMBER, &phrase)) {
            return Some(AmountCondition {
                limit,
                number: number.digits,
                unit,
                written: number.written,
                phrase,
                is_year: of_years.is_some(),
            });
        }
    }
    None
}

/// The condition of the number at word `at` that is followed by its comparison: "5 or more".
fn behind_number(words: &[&str], at: usize) -> Option<AmountCondition> {
    let number = NumberWord::of(words.get(at)?)?;
    let next = words.get(at + 1).copied().unwrap_or("");
    let unit = number.unit_with(next, words);
    // "5 kg or more"
    let start = at + 1 + usize::from(!unit.is_empty() && unit == next);
    let phrase = words.get(start..start + 2)?.join(" ");
    let limit = named(&BEHIND_NUMBER, &phrase)?;
    Some(AmountCondition {
        limit,
        number: number.digits,
        unit,
        written: number.written,
        phrase,
        is_year: false,
    })
}

/// Comparisons before a number, and …
const BEFORE_NUMBER: [(&Cues, Limit); 4] = [
    (&cues::AMOUNT_BELOW, Limit::Below),
    (&cues::AMOUNT_AT_MOST, Limit::AtMost),
    (&cues::AMOUNT_ABOVE, Limit::Above),
    (&cues::AMOUNT_AT_LEAST, Limit::AtLeast),
];
/// … before a year, and …
const BEFORE_YEAR: [(&Cues, Limit); 2] = [
    (&cues::YEAR_BEFORE, Limit::Below),
    (&cues::YEAR_AFTER, Limit::Above),
];
/// … behind a number.
const BEHIND_NUMBER: [(&Cues, Limit); 2] = [
    (&cues::AMOUNT_OR_LESS, Limit::AtMost),
    (&cues::AMOUNT_OR_MORE, Limit::AtLeast),
];

/// The limit of the comparison that a phrase is.
fn named(comparisons: &[(&Cues, Limit)], phrase: &str) -> Option<Limit> {
    let mut all = comparisons.iter();
    all.find(|(cues, _)| cues.spaced().split('|').any(|cue| cue == phrase))
        .map(|(_, limit)| *limit)
}

/// A number in the question.
struct NumberWord {
    digits: String,
    /// The currency sign beside the digits; may be empty.
    sign: String,
    written: String,
}

impl NumberWord {
    /// The number that a word is: in digits, maybe with a currency sign, or written out.
    fn of(word: &str) -> Option<Self> {
        let is_sign = |c: char| cues::MONEY_MARKS.contains(c);
        let digits = word.trim_matches(is_sign);
        let is_number = digits.starts_with(|c: char| c.is_ascii_digit())
            && digits
                .chars()
                .all(|c| c.is_ascii_digit() || matches!(c, '.' | ','));
        let digits = match is_number {
            true => digits.to_owned(),
            false => {
                let value = local_agent_text::language::numerals::any_cardinal(word)?;
                let is_whole = value.fract() == 0.0 && (0.0..1e6).contains(&value);
                is_whole.then(|| format!("{value:.0}"))?
            }
        };
        Some(Self {
            digits,
            sign: word.chars().filter(|c| is_sign(*c)).collect(),
            written: word.to_owned(),
        })
    }

    /// The currency sign, or the next word if it is a unit and no word of grammar: "in" is not
    /// always an inch.
    fn unit_with(&self, next: &str, words: &[&str]) -> String {
        let is_sign = !next.is_empty() && next.chars().all(|c| cues::MONEY_MARKS.contains(c));
        let grammar = cues::of_language(&words.join(" "));
        let is_unit = is_sign || !cues::is_grammar(grammar, next) && amounts::is_unit(next);
        match self.sign.is_empty() && is_unit {
            true => next.to_owned(),
            false => self.sign.clone(),
        }
    }
}

/// Whether a word is a year.
fn is_year(word: &str) -> bool {
    word.len() == 4 && word.parse().is_ok_and(|year| YEARS.contains(&year))
}

/// The rows that meet a condition, and the column that decides it; `None` if no column does.
pub(super) fn decide(
    ranked: &Ranked<'_>,
    names: &[&str],
    all: &[usize],
    condition: &AmountCondition,
) -> Option<(Vec<usize>, usize)> {
    let found = ranked.found;
    let counted: Vec<usize> = all
        .iter()
        .copied()
        .filter(|row| found.unit(*row).is_some_and(|unit| !totals::is_total(unit)))
        .collect();
    let columns: Vec<ComparedColumn> = (0..names.len())
        .filter_map(|at| column(found, &counted, (names, at), condition))
        .collect();
    let is_named = |at: usize| {
        let stems = stems_of(names.get(at).unwrap_or(&""));
        let mut terms = ranked.question.terms.iter();
        terms.any(|term| score::covers(&stems, term) > 0.0)
    };
    let named: Vec<_> = columns.iter().filter(|one| is_named(one.at)).collect();
    let column = match (named.as_slice(), columns.as_slice()) {
        ([one], _) => one,
        ([], [one]) => one,
        _ => return None,
    };
    let amounts = column.amounts.iter();
    let met = amounts.filter(|(_, amount)| condition.is_met(amount, &column.limit));
    Some((met.map(|(row, _)| *row).collect(), column.at))
}

/// A column that a condition may decide.
struct ComparedColumn {
    at: usize,
    /// The rows with an amount, and the amounts …
    amounts: Vec<(usize, Amount)>,
    /// … and that of the condition, in the same unit.
    limit: Amount,
}

/// The amounts of a column that has only years, if the condition is on a year, or else amounts that
/// can be compared with that of the condition; rows with an empty cell are left out.
fn column(
    found: Found<'_>,
    rows: &[usize],
    (names, at): (&[&str], usize),
    condition: &AmountCondition,
) -> Option<ComparedColumn> {
    let filled: Vec<(usize, &str)> = rows
        .iter()
        .filter_map(|row| Some((*row, cell_at(found, *row, at)?)))
        .filter(|(_, cell)| cell.contains(char::is_alphanumeric))
        .collect();
    let written: Vec<&str> = filled.iter().map(|(_, cell)| *cell).collect();
    if written.is_empty() || written.iter().all(|cell| is_year(cell)) != condition.is_year {
        return None;
    }
    let note = rows.first().and_then(|row| found.unit(*row))?.note;
    let usual = found.decimal_sign(note);
    let mut amounts = with_limit(&written, &condition.number, usual)?;
    let mut limit = amounts.pop()?;
    let has_units = amounts.iter().any(|amount| !amount.unit.is_empty());
    if has_units && !condition.unit.is_empty() {
        limit.unit.clone_from(&condition.unit);
        amounts.push(limit);
        amounts = amounts::in_one_unit(&amounts)?;
        limit = amounts.pop()?;
    } else {
        let is_same = amounts.windows(2).all(|pair| pair[0].unit == pair[1].unit);
        let name = names.get(at).unwrap_or(&"");
        if !is_same || !condition.unit.is_empty() && !totals::has_unit(name, &condition.unit) {
            return None;
        }
    }
    let rows = filled.into_iter().map(|(row, _)| row);
    Some(ComparedColumn {
        at,
        amounts: rows.zip(amounts).collect(),
        limit,
    })
}

/// The amounts of the cells, and last that of a number of the question, which is written like them.
/// Beside whole numbers only, its marks group its digits: "1,200".
fn with_limit(cells: &[&str], number: &str, usual: Option<char>) -> Option<Vec<Amount>> {
    let with = |number: &str| amounts::of_column(&[cells, &[number]].concat(), usual);
    let are_whole = cells.iter().all(|cell| !cell.contains(['.', ',']));
    with(number).or_else(|| with(&number.replace(['.', ','], "")).filter(|_| are_whole))
}

/// The rows that meet the question's conditions on amounts; `None` if it has none, or if no table
/// decides them all.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Choice> {
    let question = &ranked.question;
    let is_open = matches!(question.kind, QuestionKind::Fact | QuestionKind::List);
    if question.conditions.is_empty() || !is_open {
        return None;
    }
    let near = ranked.order.iter().take(16);
    near.filter(|c| c.features.unknown_name == 0.0)
        .find_map(|candidate| of_table(ranked, candidate))
}

fn of_table(ranked: &Ranked<'_>, candidate: &Candidate) -> Option<Choice> {
    let unit = ranked.unit(candidate.index)?;
    let header = ranked.unit(unit.lead.filter(|_| unit.form == Form::Row)?)?;
    let names = cells(header);
    let all = passage::rows_beside(ranked.found, candidate.index);
    let conditions = ranked.question.conditions.iter();
    let mut decided = conditions.map(|one| decide(ranked, &names, &all, one));
    if decided.any(|rows| rows.is_none()) || !is_about(ranked, header, candidate) {
        return None;
    }
    let rows = rows::asked(ranked, &names, all)?;
    let fits = confidence::nearly_fits_but_for_time(ranked, candidate)
        || rows::says_everything(ranked, candidate);
    if rows.is_empty() || !fits {
        return None;
    }
    let mut shown = Passage::new(unit.note, passage::rows(ranked.found, unit.lead, &rows));
    let units = rows.iter().filter_map(|row| ranked.unit(*row));
    shown.keys.extend(units.map(|unit| unit.span.clone()));
    Some(Choice::certain(vec![shown]))
}

/// Whether a table is about what the question asks for.
fn is_about(ranked: &Ranked<'_>, header: &Unit, candidate: &Candidate) -> bool {
    let question = &ranked.question;
    let numbers = question.stems_of_conditions();
    let named = stems_of(&header.plain);
    let terms = question.terms.iter().zip(&candidate.credits.above);
    let covered: Vec<f32> = terms
        .map(|(term, above)| match numbers.contains(&term.stem) {
            true => 1.0,
            false => above.max(score::covers(&named, term)),
        })
        .collect();
    score::share(question, &covered) >= ABOUT
}

/// The question's constraints without the years that its conditions already name.
pub(super) fn without_years(
    question: &[AmountCondition],
    constraints: Vec<Constraint>,
) -> Vec<Constraint> {
    let years: HashSet<u32> = question.iter().filter_map(AmountCondition::year).collect();
    let is_other = |constraint: &Constraint| !matches!(constraint, Constraint::Year(year) if years.contains(year));
    constraints.into_iter().filter(is_other).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_in_front_of_and_behind_their_number() {
        for (text, limit, number) in [
            ("which items have less than 5 in stock", Limit::Below, "5"),
            (
                "months with more than 1,200 visitors",
                Limit::Above,
                "1,200",
            ),
            ("tools under 50 €", Limit::Below, "50"),
            ("everything over €20.50?", Limit::Above, "€20.50"),
            ("rooms for at least three people", Limit::AtLeast, "three"),
            ("alle Posten bis zu 12,50 €", Limit::AtMost, "12,50"),
            ("looms made before 1910", Limit::Below, "1910"),
            ("wines from after the 2015", Limit::Above, "2015"),
            ("boxes with 5 or more cups", Limit::AtLeast, "5"),
            ("lesquelles ont moins de 3 places", Limit::Below, "3"),
        ] {
            let found = of(text);
            let [one] = found.as_slice() else {
                panic!("{text}: {found:?}");
            };
            assert_eq!((one.limit, one.written.as_str()), (limit, number), "{text}");
        }
        let units = |text: &str| of(text).into_iter().map(|one| one.unit).collect::<Vec<_>>();
        assert_eq!(units("tools under 50 €, over 3 kg"), ["€", "kg"]);
        assert_eq!(units("less than 5 in stock"), [""], "no inch");
        assert_eq!(units("bags of 5 kg or more"), ["kg"]);
        for text in [
            "what happened in 1910",
            "is it over?",
            "who sat under the tree",
            "more than words",
        ] {
            assert_eq!(of(text), Vec::new(), "{text}");
        }
    }

    #[test]
    fn only_a_year_behind_before_or_after_is_a_condition_on_a_year() {
        let years = |text: &str| of(text).iter().filter_map(AmountCondition::year).count();
        assert_eq!(years("looms made before 1910"), 1);
        assert_eq!(years("more than 1910 visitors"), 0);
        assert_eq!(years("before 1910 km"), 0);
    }
}
