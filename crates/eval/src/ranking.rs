//! Scores of a ranked list of documents against graded judgments, as `trec_eval` defines them: nDCG
//! with the grade itself as gain and log2(rank + 1) as discount (Järvelin and Kekäläinen 2002),
//! recall, reciprocal rank.

use std::collections::BTreeMap;
use std::ops::{Add, Div};

use schemars::JsonSchema;
use serde::Serialize;

use super::set::Judgments;

/// Scores of one question, or their mean over a set. Each 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Scores {
    /// nDCG of the best ten documents.
    #[serde(rename = "nDCG@10")]
    pub ndcg_10: f64,
    /// The share of relevant documents among the best ten.
    #[serde(rename = "Recall@10")]
    pub recall_10: f64,
    /// The share of relevant documents among the best hundred.
    #[serde(rename = "Recall@100")]
    pub recall_100: f64,
    /// 1 divided by the rank of the first relevant document among the best ten; 0 without one.
    #[serde(rename = "MRR@10")]
    pub mrr_10: f64,
}

impl Add for Scores {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            ndcg_10: self.ndcg_10 + other.ndcg_10,
            recall_10: self.recall_10 + other.recall_10,
            recall_100: self.recall_100 + other.recall_100,
            mrr_10: self.mrr_10 + other.mrr_10,
        }
    }
}

impl Div<f64> for Scores {
    type Output = Self;

    fn div(self, by: f64) -> Self {
        Self {
            ndcg_10: self.ndcg_10 / by,
            recall_10: self.recall_10 / by,
            recall_100: self.recall_100 / by,
            mrr_10: self.mrr_10 / by,
        }
    }
}

/// Documents found for each question, best first, without duplicates.
pub type Run = BTreeMap<String, Vec<String>>;

/// The scores of every judged question, in the order of their ids. A question that is missing in
/// `run` scores 0.
pub fn per_question(judgments: &Judgments, run: &Run) -> Vec<Scores> {
    let nothing = Vec::new();
    judgments
        .iter()
        .map(|(id, documents)| one(run.get(id).unwrap_or(&nothing), documents))
        .collect()
}

/// The mean; 0 for an empty list.
pub fn mean(all: &[Scores]) -> Scores {
    all.iter().fold(Scores::default(), |sum, one| sum + *one) / all.len().max(1) as f64
}

fn one(ranked: &[String], documents: &BTreeMap<String, i64>) -> Scores {
    let relevant = documents.values().filter(|grade| **grade > 0).count();
    let first = ranked
        .iter()
        .take(10)
        .position(|path| grade_of(documents, path) > 0);
    let mut best: Vec<i64> = documents
        .values()
        .copied()
        .filter(|grade| *grade > 0)
        .collect();
    best.sort_unstable_by(|a, b| b.cmp(a));
    let ideal = gain(best.into_iter().take(10));
    Scores {
        ndcg_10: if ideal > 0.0 {
            gain(ranked.iter().take(10).map(|path| grade_of(documents, path))) / ideal
        } else {
            0.0
        },
        recall_10: recall_at(ranked, documents, relevant, 10),
        recall_100: recall_at(ranked, documents, relevant, 100),
        mrr_10: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
    }
}

/// The share of relevant documents among the first `k`.
fn recall_at(
    ranked: &[String],
    documents: &BTreeMap<String, i64>,
    relevant: usize,
    k: usize,
) -> f64 {
    let found = ranked
        .iter()
        .take(k)
        .filter(|path| grade_of(documents, path) > 0)
        .count();
    found as f64 / relevant.max(1) as f64
}

/// The grade of a document; 0 if it was not graded.
fn grade_of(documents: &BTreeMap<String, i64>, path: &str) -> i64 {
    documents.get(path).copied().unwrap_or(0).max(0)
}

/// Discounted cumulative gain.
fn gain(grades: impl Iterator<Item = i64>) -> f64 {
    grades
        .enumerate()
        .map(|(at, grade)| grade as f64 / ((at + 2) as f64).log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn judged(grades: &[(&str, i64)]) -> BTreeMap<String, i64> {
        grades
            .iter()
            .map(|(path, grade)| ((*path).to_owned(), *grade))
            .collect()
    }

    fn ranked(paths: &[&str]) -> Vec<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    #[test]
    fn scores_are_those_worked_out_by_hand() {
        let scores = one(
            &ranked(&["x", "a", "y", "b"]),
            &judged(&[("a", 1), ("b", 2), ("c", 0)]),
        );
        // DCG = 1/log2(3) + 2/log2(5); ideal = 2 + 1/log2(3).
        let expected = (1.0 / 3f64.log2() + 2.0 / 5f64.log2()) / (2.0 + 1.0 / 3f64.log2());
        assert!((scores.ndcg_10 - expected).abs() < 1e-12);
        assert_eq!(
            (scores.recall_10, scores.recall_100, scores.mrr_10),
            (1.0, 1.0, 0.5)
        );
    }

    #[test]
    fn what_stands_below_ten_counts_only_for_recall_at_100() {
        let mut paths: Vec<String> = (0..10).map(|n| format!("x{n}")).collect();
        paths.push("a".to_owned());
        let scores = one(&paths, &judged(&[("a", 1)]));
        assert_eq!(
            scores,
            Scores {
                recall_100: 1.0,
                ..Scores::default()
            }
        );
    }

    #[test]
    fn a_question_that_the_run_lacks_scores_zero_and_counts() {
        let judgments = Judgments::from([
            ("1".into(), judged(&[("a", 1)])),
            ("2".into(), judged(&[("a", 1)])),
        ]);
        let run = Run::from([("1".to_owned(), ranked(&["a"]))]);
        assert_eq!(mean(&per_question(&judgments, &run)).ndcg_10, 0.5);
    }

    proptest! {
        #[test]
        fn scores_are_shares_and_the_ideal_order_is_1(grades in prop::collection::vec(0i64..4, 1..30)) {
            prop_assume!(grades.iter().any(|grade| *grade > 0));
            let documents: BTreeMap<String, i64> =
                grades.iter().enumerate().map(|(at, grade)| (format!("d{at}"), *grade)).collect();
            let mut ideal: Vec<(i64, String)> = documents.iter().map(|(path, grade)| (*grade, path.clone())).collect();
            ideal.sort_by(|a, b| b.cmp(a));
            let ideal: Vec<String> = ideal.into_iter().map(|(_, path)| path).collect();
            let best = one(&ideal, &documents);
            prop_assert!((best.ndcg_10 - 1.0).abs() < 1e-12 && best.mrr_10 == 1.0);
            let worst: Vec<String> = ideal.into_iter().rev().collect();
            let scores = one(&worst, &documents);
            for value in [scores.ndcg_10, scores.recall_10, scores.recall_100, scores.mrr_10] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&value));
            }
            prop_assert!(scores.ndcg_10 <= best.ndcg_10 + 1e-12);
        }
    }
}
