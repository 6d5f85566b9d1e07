//! Fits the probability of relevance, and measures the cost of its threshold: the answerable
//! questions that are refused, and the unanswerable ones that are answered.

use schemars::JsonSchema;
use serde::Serialize;

use super::invalid;
use local_agent_index::profile::{Features, Model};
use local_agent_text::error::Result;

/// One hit of a development question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationSample {
    /// The features from the search.
    pub features: Features,
    /// Whether the judgments of the set call it relevant.
    pub relevant: bool,
}

/// The results of one search mode on one set.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// Its name.
    pub set: String,
    /// The best hits of every question.
    pub samples: Vec<CalibrationSample>,
    /// The first hits of questions that the set answers, as many as the decision uses.
    pub answerable: Vec<Vec<Features>>,
    /// The first hits after the relevant documents are removed.
    pub removed: Vec<Vec<Features>>,
    /// The first hits of questions of other sets.
    pub foreign: Vec<Vec<Features>>,
}

/// The effect of the threshold on one set. Shares, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Costs {
    /// Its name.
    pub set: String,
    /// Number of judged questions that the set answers.
    pub questions: usize,
    /// Share of these questions that are refused.
    pub false_refusals: f64,
    /// Share of the same questions that are answered without their relevant documents.
    pub false_answers_removed: f64,
    /// Share of the questions of other sets that are answered.
    pub false_answers_foreign: f64,
}

/// The maximum share of answerable questions that may be refused in the worst set.
const MAX_REFUSED: f64 = 0.05;

/// Ridge penalty: keeps weights finite when the samples can be separated without error.
const RIDGE: f64 = 1e-4;

const STEPS: usize = 50;

/// Fits weights by maximum likelihood (Newton's method). Every set has the same total weight, and
/// all hits within a set have the same weight. Sets the threshold so that no set loses more than
/// one answerable question in twenty. A negative weight is dropped, because more similarity never
/// means a lower probability.
///
/// `EVAL_ERROR` when a class is empty.
pub fn fit(observed: &[Observed]) -> Result<Model> {
    if !weighted_samples(observed).any(|(s, _)| s.relevant)
        || !weighted_samples(observed).any(|(s, _)| !s.relevant)
    {
        return Err(invalid(
            "a calibration needs hits that are relevant and hits that are not",
        ));
    }
    let mut used = [true; 3];
    let weights = loop {
        let weights = newton(&weighted_samples(observed).collect::<Vec<_>>(), used);
        let Some(worst) = (1..3)
            .filter(|at| weights[*at] < 0.0)
            .min_by(|a, b| weights[*a].total_cmp(&weights[*b]))
        else {
            break weights;
        };
        used[worst] = false;
    };
    let [intercept, cosine, coverage] = weights;
    let mut model = Model {
        intercept,
        cosine,
        coverage,
        floor: 0.0,
    };
    let floors = observed
        .iter()
        .filter(|one| !one.answerable.is_empty())
        .map(|one| floor(&model, &one.answerable));
    model.floor = floors.fold(1.0, f64::min);
    Ok(model)
}

/// Every sample with its weight; the weights of one observation add up to one, however many samples
/// it has.
fn weighted_samples(observed: &[Observed]) -> impl Iterator<Item = (&CalibrationSample, f64)> {
    observed.iter().flat_map(|one| {
        one.samples
            .iter()
            .map(move |s| (s, 1.0 / one.samples.len() as f64))
    })
}

/// The largest threshold that refuses at most [`MAX_REFUSED`] of these questions.
fn floor(model: &Model, answerable: &[Vec<Features>]) -> f64 {
    let mut chances: Vec<f64> = answerable
        .iter()
        .map(|hits| model.best(hits.iter().copied()))
        .collect();
    chances.sort_by(f64::total_cmp);
    let allowed = (MAX_REFUSED * chances.len() as f64).floor() as usize;
    chances.get(allowed).copied().unwrap_or(0.0)
}

/// The effect of `model` and its threshold on a set.
pub fn costs(model: &Model, one: &Observed) -> Costs {
    let shown =
        |hits: &Vec<Features>| !hits.is_empty() && model.best(hits.iter().copied()) >= model.floor;
    Costs {
        set: one.set.clone(),
        questions: one.answerable.len(),
        false_refusals: share_where(&one.answerable, &|f| !shown(f)),
        false_answers_removed: share_where(&one.removed, &shown),
        false_answers_foreign: share_where(&one.foreign, &shown),
    }
}

/// The share of questions whose hits satisfy `count`.
fn share_where(all: &[Vec<Features>], count: &dyn Fn(&Vec<Features>) -> bool) -> f64 {
    all.iter().filter(|f| count(f)).count() as f64 / all.len().max(1) as f64
}

/// The intercept and the two weights; those that are not `used` stay 0.
fn newton(samples: &[(&CalibrationSample, f64)], used: [bool; 3]) -> [f64; 3] {
    let mut w = [0.0; 3];
    for _ in 0..STEPS {
        let mut gradient = [0.0; 3];
        let mut hessian = [[0.0; 3]; 3];
        for (sample, weight) in samples {
            let x = [1.0, sample.features[0], sample.features[1]];
            let sum: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            let error = f64::from(u8::from(sample.relevant)) - p;
            for i in 0..3 {
                gradient[i] += weight * error * x[i];
                for j in 0..3 {
                    hessian[i][j] += weight * p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        for i in 0..3 {
            gradient[i] -= RIDGE * w[i];
            hessian[i][i] += RIDGE;
            if !used[i] {
                gradient[i] = 0.0;
                hessian[i] = [0.0; 3];
                for row in &mut hessian {
                    row[i] = 0.0;
                }
                hessian[i][i] = 1.0;
            }
        }
        let step = solve(hessian, gradient);
        w.iter_mut()
            .zip(step)
            .for_each(|(w, step)| *w += step.clamp(-5.0, 5.0));
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    w
}

/// Gaussian elimination of a positive definite system.
fn solve(mut a: [[f64; 3]; 3], mut b: [f64; 3]) -> [f64; 3] {
    for at in 0..3 {
        let pivot = a[at];
        for row in at + 1..3 {
            let factor = a[row][at] / pivot[at];
            a[row]
                .iter_mut()
                .zip(pivot)
                .skip(at)
                .for_each(|(x, pivot)| *x -= factor * pivot);
            b[row] -= factor * b[at];
        }
    }
    for at in (0..3).rev() {
        let known: f64 = (at + 1..3).map(|column| a[at][column] * b[column]).sum();
        b[at] = (b[at] - known) / a[at][at];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits whose probability follows a known model exactly, without randomness: for each feature
    /// value, the matching share of hits is relevant.
    fn drawn(model: &Model) -> Observed {
        let mut one = Observed {
            set: "drawn".into(),
            ..Observed::default()
        };
        for step in 0..50 {
            let features = [f64::from(step) / 50.0, f64::from(step % 7) / 7.0];
            let relevant = (model.chance(features) * 200.0).round() as usize;
            one.samples.extend((0..200).map(|n| CalibrationSample {
                features,
                relevant: n < relevant,
            }));
            one.answerable.push(vec![features]);
        }
        one.removed = vec![vec![], vec![[0.0; 2]]];
        one.foreign = vec![vec![[0.0; 2], [1.0; 2]]];
        one
    }

    #[test]
    fn the_weights_that_made_the_samples_are_found_again() {
        let truth = Model {
            intercept: -3.0,
            cosine: 5.0,
            coverage: 2.0,
            floor: 0.0,
        };
        let fitted = fit(&[drawn(&truth)]).unwrap();
        for (found, made) in [
            (fitted.intercept, truth.intercept),
            (fitted.cosine, truth.cosine),
            (fitted.coverage, truth.coverage),
        ] {
            assert!((found - made).abs() < 0.1, "{fitted:?}");
        }
        let costs = costs(&fitted, &drawn(&truth));
        assert!(
            costs.false_refusals <= MAX_REFUSED && costs.false_refusals > 0.0,
            "{costs:?}"
        );
        assert_eq!(
            (costs.false_answers_removed, costs.false_answers_foreign),
            (0.0, 1.0)
        );
    }

    #[test]
    fn a_feature_that_speaks_against_relevance_is_left_out() {
        let truth = Model {
            intercept: 0.0,
            cosine: 3.0,
            coverage: -4.0,
            floor: 0.0,
        };
        let fitted = fit(&[drawn(&truth)]).unwrap();
        assert_eq!(fitted.coverage, 0.0);
        assert!(fitted.cosine > 0.0);
    }

    #[test]
    fn one_class_alone_is_a_failure() {
        let one = Observed {
            samples: vec![CalibrationSample {
                features: [0.5; 2],
                relevant: true,
            }],
            ..Observed::default()
        };
        assert_eq!(fit(&[one]).unwrap_err().code.as_str(), "EVAL_ERROR");
    }
}
