//! The terms of a text as the index takes them: one text a field, a term a line.
//!
//! Running text is mostly the same few thousand words, and the writers get millions; what a run was
//! encoded as is remembered.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use local_agent_text::language::Language;
use local_agent_text::language::stem::LocalStems;
use local_agent_text::language::tokenize::{Analyzer, Token, next_run};

/// Longer runs are analysed each time: they hardly ever come twice.
const MAX_REMEMBERED_BYTES: usize = 32;

/// Remembered runs are forgotten when there are more than this: memory stays bounded on any input.
const MAX_REMEMBERED: usize = 50_000;

/// Encodes texts; remembers what it has seen, so one encoder should be used for many texts.
#[derive(Default)]
pub(super) struct Encoder {
    analyzer: Analyzer,
    local_stems: LocalStems,
    /// What runs were encoded as, with and without [`Encoded::terse`].
    remembered: [HashMap<Box<str>, Lines, RandomState>; 2],
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

    fn remember(&mut self, terse: usize, run: &str, lines: Lines) {
        let remembered = &mut self.remembered[terse];
        if remembered.len() >= MAX_REMEMBERED {
            remembered.clear();
        }
        remembered.insert(run.into(), lines);
    }
}

/// What one run adds to [`Encoded`].
struct Lines {
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
    /// Words that are not stop words, parts of compounds counted once each; characters of unspaced
    /// scripts.
    pub(super) length: u64,
    /// Leave out stems that stand in `exact` as well; whoever looks for a stem looks there too.
    /// Half of all words are their own stem, and indexing costs by the term.
    pub(super) terse: bool,
}

impl Encoded {
    /// Adds what is made of `text`.
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
                let lines = Lines {
                    exact: self.exact[exact..].into(),
                    stems: self.stems[stems..].into(),
                    length: self.length - length,
                };
                encoder.remember(terse, run, lines);
            }
        }
    }

    /// Ready for another entry, as terse as before.
    pub(super) fn clear(&mut self) {
        self.exact.clear();
        self.stems.clear();
        self.length = 0;
    }

    /// Moves on by some positions, so that no phrase reaches over this place.
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
