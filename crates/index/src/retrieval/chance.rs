//! From the numbers of a hit to the chance that it is relevant.
//!
//! A logistic model of two features that mean the same for every question: the cosine, and which
//! share of the question's words chunk or document hold, by rarity. Raw BM25 is not among them,
//! because it grows with the question. The weights are data with their provenance, made by
//! `local-agent eval calibrate` from development questions, answerable and not.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{Hit, Mode, Request, Trace};

const DATA: &str = include_str!("calibration.json");

/// How many hits the question whether anything was found looks at: an answer in third place is an
/// answer.
pub const JUDGED: usize = 3;

/// What a chance is estimated from, cosine and coverage; each 0 to 1.
pub type Features = [f64; 2];

/// The weights of one way of searching.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub intercept: f64,
    pub cosine: f64,
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
    pub hybrid: Model,
    pub lexical: Model,
    pub vector: Model,
}

/// The calibration that is compiled in.
pub fn calibration() -> &'static Calibration {
    static READ: OnceLock<Calibration> = OnceLock::new();
    READ.get_or_init(|| serde_json::from_str(DATA).unwrap_or_default())
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

impl Trace {
    /// What this hit's chance is estimated from.
    pub fn features(&self) -> Features {
        [self.likeness, self.coverage].map(|value| f64::from(value.clamp(0.0, 1.0)))
    }
}

/// A vector side less sharp than this says nothing about relevance: the words alone are asked.
const SHARP: f32 = 0.5;

/// Whether the vectors have a say in the chances of these hits.
pub fn by_vectors(mode: Mode, hits: &[Hit]) -> bool {
    let sharp = |hit: &Hit| mode == Mode::Vector || hit.trace.sharpness >= SHARP;
    mode != Mode::Lexical
        && hits.iter().any(|hit| hit.trace.cosine.is_some())
        && hits.iter().all(sharp)
}

/// Gives every hit its chance and returns the floor. The order stands: the first hit has the best
/// chance of the first [`JUDGED`], and every other at most the chance of the one before. A hybrid
/// search without vectors, or with vectors that tell nothing apart, is judged by its words alone;
/// one without a lexical projection (`has_words` is false) by its vectors alone.
pub(super) fn rate(request: &Request<'_>, has_words: bool, hits: &mut [Hit]) -> f32 {
    let model = calibration().model(
        has_words && request.mode != Mode::Vector,
        by_vectors(request.mode, hits),
    );
    let mut most = model.best(hits.iter().map(|hit| hit.trace.features())) as f32;
    for (at, hit) in hits.iter_mut().enumerate() {
        hit.chance = if at == 0 {
            most
        } else {
            (model.chance(hit.trace.features()) as f32).min(most)
        };
        most = hit.chance;
    }
    model.floor as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_compiled_in_weights_can_be_read_and_say_where_they_come_from() {
        let read: Calibration = serde_json::from_str(DATA).unwrap();
        assert!(read.provenance.contains("local-agent eval calibrate"));
        for model in [read.hybrid, read.lexical, read.vector] {
            assert!(model.floor > 0.0 && model.floor < 0.5, "{model:?}");
        }
    }

    proptest! {
        #[test]
        fn more_likeness_or_more_words_never_make_a_smaller_chance(
            a in prop::array::uniform2(0.0f64..1.0), more in prop::array::uniform2(0.0f64..1.0),
        ) {
            let b = [a[0] + more[0], a[1] + more[1]];
            for (words, vectors) in [(true, true), (true, false), (false, true)] {
                let model = calibration().model(words, vectors);
                prop_assert!((0.0..=1.0).contains(&model.chance(a)));
                prop_assert!(model.chance(a) <= model.chance(b) + 1e-12);
            }
        }
    }
}
