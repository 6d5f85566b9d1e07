//! L5: direction, quantity and mood are those of the cited text (negation: `negation`).
//!
//! Every rule compares a word of the claim with the same word of the nearest sentences, or with its
//! opposite there; where the cited text has neither, nothing is said against the claim.

use super::align::{Alignment, Edit};
use super::{Case, Extent};
use crate::Code;
use crate::reading::Reading;
use crate::tables::{Mood, Quantity};
use crate::text::Token;

/// What differs.
pub fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Vec<(Code, String)> {
    let mut out = Vec::new();
    let changed = alignment.edits();
    out.extend(direction(case, alignment, changed));
    if case.extent == Extent::Sentence {
        out.extend(swapped(case, alignment));
        out.extend(quantity(case, alignment, changed).or_else(|| restricted(case, alignment)));
        out.extend(mood(case, alignment, changed));
    }
    out
}

fn said(case: &Case<'_>, token: &Token) -> String {
    case.claim.word(token).to_owned()
}

/// A word of the claim has its opposite in the cited text.
fn direction(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    changed: &[Edit<'_>],
) -> Option<(Code, String)> {
    let wrong = |token: &Token| {
        let why = format!(
            "The claim says “{}”; the cited text says the opposite.",
            said(case, token)
        );
        Some((Code::Direction, why))
    };
    for edit in changed {
        if let (Some(c), Some(e)) = (edit.claim, edit.evidence)
            && c.pairs()
                .iter()
                .any(|(n, side)| e.pairs().contains(&(*n, !side)))
            && c.negated == e.negated
            && c.id != e.id
        {
            return wrong(c);
        }
    }
    let near = alignment.0.iter().filter(|a| a.share >= 0.4);
    for token in case
        .claim
        .text
        .tokens
        .iter()
        .filter(|t| !t.pairs().is_empty())
    {
        let mut agrees = false;
        let mut opposes = false;
        for e in near.clone().flat_map(|a| a.tokens()) {
            if e.id == token.id {
                agrees = true;
                break;
            }
            for (n, side) in token.pairs() {
                let same_parity = e.negated == token.negated;
                agrees |= e.pairs().contains(&(*n, *side)) && same_parity
                    || e.pairs().contains(&(*n, !side)) && !same_parity;
                opposes |= e.pairs().contains(&(*n, !side)) && same_parity;
            }
        }
        if opposes && !agrees && !is_order(case, alignment, token) {
            return wrong(token);
        }
    }
    None
}

/// The words on both sides of a comparison: (before, after).
fn sides<'t>(tokens: &'t [Token], at: usize) -> (Vec<&'t Token>, Vec<&'t Token>) {
    let content = |part: &'t [Token]| {
        part.iter()
            .filter(|t| t.is_content() || t.number)
            .collect::<Vec<_>>()
    };
    (
        content(tokens.get(..at).unwrap_or(&[])),
        content(tokens.get(at + 1..).unwrap_or(&[])),
    )
}

/// Whether claim and sentence compare the same two things in the opposite order around their words
/// of comparison.
fn crossed(claim: &[Token], at: usize, sentence: &[Token], there: usize) -> bool {
    let (a, b) = sides(claim, at);
    let (x, y) = sides(sentence, there);
    let only = |list: &[&'_ Token], other: &[&'_ Token]| {
        list.iter()
            .filter(|t| !other.iter().any(|o| o.id == t.id))
            .map(|t| t.id)
            .collect::<Vec<u32>>()
    };
    let (before, after) = (only(&x, &y), only(&y, &x));
    let held = |list: &[&Token], ids: &[u32]| list.iter().filter(|t| ids.contains(&t.id)).count();
    let (across, back) = (held(&a, &after), held(&b, &before));
    across > 0 && back > 0 && across + back > held(&a, &before) + held(&b, &after)
}

/// Whether what a verb tells is done "by" somebody who does it in the other sentence: stands
/// `before` its verb.
fn same_agent(reading: &Reading, from_verb: Option<&[Token]>, before: Option<&[Token]>) -> bool {
    let Some([_, by, after @ ..]) = from_verb else {
        return false;
    };
    let agent = after
        .iter()
        .find(|t| t.is_content())
        .filter(|_| reading.word(by) == "by");
    agent.is_some_and(|agent| before.is_some_and(|before| before.iter().any(|t| t.id == agent.id)))
}

/// "A before B" and "B after A" are one; "A raises B" and "B is lowered by A" are not.
fn is_order(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    let claim = &case.claim.text.tokens;
    let Some(at) = claim.iter().position(|t| t.start == token.start) else {
        return false;
    };
    alignment.0.iter().any(|a| {
        let (tokens, reading) = (a.tokens(), a.source.reading);
        tokens.iter().enumerate().any(|(there, e)| {
            token
                .pairs()
                .iter()
                .any(|(n, side)| e.pairs().contains(&(*n, !side)))
                && crossed(claim, at, tokens, there)
                && !same_agent(case.claim, claim.get(at..), tokens.get(..there))
                && !same_agent(reading, tokens.get(there..), claim.get(..at))
        })
    })
}

/// "B is faster than A" where the text says "A is faster than B"; "Mehmet owes Karl" where Karl
/// owes Mehmet.
fn swapped(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    let claim = &case.claim.text.tokens;
    let best = alignment.best().filter(|b| b.share >= 0.6)?;
    let tokens = best.tokens();
    for (at, token) in claim
        .iter()
        .enumerate()
        .filter(|(_, t)| !t.pairs().is_empty())
    {
        let word = case.claim.word(token);
        let compared = claim
            .iter()
            .skip(at + 1)
            .take(2)
            .any(|t| case.claim.word(t) == "than");
        let order = matches!(
            word,
            "before"
                | "after"
                | "above"
                | "below"
                | "over"
                | "under"
                | "prior"
                | "following"
                | "beneath"
        );
        if !(compared || order) {
            continue;
        }
        let there = tokens.iter().position(|e| e.id == token.id);
        if there.is_some_and(|there| crossed(claim, at, tokens, there)) {
            let word = said(case, token);
            return Some((
                Code::Direction,
                format!("The cited text says “{word}” the other way round."),
            ));
        }
    }
    let reading = best.source.reading;
    let passive = |tokens: &[Token], word: &dyn Fn(&Token) -> bool| tokens.iter().any(word);
    let by = |r: &Reading, t: &Token| matches!(r.word(t), "by" | "from" | "of");
    let same_voice = passive(claim, &|t| by(case.claim, t)) == passive(tokens, &|t| by(reading, t));
    let place = |list: &[Token], id: u32| list.iter().position(|t| t.id == id);
    let names: Vec<usize> = (0..claim.len())
        .filter(|i| claim.get(*i).is_some_and(super::names::is_name))
        .collect();
    for (&i, &j) in names
        .iter()
        .zip(names.iter().skip(1))
        .filter(|_| same_voice)
    {
        let (Some(a), Some(b)) = (claim.get(i), claim.get(j)) else {
            continue;
        };
        let (Some(x), Some(y)) = (place(tokens, a.id), place(tokens, b.id)) else {
            continue;
        };
        let mut between = claim
            .get(i + 1..j)
            .unwrap_or(&[])
            .iter()
            .filter(|t| t.is_content() && !t.capital);
        let verb = between.any(|v| place(tokens, v.id).is_some_and(|p| y < p && p < x));
        if y < x && verb {
            let (a, b) = (said(case, a), said(case, b));
            return Some((
                Code::Direction,
                format!("In the cited text “{a}” and “{b}” stand the other way round."),
            ));
        }
    }
    None
}

/// The next content word after a quantity or mood: what it is said of.
fn head_of(tokens: &[Token], at: usize) -> Option<&Token> {
    let clause = tokens.get(at)?.clause;
    tokens
        .get(at + 1..)?
        .iter()
        .take_while(|t| t.clause == clause)
        .find(|t| t.is_content() && t.mood().is_none())
}

/// "all" where the text says "some", said of the same thing.
fn quantity(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    changed: &[Edit<'_>],
) -> Option<(Code, String)> {
    let wrong = |token: &Token, other: &str| {
        let why = format!(
            "The claim says “{}”; the cited text says “{other}”.",
            said(case, token)
        );
        Some((Code::Quantifier, why))
    };
    let claim = &case.claim.text.tokens;
    let best = alignment.best()?;
    for edit in changed {
        if let (Some(c), Some(e)) = (edit.claim, edit.evidence)
            && (c.quantity().is_some() && e.quantity().is_some() && c.quantity() != e.quantity())
        {
            return wrong(c, best.source.reading.word(e));
        }
        // "only" put before a negation or taken away with it, "all" put in.
        if let (Some(c), None) = (edit.claim, edit.evidence)
            && matches!(c.quantity(), Some(Quantity::Universal))
            && case.claim.word(c) != "both"
        {
            return wrong(c, "nothing of the kind");
        }
    }
    for (at, token) in claim.iter().enumerate() {
        let Some(own) = token.quantity() else {
            continue;
        };
        let head = head_of(claim, at);
        for near in &alignment.0 {
            let tokens = near.tokens();
            let quantities: Vec<(usize, Quantity)> = tokens
                .iter()
                .enumerate()
                .filter_map(|(i, t)| Some((i, t.quantity()?)))
                .collect();
            if quantities.is_empty() || quantities.iter().any(|(_, q)| *q == own) {
                continue;
            }
            let same_head = |i: usize| match (head, head_of(tokens, i)) {
                (Some(a), Some(b)) => a.id == b.id,
                _ => false,
            };
            let frequency = |word: &str| {
                matches!(
                    word,
                    "always"
                        | "never"
                        | "often"
                        | "sometimes"
                        | "usually"
                        | "rarely"
                        | "seldom"
                        | "frequently"
                )
            };
            let both_often = |i: usize| {
                frequency(case.claim.word(token))
                    && tokens
                        .get(i)
                        .is_some_and(|t| frequency(near.source.reading.word(t)))
            };
            let stronger = |q: Quantity| {
                matches!(
                    (own, q),
                    (
                        Quantity::Universal | Quantity::Mostly | Quantity::Nothing,
                        _
                    )
                )
            };
            let clash = quantities.iter().find(|(i, q)| {
                stronger(*q) && (same_head(*i) || both_often(*i)) && near.share >= 0.5
            });
            if let Some((i, _)) = clash
                && let Some(other) = tokens.get(*i)
            {
                return wrong(token, near.source.reading.word(other));
            }
        }
    }
    None
}

/// How many words of one kind are looked at in a sentence: answers may be hostile.
const MOST_CUES: usize = 4;

/// How many words of a sentence are compared.
const MOST_WORDS: usize = 300;

/// "all of the seedlings" where the text says "a third of the seedlings"; "everybody" where it says
/// "only Anna".
fn restricted(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    let claim = &case.claim.text.tokens;
    let universal = |t: &Token| t.quantity() == Some(Quantity::Universal);
    let denied = |at: usize| {
        claim.get(at).is_some_and(|t| t.negated)
            || at
                .checked_sub(1)
                .and_then(|before| claim.get(before))
                .is_some_and(|t| t.negates() || t.hollow())
    };
    let content = || {
        claim
            .iter()
            .take(MOST_WORDS)
            .filter(|t| t.is_content() && !universal(t))
            .map(|t| t.id)
    };
    let universals = claim
        .iter()
        .enumerate()
        .filter(|(at, t)| universal(t) && !denied(*at));
    for (at, token) in universals.take(MOST_CUES) {
        let head = head_of(claim, at).map(|head| head.id);
        for near in alignment.0.iter().filter(|near| near.share >= 0.5) {
            let tokens = near.tokens().get(..MOST_WORDS).unwrap_or(near.tokens());
            let word = |i: usize| tokens.get(i).map_or("", |t| near.source.reading.word(t));
            let part = |i: usize| is_share(word(i)) && word(i + 1) == "of" && head.is_some();
            let only = |i: usize| word(i).eq_ignore_ascii_case("only");
            for i in (0..tokens.len())
                .filter(|i| part(*i) || only(*i))
                .take(MOST_CUES)
            {
                let (Some(cue), Some(of)) = (tokens.get(i), head_of(tokens, i)) else {
                    continue;
                };
                let clause: Vec<&Token> =
                    tokens.iter().filter(|t| t.clause == cue.clause).collect();
                let rest: Vec<u32> = content().filter(|id| Some(*id) != head).collect();
                let held = rest
                    .iter()
                    .filter(|id| clause.iter().any(|t| t.id == **id))
                    .count();
                let another = !of.number
                    && content().all(|id| id != of.id)
                    && held > 0
                    && held * 2 >= rest.len();
                let less = if only(i) {
                    another
                } else {
                    Some(of.id) == head
                };
                if less && !clause.into_iter().any(universal) {
                    let why = format!(
                        "The claim says “{}”; the cited text says “{}”.",
                        said(case, token),
                        word(i)
                    );
                    return Some((Code::Quantifier, why));
                }
            }
        }
    }
    None
}

/// Whether the word names a part of something that is not all of it.
fn is_share(word: &str) -> bool {
    matches!(
        word,
        "third"
            | "thirds"
            | "quarter"
            | "quarters"
            | "fifth"
            | "tenth"
            | "half"
            | "percent"
            | "fraction"
            | "part"
    )
}

fn level(mood: Mood) -> u8 {
    match mood {
        Mood::May | Mood::Hedge => 0,
        Mood::Can => 1,
        Mood::Should => 2,
        Mood::Will => 3,
        Mood::Must => 4,
    }
}

/// "must" where the text says "may", said of the same thing; a "may" that was left out.
fn mood(
    case: &Case<'_>,
    alignment: &Alignment<'_>,
    changed: &[Edit<'_>],
) -> Option<(Code, String)> {
    let wrong = |own: Option<&Token>, other: &str| {
        let why = match own {
            Some(token) => format!(
                "The claim says “{}”; the cited text says “{other}”.",
                said(case, token)
            ),
            None => format!("The cited text says “{other}”; the claim leaves it out."),
        };
        Some((Code::Modality, why))
    };
    let best = alignment.best()?;
    for edit in changed {
        if let (Some(c), Some(e)) = (edit.claim, edit.evidence)
            && let (Some(own), Some(theirs)) = (c.mood(), e.mood())
            && level(own) != level(theirs)
            && c.id != e.id
        {
            return wrong(Some(c), best.source.reading.word(e));
        }
    }
    let claim = &case.claim.text.tokens;
    for (at, token) in claim.iter().enumerate() {
        let Some(own) = token.mood() else { continue };
        let Some(head) = head_of(claim, at) else {
            continue;
        };
        let mut clash = None;
        let mut agrees = false;
        for near in &alignment.0 {
            let tokens = near.tokens();
            for (i, e) in tokens
                .iter()
                .enumerate()
                .filter(|(_, e)| e.mood().is_some())
            {
                if head_of(tokens, i).is_some_and(|h| h.id == head.id) {
                    let theirs = e.mood().map_or(0, level);
                    let far = level(own).abs_diff(theirs) >= 2
                        || matches!((own, e.mood()), (Mood::Must, _) | (_, Some(Mood::Must)));
                    agrees |= level(own) == theirs;
                    clash = clash.or_else(|| {
                        (far && level(own) != theirs).then(|| near.source.reading.word(e))
                    });
                }
            }
        }
        if let Some(other) = clash.filter(|_| !agrees) {
            return wrong(Some(token), other);
        }
    }
    // Said as a fact what the nearest sentence only holds possible.
    if claim.iter().any(|t| t.mood().is_some()) || best.share < 0.75 {
        return None;
    }
    let tokens = best.tokens();
    let unsure = tokens.iter().enumerate().find(|(i, t)| {
        let hedged = t.mood() == Some(Mood::May)
            && !matches!(best.source.reading.word(t), "optional" | "possible");
        hedged && head_of(tokens, *i).is_some_and(|h| claim.iter().any(|c| c.id == h.id))
    });
    let elsewhere = |h: &Token| {
        alignment.0.iter().skip(1).any(|a| {
            a.tokens().iter().any(|t| t.id == h.id)
                && !a.tokens().iter().any(|t| t.mood() == Some(Mood::May))
        })
    };
    let (i, token) = unsure?;
    let head = head_of(tokens, i)?;
    if elsewhere(head) {
        None
    } else {
        wrong(None, best.source.reading.word(token))
    }
}
