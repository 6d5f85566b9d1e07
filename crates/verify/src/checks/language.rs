//! Whether a claim is written in a different language than the text it cites. Then its words cannot
//! be compared, and it is at most `checked`.

use std::collections::HashMap;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use crate::reading::Reading;
use crate::text::lower_case;
use local_agent_text::language::is_common_english_word;

const ENGLISH: &[&str] = list!("language.english");
const GERMAN: &[&str] = list!("language.german");
const FRENCH: &[&str] = list!("language.french");
const SPANISH: &[&str] = list!("language.spanish");
const ITALIAN: &[&str] = list!("language.italian");
const DUTCH: &[&str] = list!("language.dutch");
const PORTUGUESE: &[&str] = list!("language.portuguese");

/// The number of languages with a list.
const LISTED: usize = 7;

/// A language that can be distinguished from others.
#[derive(PartialEq, Eq, Clone, Copy)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Dutch,
    Portuguese,
    /// Another script, identified by one of its Unicode blocks.
    Script(u32),
}

/// The lists, each with its language.
const LISTS: [(&[&str], Language); LISTED] = [
    (ENGLISH, Language::English),
    (GERMAN, Language::German),
    (FRENCH, Language::French),
    (SPANISH, Language::Spanish),
    (ITALIAN, Language::Italian),
    (DUTCH, Language::Dutch),
    (PORTUGUESE, Language::Portuguese),
];

/// Word → the lists that contain it.
static LISTS_OF: LazyLock<HashMap<&'static str, Vec<usize>, RandomState>> = LazyLock::new(|| {
    let mut out: HashMap<&'static str, Vec<usize>, RandomState> = HashMap::default();
    for (at, (list, _)) in LISTS.iter().enumerate() {
        list.iter()
            .for_each(|word| out.entry(*word).or_default().push(at));
    }
    out
});

/// Whether both languages are known and differ. A sentence too short to identify is taken to be in
/// the language of the answer.
pub(super) fn differ(claim: &Reading, answer: Option<Language>, evidence: &[&Reading]) -> bool {
    let Some(own) = of(claim).or(answer) else {
        return false;
    };
    let mut theirs = evidence.iter().filter_map(|r| of(r)).peekable();
    theirs.peek().is_some() && theirs.all(|l| l != own)
}

/// Whether a text is German, where every noun has a capital.
pub(super) fn is_german(reading: &Reading) -> bool {
    of(reading) == Some(Language::German)
}

/// Whether a claim is English.
pub(super) fn is_english(claim: &Reading, answer: Option<Language>, evidence: &[&Reading]) -> bool {
    decided(claim, answer, evidence) == Some(Language::English)
}

/// The language of a claim. Its own words decide, then those of the answer; if both are too short,
/// the language of everything that it cites.
fn decided(claim: &Reading, answer: Option<Language>, evidence: &[&Reading]) -> Option<Language> {
    let own = of(claim).or(answer);
    own.or_else(|| {
        let first = of(evidence.first()?)?;
        evidence
            .iter()
            .all(|r| of(r) == Some(first))
            .then_some(first)
    })
}

/// Whether a text that is too short to identify looks English: it has one of the most common English
/// words, which few other languages write, or a dictionary of English has at least half of its
/// words, and no other language has one of them.
fn looks_english(reading: &Reading) -> bool {
    let tokens = reading.text.tokens.iter().take(MOST_WORDS);
    let small = tokens.filter(|t| !t.capital && !t.number && t.end - t.start >= SHORTEST);
    let words: Vec<&str> = small.map(|t| reading.word(t)).collect();
    let sure = ["the", "and", "are", "was"];
    if words.iter().any(|w| sure.contains(w)) {
        return true;
    }
    let known = words.iter().filter(|w| is_common_english_word(w)).count();
    known > 0 && known * 2 >= words.len() && !words.iter().any(|w| is_foreign(w))
}

/// A shorter word is in the dictionaries of many languages.
const SHORTEST: usize = 3;

/// Whether a word in lower case is one of the little words of any language.
pub(super) fn is_little_word(lower: &str) -> bool {
    LISTS_OF.contains_key(lower)
}

/// Whether another language lists a word, and English does not.
fn is_foreign(word: &str) -> bool {
    let lists = LISTS_OF.get(word);
    lists.is_some_and(|lists| !lists.contains(&0))
}

/// The language of a claim like [`decided`], or English if the claim or what it cites looks so.
pub(super) fn supposed(
    claim: &Reading,
    answer: Option<Language>,
    evidence: &[&Reading],
) -> Option<Language> {
    decided(claim, answer, evidence).or_else(|| {
        let mut all = evidence.iter().chain([&claim]);
        all.any(|r| looks_english(r)).then_some(Language::English)
    })
}

/// The language of a whole answer.
pub(crate) fn of_answer(text: &str) -> Option<Language> {
    let mut counts = LISTS.map(|(_, language)| (0_usize, language));
    let words = text.split(|c: char| !c.is_alphabetic());
    words
        .take(MOST_WORDS)
        .for_each(|word| count(word, &mut counts));
    script(text).or_else(|| winner(counts))
}

/// Maximum number of words of a text that are examined.
const MOST_WORDS: usize = 300;

/// The language of a text; computed once.
pub(super) fn of(reading: &Reading) -> Option<Language> {
    *reading
        .language
        .get_or_init(|| script(&reading.normal).or_else(|| language(reading)))
}

/// The length of the longest listed word, in bytes.
const LONGEST: usize = 9;

/// How many letters one East Asian character counts as.
const SIGN: usize = 4;

/// The script of most of the first letters, unless it is Latin.
fn script(text: &str) -> Option<Language> {
    if text.is_ascii() {
        return None;
    }
    // One East Asian character is about a word, and names and code keep their Latin letters.
    let letters = text.chars().filter(|c| c.is_alphabetic()).take(400);
    let (all, foreign) = letters.fold((0, 0), |(all, foreign), c| {
        let weight = if c as u32 >= 0x2e80 { SIGN } else { 1 };
        (
            all + weight,
            foreign + weight * usize::from(c as u32 > 0x24f),
        )
    });
    if foreign * 2 <= all {
        return None;
    }
    let first = text
        .chars()
        .find(|c| c.is_alphabetic() && *c as u32 > 0x24f)? as u32;
    // Greek, Cyrillic, Hebrew, Arabic … by their block of 256 characters; all East Asian scripts as
    // one.
    Some(Language::Script(if first >= 0x2e80 {
        0x2e
    } else {
        first >> 8
    }))
}

/// The language that most of the first words belong to.
fn language(reading: &Reading) -> Option<Language> {
    let mut counts = LISTS.map(|(_, language)| (0_usize, language));
    for token in reading
        .text
        .tokens
        .iter()
        .filter(|token| !token.number)
        .take(MOST_WORDS)
    {
        count(reading.word(token), &mut counts);
    }
    winner(counts)
}

/// Counts a word for every language that lists it.
fn count(word: &str, counts: &mut [(usize, Language); LISTED]) {
    if word.len() > LONGEST {
        return;
    }
    for at in LISTS_OF.get(&*lower_case(word)).into_iter().flatten() {
        counts
            .get_mut(*at)
            .into_iter()
            .for_each(|(count, _)| *count += 1);
    }
}

/// The language with the most words. Another language wins over English if English has less than
/// half as many words; English wins if every other language has less than half as many. Of two other
/// languages with equally many words, none wins: they share function words.
fn winner(counts: [(usize, Language); LISTED]) -> Option<Language> {
    let (most, language) = counts.into_iter().max_by_key(|(n, _)| *n)?;
    let mut others = counts.iter().filter(|(_, l)| *l != language);
    let is_clear = others.all(|(n, other)| {
        let is_english = [language, *other].contains(&Language::English);
        most > if is_english { n * 2 } else { *n }
    });
    (most >= 2 && is_clear).then_some(language)
}
