//! The closed list of keys that an untrusted file may set, and how far.
//!
//! A key that is not in this list needs trust, whatever its value. Most keys tune the search or
//! bound something. The others may only narrow what the layers below already permit, so such a file
//! can take something away and never open anything.

/// How far an untrusted file may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UntrustedLimit {
    /// To any value.
    Any,
    /// To a place below the folder of the file.
    Inside,
    /// To a server on this machine.
    ThisMachine,
    /// To any value while the model server is on this machine; else only to this word, which asks
    /// no server, or to the value of the layers below.
    NearServer(Option<&'static str>),
    /// To any name, except of a model that its server runs on other machines.
    NearModel,
    /// To this word, or to the value of the layers below.
    Word(&'static str),
    /// To this value, or to that of the layers below.
    Switch(bool),
    /// To any value, if the user typed none; else to this value or the user's.
    SwitchUnlessTyped(bool),
    /// To a rule that is as strict as that of the layers below, or stricter.
    Stricter,
    /// To a number that is not greater than that of the layers below.
    NotMore,
    /// To any number, if the user typed none; else to one that is not greater.
    NotMoreUnlessTyped,
    /// To a list without entries that the layers below do not have.
    Fewer,
    /// To a list with all entries of the layers below.
    More,
    /// To any list while the sources in force are this file's; else to one without new entries.
    OwnSources,
    /// To any list while the user typed none and all files that may be read are below this file's
    /// folder; else to one without new entries.
    OwnFilesUnlessTyped,
}

/// Every key that an untrusted file may set, sorted.
const MAY_SET: &[(&str, UntrustedLimit)] = &[
    // How well an answer agrees with its evidence is checked in any case.
    ("ask.heading_match", UntrustedLimit::Any),
    ("ask.max_evidence_tokens", UntrustedLimit::Any),
    ("ask.normalize_heading", UntrustedLimit::Any),
    // Who gets the evidence.
    (
        "ask.provider",
        UntrustedLimit::NearServer(Some("extractive")),
    ),
    // Only the user may permit less than they asked for.
    ("ask.strict", UntrustedLimit::Switch(true)),
    ("ask.top_n", UntrustedLimit::Any),
    // Words for chat models and agents: about the notes of this folder, not about the user's.
    ("contexts", UntrustedLimit::OwnSources),
    // How vectors are computed inside this program. They can be computed again at any time.
    ("embed.batch_tokens", UntrustedLimit::Any),
    ("embed.db_path", UntrustedLimit::Inside),
    ("embed.dimensions", UntrustedLimit::Any),
    ("embed.instructions", UntrustedLimit::Any),
    ("embed.keep_unused_days", UntrustedLimit::Any),
    ("embed.max_length", UntrustedLimit::Any),
    // A name only: nothing is downloaded for it, and `embed.provider` says who is asked.
    ("embed.model", UntrustedLimit::NearModel),
    ("embed.model_path", UntrustedLimit::Inside),
    ("embed.passage_prefix", UntrustedLimit::Any),
    ("embed.precision", UntrustedLimit::Any),
    // Who gets the chunks.
    ("embed.provider", UntrustedLimit::NearServer(Some("candle"))),
    ("embed.query_prefix", UntrustedLimit::Any),
    ("embed.threads", UntrustedLimit::Any),
    // How documents are cut. The index can be built again at any time.
    ("index.db_path", UntrustedLimit::Inside),
    ("index.max_chars", UntrustedLimit::Any),
    ("index.max_tokens", UntrustedLimit::Any),
    ("index.overlap", UntrustedLimit::Any),
    ("index.scheme", UntrustedLimit::Any),
    // Who gets the evidence.
    ("llm.base_url", UntrustedLimit::ThisMachine),
    // Which of the models that are set is asked.
    ("llm.big_triggers", UntrustedLimit::Any),
    // How the server holds a model in memory.
    ("llm.keep_alive", UntrustedLimit::Any),
    // Bounds of one reply, and of one file.
    ("llm.max_chars_full_read", UntrustedLimit::Any),
    ("llm.max_tokens", UntrustedLimit::Any),
    ("llm.max_tokens_big_second", UntrustedLimit::Any),
    // A model that is set makes `auto` send the evidence to the server.
    ("llm.model", UntrustedLimit::NearServer(None)),
    ("llm.model_big", UntrustedLimit::NearServer(None)),
    ("llm.model_fast", UntrustedLimit::NearServer(None)),
    ("llm.num_ctx", UntrustedLimit::Any),
    ("llm.prefer_fast", UntrustedLimit::Any),
    ("llm.temperature", UntrustedLimit::Any),
    ("llm.timeout_s", UntrustedLimit::Any),
    ("llm.timeout_s_big_second", UntrustedLimit::Any),
    // What agents may do and see.
    ("mcp.operations", UntrustedLimit::Fewer),
    ("mcp.private_notes", UntrustedLimit::Switch(false)),
    ("mcp.tools", UntrustedLimit::Fewer),
    ("memory.db_path", UntrustedLimit::Inside),
    ("memory.enabled", UntrustedLimit::SwitchUnlessTyped(false)),
    // It only marks answers that are checked in any case.
    (
        "phase3.ask.citation_validation.enabled",
        UntrustedLimit::Any,
    ),
    // How evidence is found.
    ("retrieve.fusion", UntrustedLimit::Any),
    ("retrieve.path_prefix", UntrustedLimit::Any),
    ("retrieve.reranker", UntrustedLimit::Inside),
    ("retrieve.reranker_ms", UntrustedLimit::Any),
    ("retrieve.vector_weight", UntrustedLimit::Any),
    // What is recorded: all runs, and not more of the notes than the user wants.
    ("runs.dir", UntrustedLimit::Inside),
    ("runs.enabled", UntrustedLimit::Switch(true)),
    (
        "runs.keep_evidence",
        UntrustedLimit::SwitchUnlessTyped(false),
    ),
    (
        "runs.log_evidence_excerpts",
        UntrustedLimit::SwitchUnlessTyped(false),
    ),
    ("runs.max_excerpt_chars", UntrustedLimit::NotMoreUnlessTyped),
    (
        "runs.max_total_evidence_chars",
        UntrustedLimit::NotMoreUnlessTyped,
    ),
    // What may be opened.
    ("security.allow_any_path", UntrustedLimit::Switch(false)),
    ("security.allowed_exts", UntrustedLimit::OwnFilesUnlessTyped),
    ("security.allowed_roots", UntrustedLimit::Inside),
    ("security.deny_absolute_paths", UntrustedLimit::Switch(true)),
    ("security.deny_hidden_paths", UntrustedLimit::Switch(true)),
    ("security.deny_names", UntrustedLimit::More),
    ("security.follow_links", UntrustedLimit::Word("never")),
    ("security.hard_links", UntrustedLimit::Word("deny")),
    ("security.max_file_bytes", UntrustedLimit::NotMore),
    ("security.private_tags", UntrustedLimit::More),
    (
        "security.roots_must_be_within_security_root",
        UntrustedLimit::Switch(true),
    ),
    ("sources", UntrustedLimit::Inside),
    ("state_dir", UntrustedLimit::Inside),
    // What models and agents may do.
    ("tools.delete", UntrustedLimit::Stricter),
    ("tools.find_defs", UntrustedLimit::Stricter),
    ("tools.find_refs", UntrustedLimit::Stricter),
    ("tools.grep", UntrustedLimit::Stricter),
    ("tools.list_dir", UntrustedLimit::Stricter),
    ("tools.max_result_bytes", UntrustedLimit::NotMore),
    ("tools.max_turns", UntrustedLimit::NotMore),
    ("tools.max_writes", UntrustedLimit::NotMore),
    ("tools.outline", UntrustedLimit::Stricter),
    ("tools.propose_write", UntrustedLimit::Stricter),
    ("tools.read_symbol", UntrustedLimit::Stricter),
    ("tools.read_text_file", UntrustedLimit::Stricter),
    ("tools.related_files", UntrustedLimit::Stricter),
    ("tools.timeout_s", UntrustedLimit::NotMore),
    // Who gets the sentences of an answer, and the evidence that they cite.
    ("verify.judge.model", UntrustedLimit::NearServer(None)),
    ("verify.judge.provider", UntrustedLimit::NearServer(None)),
    // The place of the workroot is decided before this file is read.
    ("workroot", UntrustedLimit::Any),
];

/// How far an untrusted file may set this key; `None`: not at all.
pub(super) fn leave(key: &str) -> Option<UntrustedLimit> {
    let found = MAY_SET.iter().find(|(name, _)| *name == key);
    found.map(|(_, leave)| *leave)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::{Effect, KEYS, Kind};

    #[test]
    fn every_key_that_can_be_in_force_has_its_place_in_the_list() {
        for key in KEYS.iter().filter(|key| key.effect == Effect::Setting) {
            assert!(
                leave(key.path).is_some(),
                "say how far an untrusted file may set `{}`, or name it here as one that always needs trust",
                key.path
            );
        }
    }

    #[test]
    fn every_place_of_an_untrusted_file_is_inside_its_folder() {
        for key in KEYS.iter().filter(|key| key.effect == Effect::Setting) {
            let is_place = matches!(
                key.kind,
                Kind::Path | Kind::Paths | Kind::Model | Kind::Sources
            );
            let is_inside = leave(key.path) == Some(UntrustedLimit::Inside);
            assert_eq!(
                is_inside,
                is_place && key.path != "workroot",
                "{}",
                key.path
            );
        }
    }

    #[test]
    fn the_list_is_sorted_and_names_only_keys() {
        assert!(MAY_SET.is_sorted_by_key(|(key, _)| *key));
        for (key, _) in MAY_SET {
            assert!(KEYS.iter().any(|one| one.path == *key), "{key}");
        }
    }
}
