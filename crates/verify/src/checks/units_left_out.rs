//! L4: a number of the cited text whose unit stands only at an earlier number of its sentence: "30 h
//! needed, 34 done", "0.4 l/s in July, 0.15 end of August".

use crate::atoms::{self as a, Atom, MeasureUnit, What};
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Whether a number without a unit has that of an earlier number of its sentence, which is of this
/// kind: both are followed by the same word, or what follows is no noun that the number counts.
pub(super) fn leaves_out_its_unit(reading: &Reading, atom: &Atom, unit: MeasureUnit) -> bool {
    let sentence = reading.sentence_of(atom.tokens.start);
    let earlier = reading.atoms_of(sentence).iter();
    let mut earlier = earlier.filter(|e| e.tokens.end <= atom.tokens.start && measures(e, unit));
    let next = behind(reading, atom, DATE);
    let Some(first) = next.first() else {
        return false;
    };
    let is_dated = next.iter().any(|t| a::is_calendar(reading.word(t)));
    let says_no_noun = is_dated || says_what_happened(reading, first);
    earlier.any(|e| says_no_noun || has_stem(behind(reading, e, UNIT), first.id))
}

/// Maximum number of words behind a number that begin a date: "end of August".
const DATE: usize = 3;

/// Maximum number of words behind a number with the rest of its unit and the word after that: "l/s
/// fin".
const UNIT: usize = 3;

fn behind<'r>(reading: &'r Reading, atom: &Atom, count: usize) -> &'r [Token] {
    let tokens = &reading.text.tokens;
    let end = tokens.len().min(atom.tokens.end + count);
    tokens.get(atom.tokens.end..end).unwrap_or(&[])
}

fn measures(atom: &Atom, unit: MeasureUnit) -> bool {
    match &atom.what {
        What::Number(n) => n.unit.is_some_and(|own| a::same_kind(own, unit)),
        _ => false,
    }
}

/// Whether a word says what became of something: "done", "used".
fn says_what_happened(reading: &Reading, token: &Token) -> bool {
    token.status().is_some() || reading.word(token).ends_with("ed")
}
