//! Fixes of `local-agent mcp` that need a state of their own: a person runs a command, a note
//! becomes private, or the call is too long for a table.

use serde_json::{Value, json};

use super::client_calls::{ClientRow, MakesCalls as _, ToldFailure};
use super::mcp_calls::McpCaller;
use super::place::{indexed, plain, used};
use crate::harness::World;

/// How a fix begins that an agent passes on to a person.
const ASK: &str = "ask the person: local-agent ";

/// Maximum number of notes that one client may subscribe to.
const MOST_WATCHED: usize = 1000;

/// A call that succeeds after a person ran the command of its fix, without a new session.
struct AskedCall {
    state: &'static str,
    make: fn() -> World,
    call: &'static str,
    code: &'static str,
    command: &'static str,
}

const NOT_INDEXED: AskedCall = AskedCall {
    state: "nothing was indexed",
    make: plain,
    call: "tags {}",
    code: "INDEX_MISSING",
    command: "index",
};

const ASKED: &[AskedCall] = &[
    NOT_INDEXED,
    AskedCall {
        call: r#"search {"query": "oven"}"#,
        ..NOT_INDEXED
    },
    AskedCall {
        call: r#"ask {"question": "What is the oven made of?"}"#,
        ..NOT_INDEXED
    },
    AskedCall {
        call: r#"links {"note": "oven.md"}"#,
        ..NOT_INDEXED
    },
    AskedCall {
        state: "nothing was embedded",
        make: indexed,
        call: r#"similar {"note": "oven.md"}"#,
        code: "PHASE2_QUERY_ERROR",
        command: "embed",
    },
];

pub(super) fn rows() -> Vec<ClientRow> {
    let mut rows: Vec<ClientRow> = ASKED.iter().map(asked).collect();
    rows.extend([
        private_run(),
        memory_off(),
        long_answer(),
        many_subscriptions(),
    ]);
    rows
}

fn asked(asked: &AskedCall) -> ClientRow {
    let AskedCall {
        state,
        call,
        code,
        command,
        ..
    } = *asked;
    let world = (asked.make)();
    let mut caller = McpCaller::start(&world);
    let told = caller.make(call);
    let wanted = ToldFailure::new(code, &format!("{ASK}{command}"));
    assert_eq!(told, Some(wanted.clone()), "{state}: {call}");
    world.ok(&[command]);
    assert_eq!(caller.make(call), None, "{state}: {call}");
    assert_eq!(caller.session.end().0, 0);
    let how = format!("`local-agent {command}`");
    ClientRow::mended(state, call, wanted, &how)
}

/// The note of a run became private, so its evidence is not quoted. Another run has no such note.
fn private_run() -> ClientRow {
    let world = used();
    let run = world.json(&["runs", "list"])["runs"][0]["run_id"].clone();
    world.write(
        "oven.md",
        "---\nprivate: on\n---\n# Oven\n\nThe oven is made of granite.\n",
    );
    let mut caller = McpCaller::start(&world);
    let verify = |run: &Value| format!(r#"verify {{"answer": "It is so [E1].", "run_id": {run}}}"#);
    let wanted = ToldFailure::new(
        "RUN_INCOMPLETE",
        "call `ask` again, and verify with the `run_id` that it gives",
    );
    assert_eq!(caller.make(&verify(&run)), Some(wanted.clone()));
    let ask = r#"ask {"question": "When was the pump mended?"}"#;
    assert_eq!(caller.make(ask), None);
    assert_eq!(caller.make(&verify(&json!("<run>"))), None);
    let how = format!("`{ask}`, then `{}`", verify(&json!("<run>")));
    let call = verify(&json!("<a run>"));
    ClientRow::mended("a note of the run is private now", &call, wanted, &how)
}

/// A server reads its configuration at its start.
fn memory_off() -> ClientRow {
    let world = used();
    let configured = |text: &str| {
        let sources = "sources: [{name: notes, root: .}]\n";
        world.write("local-agent.yaml", &format!("{sources}{text}"));
    };
    configured("memory: {enabled: false}\n");
    let call = r#"memory_search {"query": "bake"}"#;
    let mut caller = McpCaller::start(&world);
    let wanted = ToldFailure::new(
        "PHASE3_MEMORY_DISABLED",
        "ask the person: set `memory.enabled: true` in the configuration; afterwards this server must be started again",
    );
    assert_eq!(caller.make(call), Some(wanted.clone()));
    assert_eq!(caller.session.end().0, 0);
    configured("");
    let mut again = McpCaller::start(&world);
    assert_eq!(again.make(call), None);
    assert_eq!(again.session.end().0, 0);
    let how = "the key is taken out, and the server is started again";
    ClientRow::mended("memory is switched off", call, wanted, how)
}

/// An answer above the maximum size is verified in parts.
fn long_answer() -> ClientRow {
    let world = indexed();
    let mut caller = McpCaller::start(&world);
    let sentence = "The oven is made of granite [oven.md:6]. ";
    let verify = |times: usize| format!("verify {}", json!({"answer": sentence.repeat(times)}));
    let wanted = ToldFailure::new("FILE_TOO_LARGE", "verify its parts");
    let times = (8 << 20) / sentence.len() + 1;
    assert_eq!(caller.make(&verify(times)), Some(wanted.clone()));
    assert_eq!(caller.make(&verify(1)), None);
    let call = r#"verify {"answer": "<more than 8 MiB>"}"#;
    let how = r#"`verify {"answer": "<a part of it>"}`"#;
    ClientRow::mended("an answer that is too long", call, wanted, how)
}

/// A client that may subscribe to no further note gives up one.
fn many_subscriptions() -> ClientRow {
    let world = plain();
    for n in 0..=MOST_WATCHED {
        world.write(&format!("many/{n}.md"), "# Note\n");
    }
    let mut caller = McpCaller::start(&world);
    let call =
        |how: &str, n: &str| format!(r#"resources/{how} {{"uri": "note://notes/many/{n}.md"}}"#);
    for n in 0..MOST_WATCHED {
        assert_eq!(caller.make(&call("subscribe", &n.to_string())), None);
    }
    let last = call("subscribe", &MOST_WATCHED.to_string());
    let wanted = ToldFailure::new("INVALID_ARGS", "unsubscribe from another note");
    assert_eq!(caller.make(&last), Some(wanted.clone()));
    assert_eq!(caller.make(&call("unsubscribe", "0")), None);
    assert_eq!(caller.make(&last), None);
    let how = format!("`{}`, then the call again", call("unsubscribe", "0"));
    ClientRow::mended("1000 notes are subscribed to", &last, wanted, &how)
}
