//! Text → token ids, and the number of tokens.
//!
//! Indexing counts the tokens of every word of every file. So for a BERT tokenizer, ASCII text is
//! counted by a walk through a tree of its pieces, and each ideograph counts as one; all other text
//! goes through the tokenizer itself. Both give the same number.

use tokenizers::{
    DecoderWrapper, Encoding, ModelWrapper, NormalizerWrapper, PostProcessor as _,
    PostProcessorWrapper, PreTokenizerWrapper, TokenizerImpl, TruncationDirection,
};

use super::pieces::Pieces;
use super::unigram::{MAGIC, Unigram};
use super::weights::invalid;
use super::words::Words;
use crate::models::ModelFiles;
use local_agent_text::error::{Failure, Result};

/// Counts tokens exactly as the encoder will see them, without loading any weights. Any number of
/// threads may use it.
pub struct TokenCounter {
    tokenizer: Tokenizer,
    words: Option<Words>,
}

/// A tokenizer whose model has a known type. For an unknown type, the library first parses it into
/// a tree of values to find the type. All other parts come from the library in any case.
type Of<M> =
    TokenizerImpl<M, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// A text that every vocabulary contains.
const PROBE: &str = "a";

enum Tokenizer {
    WordPiece(Box<Of<Pieces>>),
    Unigram(Box<Unigram>),
    Other(Box<Of<ModelWrapper>>),
}

impl Tokenizer {
    /// Removes the fixed length in the file, which would cut texts and count padding.
    fn read(json: &[u8]) -> tokenizers::Result<Self> {
        if json.starts_with(MAGIC) {
            let packed = Unigram::read(json.to_vec().into()).ok_or("it is damaged")?;
            return Ok(Self::Unigram(Box::new(packed)));
        }
        if let Ok(mut known) = serde_json::from_slice::<Of<Pieces>>(json) {
            known.with_truncation(None)?.with_padding(None);
            return Ok(Self::WordPiece(Box::new(known)));
        }
        let mut other: Of<ModelWrapper> = serde_json::from_slice(json)?;
        other.with_truncation(None)?.with_padding(None);
        Ok(Self::Other(Box::new(other)))
    }

    /// Encodes a text without special tokens.
    fn encoding(&self, text: &str) -> tokenizers::Result<Encoding> {
        match self {
            Self::WordPiece(known) => known.encode_fast(text, false),
            Self::Other(other) => other.encode_fast(text, false),
            Self::Unigram(_) => Err("a packed vocabulary has no pairs".into()),
        }
    }

    /// Joins two texts with the special tokens of a pair.
    fn pair(&self, first: Encoding, second: Encoding) -> tokenizers::Result<Encoding> {
        match self {
            Self::WordPiece(known) => known.post_process(first, Some(second), true),
            Self::Other(other) => other.post_process(first, Some(second), true),
            Self::Unigram(_) => Err("a packed vocabulary has no pairs".into()),
        }
    }

    /// The number of special tokens around and between two texts.
    fn around_pair(&self) -> usize {
        let processor = match self {
            Self::WordPiece(known) => known.get_post_processor(),
            Self::Other(other) => other.get_post_processor(),
            Self::Unigram(_) => None,
        };
        processor.map_or(0, |processor| processor.added_tokens(true))
    }

    fn ids(&self, text: &str, special: bool) -> tokenizers::Result<Vec<u32>> {
        let encoding = match self {
            Self::WordPiece(known) => known.encode_fast(text, special)?,
            Self::Other(other) => other.encode_fast(text, special)?,
            Self::Unigram(packed) if special => {
                let (first, last) = packed.frame();
                let mut ids = packed.ids(text);
                ids.insert(0, first);
                ids.push(last);
                return Ok(ids);
            }
            Self::Unigram(packed) => return Ok(packed.ids(text)),
        };
        Ok(encoding.get_ids().to_vec())
    }
}

/// Cuts pairs of a question and a passage into tokens, with the special tokens that the tokenizer
/// puts around and between them.
pub(super) struct PairTokens {
    id: String,
    tokenizer: Tokenizer,
    /// Maximum number of tokens of a pair, special ones included.
    window: usize,
}

/// The pairs of one question.
pub(super) struct PairsOfQuestion<'a> {
    tokens: &'a PairTokens,
    question: Encoding,
    /// Number of tokens of a passage that fit in the window.
    room: usize,
}

/// A pair as the input of the network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PairIds {
    pub ids: Vec<u32>,
    /// The token types: 0 for the question and 1 for the passage, if the tokenizer distinguishes
    /// them. As long as `ids`.
    pub types: Vec<u32>,
}

impl PairTokens {
    /// Loads the tokenizer of a reranker.
    ///
    /// Errors: `MODEL_INVALID` when `tokenizer.json` cannot be used, or has no special tokens for
    /// pairs.
    pub(super) fn load(files: &ModelFiles) -> Result<Self> {
        let tokenizer = read(files)?;
        if tokenizer.around_pair() == 0 {
            let reason = "its tokenizer puts no special tokens around a pair of texts";
            return Err(invalid(files.id(), reason));
        }
        Ok(Self {
            id: files.id().to_owned(),
            tokenizer,
            window: files.window(),
        })
    }

    /// The pairs of `question`; `None` if it leaves no room for a passage.
    pub(super) fn pairs_of(&self, question: &str) -> Result<Option<PairsOfQuestion<'_>>> {
        let question = self.encoding(question)?;
        let taken = self.tokenizer.around_pair() + question.len();
        let room = self.window.saturating_sub(taken);
        Ok((room > 0).then_some(PairsOfQuestion {
            tokens: self,
            question,
            room,
        }))
    }

    fn encoding(&self, text: &str) -> Result<Encoding> {
        self.tokenizer.encoding(text).map_err(|e| self.failed(&e))
    }

    fn failed(&self, error: &tokenizers::Error) -> Failure {
        let reason = format!("its tokenizer cannot cut a pair of texts ({error})");
        invalid(&self.id, &reason)
    }
}

impl PairsOfQuestion<'_> {
    /// The pair of the question and `passage`, which is cut to the remaining room.
    pub(super) fn with(&self, passage: &str) -> Result<PairIds> {
        let mut passage = self.tokens.encoding(passage)?;
        passage.truncate(self.room, 0, TruncationDirection::Right);
        passage.take_overflowing();
        // The library takes the types of a second text from its encoding.
        passage.set_type_ids(vec![1; passage.len()]);
        let pair = self.tokens.tokenizer.pair(self.question.clone(), passage);
        let pair = pair.map_err(|e| self.tokens.failed(&e))?;
        Ok(PairIds {
            ids: pair.get_ids().to_vec(),
            types: pair.get_type_ids().to_vec(),
        })
    }
}

/// Reads the tokenizer of a model.
fn read(files: &ModelFiles) -> Result<Tokenizer> {
    Tokenizer::read(files.tokenizer()).map_err(|e| {
        invalid(
            files.id(),
            &format!("its tokenizer.json cannot be used ({e})"),
        )
    })
}

impl TokenCounter {
    /// Loads the tokenizer of a model.
    ///
    /// Errors: `MODEL_INVALID` when `tokenizer.json` cannot be used.
    pub fn load(files: &ModelFiles) -> Result<Self> {
        Ok(Self {
            tokenizer: read(files)?,
            words: None,
        })
    }

    /// Like [`Self::load`], prepared for counting a lot of text.
    pub fn for_counting(files: &ModelFiles) -> Result<Self> {
        let mut counter = Self::load(files)?;
        if let Tokenizer::WordPiece(tokenizer) = &counter.tokenizer {
            let vocabulary = tokenizer.get_vocab(false);
            let added = tokenizer
                .get_added_tokens_decoder()
                .into_values()
                .map(|token| token.content)
                .collect();
            counter.words = Words::read(
                files.tokenizer(),
                vocabulary.keys().map(String::as_str),
                added,
            );
        }
        Ok(counter)
    }

    /// The number of tokens in `text`, not counting special tokens; nothing is cut off.
    pub fn count(&self, text: &str) -> usize {
        let Some(words) = &self.words else {
            return self.exact(text);
        };
        let stretches = text.split_ascii_whitespace();
        stretches
            .map(|stretch| words.count(stretch).unwrap_or_else(|| self.exact(stretch)))
            .sum()
    }

    fn exact(&self, text: &str) -> usize {
        // A text that the tokenizer cannot process counts as its number of bytes, which is at least
        // its number of tokens.
        self.tokenizer
            .ids(text, false)
            .map_or(text.len(), |ids| ids.len())
    }

    /// Whether this is a WordPiece vocabulary that contains only Latin script.
    pub(super) fn is_latin(&self) -> bool {
        match &self.tokenizer {
            Tokenizer::WordPiece(known) => known.get_model().is_latin(),
            Tokenizer::Unigram(_) | Tokenizer::Other(_) => false,
        }
    }

    /// The ids of `text` without special tokens.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer
            .ids(text, false)
            .map_err(|e| Failure::internal(format!("a text could not be cut into tokens: {e}")))
    }

    /// The special tokens before and after every input.
    ///
    /// Errors: `MODEL_INVALID` when the tokenizer puts special tokens between those of a text.
    pub(super) fn frame(&self, id: &str) -> Result<(Vec<u32>, Vec<u32>)> {
        let bare = self.ids(PROBE)?;
        let framed = self.tokenizer.ids(PROBE, true);
        let framed = framed.map_err(|e| Failure::internal(format!("no special tokens: {e}")))?;
        let place = framed
            .windows(bare.len().max(1))
            .position(|window| window == bare);
        let Some(start) = place else {
            let reason = "its tokenizer does not put its special tokens before and after a text";
            return Err(invalid(id, reason));
        };
        let (before, rest) = framed.split_at(start);
        Ok((before.to_vec(), rest[bare.len()..].to_vec()))
    }

    /// The ids of `text` after a prefix, without special tokens, and the number of the prefix's
    /// tokens `own` before them.
    ///
    /// The pieces of most tokenizers do not join words, so prefix and text can be encoded
    /// separately. With the library's other tokenizers they are encoded together, because a piece
    /// may begin in the prefix and end in the text.
    pub(super) fn ids_behind(
        &self,
        prefix: &str,
        own: &[u32],
        text: &str,
    ) -> Result<(usize, Vec<u32>)> {
        if prefix.is_empty() || !matches!(self.tokenizer, Tokenizer::Other(_)) {
            return Ok((own.len(), self.ids(text)?));
        }
        let mut joined = self.ids(&format!("{prefix}{text}"))?;
        let same = own.iter().zip(&joined).take_while(|(a, b)| a == b).count();
        Ok((same, joined.split_off(same)))
    }

    /// The ids of a word after another one, without special tokens.
    pub(super) fn ids_of_next_word(&self, word: &str) -> Result<Vec<u32>> {
        match self.tokenizer {
            // The white space before a word is part of its first piece.
            Tokenizer::Other(_) => self.ids(&format!(" {word}")),
            Tokenizer::WordPiece(_) | Tokenizer::Unigram(_) => self.ids(word),
        }
    }
}

#[cfg(all(test, feature = "embedded-model"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Our tokenizer and the library's.
    fn both() -> (Tokenizer, Tokenizer) {
        let files = ModelFiles::embedded().unwrap();
        let known = Tokenizer::read(files.tokenizer()).unwrap();
        assert!(matches!(known, Tokenizer::WordPiece(_)));
        let mut other: Of<ModelWrapper> = serde_json::from_slice(files.tokenizer()).unwrap();
        other.with_truncation(None).unwrap().with_padding(None);
        (known, Tokenizer::Other(Box::new(other)))
    }

    fn counter() -> TokenCounter {
        TokenCounter::for_counting(&ModelFiles::embedded().unwrap()).unwrap()
    }

    #[test]
    fn counting_by_words_gives_what_the_tokenizer_gives() {
        let counter = counter();
        assert!(counter.words.is_some());
        let long = "x".repeat(101);
        for text in [
            "The proofbox holds sourdough at 27 °C and 78 % humidity.",
            "don't re-embed `snake_case` or camelCase; see [[Note|alias]] (v2.8.3)!",
            "ünïcödé straße 日本語の文 Привет",
            "[SEP] [MASK]x a[CLS]b [UNK]",
            "tab\tand\r\nlines\u{a0}nbsp\u{0}nul\u{7}bell",
            "supercalifragilisticexpialidocious antidisestablishmentarianism",
            &long,
            "",
        ] {
            assert_eq!(counter.count(text), counter.exact(text), "{text:?}");
        }
    }

    #[test]
    fn an_english_vocabulary_is_one_of_latin_script() {
        assert!(
            TokenCounter::load(&ModelFiles::embedded().unwrap())
                .unwrap()
                .is_latin()
        );
    }

    #[test]
    fn a_tokenizer_of_a_known_type_is_the_one_that_the_library_reads() {
        let (known, other) = both();
        for text in [
            "",
            "Straße [SEP] x[MASK]",
            "don't re-embed `snake_case` (v2.8.3)",
            "日本語の文 Привет e\u{301}\u{200b}z",
        ] {
            for special in [false, true] {
                let ids = |tokenizer: &Tokenizer| tokenizer.ids(text, special).unwrap();
                assert_eq!(ids(&known), ids(&other), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn ideographs_count_the_same_both_ways(text in "([\u{3400}-\u{4db5}\u{4e00}-\u{9fd5}、。，！？：；「」（）a-z0-9 .\u{302}\u{3099}か]){0,60}") {
            thread_local!(static COUNTER: TokenCounter = counter());
            COUNTER.with(|counter| assert_eq!(counter.count(&text), counter.exact(&text)));
        }

        #[test]
        fn any_text_counts_the_same_both_ways(text in "(\\PC|[a-zA-Z0-9 .,#_\\[\\]-]|\n){0,80}") {
            thread_local!(static COUNTER: TokenCounter = counter());
            COUNTER.with(|counter| assert_eq!(counter.count(&text), counter.exact(&text)));
        }
    }
}
