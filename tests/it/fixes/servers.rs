//! Model servers that are missing, lack the model, require a key, or have too small a window.

use super::case::{Case, Follow, Then, case};
use super::place::{configure, indexed, used};
use crate::chat_server::{ChatServer, say};
use crate::harness::World;
use local_agent_testing::server::{Seen, Server, Step, ok_json, serve};

/// A port of the loopback address on which no server listens.
const NOBODY: &str = "http://127.0.0.1:9";
const QUESTION: &str = "What is the oven made of?";
const ANSWER: &str = "The oven is made of granite [E1].";
const REVISION: &str = "0123456789abcdef0123456789abcdef01234567";
/// A reply of an OpenAI-like server to `chat`.
const CHAT_REPLY: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
/// A reply of an OpenAI-like server to `embed`, for one text.
const VECTOR: &str = r#"{"data":[{"index":0,"embedding":[1.0,0.5,0.25]}]}"#;

pub(super) fn cases() -> Vec<Case> {
    [
        chat_with_ollama(),
        chat_with_openai(),
        embedding(),
        pulling(),
    ]
    .concat()
}

#[test]
fn a_server_that_wants_a_key_is_told_from_one_that_fails() {
    let world = chatting(indexed(), "openai", &openai_with_key());
    assert_eq!(world.code(&["chat", "hello"]), "SERVER_UNAUTHORIZED");
}

/// A world whose chat model is on this server.
fn chatting(world: World, provider: &str, url: &str) -> World {
    configure(
        &world,
        &format!("llm: {{model: m, base_url: '{url}'}}\nask: {{provider: {provider}}}\n"),
    );
    world
}

/// A world whose embedding model is on this server.
fn embedding_by(world: World, provider: &str, url: &str) -> World {
    configure(
        &world,
        &format!("llm: {{base_url: '{url}'}}\nembed: {{provider: {provider}, model: m}}\n"),
    );
    world
}

/// The address of an Ollama that has the model; it lives as long as the tests.
fn ollama_with_model() -> String {
    let script = (0..8).map(|_| say(ANSWER)).collect();
    Box::leak(Box::new(ChatServer::ollama(script))).url()
}

/// The address of a server that lives as long as the tests.
fn lasting(answer: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> String {
    let server: &'static Server = Box::leak(Box::new(serve(answer)));
    server.url("")
}

/// The address of an Ollama without any model.
fn ollama_without_models() -> String {
    lasting(|seen| match seen.path.as_str() {
        "/api/tags" => vec![Step::Bytes(ok_json(r#"{"models":[]}"#))],
        _ => refuse(404, "model not found"),
    })
}

/// The address of a server that requires the key `k` and has the model `m`.
fn openai_with_key() -> String {
    lasting(|seen| match seen.header("authorization") {
        Some("Bearer k") => openai_reply(seen),
        _ => refuse(401, "no key"),
    })
}

/// The address of a server that has only the model `m` and does not list it.
fn openai_with_model(name: &'static str) -> String {
    lasting(move |seen| {
        let wants = format!("\"{name}\"");
        match seen.path == "/v1/models" || seen.body.contains(&wants) {
            true => openai_reply(seen),
            false => refuse(404, "model not found"),
        }
    })
}

fn openai_reply(seen: &Seen) -> Vec<Step> {
    let body = match seen.path.as_str() {
        "/v1/models" => r#"{"data":[]}"#.to_owned(),
        "/v1/embeddings" => vectors_of(&seen.body),
        "/v1/chat/completions" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\
                connection: close\r\n\r\n";
            return vec![Step::Bytes(format!("{head}{CHAT_REPLY}").into_bytes())];
        }
        _ => return refuse(404, "no such path"),
    };
    vec![Step::Bytes(ok_json(&body))]
}

/// A vector for each text of a request.
fn vectors_of(request: &str) -> String {
    let asked: serde_json::Value = serde_json::from_str(request).unwrap();
    let texts = asked["input"].as_array().unwrap().len();
    let one: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
    let mut data = Vec::new();
    for at in 0..texts {
        let mut vector = one["data"][0].clone();
        vector["index"] = at.into();
        data.push(vector);
    }
    serde_json::json!({"data": data}).to_string()
}

fn refuse(status: u16, why: &str) -> Vec<Step> {
    let body = format!(r#"{{"error":{{"message":"{why}"}}}}"#);
    let reply = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
    vec![Step::Bytes(reply.into_bytes())]
}

fn chat_with_ollama() -> Vec<Case> {
    let pulled = Follow::ByHand("a server that has it is named", |world| {
        let text = format!(
            "llm: {{model: m, base_url: '{}'}}\nask: {{provider: ollama}}\n",
            ollama_with_model()
        );
        configure(world, &text);
    });
    vec![
        case(
            "the server of the chat model is not there",
            || chatting(indexed(), "ollama", NOBODY),
            &["ask", QUESTION],
            "SERVER_UNREACHABLE",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["doctor"], "DOCTOR_OLLAMA_UNREACHABLE"),
        ),
        case(
            "the server of the chat model is not there",
            || chatting(used(), "ollama", NOBODY),
            &["doctor"],
            "DOCTOR_OLLAMA_UNREACHABLE",
        )
        .ends(pulled, Then::Health),
        case(
            "the server does not have the chat model",
            || chatting(indexed(), "ollama", &ollama_without_models()),
            &["ask", QUESTION],
            "MODEL_NOT_FOUND",
        )
        .ends(pulled, Then::Health),
        case(
            "the server does not have the chat model",
            || chatting(used(), "ollama", &ollama_without_models()),
            &["doctor"],
            "DOCTOR_OLLAMA_MODEL_MISSING",
        )
        .ends(pulled, Then::Health),
    ]
}

fn trusted(world: World) -> World {
    world.ok(&["config", "trust"]);
    world
}

fn chat_with_openai() -> Vec<Case> {
    let key = Follow::Variable("LOCAL_AGENT_API_KEY", "k");
    vec![
        case(
            "an OpenAI-like server is not there",
            || chatting(used(), "openai", NOBODY),
            &["doctor"],
            "DOCTOR_ASK_PROVIDER_NOT_READY",
        )
        .ends(
            Follow::ByHand("a server that has it is named", |world| {
                let url = openai_with_model("m");
                let text =
                    format!("llm: {{model: m, base_url: '{url}'}}\nask: {{provider: openai}}\n");
                configure(world, &text);
            }),
            Then::Health,
        ),
        case(
            "the server of the chat model asks for a key",
            || chatting(indexed(), "openai", &openai_with_key()),
            &["chat", "hello"],
            "SERVER_UNAUTHORIZED",
        )
        .ends(key, Then::Next("SERVER_UNAUTHORIZED")),
        case(
            "the same, and the configuration is trusted",
            || trusted(chatting(indexed(), "openai", &openai_with_key())),
            &["chat", "hello"],
            "SERVER_UNAUTHORIZED",
        )
        .ends(key, Then::Health),
        case(
            "an OpenAI-like server does not have the chat model",
            || chatting(indexed(), "openai", &openai_with_model("n")),
            &["chat", "hello"],
            "MODEL_NOT_FOUND",
        )
        .ends(
            Follow::ByHand("the other model is named", |world| {
                name_other_model(world, "model: m", "model: n");
            }),
            Then::Health,
        ),
    ]
}

fn name_other_model(world: &World, from: &str, to: &str) {
    let path = world.vault().join("local-agent.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace(from, to)).unwrap();
}

fn embedding() -> Vec<Case> {
    vec![
        case(
            "the server of the embedding model is not there",
            || embedding_by(indexed(), "ollama", NOBODY),
            &["embed"],
            "SERVER_UNREACHABLE",
        )
        .ends(
            Follow::Printed,
            Then::Says(&["doctor"], "DOCTOR_OLLAMA_UNREACHABLE"),
        ),
        case(
            "the server does not have the embedding model",
            || embedding_by(indexed(), "ollama", &ollama_without_models()),
            &["embed"],
            "MODEL_NOT_FOUND",
        )
        .ends(
            Follow::ByHand("a server that has it is named", |world| {
                let url = openai_with_model("m");
                let text =
                    format!("llm: {{base_url: '{url}'}}\nembed: {{provider: openai, model: m}}\n");
                configure(world, &text);
            }),
            Then::Health,
        ),
        case(
            "the server of the embedding model asks for a key",
            || trusted(embedding_by(indexed(), "openai", &openai_with_key())),
            &["embed"],
            "SERVER_UNAUTHORIZED",
        )
        .ends(Follow::Variable("LOCAL_AGENT_API_KEY", "k"), Then::Health),
        case(
            "an OpenAI-like server does not have the embedding model",
            || embedding_by(indexed(), "openai", &openai_with_model("n")),
            &["embed"],
            "MODEL_NOT_FOUND",
        )
        .ends(
            Follow::ByHand("the other model is named", |world| {
                name_other_model(world, "model: m", "model: n");
            }),
            Then::Health,
        ),
    ]
}

fn pulling() -> Vec<Case> {
    const WHOLE: &[&str] = &[
        "models",
        "pull",
        "mine",
        "--repo",
        "a/b",
        "--revision",
        REVISION,
        "--endpoint",
        NOBODY,
    ];
    vec![
        case(
            "the server of the models cannot be reached",
            indexed,
            WHOLE,
            "MODEL_PULL_ERROR",
        )
        .ends(
            Follow::ByHand("the network is still not there", |_| {}),
            Then::Informed,
        ),
        case(
            "a model that is not known by name",
            indexed,
            &["models", "pull", "mine"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(WHOLE), Then::Next("MODEL_PULL_ERROR")),
        case(
            "a repository without a commit",
            indexed,
            &["models", "pull", "mine", "--repo", "a/b"],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(WHOLE), Then::Next("MODEL_PULL_ERROR")),
        case(
            "a revision that can be none",
            indexed,
            &[
                "models",
                "pull",
                "mine",
                "--repo",
                "a/b",
                "--revision",
                "../main",
            ],
            "INVALID_ARGS",
        )
        .ends(Follow::Again(WHOLE), Then::Next("MODEL_PULL_ERROR")),
    ]
}
