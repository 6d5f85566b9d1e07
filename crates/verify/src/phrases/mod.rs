//! Which sentences make no claim: announcements, questions, labels, abstentions.
//!
//! The word lists are closed, so that everyone can see here which sentences pass without a
//! citation. They are mainly English; other languages have the phrases for declining to answer, for
//! advice about the notes and for announcements.

mod abstention;
mod advice;
mod announcements;
mod beside;
mod evidence_names;
mod foreign_gaps;
mod open_questions;
mod titles;

pub(crate) use abstention::{Abstention, abstention, denied_topics, may_name_a_gap};
pub(crate) use advice::is_advice;
pub use announcements::says_nothing_new;
pub(crate) use announcements::{announces, is_courtesy, is_meta, may_announce};
pub(crate) use beside::{refuses_and_claims, says_more, without_refusals};
pub(crate) use open_questions::{Asked, open_questions};
pub(crate) use titles::title_claims;

use local_agent_text::evidence::Normal;

/// Verbs that make a clause or a heading a statement.
const FINITE: &[&str] = list!("phrases.finite");

/// Maximum number of words in a short answer.
const SHORT: usize = 9;

/// How a short answer begins: "Yes.", "No, not in the free plan.", "Only on Sundays.", "Two.".
const ANSWERS: &[&str] = list!("phrases.answers");

/// Whether a sentence is a short answer, so that the next sentence has to support it. It has few
/// words and no digits.
pub(crate) fn answers_in_short(lower: &str) -> bool {
    let mut all = words(lower);
    let opens = all.next().is_some_and(|first| ANSWERS.contains(&first));
    opens && all.count() < SHORT && !lower.contains(|c: char| c.is_numeric())
}

/// `text` as words that can be compared: normalised, lower case.
pub(crate) fn plain_lower(text: &str) -> String {
    Normal::of(text).as_str().to_lowercase()
}

fn words(lower: &str) -> impl Iterator<Item = &str> {
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '_' | '-')))
        .map(|w| w.trim_matches(['\'', '-', '_']))
        .filter(|w| !w.is_empty())
}

fn starts_with_any(lower: &str, list: &[&str]) -> bool {
    list.iter().any(|opener| {
        lower
            .strip_prefix(opener)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric()))
    })
}

/// Whether the sentence is a question.
pub(crate) fn is_question(lower: &str) -> bool {
    lower
        .trim_end_matches(['"', '\'', ')', '*', ' '])
        .ends_with(['?', '？'])
}

/// Whether the sentence ends with a colon.
pub(crate) fn ends_with_colon(lower: &str) -> bool {
    lower
        .trim_end_matches(['*', '_', ' ', '"'])
        .ends_with([':', '：'])
}

/// Whether a line is a question.
pub(crate) fn asks(text: &str) -> bool {
    is_question(&plain_lower(text))
}
