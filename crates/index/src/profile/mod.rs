//! The scale of a model's cosines.
//!
//! Every model spreads its cosines differently: for unrelated texts they are near 0.05 with one
//! model and near 0.8 with another. A profile records these values, so that one fusion and one
//! calibration fit every model. Profiles of built-in models are compiled in (`profiles.json`, keyed
//! by fingerprint). `embed` measures the profile of every other model on the index itself, and also
//! of a built-in model whose cosines depend on the language, and stores it next to the vectors.
//! Until then an estimate is made from the vectors alone.

mod alignment;
mod calibration;
mod languages;
mod stored;

use std::path::Path;
use std::sync::OnceLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::vectors::{Matrix, dot};
use local_agent_text::error::Result;
use local_agent_text::types::Fingerprint;

use alignment::Scales;

pub use alignment::Alignment;
pub use calibration::{Calibration, Features, JUDGED, Model};
pub use languages::{LanguageShare, LanguageSpace, NeutralQuestion};
pub use stored::Measured;

const DATA: &str = include_str!("profiles.json");

/// The origin of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Compiled in, measured on development sets.
    Shipped,
    /// Measured by `embed` on the headings and sections of this index.
    Measured,
    /// Estimated from the vectors of this index alone, because nothing was measured yet.
    Estimated,
}

/// The distribution of the cosines of questions and passages under one model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cosines {
    /// The mean cosine of an unrelated question and passage.
    pub mean: f32,
    /// The standard deviation of these cosines.
    pub spread: f32,
}

/// The properties of the cosines of one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// The origin of the values.
    pub origin: Origin,
    /// The cosines of unrelated texts.
    pub unrelated: Cosines,
    /// The probability that a heading is closer to its own section than to another text of the
    /// index; 0.5 means chance level. `None` if it was not measured.
    pub separation: Option<f32>,
    /// Whether the vocabulary is only for Latin script, so that the model cannot read other
    /// scripts.
    #[serde(default)]
    pub latin_only: bool,
    /// The share of the vector side in the default fusion.
    pub vector_weight: f32,
    /// Converts scaled cosines to chances. `None`: use that of the reference model.
    pub calibration: Option<Calibration>,
    /// How the vectors of this index differ by language; `None` if it is in one language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub languages: Option<LanguageSpace>,
}

/// A compiled-in profile and its fingerprints, one for each precision.
#[derive(Debug, Deserialize)]
struct Shipped {
    fingerprints: Vec<Fingerprint>,
    /// Whether the cosines of unrelated texts depend on their language, so that those of the index
    /// are measured and combined with the compiled-in ones.
    #[serde(default)]
    depends_on_index: bool,
    alignment: Scales,
    profile: Profile,
}

/// Number of chunks at which measured values have the same weight as compiled-in ones.
const EVEN_AT: f32 = 50.0;

/// The minimum separation at which the vector side counts. A model that cannot read the texts
/// orders them at random, with a separation of 0.5.
const LEAST_SEPARATION: f32 = 0.6;

/// Number of vectors used for an estimate, each compared with all others.
const ESTIMATED_FROM: usize = 64;

/// The smallest plausible spread. A smaller one comes from a few equal texts.
const LEAST_SPREAD: f32 = 0.005;

/// A scale that changes nothing.
const NO_COSINES: Cosines = Cosines {
    mean: 0.0,
    spread: 1.0,
};

fn shipped() -> &'static [Shipped] {
    static READ: OnceLock<Vec<Shipped>> = OnceLock::new();
    READ.get_or_init(|| serde_json::from_str(DATA).unwrap_or_default())
}

fn shipped_for(fingerprint: &Fingerprint) -> Option<&'static Shipped> {
    shipped()
        .iter()
        .find(|one| one.fingerprints.contains(fingerprint))
}

/// The profile to whose scale all others are converted: the first compiled-in one.
fn reference() -> Option<&'static Profile> {
    shipped().first().map(|one| &one.profile)
}

/// The cosines of unrelated texts on the scale to which all others are converted.
pub(crate) fn reference_cosines() -> Cosines {
    reference().map_or(NO_COSINES, |profile| profile.unrelated)
}

/// The calibration for every model without its own.
pub fn default_calibration() -> Calibration {
    reference()
        .and_then(|profile| profile.calibration.clone())
        .unwrap_or_default()
}

impl Cosines {
    /// Mean and standard deviation of `cosines`; `None` for fewer than two.
    pub fn of(cosines: &[f32]) -> Option<Self> {
        if cosines.len() < 2 {
            return None;
        }
        let count = cosines.len() as f64;
        let mean = cosines.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
        let squares: f64 = cosines.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum();
        Some(Self {
            mean: mean as f32,
            spread: (squares / count).sqrt() as f32,
        })
    }
}

impl Profile {
    /// The compiled-in profile of the model with this fingerprint.
    pub fn shipped(fingerprint: &Fingerprint) -> Option<Self> {
        shipped_for(fingerprint).map(|one| one.profile.clone())
    }

    /// How the cosines of single words and sentences under the model with this fingerprint are
    /// converted to those of the reference model; `None` if they were not measured.
    pub fn alignment(fingerprint: &Fingerprint) -> Option<Alignment> {
        Some(Alignment {
            from: shipped_for(fingerprint)?.alignment,
            to: shipped().first()?.alignment,
        })
    }

    /// Whether the compiled-in profile of this fingerprint is complete, so that nothing is measured
    /// on the index.
    pub fn is_fixed(fingerprint: &Fingerprint) -> bool {
        shipped_for(fingerprint).is_some_and(|one| !one.depends_on_index)
    }

    /// The profile of the vectors in `matrix`, which is in `dir`: shipped, measured, both combined,
    /// or otherwise estimated.
    pub fn of_matrix(dir: &Path, matrix: &Matrix) -> Result<Self> {
        let fingerprint = &matrix.stamp().fingerprint;
        let shipped = shipped_for(fingerprint);
        if let Some(one) = shipped.filter(|one| !one.depends_on_index) {
            return Ok(one.profile.clone());
        }
        let measured = Measured::read(dir, fingerprint)?;
        let measured = measured.and_then(|one| Some((one.chunks, one.profile?)));
        match (shipped, measured) {
            (Some(one), Some((chunks, measured))) => {
                return Ok(one.profile.with_measured(chunks, &measured));
            }
            (Some(one), None) => return Ok(one.profile.clone()),
            (None, Some((_, measured))) => return Ok(measured),
            (None, None) => {}
        }
        let sample = matrix.sample(ESTIMATED_FROM);
        let pairs = sample
            .iter()
            .enumerate()
            .flat_map(|(at, (_, a))| sample[at + 1..].iter().map(move |(_, b)| dot(a, b)));
        let unrelated = Cosines::of(&pairs.collect::<Vec<f32>>());
        let unrelated = unrelated.or_else(|| reference().map(|profile| profile.unrelated));
        let unrelated = unrelated.unwrap_or(NO_COSINES);
        Ok(Self::new(Origin::Estimated, unrelated, None))
    }

    /// Combines this profile with the values measured on an index with this number of chunks. The
    /// larger the index, the more they count.
    fn with_measured(&self, chunks: usize, measured: &Self) -> Self {
        let share = chunks as f32 / (chunks as f32 + EVEN_AT);
        let between = |shipped: f32, measured: f32| shipped + (measured - shipped) * share;
        let (own, found) = (self.unrelated, measured.unrelated);
        Self {
            origin: Origin::Measured,
            unrelated: Cosines {
                mean: between(own.mean, found.mean),
                spread: between(own.spread, found.spread),
            },
            separation: measured.separation,
            languages: measured.languages.clone(),
            ..self.clone()
        }
    }

    /// A profile from measured or estimated cosines; weights and calibration are those of the
    /// reference model.
    pub fn new(origin: Origin, unrelated: Cosines, separation: Option<f32>) -> Self {
        Self {
            origin,
            unrelated,
            separation,
            latin_only: false,
            languages: None,
            vector_weight: reference().map_or(0.5, |profile| profile.vector_weight),
            calibration: None,
        }
    }

    /// Converts a cosine to the scale of the reference model: cosines of unrelated texts get its
    /// mean and spread. At most 1.
    pub fn scaled(&self, cosine: f32) -> f32 {
        let Some(to) = reference().map(|profile| profile.unrelated) else {
            return cosine;
        };
        let from = self.unrelated;
        if from == to {
            return cosine;
        }
        let spread = from.spread.max(LEAST_SPREAD);
        (to.mean + (cosine - from.mean) * to.spread / spread).min(1.0)
    }

    /// Whether the model can distinguish the texts of the index, if that was measured.
    pub fn tells_apart(&self) -> bool {
        self.separation
            .is_none_or(|separation| separation >= LEAST_SEPARATION)
    }
}

/// The probability that a value of `near` is greater than one of `far` (the area under the ROC
/// curve); ties count half. `None` when either is empty.
pub fn separation(near: &[f32], far: &[f32]) -> Option<f32> {
    if near.is_empty() || far.is_empty() {
        return None;
    }
    let mut sorted = far.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let sum: f64 = near.iter().map(|value| places_below(&sorted, *value)).sum();
    Some((sum / (near.len() * far.len()) as f64) as f32)
}

/// How many values are smaller; equal ones count half.
fn places_below(sorted: &[f32], value: f32) -> f64 {
    let less = sorted.partition_point(|x| *x < value);
    let most = sorted.partition_point(|x| *x <= value);
    (less + most) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(mean: f32, spread: f32) -> Profile {
        Profile::new(Origin::Measured, Cosines { mean, spread }, None)
    }

    #[test]
    fn compiled_in_profiles_can_be_read_and_name_their_models() {
        let all: Vec<Shipped> = serde_json::from_str(DATA).unwrap();
        assert!(!all.is_empty());
        for one in all {
            assert_eq!(one.profile.origin, Origin::Shipped);
            assert!(!one.fingerprints.is_empty() && one.profile.unrelated.spread > 0.0);
            let calibration = one.profile.calibration.unwrap();
            assert!(
                calibration
                    .provenance
                    .contains("local-agent eval calibrate")
            );
        }
    }

    #[test]
    fn cosines_of_unrelated_texts_get_the_same_place_under_every_model() {
        let to = reference().unwrap().unrelated;
        let high = profile(0.78, 0.025);
        assert!((high.scaled(0.78) - to.mean).abs() < 1e-6);
        assert!((high.scaled(0.78 + 0.05) - (to.mean + 2.0 * to.spread)).abs() < 1e-5);
        assert_eq!(high.scaled(2.0), 1.0);
        let same = profile(to.mean, to.spread);
        assert_eq!(same.scaled(0.3), 0.3);
    }

    #[test]
    fn what_an_index_says_counts_with_its_size() {
        let shipped = profile(0.75, 0.02);
        let measured = profile(0.95, 0.01);
        let small = shipped.with_measured(2, &measured).unrelated.mean;
        let large = shipped.with_measured(5000, &measured).unrelated.mean;
        assert!(
            (0.75..0.76).contains(&small) && large > 0.94,
            "{small} {large}"
        );
    }

    #[test]
    fn separation_is_a_probability() {
        assert_eq!(separation(&[0.9, 0.8], &[0.1, 0.2]), Some(1.0));
        assert_eq!(separation(&[0.5], &[0.5]), Some(0.5));
        assert_eq!(separation(&[0.1, 0.9], &[0.5]), Some(0.5));
        assert_eq!(separation(&[], &[0.5]), None);
    }

    #[test]
    fn a_model_that_orders_at_random_has_no_say() {
        let with = |separation| Profile {
            separation,
            ..profile(0.5, 0.1)
        };
        assert!(with(None).tells_apart() && with(Some(0.9)).tells_apart());
        assert!(!with(Some(0.52)).tells_apart());
    }
}
