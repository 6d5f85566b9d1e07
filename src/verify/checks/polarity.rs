//! L5: negation, direction, quantity and mood are those of the cited text.
//!
//! Every rule compares a word of the claim with the same word of the nearest sentences, or with its opposite there;
//! where the cited text has neither, nothing is said against the claim.

use super::align::{Alignment, Edit};
use super::{Case, Extent};
use crate::verify::Code;
use crate::verify::tables::{Mood, Quantity};
use crate::verify::text::Token;

/// What differs.
pub fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Vec<(Code, String)> {
    let mut out = Vec::new();
    let changed = alignment.edits();
    out.extend(negation(case, alignment, changed));
    out.extend(direction(case, alignment, changed));
    if case.extent == Extent::Sentence {
        out.extend(swapped(case, alignment));
        out.extend(quantity(case, alignment, changed));
        out.extend(mood(case, alignment, changed));
    }
    out
}

fn said(case: &Case<'_>, token: &Token) -> String {
    case.claim.word(token).to_owned()
}

/// A word is negated on one side only.
fn negation(case: &Case<'_>, alignment: &Alignment<'_>, changed: &[Edit<'_>]) -> Option<(Code, String)> {
    let found = |word: String, by_claim: bool| {
        let why = if by_claim {
            format!("The claim negates “{word}”; the cited text does not.")
        } else {
            format!("The cited text negates “{word}”; the claim does not.")
        };
        Some((Code::Negation, why))
    };
    let claim = &case.claim.text.tokens;
    for token in claim.iter().filter(|t| t.is_content()) {
        let same: Vec<&Token> = alignment.tokens().filter(|e| e.id == token.id).collect();
        if same.is_empty() {
            if let Some(word) = prefixed(case, alignment, token) {
                return found(word, false);
            }
            continue;
        }
        let agreeing = same.iter().any(|e| e.negated == token.negated);
        if agreeing {
            continue;
        }
        if token.head && token.negated {
            return found(said(case, token), true);
        }
        if !token.negated && same.iter().any(|e| e.head && e.negated) {
            return found(said(case, token), false);
        }
    }
    // Nearly the same sentence, with a negation put in or left out.
    let odd = changed.iter().filter(|e| {
        let negates = |t: Option<&Token>| t.is_some_and(|t| t.negates() || t.turns());
        negates(e.claim) != negates(e.evidence)
    });
    let real = |t: &Token, tokens: &[Token]| {
        t.negates() && !tokens.iter().any(|n| n.start > t.start && n.start <= t.end + 1 && n.hollow())
    };
    let near = alignment.best().map_or(&[][..], |b| b.tokens());
    let added = odd.clone().filter(|e| e.claim.is_some_and(|t| real(t, claim))).count();
    let dropped = odd.filter(|e| e.evidence.is_some_and(|t| real(t, near) && !is_double(case, t, near))).count();
    let negative = |t: &Token| {
        t.negates()
            || t.turns()
            || t.negated
            || matches!(t.quantity(), Some(Quantity::Rare | Quantity::Nothing))
            || t.status() == Some(crate::verify::tables::Status::Rejected)
    };
    let few = |t: &Token, word: &str| {
        matches!(word, "few" | "little" | "only" | "less" | "lower" | "low" | "fewer" | "except" | "absent")
            || negative(t)
            || ["un", "in", "im", "non", "dis", "ir"].iter().any(|p| word.starts_with(p) && word.len() > 6)
            || word.ends_with("less")
    };
    // The claim denies something, and nothing near it in the cited text denies anything.
    let denied = claim.iter().find(|t| {
        t.head && t.negated && claim.iter().any(|n| n.negates() && n.clause == t.clause && n.start < t.start)
    });
    if let Some(token) = denied
        && !alignment.0.is_empty()
        && !alignment.0.iter().any(|a| a.tokens().iter().any(|t| few(t, &a.source.reading.word(t).to_lowercase())))
        && !alignment.tokens().any(|e| token.pairs().iter().any(|(n, side)| e.pairs().contains(&(*n, !side))))
    {
        return found(said(case, token), true);
    }
    // And the other way round: most of the claim stands in one clause that is denied.
    let denies = |t: &Token| {
        negative(t)
            || matches!(t.quantity(), Some(Quantity::Partial))
            || t.mood().is_some()
            || ["un", "in", "im", "non", "dis"].iter().any(|p| case.claim.word(t).to_lowercase().starts_with(p))
    };
    let content: Vec<&Token> = claim.iter().filter(|t| t.is_content()).collect();
    if content.len() >= 2
        && !claim.iter().any(|t| denies(t) || case.claim.word(t).ends_with("less"))
        && let Some(best) = alignment.best().filter(|b| b.share >= 0.5)
    {
        let tokens = best.tokens();
        let cue = tokens.iter().find(|cue| {
            let held = content.iter().filter(|c| tokens.iter().any(|t| t.clause == cue.clause && t.id == c.id)).count();
            // "Nobody knows why the sky is green" denies nothing of the sky.
            let complement = tokens.iter().any(|t| {
                t.start > cue.start
                    && t.clause == cue.clause
                    && matches!(
                        best.source.reading.word(t),
                        "why"
                            | "that"
                            | "whether"
                            | "if"
                            | "how"
                            | "what"
                            | "who"
                            | "which"
                            | "when"
                            | "where"
                            | "until"
                    )
            });
            cue.negates()
                && !complement
                && !is_double(case, cue, tokens)
                && tokens.iter().any(|t| t.head && t.negated && t.clause == cue.clause && t.start > cue.start)
                && held * 2 > content.len()
        });
        if let Some(cue) = cue {
            return found(best.source.reading.word(cue).to_owned(), false)
                .map(|(code, _)| (code, "The cited text is negated; the claim is not.".to_owned()));
        }
    }
    match (added, dropped) {
        (1, 0) => Some((Code::Negation, "The claim is negated; the cited text is not.".to_owned())),
        (0, 1) => Some((Code::Negation, "The cited text is negated; the claim is not.".to_owned())),
        _ => None,
    }
}

/// "not uncommon", "not without": what is negated is a negation itself.
fn is_double(case: &Case<'_>, cue: &Token, tokens: &[Token]) -> bool {
    let mut after = tokens.iter().filter(|t| t.start > cue.start && t.clause == cue.clause);
    after.any(|t| {
        let stem = case.lexicon.stem(t.id);
        let prefixed = t.head
            && ["un", "in", "im", "non", "dis", "ir", "il"].iter().any(|p| stem.starts_with(p))
            && stem.len() > 4;
        t.negates() || t.turns() || prefixed
    })
}

/// "available" where the text says "unavailable", both negated or neither.
fn prefixed(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> Option<String> {
    const OTHER_WORDS: [&str; 14] = [
        "cover", "play", "count", "tract", "solve", "miss", "order", "charge", "patch", "position", "close", "til",
        "it", "der",
    ];
    let stem = case.lexicon.stem(token.id);
    if stem.len() < 4 || token.capital {
        return None;
    }
    let negates = |long: &str, short: &str| {
        ["un", "non", "dis"].iter().any(|p| long.strip_prefix(p) == Some(short)) && !OTHER_WORDS.contains(&short)
            || ["in", "im", "ir", "il"].iter().any(|p| long.strip_prefix(p) == Some(short))
                && ["abl", "ibl", "ent", "ant", "iv", "ar", "act", "plet", "elig"].iter().any(|e| short.ends_with(e))
    };
    let opposite = alignment.tokens().find(|e| {
        let other = case.lexicon.stem(e.id);
        e.negated == token.negated && (negates(other, stem) || negates(stem, other))
    })?;
    let _ = opposite;
    Some(said(case, token))
}

/// A word of the claim has its opposite in the cited text.
fn direction(case: &Case<'_>, alignment: &Alignment<'_>, changed: &[Edit<'_>]) -> Option<(Code, String)> {
    let wrong = |token: &Token| {
        let why = format!("The claim says “{}”; the cited text says the opposite.", said(case, token));
        Some((Code::Direction, why))
    };
    for edit in changed {
        if let (Some(c), Some(e)) = (edit.claim, edit.evidence)
            && c.pairs().iter().any(|(n, side)| e.pairs().contains(&(*n, !side)))
            && c.negated == e.negated
            && c.id != e.id
        {
            return wrong(c);
        }
    }
    let near = alignment.0.iter().filter(|a| a.share >= 0.4);
    for token in case.claim.text.tokens.iter().filter(|t| !t.pairs().is_empty()) {
        let mut agrees = false;
        let mut opposes = false;
        for e in near.clone().flat_map(|a| a.tokens()) {
            if e.id == token.id {
                agrees = true;
                break;
            }
            for (n, side) in token.pairs() {
                let same_parity = e.negated == token.negated;
                agrees |=
                    e.pairs().contains(&(*n, *side)) && same_parity || e.pairs().contains(&(*n, !side)) && !same_parity;
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
    let content = |part: &'t [Token]| part.iter().filter(|t| t.is_content() || t.number).collect::<Vec<_>>();
    (content(tokens.get(..at).unwrap_or(&[])), content(tokens.get(at + 1..).unwrap_or(&[])))
}

/// Whether claim and sentence compare the same two things in the opposite order around their words of comparison.
fn crossed(claim: &[Token], at: usize, sentence: &[Token], there: usize) -> bool {
    let (a, b) = sides(claim, at);
    let (x, y) = sides(sentence, there);
    let only = |list: &[&'_ Token], other: &[&'_ Token]| {
        list.iter().filter(|t| !other.iter().any(|o| o.id == t.id)).map(|t| t.id).collect::<Vec<u32>>()
    };
    let (before, after) = (only(&x, &y), only(&y, &x));
    let held = |list: &[&Token], ids: &[u32]| list.iter().filter(|t| ids.contains(&t.id)).count();
    let (across, back) = (held(&a, &after), held(&b, &before));
    across > 0 && back > 0 && across + back > held(&a, &before) + held(&b, &after)
}

/// "A before B" and "B after A" are one.
fn is_order(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    let claim = &case.claim.text.tokens;
    let Some(at) = claim.iter().position(|t| t.start == token.start) else { return false };
    alignment.0.iter().any(|a| {
        let tokens = a.tokens();
        tokens.iter().enumerate().any(|(there, e)| {
            token.pairs().iter().any(|(n, side)| e.pairs().contains(&(*n, !side))) && crossed(claim, at, tokens, there)
        })
    })
}

/// "B is faster than A" where the text says "A is faster than B"; "Mehmet owes Karl" where Karl owes Mehmet.
fn swapped(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    let claim = &case.claim.text.tokens;
    let best = alignment.best().filter(|b| b.share >= 0.6)?;
    let tokens = best.tokens();
    for (at, token) in claim.iter().enumerate().filter(|(_, t)| !t.pairs().is_empty()) {
        let word = case.claim.word(token);
        let compared = claim.iter().skip(at + 1).take(2).any(|t| case.claim.word(t) == "than");
        let order = matches!(
            word,
            "before" | "after" | "above" | "below" | "over" | "under" | "prior" | "following" | "beneath"
        );
        if !(compared || order) {
            continue;
        }
        let there = tokens.iter().position(|e| e.id == token.id);
        if there.is_some_and(|there| crossed(claim, at, tokens, there)) {
            let word = said(case, token);
            return Some((Code::Direction, format!("The cited text says “{word}” the other way round.")));
        }
    }
    let reading = best.source.reading;
    let passive = |tokens: &[Token], word: &dyn Fn(&Token) -> bool| tokens.iter().any(word);
    let by = |r: &crate::verify::reading::Reading, t: &Token| matches!(r.word(t), "by" | "from" | "of");
    let same_voice = passive(claim, &|t| by(case.claim, t)) == passive(tokens, &|t| by(reading, t));
    let place = |list: &[Token], id: u32| list.iter().position(|t| t.id == id);
    let names: Vec<usize> = (0..claim.len()).filter(|i| claim.get(*i).is_some_and(super::names::is_name)).collect();
    for (&i, &j) in names.iter().zip(names.iter().skip(1)).filter(|_| same_voice) {
        let (Some(a), Some(b)) = (claim.get(i), claim.get(j)) else { continue };
        let (Some(x), Some(y)) = (place(tokens, a.id), place(tokens, b.id)) else { continue };
        let mut between = claim.get(i + 1..j).unwrap_or(&[]).iter().filter(|t| t.is_content() && !t.capital);
        let verb = between.any(|v| place(tokens, v.id).is_some_and(|p| y < p && p < x));
        if y < x && verb {
            let (a, b) = (said(case, a), said(case, b));
            return Some((Code::Direction, format!("In the cited text “{a}” and “{b}” stand the other way round.")));
        }
    }
    None
}

/// The next content word after a quantity or mood: what it is said of.
fn head_of(tokens: &[Token], at: usize) -> Option<&Token> {
    let clause = tokens.get(at)?.clause;
    tokens.get(at + 1..)?.iter().take_while(|t| t.clause == clause).find(|t| t.is_content() && t.mood().is_none())
}

/// "all" where the text says "some", said of the same thing.
fn quantity(case: &Case<'_>, alignment: &Alignment<'_>, changed: &[Edit<'_>]) -> Option<(Code, String)> {
    let wrong = |token: &Token, other: &str| {
        let why = format!("The claim says “{}”; the cited text says “{other}”.", said(case, token));
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
        let Some(own) = token.quantity() else { continue };
        let head = head_of(claim, at);
        for near in &alignment.0 {
            let tokens = near.tokens();
            let quantities: Vec<(usize, Quantity)> =
                tokens.iter().enumerate().filter_map(|(i, t)| Some((i, t.quantity()?))).collect();
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
                    "always" | "never" | "often" | "sometimes" | "usually" | "rarely" | "seldom" | "frequently"
                )
            };
            let both_often = |i: usize| {
                frequency(case.claim.word(token))
                    && tokens.get(i).is_some_and(|t| frequency(near.source.reading.word(t)))
            };
            let stronger =
                |q: Quantity| matches!((own, q), (Quantity::Universal | Quantity::Mostly | Quantity::Nothing, _));
            let clash =
                quantities.iter().find(|(i, q)| stronger(*q) && (same_head(*i) || both_often(*i)) && near.share >= 0.5);
            if let Some((i, _)) = clash
                && let Some(other) = tokens.get(*i)
            {
                return wrong(token, near.source.reading.word(other));
            }
        }
    }
    None
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
fn mood(case: &Case<'_>, alignment: &Alignment<'_>, changed: &[Edit<'_>]) -> Option<(Code, String)> {
    let wrong = |own: Option<&Token>, other: &str| {
        let why = match own {
            Some(token) => format!("The claim says “{}”; the cited text says “{other}”.", said(case, token)),
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
        let Some(head) = head_of(claim, at) else { continue };
        let mut clash = None;
        let mut agrees = false;
        for near in &alignment.0 {
            let tokens = near.tokens();
            for (i, e) in tokens.iter().enumerate().filter(|(_, e)| e.mood().is_some()) {
                if head_of(tokens, i).is_some_and(|h| h.id == head.id) {
                    let theirs = e.mood().map_or(0, level);
                    let far = level(own).abs_diff(theirs) >= 2
                        || matches!((own, e.mood()), (Mood::Must, _) | (_, Some(Mood::Must)));
                    agrees |= level(own) == theirs;
                    clash = clash.or_else(|| (far && level(own) != theirs).then(|| near.source.reading.word(e)));
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
        let hedged = t.mood() == Some(Mood::May) && !matches!(best.source.reading.word(t), "optional" | "possible");
        hedged && head_of(tokens, *i).is_some_and(|h| claim.iter().any(|c| c.id == h.id))
    });
    let elsewhere =
        |h: &Token| {
            alignment.0.iter().skip(1).any(|a| {
                a.tokens().iter().any(|t| t.id == h.id) && !a.tokens().iter().any(|t| t.mood() == Some(Mood::May))
            })
        };
    let (i, token) = unsure?;
    let head = head_of(tokens, i)?;
    if elsewhere(head) { None } else { wrong(None, best.source.reading.word(token)) }
}
