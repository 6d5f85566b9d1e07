//! What the evidence says itself: a refusal with the same words is about the world.

use std::collections::HashMap;

use super::reading::Reading;
use super::source_text::SourceTexts;

/// Looks up whether the evidence says something of a subject; each pair of words is looked up once.
pub(crate) struct EvidenceStatements<'t, 'a> {
    texts: &'t SourceTexts<'a>,
    known: HashMap<(String, String), bool>,
}

impl<'t, 'a> EvidenceStatements<'t, 'a> {
    /// Nothing is looked up yet.
    pub(crate) fn new(texts: &'t SourceTexts<'a>) -> Self {
        Self {
            texts,
            known: HashMap::new(),
        }
    }

    /// Whether one sentence of the evidence has both words, or both behind each other if the second
    /// is a phrase. An empty subject or verb is said nowhere.
    pub(crate) fn says(&mut self, (subject, verb): (&str, &str)) -> bool {
        if subject.is_empty() || verb.is_empty() {
            return false;
        }
        let key = (subject.to_owned(), verb.to_owned());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        let found = match verb.trim().contains(' ') {
            true => self.has_phrase(&format!("{subject} {verb}")),
            false => self.has_in_a_sentence(subject, verb),
        };
        self.known.insert(key, found);
        found
    }

    fn has_phrase(&self, phrase: &str) -> bool {
        let mut texts = self.texts.iter();
        texts.any(|text| self.texts.reading(text).lower().contains(phrase))
    }

    fn has_in_a_sentence(&self, subject: &str, verb: &str) -> bool {
        let words = Reading::claim(
            &format!("{subject} {verb}"),
            &mut self.texts.lexicon().borrow_mut(),
        );
        let [first, second] = words.text.tokens.as_slice() else {
            return false;
        };
        let mut texts = self.texts.iter();
        texts.any(|text| {
            let reading = self.texts.reading(text);
            let mut sentences = reading.sentences_with(first.id).iter();
            let others = reading.sentences_with(second.id);
            sentences.any(|n| others.binary_search(n).is_ok())
        })
    }
}
