//! Converts the numbers of a hit into the chance that it is relevant, using the calibration in the
//! model's profile.

use super::{Hit, Mode, Trace};
use crate::profile::{Calibration, Features, JUDGED, Model};

impl Trace {
    /// The features for estimating this hit's chance.
    pub fn features(&self) -> Features {
        let likeness = self.likeness.max(self.likeness_across.unwrap_or(0.0));
        [likeness, self.coverage].map(|value| f64::from(value.clamp(0.0, 1.0)))
    }
}

/// Below this legibility, the vectors say nothing about relevance, and only the words count.
const LEGIBLE: f32 = 0.5;

/// Whether the vectors count in the chances of these hits.
pub fn by_vectors(mode: Mode, hits: &[Hit]) -> bool {
    mode != Mode::Lexical
        && hits.iter().any(|hit| hit.trace.cosine.is_some())
        && hits
            .iter()
            .all(|hit| mode == Mode::Vector || hit.trace.legibility >= LEGIBLE)
}

/// The data for estimating the chances of one search.
pub(super) struct Judge<'a> {
    pub calibration: &'a Calibration,
    pub mode: Mode,
    /// Whether there is a lexical projection.
    pub has_words: bool,
    /// Whether the model can read languages other than those of the index.
    pub across_languages: bool,
}

impl Judge<'_> {
    /// Sets the chance of every hit and returns the floor. The order does not change: the first hit
    /// gets the best chance of the first [`JUDGED`], and every other hit at most the chance of the
    /// one before. A hybrid search without vectors, or with vectors that distinguish nothing, is
    /// judged by its words alone; one without a lexical projection, by its vectors alone. For a
    /// question in another language, the less its words are trusted, the more the vectors count.
    pub(super) fn rate(&self, hits: &mut [Hit]) -> f32 {
        let weighed = self.weighed(hits);
        let features = hits.iter().take(JUDGED).map(|hit| hit.trace.features());
        let best = features.map(|features| weighed.chance(features));
        let mut most = best.fold(0.0, f64::max) as f32;
        for (at, hit) in hits.iter_mut().enumerate() {
            hit.chance = if at == 0 {
                most
            } else {
                (weighed.chance(hit.trace.features()) as f32).min(most)
            };
            most = hit.chance;
        }
        weighed.floor() as f32
    }

    /// The models for these hits, and how much the words count. If the best hit is in another
    /// language than the question, its words do not count against it.
    fn weighed(&self, hits: &[Hit]) -> Weighed<'_> {
        let words = self.has_words && self.mode != Mode::Vector;
        let vectors = by_vectors(self.mode, hits);
        let across = self.across_languages && words && vectors;
        let trust = hits.first().map_or(1.0, |hit| hit.trace.word_trust);
        let usual = Weighed {
            usual: self.calibration.model(words, vectors),
            by_vectors: &self.calibration.vector,
            trust: if across { f64::from(trust) } else { 1.0 },
        };
        let Some(first) = hits
            .first()
            .filter(|hit| hit.trace.likeness_across.is_some())
        else {
            return usual;
        };
        let alone = Weighed {
            trust: 0.0,
            ..usual
        };
        let features = first.trace.features();
        if alone.above_floor(features) > usual.above_floor(features) {
            alone
        } else {
            usual
        }
    }
}

/// The models for the chances of one search.
#[derive(Clone, Copy)]
struct Weighed<'a> {
    usual: &'a Model,
    by_vectors: &'a Model,
    /// The weight of the usual model, 0 to 1.
    trust: f64,
}

impl Weighed<'_> {
    fn chance(&self, features: Features) -> f64 {
        let (usual, by_vectors) = (
            self.usual.chance(features),
            self.by_vectors.chance(features),
        );
        self.trust * usual + (1.0 - self.trust) * by_vectors
    }

    fn floor(&self) -> f64 {
        self.trust * self.usual.floor + (1.0 - self.trust) * self.by_vectors.floor
    }

    /// The chance as a multiple of the floor.
    fn above_floor(&self, features: Features) -> f64 {
        self.chance(features) / self.floor().max(f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::profile::default_calibration;

    #[test]
    fn the_compiled_in_weights_can_be_read_and_say_where_they_come_from() {
        let read = default_calibration();
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
                let model = *default_calibration().model(words, vectors);
                prop_assert!((0.0..=1.0).contains(&model.chance(a)));
                prop_assert!(model.chance(a) <= model.chance(b) + 1e-12);
            }
        }
    }
}
