//! Whether a claim is written in another language than the text it cites. Then its words cannot be
//! counted, and it is `checked` at most.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::reading::Reading;
use crate::text::lower_case;

const ENGLISH: &[&str] = &[
    "the", "of", "and", "is", "are", "was", "were", "to", "in", "that", "for", "with", "has", "by",
    "it",
];
const GERMAN: &[&str] = &[
    "der", "die", "das", "und", "ist", "sind", "war", "nicht", "ein", "eine", "mit", "auf", "für",
    "von", "den", "im", "wurde",
];
const FRENCH: &[&str] = &[
    "le", "la", "les", "des", "est", "sont", "et", "une", "dans", "pour", "du", "avec", "sur",
    "pas", "il", "elle",
];
const SPANISH: &[&str] = &[
    "el", "los", "las", "es", "son", "una", "y", "para", "con", "del", "por", "fue", "se", "que",
    "en",
];

/// A language that can be told from others.
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum Language {
    English,
    German,
    French,
    Spanish,
    /// Another script, named by one of its blocks.
    Script(u32),
}

/// The lists, each with its language.
const LISTS: [(&[&str], Language); 4] = [
    (ENGLISH, Language::English),
    (GERMAN, Language::German),
    (FRENCH, Language::French),
    (SPANISH, Language::Spanish),
];

/// Word → the lists that hold it.
static LISTS_OF: LazyLock<HashMap<&'static str, Vec<usize>, RandomState>> = LazyLock::new(|| {
    let mut out: HashMap<&'static str, Vec<usize>, RandomState> = HashMap::default();
    for (at, (list, _)) in LISTS.iter().enumerate() {
        list.iter()
            .for_each(|word| out.entry(*word).or_default().push(at));
    }
    out
});

/// Whether both languages are known and differ.
pub fn differ(claim: &Reading, evidence: &[&Reading]) -> bool {
    let Some(own) = of(claim) else { return false };
    let mut theirs = evidence.iter().filter_map(|r| of(r)).peekable();
    theirs.peek().is_some() && theirs.all(|l| l != own)
}

/// The language of a text; found once.
fn of(reading: &Reading) -> Option<Language> {
    *reading
        .language
        .get_or_init(|| script(&reading.normal).or_else(|| language(reading)))
}

/// The script of most of the first letters, when it is not a Latin one.
fn script(text: &str) -> Option<Language> {
    if text.is_ascii() {
        return None;
    }
    let letters = text.chars().filter(|c| c.is_alphabetic()).take(400);
    let (all, foreign) = letters.fold((0, 0), |(all, foreign), c| {
        (all + 1, foreign + usize::from(c as u32 > 0x24f))
    });
    if foreign * 2 <= all {
        return None;
    }
    let first = text
        .chars()
        .find(|c| c.is_alphabetic() && *c as u32 > 0x24f)? as u32;
    // Greek, Cyrillic, Hebrew, Arabic … by their 256 characters; all of the far east as one.
    Some(Language::Script(if first >= 0x2e80 {
        0x2e
    } else {
        first >> 8
    }))
}

/// The language that most of the first words belong to, if one has more than twice as many as the
/// next.
fn language(reading: &Reading) -> Option<Language> {
    let mut counts = LISTS.map(|(_, language)| (0_usize, language));
    for token in reading
        .text
        .tokens
        .iter()
        .filter(|token| !token.number)
        .take(300)
    {
        let word = reading.word(token);
        // No listed word is longer.
        let lists = if word.len() > 6 {
            None
        } else {
            LISTS_OF.get(&*lower_case(word))
        };
        for at in lists.into_iter().flatten() {
            counts
                .get_mut(*at)
                .into_iter()
                .for_each(|(count, _)| *count += 1);
        }
    }
    let (most, language) = counts.into_iter().max_by_key(|(n, _)| *n)?;
    let second = counts
        .iter()
        .filter(|(_, l)| *l != language)
        .map(|(n, _)| *n)
        .max()
        .unwrap_or(0);
    (most >= 2 && most > second * 2).then_some(language)
}
