//! Splits a question with two parts into two questions.

use super::cues;

/// Words with which the second part refers to the subject of the first.
const POINTS: &str = "it its they their them he his him she her this that there er sie es ihn ihr sein seine dort il elle \
    leur él ella su он она оно они его её их";

/// One of the questions in a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    pub text: String,
    /// Whether it is about the same thing as the previous part.
    pub follows: bool,
}

/// The questions in `text`: split after a question mark, and before "and" with a question word if
/// both sides ask. Usually just one.
pub(super) fn of(text: &str) -> Vec<Part> {
    let mut cuts: Vec<&str> = Vec::new();
    for sentence in text.split_inclusive(['?', '？']) {
        let sentence = sentence.trim();
        if !sentence.chars().any(char::is_alphanumeric) {
            continue;
        }
        match at_and(sentence) {
            Some((first, second)) => cuts.extend([first, second]),
            None => cuts.push(sentence),
        }
    }
    let all_ask = cuts
        .iter()
        .all(|part| asks(part) || cues::asks_yes_or_no(&part.to_lowercase()));
    if cuts.len() != 2 || !all_ask {
        return vec![Part {
            text: text.trim().to_owned(),
            follows: false,
        }];
    }
    cuts.iter().enumerate().map(part_of).collect()
}

/// A part of the question; every part after the first may refer to the one before it.
fn part_of((at, text): (usize, &&str)) -> Part {
    Part {
        text: (*text).to_owned(),
        follows: at > 0 && points(text),
    }
}

/// Whether the part has a word that asks.
fn asks(part: &str) -> bool {
    cues::split(&part.to_lowercase()).any(is_asking)
}

/// Splits before "and" if a question word comes after it and another before it.
fn at_and(sentence: &str) -> Option<(&str, &str)> {
    let lower = sentence.to_lowercase();
    if lower.len() != sentence.len() {
        return None;
    }
    for and in [" and ", " und ", " et ", " y ", " и "] {
        for (at, _) in lower.match_indices(and) {
            let after = &lower[at + and.len()..];
            let next = cues::split(after).next().unwrap_or("");
            // "on which", "at what": the question word may follow a preposition.
            let second = cues::split(after).nth(1).unwrap_or("");
            let asks_after = is_asking(next) || next.len() <= 4 && is_asking(second);
            let asks_before = cues::split(&lower[..at]).any(is_asking);
            let enough = cues::split(after).count() > 2;
            if asks_after && asks_before && enough {
                let first = sentence.get(..at)?.trim_end_matches([',', ' ']);
                return Some((first, sentence.get(at + and.len()..)?));
            }
        }
    }
    None
}

fn is_asking(word: &str) -> bool {
    cues::holds(cues::ASKING, word)
}

/// Whether a part refers to its subject by a pronoun, or barely names it.
fn points(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words = || cues::split(&lower);
    words().any(|w| cues::holds(POINTS, w)) || words().count() <= 4
}

/// Pronouns for the subject of the first part, …
const SUBJECT: &str = "it they them he him she er sie es ihn il elle él ella он она оно они";
/// … and possessives; those of English are followed by a noun.
const OWNED: &str =
    "its their his her sein seine seinen ihr ihre ihren leur leurs su sus его её их";

/// A part with the subject in place of the pronoun for it: "what did the mill cost?" for "what did
/// it cost?"; `None` if there is no such pronoun.
pub(super) fn with_subject(part: &str, subject: &str) -> Option<String> {
    let is_letter = |c: char| c.is_alphanumeric();
    let mut start = 0;
    for word in part.split(|c: char| !is_letter(c)) {
        let end = start + word.len();
        let lower = word.to_lowercase();
        let (before, after) = (part.get(..start)?, part.get(end..)?);
        if cues::holds(OWNED, &lower) && after.contains(is_letter) {
            return Some(format!("{before}{subject}'s{after}"));
        }
        if cues::holds(SUBJECT, &lower) || lower == "her" {
            return Some(format!("{before}{subject}{after}"));
        }
        start = end + part.get(end..)?.chars().next().map_or(0, char::len_utf8);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(question: &str) -> Vec<String> {
        of(question).into_iter().map(|p| p.text).collect()
    }

    #[test]
    fn two_questions_are_two_and_one_is_one() {
        for (question, parts) in [
            (
                "When does the course start and who teaches it?",
                &["When does the course start", "who teaches it?"][..],
            ),
            (
                "Who leads it? What does it cost?",
                &["Who leads it?", "What does it cost?"],
            ),
            (
                "What did Ann and Bo decide?",
                &["What did Ann and Bo decide?"],
            ),
            (
                "At what temperature and humidity is it kept?",
                &["At what temperature and humidity is it kept?"],
            ),
            (
                "Wann kommt er und wo wohnt er dann?",
                &["Wann kommt er", "wo wohnt er dann?"],
            ),
        ] {
            assert_eq!(texts(question), parts, "{question}");
        }
        assert!(of("When does the course start and who teaches it?")[1].follows);
    }

    #[test]
    fn a_pronoun_is_replaced_by_the_subject() {
        for (part, whole) in [
            ("what did it cost?", Some("what did the mill cost?")),
            ("what is its colour?", Some("what is the mill's colour?")),
            ("who paid her?", Some("who paid the mill?")),
            ("who paid for the piano?", None),
        ] {
            assert_eq!(with_subject(part, "the mill").as_deref(), whole, "{part}");
        }
    }
}
