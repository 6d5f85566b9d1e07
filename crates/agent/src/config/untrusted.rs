//! The closed list of keys that an untrusted file may set, and how far.
//!
//! A key that is not in this list needs trust, whatever its value. Most keys tune the search or
//! bound something. The others may only narrow what the layers below already permit, so such a file
//! can take something away and never open anything.

/// How far an untrusted file may set a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
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
const MAY_SET: &[(&str, Leave)] = &[
    // How well an answer agrees with its evidence is checked in any case.
    ("ask.heading_match", Leave::Any),
    ("ask.max_evidence_tokens", Leave::Any),
    ("ask.normalize_heading", Leave::Any),
    // Who gets the evidence.
    ("ask.provider", Leave::NearServer(Some("extractive"))),
    // Only the user may permit less than they asked for.
    ("ask.strict", Leave::Switch(true)),
    ("ask.top_n", Leave::Any),
    // Words for chat models and agents: about the notes of this folder, not about the user's.
    ("contexts", Leave::OwnSources),
    // How vectors are computed inside this program. They can be computed again at any time.
    ("embed.batch_tokens", Leave::Any),
    ("embed.db_path", Leave::Inside),
    ("embed.dimensions", Leave::Any),
    ("embed.instructions", Leave::Any),
    ("embed.keep_unused_days", Leave::Any),
    ("embed.max_length", Leave::Any),
    // A name only: nothing is downloaded for it, and `embed.provider` says who is asked.
    ("embed.model", Leave::NearModel),
    ("embed.model_path", Leave::Inside),
    ("embed.passage_prefix", Leave::Any),
    ("embed.precision", Leave::Any),
    // Who gets the chunks.
    ("embed.provider", Leave::NearServer(Some("candle"))),
    ("embed.query_prefix", Leave::Any),
    ("embed.threads", Leave::Any),
    // How documents are cut. The index can be built again at any time.
    ("index.db_path", Leave::Inside),
    ("index.max_chars", Leave::Any),
    ("index.max_tokens", Leave::Any),
    ("index.overlap", Leave::Any),
    ("index.scheme", Leave::Any),
    // Who gets the evidence.
    ("llm.base_url", Leave::ThisMachine),
    // Which of the models that are set is asked.
    ("llm.big_triggers", Leave::Any),
    // How the server holds a model in memory.
    ("llm.keep_alive", Leave::Any),
    // Bounds of one reply, and of one file.
    ("llm.max_chars_full_read", Leave::Any),
    ("llm.max_tokens", Leave::Any),
    ("llm.max_tokens_big_second", Leave::Any),
    // A model that is set makes `auto` send the evidence to the server.
    ("llm.model", Leave::NearServer(None)),
    ("llm.model_big", Leave::NearServer(None)),
    ("llm.model_fast", Leave::NearServer(None)),
    ("llm.num_ctx", Leave::Any),
    ("llm.prefer_fast", Leave::Any),
    ("llm.temperature", Leave::Any),
    ("llm.timeout_s", Leave::Any),
    ("llm.timeout_s_big_second", Leave::Any),
    // What agents may do and see.
    ("mcp.operations", Leave::Fewer),
    ("mcp.private_notes", Leave::Switch(false)),
    ("mcp.tools", Leave::Fewer),
    ("memory.db_path", Leave::Inside),
    ("memory.enabled", Leave::SwitchUnlessTyped(false)),
    // It only marks answers that are checked in any case.
    ("phase3.ask.citation_validation.enabled", Leave::Any),
    // How evidence is found.
    ("retrieve.fusion", Leave::Any),
    ("retrieve.path_prefix", Leave::Any),
    ("retrieve.reranker", Leave::Inside),
    ("retrieve.reranker_ms", Leave::Any),
    ("retrieve.vector_weight", Leave::Any),
    // What is recorded: all runs, and not more of the notes than the user wants.
    ("runs.dir", Leave::Inside),
    ("runs.enabled", Leave::Switch(true)),
    ("runs.keep_evidence", Leave::SwitchUnlessTyped(false)),
    (
        "runs.log_evidence_excerpts",
        Leave::SwitchUnlessTyped(false),
    ),
    ("runs.max_excerpt_chars", Leave::NotMoreUnlessTyped),
    ("runs.max_total_evidence_chars", Leave::NotMoreUnlessTyped),
    // What may be opened.
    ("security.allow_any_path", Leave::Switch(false)),
    ("security.allowed_exts", Leave::OwnFilesUnlessTyped),
    ("security.allowed_roots", Leave::Inside),
    ("security.deny_absolute_paths", Leave::Switch(true)),
    ("security.deny_hidden_paths", Leave::Switch(true)),
    ("security.deny_names", Leave::More),
    ("security.follow_links", Leave::Word("never")),
    ("security.hard_links", Leave::Word("deny")),
    ("security.max_file_bytes", Leave::NotMore),
    ("security.private_tags", Leave::More),
    (
        "security.roots_must_be_within_security_root",
        Leave::Switch(true),
    ),
    ("sources", Leave::Inside),
    ("state_dir", Leave::Inside),
    // What models and agents may do.
    ("tools.delete", Leave::Stricter),
    ("tools.find_defs", Leave::Stricter),
    ("tools.find_refs", Leave::Stricter),
    ("tools.grep", Leave::Stricter),
    ("tools.list_dir", Leave::Stricter),
    ("tools.max_result_bytes", Leave::NotMore),
    ("tools.max_turns", Leave::NotMore),
    ("tools.max_writes", Leave::NotMore),
    ("tools.outline", Leave::Stricter),
    ("tools.propose_write", Leave::Stricter),
    ("tools.read_symbol", Leave::Stricter),
    ("tools.read_text_file", Leave::Stricter),
    ("tools.related_files", Leave::Stricter),
    ("tools.timeout_s", Leave::NotMore),
    // Who gets the sentences of an answer, and the evidence that they cite.
    ("verify.judge.model", Leave::NearServer(None)),
    ("verify.judge.provider", Leave::NearServer(None)),
    // The place of the workroot is decided before this file is read.
    ("workroot", Leave::Any),
];

/// How far an untrusted file may set this key; `None`: not at all.
pub(super) fn leave(key: &str) -> Option<Leave> {
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
            let is_inside = leave(key.path) == Some(Leave::Inside);
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
