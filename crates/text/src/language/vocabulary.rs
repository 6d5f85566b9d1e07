//! Common words of English: whether a word is in an ordinary dictionary of the language.
//!
//! A capital letter at the start of a sentence says nothing. A word there that no dictionary has is
//! usually a name.

/// The words in their base form, one per line, sorted by their bytes. Lines that begin with `#` are
/// comments; they stand at the top, and sort before all words.
static WORDS: &str = include_str!("data/common_words_en.txt");

/// Regular endings, each with what the base form may have in its place.
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

/// The shortest base form that an ending may be taken from.
const SHORTEST: usize = 3;

/// Whether `word` is a common word of English, in its base form or with a regular ending. Upper and
/// lower case are the same. Words with other characters than ASCII letters are none.
pub fn is_common_english_word(word: &str) -> bool {
    if word.is_empty() || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
        return false;
    }
    let word = word.to_ascii_lowercase();
    is_listed(&word) || ENDINGS.iter().any(|ending| has_base(&word, ending))
}

/// Whether the word without this ending is listed, also with a doubled letter undone: "stopped".
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
