//! Hints of programs that were built without a part. The tests of a part run where it is left out:
//! `cargo test --no-default-features --test it fixes::builds`.

#[cfg(not(feature = "pull"))]
#[test]
fn models_cannot_be_pulled() {
    let world = super::place::plain();
    let failure = world.fails(&["models", "pull", "bge-small-en-v1.5"]);
    assert_eq!(failure["error_code"], "MODEL_PULL_ERROR", "{failure}");
    let hint = "cargo install --path . --features pull";
    assert_eq!(failure["hint"], hint, "{failure}");
    is_a_feature("pull");
}

/// Without `pull`, the first half of the fix leads to the test above. Another model of this machine
/// stands for the one that is pulled.
#[cfg(not(feature = "embedded-model"))]
#[test]
fn no_model_is_compiled_in() {
    use super::place::{configure, give_model, plain};
    let world = plain();
    let failure = world.fails(&["index"]);
    assert_eq!(failure["error_code"], "MODEL_NOT_FOUND", "{failure}");
    let hint = "`local-agent models pull bge-small-en-v1.5`, \
        then set embed.model to bge-small-en-v1.5";
    assert_eq!(failure["hint"], hint, "{failure}");
    give_model(&world, "bert", "bert");
    configure(&world, "embed: {model: bert}\n");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world.ok(&["query", "oven"]);
}

#[cfg(not(feature = "code"))]
#[test]
fn grammars_of_programming_languages_are_missing() {
    let world = super::place::plain();
    let sources = "sources:\n  - {name: notes, root: .}\n  - {name: code, root: src, code: true}\n";
    world.write("local-agent.yaml", sources);
    world.write("src/pump.rs", "fn main() {}\n");
    let failure = world.fails(&["tool", "run", "outline", "--arg", "path=code:pump.rs"]);
    assert_eq!(failure["error_code"], "INVALID_ARGS", "{failure}");
    let hint = "cargo install --path . --features code";
    assert_eq!(failure["hint"], hint, "{failure}");
    is_a_feature("code");
}

/// The feature that a hint names exists.
#[cfg(not(all(feature = "pull", feature = "code")))]
fn is_a_feature(name: &str) {
    let manifest = include_str!("../../../Cargo.toml");
    let line = format!("\n{name} = [");
    assert!(manifest.contains(&line), "no feature `{name}`");
}
