//! Hints of programs that were built without a part. The tests of a part run where it is left out:
//! `cargo test --no-default-features --features docx --test it fixes::builds`.

#[cfg(not(feature = "pull"))]
#[test]
fn models_cannot_be_pulled() {
    let world = super::place::plain();
    let failure = world.fails(&["models", "pull", "bge-small-en-v1.5"]);
    assert_eq!(failure["error_code"], "MODEL_PULL", "{failure}");
    let hint = "cargo install --path . --features pull";
    assert_eq!(failure["hint"], hint, "{failure}");
    is_a_feature("pull");
}

/// Without `pull`, the fix leads to the one above.
#[cfg(not(feature = "embedded-model"))]
#[test]
fn no_model_is_compiled_in() {
    let world = super::place::plain();
    world.ok(&["index"]);
    let failure = world.fails(&["embed"]);
    assert_eq!(failure["error_code"], "MODEL_NOT_FOUND", "{failure}");
    let hint = "local-agent models pull bge-small-en-v1.5";
    assert_eq!(failure["hint"], hint, "{failure}");
    // Words are searched without any model.
    world.ok(&["search", "oven"]);
}

#[cfg(not(feature = "code"))]
#[test]
fn grammars_of_programming_languages_are_missing() {
    let world = super::place::plain();
    world.write(".local-agent/config.yaml", CODE);
    world.write("pump.rs", "fn main() {}\n");
    let failure = world.fails(&["outline", "pump.rs"]);
    assert_eq!(failure["error_code"], "INVALID_ARGS", "{failure}");
    let hint = "cargo install --path . --features code";
    assert_eq!(failure["hint"], hint, "{failure}");
    is_a_feature("code");
}

#[cfg(not(feature = "code"))]
const CODE: &str = "sources: [{name: notes, root: '..', code: true}]\n";

/// The feature that a hint names exists.
#[cfg(not(all(feature = "pull", feature = "code")))]
fn is_a_feature(name: &str) {
    let manifest = include_str!("../../../Cargo.toml");
    let line = format!("\n{name} = [");
    assert!(manifest.contains(&line), "no feature `{name}`");
}
