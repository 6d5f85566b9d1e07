//! The age of a person, from the day of birth.

use super::calendar::{self, Day, dated_tokens, tokens};
use super::cues;
use super::passage::{self, Passage};
use super::question::{Operation, ParsedQuestion, Term};
use super::rank::Ranked;
use super::score;
use super::totals::Computed;
use super::units::{Form, Unit};

/// The whole years since the birth of the person in question; `None` if no note says when that was,
/// if two say different days, or if the question is about another time than today.
pub(super) fn age(ranked: &Ranked<'_>) -> Option<(Computed, Vec<Passage>)> {
    let question = &ranked.question;
    if asks_for_another_time(question) {
        return None;
    }
    let units = ranked.found.units.iter().enumerate();
    let births: Vec<(usize, Day)> = units
        .filter(|(_, unit)| unit.sayable)
        .filter_map(|(i, unit)| Some((i, unit, birth(question, unit)?)))
        .filter(|(_, unit, _)| !says_death(ranked, unit))
        .map(|(i, _, day)| (i, day))
        .collect();
    let (index, from) = *births.first()?;
    if births.iter().any(|(_, day)| *day != from) {
        return None;
    }
    let today = question.today;
    let years = calendar::years_between(from, today)?;
    let noun = if years == 1 { "year" } else { "years" };
    let computed = Computed {
        operation: Operation::Years,
        value: format!("{years} {noun}"),
        arithmetic: format!("from {from} to {today} (today)"),
        count: 1,
        notes: 1,
    };
    Some((computed, vec![passage::around(ranked.found, index)?]))
}

/// Whether the question is about an age in the past or the future: "how old was she".
fn asks_for_another_time(question: &ParsedQuestion) -> bool {
    let lower = question.text.to_lowercase();
    let mut words = cues::split(&lower);
    words.any(|word| cues::holds(cues::AGE_THEN, word))
        || question.period.is_some()
        || question.has_unclear_time
}

/// Whether the unit, or a property of its note, says that somebody died.
fn says_death(ranked: &Ranked<'_>, unit: &Unit) -> bool {
    let of_note = passage::of_note(ranked.found, unit.note).map(|(_, unit)| unit);
    let mut properties = of_note.filter(|other| other.form == Form::Property);
    names_death(&unit.plain) || properties.any(|property| names_death(&property.plain))
}

/// Whether a text has a word for a death.
fn names_death(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = cues::split(&lower);
    text.contains(['†', '✝']) || words.any(|word| cues::holds(cues::DEATH, word))
}

/// The day of the birth that the unit states of the person in question.
fn birth(question: &ParsedQuestion, unit: &Unit) -> Option<Day> {
    let today = question.today;
    let lower = unit.plain.to_lowercase();
    let tokens = tokens(&lower);
    let dates = dated_tokens(&tokens);
    let [(range, day)] = dates.as_slice() else {
        return None;
    };
    if day.day == 0 || *day > today || !are_all_named(question, unit) {
        return None;
    }
    let mut before = tokens.get(..range.start)?.to_vec();
    // German has the word behind the date: "wurde am 3. Mai 1980 geboren".
    let behind = tokens.get(range.end).copied();
    before.extend(behind.filter(|word| cues::holds(cues::BIRTH, word)));
    let is_birth = match unit.form {
        Form::Property => is_birthday_key(&before, calendar::years_between(*day, today)?),
        Form::Sentence | Form::Item => is_birth_of(question, &before),
        _ => false,
    };
    is_birth.then_some(*day)
}

/// Whether the unit or the names of its note have every word of the question.
fn are_all_named(question: &ParsedQuestion, unit: &Unit) -> bool {
    let named =
        |t: &Term| score::covers(&unit.place.names, t) > 0.0 || score::covers(&unit.stems, t) > 0.0;
    !question.terms.is_empty() && question.terms.iter().all(named)
}

/// Whether a key, as words, is one for a day of birth. A birthday of this year may be the next one.
fn is_birthday_key(words: &[&str], years: u32) -> bool {
    let is_key = |word: &&str| cues::holds(cues::BIRTHDAY_KEYS, word);
    let is_part = |word: &&str| is_key(word) || cues::holds(cues::DATE_KEY_WORDS, word);
    let says_birth = words.iter().any(|word| cues::holds(cues::BIRTH, word));
    words.iter().any(is_key) && words.iter().all(is_part) && (says_birth || years > 0)
}

/// Whether the words before a date say that it is the day of birth of the person in question: the
/// person's names, if they are there, then "was born on", and nothing else.
fn is_birth_of(question: &ParsedQuestion, words: &[&str]) -> bool {
    let Some(birth) = words
        .iter()
        .rposition(|word| cues::holds(cues::BIRTH, word))
    else {
        return false;
    };
    let (before, after) = words.split_at(birth);
    let names = match before.iter().rposition(|word| is_term(question, word)) {
        // One more name may follow, as in "Anna Schmidt was born" for "How old is Anna?"
        Some(last) => {
            let next = before.get(last + 1).is_some_and(|word| !is_grammar(word));
            last + 1 + usize::from(next)
        }
        None => 0,
    };
    let (front, rest) = before.split_at(names.min(before.len()));
    let is_name_or_article = |(at, word): (usize, &&str)| {
        at + 1 == names || is_term(question, word) || is_possessive(word)
    };
    front.iter().enumerate().all(is_name_or_article)
        && rest.iter().all(|word| is_grammar(word))
        && after.iter().skip(1).all(|word| is_grammar(word))
}

/// Whether a word is one of the question's subject, in the same form: "Annas" is not "Anna".
fn is_term(question: &ParsedQuestion, word: &str) -> bool {
    let mut terms = question.terms.iter();
    terms.any(|t| t.word.to_lowercase() == word)
}

/// Whether a word may stand before a name without changing who is meant.
fn is_possessive(word: &str) -> bool {
    cues::holds(cues::BEFORE_NAME, word)
}

/// Whether a word between a name and a date carries no content.
fn is_grammar(word: &str) -> bool {
    cues::holds(cues::BETWEEN_NAME_AND_BIRTH, word) || cues::names_day(word)
}
