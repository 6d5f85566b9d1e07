//! Compares both kinds of rerankers with `transformers`, on tiny made-up weights from
//! `tests/data/encoders/make.py`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::second_opinion_on_pairs;
use super::*;
use crate::models::{ModelFiles, Precision};
use local_agent_text::error::ErrorCode;

#[derive(serde::Deserialize)]
struct Expected {
    rerankers: BTreeMap<String, Vec<ExpectedScore>>,
}

#[derive(serde::Deserialize)]
struct ExpectedScore {
    question: String,
    passage: String,
    ids: Vec<u32>,
    types: Vec<u32>,
    score: f32,
}

fn folder(name: &str) -> PathBuf {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/encoders");
    PathBuf::from(all).join(name)
}

fn expected() -> BTreeMap<String, Vec<ExpectedScore>> {
    let text = std::fs::read_to_string(folder("expected.json")).unwrap();
    serde_json::from_str::<Expected>(&text).unwrap().rerankers
}

fn files(name: &str) -> RerankerFiles {
    RerankerFiles::from_folder(name, &folder(name)).unwrap()
}

fn loaded(name: &str) -> Reranker {
    Reranker::load(&files(name).with_precision(Precision::F32)).unwrap()
}

fn never() -> bool {
    false
}

fn scores(reranker: &Reranker, question: &str, passages: &[String], threads: usize) -> Vec<f32> {
    match reranker
        .scores(question, passages, threads, &never)
        .unwrap()
    {
        PairScores::Scored(scores) => scores,
        PairScores::QuestionTooLong => panic!("{question} is too long"),
    }
}

#[test]
fn both_kinds_make_the_tokens_and_the_scores_of_an_independent_implementation() {
    let all = expected();
    assert_eq!(all.len(), 2);
    for (name, pairs) in all {
        let reranker = loaded(&name);
        for one in &pairs {
            let pair = reranker.tokens.pairs_of(&one.question).unwrap().unwrap();
            let pair = pair.with(&one.passage).unwrap();
            assert_eq!(pair.ids, one.ids, "{name}: {:?}", one.passage);
            assert_eq!(pair.types, one.types, "{name}: {:?}", one.passage);
            let own = scores(
                &reranker,
                &one.question,
                std::slice::from_ref(&one.passage),
                1,
            )[0];
            let far = (own - one.score).abs();
            assert!(far < 1e-4, "{name}: {own} is not {}", one.score);
        }
    }
}

#[test]
fn the_score_of_a_pair_depends_neither_on_the_others_nor_on_the_number_of_workers() {
    for (name, pairs) in expected() {
        let passages: Vec<String> = pairs.iter().map(|one| one.passage.clone()).collect();
        for precision in [Precision::F32, Precision::Int8] {
            let reranker = Reranker::load(&files(&name).with_precision(precision)).unwrap();
            let together = scores(&reranker, "dough", &passages, 3);
            assert_eq!(together, scores(&reranker, "dough", &passages, 1), "{name}");
            let last = passages.last().cloned();
            let alone = scores(&reranker, "dough", last.as_slice(), 0);
            assert_eq!(together.last(), alone.first(), "{name}");
        }
    }
}

#[test]
fn when_the_time_is_over_the_first_passages_have_scores() {
    let reranker = loaded("bert_reranker");
    let passages: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
    let all = scores(&reranker, "dough", &passages, 1);
    let asked = AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, Ordering::Relaxed) >= 3;
    let some = reranker.scores("dough", &passages, 1, &is_over).unwrap();
    assert_eq!(some, PairScores::Scored(all[..3].to_vec()));
    let none = reranker.scores("dough", &passages, 2, &|| true).unwrap();
    assert_eq!(none, PairScores::Scored(Vec::new()));
}

#[test]
fn a_question_that_fills_the_window_is_not_cut() {
    let reranker = loaded("bert_reranker");
    let long = "dough ".repeat(93);
    let found = reranker.scores(&long, &["salt".to_owned()], 1, &never);
    assert_eq!(found.unwrap(), PairScores::QuestionTooLong);
    let fits = "dough ".repeat(92);
    let pair = reranker.tokens.pairs_of(&fits).unwrap().unwrap();
    assert_eq!(pair.with("salt and water").unwrap().ids.len(), 96);
}

#[test]
fn an_older_description_of_pairs_makes_the_same_tokens() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::copy(folder("bert_reranker").join(file), dir.path().join(file)).unwrap();
    }
    let place = dir.path().join("tokenizer.json");
    let text = std::fs::read_to_string(&place).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json["post_processor"] =
        serde_json::json!({"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]});
    std::fs::write(&place, json.to_string()).unwrap();
    let older = Reranker::load(&RerankerFiles::from_folder("m", dir.path()).unwrap()).unwrap();
    for one in &expected()["bert_reranker"] {
        let pair = older.tokens.pairs_of(&one.question).unwrap().unwrap();
        let pair = pair.with(&one.passage).unwrap();
        assert_eq!((pair.ids, pair.types), (one.ids.clone(), one.types.clone()));
    }
}

#[test]
fn a_second_implementation_agrees() {
    for name in expected().keys() {
        let found = second_opinion_on_pairs(&files(name).with_precision(Precision::F32)).unwrap();
        assert!(
            found.least_cosine.unwrap() > 0.9999 && found.texts > 5,
            "{name}"
        );
    }
}

#[test]
fn a_reranker_is_no_encoder_and_an_encoder_no_reranker() {
    let failure = ModelFiles::from_folder("m", &folder("bert_reranker")).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelInvalid);
    let hint = failure.hint.as_deref();
    assert_eq!(
        hint,
        Some("take it out of `embed` in the configuration, and set `retrieve.reranker: m` instead")
    );
    let failure = RerankerFiles::from_folder("m", &folder("bert")).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ModelInvalid);
    assert!(failure.message.contains("ForSequenceClassification"));
}
