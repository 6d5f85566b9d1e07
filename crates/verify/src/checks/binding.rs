//! L4: what the claim says together belongs together in the cited text.
//!
//! Every term of a claim votes. Where two things of the claim could have exchanged their places
//! ("`a` reads and `b` writes"), each other term votes for the one it is closer to in the cited
//! text. Where the cited text has another thing of the same kind that the claim does not mention,
//! each term votes for the claim's own thing or for that rival. Only a vote without a voice for the
//! claim says anything against it.

use super::affinity::Affinities;
use super::{Case, Effect, Extent};
use crate::Code;
use crate::atoms::{self as a, What};
use crate::finding::{Detail, Objection};
use crate::reading::Reading;
use crate::terms::{Term, TermKind};

/// How much closer a term must be to one thing than to another to vote for it.
const CLOSER: f64 = 0.4;

/// Most terms of a claim, and most rivals of one term; both bound the work on hostile text.
const MOST_TERMS: usize = 28;
const MOST_RIVALS: usize = 24;

/// What was found.
pub fn check(case: &Case<'_>) -> Vec<Objection> {
    let mut affinities = Affinities::new(case.cited);
    let terms = own_terms(case.claim);
    terms.iter().for_each(|t| affinities.look_up(t.id));
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

/// The terms of a claim that can vote or be exchanged, each once.
fn own_terms(claim: &Reading) -> Vec<Term> {
    let mut out: Vec<Term> = Vec::new();
    for term in &claim.terms {
        if term.kind != TermKind::Part && !out.iter().any(|t| t.id == term.id) {
            out.push(term.clone());
        }
    }
    out.truncate(MOST_TERMS);
    out
}

fn clause_of(claim: &Reading, term: &Term) -> u32 {
    let token = claim.text.tokens.get(term.tokens.start);
    token.map_or(0, |t| t.clause)
}

/// Voices for and against the claim.
#[derive(Default)]
struct Votes {
    for_claim: usize,
    against: Vec<usize>,
}

/// Two things of the claim that have each other's attributes in the cited text.
fn exchanged(case: &Case<'_>, terms: &[Term], affinities: &Affinities<'_>) -> Option<Objection> {
    let claim = case.claim;
    let mut best: Option<(usize, Objection)> = None;
    for (i, x) in terms.iter().enumerate() {
        for (j, y) in terms.iter().enumerate().skip(i + 1) {
            let (cx, cy) = (clause_of(claim, x), clause_of(claim, y));
            if cx == cy || !same_kind(claim, x, claim, y) {
                continue;
            }
            if !(affinities.has(x.id) && affinities.has(y.id)) {
                continue;
            }
            let mut votes = [Votes::default(), Votes::default()];
            for (k, t) in terms.iter().enumerate().filter(|(k, _)| *k != i && *k != j) {
                let clause = clause_of(claim, t);
                let side = if clause == cx {
                    0
                } else if clause == cy {
                    1
                } else {
                    continue;
                };
                let (own, other) = if side == 0 { (x, y) } else { (y, x) };
                let lead = affinities.of(t.id, own.id) - affinities.of(t.id, other.id);
                if lead >= CLOSER {
                    votes[side].for_claim += 1;
                } else if lead <= -CLOSER {
                    votes[side].against.push(k);
                }
            }
            let against = votes[0].against.len() + votes[1].against.len();
            let both = votes.iter().all(|v| !v.against.is_empty());
            let claimed = votes.iter().any(|v| v.for_claim > 0);
            if claimed || against < 2 || best.as_ref().is_some_and(|(n, _)| *n >= against) {
                continue;
            }
            let effect = if both {
                Effect::Rejects
            } else {
                Effect::Doubts
            };
            let voice = votes.iter().flat_map(|v| &v.against).next();
            let said = voice.and_then(|k| terms.get(*k));
            let (of, belongs_to) = match votes[0].against.is_empty() {
                false => (x, y),
                true => (y, x),
            };
            let detail = Detail::Elsewhere {
                said: said.map_or(String::new(), |t| shown(claim, t)),
                of: shown(claim, of),
                belongs_to: Some(shown(claim, belongs_to)),
                found: None,
            };
            let range = bytes(claim, of);
            best = Some((
                against,
                Objection::new(Code::Referent, effect, detail).at(range),
            ));
        }
    }
    best.map(|(_, found)| found)
}

/// A thing of the claim in whose place the cited text has another one.
fn replaced(case: &Case<'_>, terms: &[Term], affinities: &mut Affinities<'_>) -> Option<Objection> {
    let claim = case.claim;
    let parts = claim.parts();
    let part = |t: &Term| parts.get(t.tokens.start).copied().unwrap_or(0);
    let mut best: Option<(usize, Objection)> = None;
    for (i, x) in terms.iter().enumerate() {
        if x.kind == TermKind::Word || !affinities.has(x.id) {
            continue;
        }
        let label = super::affinity::label_end(claim, 0).unwrap_or(0);
        let near = |t: &Term| part(t) == part(x) || t.tokens.start < label;
        let voters: Vec<u32> = terms
            .iter()
            .enumerate()
            .filter(|(k, t)| *k != i && near(t))
            .map(|(_, t)| t.id)
            .collect();
        for rival in rivals(case, terms, x, &voters) {
            affinities.look_up(rival.id);
            let lead = |t: &u32| affinities.of(*t, x.id) - affinities.of(*t, rival.id);
            let leads: Vec<f64> = voters.iter().map(lead).collect();
            let for_claim = leads.iter().filter(|l| **l >= CLOSER).count();
            let against = leads.iter().filter(|l| **l <= -CLOSER).count();
            if for_claim > 0 || against < 2 || best.as_ref().is_some_and(|(n, _)| *n >= against) {
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
            let effect = Effect::Doubts;
            best = Some((
                against,
                Objection::new(Code::Referent, effect, detail).at(bytes(claim, x)),
            ));
        }
    }
    best.map(|(_, found)| found)
}

/// A term of the cited text.
struct Rival {
    id: u32,
    text: String,
}

/// Terms of the cited text of the kind of `x`, which the claim does not have, in sentences that
/// hold one of the voters.
fn rivals(case: &Case<'_>, terms: &[Term], x: &Term, voters: &[u32]) -> Vec<Rival> {
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
                if new && same_kind(case.claim, x, reading, term) {
                    let text = shown(reading, term);
                    out.push(Rival { id: term.id, text });
                }
            }
        }
    }
    out
}

/// Whether one term can stand in the place of the other.
fn same_kind(r: &Reading, x: &Term, s: &Reading, y: &Term) -> bool {
    use TermKind::{Code, Name, Number, Part, Word};
    match (x.kind, y.kind) {
        (Number, Number) => numbers_alike(r, x, s, y),
        (Code | Name, Code | Name) | (Word, Word) => true,
        (Part, _) | (_, Part) => false,
        _ => false,
    }
}

/// Numbers that count the same, or dates, or plain numbers.
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
