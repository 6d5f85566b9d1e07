//! Compares every kind of network with an independent implementation, on tiny made-up weights.
//! `tests/data/encoders/make.py` makes the weights and computes the expected vectors with
//! `transformers`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::*;

#[derive(serde::Deserialize)]
struct Expected {
    encoders: BTreeMap<String, Vec<ExpectedVector>>,
}

#[derive(serde::Deserialize)]
struct ExpectedVector {
    kind: String,
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn folder(name: &str) -> PathBuf {
    let all = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/encoders");
    PathBuf::from(all).join(name)
}

fn expected() -> Expected {
    let text = std::fs::read_to_string(folder("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn files(name: &str) -> ModelFiles {
    ModelFiles::from_folder(name, &folder(name)).unwrap()
}

fn ids(encoder: &Encoder, one: &ExpectedVector) -> Vec<u32> {
    let frame = if one.kind == "query" {
        &encoder.query
    } else {
        &encoder.passage
    };
    let framed = frame.tokens(&encoder.tokens, &one.text).unwrap();
    frame.windows(&framed).concat()
}

fn vector(encoder: &Encoder, one: &ExpectedVector) -> Vec<f32> {
    if one.kind == "query" {
        return encoder.embed_query(&one.text).unwrap().vector;
    }
    let passages = encoder.embed_passages(&[&one.text], 1, 256, &|_| ());
    passages.unwrap().remove(0).vector
}

#[test]
fn every_network_makes_the_tokens_and_the_vectors_of_an_independent_implementation() {
    let all = expected().encoders;
    assert!(all.len() >= 10, "{:?}", all.keys());
    for (name, texts) in all {
        let encoder = Encoder::load(&files(&name).with_precision(Precision::F32)).unwrap();
        for one in &texts {
            assert_eq!(ids(&encoder, one), one.ids, "{name}: {:?}", one.text);
            let own = vector(&encoder, one);
            let far = own.iter().zip(&one.vector).map(|(a, b)| (a - b).abs());
            let far = far.fold(0.0, f32::max);
            assert_eq!(own.len(), one.vector.len(), "{name}");
            assert!(far < 1e-4, "{name}: {:?} is {far} away", one.text);
        }
    }
}

#[test]
fn the_vector_of_a_text_does_not_depend_on_its_batch() {
    let texts = [
        "a",
        "the dough rests until four",
        "salt",
        "flour, water and salt",
    ];
    for name in expected().encoders.keys() {
        let encoder = Encoder::load(&files(name)).unwrap();
        let together = encoder.embed_passages(&texts, 2, 256, &|_| ()).unwrap();
        for (text, one) in texts.iter().zip(together) {
            let alone = encoder.embed_passages(&[text], 1, 256, &|_| ()).unwrap();
            assert_eq!(alone[0].vector, one.vector, "{name}: {text}");
        }
    }
}

#[test]
fn a_text_longer_than_the_window_is_cut_and_an_empty_one_has_a_vector() {
    let long = "the dough rests in the proof box until four ".repeat(30);
    for name in expected().encoders.keys() {
        let encoder = Encoder::load(&files(name)).unwrap();
        let found = encoder
            .embed_passages(&[&long, ""], 1, 256, &|_| ())
            .unwrap();
        assert_eq!(found[0].windows > 1, name != "table", "{name}");
        for one in found {
            let length = one.vector.iter().map(|x| x * x).sum::<f32>();
            assert!((length - 1.0).abs() < 1e-5, "{name}");
        }
    }
}

#[test]
fn candles_implementation_agrees_where_there_is_one() {
    for name in expected().encoders.keys() {
        let agreement = second_opinion(&files(name).with_precision(Precision::F32)).unwrap();
        let is_bert = matches!(name.as_str(), "bert" | "xlm_roberta");
        assert_eq!(agreement.least_cosine.is_some(), is_bert, "{name}");
        assert!(agreement.texts > 5);
    }
}

#[test]
fn token_states_are_those_of_the_text_alone() {
    for name in expected().encoders.keys() {
        let encoder = Encoder::load(&files(name)).unwrap();
        let states = encoder.token_states(&["the dough"], 1).unwrap().remove(0);
        let framed = encoder
            .passage
            .tokens(&encoder.tokens, "the dough")
            .unwrap();
        assert_eq!(states.tokens().count(), framed.own.len(), "{name}");
        let words = encoder.word_states(&["the", "dough"]).unwrap();
        assert_eq!(words.len(), 2, "{name}");
    }
}

#[test]
fn cut_vectors_are_the_beginning_of_whole_ones_and_have_a_fingerprint_of_their_own() {
    let whole = files("qwen3");
    let cut = whole.clone().with_dimensions(Some(8)).unwrap();
    assert_ne!(fingerprint(&whole), fingerprint(&cut));
    let text = "the dough rests";
    let full = Encoder::load(&whole)
        .unwrap()
        .embed_query(text)
        .unwrap()
        .vector;
    let own = Encoder::load(&cut)
        .unwrap()
        .embed_query(text)
        .unwrap()
        .vector;
    let length = full[..8].iter().map(|x| x * x).sum::<f32>().sqrt();
    let wanted: Vec<f32> = full[..8].iter().map(|x| x / length).collect();
    let far = own
        .iter()
        .zip(&wanted)
        .map(|(a, b)| (a - b).abs())
        .fold(0.0, f32::max);
    assert!(own.len() == 8 && far < 1e-6, "{own:?} {wanted:?}");
    let all = whole.clone().with_dimensions(Some(16)).unwrap();
    assert_eq!(fingerprint(&whole), fingerprint(&all));
    let refused = whole.with_dimensions(Some(17)).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ConfigError);
}

#[test]
fn other_prefixes_make_other_vectors_and_another_fingerprint() {
    let own = files("modernbert");
    let other = own.clone().with_prefixes(Some(""), None);
    assert_ne!(fingerprint(&own), fingerprint(&other));
    assert_eq!(other.prefixes().passage, "search_document: ");
    let vector = |files| {
        let encoder = Encoder::load(files).unwrap();
        encoder.embed_query("salt").unwrap().vector
    };
    assert_ne!(vector(&own), vector(&other));
}

#[test]
fn only_our_own_kernels_have_a_choice_of_precision() {
    let bert = files("xlm_roberta");
    let other = bert.clone().with_precision(Precision::F32);
    assert_ne!(fingerprint(&bert), fingerprint(&other));
    for name in ["mpnet", "table"] {
        let files = files(name);
        assert_eq!(files.precision(), Precision::F32);
        let other = files.clone().with_precision(Precision::Bf16);
        assert_eq!(fingerprint(&files), fingerprint(&other));
    }
}
