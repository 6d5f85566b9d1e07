//! Whether a claim is written in another language than the text it cites. Then its words cannot be counted, and it is
//! `checked` at most.

use crate::verify::reading::Reading;

const ENGLISH: &[&str] =
    &["the", "of", "and", "is", "are", "was", "were", "to", "in", "that", "for", "with", "has", "by", "it"];
const GERMAN: &[&str] = &[
    "der", "die", "das", "und", "ist", "sind", "war", "nicht", "ein", "eine", "mit", "auf", "für", "von", "den", "im",
    "wurde",
];
const FRENCH: &[&str] =
    &["le", "la", "les", "des", "est", "sont", "et", "une", "dans", "pour", "du", "avec", "sur", "pas", "il", "elle"];
const SPANISH: &[&str] =
    &["el", "los", "las", "es", "son", "una", "y", "para", "con", "del", "por", "fue", "se", "que", "en"];

#[derive(PartialEq, Eq, Clone, Copy)]
enum Language {
    English,
    German,
    French,
    Spanish,
    /// Another script, named by one of its blocks.
    Script(u32),
}

/// Whether both languages are known and differ.
pub fn differ(claim: &Reading, evidence: &[&Reading]) -> bool {
    let Some(own) = language(&claim.normal) else { return false };
    let theirs: Vec<Language> = evidence.iter().filter_map(|r| language(&r.normal)).collect();
    !theirs.is_empty() && theirs.iter().all(|l| *l != own)
}

fn language(text: &str) -> Option<Language> {
    let letters = |c: &char| c.is_alphabetic();
    let foreign = text.chars().filter(letters).take(400).filter(|c| *c as u32 > 0x24f).count();
    let all = text.chars().filter(letters).take(400).count();
    if all > 0 && foreign * 2 > all {
        let first = text.chars().find(|c| c.is_alphabetic() && *c as u32 > 0x24f)? as u32;
        // Greek, Cyrillic, Hebrew, Arabic … by their 256 characters; all of the far east as one.
        return Some(Language::Script(if first >= 0x2e80 { 0x2e } else { first >> 8 }));
    }
    let words: Vec<String> =
        text.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()).take(300).map(str::to_lowercase).collect();
    let count = |list: &[&str]| words.iter().filter(|w| list.contains(&w.as_str())).count();
    let counts = [
        (count(ENGLISH), Language::English),
        (count(GERMAN), Language::German),
        (count(FRENCH), Language::French),
        (count(SPANISH), Language::Spanish),
    ];
    let (most, language) = counts.into_iter().max_by_key(|(n, _)| *n)?;
    let second = counts.iter().filter(|(_, l)| *l != language).map(|(n, _)| *n).max().unwrap_or(0);
    (most >= 2 && most > second * 2).then_some(language)
}
