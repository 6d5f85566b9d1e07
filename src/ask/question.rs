//! What a question asks for: the words it is about, and the kind of answer it wants.
//!
//! The word lists are the closed classes of each language (articles, pronouns, prepositions, auxiliaries, question
//! words), never words of a subject. Everything taken from them is a soft cue: no answer is refused because of one.

use std::collections::HashSet;

use super::words;

/// A word of the question that says what it is about.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    /// As [`crate::lexical::terms`] gives it.
    pub stem: String,
    /// How much it says: the index's idf, times the share of it that is not grammar.
    pub weight: f32,
    /// Written with a capital, a digit or a code mark: a name, not a description.
    pub name: bool,
}

/// What kind of answer is asked for. More than one may be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wants {
    pub time: bool,
    pub number: bool,
    pub person: bool,
    pub place: bool,
    pub reason: bool,
    /// Steps: "how do I …".
    pub steps: bool,
    /// A command or code, named as such.
    pub code: bool,
}

/// A question, analysed.
#[derive(Debug, Clone)]
pub(super) struct Question {
    pub terms: Vec<Term>,
    pub wants: Wants,
}

impl Question {
    /// Reads `text`; `idf` weighs a stem. Terms are distinct and in order of appearance.
    pub fn read(text: &str, idf: &dyn Fn(&str) -> f32) -> Self {
        let lower = text.to_lowercase();
        let list = words::of_language(&lower);
        let bare = without_grammar(text, list);
        let mut stems = crate::lexical::terms(&bare);
        if stems.is_empty() {
            stems = crate::lexical::terms(text);
        }
        let names = name_stems(&bare);
        let mut seen = HashSet::new();
        let mut terms: Vec<Term> = stems
            .into_iter()
            .filter(|stem| seen.insert(stem.clone()))
            .map(|stem| Term { weight: idf(&stem).max(0.0) * content_share(&stem), name: names.contains(&stem), stem })
            .collect();
        if terms.iter().any(|t| t.weight > 0.0) {
            terms.retain(|t| t.weight > 0.0);
        } else {
            terms.iter_mut().for_each(|t| t.weight = 1.0);
        }
        Self { terms, wants: Wants::of(&lower) }
    }

    /// The weight of all terms together.
    pub fn total(&self) -> f32 {
        self.terms.iter().map(|t| t.weight).sum()
    }
}

/// `text` with the function words of its language blanked out; parts of compounds stay.
fn without_grammar(text: &str, list: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
        let lower = word.to_lowercase();
        // "IT", "US": capitals throughout are an abbreviation, not a pronoun.
        let shouted = word.chars().count() > 1 && word.chars().all(char::is_uppercase);
        if !shouted && list.contains(&lower.as_str()) {
            out.push(' ');
        } else {
            out.push_str(piece);
        }
    }
    out
}

/// Stems of words that look like names: capitals after the first word, digits, code marks.
fn name_stems(text: &str) -> HashSet<String> {
    let mut names = HashSet::new();
    for (i, word) in text.split_whitespace().enumerate() {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        let capital = i > 0 && word.starts_with(char::is_uppercase);
        if capital || word.contains(|c: char| c.is_ascii_digit() || c == '_') {
            names.extend(crate::lexical::terms(word));
        }
    }
    names
}

/// How much of a stem is not grammar: 1 for spaced scripts. Japanese writes its grammar in hiragana, so a pair of two
/// hiragana says nothing, a pair that begins with one is a particle and the start of a word, and a pair that ends with
/// one is the end of a word and its inflection.
fn content_share(stem: &str) -> f32 {
    let hiragana = |c: char| matches!(c, 'ぁ'..='ゟ');
    let mut chars = stem.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some(a), Some(b), None) if is_unspaced(a) && is_unspaced(b) => match (hiragana(a), hiragana(b)) {
            (true, _) => 0.0,
            (false, true) => 0.35,
            (false, false) => 1.0,
        },
        (Some(a), None, None) if hiragana(a) => 0.0,
        _ => 1.0,
    }
}

/// Scripts written without spaces between words.
pub(super) const fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{0e00}'..='\u{0e7f}' | '\u{20000}'..='\u{2ffff}')
}

impl Wants {
    fn of(lower: &str) -> Self {
        let any = |cues: &words::Cues| words::contains(cues, lower);
        let all: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
        let degree = all.windows(2).any(|w| matches!(w[0], "how" | "wie") && words::DEGREES.contains(&w[1]));
        Self {
            time: any(&words::TIME),
            number: degree || any(&words::NUMBER),
            person: any(&words::PERSON),
            place: any(&words::PLACE),
            reason: any(&words::REASON),
            steps: any(&words::STEPS),
            code: any(&words::CODE),
        }
    }
}
