//! Sentences that say that the question cannot be answered.

use super::{starts_with_any, words};

/// How a sentence refuses to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abstention {
    /// The whole question: "I cannot answer".
    Whole,
    /// One detail: "The notes do not say who approved it".
    Gap,
}

/// Phrases that decline to answer the whole question.
pub(super) const WHOLE: &[&str] = list!("abstention.whole");

/// Phrases that name a gap wherever they appear.
const GAP: &[&str] = list!("abstention.gap");

/// Phrases that name a gap when they are followed by a word for the evidence.
const ABSENT_FROM: &[&str] = list!("abstention.absent-from");

/// Words for a speaker who talks about the evidence and not the world, among the first four words
/// of a sentence.
const SPEAKERS: &[&str] = list!("abstention.speakers");

/// Words for such a speaker as the very first word.
const FIRST_WORDS: &[&str] = list!("abstention.first-words");

/// Words for the evidence: "does not say" about them is not a claim about the world.
const EVIDENCE: &[&str] = list!("abstention.evidence");

const SAYING: &[&str] = list!("abstention.saying");

/// How advice after an abstention begins.
pub(super) const ADVICE: &[&str] = list!("abstention.advice");

/// Whether and how the sentence declines to answer.
pub(crate) fn abstention(lower: &str) -> Option<Abstention> {
    if lower.len() > 600 {
        return None;
    }
    // "Bob cannot answer the phone" and "There was not enough evidence to convict" are about the
    // world.
    let first = words(lower).next().unwrap_or("");
    let spoken = far_eastern(lower)
        || FIRST_WORDS.contains(&first)
        || words(lower).take(2).any(|w| EVIDENCE.contains(&w))
        || words(lower).take(4).any(|w| SPEAKERS.contains(&w));
    let past = words(lower)
        .take(4)
        .any(|w| matches!(w, "was" | "were" | "had"));
    if spoken && !past && WHOLE.iter().any(|phrase| lower.contains(phrase)) {
        return Some(Abstention::Whole);
    }
    if (spoken && !past && GAP.iter().any(|phrase| lower.contains(phrase)))
        || ABSENT_FROM
            .iter()
            .any(|phrase| names_evidence_behind(lower, phrase))
    {
        return Some(Abstention::Gap);
    }
    if says_nothing_of(lower) {
        return Some(Abstention::Gap);
    }
    // "The notes do not say …": evidence, then a negation, then a verb of saying, close together.
    let all: Vec<&str> = words(lower).take(60).collect();
    let subject = all.iter().take(8).position(|w| EVIDENCE.contains(w))?;
    let no_subject = all
        .first()
        .is_some_and(|w| matches!(*w, "no" | "none" | "nothing"));
    let near = all.get(subject + 1..).unwrap_or(&[]);
    let negated = near.iter().take(5).position(|w| {
        matches!(
            *w,
            "not" | "don't" | "doesn't" | "didn't" | "never" | "nothing" | "no" | "nowhere"
        )
    });
    let from = if no_subject { 0 } else { negated? + 1 };
    let says = near
        .get(from..)
        .unwrap_or(&[])
        .iter()
        .take(3)
        .any(|w| SAYING.contains(w));
    let silent = negated.is_some_and(|n| {
        near.get(..n)
            .unwrap_or(&[])
            .iter()
            .any(|w| SAYING.contains(w))
    });
    (says || silent).then_some(Abstention::Gap)
}

/// Whether the evidence is named right after a phrase.
fn names_evidence_behind(lower: &str, phrase: &str) -> bool {
    let rest = lower
        .find(phrase)
        .and_then(|at| lower.get(at + phrase.len()..));
    rest.is_some_and(|rest| words(rest).take(4).any(|w| EVIDENCE.contains(&w)))
}

/// Words that introduce the open question: "It does not say which of them is better".
const OPEN_QUESTION: &[&str] = list!("abstention.open-question");

/// Verbs for what a text leaves out.
const UNSAID: &[&str] = list!("abstention.unsaid");

/// Whether a sentence has a pronoun, a negation, a verb of saying and an open question: "It does
/// not say which …", "They give no reason".
fn says_nothing_of(lower: &str) -> bool {
    let all: Vec<&str> = words(lower).take(12).collect();
    // "The memo says nothing about how …".
    let silent = all.windows(3).any(|w| {
        SAYING.contains(&w[0])
            && w[1] == "nothing"
            && matches!(w[2], "about" | "of" | "on" | "regarding")
    });
    // "Android is not mentioned anywhere": in the present tense, this is about a text.
    let unsaid = all.windows(3).any(|w| match *w {
        ["is" | "are", "not", said] | [_, "isn't" | "aren't", said] => UNSAID.contains(&said),
        _ => false,
    });
    if silent || unsaid {
        return true;
    }
    let pronoun = all
        .iter()
        .take(2)
        .any(|w| matches!(*w, "it" | "they" | "this" | "none"));
    let Some(at) = all.iter().take(5).position(|w| denies(w)) else {
        return false;
    };
    let rest = all.get(at + 1..).unwrap_or(&[]);
    let Some(verb) = rest.iter().take(2).position(|w| SAYING.contains(w)) else {
        return false;
    };
    let object = rest.get(verb + 1..).unwrap_or(&[]);
    (pronoun || all.first() == Some(&"the"))
        && object.iter().take(2).any(|w| OPEN_QUESTION.contains(w))
}

fn denies(word: &str) -> bool {
    matches!(
        word,
        "not" | "don't" | "doesn't" | "didn't" | "never" | "nor"
    )
}

/// Whether a text has characters of a script that is written without spaces.
pub(super) fn far_eastern(text: &str) -> bool {
    text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

/// Whether the sentence is advice that follows an abstention.
pub(crate) fn is_advice(lower: &str) -> bool {
    starts_with_any(lower, ADVICE) && !lower.contains(|c: char| c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::plain_lower;

    #[test]
    fn c50_refusals_are_recognised() {
        for whole in [
            "INSUFFICIENT_EVIDENCE",
            "I cannot answer this question from your notes.",
            "There is not enough information to answer.",
            "I don’t know.",
            "Ich kann die Frage nicht beantworten.",
            "无法回答这个问题。",
        ] {
            assert_eq!(
                abstention(&plain_lower(whole)),
                Some(Abstention::Whole),
                "{whole}"
            );
        }
        for gap in [
            "The notes do not say who approved it.",
            "I could not find anything about the owner.",
            "None of the provided sources mention a deadline.",
            "The evidence says nothing about costs.",
            "Your notes contain no deadline.",
            "The owner is not mentioned in the provided notes.",
            "There is nothing about it in your vault.",
        ] {
            assert_eq!(
                abstention(&plain_lower(gap)),
                Some(Abstention::Gap),
                "{gap}"
            );
        }
        for claim in [
            "Bob found no evidence of fraud.",
            "Bob cannot answer the phone.",
            "There was insufficient evidence to convict Bob.",
            "Alice could not find the key.",
            "The key was not found in the drawer.",
            "The budget is not approved.",
            "Alice did not answer the letter.",
            "The report says no.",
        ] {
            assert_eq!(abstention(&plain_lower(claim)), None, "{claim}");
        }
    }
}
