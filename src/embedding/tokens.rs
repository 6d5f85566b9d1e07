//! Text → token ids, and how many there are.

use tokenizers::Tokenizer;

use super::weights::invalid;
use crate::error::{Failure, Result};
use crate::models::ModelFiles;

/// Counts tokens exactly as the encoder will see them, without loading any weights. Any number of threads may use it.
pub struct TokenCounter(Tokenizer);

impl TokenCounter {
    /// Loads the tokenizer of a model (about 20 ms of processor time for a vocabulary of 30,000).
    ///
    /// Errors: `MODEL_INVALID` when `tokenizer.json` cannot be used.
    pub fn load(files: &ModelFiles) -> Result<Self> {
        let mut tokenizer = Tokenizer::from_bytes(files.tokenizer())
            .map_err(|e| invalid(files.id(), &format!("its tokenizer.json cannot be used ({e})")))?;
        // The file asks for a fixed length of 128, which would cut texts and count padding.
        tokenizer
            .with_truncation(None)
            .map_err(|e| invalid(files.id(), &format!("its tokenizer.json cannot be used ({e})")))?;
        tokenizer.with_padding(None);
        Ok(Self(tokenizer))
    }

    /// The tokens of `text`, special tokens not counted, nothing cut off.
    pub fn count(&self, text: &str) -> usize {
        // A text that the tokenizer cannot take counts as its bytes: never fewer than its tokens.
        self.0.encode_fast(text, false).map_or(text.len(), |encoding| encoding.len())
    }

    /// The ids of `text` without special tokens.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>> {
        match self.0.encode_fast(text, false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(e) => Err(Failure::internal(format!("a text could not be cut into tokens: {e}"))),
        }
    }

    /// The two special tokens that stand around every input.
    pub(super) fn frame(&self, id: &str) -> Result<(u32, u32)> {
        match self.0.encode_fast("", true).as_ref().map(|e| e.get_ids()) {
            Ok([first, last]) => Ok((*first, *last)),
            _ => Err(invalid(id, "its tokenizer does not put one special token before a text and one behind")),
        }
    }
}
