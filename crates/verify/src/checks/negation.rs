//! L5: the claim and the cited text deny the same things.
//!
//! Statements are compared one by one: a "not" in another clause is ignored. Words that both
//! statements share decide; if the nearest statements disagree with each other, nothing is
//! reported.

use std::collections::HashSet;

use super::agreed;
use super::align::{Aligned, Alignment};
use super::language::is_little_word;
use super::names::is_name;
use super::nearest::{Near, Pairing, sentence};
use super::passages::Passages;
use super::{Case, Effect, Extent, Source};
use crate::Code;
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::statements::{CellVerdict, Statement};
use crate::tables::{Quantity, Role, Status};
use crate::text::{Token, begins_a_bound, has_stem, keeps_something_from};

/// Two statements with this share in common are the same except for their negation.
const SAME: f64 = 0.65;

/// A difference in negation raises a doubt if the statements share at least this much.
const ALIKE: f64 = 0.5;

/// Finds words that only the claim or only the cited text negates.
pub(super) fn check(
    case: &Case<'_>,
    pairings: &[Pairing<'_>],
    alignment: &Alignment<'_>,
    passages: &Passages<'_>,
) -> Vec<Objection> {
    let edited = edited(case, alignment);
    let edited = edited
        .filter(|found| only_a_denial_differs(alignment) || !is_agreed(case, found, passages));
    if let Some(found) = edited.or_else(|| cell(case)) {
        return vec![found];
    }
    let found = pairings.iter().filter_map(|pairing| compare(case, pairing));
    let mut found = found.filter(|found| !is_agreed(case, found, passages));
    found
        .next()
        .or_else(|| by_words(case, passages))
        .into_iter()
        .collect()
}

const EXCLUDING: &[&str] = list!("opposed-words.excluding");

/// Whether the claim takes out what the cited text denies: "excluding VAT" for "without VAT".
pub(super) fn is_taken_out(case: &Case<'_>, found: &Objection) -> bool {
    let Detail::TextNegates { said } = &found.detail else {
        return false;
    };
    let tokens = case.claim.text.tokens.as_slice();
    let mut places = (0..tokens.len()).filter(|at| {
        let token = tokens.get(*at);
        token.is_some_and(|t| case.claim.word(t) == said.as_str())
    });
    places.any(|at| {
        let before = tokens.get(at.saturating_sub(TAKEN_OUT)..at).unwrap_or(&[]);
        let mut words = before.iter().map(|t| case.claim.lower_word(t));
        words.any(|word| EXCLUDING.contains(&&*word) || WITHOUT.contains(&&*word))
    })
}

/// Maximum number of words from "excluding" to what it takes out.
const TAKEN_OUT: usize = 3;

/// Whether only the claim denies something, and the cited text does so in other words.
fn is_agreed(case: &Case<'_>, found: &Objection, passages: &Passages<'_>) -> bool {
    matches!(found.detail, Detail::ClaimNegates { .. }) && agreed::denies_too(case, passages)
}

/// What single words of a whole sentence say.
fn by_words(case: &Case<'_>, passages: &Passages<'_>) -> Option<Objection> {
    if case.extent != Extent::Sentence {
        return None;
    }
    left_out(case).or_else(|| {
        let found = denied_alone(case).filter(|_| !agreed::waits(case.claim));
        found.filter(|found| !is_agreed(case, found, passages))
    })
}

/// The objection to "The free plan has encryption" if its row says "No" below "Encryption", or the
/// reverse. A claim that names two rows is skipped.
fn cell(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut found: Option<(CellVerdict<'_>, &Source<'_>)> = None;
    for source in case.cited {
        for verdict in source.reading.verdicts() {
            if !names_all(case.claim, verdict.row) || !names_all(case.claim, verdict.column) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some((verdict, source));
        }
    }
    let (verdict, source) = found?;
    let plain = tokens.iter().all(|t| t.quantity().is_none() && !t.turns());
    let denies = tokens.iter().filter(|t| t.negates()).count();
    let odd = denies < 2 && plain && (denies == 1) == verdict.holds;
    let token = odd.then(|| verdict.column.first()).flatten()?;
    let said = source.reading.word(token).to_owned();
    let detail = match verdict.holds {
        true => Detail::ClaimNegates { said },
        false => Detail::TextNegates { said },
    };
    let found = Objection::new(Code::Negation, Effect::Rejects, detail);
    let bytes = source.reading.sentence(verdict.sentence)?.bytes.clone();
    Some(found.against(source.item.label, bytes))
}

/// Whether the claim has all words of a cell, and there are some.
fn names_all(claim: &Reading, cell: &[Token]) -> bool {
    let mut words = cell.iter().filter(|t| t.is_content()).peekable();
    words.peek().is_some() && words.all(|t| claim.has(t.id))
}

/// Maximum number of sentences per source, among those that contain a word, that are checked.
const MOST_SENTENCES: usize = 12;

/// The objection to a word that the claim asserts and the cited text only denies.
fn left_out(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    if keeps_something_from(tokens, &case.claim.normal) || denies_in_its_own_way(case.claim) {
        return None;
    }
    let denied = denied_clauses(tokens);
    let asserted = tokens
        .iter()
        .filter(|t| t.is_content() && !t.negated && !denied.contains(&t.clause))
        .filter(|t| says_something(case.claim, t) && !is_denied_in_claim(case.claim, t))
        // What is denied is said of a name, and no denial of it.
        .filter(|t| t.first || !is_name(t));
    let mut asserted = asserted.take(MOST_WORDS);
    let token = asserted.find(|t| is_only_denied(case, t, true) && is_denied_beside(case, t))?;
    let said = case.claim.word(token).to_owned();
    let found = Objection::new(Code::Negation, Effect::Doubts, Detail::TextNegates { said });
    Some(found.at(token.start..token.end))
}

/// Words that deny what stands before or behind them.
const DENYING: &[&str] = list!("negation.denying");

/// Whether a word denies without a "not": "bonfires are banned", "only in an emergency".
fn denies_by_itself(claim: &Reading, token: &Token) -> bool {
    token.does(Role::Restricting) || token.turns() || DENYING.contains(&&*claim.lower_word(token))
}

/// Whether a claim denies without a "not" before what is denied: "only if", "nobody but", "except",
/// "is banned", "the hotel is not".
fn denies_in_its_own_way(claim: &Reading) -> bool {
    let tokens = &claim.text.tokens;
    let excepts = |t: &Token| t.does(Role::Excepting) && claim.lower_word(t) != "but";
    let nothing = |t: &Token| t.quantity() == Some(Quantity::Nothing);
    tokens.last().is_some_and(Token::negates)
        || tokens
            .iter()
            .any(|t| denies_by_itself(claim, t) || excepts(t) || nothing(t))
        || denies_in_two_words(claim, tokens)
}

/// Whether the claim denies the word too: in its clause, or where it has the word again.
pub(super) fn is_denied_in_claim(claim: &Reading, token: &Token) -> bool {
    let mut tokens = claim.text.tokens.iter();
    tokens.any(|t| t.negates() && t.clause == token.clause || t.negated && t.id == token.id)
}

/// Titles of persons.
const TITLES: &[&str] = list!("actors.titles");

/// Whether a word says what is denied: no number, title or everyday word.
fn says_something(claim: &Reading, token: &Token) -> bool {
    let is_amount = token.number || token.may_be_amount();
    let lower = claim.lower_word(token);
    !is_amount
        && !is_little_word(&lower)
        && !token.does(Role::Everyday)
        && !TITLES.contains(&&*claim.lower_word(token))
}

/// Whether a sentence that denies a word has another word of the claim.
fn is_denied_beside(case: &Case<'_>, token: &Token) -> bool {
    case.cited.iter().any(|source| {
        let sentences = source.reading.sentences_with(token.id).iter();
        sentences
            .take(MOST_SENTENCES)
            .any(|n| has_another_word(case.claim, token, source.reading.tokens_of(*n as usize)))
    })
}

/// The clauses with a denial anywhere: "Nothing is stored".
fn denied_clauses(tokens: &[Token]) -> HashSet<u32> {
    let denying = tokens
        .iter()
        .filter(|t| t.negates() || t.quantity() == Some(Quantity::Nothing));
    denying.map(|t| t.clause).collect()
}

/// Maximum number of words of a claim that are searched for in denials.
const MOST_WORDS: usize = 40;

/// The objection to a word that the claim denies, if no sentence of the cited text with that word
/// is negative in any way.
fn denied_alone(case: &Case<'_>) -> Option<Objection> {
    let tokens = &case.claim.text.tokens;
    let mut negations = tokens.iter().filter(|t| t.negates());
    if !negations.any(|t| !t.does(Role::Bending) && !is_without(case.claim, t)) {
        return None;
    }
    let denied = tokens.iter().filter(|t| t.is_content() && t.negated);
    let mut denied = denied.take(MOST_WORDS);
    let token = denied.find(|t| is_only_asserted(case, t))?;
    let said = case.claim.word(token).to_owned();
    let detail = Detail::ClaimNegates { said };
    let found = Objection::new(Code::Negation, Effect::Doubts, detail);
    Some(found.at(token.start..token.end))
}

const WITHOUT: &[&str] = list!("negation.without");

/// Whether the token is "without", which begins a circumstance and denies no statement.
fn is_without(claim: &Reading, token: &Token) -> bool {
    WITHOUT.contains(&&*claim.lower_word(token))
}

/// Whether the cited text has a word, and only in sentences without anything negative. Sentences
/// without another word of the claim are about something else.
fn is_only_asserted(case: &Case<'_>, token: &Token) -> bool {
    let mut found = false;
    for source in case.cited {
        let reading = source.reading;
        for n in reading.sentences_with(token.id).iter().take(MOST_SENTENCES) {
            let tokens = reading.tokens_of(*n as usize);
            if tokens.iter().any(|t| {
                is_negative(reading, t) || t.does(Role::Bending) || t.does(Role::Excepting)
            }) {
                return false;
            }
            found |= has_another_word(case.claim, token, tokens);
        }
    }
    found
}

/// Whether a sentence has a word of the claim besides this one.
fn has_another_word(claim: &Reading, token: &Token, sentence: &[Token]) -> bool {
    let mut others = sentence.iter().filter(|t| t.id != token.id);
    others.any(|t| t.is_content_or_number() && claim.has(t.id))
}

/// Whether the cited text has a word only under a negation; with `head`, only as the first word
/// under it.
pub(super) fn is_only_denied(case: &Case<'_>, token: &Token, head: bool) -> bool {
    let mut denied = false;
    for source in case.cited {
        let reading = source.reading;
        for n in reading.sentences_with(token.id).iter().take(MOST_SENTENCES) {
            for other in reading
                .tokens_of(*n as usize)
                .iter()
                .filter(|t| t.id == token.id)
            {
                if !(other.negated && (other.head || !head)) {
                    return false;
                }
                denied = true;
            }
        }
    }
    denied
}

/// How a statement of the evidence relates to one of the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Agrees,
    /// Only the claim denies the word.
    ClaimDenies(usize),
    /// Only the cited text denies the word.
    TextDenies(usize),
    Unclear,
}

impl Comparison {
    /// Whether both results have the denial on the same side only.
    fn denies_on_the_side_of(self, other: Self) -> bool {
        use Comparison::{ClaimDenies, TextDenies};
        matches!(
            (self, other),
            (ClaimDenies(_), ClaimDenies(_)) | (TextDenies(_), TextDenies(_))
        )
    }
}

fn compare(case: &Case<'_>, pairing: &Pairing<'_>) -> Option<Objection> {
    let best = pairing.near.first()?;
    if best.share < ALIKE || asks(best) {
        return None;
    }
    let stands: Vec<Comparison> = pairing
        .near
        .iter()
        .map(|n| stand(case, pairing, n))
        .collect();
    let first = *stands.first()?;
    if !stands
        .iter()
        .all(|other| first.denies_on_the_side_of(*other))
    {
        return None;
    }
    let (Comparison::ClaimDenies(at) | Comparison::TextDenies(at)) = first else {
        return None;
    };
    let token = pairing.own.tokens.get(at)?;
    let said = case.claim.word(token).to_owned();
    let range = token.start..token.end;
    let sure = best.share >= SAME && is_sure(pairing, best) && !chooses(best);
    // "Not the witch" may only tell her from another person.
    let is_named = token.capital && !token.first;
    let effect = match (sure, first) {
        (true, _) if is_named || agreed::says_instead(case.claim) => Effect::Doubts,
        // "Not before she has hired somebody" and "she first hires somebody".
        (true, Comparison::TextDenies(_))
            if says_in_what_order(pairing.own, case) || restricts(&pairing.own.tokens) =>
        {
            Effect::Doubts
        }
        (_, Comparison::TextDenies(_)) if is_compared_with(case.claim, token) => return None,
        (true, _) => Effect::Rejects,
        // Answerers who use their own words use more negations than a text does.
        (false, Comparison::ClaimDenies(_)) => return None,
        (false, _)
            if denies_in_its_own_way(case.claim) || is_denied_in_claim(case.claim, token) =>
        {
            return None;
        }
        (false, _) if is_only_denied(case, token, false) => Effect::Doubts,
        (false, _) => return None,
    };
    let detail = match first {
        Comparison::ClaimDenies(_) => Detail::ClaimNegates { said },
        _ => Detail::TextNegates { said },
    };
    let objection = Objection::new(Code::Negation, effect, detail).at(range);
    Some(objection.against(best.source.item.label, sentence(best)?))
}

/// Whether a word is what the claim compares with: "on the 18th, a week later than the 11th".
pub(super) fn is_compared_with(claim: &Reading, token: &Token) -> bool {
    let tokens = claim.text.tokens.as_slice();
    let at = tokens.partition_point(|t| t.start < token.start);
    let from = at.saturating_sub(COMPARISON);
    let mut thans = (from..at).filter(|i| tokens.get(*i).is_some_and(|t| is_than(claim, t)));
    // "Dit que" and "als wir kamen" compare nothing.
    thans.any(|than| {
        let before = tokens
            .get(than.saturating_sub(COMPARED)..than)
            .unwrap_or(&[]);
        before.iter().any(|t| is_comparative(claim, t))
    })
}

/// Maximum number of words from a comparative to its "than": "later than", "plus tard que".
const COMPARED: usize = 2;

/// Whether a word compares: "later", "plus", "menos".
fn is_comparative(reading: &Reading, token: &Token) -> bool {
    const MORE: &[&str] = list!("compared.more");
    const LESS: &[&str] = list!("compared.less");
    let word = reading.lower_word(token);
    MORE.contains(&&*word) || LESS.contains(&&*word)
}

const FIRST: &[&str] = list!("negation.first");

/// Whether a statement of the claim says what comes first.
fn says_in_what_order(own: &Statement, case: &Case<'_>) -> bool {
    let mut tokens = own.tokens.iter();
    tokens.any(|t| FIRST.contains(&&*case.claim.lower_word(t)))
}

/// Whether a statement of the cited text is a question, which denies and asserts nothing.
fn asks(near: &Near<'_>) -> bool {
    let reading = near.source.reading;
    let sentence = reading.sentence(near.statement.sentence);
    let text = sentence.and_then(|s| reading.normal.get(s.bytes.clone()));
    text.is_some_and(|text| text.trim_end().ends_with(['?', '？']))
}

fn stand(case: &Case<'_>, pairing: &Pairing<'_>, near: &Near<'_>) -> Comparison {
    let theirs = &near.statement.tokens;
    let mut agrees = false;
    let mut found = None;
    for (at, token) in pairing.own.tokens.iter().enumerate() {
        if !token.is_content() || token.number {
            continue;
        }
        for e in theirs.iter().filter(|e| e.id == token.id) {
            match (token.negated, e.negated) {
                (true, true) | (false, false) => agrees |= token.negated || !e.negated,
                (true, false) if token.head => {
                    found = found.or(Some(Comparison::ClaimDenies(at)));
                }
                (false, true) if e.head => found = found.or(Some(Comparison::TextDenies(at))),
                _ => {}
            }
        }
    }
    let Some(found) = found else {
        return if agrees {
            Comparison::Agrees
        } else {
            Comparison::Unclear
        };
    };
    let (reading, tokens) = match found {
        Comparison::ClaimDenies(_) => (near.source.reading, theirs),
        _ => (case.claim, &pairing.own.tokens),
    };
    let is_denied = tokens.iter().any(|t| t.negated || is_negative(reading, t))
        || denies_in_two_words(reading, tokens);
    if is_denied || is_about_the_opposite(&pairing.own.tokens, theirs) {
        Comparison::Unclear
    } else {
        found
    }
}

/// Whether both statements have opposites besides what one of them denies: "not in the first year"
/// and "from the second year".
fn is_about_the_opposite(own: &[Token], theirs: &[Token]) -> bool {
    let mut opposed = own.iter().filter(|t| !t.pairs().is_empty());
    opposed.any(|t| {
        let opposite = theirs.iter().any(|e| t.is_opposite_of(e));
        opposite && !has_stem(theirs, t.id)
    })
}

/// Maximum number of words between a negation and the "than" of the comparison that it reverses.
const COMPARISON: usize = 3;

/// Whether a negation belongs to a comparison: "not smaller than" means "at least" and denies
/// nothing.
fn compares(claim: &Reading, tokens: &[Token], negation: &Token) -> bool {
    let behind = tokens.iter().skip_while(|t| t.start <= negation.start);
    behind.take(COMPARISON).any(|t| is_than(claim, t))
}

/// Whether a negation is part of the bound of a number: "not under 400".
fn bounds_a_number(reading: &Reading, tokens: &[Token], negation: &Token) -> bool {
    const SIDES: &[&str] = list!("bounds.sides");
    let at = tokens.iter().position(|t| std::ptr::eq(t, negation));
    let behind = at.and_then(|at| tokens.get(at + 1..)).unwrap_or(&[]);
    let is_side = match behind {
        [side, number, ..] => SIDES.contains(&&*reading.lower_word(side)) && number.may_be_amount(),
        _ => false,
    };
    is_side || begins_a_bound(*negation, tokens, &reading.normal)
}

/// Whether a word stands before the second side of a comparison.
pub(super) fn is_than(reading: &Reading, token: &Token) -> bool {
    matches!(&*reading.lower_word(token), "than" | "als" | "que")
}

/// The objection to a negation added to or left out of a nearly equal sentence.
fn edited(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<Objection> {
    let best = alignment.best()?;
    let (own_tokens, theirs) = (case.claim.text.tokens.as_slice(), best.tokens());
    let evidence = &best.source.reading.normal;
    if keeps_something_from(own_tokens, &case.claim.normal)
        || keeps_something_from(theirs, evidence)
    {
        return None;
    }
    // "Visitors stay off the roof": the claim denies without a "not".
    let is_denied = own_tokens.iter().any(|t| t.negated);
    let turning = || own_tokens.iter().filter(|t| t.turns());
    let is_of_the_text = turning().any(|t| has_stem(theirs, t.id));
    if is_denied && !is_of_the_text && !own_tokens.iter().any(Token::negates) {
        return None;
    }
    // "Not by itself, only by hand": the claim has what is left.
    let is_restricted = restricts(own_tokens) && (restricts(theirs) || excepts(best));
    if !only_a_denial_differs(alignment) && is_restricted {
        return None;
    }
    let edits = alignment.edits();
    if edits.iter().any(|e| {
        e.claim.is_some_and(|t| denies_inside(case.claim, t))
            || e.evidence
                .is_some_and(|t| denies_inside(best.source.reading, t))
    }) {
        return None;
    }
    let odd: Vec<_> = edits
        .iter()
        .filter(|e| {
            e.claim.is_some_and(|t| negates_in_edit(case, best, t))
                != e.evidence.is_some_and(|t| negates_in_edit(case, best, t))
        })
        .collect();
    let [one] = odd.as_slice() else { return None };
    let (token, detail) = match (one.claim.filter(|t| t.negates()), one.evidence) {
        (Some(own), _) => {
            let said = denied_word(case.claim, own_tokens, own).to_owned();
            (Some(own), Detail::ClaimNegates { said })
        }
        (None, Some(other)) if other.negates() => {
            let said = denied_word(best.source.reading, theirs, other).to_owned();
            let mut own = own_tokens.iter();
            let own = own.find(|t| case.claim.word(t) == said);
            if own.is_some_and(|own| is_compared_with(case.claim, own)) {
                return None;
            }
            (None, Detail::TextNegates { said })
        }
        _ => return None,
    };
    let found = Objection::new(Code::Negation, Effect::Rejects, detail);
    let found = match token {
        Some(token) => found.at(token.start..token.end),
        None => found,
    };
    let sentence = best.source.reading.sentence(best.sentence)?.bytes.clone();
    Some(found.against(best.source.item.label, sentence))
}

/// Whether a claim is a sentence of the cited text, except for a denial. Then nothing else in that
/// text can excuse it.
fn only_a_denial_differs(alignment: &Alignment<'_>) -> bool {
    let edits = alignment.edits().iter();
    let mut changed = edits.flat_map(|e| [e.claim, e.evidence]).flatten();
    changed.all(|t| !t.is_content_or_number() || t.negates())
}

/// Whether a sentence of the cited text makes an exception: "not alone, except on Wednesdays".
fn excepts(near: &Aligned<'_>) -> bool {
    const EXCEPTING: &[&str] = list!("scopes.excepting");
    const UNSURE: &[&str] = list!("scopes.unsure");
    near.tokens().iter().any(|t| {
        let word = near.source.reading.lower_word(t);
        EXCEPTING.contains(&&*word) && !UNSURE.contains(&&*word)
    })
}

fn restricts(tokens: &[Token]) -> bool {
    tokens.iter().any(|t| t.does(Role::Restricting))
}

/// "Not uncommon" means "common": the changed word itself has a negation.
fn denies_inside(reading: &Reading, token: &Token) -> bool {
    has_negative_prefix(&reading.lower_word(token)) || token.does(Role::Scarce)
}

/// Whether a changed word denies something; "not only" does not.
fn negates_in_edit(case: &Case<'_>, best: &Aligned<'_>, token: &Token) -> bool {
    let (own, theirs) = (case.claim.text.tokens.as_slice(), best.tokens());
    let reading = best.source.reading;
    let is_hollow = is_followed_by_hollow(own, token)
        || is_followed_by_hollow(theirs, token)
        || is_answer(case.claim, own, token)
        || bounds_a_number(case.claim, own, token)
        || bounds_a_number(reading, theirs, token)
        || compares(case.claim, own, token) && theirs.iter().any(|t| is_than(reading, t));
    (token.negates() || token.turns()) && !is_hollow
}

/// Whether the token answers the question and negates no word of its sentence: "No, it is …".
fn is_answer(claim: &Reading, tokens: &[Token], token: &Token) -> bool {
    let first = tokens.first().is_some_and(|t| std::ptr::eq(t, token));
    let behind = claim.normal.get(token.end..).unwrap_or("");
    first && behind.starts_with([',', ':', ';', '.', '—', '–'])
}

/// The word that `negation` negates: the next content word, or the negation itself at the end.
fn denied_word<'r>(reading: &'r Reading, tokens: &[Token], negation: &Token) -> &'r str {
    let at = tokens.iter().position(|t| std::ptr::eq(t, negation));
    let behind = at.and_then(|at| tokens.get(at + 1..)).unwrap_or(&[]);
    reading.word(behind.iter().find(|t| t.is_content()).unwrap_or(negation))
}

/// Whether the word after `token` in its own text cancels a negation.
fn is_followed_by_hollow(tokens: &[Token], token: &Token) -> bool {
    let at = tokens.iter().position(|t| std::ptr::eq(t, token));
    at.and_then(|at| tokens.get(at + 1))
        .is_some_and(Token::hollow)
}

/// Whether a sentence of the cited text says what happens otherwise: "if it rains, otherwise not".
fn chooses(near: &Near<'_>) -> bool {
    const OTHERWISE: &[&str] = list!("negation.otherwise");
    let reading = near.source.reading;
    let mut tokens = near.sentence_tokens().iter();
    tokens.any(|t| OTHERWISE.contains(&&*reading.lower_word(t)))
}

/// Whether nothing else explains the difference, such as a condition, a contrast or a restriction.
fn is_sure(pairing: &Pairing<'_>, near: &Near<'_>) -> bool {
    let tokens = pairing.own.tokens.iter().chain(&near.statement.tokens);
    !tokens.into_iter().any(|t| t.does(Role::Bending))
}

/// Whether a word denies, reverses or belittles, or has a part that does.
pub(super) fn is_negative(reading: &Reading, token: &Token) -> bool {
    let word = reading.lower_word(token);
    token.negates()
        || token.turns()
        || DENYING.contains(&&*word)
        || matches!(token.quantity(), Some(Quantity::Rare | Quantity::Nothing))
        || matches!(token.status(), Some(Status::Rejected | Status::Deprecated))
        || token.does(Role::Scarce)
        || has_negative_prefix(&word)
        || word.len() > 5 && word.ends_with("less")
}

/// Maximum number of words from such a verb to its end.
const PARTED: usize = 8;

/// Whether a verb denies together with a word further behind: "turned the offer down".
pub(super) fn denies_in_two_words(reading: &Reading, tokens: &[Token]) -> bool {
    const VERBS: &[&str] = list!("negation.parted-verbs");
    const ENDS: &[&str] = list!("negation.parted-ends");
    const STATES: &[&str] = list!("negation.off-verbs");
    let is_off = |pair: &[Token]| {
        STATES.contains(&&*reading.lower_word(&pair[0])) && reading.lower_word(&pair[1]) == "off"
    };
    if tokens.windows(2).any(is_off) {
        return true;
    }
    let verbs = tokens.iter().enumerate();
    let mut verbs = verbs.filter(|(_, t)| VERBS.contains(&&*reading.lower_word(t)));
    verbs.any(|(at, _)| {
        let mut behind = tokens.iter().skip(at + 1).take(PARTED);
        behind.any(|t| ENDS.contains(&&*reading.lower_word(t)))
    })
}

/// Whether a word has a negative prefix: "unable", "inactive"; not "increase", "united",
/// "discovery".
fn has_negative_prefix(word: &str) -> bool {
    const IN: [&str; 21] = *list!("negation.in");
    const DIS: [&str; 12] = *list!("negation.dis");
    const NOT_UN: [&str; 6] = *list!("negation.not-un");
    if let Some(rest) = word.strip_prefix("un") {
        return rest.len() > 3 && !starts_with_any(word, &NOT_UN);
    }
    if let Some(rest) = word.strip_prefix("non") {
        return rest.len() > 3;
    }
    if let Some(rest) = word.strip_prefix("dis") {
        return starts_with_any(rest, &DIS);
    }
    let rest = ["in", "im", "ir", "il"]
        .iter()
        .find_map(|p| word.strip_prefix(p));
    rest.is_some_and(|rest| {
        rest.len() > 3
            && (rest.ends_with("ble") || starts_with_any(rest, &IN))
            && !starts_with_any(rest, &["able"])
    })
}

fn starts_with_any(word: &str, beginnings: &[&str]) -> bool {
    beginnings
        .iter()
        .any(|beginning| word.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c19_negative_prefixes_are_told_from_first_letters() {
        for word in [
            "unavailable",
            "nonresident",
            "disabled",
            "inactive",
            "impossible",
            "irrelevant",
            "incompletely",
        ] {
            assert!(has_negative_prefix(word), "{word}");
        }
        for word in [
            "increased",
            "united",
            "under",
            "discovery",
            "independent",
            "important",
            "infection",
            "include",
        ] {
            assert!(!has_negative_prefix(word), "{word}");
        }
    }
}
