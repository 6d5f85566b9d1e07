//! A light stemmer for comparing words: inflected forms of one word get the same stem, and a few
//! derived forms too.
//!
//! Suffix stripping after the S-stemmer of Harman (1991) with the most common derivational endings.
//! Only for English; other words are compared as written, and by their first letters (see
//! `support`).

/// Endings and what replaces them, longest of a family first.
const ENDINGS: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("ization", "ize"),
    ("ingly", ""),
    ("edly", ""),
    ("ments", ""),
    ("ment", ""),
    ("ations", "ate"),
    ("ation", "ate"),
    ("ions", ""),
    ("ion", ""),
    ("ings", ""),
    ("ing", ""),
    ("ies", ""),
    ("ied", ""),
    ("iers", ""),
    ("ier", ""),
    ("ers", ""),
    ("er", ""),
    ("ors", ""),
    ("or", ""),
    ("ives", ""),
    ("ive", ""),
    ("ed", ""),
    ("es", ""),
    ("ly", ""),
    ("s", ""),
    ("e", ""),
    ("al", ""),
    ("y", ""),
];

/// The stem of a lower-case word.
pub(crate) fn stem(word: &str) -> String {
    if word.len() <= 3 || word.bytes().any(|b| b.is_ascii_digit()) {
        return word.to_owned();
    }
    let mut out = word.to_owned();
    for (ending, instead) in ENDINGS {
        if let Some(rest) = word.strip_suffix(ending)
            && rest.chars().count() >= 3
            && !(*ending == "s" && rest.ends_with('s'))
        {
            out = format!("{rest}{instead}");
            break;
        }
    }
    let doubled = {
        let mut back = out.chars().rev();
        matches!((back.next(), back.next()), (Some(a), Some(b)) if a == b && a.is_alphabetic())
    };
    if out.len() > 3 && doubled {
        out.pop();
    }
    for tail in ["e", "at"] {
        if out.len() > 4
            && let Some(rest) = out.strip_suffix(tail)
        {
            out.truncate(rest.len());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inflections_of_a_word_meet() {
        for family in [
            &["increase", "increases", "increased", "increasing"][..],
            &["approve", "approved", "approves", "approval"],
            &["activate", "activates", "activation", "activated"],
            &["run", "runs", "running", "runner"],
            &["city", "cities"],
            &["translate", "translation", "translated"],
        ] {
            let first = stem(family[0]);
            for word in family {
                assert_eq!(stem(word), first, "{word}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_word_has_a_stem(word in "\\PC{0,12}") {
            stem(&word.to_lowercase());
        }
    }
}
