//! Headings, labels and table headers that say something that could be wrong.

use super::{FINITE, is_question, words};
use local_agent_text::evidence::Normal;

/// Whether a heading, a label or a table header says something that could be wrong: it has a finite
/// verb, closing punctuation, a value after a colon, an amount, or a past tense with an object.
pub(crate) fn title_claims(text: &str) -> bool {
    let normal = Normal::of(text);
    let text = normal.as_str().trim_start_matches(['#', ' ']);
    let lower = text.to_lowercase();
    if is_question(&lower) {
        return false;
    }
    let all: Vec<&str> = words(&lower).collect();
    let asks = all.first().is_some_and(|w| {
        matches!(
            *w,
            "how" | "what" | "why" | "who" | "when" | "where" | "which"
        )
    });
    if asks {
        return false;
    }
    // "May" in a title is a month.
    let verb = all.len() >= 3
        && all
            .iter()
            .skip(1)
            .any(|w| *w != "may" && FINITE.contains(w));
    let stop = all.len() >= 3 && lower.ends_with(['.', '!', '。']);
    let valued = text
        .split_once([':', '=', '：'])
        .is_some_and(|(name, value)| !is_numbered(name) && has_number(value));
    let amount = text.contains(['%', '€', '$', '£']) && has_number(text);
    verb || stop || valued || amount || past_with_object(text)
}

fn has_number(text: &str) -> bool {
    text.contains(char::is_numeric)
}

/// "Step 2": the last word is a number.
fn is_numbered(name: &str) -> bool {
    let last = name.rsplit(' ').next();
    last.is_some_and(|word| word.chars().all(char::is_numeric))
}

/// Whether a text has a past tense with an object: "Redis replaced Postgres", "The team approved
/// the plan"; not "Features removed in 2.0".
fn past_with_object(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut pairs = words.windows(2).skip(1);
    pairs.any(|pair| is_past(pair[0]) && begins_an_object(pair[1]))
}

fn is_past(verb: &str) -> bool {
    verb.len() > 4 && verb.ends_with("ed") && verb.chars().all(char::is_lowercase)
}

fn begins_an_object(word: &str) -> bool {
    matches!(
        word,
        "the" | "a" | "an" | "our" | "its" | "their" | "all" | "by" | "to"
    ) || word.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c27_titles_that_claim_are_told_from_titles() {
        for claim in [
            "The budget is 5 million",
            "Budget: 5 million",
            "Revenue grew 12%",
            "The plan was rejected",
            "Redis replaced Postgres",
            "It works.  Really works.",
        ] {
            assert!(title_claims(claim), "{claim}");
        }
        for title in [
            "Budget",
            "Budget for 2026",
            "How it is done",
            "Features removed in 2.0",
            "Step 1: Preparation",
            "Phase 2: Plan 7",
            "Year",
            "What is new?",
            "Lessons learned",
            "Report of May 2026",
            "Total cost by year",
        ] {
            assert!(!title_claims(title), "{title}");
        }
    }
}
