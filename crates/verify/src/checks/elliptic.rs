//! L5: "Email counts, text messages do not": each thing has its own answer, and a claim must not
//! give one the answer of the other.

use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};

/// Words that end such a clause, and words behind its negation.
const AUXILIARY: &[&str] = list!("elliptic.auxiliary");
const ALLOWING: &[&str] = list!("asserted.permissions");
const NOT: &[&str] = list!("elliptic.not");
const TAIL: &[&str] = list!("elliptic.tail");

/// Maximum number of words of a subject, and of clauses.
const LONGEST: usize = 6;
const MOST: usize = 8;

/// A clause, and whether it denies.
struct OwnAnswer<'t> {
    words: Vec<&'t Token>,
    denied: bool,
    is_elliptic: bool,
}

/// Finds a thing of the claim that has the answer of another one in the text.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let own = answers(case.claim, &case.claim.text.tokens);
    passages.with(1).find_map(|passage| {
        let theirs = answers(passage.reading(), passage.tokens());
        // A clause without a verb of its own takes that of the clause before it.
        let mut pairs = theirs
            .windows(2)
            .filter(|pair| matches!(pair, [main, other] if other.is_elliptic && !main.is_elliptic));
        pairs.find_map(|pair| {
            own.iter()
                .find_map(|said| turned(case, passage, said, pair))
        })
    })
}

/// Whether the cited text denies something of a thing in a clause without a verb of its own, and the
/// claim denies something of the same thing: "sheds do not".
pub(super) fn denies_too(case: &Case<'_>, passages: &Passages<'_>) -> bool {
    let own = answers(case.claim, &case.claim.text.tokens);
    let own: Vec<&OwnAnswer<'_>> = own.iter().filter(|said| said.denied).collect();
    passages.with(1).any(|passage| {
        let theirs = answers(passage.reading(), passage.tokens());
        let mut denied = theirs.iter().filter(|a| a.is_elliptic && a.denied);
        denied.any(|answer| own.iter().any(|said| has_all(said, answer)))
    })
}

fn has_all(said: &OwnAnswer<'_>, answer: &OwnAnswer<'_>) -> bool {
    let mut words = answer.words.iter();
    words.all(|t| said.words.iter().any(|w| w.id == t.id))
}

fn turned(
    case: &Case<'_>,
    passage: &Passage<'_>,
    said: &OwnAnswer<'_>,
    theirs: &[OwnAnswer<'_>],
) -> Option<Objection> {
    // The one answer whose own words the clause of the claim has.
    let mut named = (0..theirs.len()).filter(|n| {
        let only = only_in(theirs, *n);
        !only.is_empty() && only.iter().any(|t| said.words.iter().any(|w| w.id == t.id))
    });
    let one = named.next()?;
    let answer = theirs.get(one).filter(|_| named.next().is_none())?;
    // A longer answer is named by what it is about, its first word.
    let naming = match answer.is_elliptic {
        true => answer.words.len(),
        false => 1,
    };
    let mut naming = answer.words.iter().take(naming);
    let is_whole = naming.all(|t| said.words.iter().any(|w| w.id == t.id));
    if answer.denied == said.denied || !is_whole {
        return None;
    }
    let word = only_in(theirs, one)
        .into_iter()
        .find(|t| said.words.iter().any(|w| w.id == t.id))?;
    // The words that both things share show that it is about the same.
    let verb = theirs
        .iter()
        .filter(|a| !a.is_elliptic)
        .flat_map(|a| a.words.iter())
        .any(|t| t.id != word.id && has_stem(&case.claim.text.tokens, t.id));
    let counts = case.claim.text.tokens.iter().any(|t| {
        ALLOWING.contains(&&*case.claim.lower_word(t)) || t.id == word.id && said.is_elliptic
    });
    if !verb && !counts {
        return None;
    }
    let effect = if verb {
        Effect::Rejects
    } else {
        Effect::Doubts
    };
    let said = passage.reading().word(word).to_owned();
    let detail = match answer.denied {
        true => Detail::TextNegates { said },
        false => Detail::ClaimNegates { said },
    };
    let found = Objection::new(Code::Negation, effect, detail);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// The words of one answer that no other has.
fn only_in<'t>(answers: &[OwnAnswer<'t>], n: usize) -> Vec<&'t Token> {
    let Some(own) = answers.get(n) else {
        return Vec::new();
    };
    let others = answers.iter().enumerate().filter(|(i, _)| *i != n);
    let others: Vec<&&Token> = others.flat_map(|(_, a)| &a.words).collect();
    let own = own.words.iter().copied();
    own.filter(|t| !others.iter().any(|o| o.id == t.id))
        .collect()
}

/// The clauses of a sentence with their answers.
fn answers<'t>(reading: &Reading, tokens: &'t [Token]) -> Vec<OwnAnswer<'t>> {
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    let answers = clauses.filter_map(|clause| answer(reading, clause));
    answers.take(MOST).collect()
}

fn answer<'t>(reading: &Reading, clause: &'t [Token]) -> Option<OwnAnswer<'t>> {
    let words: Vec<&Token> = clause.iter().filter(|t| t.is_content()).collect();
    if words.is_empty() {
        return None;
    }
    let is_not = |t: &&Token| NOT.contains(&&*reading.lower_word(t));
    let denied = clause.iter().filter(is_not).count() % 2 == 1;
    let is_tail = |t: &&Token| TAIL.contains(&&*reading.lower_word(t));
    let mut ends = clause.iter().rev().skip_while(is_tail);
    let last = ends.next()?;
    let is_aux = |t: &Token| AUXILIARY.contains(&&*reading.lower_word(t));
    let is_elliptic = words.len() <= LONGEST
        && (is_aux(last) || last.negates() && ends.next().is_some_and(is_aux));
    Some(OwnAnswer {
        words,
        denied,
        is_elliptic,
    })
}
