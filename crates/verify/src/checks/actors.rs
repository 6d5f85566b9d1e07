//! L4: the person of a claim is the one whom the cited text names for the same act.
//!
//! "Priya offered to ask a plumber" does not support "Tomas offered to ask a plumber": one clause of
//! the text has all words of the act and another name, and no clause has the act and this name.

use super::passages::{Passage, Passages};
use super::{Case, Effect, names};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};
use local_agent_text::language::is_common_english_word;

/// Least number of words of an act.
const ENOUGH: usize = 2;

/// Maximum number of names of a claim.
const MOST_NAMES: usize = 6;

/// Pronouns that may stand for a person named before.
const PRONOUNS: &[&str] = list!("actors.pronouns");

/// Finds the first person of the claim whose act belongs to another one.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let tokens = case.claim.text.tokens.as_slice();
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    for clause in clauses {
        if clause.iter().any(Token::negates) {
            continue;
        }
        let people = people(case.claim, clause);
        let Some(own) = one_name(case.claim, &people) else {
            continue;
        };
        let act: Vec<&Token> = clause
            .iter()
            .filter(|t| t.is_content_or_number() && !people.iter().any(|p| p.start == t.start))
            .filter(|t| !TITLES.contains(&&*case.claim.lower_word(t)))
            .collect();
        if act.len() < ENOUGH || !is_told(case, own) {
            continue;
        }
        if let Some(found) = belongs_to_another(case, passages, own, &act) {
            return Some(found);
        }
    }
    None
}

/// The names in a clause. Its first word counts only if there is no other: it may be any noun.
pub(super) fn people<'t>(reading: &Reading, clause: &'t [Token]) -> Vec<&'t Token> {
    let all = clause.iter().filter(|t| is_person(reading, t));
    let all: Vec<&Token> = all.take(MOST_NAMES).collect();
    let begin = clause.first().map_or(0, |t| t.start);
    let inner = all.iter().copied().filter(|t| t.start > begin);
    let inner: Vec<&Token> = inner.collect();
    if inner.is_empty() { all } else { inner }
}

const TITLES: &[&str] = list!("actors.titles");

/// The last word of the only name among these words: "Ms. Ortiz", "Greta Holm".
pub(super) fn one_name<'t>(reading: &Reading, people: &[&'t Token]) -> Option<&'t Token> {
    let is_split = people.windows(2).any(|pair| {
        let gap = reading.normal.get(pair[0].end..pair[1].start);
        !gap.is_some_and(|gap| matches!(gap, " " | ". "))
    });
    let last = people.last().copied().filter(|_| !is_split)?;
    (!TITLES.contains(&&*reading.lower_word(last))).then_some(last)
}

/// Whether a word is the name of a person or thing, at the beginning of a sentence too.
pub(super) fn is_person(reading: &Reading, token: &Token) -> bool {
    let word = reading.word(token);
    let is_first = token.first && token.capital && !is_common_english_word(word);
    let is_word = word.len() > 1 && word.chars().skip(1).all(|c| c.is_lowercase() || c == '-');
    token.is_content() && is_word && (names::is_name(token) && !token.first || is_first)
}

/// Whether the cited text has the name at all.
fn is_told(case: &Case<'_>, name: &Token) -> bool {
    case.cited.iter().any(|s| s.reading.has(name.id))
}

fn belongs_to_another(
    case: &Case<'_>,
    passages: &Passages<'_>,
    own: &Token,
    act: &[&Token],
) -> Option<Objection> {
    let mut found: Option<(&Passage<'_>, &Token, bool)> = None;
    for passage in passages.with(ENOUGH) {
        if Passages::share(act, passage.tokens()) < 1.0 {
            continue;
        }
        let clauses = passage.tokens().chunk_by(|a, b| a.clause == b.clause);
        let mut holding = clauses.filter(|clause| Passages::share(act, clause) >= 1.0);
        let clause = holding.next()?;
        if has_stem(clause, own.id) || may_mean(passage, clause, own) {
            return None;
        }
        let other = clause
            .iter()
            .rfind(|t| is_person(passage.reading(), t) && !case.claim.has(t.id))?;
        let is_near = has_stem(passage.tokens(), own.id);
        found = found.or(Some((passage, other, is_near)));
    }
    let (passage, other, is_near) = found?;
    let effect = match is_near {
        true => Effect::Doubts,
        false => Effect::Rejects,
    };
    let detail = Detail::Differs {
        said: case.claim.word(own).to_owned(),
        found: passage.reading().word(other).to_owned(),
    };
    let found = Objection::new(Code::Referent, effect, detail).at(own.start..own.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// Whether a pronoun of the clause may stand for the name, which is in the sentence before.
fn may_mean(passage: &Passage<'_>, clause: &[Token], own: &Token) -> bool {
    let reading = passage.reading();
    let has_pronoun = clause
        .iter()
        .any(|t| PRONOUNS.contains(&&*reading.lower_word(t)));
    let before = passage.sentence.saturating_sub(1)..passage.sentence + 1;
    let mut near = before.map(|n| reading.tokens_of(n));
    has_pronoun && near.any(|tokens| has_stem(tokens, own.id))
}
