//! Uses the embedding model to judge how close words and texts are to a question.

use local_agent_embed::embedding::Embedder;
use local_agent_index::profile::Profile;
use local_agent_text::error::Result;

use super::extractive::{Comparison, Meaning};

/// A word cut into single characters is not understood at all; one cut into pieces of this many
/// characters is understood well.
const READ_WELL: f32 = 3.0;

/// A loaded model.
pub(super) struct ModelMeaning<'a> {
    model: &'a Embedder,
}

impl<'a> ModelMeaning<'a> {
    /// `None` for a model whose cosines the extractive answerer's weights were not fitted on:
    /// unrelated words would look alike. Then only the words decide.
    pub(super) fn of(model: &'a Embedder) -> Option<Self> {
        Profile::is_reference(&model.fingerprint()).then_some(Self { model })
    }
}

impl Meaning for ModelMeaning<'_> {
    fn compare(&self, question: &str, words: &[&str], texts: &[&str]) -> Result<Comparison> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let asked = self.model.embed_query(question)?.vector;
        let Embedder::Candle(encoder) = self.model else {
            let embedded = self.model.embed_passages(texts, threads, 1024, &|_| ())?;
            let cosines = embedded.iter().map(|e| dot(&e.vector, &asked)).collect();
            return Ok(Comparison {
                cosines,
                ..Comparison::default()
            });
        };
        let states = encoder.token_states(texts, threads)?;
        let words = encoder.word_states(words)?;
        let of_text = |state: &local_agent_embed::embedding::TokenStates| -> Vec<f32> {
            words.iter().map(|w| state.best_cosine(&w.vector)).collect()
        };
        Ok(Comparison {
            cosines: states.iter().map(|s| dot(&s.vector, &asked)).collect(),
            words: states.iter().map(of_text).collect(),
            legible: words.iter().map(|w| legible(&w.word, w.tokens)).collect(),
        })
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// How well a word cut into `tokens` pieces is understood, 0 to 1. A vocabulary contains the
/// characters of many scripts but the words of few.
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
