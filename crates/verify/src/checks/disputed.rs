//! C38: of several cited items each may give another value for the same thing. A claim with one of these
//! values has a conflict, and is not wrong.

use super::{Case, Effect, Findings, Source, is_name};
use crate::Code;
use crate::atoms::What;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;

/// Maximum number of cited items that are compared one by one.
const MOST_ITEMS: usize = 4;

/// Codes of a claim that has another value than the text.
const OF_VALUES: [Code; 5] = [
    Code::Number,
    Code::Unit,
    Code::Date,
    Code::Referent,
    Code::Quantifier,
];

/// Whether a claim may be compared with each of the items that it cites alone.
pub(crate) fn may_be_disputed(claim: &Reading, cited: &[Source<'_>]) -> bool {
    let mut atoms = claim.atoms.iter();
    (2..=MOST_ITEMS).contains(&cited.len())
        && atoms.any(|atom| matches!(atom.what, What::Number(_) | What::Date(_)))
}

/// The findings on a claim if what it cites is disputed: one item alone proves it, and another one with
/// the same words has another value. `alone` are the findings with each cited item alone.
pub(crate) fn settle(case: &Case<'_>, found: Findings, alone: Vec<Findings>) -> Findings {
    let rejects_values = |findings: &Findings| {
        let mut rejecting = findings
            .objections
            .iter()
            .filter(|o| o.effect == Effect::Rejects);
        let first = rejecting.next();
        first.is_some_and(|o| OF_VALUES.contains(&o.code))
            && rejecting.all(|o| OF_VALUES.contains(&o.code))
    };
    let is_known = found.objections.iter().any(|o| o.code == Code::Conflict);
    if found.rejects() && !rejects_values(&found) {
        return found;
    }
    let others = alone.iter().map(rejects_values).collect::<Vec<bool>>();
    let mut sources = case.cited.iter().zip(&others);
    let Some((by, _)) = sources.find(|(_, rejects)| **rejects) else {
        return found;
    };
    let by = by.item.label;
    let mut proven = case.cited.iter().zip(alone).filter(|(source, findings)| {
        let is_clean = findings
            .objections
            .iter()
            .all(|o| o.effect == Effect::Remarks);
        is_clean && source.item.label != by
    });
    let Some((source, findings)) = proven.find(|(source, _)| {
        let mut cited = case.cited.iter();
        cited.any(|other| other.item.label == by && have_the_same_words(case, source, other))
    }) else {
        return found;
    };
    let mut settled = if found.rejects() { findings } else { found };
    settled.place = settled
        .place
        .filter(|(label, _)| *label == source.item.label);
    if !is_known {
        let detail = Detail::Disputed { by };
        let remark = Objection::new(Code::Conflict, Effect::Remarks, detail);
        settled.objections.push(remark);
    }
    settled
}

/// Whether two items speak of the same thing: the first has every word of the claim that the other has,
/// besides its values, the other has every name that the first has, and most of its words.
fn have_the_same_words(case: &Case<'_>, first: &Source<'_>, other: &Source<'_>) -> bool {
    let tokens = case.claim.text.tokens.iter();
    let words = tokens.filter(|t| t.is_content() && !t.number);
    let (mut all, mut shared) = (0, 0);
    for word in words {
        match (first.reading.has(word.id), other.reading.has(word.id)) {
            (false, true) => return false,
            (true, false) if is_name(word) => return false,
            (of_first, of_other) => {
                all += usize::from(of_first);
                shared += usize::from(of_other);
            }
        }
    }
    shared > 0 && shared * 5 >= all * 3
}
