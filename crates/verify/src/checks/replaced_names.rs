//! L4: what a claim says of one person is not what the cited text says of another: "Dorothy asked for
//! longer hours" against "Nasreen asked for longer hours".
//!
//! One sentence of the text has most words of the claim and the name of another; the sentences with
//! the name of the claim have far fewer. Unlike `actors`, this needs no clause with every word of the
//! act, so it only doubts, unless the sentence has nearly all of the claim.

use super::actors::{is_person, one_name, people};
use super::language::{Language, supposed};
use super::name_forms::may_be_a_form_of_name;
use super::passages::{Passage, Passages};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::tables::Role;
use crate::text::{Token, has_stem};
use local_agent_text::language::is_common_english_word;
use local_agent_text::markdown::BlockRole;

/// Least number of words that a sentence shares with the claim, and how many fewer the sentences
/// with the name of the claim must have.
const ENOUGH: usize = 2;

/// A sentence is about what the claim says if it has this share of its words.
const ABOUT: f64 = 0.5;

/// A sentence with this share says nearly the same.
const CLOSE: f64 = 0.75;

/// How many words with content may be the subject at the beginning of a sentence.
const SUBJECT: usize = 2;

/// How many sentences around may name who is meant.
const AROUND: usize = 1;

/// Finds the first name of the claim in whose place the text has another.
pub(super) fn check(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    // Every noun of a German sentence has a capital.
    if supposed(case.claim, case.language, &cited) == Some(Language::German) {
        return None;
    }
    let tokens = case.claim.text.tokens.as_slice();
    let clauses = tokens.chunk_by(|a, b| a.clause == b.clause);
    let mut parts = std::iter::once(tokens).chain(clauses);
    parts.find_map(|part| replaced(case, passages, part))
}

fn replaced(case: &Case<'_>, passages: &Passages<'_>, part: &[Token]) -> Option<Objection> {
    let claim = case.claim;
    let named: Vec<&Token> = people(claim, part)
        .into_iter()
        .filter(|t| !t.may_be_amount())
        .collect();
    let codes = part.iter().filter(|t| is_code(claim.word(t)));
    let codes = codes.take(MOST_CODES).map(|t| vec![t]);
    let mut groups: Vec<Vec<&Token>> = Vec::new();
    for name in named {
        match groups.last_mut() {
            Some(open) if one_name(claim, &[*open.last()?, name]).is_some() => open.push(name),
            _ => groups.push(vec![name]),
        }
    }
    groups
        .into_iter()
        .chain(codes)
        .find_map(|name| replaces(case, passages, part, &name))
}

/// Maximum number of codes of a part of the claim.
const MOST_CODES: usize = 4;

/// Whether a word is the number of a thing: "FL3".
fn is_code(word: &str) -> bool {
    const LONGEST: usize = 6;
    let letters = word.chars().take_while(char::is_ascii_uppercase).count();
    let digits = word.get(letters..).unwrap_or("");
    letters > 0
        && word.len() <= LONGEST
        && !digits.is_empty()
        && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a word of the text can stand where this name of the claim does: a person for a person, and
/// a code for one with the same letters.
fn is_alike(claim: &Reading, own: &Token, reading: &Reading, other: &Token) -> bool {
    let (said, found) = (claim.word(own), reading.word(other));
    if is_code(said) {
        let letters = said.trim_end_matches(|c: char| c.is_ascii_digit());
        return is_code(found) && found.starts_with(letters);
    }
    is_person(reading, other) && !other.may_be_amount()
}

/// Whether nothing knows a name of the claim. The first word of a sentence may be any word.
fn is_strange(case: &Case<'_>, named: &[&Token]) -> bool {
    !named.iter().any(|t| {
        let word = case.claim.word(t);
        t.first
            || is_code(word)
            || is_common_english_word(word)
            || case.asked.has(t.id)
            || case.cited.iter().any(|s| s.reading.has(t.id))
    })
}

/// Whether the cited text may have the name in another case: "Poznań" for "Poznaniu".
fn is_inflected(case: &Case<'_>, name: &Token) -> bool {
    let readings: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    let language = supposed(case.claim, case.language, &readings);
    let lower = case.claim.lower_word(name);
    let mut cited = readings.into_iter();
    cited.any(|reading| may_be_a_form_of_name(reading, &lower, language))
}

/// The objection to a name of the claim, one or several words in a row.
fn replaces(
    case: &Case<'_>,
    passages: &Passages<'_>,
    part: &[Token],
    named: &[&Token],
) -> Option<Objection> {
    let claim = case.claim;
    let own = *named.last()?;
    let is_told = case.cited.iter().any(|s| s.reading.has(own.id));
    let is_placed = named.iter().any(|t| case.around.has(t.id));
    if is_placed || !is_told && !is_strange(case, named) || is_inflected(case, own) {
        return None;
    }
    let is_counted = |t: &&Token| t.is_content_or_number() && !t.does(Role::Everyday);
    let words: Vec<&Token> = part
        .iter()
        .filter(is_counted)
        .filter(|t| !named.iter().any(|n| n.id == t.id))
        .collect();
    let best = passages
        .with(ENOUGH)
        .map(|p| (p, held(&words, p)))
        .reduce(|a, b| if b.1 > a.1 { b } else { a });
    let (passage, most) = best?;
    let with_name = passages.all.iter().filter(|p| has_stem(p.tokens(), own.id));
    let theirs = with_name.map(|p| held(&words, p)).max().unwrap_or(0);
    let share = Passages::share(&words, passage.tokens());
    if share < ABOUT || most < theirs + ENOUGH {
        return None;
    }
    let mut others = passage.tokens().iter();
    let other = others.find(|t| is_alike(claim, own, passage.reading(), t) && !claim.has(t.id))?;
    if has_stem(passage.tokens(), own.id) || is_named_around(passage, own, other) {
        return None;
    }
    let is_sure = share >= CLOSE && most > ENOUGH && !other.first && !is_code(claim.word(own));
    let effect = match is_sure {
        true => Effect::Rejects,
        false => Effect::Doubts,
    };
    let detail = Detail::Differs {
        said: claim.word(own).to_owned(),
        found: passage.reading().word(other).to_owned(),
    };
    let found = Objection::new(Code::Referent, effect, detail).at(own.start..own.end);
    Some(found.against(passage.source.item.label, passage.bytes()))
}

/// How many of these words a sentence has.
fn held(words: &[&Token], passage: &Passage<'_>) -> usize {
    let held = words.iter().filter(|t| has_stem(passage.tokens(), t.id));
    held.count()
}

/// Whether the neighbours of the sentence have the name. The one before counts only if the sentence does
/// not begin with its own subject.
fn is_named_around(passage: &Passage<'_>, name: &Token, other: &Token) -> bool {
    let reading = passage.reading();
    let content = passage.tokens().iter().filter(|t| t.is_content());
    let behind = reading.normal.get(other.end..).unwrap_or("");
    let sentence = reading.sentence(passage.sentence);
    let is_row = sentence.is_some_and(|s| s.role == BlockRole::TableRow);
    let begins = !is_row
        && !behind.starts_with(':')
        && content.take(SUBJECT).any(|t| t.start == other.start)
        && (!name.first || is_name_inside(passage.source.reading, name));
    let from = match begins {
        true => passage.sentence,
        false => passage.sentence.saturating_sub(AROUND),
    };
    let mut near = from..passage.sentence + AROUND + 1;
    near.any(|n| has_stem(reading.tokens_of(n), name.id))
}

/// Whether the text has the name inside a sentence: the first word of a sentence may be any word.
fn is_name_inside(reading: &Reading, name: &Token) -> bool {
    let mut tokens = reading.text.tokens.iter();
    tokens.any(|t| t.id == name.id && t.capital && !t.first)
}
