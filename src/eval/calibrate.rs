//! Fitting the chance of relevance, and what its floor costs: answerable questions refused, unanswerable ones answered.

use serde::Serialize;

use super::invalid;
use crate::error::Result;
use crate::retrieval::{Features, Model};

/// One hit of a development question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    pub features: Features,
    pub relevant: bool,
}

/// What one way of searching found on one set.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    pub set: String,
    /// The best hits of every question.
    pub samples: Vec<Sample>,
    /// The first hit of questions that the set answers; `None`: nothing was found.
    pub answerable: Vec<Option<Features>>,
    /// The first hit when the relevant documents are taken out.
    pub removed: Vec<Option<Features>>,
    /// The first hit of questions of other sets.
    pub foreign: Vec<Option<Features>>,
}

/// What the floor does to one set. Shares, 0 to 1.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    pub set: String,
    /// Questions that the set answers and that are judged this way.
    pub questions: usize,
    /// Of the questions that the set answers.
    pub false_refusals: f64,
    /// Of the same questions without their relevant documents.
    pub false_answers_removed: f64,
    /// Of questions of other sets.
    pub false_answers_foreign: f64,
}

/// The share of answerable questions of the worst set that the floor may refuse.
const MAX_REFUSED: f64 = 0.05;

/// Ridge penalty: keeps weights finite when the samples can be parted without error.
const RIDGE: f64 = 1e-4;

const STEPS: usize = 50;

/// Fits weights by maximum likelihood (Newton's method; every set weighs the same, and so do relevant and other hits
/// within the proportions of the set) and puts the floor where no set loses more than one answerable question in
/// twenty. A weight that comes out negative is left out: more likeness never means less chance.
///
/// `EVAL_ERROR` when a class is empty.
pub fn fit(observed: &[Observed]) -> Result<Model> {
    let all = || observed.iter().flat_map(|one| one.samples.iter().map(move |s| (s, 1.0 / one.samples.len() as f64)));
    if !all().any(|(s, _)| s.relevant) || !all().any(|(s, _)| !s.relevant) {
        return Err(invalid("a calibration needs hits that are relevant and hits that are not"));
    }
    let mut used = [true; 4];
    let weights = loop {
        let weights = newton(&all().collect::<Vec<_>>(), used);
        let Some(worst) = (1..4).filter(|at| weights[*at] < 0.0).min_by(|a, b| weights[*a].total_cmp(&weights[*b]))
        else {
            break weights;
        };
        used[worst] = false;
    };
    let [intercept, contrast, chunk_share, document_share] = weights;
    let mut model = Model { intercept, contrast, chunk_share, document_share, floor: 0.0 };
    let floors = observed.iter().filter(|one| !one.answerable.is_empty()).map(|one| floor(&model, &one.answerable));
    model.floor = floors.fold(1.0, f64::min);
    Ok(model)
}

/// The largest floor that refuses at most [`MAX_REFUSED`] of these questions.
fn floor(model: &Model, answerable: &[Option<Features>]) -> f64 {
    let mut chances: Vec<f64> = answerable.iter().map(|f| f.map_or(0.0, |f| model.chance(f))).collect();
    chances.sort_by(f64::total_cmp);
    let allowed = (MAX_REFUSED * chances.len() as f64).floor() as usize;
    chances.get(allowed).copied().unwrap_or(0.0)
}

/// What `model` and its floor do to a set.
pub fn costs(model: &Model, one: &Observed) -> Costs {
    let shown = |features: &Option<Features>| features.is_some_and(|f| model.chance(f) >= model.floor);
    let share = |all: &[Option<Features>], count: &dyn Fn(&Option<Features>) -> bool| {
        all.iter().filter(|f| count(f)).count() as f64 / all.len().max(1) as f64
    };
    Costs {
        set: one.set.clone(),
        questions: one.answerable.len(),
        false_refusals: share(&one.answerable, &|f| !shown(f)),
        false_answers_removed: share(&one.removed, &shown),
        false_answers_foreign: share(&one.foreign, &shown),
    }
}

/// Intercept and three weights; those not `used` stay 0.
fn newton(samples: &[(&Sample, f64)], used: [bool; 4]) -> [f64; 4] {
    let mut w = [0.0; 4];
    for _ in 0..STEPS {
        let mut gradient = [0.0; 4];
        let mut hessian = [[0.0; 4]; 4];
        for (sample, weight) in samples {
            let x = [1.0, sample.features[0], sample.features[1], sample.features[2]];
            let sum: f64 = w.iter().zip(x).map(|(w, x)| w * x).sum();
            let p = 1.0 / (1.0 + (-sum).exp());
            let error = f64::from(u8::from(sample.relevant)) - p;
            for i in 0..4 {
                gradient[i] += weight * error * x[i];
                for j in 0..4 {
                    hessian[i][j] += weight * p * (1.0 - p) * x[i] * x[j];
                }
            }
        }
        for i in 0..4 {
            gradient[i] -= RIDGE * w[i];
            hessian[i][i] += RIDGE;
            if !used[i] {
                gradient[i] = 0.0;
                hessian[i] = [0.0; 4];
                hessian.iter_mut().for_each(|row| row[i] = 0.0);
                hessian[i][i] = 1.0;
            }
        }
        let step = solve(hessian, gradient);
        w.iter_mut().zip(step).for_each(|(w, step)| *w += step.clamp(-5.0, 5.0));
        if step.iter().all(|step| step.abs() < 1e-9) {
            break;
        }
    }
    w
}

/// Gaussian elimination of a positive definite system.
fn solve(mut a: [[f64; 4]; 4], mut b: [f64; 4]) -> [f64; 4] {
    for at in 0..4 {
        let pivot = a[at];
        for row in at + 1..4 {
            let factor = a[row][at] / pivot[at];
            a[row].iter_mut().zip(pivot).skip(at).for_each(|(x, pivot)| *x -= factor * pivot);
            b[row] -= factor * b[at];
        }
    }
    for at in (0..4).rev() {
        let known: f64 = (at + 1..4).map(|column| a[at][column] * b[column]).sum();
        b[at] = (b[at] - known) / a[at][at];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hits whose chance follows a known model, drawn without luck: of each feature value the right share is relevant.
    fn drawn(model: &Model) -> Observed {
        let mut one = Observed { set: "drawn".into(), ..Observed::default() };
        for step in 0..50 {
            let features = [f64::from(step) / 50.0, f64::from(step % 7) / 7.0, f64::from(step % 3) / 3.0];
            let relevant = (model.chance(features) * 200.0).round() as usize;
            one.samples.extend((0..200).map(|n| Sample { features, relevant: n < relevant }));
            one.answerable.push(Some(features));
        }
        one.removed = vec![None, Some([0.0; 3])];
        one.foreign = vec![Some([1.0; 3])];
        one
    }

    #[test]
    fn the_weights_that_made_the_samples_are_found_again() {
        let truth = Model { intercept: -3.0, contrast: 5.0, chunk_share: 2.0, document_share: 1.0, floor: 0.0 };
        let fitted = fit(&[drawn(&truth)]).unwrap();
        for (found, made) in [
            (fitted.intercept, truth.intercept),
            (fitted.contrast, truth.contrast),
            (fitted.chunk_share, truth.chunk_share),
            (fitted.document_share, truth.document_share),
        ] {
            assert!((found - made).abs() < 0.1, "{fitted:?}");
        }
        let costs = costs(&fitted, &drawn(&truth));
        assert!(costs.false_refusals <= MAX_REFUSED && costs.false_refusals > 0.0, "{costs:?}");
        assert_eq!((costs.false_answers_removed, costs.false_answers_foreign), (0.0, 1.0));
    }

    #[test]
    fn a_feature_that_speaks_against_relevance_is_left_out() {
        let truth = Model { intercept: 0.0, contrast: 3.0, chunk_share: -4.0, document_share: 0.0, floor: 0.0 };
        let fitted = fit(&[drawn(&truth)]).unwrap();
        assert_eq!(fitted.chunk_share, 0.0);
        assert!(fitted.contrast > 0.0);
    }

    #[test]
    fn one_class_alone_is_a_failure() {
        let one = Observed { samples: vec![Sample { features: [0.5; 3], relevant: true }], ..Observed::default() };
        assert_eq!(fit(&[one]).unwrap_err().code.as_str(), "EVAL_ERROR");
    }
}
