//! L4: things that the claim connects are connected in the cited text too.
//!
//! Every term of a claim votes. Where two things in the claim could have been swapped ("`a` reads
//! and `b` writes"), each other term votes for the one it is closer to in the cited text. Where the
//! cited text has another thing of the same kind that the claim does not mention, each term votes
//! for the claim's own thing or for that rival. Only a vote with no support for the claim counts
//! against it.

use super::affinity::Affinities;
use super::{Case, Effect, Extent};
use crate::Code;
use crate::atoms::{self as a, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::terms::{Term, TermKind};

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
fn groups(claim: &Reading, x: &Term, y: &Term) -> Option<impl Fn(&Term) -> u32> {
    let parts = claim.parts();
    let part = |t: &Term| parts.get(t.tokens.start).copied().unwrap_or(0);
    let clause = |t: &Term| {
        claim
            .text
            .tokens
            .get(t.tokens.start)
            .map_or(0, |t| t.clause)
    };
    let by_part = part(x) != part(y);
    if !by_part && clause(x) == clause(y) {
        return None;
    }
    Some(move |t: &Term| if by_part { part(t) } else { clause(t) })
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
    let small = |at: usize| {
        let word = claim.text.tokens.get(at).map_or("", |t| claim.word(t));
        let term = terms.get(i + 1..j).unwrap_or(&[]).iter();
        let mut same = term.filter(|t| t.kind == x.kind);
        matches!(
            word,
            "and" | "or" | "both" | "und" | "oder" | "a" | "an" | "the"
        ) || same.any(|t| t.tokens.contains(&at))
    };
    between.clone().all(small)
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
    let (gx, gy) = (group(x), group(y));
    let mut votes = [Votes::default(), Votes::default()];
    for (k, t) in terms.iter().enumerate().filter(|(k, _)| *k != i && *k != j) {
        if is_phrase(t, x) || is_phrase(t, y) {
            continue;
        }
        let (side, own, other) = match group(t) {
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
    let parts = claim.parts();
    let part = |t: &Term| parts.get(t.tokens.start).copied().unwrap_or(0);
    let named = super::affinity::label_end(claim, 0).unwrap_or(0);
    let denies = claim.text.tokens.iter().any(crate::text::Token::negates);
    let mut best: Option<(usize, Objection)> = None;
    for (i, x) in terms.iter().enumerate() {
        let label = affinities.is_label(x.id);
        let opens = i == 0 || x.tokens.start < named;
        let value = x.kind == TermKind::Number || x.kind == TermKind::Code;
        let name = is_name(case, x);
        if !affinities.has(x.id) || !(label && opens || value || name) {
            continue;
        }
        let near = |t: &Term| part(t) == part(x) || t.tokens.start < named;
        let voters: Vec<u32> = terms
            .iter()
            .enumerate()
            .filter(|(k, t)| *k != i && near(t))
            .map(|(_, t)| t.id)
            .collect();
        for rival in rivals(case, terms, x, &voters) {
            if x.kind == TermKind::Code
                && !labels_only(x, label, opens)
                && !have_one_shape(&shown(claim, x), &rival.text)
            {
                continue;
            }
            affinities.look_up(rival.id);
            let labels = label && affinities.is_label(rival.id);
            let lead = |t: &u32| affinities.of(*t, x.id) - affinities.of(*t, rival.id);
            let leads: Vec<f64> = voters.iter().map(lead).collect();
            let for_claim = leads.iter().filter(|l| **l >= CLOSER).count();
            let against = leads.iter().filter(|l| **l <= -CLOSER).count();
            let names = name && rival.is_name;
            // The cited text says about the rival everything that the claim says about its own
            // subject.
            let framed = |t: &u32| affinities.of(*t, rival.id) >= FRAME;
            // "Thomas" and "Weber" in one clause can be one person.
            let apart = affinities.of(x.id, rival.id) < ONE_CLAUSE;
            let all =
                names && apart && against > 0 && voters.len() > 1 && voters.iter().all(framed);
            let enough = if all { 1 } else { 2 };
            if !(labels || value || all)
                || for_claim > 0
                || against < enough
                || best.as_ref().is_some_and(|(n, _)| *n >= against)
            {
                continue;
            }
            let voice = leads.iter().position(|l| *l <= -CLOSER);
            let of = voice.and_then(|n| terms.iter().find(|t| t.id == voters[n]));
            let detail = Detail::Elsewhere {
                said: shown(claim, x),
                of: of.map_or(String::new(), |t| shown(claim, t)),
                belongs_to: None,
                found: Some(rival.text),
            };
            let effect = match (labels, against) {
                (true, 2..) if !value => Effect::Rejects,
                // A short claim makes one statement about one name; a long one may only mention the
                // name.
                _ if all && voters.len() <= SHORT && !denies => Effect::Rejects,
                _ => Effect::Doubts,
            };
            best = Some((
                against,
                Objection::new(Code::Referent, effect, detail).at(bytes(claim, x)),
            ));
        }
    }
    best.map(|(_, found)| found)
}

fn labels_only(_x: &Term, label: bool, opens: bool) -> bool {
    label && opens
}

/// Whether two identifiers have the same shape: capitals, digits and symbols in the same kinds of
/// places.
fn have_one_shape(a: &str, b: &str) -> bool {
    let shape = |word: &str| {
        let digits = word.chars().any(|c| c.is_ascii_digit());
        let small = word.chars().any(char::is_lowercase);
        let mut signs: Vec<char> = word.chars().filter(|c| !c.is_alphanumeric()).collect();
        signs.dedup();
        (digits, small, signs)
    };
    let (x, y) = (shape(a), shape(b));
    x == y && (x.0 || !x.1)
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
    let named = |r: &Reading| {
        let sentences = r.sentences_with(x.id).iter().take(8);
        let mut terms = sentences.flat_map(|s| r.terms_of(*s as usize));
        terms.any(|t| t.id == x.id && t.kind == TermKind::Name)
            || r.text
                .tokens
                .iter()
                .filter(|t| t.id == x.id)
                .all(|t| t.capital)
                && r.has(x.id)
    };
    let word = case.claim.shown(x.tokens.clone());
    x.kind == TermKind::Name && word.contains(char::is_lowercase)
        || x.kind == TermKind::Word
            && capital
            && word.contains(char::is_lowercase)
            && !super::names::ends_as_a_word(word)
            && case.cited.iter().any(|s| named(s.reading))
}

/// Terms of the cited text of the same kind as `x` that the claim does not have, in sentences that
/// contain one of the voters.
fn rivals(case: &Case<'_>, terms: &[Term], x: &Term, voters: &[u32]) -> Vec<Rival> {
    let name = is_name(case, x);
    let mut out: Vec<Rival> = Vec::new();
    for source in case.cited {
        let reading = source.reading;
        for s in voters
            .iter()
            .flat_map(|v| reading.sentences_with(*v).iter().take(6))
        {
            for term in reading.terms_of(*s as usize) {
                if out.len() >= MOST_RIVALS {
                    return out;
                }
                let new = !terms.iter().any(|t| t.id == term.id)
                    && !out.iter().any(|r| r.id == term.id)
                    && !case.claim.has(term.id);
                let capital = reading
                    .text
                    .tokens
                    .get(term.tokens.start)
                    .is_some_and(|t| t.capital);
                let is_name = capital && term.kind != TermKind::Number;
                let alike = term.kind == x.kind || same_kind(case.claim, x, reading, term);
                if new && (alike || is_name && name) {
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

/// Whether both are numbers with the same unit, or dates, or plain numbers.
fn numbers_alike(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    let what = |reading: &Reading, term: &Term| {
        let at = reading
            .atoms
            .partition_point(|a| a.tokens.end <= term.tokens.start);
        let atom = reading.atoms.get(at);
        atom.filter(|a| a.tokens.start <= term.tokens.start)
            .map(|a| a.what.clone())
    };
    match (what(r, x), what(s, y)) {
        (Some(What::Number(n)), Some(What::Number(m))) => match (n.unit, m.unit) {
            (Some(u), Some(v)) => a::same_kind(u, v),
            (None, None) => n.ordinal == m.ordinal,
            _ => false,
        },
        (Some(What::Date(_)), Some(What::Date(_))) => true,
        (Some(What::Literal(_)), Some(What::Literal(_))) => true,
        _ => false,
    }
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
