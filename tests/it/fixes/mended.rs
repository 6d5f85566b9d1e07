//! Fixes that did not help when they were followed to the letter: their words have changed since.

use std::fs;

use super::case::{Case, Follow, Then, case};
use super::place::{
    configure_trusted, configured, give_model, indexed, model_folder, plain, sql, used,
};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [
        keys(),
        folders(),
        written_for_others(),
        models(),
        configurations(),
    ]
    .concat()
}

/// The fix shows the keys of a query.
fn shows_keys(state: &'static str, command: &'static [&'static str]) -> Case {
    case(state, used, command, "PHASE3_MEMORY_ERROR")
        .ends(Follow::Filled(&[("WORDS", "oven")]), Then::Informed)
}

fn keys() -> Vec<Case> {
    vec![
        shows_keys(
            "a memory of evidence without evidence",
            &[
                "memory",
                "add",
                "--type",
                "user_fact",
                "--source",
                "derived_from_evidence",
                "--content",
                "It is hot",
            ],
        ),
        shows_keys(
            "a memory with an invalid key",
            &[
                "memory",
                "add",
                "--type",
                "user_fact",
                "--source",
                "manual",
                "--content",
                "It is hot",
                "--chunk-key",
                "oven",
            ],
        ),
        shows_keys(
            "a memory with a key that no chunk has",
            &[
                "memory",
                "add",
                "--type",
                "user_fact",
                "--source",
                "manual",
                "--content",
                "It is hot",
                "--chunk-key",
                "00000000000000000000000000000000",
            ],
        ),
    ]
}

/// Puts a folder outside of the vault.
fn beside(world: World) -> World {
    world.write("../home/my notes/oven.md", "# Oven\n\nIt is hot.\n");
    world
}

fn folders() -> Vec<Case> {
    vec![
        case(
            "a folder outside, with a space in its name",
            || beside(World::empty()),
            &["init", "--here", "--source", "notes=../home/my notes"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Instead),
        case(
            "a folder outside, with a space in its name",
            || beside(plain()),
            &["source", "add", "../home/my notes"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Instead),
        case(
            "a name that another source has",
            || {
                let world = plain();
                world.ok(&["source", "add", "deep"]);
                world
            },
            &["source", "rename", "deep", "notes"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "this folder has a context already",
            || {
                let world = plain();
                world.ok(&["context", "add", ".", "all my notes"]);
                world
            },
            &["context", "add", "only mine"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Instead),
        case(
            "a context for a path outside",
            plain,
            &["context", "add", "../home", "x"],
            "INVALID_ARGS",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "the folder of a source is gone",
            || {
                let world = plain();
                world.ok(&["source", "add", "deep"]);
                world.ok(&["index"]);
                fs::rename(world.vault().join("deep"), world.vault().join("deeper")).unwrap();
                world
            },
            &["index"],
            "CONFIG_ERROR",
        )
        .ends(
            Follow::ByHand("its new name is entered", |world| {
                let file = world.vault().join("local-agent.yaml");
                let text = fs::read_to_string(&file).unwrap();
                let corrected = text.replace("root: \"deep\"", "root: \"deeper\"");
                assert_ne!(corrected, text);
                fs::write(file, corrected).unwrap();
            }),
            Then::Health,
        ),
    ]
}

fn written_for_others() -> Vec<Case> {
    vec![
        case(
            "the configuration of a client cannot be read",
            || {
                let world = indexed();
                world.write("client.json", "[ not JSON");
                world
            },
            &[
                "mcp",
                "install",
                "--client",
                "cursor",
                "--file",
                "client.json",
            ],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "the file for agents was changed",
            || changed_skill(&["skill", "install"], "../home"),
            &["skill", "install"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the file for agents was changed",
            || changed_skill(&["skill", "install", "--dir", "my agent"], "my agent"),
            &["skill", "install", "--dir", "my agent"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "no git repository",
            || {
                let world = indexed();
                world.write("report.md", "The oven is made of granite. [oven.md:6]\n");
                world
            },
            &["verify", "report.md", "--changed-since", "HEAD"],
            "INVALID_ARGS",
        )
        .ends(
            Follow::Filled(&[("DOCUMENT", "report.md"), ("FILE", "report.lock")]),
            Then::Instead,
        ),
    ]
}

fn changed_skill(install: &[&str], folder: &str) -> World {
    let world = indexed();
    world.ok(install);
    let file = world.vault().join(folder);
    let file = file.join(".claude/skills/local-agent/SKILL.md");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, format!("{text}\nMy own line.\n")).unwrap();
    world
}

fn given(name: &str) -> World {
    let world = indexed();
    give_model(&world, name, name);
    world
}

fn broken_manifest() -> World {
    let world = given("bert");
    let file = model_folder(&world, "bert").join("local-agent-model.json");
    fs::write(file, "{").unwrap();
    world
}

fn models() -> Vec<Case> {
    const VERIFY: &[&str] = &["models", "verify", "bert"];
    vec![
        case(
            "the hashes of a model cannot be read",
            broken_manifest,
            VERIFY,
            "MODEL_INVALID",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "the weights of a model without hashes are cut off",
            || {
                let world = given("bert");
                let file = model_folder(&world, "bert").join("model.safetensors");
                fs::write(file, "too short").unwrap();
                world
            },
            VERIFY,
            "MODEL_INVALID",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["models", "pull", "bert"], "INVALID_ARGS"),
        ),
        case(
            "a reranker is configured as the embedding model",
            || {
                let world = given("bert_reranker");
                configure_trusted(&world, "embed: {model: bert_reranker}\n");
                world
            },
            &["embed"],
            "MODEL_INVALID",
        )
        .ends(
            Follow::ByHand("the name is moved to `retrieve.reranker`", |world| {
                configure_trusted(world, "retrieve: {reranker: bert_reranker}\n");
            }),
            Then::Health,
        ),
        taken_out(
            "the folder of a model does not exist",
            || configured("embed: {model_path: nowhere}\n"),
            &["embed"],
        ),
        taken_out(
            "the folder of a reranker does not exist",
            || configured("retrieve: {reranker: ./nowhere}\n"),
            &["query", "oven"],
        ),
    ]
}

/// The fix names the key that is to be taken out.
fn taken_out(state: &'static str, make: fn() -> World, command: &'static [&'static str]) -> Case {
    case(state, make, command, "MODEL_NOT_FOUND").ends(
        Follow::ByHand("the key is taken out", |world| configure_trusted(world, "")),
        Then::Health,
    )
}

fn configurations() -> Vec<Case> {
    vec![
        case(
            "durable.sqlite is of another program without a number",
            || {
                let world = indexed();
                sql(&world, "durable.sqlite", "CREATE TABLE mine (x)");
                world
            },
            &["memory", "list"],
            "DB_FOREIGN",
        )
        .ends(Follow::Printed, Then::Health),
        case(
            "--config names no file, and another one is found",
            plain,
            &["status", "--config", "no.yaml"],
            "CONFIG_ERROR",
        )
        .ends(Follow::Again(&["status"]), Then::Health),
        case(
            "no sources are left",
            || {
                let world = indexed();
                world.write("local-agent.yaml", "sources: []\n");
                world.ok(&["index"]);
                world
            },
            &["index"],
            "PHASE2_INDEX_ERROR",
        )
        .ends(Follow::Filled(&[("DIR", ".")]), Then::Health),
    ]
}
