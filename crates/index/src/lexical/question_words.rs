//! Words that ask a question without saying what it is about.
//!
//! They stay in the index, because phrases need them. A query leaves them out when other words
//! remain.

/// English: question words, auxiliaries, pronouns and words of degree, in lower case.
const ENGLISH: &[&str] = &[
    "about", "all", "also", "am", "any", "been", "being", "can", "could", "did", "do", "does",
    "doing", "done", "from", "had", "has", "have", "having", "he", "her", "here", "his", "how",
    "i", "its", "just", "may", "me", "might", "more", "most", "must", "my", "only", "other", "our",
    "over", "shall", "she", "should", "so", "some", "than", "their", "them", "there", "under",
    "us", "very", "we", "were", "what", "when", "where", "which", "who", "whom", "whose", "why",
    "would", "you", "your",
];

/// Whether `word` says only that something is asked. A word in capitals (`WHO`, `US`, `IT`) is a
/// name, unless the whole question is in capitals: then the caller has lower-cased it.
pub(super) fn is_question_word(word: &str) -> bool {
    let capitals = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
    !capitals && ENGLISH.binary_search(&word.to_lowercase().as_str()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched_by_halves() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn capitals_are_names() {
        assert!(is_question_word("what") && is_question_word("What") && is_question_word("I"));
        assert!(!is_question_word("WHO") && !is_question_word("US"));
        assert!(!is_question_word("whatever"));
    }
}
