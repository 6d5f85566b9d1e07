//! Every command line of the predecessor that this program still supports: it is accepted, works,
//! and keeps its fields.

use serde_json::Value;

use crate::harness::{ROOTS, World};

/// The type of a field.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Count,
    Text,
    List,
    Object,
}

use Kind::{Bool, Count, List, Object, Text};

/// The result of a command line.
enum Gives {
    /// Exit code 0 and text on stdout.
    Says,
    /// Exit code 0 and one object on stdout with these fields and the roots.
    Fields(&'static [(&'static str, Kind)]),
    /// Exit code 1 and the envelope with this code.
    Fails(&'static str),
    /// Exit code 2 and a pointer to the usage.
    Usage,
}

use Gives::{Fails, Fields, Says, Usage};

const INDEX: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("index_db", Text),
    ("scheme", Text),
    ("sources_selected", List),
    ("sources_count", Count),
    ("docs_scanned", Count),
    ("docs_changed", Count),
    ("docs_unchanged", Count),
    ("docs_pruned", Count),
    ("chunks_written", Count),
    ("total_docs", Count),
    ("total_chunks", Count),
    ("errors_count", Count),
    ("errors", List),
];

const LIST_SOURCES: &[(&str, Kind)] = &[("ok", Bool), ("sources", List), ("selected_count", Count)];

const EMBED: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("embeddings_db", Text),
    ("provider", Text),
    ("model_id", Text),
    ("embed_runtime_fingerprint", Text),
    ("chunk_preprocess_sig", Text),
    ("query_preprocess_sig", Text),
    ("vectors_normalized", Bool),
    ("total_chunks", Count),
    ("existing_embeddings", Count),
    ("embeddings_total_before", Count),
    ("embeddings_total_after", Count),
    ("orphan_embeddings_before", Count),
    ("orphan_embeddings_pruned", Count),
    ("orphan_embeddings_kept", Count),
    ("missing", Count),
    ("outdated", Count),
    ("embedded_written", Count),
    ("skipped_ok", Count),
    ("errors", List),
    ("errors_count", Count),
    ("dry_run", Bool),
    ("dim", Count),
];

const QUERY: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("query", Text),
    ("outcome", Text),
    ("count", Count),
    ("hits", List),
];

const ASK: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("question", Text),
    ("outcome", Text),
    ("answer", Text),
    ("evidence", List),
    ("snapshot_id", Text),
    ("citation_validation", Object),
    ("citation_validation_footer", Text),
];

const MEMORY_LIST: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("action", Text),
    ("memory_db", Text),
    ("count", Count),
    ("items", List),
];

const MEMORY_ADD: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("action", Text),
    ("memory_id", Text),
    ("memory_db", Text),
];

const MEMORY_EXPORT: &[(&str, Kind)] = &[
    ("ok", Bool),
    ("action", Text),
    ("path", Text),
    ("memory_db", Text),
    ("items_count", Count),
];

const QUESTION: &str = "At what temperature and humidity does the proofbox hold sourdough?";

/// The command lines in order, because a later line may depend on the results of an earlier one.
const LINES: &[(&[&str], Gives)] = &[
    (&[], Usage),
    (&["frobnicate"], Usage),
    (&["--frobnicate", "index"], Usage),
    (&["--version"], Says),
    (&["--help"], Says),
    // index
    (&["index"], Says),
    (&["index", "--json"], Fields(INDEX)),
    (&["index", "--list-sources"], Says),
    (&["index", "--list-sources", "--json"], Fields(LIST_SOURCES)),
    (
        &["index", "--list-sources", "--source", "vault", "--json"],
        Fields(LIST_SOURCES),
    ),
    (
        &["index", "--list-sources", "--source", "nope", "--json"],
        Fails("INVALID_ARGS"),
    ),
    (
        &["index", "--source", "vault", "--source", "vault", "--json"],
        Fields(INDEX),
    ),
    (&["index", "--source", "nope"], Fails("INVALID_ARGS")),
    (
        &["index", "--source", "nope", "--json"],
        Fails("INVALID_ARGS"),
    ),
    (&["index", "--allow-partial", "--json"], Fields(INDEX)),
    (
        &[
            "index",
            "--db-path",
            "other/v1.sqlite",
            "--scheme",
            "obsidian_v1",
            "--json",
        ],
        Fields(INDEX),
    ),
    (
        &[
            "index",
            "--db-path",
            "other/window.sqlite",
            "--scheme",
            "fixed_window_v1",
            "--max-chars",
            "600",
            "--overlap",
            "60",
            "--json",
        ],
        Fields(INDEX),
    ),
    (
        &[
            "index",
            "--db-path",
            "other/v1.sqlite",
            "--rebuild",
            "--json",
        ],
        Fields(INDEX),
    ),
    (&["index", "--max-chars", "0"], Fails("INVALID_ARGS")),
    (
        &["index", "--max-chars", "100", "--overlap", "100", "--json"],
        Fails("INVALID_ARGS"),
    ),
    (&["index", "--max-chars", "many"], Usage),
    (&["index", "--overlap"], Usage),
    (&["index", "--scheme", "obsidian_v9"], Usage),
    (&["index", "--source"], Usage),
    // query
    (&["query", "proofbox"], Says),
    (&["query", "proofbox", "--limit", "2"], Says),
    (
        &["query", "proofbox", "--limit", "2", "--json"],
        Fields(QUERY),
    ),
    (
        &["query", "proofbox", "--limit", "0", "--json"],
        Fields(QUERY),
    ),
    (
        &["query", "proofbox", "--limit", "-3", "--json"],
        Fields(QUERY),
    ),
    (&["query", "  "], Fails("INVALID_QUERY")),
    (&["query", "", "--json"], Fails("INVALID_QUERY")),
    (&["query"], Usage),
    (&["query", "proofbox", "--limit", "few"], Usage),
    // embed
    (&["embed"], Says),
    (&["embed", "--json"], Fields(EMBED)),
    (&["embed", "--dry-run", "--json"], Fields(EMBED)),
    (&["embed", "--limit", "3", "--json"], Fields(EMBED)),
    (&["embed", "--no-prune", "--json"], Fields(EMBED)),
    (&["embed", "--batch-size", "32", "--json"], Fields(EMBED)),
    (
        &["embed", "--model", "all-MiniLM-L6-v2", "--json"],
        Fields(EMBED),
    ),
    (
        &[
            "embed",
            "--model",
            "sentence-transformers/all-MiniLM-L6-v2",
            "--json",
        ],
        Fields(EMBED),
    ),
    (
        &["embed", "--model", "no-such-model", "--json"],
        Fails("MODEL_NOT_FOUND"),
    ),
    (
        &["embed", "--rebuild", "--limit", "2", "--json"],
        Fields(EMBED),
    ),
    (&["embed", "--batch-size", "0"], Fails("INVALID_ARGS")),
    (&["embed", "--limit", "x"], Usage),
    // ask
    (&["ask", QUESTION], Says),
    (&["ask", QUESTION, "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--big", "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--fast", "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--full", "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--big", "--full", "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--strict", "--json"], Fields(ASK)),
    (&["ask", QUESTION, "--big", "--fast"], Usage),
    (&["ask"], Usage),
    (&["ask", " "], Fails("INVALID_QUERY")),
    // memory
    (&["memory", "list"], Says),
    (&["memory", "list", "--json"], Fields(MEMORY_LIST)),
    (
        &[
            "memory",
            "add",
            "--type",
            "user_fact",
            "--source",
            "manual",
            "--content",
            "Likes tea.",
            "--json",
        ],
        Fields(MEMORY_ADD),
    ),
    (
        &[
            "memory",
            "add",
            "--type",
            "user_fact",
            "--source",
            "derived_from_evidence",
            "--content",
            "x",
            "--json",
        ],
        Fails("PHASE3_MEMORY_ERROR"),
    ),
    (
        &[
            "memory",
            "add",
            "--type",
            "user_fact",
            "--source",
            "manual",
            "--content",
            " ",
        ],
        Fails("PHASE3_MEMORY_ERROR"),
    ),
    (
        &[
            "memory",
            "add",
            "--type",
            "opinion",
            "--source",
            "manual",
            "--content",
            "x",
        ],
        Usage,
    ),
    (
        // `--source` and `--type` have defaults now; the text has none.
        &["memory", "add", "--type", "user_fact"],
        Usage,
    ),
    (&["memory", "list", "--json"], Fields(MEMORY_LIST)),
    (
        &["memory", "export", "exported.json", "--json"],
        Fields(MEMORY_EXPORT),
    ),
    (
        &["memory", "export", "exported.json"],
        Fails("PHASE3_MEMORY_ERROR"),
    ),
    (
        &["memory", "delete", "nothing"],
        Fails("PHASE3_MEMORY_ERROR"),
    ),
    (&["memory", "delete"], Usage),
    (&["memory"], Usage),
    // Global options, before the command and after it.
    (&["--workroot", ".", "index", "--json"], Fields(INDEX)),
    (&["index", "--workroot", ".", "--json"], Fields(INDEX)),
    (&["--workroot", "nowhere", "index"], Fails("INVALID_ARGS")),
    (&["--workroot"], Usage),
    (
        &[
            "--ollama-base-url",
            "http://127.0.0.1:9",
            "query",
            "proofbox",
            "--json",
        ],
        Fields(QUERY),
    ),
    (
        &[
            "query",
            "proofbox",
            "--ollama-base-url",
            "http://127.0.0.1:9",
            "--json",
        ],
        Fields(QUERY),
    ),
    // A server that is not needed is not contacted.
    (
        &[
            "--ollama-base-url",
            "http://127.0.0.1:9/path",
            "embed",
            "--json",
        ],
        Fields(EMBED),
    ),
    (
        &[
            "--ollama-base-url",
            "not a url",
            "config",
            "check",
            "--json",
        ],
        Fails(""),
    ),
];

fn is(value: &Value, kind: Kind) -> bool {
    match kind {
        Bool => value.is_boolean(),
        Count => value.is_u64(),
        Text => value.is_string(),
        List => value.is_array(),
        Object => value.is_object(),
    }
}

#[test]
fn w47_every_command_line_of_the_ancestor_does_its_job_and_keeps_its_fields() {
    let world = World::embedded();
    for (args, gives) in LINES {
        match gives {
            Says => assert!(!world.ok(args).stdout.is_empty(), "{args:?}"),
            Fields(fields) => {
                let run = world.ok(args);
                let body = run.json();
                assert_eq!(run.stderr, "", "{args:?}");
                for (name, kind) in *fields {
                    let value = body
                        .get(name)
                        .unwrap_or_else(|| panic!("{args:?}: no `{name}` in {body}"));
                    assert!(
                        is(value, *kind),
                        "{args:?}: `{name}` is no {kind:?}: {value}"
                    );
                }
                for root in ROOTS {
                    assert!(
                        body.get(root).is_some_and(Value::is_string),
                        "{args:?}: no `{root}` in {body}"
                    );
                }
            }
            Fails("") => assert_eq!(world.run(args).code, 1, "{args:?}"),
            Fails(code) => assert_eq!(world.code(args), *code, "{args:?}"),
            Usage => drop(world.usage(args)),
        }
    }
}

#[test]
fn items_of_lists_keep_their_fields() {
    let world = World::embedded();
    let sources = world.json(&["index", "--list-sources"]);
    let source = &sources["sources"][0];
    assert_eq!(
        (source["name"].as_str(), source["kind"].as_str()),
        (Some("vault"), Some("notes"))
    );
    assert!(source["root"].is_string());
    let hit = &world.json(&["query", "proofbox"])["hits"][0];
    for (name, kind) in [
        ("rank", Count),
        ("source", Text),
        ("kind", Text),
        ("rel_path", Text),
        ("heading_path", Text),
        ("chunk_key", Text),
        ("metadata", Text),
        ("yaml_present", Bool),
        ("text", Text),
    ] {
        assert!(is(&hit[name], kind), "`{name}` is no {kind:?}: {hit}");
    }
    let report = &world.json(&["ask", QUESTION])["citation_validation"];
    for (name, kind) in [
        ("heading_match_strategy", Text),
        ("normalize_heading", Bool),
        ("parsed_citations", List),
        ("parsed_citations_count", Count),
        ("citation_markers_found", Count),
        ("unparseable_citations_count", Count),
        ("all_citations_unparseable", Bool),
        ("missing_chunk_keys", List),
        ("not_in_snapshot_chunk_keys", List),
        ("path_mismatches", List),
        ("mismatched_sha", List),
        ("sha_unchecked_chunk_keys", List),
        ("valid", Bool),
        ("counts", Object),
    ] {
        assert!(is(&report[name], kind), "`{name}` is no {kind:?}: {report}");
    }
}

/// The environment ranks between the configuration and the flags, as in the predecessor.
#[test]
fn the_environment_names_workroot_configuration_and_server() {
    let world = World::with(&[("a.md", "# A\n\nOne line.\n")]);
    let elsewhere = world.root().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let vault = world.vault();
    let vault = vault.to_str().unwrap();
    let run = |variables: &[(&str, &str)], args: &[&str]| {
        let mut command = world.command();
        let output = command
            .envs(variables.iter().copied())
            .current_dir(&elsewhere)
            .args(args)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str::<Value>(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    };
    let unset = run(
        &[("LOCAL_AGENT_WORKROOT", "  ")],
        &["index", "--list-sources", "--json"],
    );
    assert_eq!(
        (unset["workroot"].as_str(), unset["selected_count"].as_u64()),
        (None, Some(0))
    );
    let named = run(
        &[("LOCAL_AGENT_WORKROOT", vault)],
        &["index", "--list-sources", "--json"],
    );
    assert_eq!(
        (named["workroot"].as_str(), named["selected_count"].as_u64()),
        (Some(vault), Some(1))
    );
    let flag = run(
        &[("LOCAL_AGENT_WORKROOT", "/nowhere")],
        &["index", "--list-sources", "--json", "--workroot", vault],
    );
    assert_eq!(flag["workroot"].as_str(), Some(vault));
    let config = format!("{vault}/local-agent.yaml");
    let config = run(
        &[("LOCAL_AGENT_CONFIG", &config)],
        &["index", "--list-sources", "--json"],
    );
    assert_eq!(config["selected_count"], 1);
    let urls = [
        ("LOCAL_AGENT_OLLAMA_BASE_URL", "http://127.0.0.1:2"),
        ("OLLAMA_BASE_URL", "http://127.0.0.1:3"),
    ];
    let url = |variables: &[(&str, &str)], args: &[&str]| {
        let shown = run(variables, &[&["config", "show", "--json"], args].concat());
        let settings = shown["settings"].as_array().unwrap().clone();
        settings
            .iter()
            .find(|s| s["key"] == "llm.base_url")
            .unwrap()["value"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(url(&[], &[]), "http://127.0.0.1:11434");
    assert_eq!(url(&urls[1..], &[]), "http://127.0.0.1:3");
    assert_eq!(url(&urls, &[]), "http://127.0.0.1:2");
    assert_eq!(
        url(&urls, &["--ollama-base-url", "http://127.0.0.1:1"]),
        "http://127.0.0.1:1"
    );
}
