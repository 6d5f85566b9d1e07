//! Answers "is X …?" by a property with the status of X.
//!
//! "Yes" and "no" are only said if the rule is certain: the status is the word that is asked for, or
//! it is another one and the word that is asked for is the status of another note.

use super::Single;
use super::choose::{Choice, around};
use super::cues;
use super::question::{Operation, QuestionKind, Term};
use super::rank::Ranked;
use super::rows::stems_of;
use super::score;
use super::totals::Computed;
use super::units::{Form, Unit};

/// The status of the note that the question names, with "yes" or "no" if that is certain; `None` if
/// the question asks for no status.
pub(super) fn choose(ranked: &Ranked<'_>) -> Option<Single> {
    let question = &ranked.question;
    if question.kind != QuestionKind::YesNo {
        return None;
    }
    let units = ranked.found.units.iter().enumerate();
    let all: Vec<(usize, &Unit)> = units.filter(|(_, unit)| is_status(unit)).collect();
    let (index, unit, asked) = all.iter().find_map(|(index, unit)| {
        let asked = asked_status(ranked, unit)?;
        Some((*index, *unit, asked))
    })?;
    let own = value(unit);
    let is_value = |unit: &Unit| stems_of(value(unit)) == stems_of(&asked.word);
    let is_other = all.iter().any(|(_, unit)| is_value(unit));
    let is_negated = cues::negates(&question.text.to_lowercase());
    let said = match is_value(unit) {
        _ if is_negated => None,
        true => Some("Yes"),
        false if is_other => Some("No"),
        false => None,
    };
    // If neither is certain, the property is found like any other text.
    let said = said?;
    let passage = around(ranked, index)?;
    Some(Single {
        choice: Choice::certain(vec![passage]),
        computed: Some(Computed {
            operation: Operation::YesOrNo,
            value: said.to_owned(),
            arithmetic: format!("the status is “{own}”"),
            count: 1,
            notes: 1,
        }),
        why: None,
    })
}

/// Whether a unit is a property with a status of at most two words.
fn is_status(unit: &Unit) -> bool {
    let key = unit.plain.split(':').next().unwrap_or("").to_lowercase();
    let is_short = (1..=2).contains(&cues::split(value(unit)).count());
    unit.form == Form::Property && cues::holds(cues::STATUS_KEYS, &key) && is_short
}

/// The value of a property.
fn value(unit: &Unit) -> &str {
    let value = unit.plain.split_once(':').map_or("", |(_, value)| value);
    value.trim()
}

/// The only term of the question that does not name the note of a status, if all others do.
fn asked_status<'r>(ranked: &'r Ranked<'_>, unit: &Unit) -> Option<&'r Term> {
    let names = &unit.place.names;
    let terms = ranked.question.terms.iter();
    let (named, other): (Vec<&Term>, Vec<&Term>) =
        terms.partition(|term| score::covers(names, term) > 0.0);
    let is_named = !named.is_empty();
    match other.as_slice() {
        [asked] if is_named => Some(asked),
        _ => None,
    }
}
