//! What the amounts of a text belong to. A number of a claim is not computed if the cited text gives
//! the same thing another number: "The pump costs 40 euros", where the pump costs 50 and the hose 10.

use super::Case;
use super::column_units;
use super::derive::{ClaimNumber, Operand, infers};
use crate::atoms::{self as a, Atom, What};
use crate::reading::Reading;
use crate::text::Token;

use local_agent_text::markdown::BlockRole;

/// Whether a word says that two amounts are compared: "more", "difference".
pub(super) fn is_word_of_difference(claim: &Reading, token: &Token) -> bool {
    const DIFFERENCES: &[&str] = list!("derive.differences");
    DIFFERENCES.contains(&&*claim.lower_word(token))
}

/// Whether a word says that a number is computed: "more", "together".
pub(super) fn is_word_of_computing(claim: &Reading, token: &Token) -> bool {
    is_word_of_difference(claim, token) || is_word_of_totals(claim, token)
}

/// Whether a word says that amounts are added up: "together", "total".
pub(super) fn is_word_of_totals(reading: &Reading, token: &Token) -> bool {
    const TOTALS: &[&str] = list!("derive.totals");
    TOTALS.contains(&&*reading.lower_word(token))
}

/// Whether the claim says that it computes something.
pub(super) fn computes(claim: &Reading) -> bool {
    const PHRASES: &[&str] = list!("derive.total-phrases");
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| is_word_of_computing(claim, t))
        || PHRASES.iter().any(|phrase| claim.lower().contains(phrase))
        || infers(claim)
}

/// Maximum number of words before and after an amount that are searched for what it belongs to.
const NEAR: usize = 24;

/// Maximum number of sentences with one word, and of amounts in one, that are searched.
const MOST_SENTENCES: usize = 6;
const MOST_AMOUNTS: usize = 12;

/// The stems of what an amount belongs to: the words before it, back to the clause with the amount
/// before it, and the words behind it in its clause. In a row or a list item: all words.
pub(super) fn thing(reading: &Reading, atom: &Atom) -> Vec<u32> {
    let at = &atom.tokens;
    let Some(sentence) = reading.sentence(reading.sentence_of(at.start)) else {
        return Vec::new();
    };
    let tokens = &reading.text.tokens;
    let near = at.start.saturating_sub(NEAR).max(sentence.tokens.start)..at.start;
    let before = tokens.get(near).unwrap_or(&[]);
    let near = at.end..at.end.saturating_add(NEAR).min(sentence.tokens.end);
    let behind = tokens.get(near).unwrap_or(&[]);
    let is_row = matches!(sentence.role, BlockRole::TableRow | BlockRole::ListItem);
    let (before, behind) = match is_row {
        true => (before, behind),
        false => (
            own_words_before(reading, atom, before),
            own_words_behind(reading, atom, behind),
        ),
    };
    let words = before.iter().chain(behind);
    let names = words.filter(|t| t.is_content() && !t.number);
    let names = names.filter(|t| a::unit(reading.word(t)).is_none());
    names.map(|t| t.id).collect()
}

/// The words that an amount belongs to in its own clause, also in a list item; in a row of a table, the
/// words of the row.
pub(super) fn thing_in_its_clause<'r>(reading: &'r Reading, atom: &Atom) -> Vec<&'r Token> {
    let at = &atom.tokens;
    let Some(sentence) = reading.sentence(reading.sentence_of(at.start)) else {
        return Vec::new();
    };
    let tokens = &reading.text.tokens;
    let near = at.start.saturating_sub(NEAR).max(sentence.tokens.start)..at.start;
    let before = tokens.get(near).unwrap_or(&[]);
    let near = at.end..at.end.saturating_add(NEAR).min(sentence.tokens.end);
    let behind = tokens.get(near).unwrap_or(&[]);
    if sentence.role == BlockRole::TableRow {
        return before.iter().chain(behind).collect();
    }
    let before = own_words_before(reading, atom, before);
    let behind = own_words_behind(reading, atom, behind);
    before.iter().chain(behind).collect()
}

/// The words in the head of the column of an amount of a table.
pub(super) fn own_column<'r>(reading: &'r Reading, atom: &Atom) -> &'r [Token] {
    let Some(head) = column_units::head_range(reading, atom) else {
        return &[];
    };
    let tokens = &reading.text.tokens;
    let from = tokens.partition_point(|t| t.start < head.start);
    let to = tokens.partition_point(|t| t.start < head.end);
    tokens.get(from..to).unwrap_or(&[])
}

fn clause_of(reading: &Reading, atom: &Atom) -> u32 {
    let first = reading.text.tokens.get(atom.tokens.start);
    first.map_or(0, |t| t.clause)
}

fn own_words_before<'t>(reading: &Reading, atom: &Atom, before: &'t [Token]) -> &'t [Token] {
    let clause = clause_of(reading, atom);
    let Some(at) = before.iter().rposition(|t| t.number) else {
        return before;
    };
    let behind = before.get(at + 1..).unwrap_or(&[]);
    let other = before.get(at).map_or(clause, |t| t.clause);
    let kept = match other == clause {
        true => 0,
        false => behind.partition_point(|t| t.clause <= other),
    };
    behind.get(kept..).unwrap_or(&[])
}

fn own_words_behind<'t>(reading: &Reading, atom: &Atom, behind: &'t [Token]) -> &'t [Token] {
    let clause = clause_of(reading, atom);
    let end = behind.iter().position(|t| t.clause > clause || t.number);
    behind.get(..end.unwrap_or(behind.len())).unwrap_or(&[])
}

/// Whether the claim gives a computed number to a thing that has another number in the cited text:
/// to only one of the two things whose amounts it was computed from, or to a third one.
pub(super) fn belongs_to_one(
    case: &Case<'_>,
    result: ClaimNumber<'_>,
    [x, y]: [&Operand<'_>; 2],
) -> bool {
    if computes(case.claim) {
        return false;
    }
    let own = thing(case.claim, result.atom);
    let [p, q] = [x, y].map(|operand| thing(operand.reading, operand.atom));
    if p.is_empty() || q.is_empty() {
        return false;
    }
    let names_first = own.iter().any(|id| p.contains(id) && !q.contains(id));
    let names_second = own.iter().any(|id| q.contains(id) && !p.contains(id));
    let mut other = own.iter().filter(|id| !p.contains(id) && !q.contains(id));
    names_first != names_second
        || !names_first && other.any(|id| has_another_number(case, result, *id))
}

/// Whether the cited text has another number of the same kind for the thing with this stem.
fn has_another_number(case: &Case<'_>, result: ClaimNumber<'_>, id: u32) -> bool {
    case.cited.iter().any(|source| {
        let reading = source.reading;
        let sentences = reading.sentences_with(id).iter().take(MOST_SENTENCES);
        let mut atoms =
            sentences.flat_map(|s| reading.atoms_of(*s as usize).iter().take(MOST_AMOUNTS));
        atoms.any(|atom| is_another_number(reading, atom, result, id))
    })
}

fn is_another_number(reading: &Reading, atom: &Atom, result: ClaimNumber<'_>, id: u32) -> bool {
    let What::Number(m) = &atom.what else {
        return false;
    };
    let value = super::arithmetic::in_unit_of(result.number, m);
    let differs = value.is_some_and(|value| !a::same(value, result.number.value));
    differs && !m.ordinal && thing(reading, atom).contains(&id)
}
