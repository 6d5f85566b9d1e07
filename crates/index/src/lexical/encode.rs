//! Encodes the terms of a text for the index: one text per field, one term per line.
//!
//! Running text consists mostly of the same few thousand words, and the writers see millions of
//! them. So the encoding of each run of characters is cached.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use local_agent_text::language::Language;
use local_agent_text::language::stem::LocalStems;
use local_agent_text::language::tokenize::{Analyzer, Token, next_run};

/// Maximum length of a cached run in bytes. Longer runs rarely occur twice and are analysed each
/// time.
const MAX_REMEMBERED_BYTES: usize = 32;

/// The cache is cleared when it has more runs than this, which bounds memory for any input.
const MAX_REMEMBERED: usize = 50_000;

/// Encodes texts and caches what it has seen, so one encoder should be used for many texts.
#[derive(Default)]
pub(super) struct Encoder {
    analyzer: Analyzer,
    local_stems: LocalStems,
    /// The encodings of runs, with and without [`Encoded::terse`].
    remembered: [HashMap<Box<str>, EncodedRun, RandomState>; 2],
}

impl Encoder {
    /// The stems of the words of `text` in a language, encoded.
    pub(super) fn locals(&mut self, language: Language, text: &str, out: &mut String) {
        let Self {
            analyzer,
            local_stems,
            ..
        } = self;
        analyzer.analyze(text, &mut |token| {
            if let Token::Word {
                exact, stop: false, ..
            } = token
            {
                line(out, local_stems.term(language, exact));
            }
        });
    }

    fn remember(&mut self, terse: usize, run: &str, lines: EncodedRun) {
        let remembered = &mut self.remembered[terse];
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(run.into(), lines);
    }
}

/// The contribution of one run to [`Encoded`].
struct EncodedRun {
    exact: Box<str>,
    stems: Box<str>,
    length: u64,
}

/// The two encoded forms of the texts of one entry, ready for the index, and their length.
#[derive(Default)]
pub(super) struct Encoded {
    /// See [`super::schema::Encoding`].
    pub(super) exact: String,
    pub(super) stems: String,
    /// Number of words that are not stop words, counting each part of a compound once; number of
    /// characters in unspaced scripts.
    pub(super) length: u64,
    /// Whether to leave out stems that are also in `exact`, where a search for a stem looks too.
    /// Half of all words are their own stem, and the cost of indexing depends on the number of
    /// terms.
    pub(super) terse: bool,
}

impl Encoded {
    /// Adds the terms of `text`.
    pub(super) fn add(&mut self, encoder: &mut Encoder, text: &str) {
        let terse = usize::from(self.terse);
        let mut rest = text;
        while let Some((run, after)) = next_run(rest) {
            rest = after;
            if let Some(lines) = encoder.remembered[terse].get(run) {
                self.exact.push_str(&lines.exact);
                self.stems.push_str(&lines.stems);
                self.length += lines.length;
                continue;
            }
            let (exact, stems, length) = (self.exact.len(), self.stems.len(), self.length);
            encoder.analyzer.run(run, &mut |token| self.push(&token));
            if run.len() <= MAX_REMEMBERED_BYTES {
                let lines = EncodedRun {
                    exact: self.exact[exact..].into(),
                    stems: self.stems[stems..].into(),
                    length: self.length - length,
                };
                encoder.remember(terse, run, lines);
            }
        }
    }

    /// Resets for another entry, keeping `terse`.
    pub(super) fn clear(&mut self) {
        self.exact.clear();
        self.stems.clear();
        self.length = 0;
    }

    /// Skips some positions, so that no phrase can match across this place.
    pub(super) fn gap(&mut self) {
        self.exact.push('\n');
    }

    fn push(&mut self, token: &Token<'_>) {
        match *token {
            Token::Whole {
                exact,
                stem,
                joined,
            } => {
                if joined {
                    self.exact.push('\t');
                    line(&mut self.exact, exact);
                }
                self.stem(stem, joined && stem == exact);
            }
            Token::Word {
                exact, stem, stop, ..
            } => {
                line(&mut self.exact, exact);
                if !stop {
                    self.stem(stem, stem == exact);
                    self.length += 1;
                }
            }
            Token::Char { text, .. } => {
                line(&mut self.exact, text);
                self.length += 1;
            }
            Token::Pair(text) => line(&mut self.stems, text),
        }
    }

    fn stem(&mut self, stem: &str, in_exact: bool) {
        if !(self.terse && in_exact) {
            line(&mut self.stems, stem);
        }
    }
}

fn line(out: &mut String, term: &str) {
    out.push_str(term);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_remembered_is_what_would_be_computed(texts in prop::collection::vec("[aB9é水_./:'@&\\\\+# -]{0,24}", 0..6)) {
            for terse in [false, true] {
                let mut encoder = Encoder::default();
                for text in texts.iter().chain(&texts) {
                    let (mut warm, mut cold) = (Encoded { terse, ..Encoded::default() }, Encoded { terse, ..Encoded::default() });
                    warm.add(&mut encoder, text);
                    cold.add(&mut Encoder::default(), text);
                    prop_assert_eq!((&warm.exact, &warm.stems, warm.length), (&cold.exact, &cold.stems, cold.length));
                }
            }
        }
    }
}
