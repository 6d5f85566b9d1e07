//! What a refusal leaves open: "The notes do not say when the pump was replaced".

use super::abstention::far_eastern;
use super::foreign_gaps::foreign_gap;
use super::words;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A reason.
    Why,
    /// A time.
    When,
    /// A person.
    Who,
    /// A place.
    Where,
    /// A number: "how long".
    Amount,
    /// Whether it is so.
    Whether,
    /// A value.
    What,
    /// One of several: "which road is closed".
    Which,
    /// A way or a change: "how the fares were changed".
    How,
    /// Anything about it.
    Topic,
}

/// Verbs by which a text speaks.
const SAYING: &[&str] = list!("open-questions.saying");
const NEGATIONS: &[&str] = list!("open-questions.negations");
const AMOUNTS: &[&str] = list!("open-questions.amounts");

/// Maximum number of words of a sentence, and of words between a negation and its verb.
const MOST_WORDS: usize = 60;
const NEAR: usize = 3;

/// Whether a text speaks by this word: "given", "mentioned".
pub(super) fn is_word_of_saying(word: &str) -> bool {
    SAYING.contains(&word)
}

/// The questions that a sentence says are not answered, each with the words of what it is about.
pub(crate) fn open_questions(lower: &str) -> Vec<(Asked, String)> {
    let all: Vec<&str> = words(lower).take(MOST_WORDS).collect();
    let mut out = Vec::new();
    for at in 0..all.len() {
        let denied = all.get(at).is_some_and(|w| NEGATIONS.contains(w));
        let near = all.get(at + 1..).unwrap_or(&[]);
        let verb = near.iter().take(NEAR).position(|w| SAYING.contains(w));
        let Some(verb) = verb.filter(|_| denied) else {
            continue;
        };
        let behind = near.get(verb + 1..).unwrap_or(&[]);
        out.extend(question(behind));
        out.extend(in_front(all.get(..at).unwrap_or(&[])));
    }
    out.extend(no_such_thing(&all));
    out.extend(left_open(&all));
    out.extend(nothing_about(lower));
    out.extend(foreign_question(lower));
    out
}

/// Question words of other languages, and what each asks for.
const FOREIGN: [(&[&str], Asked); 6] = [
    (list!("open-questions.who"), Asked::Who),
    (list!("open-questions.when"), Asked::When),
    (list!("open-questions.where"), Asked::Where),
    (list!("open-questions.why"), Asked::Why),
    (list!("open-questions.amount"), Asked::Amount),
    (list!("open-questions.what-for"), Asked::Topic),
];

/// Question words without blanks around them.
const SIGNS: [(&[&str], Asked); 4] = [
    (list!("open-questions.who-signs"), Asked::Who),
    (list!("open-questions.when-signs"), Asked::When),
    (list!("open-questions.where-signs"), Asked::Where),
    (list!("open-questions.why-signs"), Asked::Why),
];

/// The same in other languages: "Las notas no dicen quién lo pagó".
fn foreign_question(lower: &str) -> Option<(Asked, String)> {
    let clauses = || lower.split([';', '.', '。', '，']);
    if far_eastern(lower) {
        let clause = clauses().find(|clause| foreign_gap(clause).is_some())?;
        let gap = foreign_gap(clause)?;
        let topic = clause.replace(gap.evidence, " ").replace(gap.verb, " ");
        let mut asked = SIGNS
            .iter()
            .flat_map(|(words, asked)| words.iter().map(|w| (*w, *asked)));
        let (word, asked) = asked.find(|(word, _)| topic.contains(word))?;
        return Some((asked, topic.replace(word, " ")));
    }
    let gap = clauses().find(|clause| foreign_gap(clause).is_some())?;
    let all: Vec<&str> = words(gap).take(MOST_WORDS).collect();
    let said = all.iter().position(|w| NEGATIONS_OF_ALL.contains(w))?;
    let behind = all.get(said + 1..)?;
    let (at, asked) = behind
        .iter()
        .enumerate()
        .take(NEAR + 1)
        .find_map(|(at, word)| {
            let before = at.checked_sub(1).and_then(|b| behind.get(b)).copied();
            let both = [before.unwrap_or(""), " ", *word].concat();
            let found = FOREIGN
                .iter()
                .find(|(words, _)| words.contains(&both.trim()) || words.contains(word));
            found.map(|(_, asked)| (at, *asked))
        })?;
    let topic = behind.get(at + 1..)?.join(" ");
    let enough = asked != Asked::Topic || topic.contains(' ');
    (!topic.is_empty() && enough).then_some((asked, topic))
}

const NEGATIONS_OF_ALL: &[&str] = list!("open-questions.not");

const FRONTED: &[&str] = list!("open-questions.fronted");

/// "How long the ice stays on is not mentioned": the question stands before the verb.
fn in_front(before: &[&str]) -> Option<(Asked, String)> {
    let (verb, rest) = before.split_last()?;
    let is_passive = matches!(*verb, "is" | "are" | "was" | "were");
    let first = rest.first().filter(|_| is_passive)?;
    if *first == "what" {
        let topic = rest.get(1..)?.join(" ");
        return Some((Asked::What, topic));
    }
    FRONTED.contains(first).then(|| question(rest)).flatten()
}

/// "No bedtime is given".
fn no_such_thing(all: &[&str]) -> Option<(Asked, String)> {
    let first = all.first().filter(|w| **w == "no");
    let verb = all
        .windows(2)
        .position(|w| matches!(w[0], "is" | "are") && SAYING.contains(&w[1]))?;
    let topic = all.get(1..verb).filter(|_| first.is_some())?;
    (!topic.is_empty()).then(|| (Asked::What, topic.join(" ")))
}

/// "As for bikes, the handbook says nothing".
fn nothing_about(lower: &str) -> Option<(Asked, String)> {
    let opener = OPENERS.iter().find_map(|word| lower.strip_prefix(word))?;
    let (topic, rest) = opener.split_once(',')?;
    let says_nothing = NOTHING.iter().any(|phrase| rest.contains(phrase));
    (says_nothing && words(topic).count() <= NEAR).then(|| (Asked::Topic, topic.to_owned()))
}

const OPENERS: &[&str] = list!("open-questions.openers");
const NOTHING: &[&str] = list!("open-questions.nothing");

/// "The notes leave open who pays".
fn left_open(all: &[&str]) -> Option<(Asked, String)> {
    let at = all
        .windows(2)
        .position(|w| matches!(w[0], "leave" | "leaves") && w[1] == "open")?;
    question(all.get(at + 2..)?)
}

const HAPPENED: &[&str] = list!("open-questions.happened");

/// The question that these words begin with, one word may stand before it: "say exactly when".
fn question(behind: &[&str]) -> Option<(Asked, String)> {
    let (at, asked) = behind.iter().enumerate().take(2).find_map(|(at, word)| {
        let asked = match *word {
            "why" => Asked::Why,
            "when" => Asked::When,
            "who" | "whom" | "whose" => Asked::Who,
            "where" => Asked::Where,
            "whether" | "if" => Asked::Whether,
            "how" => Asked::Amount,
            "what" => Asked::What,
            "which" => Asked::Which,
            _ => return None,
        };
        Some((at, asked))
    })?;
    let mut rest = behind.get(at + 1..)?;
    let mut asked = asked;
    if asked == Asked::Amount {
        match rest.first().filter(|w| AMOUNTS.contains(*w)) {
            Some(_) => rest = rest.get(1..)?,
            None => asked = Asked::How,
        }
    }
    // "What happened with the sample".
    if asked == Asked::What && rest.first().is_some_and(|w| HAPPENED.contains(w)) {
        asked = Asked::Topic;
    }
    let topic = rest.join(" ");
    (!topic.is_empty()).then_some((asked, topic))
}
