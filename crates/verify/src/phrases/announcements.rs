//! Recognizes polite phrases, and sentences that only announce what follows.

use super::abstention::far_eastern;
use super::{FINITE, ends_with_colon, plain_lower, starts_with_any, words};

/// Words used in announcements.
const META: &[&str] = list!("announcements.meta");

/// The same in other languages: a sentence has words of one of them only.
const IN_OTHER_LANGUAGES: [&[&str]; 7] = [
    list!("announcements.german"),
    list!("announcements.french"),
    list!("announcements.spanish"),
    list!("announcements.italian"),
    list!("announcements.dutch"),
    list!("announcements.portuguese"),
    list!("announcements.russian"),
];

/// What a sentence in writing without blanks may consist of to announce only.
const SIGNS: &[&str] = list!("announcements.signs");

/// How an announcement about the topic begins ("Here is what I found about the budget:").
const OPENERS: &[&str] = list!("announcements.openers");

/// Whether the sentence only announces: it consists only of announcement words or, with an opener
/// and a colon, also words of the question. Sentences with numbers are never announcements.
pub(crate) fn is_meta(lower: &str, question_lower: &str) -> bool {
    if lower.contains(|c: char| c.is_numeric()) {
        return false;
    }
    let topic = ends_with_colon(lower) && starts_with_any(lower, OPENERS);
    if lower.len() < 400 && announces_in_another_language(lower) {
        return true;
    }
    // Four words are enough to be sure, and a long sentence is not an announcement.
    let mut said = words(lower).take(40).peekable();
    said.peek().is_some()
        && lower.len() < 400
        && said
            .all(|word| META.contains(&word) || topic && words(question_lower).any(|q| q == word))
}

/// Words that point at what follows, and that say what of it.
const POINTING: &[&str] = list!("announcements.pointing");
const ASKING: &[&str] = list!("announcements.asking");

/// Whether a short sentence may only announce what follows: "Here is how the winter went".
pub(crate) fn may_announce(lower: &str) -> bool {
    const MOST_WORDS: usize = 14;
    let mut pointing = POINTING.iter();
    let rest = pointing.find_map(|opener| lower.strip_prefix(opener)?.strip_prefix(' '));
    let is_plain = !lower.contains(is_number_or_break) && words(lower).count() <= MOST_WORDS;
    rest.is_some_and(|rest| is_plain && starts_with_any(rest, ASKING))
}

/// Whether a sentence has only words by which another language announces, and begins as an
/// announcement or names the notes or the answer.
fn announces_in_another_language(lower: &str) -> bool {
    if far_eastern(lower) {
        return OPENERS.iter().any(|o| lower.starts_with(o)) && consists_of_signs(lower);
    }
    if !starts_with_any(lower, OPENERS) {
        return false;
    }
    let all: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|w| !w.is_empty())
        .collect();
    let mut lists = IN_OTHER_LANGUAGES.iter();
    !all.is_empty() && lists.any(|list| all.iter().all(|word| list.contains(word)))
}

/// Whether a text in writing without blanks has only words of announcements.
fn consists_of_signs(lower: &str) -> bool {
    let mut rest = lower;
    while let Some(c) = rest.chars().next() {
        let word = SIGNS.iter().find_map(|sign| rest.strip_prefix(sign));
        rest = match (word, rest.get(c.len_utf8()..)) {
            (Some(behind), _) => behind,
            (None, Some(behind)) if !c.is_alphanumeric() => behind,
            _ => return false,
        };
    }
    true
}

/// What somebody is invited to feel free to do: to go on with the conversation.
const INVITED: &[&str] = list!("announcements.invited");

/// Whether the sentence is a polite phrase ("Let me know if you need more details!"). It has one
/// clause, and no verb that would state something.
pub(crate) fn is_courtesy(lower: &str) -> bool {
    let polite = [
        "let me know",
        "please let me know",
        "i hope this",
        "hope this helps",
    ];
    let invites = lower.strip_prefix("feel free to ");
    let invited = invites.and_then(|rest| words(rest).next());
    let is_polite =
        starts_with_any(lower, &polite) || invited.is_some_and(|w| INVITED.contains(&w));
    is_polite && lower.len() < 120 && !lower.contains(is_number_or_break) && !states(lower)
}

fn is_number_or_break(c: char) -> bool {
    c.is_numeric() || matches!(c, ':' | ',' | ';' | '(' | '—' | '–')
}

/// Whether a text has a verb by which a statement is made. "If you would like" states nothing.
fn states(lower: &str) -> bool {
    words(lower).any(|word| {
        FINITE.contains(&word) && !matches!(word, "can" | "could" | "would" | "may" | "have")
    })
}

/// Whether an opener announces what follows, whatever the topic.
pub(crate) fn announces(lower: &str) -> bool {
    ends_with_colon(lower) && starts_with_any(lower, OPENERS)
}

/// Whether a line consists of announcement words only.
pub fn says_nothing_new(text: &str) -> bool {
    let lower = plain_lower(text);
    is_meta(&lower, "") || is_courtesy(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polite_phrase_states_nothing() {
        for polite in [
            "Let me know if you need more details!",
            "Please let me know if you would like the other steps of the setup.",
            "Feel free to ask about the harbour.",
            "I hope this helps!",
        ] {
            assert!(is_courtesy(&plain_lower(polite)), "{polite}");
        }
        for claim in [
            "Feel free to mix bleach with vinegar.",
            "Feel free to take two tablets a day.",
            "Let me know if you need the dose, which is two tablets.",
            "I hope this is clear: the pier was closed.",
            "Let me know when the boiler is at nine bar.",
        ] {
            assert!(!is_courtesy(&plain_lower(claim)), "{claim}");
        }
    }

    #[test]
    fn c48_announcements_claim_nothing_and_claims_are_no_announcements() {
        let question = "what is the budget for the harbour project?";
        for meta in [
            "Hier ist eine Zusammenfassung der Notizen:",
            "Voici ce que disent vos notes :",
            "Esto es lo que dicen tus notas:",
            "Ecco cosa dicono le note:",
            "Вот что сказано в ваших заметках:",
            "以下は要約です：",
            "Here is what I found:",
            "Here's a summary of the key points:",
            "Based on your notes:",
            "I found the following in your notes.",
            "Here is what the notes say about the harbour project budget:",
            "Sure, here are the details.",
            "In summary:",
        ] {
            assert!(is_meta(&plain_lower(meta), question), "{meta}");
        }
        for claim in [
            "Hier ist der Hafen geschlossen.",
            "Según el alcalde, el puerto está cerrado.",
            "Here is the answer: 5 million.",
            "The budget is for the harbour project.",
            "Here are 3 points:",
            "The notes say the harbour is closed:",
            "The harbour project is the budget",
            "Here is what the notes say about the corrupt mayor:",
        ] {
            assert!(!is_meta(&plain_lower(claim), question), "{claim}");
        }
    }
}
