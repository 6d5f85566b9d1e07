//! From the numbers of a hit to the chance that it is relevant.
//!
//! A logistic model of two features that mean the same for every question: the cosine, and which
//! share of the question's words chunk or document hold, by rarity. Raw BM25 is not among them,
//! because it grows with the question. The weights are data with their provenance, made by
//! `local-agent eval calibrate` from development questions, answerable and not.

use serde::{Deserialize, Serialize};

/// How many hits the question whether anything was found looks at: an answer in third place is an
/// answer.
pub const JUDGED: usize = 3;

/// What a chance is estimated from, cosine and coverage; each 0 to 1.
pub type Features = [f64; 2];

/// The weights of one way of searching.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Added whatever the features are.
    pub intercept: f64,
    /// For the cosine.
    pub cosine: f64,
    /// For the share of the question's words that the hit holds.
    pub coverage: f64,
    /// The chance below which the best of the first [`JUDGED`] hits counts as nothing found.
    pub floor: f64,
}

impl Model {
    /// The chance that a hit with these features is relevant.
    pub fn chance(&self, [cosine, coverage]: Features) -> f64 {
        let sum = self.intercept + self.cosine * cosine + self.coverage * coverage;
        1.0 / (1.0 + (-sum).exp())
    }

    /// The chance that the first of these hits stands for: the best of the first [`JUDGED`].
    /// Without a hit, 0.
    pub fn best(&self, hits: impl IntoIterator<Item = Features>) -> f64 {
        hits.into_iter()
            .take(JUDGED)
            .map(|features| self.chance(features))
            .fold(0.0, f64::max)
    }
}

/// The weights of every way of searching, and where they come from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The command, the sets and their sizes.
    pub provenance: String,
    /// For hits that both sides found.
    pub hybrid: Model,
    /// For hits found by words.
    pub lexical: Model,
    /// For hits found by meaning.
    pub vector: Model,
}

impl Calibration {
    /// The weights for hits that these sides found.
    pub fn model(&self, words: bool, vectors: bool) -> &Model {
        match (words, vectors) {
            (true, true) => &self.hybrid,
            (true, false) => &self.lexical,
            (false, _) => &self.vector,
        }
    }
}
