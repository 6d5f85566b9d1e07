//! A table of token vectors in place of a network: model2vec (Tulkens and van Dongen 2024).
//!
//! The vector of a text is the mean of the vectors of its tokens, each multiplied by the token's
//! weight. Unknown tokens are left out.

use super::weights::{Table, Tensors, invalid};
use crate::models::{ModelFiles, TableShape};
use local_agent_text::error::Result;

/// The table. Its rows stay in the file.
pub(super) struct TokenTable {
    id: String,
    rows: Table,
    width: usize,
    /// The weight of each token; empty if all weights are equal.
    weights: Vec<f32>,
    /// The row of each token; empty if the row is the id. Several tokens may share one row.
    places: Vec<usize>,
    /// The token for unknown text.
    unknown: Option<u32>,
}

/// The names of the table: of model2vec, and of sentence-transformers.
const NAMES: [&str; 2] = ["embeddings", "embedding.weight"];

impl TokenTable {
    /// Reads the weights and the positions of the rows.
    ///
    /// Errors: `MODEL_INVALID` if the file has no table of this width.
    pub(super) fn load(files: &ModelFiles, shape: TableShape) -> Result<Self> {
        let tensors = Tensors::open(files.id(), files.weights())?;
        let name = NAMES.into_iter().find(|name| tensors.shape(name).is_some());
        let name = name.unwrap_or(NAMES[0]);
        let rows = tensors.shape(name).and_then(|shape| shape.first().copied());
        Ok(Self {
            id: files.id().to_owned(),
            rows: tensors.table(name, rows.unwrap_or_default(), shape.width)?,
            width: shape.width,
            weights: numbers_of(&tensors, "weights")?
                .iter()
                .map(|x| *x as f32)
                .collect(),
            places: numbers_of(&tensors, "mapping")?
                .iter()
                .map(|x| *x as usize)
                .collect(),
            unknown: unknown_token(files.tokenizer()),
        })
    }

    /// Appends the weighted vectors of `sequence`: [tokens, width]. An unknown token has the vector
    /// 0, or its own vector if the sequence contains only unknown tokens.
    ///
    /// Errors: `MODEL_INVALID` for a token outside the table.
    pub(super) fn append_rows(&self, sequence: &[u32], out: &mut Vec<f32>) -> Result<()> {
        let is_known = sequence.iter().any(|id| Some(*id) != self.unknown);
        for id in sequence {
            let start = out.len();
            if is_known && Some(*id) == self.unknown {
                out.resize(start + self.width, 0.0);
                continue;
            }
            let token = *id as usize;
            let place = match self.places.as_slice() {
                [] => Some(token),
                places => places.get(token).copied(),
            };
            if !place.is_some_and(|place| self.rows.append_row(place, out)) {
                let reason =
                    format!("its tokenizer made token {id}, which its table does not have");
                return Err(invalid(&self.id, &reason));
            }
            let weight = self.weights.get(token).copied().unwrap_or(1.0);
            out[start..].iter_mut().for_each(|x| *x *= weight);
        }
        Ok(())
    }
}

/// The numbers of an optional table.
fn numbers_of(tensors: &Tensors, name: &str) -> Result<Vec<f64>> {
    tensors.numbers(name).unwrap_or_else(|| Ok(Vec::new()))
}

#[derive(serde::Deserialize)]
struct RawTokenizer {
    model: RawVocabulary,
    #[serde(default)]
    added_tokens: Vec<RawToken>,
}

#[derive(serde::Deserialize)]
struct RawVocabulary {
    unk_token: Option<String>,
    unk_id: Option<u32>,
    vocab: serde_json::Value,
}

#[derive(serde::Deserialize)]
struct RawToken {
    id: u32,
    content: String,
}

/// The id of the token for unknown text, if the tokenizer has one.
pub(super) fn unknown_token(tokenizer: &[u8]) -> Option<u32> {
    let RawTokenizer {
        model,
        added_tokens,
    } = serde_json::from_slice(tokenizer).ok()?;
    let Some(token) = model.unk_token else {
        return model.unk_id;
    };
    let id = model.vocab.get(&token).and_then(serde_json::Value::as_u64);
    let added = added_tokens.iter().find(|added| added.content == token);
    id.and_then(|id| u32::try_from(id).ok())
        .or_else(|| added.map(|added| added.id))
}
