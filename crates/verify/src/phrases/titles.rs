//! Headings, labels and table headers that say something that could be wrong.

use super::{FINITE, is_question, words};
use local_agent_text::evidence::Normal;
use local_agent_text::language::vocabulary::is_common_english_word;

/// Whether a heading, a label or a table header says something that could be wrong: it has a finite
/// verb, closing punctuation, a value after a colon, an amount, a past tense with an object, or a name
/// with what it does or is.
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
    verb || stop || valued || amount || past_with_object(text) || act_of_a_name(text)
}

fn has_number(text: &str) -> bool {
    text.contains(char::is_numeric)
}

/// "Step 2": the last word is a number.
fn is_numbered(name: &str) -> bool {
    let last = name.rsplit(' ').next();
    last.is_some_and(|word| word.chars().all(char::is_numeric))
}

/// Past tenses that do not end in "-ed".
const PAST: &[&str] = list!("titles.past");
/// Words behind a verb without an object: "resigned in May".
const CIRCUMSTANCES: &[&str] = list!("titles.circumstances");
/// Words behind the participle of a regular verb: "approved by".
const BEHIND_PARTICIPLES: &[&str] = list!("titles.behind-participles");
/// A verb in the present has more letters: "des" is none.
const SHORTEST_VERB: usize = 3;
/// Words that begin an object.
const DETERMINERS: &[&str] = list!("titles.determiners");

/// Whether a text has a past tense with an object: "Redis replaced Postgres", "The team approved
/// the plan", "Mara stole the money"; not "Features removed in 2.0".
fn past_with_object(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut pairs = words.windows(2).skip(1);
    pairs.any(|pair| {
        let has_object = begins_an_object(pair[1]) || BEHIND_PARTICIPLES.contains(&pair[1]);
        is_past(pair[0]) && has_object || is_irregular_past_with(pair[0], pair[1])
    })
}

fn is_past(verb: &str) -> bool {
    verb.len() > 4 && verb.ends_with("ed") && verb.chars().all(char::is_lowercase)
}

/// Whether a word is a past tense and the next one begins its object: not "The Left Bank".
fn is_irregular_past_with(verb: &str, next: &str) -> bool {
    let is_small = verb.starts_with(char::is_lowercase);
    let names_something = is_small && next.starts_with(char::is_uppercase);
    is_irregular_past(verb) && (is_determiner(next) || names_something)
}

fn is_irregular_past(verb: &str) -> bool {
    PAST.contains(&&*verb.to_lowercase())
}

fn is_determiner(word: &str) -> bool {
    DETERMINERS.contains(&&*word.to_lowercase())
}

fn begins_an_object(word: &str) -> bool {
    is_determiner(word) || word.starts_with(|c: char| c.is_uppercase() || c.is_numeric())
}

/// Whether a text begins with a name and what it is, does or did: "Mara Lind, the treasurer", "Mara Lind
/// resigned in May", "Nuuk burned", "Mara steals the money"; not "Lessons learned", "Foam recommended extensions".
fn act_of_a_name(text: &str) -> bool {
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', '!']))
        .collect();
    let is_capital = |word: &&&str| word.starts_with(char::is_uppercase);
    let name = words.iter().take_while(is_capital).count();
    let (Some(subject), Some(verb)) = (words.get(..name), words.get(name)) else {
        return false;
    };
    let is_name = |word: &&str| !is_common_english_word(&word.to_lowercase());
    if !subject.iter().any(is_name) {
        return false;
    }
    // "Mara Lind, the treasurer".
    let last = text.split_whitespace().nth(name.saturating_sub(1));
    let is_apposed = last.is_some_and(|word| word.ends_with(','));
    let next = words.get(name + 1);
    if is_apposed && (is_determiner(verb) || next.is_some_and(|next| *next == "of")) {
        return true;
    }
    let has_object = next.is_some_and(|next| begins_an_object(next));
    let is_alone = next.is_none_or(|next| CIRCUMSTANCES.contains(&&*next.to_lowercase()));
    let is_present = verb.len() > SHORTEST_VERB && verb.ends_with('s') && !verb.ends_with("ss");
    (is_past(verb) || is_irregular_past(verb)) && (has_object || is_alone)
        || is_present && next.is_some_and(|next| is_determiner(next))
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
            "Mara Lind stole the money",
            "Mara Lind Stole the Money",
            "Mara Lind steals the money",
            "Mara Lind resigned in May",
            "Mara Lind sold Redis",
            "Nuuk burned",
            "Mara Lind, the treasurer",
            "Mara Lind, treasurer of the club",
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
            "Mara Lind",
            "Mara Lind's role in May",
            "Nuuk hotels",
            "Nuuk, in spring",
            "Nuuk, trip notes",
            "Nuuk hotels 2026",
            "Kosten des Umbaus",
            "Neues aus Nuuk",
            "Umzug ins Büro",
            "The Left Bank",
            "The Lost Keys",
            "Items Left Open",
            "Money Spent 2026",
            "Nuuk, Mara Lind and the others",
            "Nuuk hotels in May",
            "Obsidian recommended extensions",
            "Cakes made to order",
            "Things left to do",
            "Money spent in May",
        ] {
            assert!(!title_claims(title), "{title}");
        }
    }
}
