//! L5: what the claim denies is denied in the cited text, and the other way round.

use super::Case;
use super::align::{Aligned, Alignment};
use crate::Code;
use crate::tables::{Quantity, Status};
use crate::text::Token;

/// What is negated on one side only; the surest sign first.
pub fn check(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<(Code, String)> {
    let why = same_word(case, alignment)
        .or_else(|| denied_by_the_claim_alone(case, alignment))
        .or_else(|| denied_without_a_verb(case, alignment))
        .or_else(|| denied_by_the_text_alone(case, alignment))
        .or_else(|| edited(case, alignment))?;
    Some((Code::Negation, why))
}

fn by_claim(word: &str) -> String {
    format!("The claim negates “{word}”; the cited text does not.")
}

fn by_text(word: &str) -> String {
    format!("The cited text negates “{word}”; the claim does not.")
}

/// A word that both sides have is negated on one of them only.
fn same_word(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<String> {
    let mut held: Vec<&Token> = alignment.tokens().collect();
    held.sort_by_key(|t| t.id);
    for token in case.claim.text.tokens.iter().filter(|t| t.is_content()) {
        let from = held.partition_point(|e| e.id < token.id);
        let to = held.partition_point(|e| e.id <= token.id);
        let same = held.get(from..to).unwrap_or(&[]);
        let word = case.claim.word(token);
        if same.is_empty() {
            if prefixed(case, alignment, token) {
                return Some(by_text(word));
            }
            continue;
        }
        if same.iter().any(|e| e.negated == token.negated) {
            continue;
        }
        if token.head && token.negated {
            return Some(by_claim(word));
        }
        if !token.negated && same.iter().any(|e| e.head && e.negated) {
            return Some(by_text(word));
        }
    }
    None
}

/// Whether a word denies, turns or belittles, or stands under such a word.
fn negative(token: &Token) -> bool {
    token.negates()
        || token.turns()
        || token.negated
        || matches!(token.quantity(), Some(Quantity::Rare | Quantity::Nothing))
        || token.status() == Some(Status::Rejected)
}

/// Whether a lower-case word of the cited text may carry what a claim denies.
fn may_deny(token: &Token, word: &str) -> bool {
    negative(token) || is_scarce(word) || has_negative_prefix(word) || word.ends_with("less")
}

/// Words of absence and of less.
fn is_scarce(word: &str) -> bool {
    matches!(
        word,
        "few"
            | "little"
            | "only"
            | "less"
            | "lower"
            | "low"
            | "fewer"
            | "except"
            | "absent"
            | "despite"
            | "although"
            | "zero"
            | "rather"
            | "contrary"
            | "however"
            | "yet"
            | "loss"
            | "lost"
            | "free"
            | "minimal"
            | "limited"
    )
}

/// Whether a word denies by its first letters: "unable", "inactive"; not "increase", "united",
/// "discovery".
fn has_negative_prefix(word: &str) -> bool {
    const IN: [&str; 21] = [
        "able",
        "ible",
        "active",
        "accura",
        "adequa",
        "complete",
        "consisten",
        "correct",
        "direct",
        "effective",
        "efficien",
        "eligib",
        "frequen",
        "mature",
        "proper",
        "regular",
        "relevant",
        "secure",
        "sensitiv",
        "significan",
        "sufficien",
    ];
    const DIS: [&str; 12] = [
        "abl", "advantag", "agree", "allow", "appear", "approv", "associat", "connect", "continu",
        "honest", "prov", "similar",
    ];
    const NOT_UN: [&str; 6] = ["under", "uni", "until", "unless", "undul", "unto"];
    let begins = |rest: &str, list: &[&str]| list.iter().any(|l| rest.starts_with(l));
    if let Some(rest) = word.strip_prefix("un") {
        return rest.len() > 3 && !begins(word, &NOT_UN);
    }
    if let Some(rest) = word.strip_prefix("non") {
        return rest.len() > 3;
    }
    if let Some(rest) = word.strip_prefix("dis") {
        return begins(rest, &DIS);
    }
    let rest = ["in", "im", "ir", "il"]
        .iter()
        .find_map(|p| word.strip_prefix(p));
    rest.is_some_and(|rest| {
        rest.len() > 3 && (rest.ends_with("ble") || begins(rest, &IN)) && !begins(rest, &["able"])
    })
}

/// The claim denies something that the cited text speaks of, and nothing there denies anything.
fn denied_by_the_claim_alone(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<String> {
    let claim = &case.claim.text.tokens;
    let mut cue = None;
    let denied = claim.iter().find(|t| {
        let found =
            t.head && t.negated && cue.is_some_and(|cue| t.clause == cue || t.clause == cue + 2);
        cue = if t.negates() { Some(t.clause) } else { cue };
        found
    })?;
    let denies = |a: &Aligned<'_>| {
        let near = around(a.tokens(), denied.id);
        near.iter()
            .any(|t| may_deny(t, &a.source.reading.word(t).to_lowercase()))
            || a.tokens().iter().any(|e| {
                denied
                    .pairs()
                    .iter()
                    .any(|(n, side)| e.pairs().contains(&(*n, !side)))
            })
    };
    // Where a sentence has the denied word itself, the others need not be asked.
    let says = |a: &&Aligned<'_>| a.tokens().iter().any(|t| t.id == denied.id);
    let held = alignment.0.iter().any(|a| says(&a));
    let best = alignment.best().map_or(0.0, |b| b.share);
    let mut asked = alignment
        .0
        .iter()
        .filter(|a| {
            if held {
                says(a)
            } else {
                a.share >= NEAREST * best
            }
        })
        .peekable();
    asked.peek()?;
    (!asked.any(denies)).then(|| by_claim(case.claim.word(denied)))
}

/// "Yes, it was not, and …": a "not" that governs nothing denies the question, and nothing in the
/// cited text denies.
fn denied_without_a_verb(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<String> {
    let claim = &case.claim.text.tokens;
    let word = |t: &Token| case.claim.word(t).to_lowercase();
    let at = claim
        .iter()
        .position(|t| t.negates() && (word(t) == "not" || word(t).ends_with("'t")))?;
    let cue = claim.get(at)?;
    let ends =
        |next: &Token| next.clause != cue.clause || matches!(word(next).as_str(), "and" | "but");
    let alone = claim.get(at + 1).is_none_or(ends);
    let governs = claim
        .iter()
        .skip(at + 1)
        .any(|t| t.head && t.negated && t.clause == cue.clause + 2);
    let before = at
        .checked_sub(1)
        .and_then(|at| claim.get(at))
        .map(word)
        .unwrap_or_default();
    if !alone || governs || matches!(before.as_str(), "or" | "if" | "why" | "") {
        return None;
    }
    let best = alignment.best()?.share;
    let mut near = alignment.0.iter().filter(|a| a.share >= NEAREST * best);
    let denies = |a: &Aligned<'_>| {
        a.tokens()
            .iter()
            .any(|t| may_deny(t, &a.source.reading.word(t).to_lowercase()))
    };
    (!near.any(denies)).then(|| "The claim says “not”; the cited text denies nothing.".to_owned())
}

/// How many words before and after a word may deny it.
const ROUND: usize = 12;

/// The words round those that are the same as the denied one; the whole sentence when none is.
fn around(tokens: &[Token], denied: u32) -> &[Token] {
    let first = tokens.iter().position(|t| t.id == denied).unwrap_or(0);
    let last = tokens
        .iter()
        .rposition(|t| t.id == denied)
        .unwrap_or(tokens.len());
    tokens
        .get(first.saturating_sub(ROUND)..tokens.len().min(last.saturating_add(ROUND + 1)))
        .unwrap_or(tokens)
}

/// How near to the best sentence one must be to be asked whether it denies too.
const NEAREST: f64 = 0.9;

/// Most of the claim stands in one clause that is denied there, and the claim denies nothing.
fn denied_by_the_text_alone(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<String> {
    let claim = &case.claim.text.tokens;
    let denies = |t: &Token| {
        let word = case.claim.word(t);
        negative(t)
            || matches!(t.quantity(), Some(Quantity::Partial))
            || t.mood().is_some()
            || has_negative_prefix(&word.to_lowercase())
            || word.ends_with("less")
    };
    let content: Vec<&Token> = claim.iter().filter(|t| t.is_content()).collect();
    if content.len() < 2 || claim.iter().any(denies) {
        return None;
    }
    let best = alignment.best().filter(|b| b.share >= 0.5)?;
    let tokens = best.tokens();
    let mut held: Vec<(u32, u32)> = tokens.iter().map(|t| (t.clause, t.id)).collect();
    held.sort_unstable();
    let cue = tokens.iter().find(|cue| {
        let governs =
            |t: &Token| t.head && t.negated && t.clause == cue.clause && t.start > cue.start;
        let in_clause = || {
            content
                .iter()
                .filter(|c| held.binary_search(&(cue.clause, c.id)).is_ok())
                .count()
        };
        cue.negates()
            && !opens_a_question(best, cue)
            && !is_double(case, cue, tokens)
            && tokens.iter().any(governs)
            && in_clause() * 2 > content.len()
    });
    cue.map(|_| "The cited text is negated; the claim is not.".to_owned())
}

/// "Nobody knows why the sky is green" denies nothing of the sky.
fn opens_a_question(sentence: &Aligned<'_>, cue: &Token) -> bool {
    let asks = |word: &str| {
        matches!(
            word,
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
    };
    let mut after = sentence
        .tokens()
        .iter()
        .filter(|t| t.start > cue.start && t.clause == cue.clause);
    after.any(|t| asks(sentence.source.reading.word(t)))
}

/// Nearly the same sentence, with one negation put in or left out.
fn edited(case: &Case<'_>, alignment: &Alignment<'_>) -> Option<String> {
    let claim = &case.claim.text.tokens;
    let near = alignment.best().map_or(&[][..], |b| b.tokens());
    let odd = || {
        let negates = |t: Option<&Token>| t.is_some_and(|t| t.negates() || t.turns());
        alignment
            .edits()
            .iter()
            .filter(move |e| negates(e.claim) != negates(e.evidence))
    };
    let real = |t: &Token, tokens: &[Token]| {
        t.negates()
            && !tokens
                .iter()
                .any(|n| n.start > t.start && n.start <= t.end + 1 && n.hollow())
    };
    let added = odd()
        .filter(|e| e.claim.is_some_and(|t| real(t, claim)))
        .count();
    let dropped = odd()
        .filter(|e| {
            e.evidence
                .is_some_and(|t| real(t, near) && !is_double(case, t, near))
        })
        .count();
    match (added, dropped) {
        (1, 0) => Some("The claim is negated; the cited text is not.".to_owned()),
        (0, 1) => Some("The cited text is negated; the claim is not.".to_owned()),
        _ => None,
    }
}

/// "not uncommon", "not without": what is negated is a negation itself.
fn is_double(case: &Case<'_>, cue: &Token, tokens: &[Token]) -> bool {
    let mut after = tokens
        .iter()
        .filter(|t| t.start > cue.start && t.clause == cue.clause);
    after.any(|t| {
        let stem = case.lexicon.stem(t.id);
        let prefixed = t.head
            && ["un", "in", "im", "non", "dis", "ir", "il"]
                .iter()
                .any(|p| stem.starts_with(p))
            && stem.len() > 4;
        t.negates() || t.turns() || prefixed
    })
}

/// "available" where the text says "unavailable", both negated or neither.
fn prefixed(case: &Case<'_>, alignment: &Alignment<'_>, token: &Token) -> bool {
    const OTHER_WORDS: [&str; 14] = [
        "cover", "play", "count", "tract", "solve", "miss", "order", "charge", "patch", "position",
        "close", "til", "it", "der",
    ];
    let stem = case.lexicon.stem(token.id);
    if stem.len() < 4 || token.capital {
        return false;
    }
    let negates = |long: &str, short: &str| {
        ["un", "non", "dis"]
            .iter()
            .any(|p| long.strip_prefix(p) == Some(short))
            && !OTHER_WORDS.contains(&short)
            || ["in", "im", "ir", "il"]
                .iter()
                .any(|p| long.strip_prefix(p) == Some(short))
                && [
                    "abl", "ibl", "ent", "ant", "iv", "ar", "act", "plet", "elig",
                ]
                .iter()
                .any(|e| short.ends_with(e))
    };
    alignment.tokens().any(|e| {
        let other = case.lexicon.stem(e.id);
        e.negated == token.negated && (negates(other, stem) || negates(stem, other))
    })
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
