//! L4: a date or time at which something begins in the cited text is not its end in the claim: "from
//! 5 December", "until 5 December".

use super::atoms::readings;
use super::{Case, Effect};
use crate::Code;
use crate::atoms::{Atom, What};
use crate::reading::Reading;

/// Maximum number of words between "ends" and a date: "ends on the".
const NEAR: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndOfTime {
    Begin,
    End,
}

/// The doubt about a date or time that limits something on the other side in the cited text.
pub(super) fn check(case: &Case<'_>) -> Option<(Effect, Code, String)> {
    let mut atoms = case.claim.atoms.iter();
    atoms.find_map(|atom| on_the_other_side(case, atom))
}

fn on_the_other_side(case: &Case<'_>, atom: &Atom) -> Option<(Effect, Code, String)> {
    let own = limit(case.claim, atom)?;
    let mut said: Option<(&Reading, &Atom)> = None;
    for reading in readings(case) {
        for e in reading.atoms.iter().filter(|e| are_one(atom, e)) {
            if limit(reading, e).is_none_or(|theirs| theirs == own) {
                return None;
            }
            said = Some((reading, e));
        }
    }
    let (reading, e) = said?;
    let shown = reading.shown_atom(e);
    let why = match own {
        EndOfTime::End => format!("In the cited text “{shown}” is a beginning and no end."),
        EndOfTime::Begin => format!("In the cited text “{shown}” is an end and no beginning."),
    };
    Some((Effect::Doubts, Code::Date, why))
}

/// Whether both are the same date or time.
fn are_one(own: &Atom, other: &Atom) -> bool {
    match (&own.what, &other.what) {
        (What::Date(own), What::Date(other)) => own.is_part_of(other) && own.month.is_some(),
        (What::Time(own), What::Time(other)) => own.agrees(*other),
        _ => false,
    }
}

/// Whether the words before a date or time say that something begins or ends then.
fn limit(reading: &Reading, atom: &Atom) -> Option<EndOfTime> {
    const BEGIN: &[&str] = list!("limits.begin");
    const END: &[&str] = list!("limits.end");
    const BETWEEN: &[&str] = list!("limits.between");
    let before = reading.text.tokens.get(..atom.tokens.start)?;
    let mut near = before.iter().rev().take(NEAR);
    let clause = reading.text.tokens.get(atom.tokens.start)?.clause;
    let word = near.find(|t| !BETWEEN.contains(&&*reading.lower_word(t)))?;
    let word = reading.lower_word(word.clause.eq(&clause).then_some(word)?);
    match (BEGIN.contains(&&*word), END.contains(&&*word)) {
        (true, _) => Some(EndOfTime::Begin),
        (_, true) => Some(EndOfTime::End),
        _ => None,
    }
}
