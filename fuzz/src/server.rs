//! The server for agents: one session over a small vault, in one process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use local_agent::mcp::{Service, serve};
use local_agent_agent::ask::Day;
use local_agent_agent::config::{Inputs, Loaded, load};
use local_agent_agent::operations::{self, Library};
use local_agent_agent::tools::{Caller, ToolFactory, ToolPolicy};
use local_agent_files::state::KnownStates;
use local_agent_index::indexing::{Counter, IndexOptions, index};
use local_agent_text::markdown::{ChunkOptions, Scheme};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

/// Operations and tools that a call may name, selected by the first byte of the input.
const TOOLS: &[&str] = &[
    "search",
    "get",
    "multi_get",
    "ask",
    "verify",
    "status",
    "grep",
    "read_text_file",
    "outline",
    "related_files",
];

const NOTES: [(&str, &str); 2] = [
    (
        "boiler.md",
        "---\ntags: [heat]\n---\n# Boiler\n\nThe boiler runs at 72 degrees. See [[pumps]].\n",
    ),
    ("pumps.md", "# Pumps\n\nThe pump was mended in May.\n"),
];

/// Whatever a client sends, each line of the reply is valid protocol, nothing is reported as an
/// internal error, a ping after it is answered, and the server ends when the client closes its end.
///
/// The first byte selects a tool, whose arguments are the rest; a byte beyond the list sends the
/// rest unchanged.
pub(super) fn mcp(data: &[u8]) {
    thread_local! {
        static PLACE: TempDir = vault();
    }
    let Some((which, rest)) = data.split_first() else {
        return;
    };
    let mut sent = line(
        &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "fuzz", "version": "1"}}}),
    );
    sent.extend(line(
        &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ));
    match TOOLS.get(usize::from(*which)) {
        Some(name) => {
            let Ok(arguments) = serde_json::from_slice::<Value>(rest) else {
                return;
            };
            sent.extend(line(
                &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": name, "arguments": arguments}}),
            ));
        }
        None => sent.extend(rest),
    }
    sent.push(b'\n');
    sent.extend(line(
        &json!({"jsonrpc": "2.0", "id": "last", "method": "ping"}),
    ));
    let answered = PLACE.with(|place| session(place.path(), sent));
    let mut last = false;
    for answer in answered
        .split(|byte| *byte == b'\n')
        .filter(|l| !l.is_empty())
    {
        let answer: Value = serde_json::from_slice(answer).expect("a line that is no protocol");
        assert_eq!(answer["jsonrpc"], "2.0");
        assert!(!answer.to_string().contains("INTERNAL_ERROR"), "{answer}");
        last |= answer["id"] == "last";
    }
    assert!(last, "the ping was not answered");
}

fn line(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

/// Serves one client that sends all of `sent`, waits for the reply to its ping, and disconnects.
fn session(place: &Path, sent: Vec<u8>) -> Vec<u8> {
    let (client, server) = duplex(1 << 20);
    let reader = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut from, mut to) = tokio::io::split(client);
            to.write_all(&sent).await.unwrap();
            let mut answered = Vec::new();
            let mut part = [0; 4096];
            let end = b"\"id\":\"last\"";
            while !answered.windows(end.len()).any(|w| w == end) {
                match from.read(&mut part).await.unwrap() {
                    0 => break,
                    n => answered.extend_from_slice(&part[..n]),
                }
            }
            to.shutdown().await.unwrap();
            from.read_to_end(&mut answered).await.unwrap();
            answered
        })
    });
    serve(service(place), || tokio::io::split(server)).unwrap();
    reader.join().unwrap()
}

fn service(place: &Path) -> Service {
    let loaded = loaded(place);
    let sandbox = operations::sandbox(&loaded.config).unwrap();
    let files = ToolFactory::new(sandbox, ToolPolicy::from(&loaded.config.tools));
    Service {
        confined_to: None,
        audit: Arc::new(|_| Ok(())),
        files: files.with(Caller::Agent, None, None),
        private: None,
        library: Library::for_server(&loaded.config, None),
        roots: serde_json::Map::new(),
        log: Box::new(|_| {}),
        today,
        loaded,
    }
}

/// Always the same day, so that a run can be repeated.
fn today() -> Day {
    Day::from_number(0)
}

/// The configuration of the vault below `place`.
fn loaded(place: &Path) -> Loaded {
    let inputs = Inputs {
        cwd: place.join("vault"),
        config_flag: Some(configuration(place)),
        home: Some(place.to_owned()),
        ..Inputs::default()
    };
    load(&inputs).unwrap()
}

fn configuration(place: &Path) -> PathBuf {
    place.join("vault/local-agent.yaml")
}

fn vault() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    index_small_vault(place.path());
    place
}

/// Writes two notes below `place` and indexes them.
fn index_small_vault(place: &Path) {
    std::fs::create_dir_all(place.join("vault")).unwrap();
    for (name, text) in NOTES {
        std::fs::write(place.join("vault").join(name), text).unwrap();
    }
    let text = format!(
        "sources:\n  - {{name: notes, root: .}}\nstate_dir: ../state\nruns: {{enabled: false}}\n\
         mcp: {{tools: [{}]}}\n",
        TOOLS[6..].join(", ")
    );
    std::fs::write(configuration(place), text).unwrap();
    KnownStates::new(&place.join("states"))
        .adopt(&place.join("state"))
        .unwrap();
    let config = loaded(place).config;
    let options = IndexOptions {
        selected: &config.sources,
        configured: &config.sources,
        db_path: &config.index.db_path,
        lexical_dir: &config.lexical_dir(),
        chunking: ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens: 60,
            max_chars: 400,
            overlap: 0,
        },
        chunker_sig: "fuzz",
        definitions: &|_, _| Vec::new(),
        verify: false,
        rebuild: None,
        allow_empty: false,
        wait: Duration::ZERO,
        holder: "a fuzz target",
    };
    let count = || Ok(Box::new(|text: &str| text.split_whitespace().count()) as Counter<'_>);
    let sandbox = operations::sandbox(&config).unwrap();
    index(&options, &sandbox, &count, &|_| {}).unwrap();
}
