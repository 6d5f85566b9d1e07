//! Sentences that say that the question cannot be answered.
//!
//! A sentence refuses only if the answerer, the question or the evidence is what it speaks of: "I
//! found no note", "The notes do not say". "The recipe does not contain nuts" is about a recipe, and
//! "We found no defects" may be a line of a report; both are claims.

use super::beside::clauses;
use super::evidence_names::{
    EVIDENCE, PLACES, POINTING, is_name_of_evidence, name_of_evidence, points_at_evidence,
};
use super::foreign_gaps::{foreign_gap, is_foreign_denial, is_foreign_saying, is_foreign_text};
use super::words;

/// How much of the question a sentence refuses to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abstention {
    /// The whole question: "I cannot answer".
    Whole,
    /// One detail: "The notes do not say who approved it".
    Gap,
}

/// A sentence that refuses to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refusal<'t> {
    /// How much it refuses to answer.
    pub extent: Abstention,
    /// Whether it could as well be said about the world: if it cites something, it is a claim.
    pub worldly: bool,
    /// What it speaks of, and what that does not do: if the evidence says such a thing itself, the
    /// sentence repeats or turns what the evidence says. Empty when this cannot be.
    pub said: (&'t str, &'t str),
}

/// Phrases that decline to answer the whole question.
pub(super) const WHOLE: &[&str] = list!("abstention.whole");

/// Phrases that name a gap wherever they appear.
const GAP: &[&str] = list!("abstention.gap");

/// Phrases that name a gap if what is missing is named behind them.
const GAP_ABOUT: &[&str] = list!("abstention.gap-about");

/// Words that name what is missing.
const SUBJECTS: &[&str] = list!("abstention.subjects");

/// Phrases that name a gap when they are followed by a name of the evidence.
const ABSENT_FROM: &[&str] = list!("abstention.absent-from");

const ANSWERERS: &[&str] = list!("abstention.answerers");
const TOGETHER: &[&str] = list!("abstention.answerers-together");
const QUESTIONS: &[&str] = list!("abstention.questions");
const WITHOUT_SUBJECT: &[&str] = list!("abstention.without-subject");
const OPENERS: &[&str] = list!("abstention.openers");
const NEGATIONS: &[&str] = list!("abstention.negations");

/// Verbs by which a text speaks.
const SAYING: &[&str] = list!("abstention.saying");

/// Verbs by which a text has something, as other things do.
const HOLDING: &[&str] = list!("abstention.holding");

/// Words that introduce the open question: "It does not say which of them is better".
const OPEN_QUESTION: &[&str] = list!("abstention.open-question");

/// What a text does not do with what it leaves out.
const UNSAID: &[&str] = list!("abstention.unsaid");

/// The same, and what others do too: a word for the place has to follow.
const UNDONE: &[&str] = list!("abstention.undone");
const ANYWHERE: &[&str] = list!("abstention.anywhere");

/// Maximum number of bytes of a sentence that refuses, and of words that are looked at.
const LONGEST: usize = 600;
const MOST_WORDS: usize = 60;

/// What a refusal speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Voice<'t> {
    /// "I".
    Answerer(&'t str),
    /// "We".
    Together(&'t str),
    /// "This question", "it".
    Question,
    /// The evidence, by name.
    Evidence,
    /// Nobody: "No relevant notes", "There is not enough information".
    Nobody,
}

/// Whether and how the sentence declines to answer.
pub(crate) fn abstention(lower: &str) -> Option<Refusal<'_>> {
    if lower.len() > LONGEST {
        return None;
    }
    whole(lower)
        .or_else(|| gap(lower))
        .or_else(|| trailing_gap(lower))
        .or_else(|| gap_in_another_language(lower))
}

/// A clause of another language than English that names a gap.
fn gap_in_another_language(lower: &str) -> Option<Refusal<'_>> {
    let clauses = clauses(lower);
    let found = clauses.iter().find_map(|clause| foreign_gap(clause.text))?;
    Some(Refusal {
        extent: Abstention::Gap,
        worldly: false,
        said: (found.evidence, found.verb),
    })
}

/// A gap that is named behind a comma or a contrast: "It opens in May, but the notes do not say
/// when".
fn trailing_gap(lower: &str) -> Option<Refusal<'_>> {
    let mut later = clauses(lower).into_iter().skip(1);
    later.find_map(|clause| gap(clause.text).filter(|_| !begins_without_subject(clause.text)))
}

/// "…, but could not find the wreck": the subject stands in the clause before.
fn begins_without_subject(clause: &str) -> bool {
    let first = words(body(clause)).next().unwrap_or("");
    WITHOUT_SUBJECT.contains(&first) && !matches!(first, "there" | "no" | "none" | "nothing")
}

/// A sentence that declines to answer the whole question.
fn whole(lower: &str) -> Option<Refusal<'_>> {
    if !WHOLE.iter().any(|phrase| lower.contains(phrase)) {
        return None;
    }
    let all = first_words(body(lower));
    let voice = voice(lower, &all).filter(|_| !is_past(&all))?;
    let sure = matches!(voice, Voice::Answerer(_) | Voice::Question)
        || points_at_evidence(&all)
        || all
            .iter()
            .any(|w| QUESTIONS.contains(w) || w.starts_with("answer"));
    Some(Refusal {
        extent: Abstention::Whole,
        worldly: !sure,
        said: ("", ""),
    })
}

/// A sentence or clause that names a gap.
fn gap(lower: &str) -> Option<Refusal<'_>> {
    let body = body(lower);
    let all = first_words(body);
    let found = gap_phrase(body, &all)
        .or_else(|| absent_from(body))
        .or_else(|| unsaid(&all))
        .or_else(|| silent(&all))
        .or_else(|| open_question(&all));
    found.map(|(worldly, said)| Refusal {
        extent: Abstention::Gap,
        worldly,
        said,
    })
}

/// Whether a sentence could be said about the world, and what it speaks of.
type Found<'t> = (bool, (&'t str, &'t str));

/// "I could not find …", "There is no mention of …".
fn gap_phrase<'t>(body: &'t str, all: &[&'t str]) -> Option<Found<'t>> {
    let phrase = GAP.iter().find(|phrase| body.contains(**phrase));
    let phrase = phrase.or_else(|| {
        GAP_ABOUT
            .iter()
            .find(|phrase| names_what_is_missing(body, phrase))
    })?;
    let voice = voice(body, all).filter(|_| !is_past(all))?;
    let named = points_at_evidence(all);
    let subject = match voice {
        Voice::Answerer(subject) => subject,
        Voice::Together(subject) => {
            let speaks = all.iter().any(|w| {
                matches!(*w, "anything" | "mention" | "nothing") || is_name_of_evidence(w, true)
            });
            speaks.then_some(subject)?
        }
        Voice::Question => phrase.contains(" be ").then_some("")?,
        Voice::Evidence | Voice::Nobody => "",
    };
    let searches = phrase.contains("find") || phrase.contains("found");
    let knows = matches!(voice, Voice::Answerer(_) | Voice::Question) && !searches;
    let worldly = !(named || knows || phrase.contains("mention"));
    Some((worldly, (subject, phrase)))
}

/// Whether words about a topic, or a name of the evidence, stand right behind a phrase.
fn names_what_is_missing(lower: &str, phrase: &str) -> bool {
    let Some(rest) = behind(lower, phrase) else {
        return false;
    };
    let next = first_words(rest);
    let is_named = name_of_evidence(&next, false).is_some_and(|name| name.words <= 5);
    match next.first() {
        None => phrase.ends_with("information"),
        Some(first) if phrase.ends_with("information") => SUBJECTS.contains(first) || is_named,
        Some(first) => matches!(*first, "about" | "regarding" | "concerning") || is_named,
    }
}

/// "… is not mentioned in the notes".
fn absent_from(body: &str) -> Option<Found<'_>> {
    let named = ABSENT_FROM.iter().any(|phrase| {
        let pointed = phrase.ends_with("your");
        let rest = behind(body, phrase).map(first_words);
        let name = rest.and_then(|rest| name_of_evidence(&rest, pointed));
        name.is_some_and(|name| name.words <= 4)
    });
    named.then_some((false, ("", "")))
}

/// "Android is not mentioned": in the present tense, this is about a text. "It is not covered" is so
/// only with a place behind it.
fn unsaid<'t>(all: &[&'t str]) -> Option<Found<'t>> {
    let (at, end) = all.iter().enumerate().take(12).find_map(|(at, word)| {
        let next = all.get(at + 1).copied().unwrap_or("");
        match *word {
            "is" | "are" if next == "not" => Some((at, at + 2)),
            // "No deadline is mentioned".
            "is" | "are" if at > 1 && all.first() == Some(&"no") => Some((at, at + 1)),
            "isn't" | "aren't" => Some((at, at + 1)),
            _ => None,
        }
    })?;
    let verb = *all.get(end)?;
    let rest = all.get(end + 1..).unwrap_or(&[]);
    let placed = rest.first().is_some_and(|w| ANYWHERE.contains(w))
        || rest.first().is_some_and(|w| matches!(*w, "in" | "by"))
            && name_of_evidence(rest, false).is_some_and(|name| name.words <= 5);
    if placed && UNDONE.contains(&verb) {
        return Some((false, ("", "")));
    }
    let subject = at.checked_sub(1).and_then(|before| all.get(before))?;
    UNSAID
        .contains(&verb)
        .then_some((!rest.is_empty(), (subject, verb)))
}

/// "The notes do not say …", "Your notes contain nothing about it", "None of the sources mention
/// it": a name of the evidence, then a negation and a verb of saying, close together.
fn silent<'t>(all: &[&'t str]) -> Option<Found<'t>> {
    let name = name_of_evidence(all, false);
    let pronoun = all
        .first()
        .is_some_and(|w| matches!(*w, "it" | "they" | "this" | "none"));
    let (subject, end, pointed) = match name {
        Some(name) => (name.word, name.words, name.pointed),
        None if pronoun => ("", 1, false),
        None => return None,
    };
    let near = all.get(end..).unwrap_or(&[]);
    let verb = verb_of_silence(all, near)?;
    // "They say nothing about it": a pronoun speaks only in these words.
    if name.is_none() && !says_nothing_about(all) {
        return None;
    }
    let worldly = HOLDING.contains(&verb) && !EVIDENCE.contains(&subject);
    // "Your notes" are never those that a note speaks of.
    let subject = if pointed { "" } else { subject };
    Some((worldly, (subject, verb)))
}

/// The verb that is denied in the words behind the name of the evidence.
fn verb_of_silence<'t>(all: &[&'t str], near: &[&'t str]) -> Option<&'t str> {
    let denied_before = all
        .first()
        .is_some_and(|w| matches!(*w, "no" | "none" | "nothing" | "neither" | "keine"));
    let negated = near.iter().take(5).position(|w| NEGATIONS.contains(w));
    let from = if denied_before { 0 } else { negated? + 1 };
    let mut behind = near.get(from..).unwrap_or(&[]).iter().take(3);
    let mut before = near.get(..negated.unwrap_or(0)).unwrap_or(&[]).iter();
    // "The log has no figures", but "The log has not been signed".
    let negation = negated.and_then(|at| near.get(at)).copied();
    let is_of_a_noun = matches!(negation, Some("no" | "nothing"));
    behind
        .find(|w| is_verb_of_text(w) && !HAVING.contains(w))
        .or_else(|| before.find(|w| is_verb_of_text(w) && (is_of_a_noun || !HAVING.contains(w))))
        .copied()
}

/// Words that begin "No price is given", and verbs of having, in several languages.
const NONE: &[&str] = list!("abstention.none");
const HAVING: &[&str] = list!("abstention.having");

/// Whether a sentence may name a gap, though it may as well be about the world: "No price is given",
/// "The table has no row for it".
pub(crate) fn may_name_a_gap(lower: &str) -> bool {
    const SUBJECT_WITHIN: usize = 5;
    if lower.len() > LONGEST {
        return false;
    }
    let all = first_words(lower);
    let is_past = all.iter().any(|w| matches!(*w, "was" | "were"));
    let first = all.first().copied().unwrap_or("");
    let is_said = |w: &&str| is_word_of_saying(w) || is_foreign_saying(w);
    let denies = |w: &&str| NEGATIONS.contains(w) || NONE.contains(w) || is_foreign_denial(w);
    if NONE.contains(&first) {
        return !is_past && all.iter().any(is_said);
    }
    let subject = all.iter().take(SUBJECT_WITHIN);
    let named = subject
        .into_iter()
        .any(|w| is_name_of_evidence(w, true) || is_foreign_text(w));
    let has = |w: &&str| is_verb_of_text(w) || HAVING.contains(w) || is_foreign_saying(w);
    named && all.iter().any(denies) && all.iter().any(has)
}

fn is_word_of_saying(word: &str) -> bool {
    super::open_questions::is_word_of_saying(word) || UNSAID.contains(&word)
}

fn is_verb_of_text(word: &str) -> bool {
    SAYING.contains(&word) || HOLDING.contains(&word)
}

fn says_nothing_about(all: &[&str]) -> bool {
    let mut triples = all.windows(3).take(12);
    triples.any(|w| {
        is_verb_of_text(w[0])
            && w[1] == "nothing"
            && matches!(w[2], "about" | "of" | "on" | "regarding")
    })
}

/// What the refusing clauses of a sentence say is not mentioned, or was not found. A clause with an
/// open question has none: a text can mention a thing and not say when it was.
pub(crate) fn denied_topics(lower: &str) -> Vec<String> {
    if lower.len() > LONGEST {
        return Vec::new();
    }
    let clauses = clauses(lower);
    let topics = clauses.iter().filter_map(|clause| {
        let body = body(clause.text);
        let foreign = || foreign_gap(clause.text).map(|gap| gap.topic);
        let found = unmentioned(body).or_else(|| not_found(body));
        found.or_else(foreign)
    });
    topics.collect()
}

/// The words behind the verb that is denied of the evidence.
fn unmentioned(body: &str) -> Option<String> {
    let all = first_words(body);
    let near = all.get(name_of_evidence(&all, false)?.words..)?;
    let verb = verb_of_silence(&all, near)?;
    let at = near.iter().position(|w| *w == verb)?;
    topic(near.get(at + 1..)?, 1)
}

/// The words behind "I found no" and its like. A single one says too little of what was looked for.
fn not_found(body: &str) -> Option<String> {
    let phrase = GAP.iter().find(|phrase| body.contains(**phrase))?;
    topic(&first_words(behind(body, phrase)?), LEAST_SUBJECTS)
}

/// The least words that name what was not found: "defects in the hull".
const LEAST_SUBJECTS: usize = 3;

fn topic(behind: &[&str], least: usize) -> Option<String> {
    let is_open = |w: &str| OPEN_QUESTION.contains(&w) && !matches!(w, "anything" | "much");
    if behind.iter().any(|w| *w == "that" || is_open(w)) {
        return None;
    }
    let told = |w: &&&str| !NEGATIONS.contains(*w) && !is_name_of_evidence(w, true);
    let words: Vec<&str> = behind.iter().filter(told).copied().collect();
    (words.len() >= least).then(|| words.join(" "))
}

/// "It does not say which …", "They give no reason why": a pronoun, a negation in the present tense,
/// a verb of saying and an open question.
fn open_question<'t>(all: &[&'t str]) -> Option<Found<'t>> {
    let first = all.first()?;
    if !matches!(*first, "it" | "they" | "this" | "none") {
        return None;
    }
    let at = all.iter().take(5).position(|w| denies(w))?;
    let rest = all.get(at + 1..).unwrap_or(&[]);
    let verb = rest.iter().take(2).position(|w| SAYING.contains(w))?;
    let object = rest.get(verb + 1..).unwrap_or(&[]);
    let is_open = object.iter().take(2).any(|w| OPEN_QUESTION.contains(w));
    is_open.then_some((false, ("", "")))
}

fn denies(word: &str) -> bool {
    matches!(word, "not" | "don't" | "doesn't" | "never" | "nor")
}

/// What a sentence with a phrase of refusal speaks of; `None` if that is something of the world.
fn voice<'t>(lower: &str, all: &[&'t str]) -> Option<Voice<'t>> {
    let first = all.first().copied().unwrap_or("");
    if ANSWERERS.contains(&first) {
        return Some(Voice::Answerer(first));
    }
    if TOGETHER.contains(&first) {
        return Some(Voice::Together(first));
    }
    if far_eastern(lower) || WITHOUT_SUBJECT.contains(&first) {
        return Some(Voice::Nobody);
    }
    let mut head = all.iter().take(3);
    if matches!(first, "it" | "this" | "that" | "das") || head.any(|w| QUESTIONS.contains(w)) {
        return Some(Voice::Question);
    }
    if name_of_evidence(all, false).is_some() {
        return Some(Voice::Evidence);
    }
    // "Leider kann ich …".
    let inverted = all.iter().take(4).find(|w| ANSWERERS.contains(w));
    let begins_clause = super::beside::SUBORDINATE.contains(&first);
    inverted
        .filter(|_| !begins_clause)
        .map(|w| Voice::Answerer(w))
}

/// Whether a word is the answerer as a subject.
pub(super) fn is_answerer(word: &str) -> bool {
    ANSWERERS.contains(&word) || TOGETHER.contains(&word)
}

/// "There was not enough evidence to convict Bob".
fn is_past(all: &[&str]) -> bool {
    let mut first = all.iter().take(4);
    first.any(|w| matches!(*w, "was" | "were" | "had"))
}

fn first_words(text: &str) -> Vec<&str> {
    words(text).take(MOST_WORDS).collect()
}

fn behind<'t>(lower: &'t str, phrase: &str) -> Option<&'t str> {
    let at = lower.find(phrase)?;
    lower.get(at + phrase.len()..)
}

/// A sentence without the words before its subject: "Unfortunately, …", "In your notes, …".
fn body(lower: &str) -> &str {
    let mut rest = lower;
    for _ in 0..4 {
        let Some((first, behind)) = split_first(rest) else {
            return rest;
        };
        if OPENERS.contains(&first) {
            rest = behind;
        } else if PLACES.contains(&first) {
            return behind_place(rest);
        } else {
            return rest;
        }
    }
    rest
}

/// What follows a phrase for a place: behind its comma, or behind the name of the evidence.
fn behind_place(lower: &str) -> &str {
    if let Some((_, behind)) = lower.split_once([',', '，']) {
        return behind;
    }
    let mut rest = lower;
    let mut pointed = false;
    for _ in 0..6 {
        let Some((word, behind)) = split_first(rest) else {
            break;
        };
        if is_name_of_evidence(word, pointed) {
            return behind;
        }
        pointed |= POINTING.contains(&word);
        rest = behind;
    }
    lower
}

/// The first word of a text, and what follows it.
fn split_first(text: &str) -> Option<(&str, &str)> {
    let first = words(text).next()?;
    let at = text.find(first)?;
    Some((first, text.get(at + first.len()..)?))
}

/// Whether a text has characters of a script that is written without spaces.
pub(super) fn far_eastern(text: &str) -> bool {
    text.contains(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::plain_lower;

    fn extent(sentence: &str) -> Option<Abstention> {
        abstention(&plain_lower(sentence)).map(|refusal| refusal.extent)
    }

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
            assert_eq!(extent(whole), Some(Abstention::Whole), "{whole}");
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
            assert_eq!(extent(gap), Some(Abstention::Gap), "{gap}");
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
            assert_eq!(extent(claim), None, "{claim}");
        }
    }
}
