//! Offers, requests and advice that claim nothing: "Try another search", "I can look again".

use super::{starts_with_any, words};

/// How an offer, a request or a piece of advice begins.
const ADVICE: &[&str] = list!("advice.openers");

/// Words about the conversation and the notes, and words without content. Advice may have no other.
const WORDS: &[&str] = list!("advice.words");

/// Words by which the reader is sent to somebody.
const ASKING: &[&str] = list!("advice.asking");

/// Maximum number of bytes of a sentence that is advice.
const LONGEST: usize = 240;

/// Whether the sentence only offers help, or asks the reader to do something with the notes or the
/// question. It has no number, no name and no content of its own.
pub(crate) fn is_advice(lower: &str) -> bool {
    lower.len() <= LONGEST
        && starts_with_any(lower.trim_start(), ADVICE)
        && is_without_content(lower)
}

/// Whether all words of a text are about the conversation or the notes, or have no content.
pub(super) fn is_without_content(lower: &str) -> bool {
    !lower.contains(|c: char| c.is_numeric()) && words(lower).all(|word| WORDS.contains(&word))
}

/// Whether a clause sends the reader to somebody else: "you could ask the council".
pub(super) fn sends_to_somebody(clause: &str) -> bool {
    if !starts_with_any(clause.trim_start(), ADVICE) || clause.contains(char::is_numeric) {
        return false;
    }
    let all: Vec<&str> = words(clause).take(8).collect();
    let Some(at) = all.iter().position(|w| ASKING.contains(w)) else {
        return false;
    };
    let behind = all.get(at + 1..).unwrap_or(&[]);
    let opens = all
        .get(..at)
        .unwrap_or(&[])
        .iter()
        .all(|w| WORDS.contains(w));
    opens && behind.len() == 2 && behind.first().is_some_and(|w| WORDS.contains(w))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::plain_lower;

    #[test]
    fn advice_about_the_notes_has_no_content_of_its_own() {
        for advice in [
            "You may want to check the original document.",
            "Try another search.",
            "Please add a note about it.",
            "Let me know if you need anything else.",
            "Would you like me to search again?",
            "If you share more details, I can look again.",
            "You could rephrase the question.",
            "I can search for other notes if you like.",
            "Sie können mehr Notizen hinzufügen.",
            "Bitte formulieren Sie die Frage anders.",
            "Vous pouvez reformuler la question.",
            "Puedes añadir más notas.",
        ] {
            assert!(is_advice(&plain_lower(advice)), "{advice}");
        }
        for claim in [
            "You can take two tablets a day.",
            "If you mix bleach with vinegar it is safe.",
            "Try 300 mg.",
            "Try aspirin.",
            "Please press the red button first.",
            "Consider a lower dose.",
            "You may cross the border without a visa.",
            "You could ask Karl, the owner.",
            "If you need more, the depot is open all night.",
            "Let me know if you need the owner, who is Bob.",
            "Bitte nehmen Sie zwei Tabletten am Tag.",
            "Sie können Bleiche mit Essig mischen.",
            "Vous pouvez prendre deux comprimés.",
            "Puedes mezclar lejía con vinagre.",
        ] {
            assert!(!is_advice(&plain_lower(claim)), "{claim}");
        }
    }

    #[test]
    fn a_clause_may_send_to_somebody_and_say_nothing_about_him() {
        assert!(sends_to_somebody("you could ask the council"));
        assert!(!sends_to_somebody(
            "you could ask the council about the closed pier"
        ));
        assert!(!sends_to_somebody("you could drink the water"));
    }
}
