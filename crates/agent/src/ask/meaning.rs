//! Uses the embedding model to measure the similarity of words and texts to a question.

use local_agent_embed::embedding::{Embedder, Encoder, TokenStates};
use local_agent_index::profile::{Alignment, Profile};
use local_agent_text::error::Result;
use local_agent_text::language::script::{self, Script};

use super::extractive::{Comparison, Meaning};

/// Average characters per token of a word that the model reads well. A word that is cut into single
/// characters is not understood at all.
const READ_WELL: f32 = 3.0;

/// A model of this process, and the scale of its cosines.
pub(super) struct EmbeddingComparer<'a> {
    model: &'a Embedder,
    encoder: &'a Encoder,
    alignment: Alignment,
}

impl<'a> EmbeddingComparer<'a> {
    /// `None` for a model on a server, which gives no vectors of words, and for a model whose
    /// cosines of single words were not measured, because it may give unrelated words a high
    /// cosine. Then only the words themselves count.
    pub(super) fn of(model: &'a Embedder) -> Option<Self> {
        let Embedder::Candle(encoder) = model else {
            return None;
        };
        let alignment = Profile::alignment(&model.fingerprint())?;
        Some(Self {
            model,
            encoder,
            alignment,
        })
    }

    fn legible(&self, word: &str, tokens: usize) -> f32 {
        if self.model.reads_latin_only() {
            legible(word, tokens)
        } else {
            1.0
        }
    }
}

impl Meaning for EmbeddingComparer<'_> {
    fn compare(&self, question: &str, words: &[&str], texts: &[&str]) -> Result<Comparison> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let asked = self.model.embed_query(question)?.vector;
        let is_latin = script::of_text(question) == Some(Script::Latin);
        let of_text = |vector: &[f32]| self.alignment.text(dot(vector, &asked), is_latin);
        let states = self.encoder.token_states(texts, threads)?;
        let words = self.encoder.word_states(words)?;
        let of_words = |state: &TokenStates| -> Vec<f32> {
            let best = words.iter().map(|w| state.best_cosine(&w.vector));
            best.map(|c| self.alignment.word(c, is_latin)).collect()
        };
        Ok(Comparison {
            cosines: states.iter().map(|s| of_text(&s.vector)).collect(),
            words: states.iter().map(of_words).collect(),
            legible: words
                .iter()
                .map(|w| self.legible(&w.word, w.tokens))
                .collect(),
        })
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// How well the model understands a word of `tokens` tokens, 0 to 1. A vocabulary contains the
/// characters of many scripts, but the words of few.
fn legible(word: &str, tokens: usize) -> f32 {
    let characters = word.chars().count();
    if tokens == 0 {
        return 0.0;
    }
    if tokens == 1 && word.is_ascii() {
        return 1.0;
    }
    let each = characters as f32 / tokens as f32;
    ((each - 1.0) / (READ_WELL - 1.0)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_single_letters_is_not_read() {
        assert_eq!(legible("температура", 11), 0.0);
        assert_eq!(legible("temperature", 1), 1.0);
        assert_eq!(legible("I", 1), 1.0);
        let german = legible("Kündigungsfrist", 6);
        assert!(german > 0.5 && german < 1.0);
    }
}
