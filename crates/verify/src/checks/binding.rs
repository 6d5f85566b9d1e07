//! L4: things that the claim connects are connected in the cited text too.
//!
//! Every term of a claim votes. Where two things in the claim could have been swapped ("`a` reads
//! and `b` writes"), each other term votes for the one it is closer to in the cited text. Where the
//! cited text has another thing of the same kind that the claim does not mention, each term votes
//! for the claim's own thing or for that rival. Only a vote with no support for the claim counts
//! against it.

use super::affinity::Affinities;
use super::language::is_little_word;
use super::{Case, Effect, Extent};
use crate::Code;
use crate::atoms::{self as a, Atom, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::terms::{Term, TermKind};
use crate::text::has_stem;
use local_agent_text::language::is_unspaced;
use local_agent_text::markdown::BlockRole;

/// A term votes for a thing if its affinity to that thing is greater by at least this much.
const CLOSER: f64 = 0.3;

/// A term is said about a name if its affinity to the name is at least this.
const FRAME: f64 = 0.65;

/// Two names are in one clause if their affinity is at least this.
const ONE_CLAUSE: f64 = 0.9;

/// A claim with at most this many other terms makes one statement.
const SHORT: usize = 5;

/// Maximum number of terms in a claim, and of rivals per term; both bound the work on hostile text.
const MOST_TERMS: usize = 28;
const MOST_RIVALS: usize = 24;

/// Finds things that the claim connects and the cited text does not.
pub(super) fn check(case: &Case<'_>) -> Vec<Objection> {
    let mut affinities = Affinities::new(case.cited);
    let terms = own_terms(case, &mut affinities);
    if let Some(found) = exchanged(case, &terms, &affinities) {
        return vec![found];
    }
    if case.extent == Extent::LeadIn {
        return Vec::new();
    }
    replaced(case, &terms, &mut affinities)
        .into_iter()
        .collect()
}

/// The terms of a claim that can vote or be swapped, each once, looked up. If the cited text does
/// not contain an identifier as written, its single word is used.
fn own_terms(case: &Case<'_>, affinities: &mut Affinities<'_>) -> Vec<Term> {
    let claim = case.claim;
    let code = code_ranges(case);
    let mut out: Vec<Term> = Vec::new();
    let mut alone: Option<usize> = None;
    for term in &claim.terms {
        if out.len() >= MOST_TERMS {
            break;
        }
        if says_too_little(claim, term) {
            continue;
        }
        affinities.look_up(term.id);
        let single = term.tokens.len() == 1;
        if term.is_compound {
            let missing = single && !affinities.has(term.id);
            alone = missing.then_some(term.tokens.start);
            if missing {
                continue;
            }
        }
        let mut term = term.clone();
        if term.kind == TermKind::Part {
            if alone != Some(term.tokens.start) {
                continue;
            }
            term.kind = TermKind::Code;
        }
        let start = claim
            .text
            .tokens
            .get(term.tokens.start)
            .map_or(0, |t| t.start);
        if term.kind == TermKind::Word && code.iter().any(|range| range.contains(&start)) {
            term.kind = TermKind::Code;
        }
        if !out.iter().any(|t| t.id == term.id) {
            out.push(term);
        }
    }
    out
}

/// Where code spans of one word are in the normalised claim.
fn code_ranges(case: &Case<'_>) -> Vec<std::ops::Range<usize>> {
    let mut from = 0;
    let mut out = Vec::new();
    for span in case.code.iter().copied() {
        let normal = local_agent_text::evidence::Normal::of(span);
        let word = normal.as_str();
        let rest = case.claim.normal.get(from..).unwrap_or("");
        let Some(at) = rest.find(word).filter(|_| !word.is_empty()) else {
            continue;
        };
        let start = from + at;
        from = start + word.len();
        if !word.contains(' ') {
            out.push(start..from);
        }
    }
    out
}

/// The group of the claim that each term is in: the parts of its sentence, if `x` and `y` are in
/// different ones; otherwise its clauses.
fn groups(claim: &Reading, x: &Term, y: &Term) -> Option<fn(&Reading, &Term) -> u32> {
    [part_of, clause_of]
        .into_iter()
        .find(|group| group(claim, x) != group(claim, y))
}

fn part_of(reading: &Reading, term: &Term) -> u32 {
    let parts = reading.parts();
    parts.get(term.tokens.start).copied().unwrap_or(0)
}

fn clause_of(reading: &Reading, term: &Term) -> u32 {
    let first = reading.text.tokens.get(term.tokens.start);
    first.map_or(0, |t| t.clause)
}

/// Votes for and against the claim.
#[derive(Default)]
struct Votes {
    for_claim: usize,
    against: Vec<usize>,
}

/// The objection to two things that have each other's attributes in the cited text.
fn exchanged(case: &Case<'_>, terms: &[Term], affinities: &Affinities<'_>) -> Option<Objection> {
    let label = super::affinity::label_end(case.claim, 0).unwrap_or(0);
    let mut best: Option<(usize, Objection)> = None;
    for (i, x) in terms.iter().enumerate() {
        for (j, y) in terms.iter().enumerate().skip(i + 1) {
            let known = affinities.has(x.id) && affinities.has(y.id);
            if !known
                || !same_kind(case.claim, x, case.claim, y)
                || are_listed(case.claim, terms, i, j)
                || (x.tokens.start < label) != (y.tokens.start < label)
            {
                continue;
            }
            let Some(votes) = exchange_votes(case, terms, (i, j), affinities) else {
                continue;
            };
            let against = votes[0].against.len() + votes[1].against.len();
            if best.as_ref().is_none_or(|(n, _)| *n < against)
                && let Some(found) = judge_exchange(case, terms, (x, y), &votes, affinities)
            {
                best = Some((against, found));
            }
        }
    }
    best.map(|(_, found)| found)
}

/// Whether two terms are items of one list, or words of one phrase: between them are only commas,
/// "and" and other one-word terms.
fn are_listed(claim: &Reading, terms: &[Term], i: usize, j: usize) -> bool {
    let (Some(x), Some(y)) = (terms.get(i), terms.get(j)) else {
        return false;
    };
    let between = x.tokens.end..y.tokens.start.max(x.tokens.end);
    let inside = terms.get(i + 1..j).unwrap_or(&[]);
    between
        .into_iter()
        .all(|at| joins_a_list(claim, at) || is_in_term_of_kind(inside, x.kind, at))
}

/// Whether the word at `at` stands between the items of a list.
fn joins_a_list(claim: &Reading, at: usize) -> bool {
    let word = claim.text.tokens.get(at).map_or("", |t| claim.word(t));
    matches!(
        word,
        "and" | "or" | "both" | "und" | "oder" | "a" | "an" | "the"
    )
}

fn is_in_term_of_kind(terms: &[Term], kind: TermKind, at: usize) -> bool {
    let mut same = terms.iter().filter(|t| t.kind == kind);
    same.any(|t| t.tokens.contains(&at))
}

/// How the other terms vote on terms `i` and `j`: those in the group of `i`, and those in the group
/// of `j`.
fn exchange_votes(
    case: &Case<'_>,
    terms: &[Term],
    (i, j): (usize, usize),
    affinities: &Affinities<'_>,
) -> Option<[Votes; 2]> {
    let (x, y) = (terms.get(i)?, terms.get(j)?);
    let group = groups(case.claim, x, y)?;
    let (gx, gy) = (group(case.claim, x), group(case.claim, y));
    let mut votes = [Votes::default(), Votes::default()];
    for (k, t) in terms.iter().enumerate().filter(|(k, _)| *k != i && *k != j) {
        if is_phrase(t, x) || is_phrase(t, y) {
            continue;
        }
        if are_in_one_atom(case.claim, t, x) || are_in_one_atom(case.claim, t, y) {
            continue;
        }
        let (side, own, other) = match group(case.claim, t) {
            g if g == gx => (0, x, y),
            g if g == gy => (1, y, x),
            _ => continue,
        };
        let lead = affinities.of(t.id, own.id) - affinities.of(t.id, other.id);
        if lead >= CLOSER {
            votes[side].for_claim += 1;
        } else if lead <= -CLOSER {
            votes[side].against.push(k);
        }
    }
    Some(votes)
}

/// Whether two terms of one kind are adjacent, like the words of a phrase.
fn is_phrase(t: &Term, x: &Term) -> bool {
    (t.kind == x.kind || x.kind == TermKind::Code)
        && (t.tokens.end == x.tokens.start || x.tokens.end == t.tokens.start)
}

/// The objection that follows from such votes.
fn judge_exchange(
    case: &Case<'_>,
    terms: &[Term],
    (x, y): (&Term, &Term),
    votes: &[Votes; 2],
    affinities: &Affinities<'_>,
) -> Option<Objection> {
    let against = votes[0].against.len() + votes[1].against.len();
    let both = votes.iter().all(|v| !v.against.is_empty());
    let labels = affinities.is_label(x.id) && affinities.is_label(y.id);
    let things = x.kind != TermKind::Word;
    if votes.iter().any(|v| v.for_claim > 0) || against == 0 {
        return None;
    }
    let effect = match (both, things, against) {
        (true, true, 3..) => Effect::Rejects,
        (true, true, _) => Effect::Doubts,
        (true, false, 3..) => Effect::Doubts,
        (false, true, 3..) => Effect::Doubts,
        (false, true, _) if labels => Effect::Doubts,
        _ => return None,
    };
    let voice = votes.iter().flat_map(|v| &v.against).next();
    let said = voice.and_then(|k| terms.get(*k));
    let (of, belongs_to) = match votes[0].against.is_empty() {
        false => (x, y),
        true => (y, x),
    };
    let claim = case.claim;
    let detail = Detail::Elsewhere {
        said: said.map_or(String::new(), |t| shown(claim, t)),
        of: shown(claim, of),
        belongs_to: Some(shown(claim, belongs_to)),
        found: None,
    };
    Some(Objection::new(Code::Referent, effect, detail).at(bytes(claim, of)))
}

/// The objection to a thing of the claim in whose place the cited text has another one.
fn replaced(case: &Case<'_>, terms: &[Term], affinities: &mut Affinities<'_>) -> Option<Objection> {
    let claim = case.claim;
    let named = super::affinity::label_end(claim, 0).unwrap_or(0);
    let mut best: Option<(usize, Objection)> = None;
    for (i, x) in terms.iter().enumerate() {
        let label = affinities.is_label(x.id);
        let opens = i == 0 || x.tokens.start < named;
        let value = x.kind == TermKind::Number || x.kind == TermKind::Code;
        let name = is_name(case, x);
        let explained = claim.is_explained(x.tokens.start);
        if explained || !affinities.has(x.id) || !(label && opens || value || name) {
            continue;
        }
        let own = OwnThing {
            term: x,
            label,
            opens,
            value,
            name,
            voters: voters(claim, terms, i, named),
        };
        for rival in rivals(case, terms, x, &own.voters) {
            let most = best.as_ref().map_or(0, |(against, _)| *against);
            let found = judge_rival(case, terms, &own, rival, affinities);
            best = found.filter(|(against, _)| *against > most).or(best);
        }
    }
    best.map(|(_, found)| found)
}

/// A thing in the claim that may be another one in the cited text.
struct OwnThing<'t> {
    term: &'t Term,
    /// It is the label of something in the cited text.
    label: bool,
    /// The claim begins with it.
    opens: bool,
    /// It is a number or code.
    value: bool,
    name: bool,
    /// The stems of the terms that vote on it.
    voters: Vec<u32>,
}

/// The terms that vote on term `i`: those in its part of the sentence, or before token `named`.
fn voters(claim: &Reading, terms: &[Term], i: usize, named: usize) -> Vec<u32> {
    let Some(x) = terms.get(i) else {
        return Vec::new();
    };
    let others = terms.iter().enumerate().filter(|(k, _)| *k != i);
    others
        .map(|(_, t)| t)
        .filter(|t| part_of(claim, t) == part_of(claim, x) || t.tokens.start < named)
        .filter(|t| x.kind != TermKind::Number || can_have_a_number(claim, t))
        .map(|t| t.id)
        .collect()
}

/// Whether a number can be the number of this term: it is a thing, or a day, month or year.
fn can_have_a_number(claim: &Reading, term: &Term) -> bool {
    term.kind != TermKind::Number || matches!(what_is_at(claim, term), Some(What::Date(_)))
}

/// The votes for a rival of a thing of the claim, and the objection that follows from them.
fn judge_rival(
    case: &Case<'_>,
    terms: &[Term],
    own: &OwnThing<'_>,
    rival: Rival,
    affinities: &mut Affinities<'_>,
) -> Option<(usize, Objection)> {
    let (claim, x) = (case.claim, own.term);
    if x.kind == TermKind::Code
        && !(own.label && own.opens)
        && !have_one_shape(&shown(claim, x), &rival.text)
    {
        return None;
    }
    affinities.look_up(rival.id);
    let affinities = &*affinities;
    let leads: Vec<f64> = own
        .voters
        .iter()
        .map(|t| affinities.of(*t, x.id) - affinities.of(*t, rival.id))
        .collect();
    let for_claim = leads.iter().filter(|l| **l >= CLOSER).count();
    let against = leads.iter().filter(|l| **l <= -CLOSER).count();
    // All values of a row belong to what the row is about, near or far.
    let opposed = own
        .voters
        .iter()
        .zip(&leads)
        .filter(|(_, l)| **l <= -CLOSER);
    let opposed: Vec<u32> = opposed.map(|(id, _)| *id).collect();
    if x.kind == TermKind::Number && against > 0 && share_a_row(case, x, &opposed) {
        return None;
    }
    let labels = own.label && affinities.is_label(rival.id);
    let all = against > 0 && is_framed(own, &rival, affinities);
    let enough = if all { 1 } else { 2 };
    if !(labels || own.value || all) || for_claim > 0 || against < enough {
        return None;
    }
    let voice = leads.iter().position(|l| *l <= -CLOSER);
    let of = voice.and_then(|n| terms.iter().find(|t| t.id == own.voters[n]));
    let denies = claim.text.tokens.iter().any(crate::text::Token::negates);
    let effect = match (labels, against) {
        (true, 2..) if !own.value => Effect::Rejects,
        // A short claim says one thing about one name; a long one may only mention it.
        _ if all && own.voters.len() <= SHORT && !denies => Effect::Rejects,
        _ => Effect::Doubts,
    };
    let detail = Detail::Elsewhere {
        said: shown(claim, x),
        of: of.map_or(String::new(), |t| shown(claim, t)),
        belongs_to: None,
        found: Some(rival.text),
    };
    let found = Objection::new(Code::Referent, effect, detail).at(bytes(claim, x));
    Some((against, found))
}

/// Whether one row of a table has the number of the claim and all words that vote against it.
fn share_a_row(case: &Case<'_>, number: &Term, opposed: &[u32]) -> bool {
    case.cited.iter().any(|source| {
        let reading = source.reading;
        let rows = reading.sentences_with(number.id).iter();
        let mut rows = rows.map(|n| *n as usize).take(MOST_SENTENCES);
        rows.any(|n| {
            let is_row = reading
                .sentence(n)
                .is_some_and(|row| row.role == BlockRole::TableRow);
            let tokens = reading.tokens_of(n);
            // A word of the header is as near to every row.
            let mut opposed = opposed.iter();
            is_row && opposed.all(|id| has_stem(tokens, *id) || !is_in_a_row(reading, *id))
        })
    })
}

/// Whether a row of a table, besides its header, has the word.
fn is_in_a_row(reading: &Reading, id: u32) -> bool {
    let sentences = reading.sentences_with(id).iter().take(MOST_SENTENCES);
    let mut sentences = sentences.filter_map(|n| reading.sentence(*n as usize));
    sentences.any(|s| s.role == BlockRole::TableRow)
}

/// Whether the cited text says of another name everything that the claim says of its own.
/// "Thomas" and "Weber" in one clause can be one person.
fn is_framed(own: &OwnThing<'_>, rival: &Rival, affinities: &Affinities<'_>) -> bool {
    let apart = affinities.of(own.term.id, rival.id) < ONE_CLAUSE;
    let mut voters = own.voters.iter();
    own.name
        && rival.is_name
        && apart
        && voters.len() > 1
        && voters.all(|t| affinities.of(*t, rival.id) >= FRAME)
}

/// Whether two identifiers have the same shape: capitals, digits and symbols in the same kinds of
/// places.
fn have_one_shape(a: &str, b: &str) -> bool {
    let shape = IdentifierShape::of(a);
    shape == IdentifierShape::of(b) && (shape.has_digits || !shape.has_small)
}

/// What kinds of letters and symbols an identifier has.
#[derive(PartialEq, Eq)]
struct IdentifierShape {
    has_digits: bool,
    has_small: bool,
    /// In their order, without repetitions.
    signs: Vec<char>,
}

impl IdentifierShape {
    fn of(word: &str) -> Self {
        let mut signs: Vec<char> = word.chars().filter(|c| !c.is_alphanumeric()).collect();
        signs.dedup();
        Self {
            has_digits: word.chars().any(|c| c.is_ascii_digit()),
            has_small: word.chars().any(char::is_lowercase),
            signs,
        }
    }
}

/// A term of the cited text.
struct Rival {
    id: u32,
    text: String,
    is_name: bool,
}

/// Whether a term of the claim is a name; the first word of a sentence is one if the cited text
/// uses it as a name.
fn is_name(case: &Case<'_>, x: &Term) -> bool {
    let capital = case
        .claim
        .text
        .tokens
        .get(x.tokens.start)
        .is_some_and(|t| t.capital);
    let word = case.claim.shown(x.tokens.clone());
    x.kind == TermKind::Name && word.contains(char::is_lowercase)
        || x.kind == TermKind::Word
            && capital
            && word.contains(char::is_lowercase)
            && !super::names::ends_as_a_word(word)
            && case.cited.iter().any(|s| has_as_name(s.reading, x.id))
}

/// Whether a text uses a word as a name in one of the first sentences with it, or capitalises it
/// everywhere.
fn has_as_name(reading: &Reading, id: u32) -> bool {
    let sentences = reading.sentences_with(id).iter().take(8);
    let mut terms = sentences.flat_map(|s| reading.terms_of(*s as usize));
    terms.any(|t| t.id == id && t.kind == TermKind::Name)
        || !reading.has_uncapitalised(id) && reading.has(id)
}

/// Terms of the cited text of the same kind as `x` that the claim does not have, in sentences that
/// contain one of the voters.
fn rivals(case: &Case<'_>, terms: &[Term], x: &Term, voters: &[u32]) -> Vec<Rival> {
    let name = is_name(case, x);
    let mut out: Vec<Rival> = Vec::new();
    for source in case.cited {
        let reading = source.reading;
        for s in sentences_with_any(reading, voters) {
            for term in reading.terms_of(s) {
                if out.len() >= MOST_RIVALS {
                    return out;
                }
                let is_name = term.kind != TermKind::Number && has_capital(reading, term);
                if (can_replace(x, term) || is_name && name)
                    && !case.claim.has(term.id)
                    && !terms.iter().any(|t| t.id == term.id)
                    && !out.iter().any(|r| r.id == term.id)
                    && (x.kind != TermKind::Number
                        || same_kind(case.claim, x, reading, term)
                            && !are_one_amount(case.claim, x, reading, term))
                    && !are_one_place_of_the_calendar(case.claim, x, reading, term)
                {
                    let text = shown(reading, term);
                    out.push(Rival {
                        id: term.id,
                        text,
                        is_name,
                    });
                }
            }
        }
    }
    out
}

/// Maximum number of sentences that are searched for one voter.
const MOST_SENTENCES: usize = 6;

/// The first sentences with each of these stems, each once.
fn sentences_with_any(reading: &Reading, stems: &[u32]) -> Vec<usize> {
    let mut out = Vec::new();
    for stem in stems {
        for s in reading.sentences_with(*stem).iter().take(MOST_SENTENCES) {
            if !out.contains(&(*s as usize)) {
                out.push(*s as usize);
            }
        }
    }
    out
}

fn has_capital(reading: &Reading, term: &Term) -> bool {
    let first = reading.text.tokens.get(term.tokens.start);
    first.is_some_and(|t| t.capital)
}

/// Whether the kinds of two terms allow that one replaces the other.
fn can_replace(x: &Term, y: &Term) -> bool {
    use TermKind::{Code, Name};
    x.kind == y.kind || matches!((x.kind, y.kind), (Code | Name, Code | Name))
}

/// Whether both are the same amount in other notations: "two" and "2".
fn are_one_amount(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    match (what_is_at(r, x), what_is_at(s, y)) {
        (Some(What::Number(n)), Some(What::Number(m))) => a::same(n.value, m.value),
        _ => false,
    }
}

/// Whether both terms name the same month or weekday: "Sept" and "September".
fn are_one_place_of_the_calendar(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    let place =
        |reading: &Reading, term: &Term| a::calendar_place(reading.shown(term.tokens.clone()));
    let own = place(r, x);
    own.is_some() && own == place(s, y)
}

/// Whether two terms are parts of one date, time or amount.
fn are_in_one_atom(reading: &Reading, x: &Term, y: &Term) -> bool {
    let own = atom_at(reading, x).map(|atom| &atom.bytes);
    own.is_some() && own == atom_at(reading, y).map(|atom| &atom.bytes)
}

/// Whether a term is one sign of a script in which words have several, or a little word of a language.
fn says_too_little(claim: &Reading, term: &Term) -> bool {
    let word = claim.shown(term.tokens.clone());
    let mut signs = word.chars();
    let is_sign = signs.next().is_some_and(is_unspaced) && signs.next().is_none();
    is_sign || term.kind == TermKind::Word && is_little_word(&word.to_lowercase())
}

/// Whether one term can replace the other.
fn same_kind(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    use TermKind::{Code, Name, Number, Part, Word};
    match (x.kind, y.kind) {
        (Number, Number) => numbers_alike(r, x, s, y),
        (Code | Name, Code | Name) | (Word, Word) => true,
        (Part, _) | (_, Part) => false,
        _ => false,
    }
}

/// Whether both are numbers with the same unit, the same part of dates or of times, or plain
/// numbers.
fn numbers_alike(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    match (what_is_at(r, x), what_is_at(s, y)) {
        (Some(What::Number(n)), Some(What::Number(m))) => match (n.unit, m.unit) {
            (Some(u), Some(v)) => a::same_kind(u, v),
            (None, None) => n.ordinal == m.ordinal,
            _ => false,
        },
        (Some(What::Date(_)), Some(What::Date(_))) => date_part(r, x) == date_part(s, y),
        (Some(What::Time(_)), Some(What::Time(_))) => opens_its_atom(r, x) && opens_its_atom(s, y),
        (Some(What::Literal(_)), Some(What::Literal(_))) => true,
        _ => false,
    }
}

/// What a word of a date gives.
#[derive(PartialEq, Eq)]
enum DatePart {
    Year,
    /// A day, or a month in digits.
    Day,
    /// The name of a month or weekday.
    Name,
}

fn date_part(reading: &Reading, term: &Term) -> DatePart {
    let word = reading.shown(term.tokens.clone());
    match word.chars().take_while(char::is_ascii_digit).count() {
        0 => DatePart::Name,
        1 | 2 => DatePart::Day,
        _ => DatePart::Year,
    }
}

/// Whether a term is the first word of its atom: of a time, the hour.
fn opens_its_atom(reading: &Reading, term: &Term) -> bool {
    atom_at(reading, term).is_some_and(|atom| atom.tokens.start == term.tokens.start)
}

/// The number, date or other atom that a term is part of.
fn atom_at<'r>(reading: &'r Reading, term: &Term) -> Option<&'r Atom> {
    let at = reading
        .atoms
        .partition_point(|a| a.tokens.end <= term.tokens.start);
    let atom = reading.atoms.get(at);
    atom.filter(|a| a.tokens.start <= term.tokens.start)
}

fn what_is_at<'r>(reading: &'r Reading, term: &Term) -> Option<&'r What> {
    atom_at(reading, term).map(|atom| &atom.what)
}

fn shown(reading: &Reading, term: &Term) -> String {
    reading.shown(term.tokens.clone()).to_owned()
}

fn bytes(reading: &Reading, term: &Term) -> std::ops::Range<usize> {
    let tokens = reading.text.tokens.get(term.tokens.clone()).unwrap_or(&[]);
    match (tokens.first(), tokens.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    }
}
