//! Signs that a unit with the words of a question is about something else: another feast, the price
//! of another thing, or only what the question leaves out.

use super::cues;
use super::question::ParsedQuestion;
use super::rows::stems_of;
use super::score;
use super::units::{Form, Unit};

/// Whether a unit is about something else than the question.
pub(super) fn is_about_another(question: &ParsedQuestion, unit: &Unit) -> bool {
    names_another_feast(question, unit)
        || prices_another(question, unit)
        || says_only_what_is_left_out(question, unit)
}

/// Whether the question names a feast, and the unit another one instead.
fn names_another_feast(question: &ParsedQuestion, unit: &Unit) -> bool {
    let asked = cues::feasts(&question.text.to_lowercase());
    if asked.is_empty() {
        return false;
    }
    let own = cues::feasts(&unit.plain.to_lowercase());
    let above = cues::feasts(&unit.place.written.to_lowercase());
    let is_there = |feast: &usize| own.contains(feast) || above.contains(feast);
    !own.is_empty() && !asked.iter().any(is_there)
}

/// Pronouns for the thing that was named before.
const IT: &str = "it its they them these this that er sie es ihn il elle ils elles lo la los las él ella он она оно они";

/// Conjunctions between two clauses.
const JOINED_BY: [&str; 12] = [
    ", and ", ", but ", ", so ", ", while ", "; ", ", und ", ", aber ", ", et ", ", mais ", ", y ",
    ", pero ", ", и ",
];

/// Whether the question asks for a price, and each clause with an amount of money is about a thing
/// that the question does not name, while another clause is about the one that it names.
fn prices_another(question: &ParsedQuestion, unit: &Unit) -> bool {
    let lower = question.text.to_lowercase();
    let asks = question.wants.price || question.wants.number && cues::PRICE.are_in(&lower);
    if !asks || !matches!(unit.form, Form::Sentence | Form::Item) {
        return false;
    }
    let clauses = clauses(&unit.plain);
    let (priced, others): (Vec<&str>, Vec<&str>) =
        clauses.into_iter().partition(|clause| has_money(clause));
    !priced.is_empty()
        && !priced
            .iter()
            .any(|clause| names_its_thing(question, clause))
        && others.iter().any(|clause| has_subject(question, clause))
}

/// The clauses of a sentence.
fn clauses(plain: &str) -> Vec<&str> {
    let mut out = vec![plain];
    for joint in JOINED_BY {
        out = out.into_iter().flat_map(|part| part.split(joint)).collect();
    }
    out
}

/// Whether a clause has digits and a sign or a word of a currency.
fn has_money(clause: &str) -> bool {
    let lower = clause.to_lowercase();
    let mut words = cues::split(&lower);
    let has_currency = clause.contains(|c: char| cues::MONEY_MARKS.contains(c))
        || words.any(|word| cues::holds(cues::CURRENCIES, word));
    has_currency && clause.contains(|c: char| c.is_ascii_digit())
}

/// Whether a clause names the thing of the question, has a pronoun for it, or says what
/// something costs without naming another thing.
fn names_its_thing(question: &ParsedQuestion, clause: &str) -> bool {
    let lower = clause.to_lowercase();
    let mut words = cues::split(&lower);
    has_subject(question, clause)
        || words.any(|word| cues::holds(IT, word))
        || cues::PRICE.are_in(&lower)
}

/// Whether a text has a word of the question that is not one for a price.
fn has_subject(question: &ParsedQuestion, text: &str) -> bool {
    let stems = stems_of(text);
    let mut terms = question.terms.iter();
    terms.any(|term| {
        !cues::MONEY.are_in(&term.word.to_lowercase()) && score::covers(&stems, term) > 0.0
    })
}

/// Whether the question leaves a thing out, and the unit has no word besides those of the question
/// and of its note's names.
fn says_only_what_is_left_out(question: &ParsedQuestion, unit: &Unit) -> bool {
    let lower = question.text.to_lowercase();
    if !cues::BESIDES.are_in(&lower) || matches!(unit.form, Form::Row | Form::Code) {
        return false;
    }
    let asked = stems_of(&lower);
    let grammar = cues::of_language(&unit.plain.to_lowercase());
    let mut words = cues::split(&unit.plain);
    words.all(|word| {
        let is_grammar = cues::is_grammar(grammar, &word.to_lowercase());
        is_grammar
            || stems_of(word)
                .iter()
                .all(|s| asked.contains(s) || unit.place.names.contains(s))
    })
}
