//! Claims that people have judged against evidence: measures how well the verifier's support score
//! agrees with them.
//!
//! One threshold is used for all sets. For each set, the figures use a threshold that was chosen on
//! the other sets only, for the verifier and for the word-overlap baselines alike, so no set
//! influences its own result.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::baselines;
use super::invalid;
use local_agent_text::error::Result;
use local_agent_verify::{ClaimSupport, claim_support};

/// One judged claim.
#[derive(Debug, Clone, Deserialize)]
pub struct Claim {
    /// The id of the claim in the report.
    pub id: String,
    /// The judged sentence.
    pub claim: String,
    /// The text with which the claim is compared.
    pub evidence: String,
    /// 1 if people judged the claim as supported, otherwise 0.
    pub label: u8,
}

/// Parses `claims.jsonl`: one object per line with `id`, `claim`, `evidence` and `label`.
///
/// `EVAL_ERROR`: no claim, an invalid line, a label other than 0 and 1, or only one of the two
/// labels.
pub fn claims(text: &str, name: &str) -> Result<Vec<Claim>> {
    let mut out = Vec::new();
    for (n, line) in text
        .lines()
        .enumerate()
        .filter(|(_, l)| !l.trim().is_empty())
    {
        let claim: Claim = serde_json::from_str(line)
            .map_err(|e| invalid(format!("{name}, line {}: {e}", n + 1)))?;
        if claim.label > 1 {
            return Err(invalid(format!(
                "{name}, line {}: the label is {}, not 0 or 1",
                n + 1,
                claim.label
            )));
        }
        out.push(claim);
    }
    let supported = out.iter().filter(|c| c.label == 1).count();
    if supported == 0 || supported == out.len() {
        return Err(invalid(format!(
            "{name} holds {} claims, {supported} of them supported: both kinds are needed",
            out.len()
        )));
    }
    Ok(out)
}

/// The scores of one set, one list per method.
#[derive(Debug, Clone)]
pub struct Scored {
    /// The set's name.
    pub name: String,
    /// Whether each claim is supported.
    pub labels: Vec<bool>,
    /// The verifier's measurements.
    pub support: Vec<ClaimSupport>,
    /// Method → a score for each claim; `support` is the verifier's.
    pub methods: BTreeMap<&'static str, Vec<f64>>,
}

/// The verifier's own method.
pub const SUPPORT: &str = "support";

/// Scores a set with the verifier and with the baselines.
pub fn score(name: &str, claims: &[Claim]) -> Scored {
    let support: Vec<ClaimSupport> = claims
        .iter()
        .map(|c| claim_support(&c.claim, &c.evidence))
        .collect();
    let mut methods: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    methods.insert(SUPPORT, support.iter().map(|s| s.score).collect());
    for claim in claims {
        let words = claim.claim.split_whitespace().count();
        let [cover, window, guarded] = baselines::overlap(&claim.claim, &claim.evidence);
        // Length is a control: a short claim is not more likely to be true. It is printed so that
        // readers can check that.
        let length = -f64::from(u32::try_from(words).unwrap_or(u32::MAX));
        for (method, value) in [
            ("cover", cover),
            ("window", window),
            ("guarded", guarded),
            ("length", length),
        ] {
            methods.entry(method).or_default().push(value);
        }
    }
    Scored {
        name: name.to_owned(),
        labels: claims.iter().map(|c| c.label == 1).collect(),
        support,
        methods,
    }
}

/// Mean of the true-positive and the true-negative rate at a threshold.
pub fn balanced_accuracy(labels: &[bool], scores: &[f64], threshold: f64) -> f64 {
    (rate_of(labels, scores, threshold, true) + rate_of(labels, scores, threshold, false)) / 2.0
}

/// The share of claims with this label that the threshold judges correctly.
fn rate_of(labels: &[bool], scores: &[f64], threshold: f64, wanted: bool) -> f64 {
    let of: Vec<bool> = labels
        .iter()
        .zip(scores)
        .filter(|(l, _)| **l == wanted)
        .map(|(_, s)| *s >= threshold)
        .collect();
    ratio(
        of.iter().filter(|accepted| **accepted == wanted).count(),
        of.len(),
    )
}

/// Area under the ROC curve, ties counted half (Mann–Whitney).
pub fn auc(labels: &[bool], scores: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let at = |i: &usize| scores.get(*i).copied().unwrap_or(0.0);
    order.sort_by(|a, b| at(a).total_cmp(&at(b)));
    let (mut below, mut sum, mut positives) = (0usize, 0.0, 0usize);
    for tie in order.chunk_by(|a, b| at(a) == at(b)) {
        let up = tie
            .iter()
            .filter(|i| labels.get(**i) == Some(&true))
            .count();
        let down = tie.len() - up;
        sum += count(up) * (count(below) + count(down) / 2.0);
        below += down;
        positives += up;
    }
    sum / (count(positives) * count(below)).max(1.0)
}

/// The share of unsupported claims that are accepted at the threshold that accepts 80 % of the
/// supported ones.
pub fn false_accepts_at_80(labels: &[bool], scores: &[f64]) -> f64 {
    let mut good: Vec<f64> = labels
        .iter()
        .zip(scores)
        .filter(|(l, _)| **l)
        .map(|(_, s)| *s)
        .collect();
    good.sort_by(f64::total_cmp);
    let Some(threshold) = good.get(good.len() / 5).copied() else {
        return 0.0;
    };
    let bad: Vec<f64> = labels
        .iter()
        .zip(scores)
        .filter(|(l, _)| !**l)
        .map(|(_, s)| *s)
        .collect();
    ratio(bad.iter().filter(|s| **s >= threshold).count(), bad.len())
}

/// The threshold with the best mean balanced accuracy over `sets`, for one method.
pub fn best_threshold(sets: &[&Scored], method: &str) -> f64 {
    let lists: Vec<(&[bool], &[f64])> = sets
        .iter()
        .filter_map(|s| Some((s.labels.as_slice(), s.methods.get(method)?.as_slice())))
        .collect();
    let mut candidates: Vec<f64> = lists
        .iter()
        .flat_map(|(_, scores)| {
            let mut sorted = scores.to_vec();
            sorted.sort_by(f64::total_cmp);
            (0..=100usize)
                .filter_map(move |q| {
                    sorted
                        .get(q * sorted.len().saturating_sub(1) / 100)
                        .copied()
                })
                .collect::<Vec<_>>()
        })
        .collect();
    candidates.sort_by(f64::total_cmp);
    candidates.dedup();
    candidates
        .into_iter()
        .max_by(|a, b| summed_accuracy(&lists, *a).total_cmp(&summed_accuracy(&lists, *b)))
        .unwrap_or(0.0)
}

/// The sum of the balanced accuracies of all sets at this threshold.
fn summed_accuracy(lists: &[(&[bool], &[f64])], t: f64) -> f64 {
    lists
        .iter()
        .map(|(labels, scores)| balanced_accuracy(labels, scores, t))
        .sum::<f64>()
}

/// The results of one method on one set.
#[derive(Debug, Clone, Copy, PartialEq, schemars::JsonSchema, serde::Serialize)]
pub struct ClaimFigures {
    /// Area under the ROC curve.
    pub auc: f64,
    /// The balanced accuracy at the threshold chosen on the other sets; `None` for a single set.
    pub left_out: Option<f64>,
    /// That threshold.
    pub threshold: Option<f64>,
    /// The balanced accuracy at the program's default threshold; only for the verifier.
    pub shipped: Option<f64>,
    /// False accepts at the threshold that accepts 80 % of the supported claims.
    pub false_accepts_at_80: f64,
}

/// The figures of every method on every set, in the order of `sets`.
pub fn figures(sets: &[Scored]) -> Vec<BTreeMap<&'static str, ClaimFigures>> {
    sets.iter()
        .enumerate()
        .map(|(i, set)| {
            set.methods
                .iter()
                .map(|(method, scores)| (*method, figures_of(sets, i, set, method, scores)))
                .collect()
        })
        .collect()
}

/// The figures of one method on one set, with a threshold chosen on the other sets.
fn figures_of(
    sets: &[Scored],
    i: usize,
    set: &Scored,
    method: &'static str,
    scores: &[f64],
) -> ClaimFigures {
    let others: Vec<&Scored> = sets
        .iter()
        .enumerate()
        .filter(|(n, _)| *n != i)
        .map(|(_, s)| s)
        .collect();
    let threshold = (!others.is_empty()).then(|| best_threshold(&others, method));
    ClaimFigures {
        auc: auc(&set.labels, scores),
        left_out: threshold.map(|t| balanced_accuracy(&set.labels, scores, t)),
        threshold,
        shipped: (method == SUPPORT)
            .then(|| balanced_accuracy(&set.labels, scores, ClaimSupport::threshold())),
        false_accepts_at_80: false_accepts_at_80(&set.labels, scores),
    }
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

fn ratio(part: usize, of: usize) -> f64 {
    if of == 0 {
        0.0
    } else {
        count(part) / count(of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(labels: &[u8], scores: &[f64]) -> Scored {
        let labels = labels.iter().map(|l| *l == 1).collect();
        Scored {
            name: "s".into(),
            labels,
            support: vec![],
            methods: [(SUPPORT, scores.to_vec())].into(),
        }
    }

    #[test]
    fn known_figures_come_out() {
        let labels = [true, true, false, false];
        assert_eq!(auc(&labels, &[3.0, 2.0, 1.0, 0.0]), 1.0);
        assert_eq!(auc(&labels, &[1.0, 1.0, 1.0, 1.0]), 0.5);
        assert_eq!(auc(&labels, &[0.0, 3.0, 1.0, 2.0]), 0.5);
        assert_eq!(balanced_accuracy(&labels, &[3.0, 1.0, 2.0, 0.0], 1.5), 0.5);
        assert_eq!(
            false_accepts_at_80(
                &[true, true, true, true, true, false, false],
                &[1., 2., 3., 4., 5., 1.5, 2.5]
            ),
            0.5
        );
    }

    #[test]
    fn a_set_never_helps_to_judge_itself() {
        let a = scored(&[1, 1, 0, 0], &[9.0, 8.0, 2.0, 1.0]);
        let b = scored(&[1, 1, 0, 0], &[0.9, 0.8, 0.2, 0.1]);
        let figures = figures(&[a, b]);
        // The threshold of the other set is far too high or too low here, and the figures must show
        // that.
        assert_eq!(figures[0][SUPPORT].left_out, Some(0.5));
        assert_eq!(figures[1][SUPPORT].left_out, Some(0.5));
    }

    #[test]
    fn what_measures_nothing_is_refused() {
        for text in [
            "",
            "{}",
            "{\"id\":\"a\",\"claim\":\"c\",\"evidence\":\"e\",\"label\":1}",
            "{\"id\":\"a\",\"claim\":\"c\",\"evidence\":\"e\",\"label\":7}",
        ] {
            assert!(claims(text, "f").is_err(), "{text}");
        }
    }
}
