//! Models and rerankers whose files are missing, damaged, or of another kind. They are the tiny
//! ones of `tests/data/encoders`, in the folder into which `models pull` downloads.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{give_model, indexed, model_folder};
use crate::harness::World;

/// A command that would download a model, from an address on which no server listens.
const PULL: &[&str] = &[
    "models",
    "pull",
    "a/reranker",
    "--revision",
    "0123456789abcdef0123456789abcdef01234567",
    "--endpoint",
    "http://127.0.0.1:9",
];
const EMBED: &[&str] = &["embed", "--model", "bert"];
const VERIFY: &[&str] = &["models", "verify", "bert"];
const QUERY: &[&str] = &["query", "oven"];

pub(super) fn cases() -> Vec<Case> {
    [missing(), damaged(), rerankers()].concat()
}

/// The indexed vault, and a tiny model without this file.
fn without(from: &str, part: &str) -> World {
    let world = indexed();
    give_model(&world, from, from);
    fs::remove_file(model_folder(&world, from).join(part)).unwrap();
    world
}

/// The fix is to download the model. The program has no address for a model of somebody's own, so
/// that command says how to name it.
fn pulled(
    state: &'static str,
    make: fn() -> World,
    command: &'static [&'static str],
    pull: &'static [&'static str],
) -> Case {
    case(state, make, command, "MODEL_INVALID")
        .ends(Follow::Printed, Then::Says(pull, "INVALID_ARGS"))
}

fn missing() -> Vec<Case> {
    const PULL_BERT: &[&str] = &["models", "pull", "bert"];
    vec![
        pulled(
            "a model without weights",
            || without("bert", "model.safetensors"),
            EMBED,
            PULL_BERT,
        ),
        pulled(
            "a model without weights",
            || without("bert", "model.safetensors"),
            VERIFY,
            PULL_BERT,
        ),
        pulled(
            "a model without a description",
            || without("bert", "config.json"),
            EMBED,
            PULL_BERT,
        ),
        pulled(
            "a model without a tokenizer",
            || without("bert", "tokenizer.json"),
            EMBED,
            PULL_BERT,
        ),
        pulled(
            "a model without the weights of a layer",
            || without("gemma3", "3_Dense/model.safetensors"),
            &["embed", "--model", "gemma3"],
            &["models", "pull", "gemma3"],
        ),
    ]
}

/// A model whose hashes are known.
fn recorded() -> World {
    let world = indexed();
    give_model(&world, "bert", "bert");
    world.ok(VERIFY);
    world
}

/// Changes the weights of the model.
fn weights(world: &World, change: fn(&mut Vec<u8>)) {
    let file = model_folder(world, "bert").join("model.safetensors");
    let mut bytes = fs::read(&file).unwrap();
    change(&mut bytes);
    fs::write(file, bytes).unwrap();
}

fn cut() -> World {
    let world = recorded();
    weights(&world, |bytes| bytes.truncate(200));
    world
}

fn changed() -> World {
    let world = recorded();
    weights(&world, |bytes| {
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
    });
    world
}

fn damaged() -> Vec<Case> {
    vec![
        case(
            "the weights of a model are cut off",
            cut,
            EMBED,
            "MODEL_INVALID",
        )
        .ends(
            Follow::Printed,
            Then::Says(VERIFY, "MODEL_CHECKSUM_MISMATCH"),
        ),
        case(
            "the weights of a model were changed",
            changed,
            VERIFY,
            "MODEL_CHECKSUM_MISMATCH",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["models", "pull", "bert"], "INVALID_ARGS"),
        ),
    ]
}

/// Configures a reranker by its name.
fn rank_by(world: &World, name: &str) {
    let text = format!("sources: [{{name: notes, root: .}}]\nretrieve: {{reranker: {name}}}\n");
    world.write("local-agent.yaml", &text);
}

fn ranked_by(name: &str) -> World {
    let world = indexed();
    rank_by(&world, name);
    world
}

/// A vault with the tiny reranker under the name `mine`, with a change of its description.
fn described(from: &str, to: &str) -> World {
    let world = ranked_by("mine");
    give_model(&world, "bert_reranker", "mine");
    let file = model_folder(&world, "mine").join("config.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(file, text.replacen(from, to, 1)).unwrap();
    world
}

/// The fix downloads a reranker. In a test, a tiny one takes its place.
fn replaced(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    case(state, make, QUERY, code).ends(
        Follow::ByHand("a tiny one takes its place, and is configured", |world| {
            give_model(world, "bert_reranker", "bge-reranker-base");
            rank_by(world, "bge-reranker-base");
        }),
        Then::Health,
    )
}

fn rerankers() -> Vec<Case> {
    vec![
        replaced(
            "a reranker that does not exist",
            || ranked_by("nosuch"),
            "MODEL_NOT_FOUND",
        ),
        case(
            "a reranker of a repository that was not downloaded",
            || ranked_by("a/reranker"),
            QUERY,
            "MODEL_NOT_FOUND",
        )
        .ends(Follow::Again(PULL), Then::Next("MODEL_PULL_ERROR")),
        replaced(
            "a reranker that the program knows and cannot compute",
            || ranked_by("mxbai-rerank-base-v2"),
            "MODEL_INVALID",
        ),
        replaced(
            "a reranker with a network of another kind",
            || described("\"bert\"", "\"qwen3\""),
            "MODEL_INVALID",
        ),
        replaced(
            "a model that is not a reranker",
            || described("ForSequenceClassification", "Model"),
            "MODEL_INVALID",
        ),
        replaced(
            "a reranker that makes two numbers",
            || described("\"0\": \"LABEL_0\"", "\"0\": \"no\", \"1\": \"yes\""),
            "MODEL_INVALID",
        ),
        pulled(
            "a reranker without a tokenizer",
            || {
                let world = without("bert_reranker", "tokenizer.json");
                rank_by(&world, "bert_reranker");
                world
            },
            QUERY,
            &["models", "pull", "bert_reranker"],
        ),
        case(
            "a reranker that has no time during a measurement",
            measured,
            MEASURE,
            "EVAL_ERROR",
        )
        .ends(
            Follow::Again(&[
                "eval",
                "retrieval",
                "set",
                "--modes",
                "default",
                "--set",
                "retrieve.reranker=bert_reranker",
                "--set",
                "retrieve.reranker_ms=600000",
            ]),
            Then::Health,
        ),
    ]
}

const MEASURE: &[&str] = &[
    "eval",
    "retrieval",
    "set",
    "--modes",
    "default",
    "--set",
    "retrieve.reranker=bert_reranker",
    "--set",
    "retrieve.reranker_ms=0",
];

/// A set of one question about two documents.
pub(super) fn question_set(world: &World) {
    world.write("set/docs/oven.md", "# Oven\n\nThe oven is hot.\n");
    world.write("set/docs/door.md", "# Door\n\nThe door of the oven.\n");
    world.write(
        "set/queries.jsonl",
        "{\"id\": \"q1\", \"text\": \"how hot is the oven\"}\n",
    );
    world.write("set/qrels.tsv", "q1\toven.md\t1\n");
}

/// A set, and a reranker without time.
fn measured() -> World {
    let world = indexed();
    give_model(&world, "bert_reranker", "bert_reranker");
    question_set(&world);
    world
}
