//! Converts the numbers of a hit into the chance that it is relevant.
//!
//! A logistic model of two features that mean the same for every question: the cosine, and the
//! share of the question's words, by rarity, that the chunk or document contains. Raw BM25 is not a
//! feature, because it grows with the question. The weights are data with their provenance, made by
//! `local-agent eval calibrate` from development questions, answerable and not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Number of hits that decide whether anything was found, because the answer may be in third place.
pub const JUDGED: usize = 3;

/// The features for estimating a chance, cosine and coverage; each 0 to 1.
pub type Features = [f64; 2];

/// The weights for one search mode.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// The constant term.
    pub intercept: f64,
    /// The weight of the cosine.
    pub cosine: f64,
    /// The weight of the share of the question's words that the hit contains.
    pub coverage: f64,
    /// If the best chance among the first [`JUDGED`] hits is below this, the search counts as
    /// without result.
    pub floor: f64,
}

impl Model {
    /// The chance that a hit with these features is relevant.
    pub fn chance(&self, [cosine, coverage]: Features) -> f64 {
        let sum = self.intercept + self.cosine * cosine + self.coverage * coverage;
        1.0 / (1.0 + (-sum).exp())
    }

    /// The best chance among the first [`JUDGED`] of these hits; 0 without hits.
    pub fn best(&self, hits: impl IntoIterator<Item = Features>) -> f64 {
        hits.into_iter()
            .take(JUDGED)
            .map(|features| self.chance(features))
            .fold(0.0, f64::max)
    }
}

/// The weights for every search mode, with their provenance.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// The command, the datasets and their sizes.
    pub provenance: String,
    /// For hits that both sides found.
    pub hybrid: Model,
    /// For hits that only the word search found.
    pub lexical: Model,
    /// For hits that only the vector search found.
    pub vector: Model,
}

impl Calibration {
    /// The weights for hits found by these sides.
    pub fn model(&self, words: bool, vectors: bool) -> &Model {
        match (words, vectors) {
            (true, true) => &self.hybrid,
            (true, false) => &self.lexical,
            (false, _) => &self.vector,
        }
    }
}
