//! The configuration, the models and servers it names, and the folder of state.

use std::fs;

use super::super::case::{Case, Follow, Then, case};
use super::{by_hand, configure, mend_configuration, mends, named, with};
use crate::harness::World;

pub(super) fn cases() -> Vec<Case> {
    [values(), folders(), models()].concat()
}

/// A finding about these lines of the configuration, which are taken out.
fn taken_out(state: &'static str, make: fn() -> World, code: &'static str) -> Case {
    by_hand(
        state,
        make,
        code,
        "the line is taken out",
        mend_configuration,
    )
}

fn values() -> Vec<Case> {
    vec![
        taken_out(
            "an unknown key",
            || with(|w| configure(w, "nonsense: 1\n")),
            "DOCTOR_CONFIG_INVALID",
        ),
        mends(
            "a found configuration asks for every path",
            || with(|w| configure(w, "security: {allow_any_path: true}\n")),
            "DOCTOR_CONFIG_UNTRUSTED",
        ),
        taken_out(
            "a value of `index` of another kind",
            || with(|w| configure(w, "index: {max_chars: many}\n")),
            "DOCTOR_PHASE2_CONFIG_INVALID",
        ),
        taken_out(
            "a value of `retrieve` of another kind",
            || with(|w| configure(w, "retrieve: {fusion: guess}\n")),
            "DOCTOR_PHASE3_CONFIG_INVALID",
        ),
        case(
            "the address of the chat model is none",
            || with(|w| configure(w, "llm: {model: m, base_url: nowhere}\n")),
            &["doctor"],
            "DOCTOR_OLLAMA_URL_INVALID",
        )
        .ends(
            Follow::ByHand("the line is taken out", mend_configuration),
            Then::Health,
        ),
    ]
}

fn folders() -> Vec<Case> {
    vec![
        by_hand(
            "neither sources nor roots are configured",
            || with(|w| w.write("local-agent.yaml", "sources: []\n")),
            "DOCTOR_ALLOWED_ROOTS_EMPTY",
            "the source is entered",
            mend_configuration,
        ),
        mends(
            "a root that may be read is not there",
            || with(|w| configure(w, "security: {allowed_roots: [gone]}\n")),
            "DOCTOR_ALLOWED_ROOT_MISSING",
        ),
        named(
            "a root that may be read is outside",
            || with(|w| configure(w, "security: {allowed_roots: [/]}\n")),
            "DOCTOR_ALLOWED_ROOT_OUTSIDE_SECURITY_ROOT",
        ),
        by_hand(
            "the folder of a source is not there",
            || {
                with(|w| {
                    let second = "sources: [{name: notes, root: .}, {name: more, root: more}]\n";
                    w.write("more/tap.md", "# Tap\n\nThe tap drips.\n");
                    w.write("local-agent.yaml", second);
                    w.ok(&["index"]);
                    fs::rename(w.vault().join("more"), w.root().join("more")).unwrap();
                })
            },
            "DOCTOR_SOURCE_ROOT_MISSING",
            "the folder is brought back",
            |world| fs::rename(world.root().join("more"), world.vault().join("more")).unwrap(),
        ),
        #[cfg(unix)]
        mends(
            "the folder of state cannot be written",
            || with(|w| closed(&w.state())),
            "DOCTOR_STATE_READ_ONLY_WARN",
        ),
    ]
}

#[cfg(unix)]
fn closed(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o500)).unwrap();
}

fn without_model(world: &World) {
    fs::create_dir(world.vault().join("model")).unwrap();
    configure(world, "embed: {model_path: model}\n");
}

fn models() -> Vec<Case> {
    vec![
        taken_out(
            "an embedding model whose files are not here",
            || with(|w| configure(w, "embed: {model: no-such-model}\n")),
            "DOCTOR_EMBED_MODEL_NOT_READY",
        ),
        named(
            "a folder that holds no model",
            || with(without_model),
            "DOCTOR_EMBED_MODEL_NOT_READY",
        ),
        taken_out(
            "a reranker whose files are not here",
            || with(|w| configure(w, "retrieve: {reranker: no-such-model}\n")),
            "DOCTOR_RERANKER_NOT_READY",
        ),
        case(
            "the server of the embedding model is not there",
            || {
                let server = "llm: {base_url: 'http://127.0.0.1:9'}\n\
                              embed: {provider: ollama, model: m}\n";
                with(|w| configure(w, server))
            },
            &["doctor"],
            "DOCTOR_EMBED_RUNTIME_FINGERPRINT_ERROR",
        )
        .ends(
            Follow::ByHand("the server's model is given up", mend_configuration),
            Then::Health,
        ),
    ]
}
