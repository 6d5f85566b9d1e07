//! Common words of English: decides whether a word is in an ordinary dictionary of the language.
//!
//! At the start of a sentence, every word has a capital letter. A word there that no dictionary has
//! is usually a name.

/// The words in their base form, one per line, sorted by their bytes. Lines that begin with `#` are
/// comments; they are at the top, and sort before all words.
static WORDS: &str = include_str!("data/common_words_en.txt");

/// Regular endings, each with the letters that may replace it in the base form.
const ENDINGS: &[(&str, &[&str])] = &[
    ("s", &[""]),
    ("es", &["", "e"]),
    ("ies", &["y"]),
    ("ed", &["", "e"]),
    ("ied", &["y"]),
    ("ing", &["", "e"]),
    ("ings", &["", "e"]),
    ("er", &["", "e"]),
    ("ers", &["", "e"]),
    ("ier", &["y"]),
    ("est", &["", "e"]),
    ("iest", &["y"]),
    ("ly", &["", "e"]),
    ("ily", &["y"]),
    ("ness", &[""]),
    ("iness", &["y"]),
    ("able", &["", "e"]),
    ("less", &[""]),
    ("ful", &[""]),
    ("ation", &["", "e"]),
    ("ations", &["", "e"]),
];

/// Minimum length of a base form before an ending.
const SHORTEST: usize = 3;

/// Whether `word` is a common word of English, in its base form or with a regular ending. Case is
/// ignored. A word with characters other than ASCII letters is never common.
pub fn is_common_english_word(word: &str) -> bool {
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    let word = word.to_ascii_lowercase();
    is_listed(&word) || ENDINGS.iter().any(|ending| has_base(&word, ending))
}

/// Whether the word without this ending is listed. A doubled letter may be undone: "stopped".
fn has_base(word: &str, (ending, additions): &(&str, &[&str])) -> bool {
    let Some(stem) = word.strip_suffix(ending).filter(|s| s.len() >= SHORTEST) else {
        return false;
    };
    let added = |addition: &&str| is_listed(&format!("{stem}{addition}"));
    additions.iter().any(added) || undoubled(stem).is_some_and(is_listed)
}

/// A stem that ends in the same letter twice, with that letter once.
fn undoubled(stem: &str) -> Option<&str> {
    let [.., before, last] = stem.as_bytes() else {
        return None;
    };
    (before == last && stem.len() > SHORTEST).then(|| &stem[..stem.len() - 1])
}

/// Whether the list has exactly this word.
fn is_listed(word: &str) -> bool {
    let (mut low, mut high) = (0, WORDS.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = WORDS.as_bytes()[..middle]
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        let end = WORDS.as_bytes()[start..]
            .iter()
            .position(|b| *b == b'\n')
            .map_or(WORDS.len(), |length| start + length);
        match WORDS.as_bytes()[start..end].cmp(word.as_bytes()) {
            std::cmp::Ordering::Equal => return true,
            std::cmp::Ordering::Less => low = end + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_and_in_order() {
        let is_comment = |line: &&str| line.starts_with('#');
        let words: Vec<&str> = WORDS.lines().skip_while(is_comment).collect();
        assert!(!words.iter().any(is_comment) && words.is_sorted());
        assert!(words.len() > 15_000);
        for word in words {
            assert!(is_listed(word), "{word}");
        }
    }

    #[test]
    fn words_are_known_with_their_endings_and_names_are_not() {
        for word in [
            "Revenue",
            "grew",
            "customers",
            "stopped",
            "Caching",
            "Versioning",
            "easily",
            "Happiness",
            "Restarting",
            "zoo",
            "MONEY",
        ] {
            assert!(is_common_english_word(word), "{word}");
        }
        for word in [
            "",
            "Castellane",
            "Obsidian",
            "Zürich",
            "Lukas",
            "s",
            "ing",
            "x7",
            "Tallinn",
        ] {
            assert!(!is_common_english_word(word), "{word}");
        }
    }
}
