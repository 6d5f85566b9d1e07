//! Text → token ids, and how many there are.
//!
//! Counting is what indexing does with every word of every file, so ASCII text of a BERT tokenizer is counted by a
//! dictionary look-up a word; whatever is not plain ASCII goes through the tokenizer itself. Both give the same number.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use serde_json::Value;
use tokenizers::{
    DecoderWrapper, Encoding, ModelWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, TokenizerImpl,
};

use super::pieces::Pieces;
use super::weights::invalid;
use crate::error::{Failure, Result};
use crate::models::ModelFiles;

/// Counts tokens exactly as the encoder will see them, without loading any weights. Any number of threads may use it.
pub struct TokenCounter {
    tokenizer: Tokenizer,
    words: Option<Words>,
}

/// A tokenizer whose model has a known type. The library finds out the type of an unknown one by reading it into a tree
/// of values first. All but the model is the library's in any case.
type Of<M> = TokenizerImpl<M, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

enum Tokenizer {
    WordPiece(Box<Of<Pieces>>),
    Other(Box<Of<ModelWrapper>>),
}

impl Tokenizer {
    /// The file asks for a fixed length, which would cut texts and count padding; that is left out.
    fn read(json: &[u8]) -> tokenizers::Result<Self> {
        if let Ok(mut known) = serde_json::from_slice::<Of<Pieces>>(json) {
            known.with_truncation(None)?.with_padding(None);
            return Ok(Self::WordPiece(Box::new(known)));
        }
        let mut other: Of<ModelWrapper> = serde_json::from_slice(json)?;
        other.with_truncation(None)?.with_padding(None);
        Ok(Self::Other(Box::new(other)))
    }

    fn encode(&self, text: &str, special: bool) -> tokenizers::Result<Encoding> {
        match self {
            Self::WordPiece(known) => known.encode_fast(text, special),
            Self::Other(other) => other.encode_fast(text, special),
        }
    }
}

impl TokenCounter {
    /// Loads the tokenizer of a model.
    ///
    /// Errors: `MODEL_INVALID` when `tokenizer.json` cannot be used.
    pub fn load(files: &ModelFiles) -> Result<Self> {
        let tokenizer = Tokenizer::read(files.tokenizer())
            .map_err(|e| invalid(files.id(), &format!("its tokenizer.json cannot be used ({e})")))?;
        Ok(Self { tokenizer, words: None })
    }

    /// As [`Self::load`], made ready to count much text.
    pub fn for_counting(files: &ModelFiles) -> Result<Self> {
        let mut counter = Self::load(files)?;
        counter.words = Words::read(&counter.tokenizer, files.tokenizer());
        Ok(counter)
    }

    /// The tokens of `text`, special tokens not counted, nothing cut off.
    pub fn count(&self, text: &str) -> usize {
        let Some(words) = &self.words else { return self.exact(text) };
        let mut tokens = 0;
        for piece in text.split_ascii_whitespace() {
            tokens += words.count(piece).unwrap_or_else(|| self.exact(piece));
        }
        tokens
    }

    fn exact(&self, text: &str) -> usize {
        // A text that the tokenizer cannot take counts as its bytes: never fewer than its tokens.
        self.tokenizer.encode(text, false).map_or(text.len(), |encoding| encoding.len())
    }

    /// The ids of `text` without special tokens.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>> {
        match self.tokenizer.encode(text, false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(e) => Err(Failure::internal(format!("a text could not be cut into tokens: {e}"))),
        }
    }

    /// The two special tokens that stand around every input.
    pub(super) fn frame(&self, id: &str) -> Result<(u32, u32)> {
        match self.tokenizer.encode("", true).as_ref().map(|e| e.get_ids()) {
            Ok([first, last]) => Ok((*first, *last)),
            _ => Err(invalid(id, "its tokenizer does not put one special token before a text and one behind")),
        }
    }
}

/// The vocabulary of a lower-casing BERT tokenizer, for counting ASCII words: greedy, longest piece first (Schuster
/// and Nakajima 2012, as BERT uses it).
struct Words {
    /// Pieces that begin a word.
    starts: HashSet<Box<[u8]>, RandomState>,
    /// Pieces that go on with one, without their `##`.
    inner: HashSet<Box<[u8]>, RandomState>,
    /// A longer word is one unknown token.
    longest_word: usize,
    /// No piece has more bytes.
    longest_piece: usize,
    /// Texts that are tokens of their own wherever they stand, such as `[SEP]`.
    added: Vec<String>,
}

impl Words {
    /// `None`: the tokenizer is of another kind, so only it can count.
    fn read(tokenizer: &Tokenizer, json: &[u8]) -> Option<Self> {
        let Tokenizer::WordPiece(tokenizer) = tokenizer else { return None };
        let file: Value = serde_json::from_slice(json).ok()?;
        let is = |part: &str, kind: &str| file[part]["type"] == kind;
        let known = is("normalizer", "BertNormalizer") && is("pre_tokenizer", "BertPreTokenizer");
        let prefix = file["model"]["continuing_subword_prefix"].as_str()?;
        if !known || file["normalizer"]["lowercase"] != true || file["normalizer"]["clean_text"] != true {
            return None;
        }
        let mut words = Self {
            starts: HashSet::default(),
            inner: HashSet::default(),
            longest_word: usize::try_from(file["model"]["max_input_chars_per_word"].as_u64()?).ok()?,
            longest_piece: 0,
            added: tokenizer.get_added_tokens_decoder().into_values().map(|token| token.content).collect(),
        };
        for piece in tokenizer.get_vocab(false).into_keys().filter(|piece| piece.is_ascii()) {
            let (set, bytes) = match piece.strip_prefix(prefix) {
                Some(rest) if !rest.is_empty() => (&mut words.inner, rest),
                _ => (&mut words.starts, piece.as_str()),
            };
            words.longest_piece = words.longest_piece.max(bytes.len());
            set.insert(bytes.as_bytes().into());
        }
        Some(words)
    }

    /// The tokens of a piece of text without white space; `None` when it is not plain ASCII, or holds a token's name.
    fn count(&self, piece: &str) -> Option<usize> {
        let plain = piece.bytes().all(|b| b.is_ascii_graphic());
        if !plain || (piece.contains('[') && self.added.iter().any(|added| piece.contains(added.as_str()))) {
            return None;
        }
        let mut word = Vec::with_capacity(piece.len());
        let mut tokens = 0;
        for byte in piece.bytes() {
            if byte.is_ascii_punctuation() {
                tokens += self.word(&word) + 1;
                word.clear();
            } else {
                word.push(byte.to_ascii_lowercase());
            }
        }
        Some(tokens + self.word(&word))
    }

    fn word(&self, word: &[u8]) -> usize {
        if word.is_empty() {
            return 0;
        }
        if word.len() > self.longest_word {
            return 1;
        }
        let (mut at, mut tokens) = (0, 0);
        while at < word.len() {
            let set = if at == 0 { &self.starts } else { &self.inner };
            let longest = word.len().min(at + self.longest_piece);
            match (at + 1..=longest).rev().find(|end| set.contains(&word[at..*end])) {
                Some(end) => at = end,
                // No piece fits, so the whole word is one unknown token.
                None => return 1,
            }
            tokens += 1;
        }
        tokens
    }
}

#[cfg(all(test, feature = "embedded-model"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Ours and the library's.
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
    fn a_tokenizer_of_a_known_type_is_the_one_that_the_library_reads() {
        let (known, other) = both();
        for text in
            ["", "Straße [SEP] x[MASK]", "don't re-embed `snake_case` (v2.8.3)", "日本語の文 Привет e\u{301}\u{200b}z"]
        {
            for special in [false, true] {
                let ids = |tokenizer: &Tokenizer| tokenizer.encode(text, special).unwrap().get_ids().to_vec();
                assert_eq!(ids(&known), ids(&other), "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_text_counts_the_same_both_ways(text in "(\\PC|[a-zA-Z0-9 .,#_\\[\\]-]|\n){0,80}") {
            thread_local!(static COUNTER: TokenCounter = counter());
            COUNTER.with(|counter| assert_eq!(counter.count(&text), counter.exact(&text)));
        }
    }
}
