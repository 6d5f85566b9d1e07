//! Turns a query into terms, phrases and exclusions for the index.

use std::collections::{BTreeMap, BTreeSet};

use local_agent_text::language::Language;
use local_agent_text::language::tokenize::{Analyzer, Token};

use super::Query;
use super::question_words::searched_words;
use super::weights::WEIGHTS;

/// The form of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    Stem,
    Exact,
}

/// How a term is used.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct QueryTerm {
    pub(super) weight: f32,
    /// Its stems in the other languages of the index.
    pub(super) locals: BTreeSet<String>,
}

/// A query, analysed.
#[derive(Debug, Default)]
pub(super) struct QueryPlan {
    /// The terms in a fixed order, so that sums are the same every time.
    pub(super) terms: BTreeMap<(Form, String), QueryTerm>,
    pub(super) phrases: Vec<Vec<String>>,
    pub(super) excluded_stems: Vec<String>,
    /// The stems of excluded words in the other languages of the index.
    pub(super) excluded_locals: BTreeSet<String>,
    pub(super) excluded_phrases: Vec<Vec<String>>,
}

impl QueryPlan {
    /// The plan of a query. For `languages`, see [`super::reader::Reader::languages`].
    pub(super) fn new(query: &Query, languages: &[Language]) -> Self {
        let mut analyzer = Analyzer::default();
        let mut plan = Self::default();
        let searched = searched_words(query, languages);
        plan.weigh_text(&mut analyzer, &searched.text, !query.phrases.is_empty());
        for name in &searched.names {
            plan.add_once(Form::Exact, name);
        }
        for phrase in &query.phrases {
            plan.weigh_text(&mut analyzer, phrase, false);
        }
        plan.phrases = query
            .phrases
            .iter()
            .map(|text| sequence(&mut analyzer, text))
            .collect();
        plan.excluded_phrases = query
            .excluded_phrases
            .iter()
            .map(|text| sequence(&mut analyzer, text))
            .collect();
        for word in &query.excluded {
            plan.exclude(&mut analyzer, word, languages);
        }
        plan.add_locals(&mut analyzer, query, languages);
        plan.phrases.retain(|phrase| !phrase.is_empty());
        plan.excluded_phrases.retain(|phrase| !phrase.is_empty());
        plan
    }

    /// Adds the terms of `text`. Its stop words are added only if it has no other words, and never
    /// if `optional` is set.
    fn weigh_text(&mut self, analyzer: &mut Analyzer, text: &str, optional: bool) {
        let (mut stops, mut content) = (Vec::new(), false);
        analyzer.analyze(text, &mut |token| {
            content |= !matches!(token, Token::Word { stop: true, .. });
            self.weigh(&token, &mut stops);
        });
        if !content && !optional {
            for word in &stops {
                self.add(Form::Exact, word, 1.0);
            }
        }
    }

    /// Excludes a word: a single word in all its forms; a compound as a whole, or if its parts are
    /// adjacent.
    fn exclude(&mut self, analyzer: &mut Analyzer, word: &str, languages: &[Language]) {
        let (mut stems, mut single, mut words) = (Vec::new(), None, 0);
        analyzer.analyze(word, &mut |token| match token {
            Token::Whole { stem, .. } => stems.push(stem.to_owned()),
            Token::Word {
                exact, stem, part, ..
            } => {
                words += 1;
                stems.extend((!part).then(|| stem.to_owned()));
                single = (!part).then(|| exact.to_owned());
            }
            Token::Char { .. } | Token::Pair(_) => {}
        });
        if words == 1 || stems.len() == 1 {
            self.excluded_stems.append(&mut stems);
        }
        if let Some(exact) = single.filter(|_| words == 1) {
            let local = |language: &Language| analyzer.local(*language, &exact).to_owned();
            self.excluded_locals.extend(languages.iter().map(local));
        }
        self.excluded_phrases.push(sequence(analyzer, word));
    }

    /// Whether any document may be excluded.
    pub(super) fn excludes(&self) -> bool {
        !(self.excluded_stems.is_empty()
            && self.excluded_locals.is_empty()
            && self.excluded_phrases.is_empty())
    }

    fn weigh(&mut self, token: &Token<'_>, stops: &mut Vec<String>) {
        match *token {
            Token::Word {
                exact, stop: true, ..
            } => stops.push(exact.to_owned()),
            Token::Word {
                exact, stem, part, ..
            } => {
                let weight = if part { WEIGHTS.part } else { 1.0 };
                self.add(Form::Stem, stem, weight);
                self.add(Form::Exact, exact, weight * WEIGHTS.exact);
            }
            Token::Whole { stem, .. } => self.add(Form::Stem, stem, WEIGHTS.whole),
            Token::Char { text, alone: true } => self.add(Form::Exact, text, 1.0),
            Token::Char { .. } => {}
            Token::Pair(text) => {
                // Japanese writes its grammar in hiragana; content words begin with another script.
                let grammar = text.starts_with(|c| matches!(c, 'ぁ'..='ゟ'));
                self.add(
                    Form::Stem,
                    text,
                    if grammar { WEIGHTS.grammar } else { 1.0 },
                );
            }
        }
    }

    fn add(&mut self, form: Form, text: &str, weight: f32) {
        if weight > 0.0 {
            self.terms
                .entry((form, text.to_owned()))
                .or_default()
                .weight += weight;
        }
    }

    /// Adds a term that counts once, whether it was added before or not.
    fn add_once(&mut self, form: Form, text: &str) {
        let term = self.terms.entry((form, text.to_owned())).or_default();
        term.weight = term.weight.max(1.0);
    }

    /// Adds the stems in other languages to every wanted stem.
    fn add_locals(&mut self, analyzer: &mut Analyzer, query: &Query, languages: &[Language]) {
        if languages.is_empty() {
            return;
        }
        let mut words = Vec::new();
        for text in query.words.iter().chain(&query.phrases) {
            analyzer.analyze(text, &mut |token| {
                if let Token::Word {
                    exact,
                    stem,
                    stop: false,
                    ..
                } = token
                {
                    words.push((exact.to_owned(), stem.to_owned()));
                }
            });
        }
        for (exact, stem) in words {
            if let Some(wanted) = self.terms.get_mut(&(Form::Stem, stem)) {
                wanted.locals.extend(
                    languages
                        .iter()
                        .map(|language| analyzer.local(*language, &exact).to_owned()),
                );
            }
        }
    }
}

/// The exact forms of `text`, one per position.
fn sequence(analyzer: &mut Analyzer, text: &str) -> Vec<String> {
    let mut sequence = Vec::new();
    analyzer.analyze(text, &mut |token| match token {
        Token::Word { exact, .. } => sequence.push(exact.to_owned()),
        Token::Char { text, .. } => sequence.push(text.to_owned()),
        Token::Whole { .. } | Token::Pair(_) => {}
    });
    sequence
}
