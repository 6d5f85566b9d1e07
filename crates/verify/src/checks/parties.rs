//! L5: who does something to whom. "Anna owes Karl 50 euros" does not support "Karl owes Anna 50
//! euros".
//!
//! The claim and the text have the same two names around the same words, and the claim has the names
//! exchanged. A passive sentence exchanges them and says the same; so does a word like "meet".

use super::language::{Language, supposed};
use super::names::is_name;
use super::nearest::{Near, Pairing, sentence};
use super::{Case, Effect};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::text::{Token, has_stem};
use local_agent_text::language::is_common_english_word;

/// How much of a statement must be the same.
const ALIKE: f64 = 0.6;

/// Maximum number of names of a statement, and of words between two of them.
const MOST_NAMES: usize = 6;
const MOST_BETWEEN: usize = 8;

const MUTUAL: &[&str] = list!("parties.mutual");
const WITH: &[&str] = list!("parties.with");
const DOERS: &[&str] = list!("parties.doers");
const RECEIVERS: &[&str] = list!("parties.receivers");
const PASSIVE: &[&str] = list!("parties.passive");

/// Two names in the order in which they stand, and what is said between them.
struct Parties<'a> {
    first: &'a Token,
    second: &'a Token,
    /// The stems of the words with content between them, in order.
    between: Vec<u32>,
    /// The first of them without its ending: short verbs have several stems, as "owes" and "owed".
    verb: String,
    /// The word right before the second name.
    before_second: String,
    /// Whether the second name is the doer: "is owed … by Anna".
    is_passive: bool,
}

/// Finds two names that changed their parts.
pub(super) fn check(case: &Case<'_>, pairings: &[Pairing<'_>]) -> Option<Objection> {
    let cited: Vec<&Reading> = case.cited.iter().map(|s| s.reading).collect();
    // In German the order of the words is free, and names have no cases: nothing is sure there.
    let effect = match supposed(case.claim, case.language, &cited) {
        Some(Language::English | Language::French | Language::Spanish) => Effect::Rejects,
        Some(Language::German | Language::Italian | Language::Dutch | Language::Portuguese)
        | None => Effect::Doubts,
        Some(Language::Script(_)) => return None,
    };
    pairings.iter().find_map(|pairing| {
        let own = case.claim.text.tokens.get(pairing.own.own.clone())?;
        let own = parties(case.claim, own);
        let near = pairing.near.iter().filter(|n| n.share >= ALIKE);
        let found: Option<Vec<Objection>> = near
            .map(|near| exchanged(case, &own, near, effect))
            .collect();
        found.and_then(|found| found.into_iter().next())
    })
}

/// The objection to a pair of names that a statement of the text has the other way round.
fn exchanged(
    case: &Case<'_>,
    own: &[Parties<'_>],
    near: &Near<'_>,
    effect: Effect,
) -> Option<Objection> {
    let reading = near.source.reading;
    let tokens = reading.tokens_of(near.statement.sentence);
    let theirs = parties(reading, tokens);
    let pair = own.iter().find(|own| {
        let of_both = theirs.iter().filter(|their| is_pair_of(own, their));
        let mut same = of_both
            .filter(|their| says_the_same(own, their, tokens))
            .peekable();
        same.peek().is_some()
            && same.all(|their| doer(own) != doer(their))
            && is_seen_as_a_name(case.claim, own, &theirs)
    })?;
    let detail = Detail::Reversed {
        first: case.claim.word(pair.first).to_owned(),
        second: case.claim.word(pair.second).to_owned(),
    };
    let found = Objection::new(Code::Order, effect, detail).at(pair.first.start..pair.second.end);
    Some(found.against(near.source.item.label, sentence(near)?))
}

/// The stem of the name that does what is said.
fn doer(parties: &Parties<'_>) -> u32 {
    match parties.is_passive {
        true => parties.second.id,
        false => parties.first.id,
    }
}

fn is_pair_of(own: &Parties<'_>, their: &Parties<'_>) -> bool {
    let own = (own.first.id, own.second.id);
    own == (their.first.id, their.second.id) || own == (their.second.id, their.first.id)
}

/// Whether both say the same first word between their names, the sentence of the text has all others,
/// and the second name has the same part.
fn says_the_same(own: &Parties<'_>, their: &Parties<'_>, sentence: &[Token]) -> bool {
    let mut behind = own.between.iter().skip(1);
    let within = behind.all(|id| has_stem(sentence, *id));
    let first = own.between.first() == their.between.first() || own.verb == their.verb;
    let same_part = own.is_passive
        || their.is_passive
        || part_of(&own.before_second) == part_of(&their.before_second);
    within && first && same_part
}

/// The preposition before a name; none before a receiver: "owes Karl", "owes … to Karl".
fn part_of(word: &str) -> &str {
    if RECEIVERS.contains(&word) { "" } else { word }
}

/// Whether both names are capitalised inside a sentence, in the claim or in the text, or are no words
/// of a dictionary: the first word of a sentence has a capital anyway.
fn is_seen_as_a_name(claim: &Reading, own: &Parties<'_>, theirs: &[Parties<'_>]) -> bool {
    let seen = |name: &Token| {
        let others = theirs.iter().flat_map(|p| [p.first, p.second]);
        !name.first
            || others.filter(|t| t.id == name.id).any(|t| !t.first)
            || !is_common_english_word(claim.word(name))
    };
    seen(own.first) && seen(own.second)
}

/// All pairs of different names of one clause with words between them.
fn parties<'a>(reading: &Reading, tokens: &'a [Token]) -> Vec<Parties<'a>> {
    let names = tokens.iter().enumerate().filter(|(_, t)| is_name(t));
    let names: Vec<(usize, &Token)> = names.take(MOST_NAMES).collect();
    let mut out = Vec::new();
    for (n, (i, first)) in names.iter().enumerate() {
        for (j, second) in names.iter().skip(n + 1) {
            let between = tokens.get(i + 1..*j).unwrap_or(&[]);
            out.extend(pair_of(reading, first, between, second));
        }
    }
    out
}

/// Two names, if the words between them say what one does to the other.
fn pair_of<'a>(
    reading: &Reading,
    first: &'a Token,
    between: &[Token],
    second: &'a Token,
) -> Option<Parties<'a>> {
    let said: Vec<u32> = between
        .iter()
        .filter(|t| t.is_content() && !t.number)
        .map(|t| t.id)
        .collect();
    let verb = between.iter().find(|t| t.is_content() && !t.number)?;
    let verb = without_ending(&reading.lower_word(verb)).to_owned();
    let words: Vec<String> = between
        .iter()
        .map(|t| reading.lower_word(t).into_owned())
        .collect();
    let one_clause = first.clause == second.clause;
    let is_mutual = words
        .iter()
        .any(|w| MUTUAL.contains(&w.as_str()) || WITH.contains(&w.as_str()));
    if said.is_empty()
        || between.len() > MOST_BETWEEN
        || first.id == second.id
        || !one_clause
        || is_mutual
        || between.iter().any(|t| t.negates() || is_name(t))
    {
        return None;
    }
    let last = words.last().cloned().unwrap_or_default();
    // "Graham got 12 panels by Sunrise" is no passive sentence.
    let has_verb = has_passive_verb(between, &words);
    let is_passive = DOERS.contains(&last.as_str()) && has_verb;
    // "Bob was told that Alice left": the doer is somebody else.
    if !is_passive && has_verb {
        return None;
    }
    let before_second = match between.last() {
        Some(token) if token.is_content() || token.number => String::new(),
        _ => last,
    };
    Some(Parties {
        first,
        second,
        between: said,
        verb,
        before_second,
        is_passive,
    })
}

/// Whether a word with content follows "is" and its like at once: "was told", not "is the mother".
fn has_passive_verb(between: &[Token], words: &[String]) -> bool {
    let mut pairs = words.iter().zip(between.iter().skip(1));
    pairs.any(|(word, next)| PASSIVE.contains(&word.as_str()) && next.is_content() && !next.number)
}

/// A verb without the endings of its present, its past and its participles.
fn without_ending(verb: &str) -> &str {
    let endings = ["ing", "ed", "es", "s", "d", "e"];
    let mut stems = endings
        .iter()
        .filter_map(|ending| verb.strip_suffix(ending));
    stems.find(|stem| stem.len() >= 2).unwrap_or(verb)
}
