//! Chat models that answer badly at first, and models on another machine.

use serde_json::{Value, json};

use super::case::{Case, Follow, Then, case};
use super::place::{configure_trusted, indexed};
use crate::chat_server::{ChatServer, Say, say};
use crate::harness::World;
use local_agent_testing::server::{Seen, Server, Step, ok_json, serve};

const QUESTION: &str = "What is the oven made of?";
/// A question that names a file, which the model has to read first.
const OF_FILE: &str = "What does oven.md say about granite?";
const READ: &[&str] = &["ask", QUESTION, "--read", "oven.md"];
const ANSWER: &str = "The oven is made of granite [E1].";
const TABLE: &str = "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |";
const WRONG: &str = "The oven costs 6 euros.";

pub(super) fn cases() -> Vec<Case> {
    [replies(), of_files(), windows(), far_away()].concat()
}

/// The indexed vault, whose chat model is on this server.
fn chatting(provider: &str, url: &str) -> World {
    let world = indexed();
    let llm = format!("llm: {{model: m, base_url: '{url}'}}\nask: {{provider: {provider}}}\n");
    configure_trusted(&world, &llm);
    world
}

/// Changes a text of the configuration.
fn in_configuration(world: &World, from: &str, to: &str) {
    let path = world.vault().join("local-agent.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{text}");
    std::fs::write(&path, text.replace(from, to)).unwrap();
    world.ok(&["config", "trust"]);
}

/// The address of an Ollama with these replies; it lives as long as the tests.
fn ollama(script: Vec<Say>) -> String {
    Box::leak(Box::new(ChatServer::ollama(script))).url()
}

/// A world whose model replies badly in two runs, in `each` requests of a run, and then well. The
/// fix is looked at twice before it is followed.
fn at_first(bad: fn() -> Say, each: usize, good: &str) -> World {
    let mut script: Vec<Say> = (0..2 * each).map(|_| bad()).collect();
    script.push(say(good));
    chatting("ollama", &ollama(script))
}

/// The address of a server that lives as long as the tests.
fn lasting(answer: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> String {
    let server: &'static Server = Box::leak(Box::new(serve(answer)));
    server.url("")
}

fn replies() -> Vec<Case> {
    vec![
        case(
            "the model replies nothing",
            || at_first(|| say(""), 1, "Hello."),
            &["chat", "hello"],
            "SERVER_ERROR",
        )
        .ends(Follow::ByHand("it is asked again", |_| {}), Then::Health),
        case(
            "the model read only a part of the question",
            || at_first(|| Say::ReadOnly(20, ANSWER.to_owned()), 1, ANSWER),
            &["ask", QUESTION],
            "LLM_CONTEXT_TRUNCATED",
        )
        .ends(
            Follow::ByHand("`ask.top_n` is lowered", fewer_items),
            Then::Health,
        ),
        case(
            "the server says that the question is too long",
            too_long,
            &["ask", QUESTION],
            "LLM_CONTEXT_TRUNCATED",
        )
        .ends(
            Follow::ByHand("`ask.top_n` is lowered", fewer_items),
            Then::Health,
        ),
        case(
            "the model calls tools and does not answer",
            || {
                let world = at_first(lists, 2, ANSWER);
                in_configuration(&world, "llm: {", "tools: {max_turns: 2}\nllm: {");
                world
            },
            &["ask", QUESTION, "--tools"],
            "TOOL_LIMIT",
        )
        .ends(
            Follow::ByHand("`tools.max_turns` is raised", |world| {
                in_configuration(world, "max_turns: 2", "max_turns: 4");
            }),
            Then::Health,
        ),
    ]
}

/// A call of a tool that needs no file.
fn lists() -> Say {
    say(&json!({"type": "tool_call", "name": "list_dir", "args": {}}).to_string())
}

fn fewer_items(world: &World) {
    in_configuration(world, "ask: {provider: ", "ask: {top_n: 2, provider: ");
}

/// A world whose server, one like llama.cpp's, refuses two questions as too long.
fn too_long() -> World {
    let body = r#"{"error":{"message":"the request exceeds the context length"}}"#;
    let refusal = format!(
        "HTTP/1.1 400 X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    let refused = || Say::Bytes(refusal.clone().into_bytes());
    let script = vec![refused(), refused(), say(ANSWER)];
    let server = Box::leak(Box::new(ChatServer::openai(script)));
    chatting("openai", &server.url())
}

fn reads(file: &str) -> Say {
    let call = json!({"type": "tool_call", "name": "read_text_file", "args": {"path": file}});
    say(&call.to_string())
}

fn of_files() -> Vec<Case> {
    const GOOD: &str = "The oven is made of granite.";
    let again = Follow::ByHand("it is asked again", |_| {});
    let read = Follow::Again(&["ask", "--read", "oven.md", OF_FILE]);
    vec![
        case(
            "the model answers with a table, twice",
            || at_first(|| say(TABLE), 2, GOOD),
            READ,
            "SECOND_PASS_FORMAT_VIOLATION",
        )
        .ends(again, Then::Health),
        case(
            "the model calls a tool instead of answering",
            || at_first(|| reads("oven.md"), 1, GOOD),
            READ,
            "UNEXPECTED_TOOL_CALL_SECOND_PASS",
        )
        .ends(again, Then::Health),
        case(
            "the model answers without the file",
            || at_first(|| say("It is granite."), 1, GOOD),
            &["ask", OF_FILE],
            "EVIDENCE_NOT_ACQUIRED",
        )
        .ends(read, Then::Health),
        case(
            "the model asks for another file",
            || at_first(|| reads("pump.md"), 1, GOOD),
            &["ask", OF_FILE],
            "EVIDENCE_INVALID",
        )
        .ends(read, Then::Health),
        case(
            "the model says what the file does not",
            || {
                let world = at_first(|| say(WRONG), 3, WRONG);
                world.write("price.md", "# Price\n\nThe oven costs 5 euros.\n");
                world
            },
            &[
                "ask",
                "What does it cost?",
                "--read",
                "price.md",
                "--strict",
            ],
            "ASK_CITATION_INVALID",
        )
        .ends(Follow::Printed, Then::Informed),
    ]
}

/// The address of an Ollama whose model reads only 300 tokens.
fn ollama_with_small_window() -> String {
    lasting(|seen| {
        let body = match seen.path.as_str() {
            "/api/tags" => r#"{"models":[{"name":"m:latest","digest":"0123abcd"}]}"#,
            "/api/show" => r#"{"model_info":{"llama.context_length":300}}"#,
            _ => "{}",
        };
        vec![Step::Bytes(ok_json(body))]
    })
}

fn windows() -> Vec<Case> {
    vec![
        case(
            "the window of the model is too small",
            || chatting("ollama", &ollama_with_small_window()),
            &["ask", QUESTION],
            "LLM_CONTEXT_TRUNCATED",
        )
        .ends(
            Follow::ByHand("a model with a larger one is configured", |world| {
                let url = ollama(vec![say(ANSWER)]);
                configure_trusted(
                    world,
                    &format!("llm: {{model: m, base_url: '{url}'}}\nask: {{provider: ollama}}\n"),
                );
            }),
            Then::Health,
        ),
    ]
}

/// The address reaches this machine, but its spelling does not show that.
fn far(url: &str) -> String {
    url.replace("127.0.0.1", "0.0.0.0")
}

fn add_diary(world: &World) {
    world.write("diary.md", "---\nprivate: true\n---\n# Diary\n\nI bake.\n");
    world.ok(&["index"]);
}

/// A private note, and a chat model on another machine.
fn far_chat() -> World {
    let world = chatting("ollama", &far(&ollama(Vec::new())));
    add_diary(&world);
    world
}

/// A private note, and vectors of an embedding model on another machine, which did not get it.
fn far_embedding() -> World {
    let world = indexed();
    add_diary(&world);
    let url = far(&lasting(|seen| {
        let asked: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        let texts = asked["input"].as_array().map_or(1, Vec::len);
        let vectors: Vec<Value> = (0..texts).map(|_| json!([0.6, 0.8])).collect();
        let models = json!([{"name": "m", "model": "m", "digest": "d"}]);
        let reply = json!({"embeddings": vectors, "models": models});
        vec![Step::Bytes(ok_json(&reply.to_string()))]
    }));
    let text = format!("llm: {{base_url: '{url}'}}\nembed: {{provider: ollama, model: m}}\n");
    configure_trusted(&world, &text);
    world.ok(&["embed"]);
    world
}

fn far_away() -> Vec<Case> {
    vec![
        case(
            "a private note, and a chat model on another machine",
            far_chat,
            &["ask", "What do I do?", "--read", "diary.md"],
            "PATH_DENIED",
        )
        .ends(
            Follow::ByHand("a model of this machine is chosen", |world| {
                in_configuration(world, "0.0.0.0", "127.0.0.1");
            }),
            Then::Health,
        ),
        case(
            "a private note, and an embedding model on another machine",
            far_embedding,
            &["similar", "diary.md"],
            "PHASE2_QUERY_ERROR",
        )
        .ends(
            Follow::ByHand("the built-in model is chosen", |world| {
                configure_trusted(world, "");
                world.ok(&["embed"]);
            }),
            Then::Health,
        ),
    ]
}
