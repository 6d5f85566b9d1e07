//! Models that were damaged after they were used, and vectors that have no say. The models are the
//! tiny ones of `tests/data/encoders`.

use std::fs;

use super::super::case::{Case, Follow, Then, case};
use super::super::place::{file, give_model, sql};
use super::{DOCTOR, configure, mends, with};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    vec![
        damaged(
            "the weights of the model were changed",
            || with(changed_model),
            "DOCTOR_EMBED_MODEL_CHECKSUM_MISMATCH",
            &["models", "pull", "bert"],
        ),
        damaged(
            "the tokenizer of the reranker was changed",
            || with(changed_reranker),
            "DOCTOR_RERANKER_CHECKSUM_MISMATCH",
            &["models", "pull", "bert_reranker"],
        ),
        // The windows of the other model are smaller, so the chunks are cut anew.
        case(
            "another model is configured",
            || with(of_another_model),
            DOCTOR,
            "DOCTOR_VECTORS_FINGERPRINT_MISMATCH",
        )
        .ends(Follow::Printed, Then::Next("DOCTOR_CHUNK_SCHEME_MISMATCH")),
        mends(
            "no profile was measured for the model",
            || with(without_profile),
            "DOCTOR_VECTORS_PROFILE_WARN",
        ),
        case(
            "the model cannot read the notes",
            unreadable,
            DOCTOR,
            "DOCTOR_VECTORS_WITHOUT_SAY_WARN",
        )
        .ends(Follow::Printed, Then::Informed),
        case(
            "the stored vectors are no vectors",
            || {
                with(|world| {
                    let zero = "UPDATE embeddings SET vector = zeroblob(length(vector))";
                    sql(world, "embeddings.sqlite", zero);
                    fs::remove_dir_all(file(world, "vectors")).unwrap();
                })
            },
            &["embed"],
            "PHASE3_EMBED_ERROR",
        )
        .ends(Follow::Printed, Then::Health),
    ]
}

/// The program has no address for a model of somebody's own, so the command that the fix names says
/// how to name it.
fn damaged(
    state: &'static str,
    make: fn() -> World,
    code: &'static str,
    pull: &'static [&'static str],
) -> Case {
    case(state, make, DOCTOR, code).ends(Follow::Printed, Then::Says(pull, "INVALID_ARGS"))
}

fn changed_model(world: &World) {
    let file = give_model(world, "bert", "bert").join("model.safetensors");
    configure(world, "embed: {model: bert}\n");
    world.ok(&["embed"]);
    world.ok(&["models", "verify", "bert"]);
    let mut bytes = fs::read(&file).unwrap();
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    fs::write(file, bytes).unwrap();
}

fn changed_reranker(world: &World) {
    let file = give_model(world, "bert_reranker", "bert_reranker").join("tokenizer.json");
    configure(world, "retrieve: {reranker: bert_reranker}\n");
    world.ok(&["models", "verify", "bert_reranker"]);
    let text = fs::read_to_string(&file).unwrap();
    fs::write(file, text.replacen("[UNK]", "[unk]", 1)).unwrap();
}

fn of_another_model(world: &World) {
    give_model(world, "bert", "bert");
    configure(world, "embed: {model: bert}\n");
}

/// A matrix of a model that the program does not ship a profile for, without the measured one.
fn without_profile(world: &World) {
    for number in 0..20 {
        let text = format!("# Day {number}\n\nI baked {number} loaves of rye.\n");
        world.write(&format!("days/{number}.md"), &text);
    }
    of_another_model(world);
    world.ok(&["index"]);
    world.ok(&["embed"]);
    fs::remove_file(world.state().join("vectors/profile.json")).unwrap();
}

/// Chinese notes, and a model that was trained on English.
fn unreadable() -> World {
    let world = World::with(&[
        (
            "oven.md",
            "# 烤箱\n\n烤箱是用花岗岩做的，放在厨房的角落里。\n",
        ),
        ("pump.md", "# 水泵\n\n水泵在五月修好了，现在放在地下室。\n"),
    ]);
    configure(&world, "embed: {model: all-MiniLM-L6-v2}\n");
    world.ok(&["index"]);
    world.ok(&["embed"]);
    world
}
