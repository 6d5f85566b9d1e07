//! Both protocols against a server that uses the real wire format, with complete and broken
//! replies.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use local_agent_net::ApiKey;
use local_agent_testing::server::{Seen, Server, Step, ok_json, serve};
use local_agent_text::error::{ErrorCode, Failure};

const WAIT: Duration = Duration::from_secs(20);
const SAMPLING: Sampling = Sampling {
    max_tokens: 100,
    temperature: 0.2,
};

/// The bodies that were posted, in order.
type Posted = Arc<Mutex<Vec<(String, Value, Option<String>)>>>;

fn head(kind: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").into_bytes()
}

fn status(code: u16, body: &str) -> Vec<Step> {
    let head = format!(
        "HTTP/1.1 {code} X\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    vec![Step::Bytes(head.into_bytes())]
}

/// An Ollama server with the model `m:latest`; `chat` answers `/api/chat`.
fn ollama(chat: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> (Server, Posted) {
    let posted: Posted = Arc::default();
    let log = posted.clone();
    let server = serve(move |seen| match seen.path.as_str() {
        "/api/tags" => vec![Step::Bytes(ok_json(
            r#"{"models":[{"name":"m:latest","digest":"sha256:d1"},{"name":"wide:latest"}]}"#,
        ))],
        "/api/show" if seen.body.contains("wide") => {
            let body = r#"{"model_info":{"x.context_length":131072}}"#;
            vec![Step::Bytes(ok_json(body))]
        }
        "/api/show" => {
            let body = r#"{"capabilities":["completion","thinking"],"model_info":{"x.context_length":4096}}"#;
            vec![Step::Bytes(ok_json(body))]
        }
        "/api/chat" => {
            let key = seen.header("authorization").map(str::to_owned);
            log.lock().unwrap().push((
                seen.path.clone(),
                serde_json::from_str(&seen.body).unwrap(),
                key,
            ));
            chat(seen)
        }
        _ => status(404, "{}"),
    });
    (server, posted)
}

/// An answer in pieces, then the end.
fn ndjson(pieces: &[&str], end: &Value) -> Vec<Step> {
    let mut out = head("application/x-ndjson");
    for piece in pieces {
        let line = json!({"model": "m:latest", "message": {"role": "assistant", "content": piece}, "done": false});
        out.extend(format!("{line}\n").bytes());
    }
    if !end.is_null() {
        out.extend(format!("{end}\n").bytes());
    }
    vec![Step::Bytes(out)]
}

fn end() -> Value {
    json!({"model": "m:latest", "message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop",
           "prompt_eval_count": 40, "eval_count": 7})
}

fn ask_ollama(server: &Server) -> Result<Reply> {
    ask_ollama_for(server, WAIT)
}

fn ask_ollama_for(server: &Server, timeout: Duration) -> Result<Reply> {
    let chat = OllamaChat::connect(&server.url("/"), "m", WAIT, timeout)?;
    chat.ask(&messages(), SAMPLING, &mut |_| Ok(()))
}

fn messages() -> Vec<Message> {
    vec![
        Message::new(Role::System, "Be short."),
        Message::new(Role::User, "Why?"),
    ]
}

#[test]
fn w8_ollama_is_asked_with_a_window_a_seed_and_a_limit() {
    let (server, posted) = ollama(|_| ndjson(&["It is ", "5 [E1]."], &end()));
    let chat = OllamaChat::connect(&server.url(""), "m", WAIT, WAIT).unwrap();
    assert_eq!(chat.model().name, "m:latest");
    assert_eq!(chat.model().digest.as_deref(), Some("sha256:d1"));
    assert_eq!(chat.model().window, Some(4096));
    assert_eq!(format!("http://{}", chat.model().endpoint), server.url(""));
    let mut seen = Vec::new();
    let mut watch = |text: &str| {
        seen.push(text.len());
        Ok(())
    };
    let reply = chat.ask(&messages(), SAMPLING, &mut watch).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish, reply.attempts),
        ("It is 5 [E1].", Finish::Stop, 1)
    );
    assert_eq!(
        (reply.prompt_tokens, reply.reply_tokens, reply.window),
        (Some(40), Some(7), Some(4096))
    );
    // While nothing arrives, the same number may be reported again.
    seen.dedup();
    assert_eq!(seen, [0, 6, 13]);
    let posted = posted.lock().unwrap();
    let (path, body, key) = &posted[0];
    assert_eq!((path.as_str(), key), ("/api/chat", &None));
    assert_eq!(body["options"]["num_ctx"], 4096);
    assert_eq!(
        (&body["options"]["num_predict"], &body["options"]["seed"]),
        (&json!(100), &json!(1))
    );
    assert_eq!(body["options"]["temperature"], json!(0.2));
    assert_eq!(body["keep_alive"], Value::Null);
    assert_eq!(
        body["messages"],
        json!([{"role": "system", "content": "Be short."}, {"role": "user", "content": "Why?"}])
    );
    assert_eq!(
        (&body["stream"], &body["think"], &body["truncate"]),
        (&json!(true), &json!(false), &json!(false))
    );
}

/// Fails at the third call: neither at once, nor only after data has arrived.
fn give_up_soon() -> impl FnMut(&str) -> Result<()> {
    let mut left = 2;
    move |_| {
        left -= 1;
        if left < 0 {
            Err(Failure::new(ErrorCode::Cancelled, "enough"))
        } else {
            Ok(())
        }
    }
}

#[test]
fn whoever_waits_can_give_up_before_a_reply_begins_and_in_the_middle_of_it() {
    let long = || Step::Wait(10 * WAIT);
    let begun = || Step::Bytes(head("application/x-ndjson"));
    for steps in [vec![], vec![begun()]] {
        let begun = !steps.is_empty();
        let steps = Mutex::new(steps);
        let (server, _) =
            ollama(move |_| steps.lock().unwrap().drain(..).chain([long()]).collect());
        let chat = OllamaChat::connect(&server.url(""), "m", WAIT, WAIT).unwrap();
        let failure = chat
            .ask(&messages(), SAMPLING, &mut give_up_soon())
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::Cancelled, "begun: {begun}");
    }
    let (loading, _) = openai(|_| status(503, "{}"), |_| None);
    let failure = connect(&loading, None)
        .unwrap()
        .ask(&messages(), SAMPLING, &mut give_up_soon())
        .unwrap_err();
    assert_eq!(failure.code, ErrorCode::Cancelled);
}

#[test]
fn the_window_never_exceeds_what_the_model_has() {
    let (server, posted) = ollama(|_| ndjson(&["x"], &end()));
    let chat = OllamaChat::connect(&server.url(""), "m", WAIT, WAIT).unwrap();
    let long = [Message::new(Role::User, "word ".repeat(10_000))];
    assert_eq!(
        chat.ask(&long, SAMPLING, &mut |_| Ok(())).unwrap().window,
        Some(4096)
    );
    assert_eq!(posted.lock().unwrap()[0].1["options"]["num_ctx"], 4096);
}

#[test]
fn a_window_and_a_time_in_memory_that_were_set_are_in_every_request() {
    let (server, posted) = ollama(|_| ndjson(&["x"], &end()));
    for (time, sent) in [("30m", json!("30m")), ("-1", json!(-1))] {
        let chat = OllamaChat::connect(&server.url(""), "m", WAIT, WAIT).unwrap();
        let chat = chat.with_memory(Some(2048), Some(time));
        assert_eq!(chat.model().window, Some(2048));
        let long = [Message::new(Role::User, "word ".repeat(1_000))];
        for messages in [&messages()[..], &long] {
            chat.ask(messages, SAMPLING, &mut |_| Ok(())).unwrap();
            let body = posted.lock().unwrap().pop().unwrap().1;
            assert_eq!(
                (&body["options"]["num_ctx"], &body["keep_alive"]),
                (&json!(2048), &sent)
            );
        }
    }
}

#[test]
fn a_shorter_prompt_and_a_second_opinion_load_no_model_again() {
    let (server, posted) = ollama(|_| {
        let line = json!({"message": {"content": "x"}, "done": true});
        let body = format!("{line}\n").into_bytes();
        vec![Step::Bytes([head("application/x-ndjson"), body].concat())]
    });
    let connect = || OllamaChat::connect(&server.url(""), "wide", WAIT, WAIT).unwrap();
    let (chat, mut judge) = (connect(), connect());
    judge.share_window(&chat);
    let long = [Message::new(Role::User, "word ".repeat(10_000))];
    let short = messages();
    for (chat, messages) in [
        (&chat, &long[..]),
        (&chat, &short[..]),
        (&judge, &short[..]),
    ] {
        chat.ask(messages, SAMPLING, &mut |_| Ok(())).unwrap();
    }
    let posted = posted.lock().unwrap();
    let windows: Vec<&Value> = posted.iter().map(|p| &p.1["options"]["num_ctx"]).collect();
    assert!(windows[0].as_u64().unwrap() > 4096, "{windows:?}");
    assert!(windows.iter().all(|w| *w == windows[0]), "{windows:?}");
}

#[test]
fn an_ollama_that_loads_is_waited_for() {
    let tries = Arc::new(Mutex::new(0));
    let (server, posted) = ollama(move |_| {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries < 3 {
            return status(503, r#"{"error":"server busy"}"#);
        }
        // Loading a model delays the reply.
        std::iter::once(Step::Wait(Duration::from_millis(300)))
            .chain(ndjson(&["ok"], &end()))
            .collect()
    });
    let reply = ask_ollama(&server).unwrap();
    assert_eq!(
        (
            reply.text.as_str(),
            reply.attempts,
            posted.lock().unwrap().len()
        ),
        ("ok", 3, 3)
    );
}

#[test]
fn s41_a_broken_ollama_is_a_failure_and_not_asked_again() {
    let cut = || ndjson(&["The budget is 5"], &Value::Null);
    let half = || {
        vec![Step::Bytes(
            b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{\"message\":{\"content\":\"The\"},\"done\":false}\n"
                .to_vec(),
        )]
    };
    let wrong = || {
        let mut end = end();
        end["model"] = json!("other:7b");
        [
            head("application/x-ndjson"),
            format!("{end}\n").into_bytes(),
        ]
        .concat()
    };
    type FaultyServer = Box<dyn Fn() -> Vec<Step> + Send + Sync>;
    let faults: Vec<(&str, ErrorCode, &str, FaultyServer)> = vec![
        (
            "cut between lines",
            ErrorCode::ServerError,
            "broke off",
            Box::new(cut),
        ),
        (
            "cut within the body",
            ErrorCode::ServerError,
            "broke off",
            Box::new(half),
        ),
        (
            "wrong model",
            ErrorCode::ServerError,
            "other:7b",
            Box::new(move || vec![Step::Bytes(wrong())]),
        ),
        (
            "not JSON",
            ErrorCode::ServerError,
            "not JSON",
            Box::new(|| {
                vec![Step::Bytes(
                    [head("text/html"), b"<html>\n".to_vec()].concat(),
                )]
            }),
        ),
        (
            "not part of a reply",
            ErrorCode::ServerError,
            "not part of a reply",
            Box::new(|| {
                vec![Step::Bytes(
                    [head("application/json"), b"[1]\n".to_vec()].concat(),
                )]
            }),
        ),
        (
            "an error in the middle",
            ErrorCode::ServerError,
            "out of memory",
            Box::new(|| ndjson(&["The"], &json!({"error": "out of memory"}))),
        ),
        (
            "500",
            ErrorCode::ServerError,
            "500",
            Box::new(|| status(500, r#"{"error":"no"}"#)),
        ),
        (
            "404",
            ErrorCode::ModelNotFound,
            "no model",
            Box::new(|| status(404, r#"{"error":"model 'm' not found"}"#)),
        ),
        (
            "too long",
            ErrorCode::ContextTruncated,
            "longer",
            Box::new(|| {
                status(
                    400,
                    r#"{"error":"the input length exceeds the context length"}"#,
                )
            }),
        ),
        (
            "too long, told late",
            ErrorCode::ContextTruncated,
            "longer",
            Box::new(|| ndjson(&[], &json!({"error": "input exceeds the context window"}))),
        ),
        (
            "closed at once",
            ErrorCode::ServerError,
            "broke off",
            Box::new(Vec::new),
        ),
    ];
    for (name, code, words, fault) in faults {
        let (server, posted) = ollama(move |_| fault());
        let failure = ask_ollama(&server).unwrap_err();
        assert_eq!(failure.code, code, "{name}: {failure}");
        assert!(failure.message.contains(words), "{name}: {failure}");
        assert_eq!(posted.lock().unwrap().len(), 1, "{name}");
    }
}

#[test]
fn s41_a_reply_that_never_ends_is_ended() {
    let (drip, _) = ollama(|_| {
        let piece =
            || format!("{}\n", json!({"message": {"content": "x"}, "done": false})).into_bytes();
        let drip =
            (0..2000).flat_map(|_| [Step::Bytes(piece()), Step::Wait(Duration::from_millis(20))]);
        std::iter::once(Step::Bytes(head("application/x-ndjson")))
            .chain(drip)
            .collect()
    });
    let failure = ask_ollama_for(&drip, Duration::from_millis(600)).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ServerUnreachable);
    let (huge, _) = ollama(|_| {
        let line = vec![b' '; 1 << 20];
        std::iter::once(Step::Bytes(head("application/x-ndjson")))
            .chain((0..80).map(move |_| Step::Bytes(line.clone())))
            .collect()
    });
    let failure = ask_ollama(&huge).unwrap_err();
    assert!(
        failure.code == ErrorCode::ServerError && failure.message.contains("more than"),
        "{failure}"
    );
}

#[test]
fn s41_a_prompt_is_not_carried_to_another_server() {
    let (other, seen) = ollama(|_| ndjson(&["x"], &end()));
    let to = other.url("/api/chat");
    let (server, _) = ollama(move |_| {
        let head = format!("HTTP/1.1 307 X\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
        vec![Step::Bytes(head.into_bytes())]
    });
    let failure = ask_ollama(&server).unwrap_err();
    assert!(
        failure.code == ErrorCode::ServerError && failure.message.contains("redirects"),
        "{failure}"
    );
    assert!(seen.lock().unwrap().is_empty());
}

/// A tokenizer makes one token of many spaces or hyphens, so such a table has more than six bytes
/// per token although it was read.
#[test]
fn a_wide_table_padded_with_spaces_counts_as_read() {
    let row = format!("| {:<60} | {:<60} |\n", "Oak", "12 metres");
    let rule = format!("|{}|{}|\n", "-".repeat(62), "-".repeat(62));
    let table = format!("{row}{rule}{}", row.repeat(40));
    let prompt = [Message::new(Role::User, table.clone())];
    let tokens = 42 * 14;
    let reply = |tokens| Reply {
        text: String::new(),
        had_thinking: false,
        served_model: None,
        finish: Finish::Stop,
        prompt_tokens: Some(tokens),
        reply_tokens: None,
        window: None,
        attempts: 1,
        calls: Vec::new(),
    };
    assert!(reply(tokens).is_truncated(table.len()));
    assert!(!reply(tokens).is_truncated(bytes_to_read(&prompt)));
    assert!(reply(tokens / 8).is_truncated(bytes_to_read(&prompt)));
    let words = "The oak grows. Aa 1100 läääuft.";
    assert_eq!(
        bytes_to_read(&[Message::new(Role::User, words)]),
        words.len()
    );
}

#[test]
fn another_model_than_the_one_asked_is_named() {
    let reply = |served: Option<&str>| Reply {
        text: String::new(),
        had_thinking: false,
        served_model: served.map(str::to_owned),
        finish: Finish::Stop,
        prompt_tokens: None,
        reply_tokens: None,
        window: None,
        attempts: 1,
        calls: Vec::new(),
    };
    for (asked, served) in [
        ("m", None),
        ("m", Some("m")),
        ("m", Some("M:latest")),
        ("qwen3-8b", Some("/models/Qwen3-8B.gguf")),
        ("Qwen/Qwen3-8B", Some("qwen3-8b")),
        ("gpt-4o", Some("gpt-4o-2024-08-06")),
        ("m", Some(" ")),
    ] {
        assert_eq!(reply(served).other_model(asked), None, "{asked} {served:?}");
    }
    for (asked, served) in [
        ("m", "n"),
        ("gpt-4o", "gpt-4o-mini"),
        ("llama-3", "llama-3-8b"),
        ("m:7b", "m:1b"),
    ] {
        let other = reply(Some(served)).other_model(asked);
        assert_eq!(other.as_deref(), Some(served), "{asked}");
    }
}

#[test]
fn what_the_server_counts_tells_whether_the_prompt_was_cut() {
    let reply = |tokens, window| Reply {
        text: String::new(),
        had_thinking: false,
        served_model: None,
        finish: Finish::Stop,
        prompt_tokens: tokens,
        reply_tokens: None,
        window,
        attempts: 1,
        calls: Vec::new(),
    };
    for (tokens, window, bytes, truncated) in [
        (Some(1000), Some(2048), 4000, false),
        (Some(1946), Some(2048), 4000, true),
        (Some(1945), Some(2048), 4000, false),
        (Some(600), Some(2048), 3600, false),
        (Some(599), Some(2048), 3600, true),
        (Some(599), None, 3600, true),
        (None, Some(2048), 1 << 20, false),
    ] {
        assert_eq!(
            reply(tokens, window).is_truncated(bytes),
            truncated,
            "{tokens:?} {window:?} {bytes}"
        );
    }
}

/// A server like llama.cpp with one model; `chat` answers `/v1/chat/completions`, `more` everything
/// else.
fn openai(
    chat: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
    more: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
) -> (Server, Posted) {
    let posted: Posted = Arc::default();
    let log = posted.clone();
    let server = serve(move |seen| {
        if let Some(body) = more(&seen.path) {
            return vec![Step::Bytes(ok_json(&body))];
        }
        match seen.path.as_str() {
            "/v1/models" => vec![Step::Bytes(ok_json(
                r#"{"object":"list","data":[{"id":"only","object":"model"}]}"#,
            ))],
            "/v1/chat/completions" => {
                let key = seen.header("authorization").map(str::to_owned);
                log.lock().unwrap().push((
                    seen.path.clone(),
                    serde_json::from_str(&seen.body).unwrap(),
                    key,
                ));
                chat(seen)
            }
            _ => status(404, "{}"),
        }
    });
    (server, posted)
}

fn sse(events: &[&str]) -> Vec<Step> {
    let mut out = head("text/event-stream");
    for event in events {
        out.extend(format!("{event}\r\n\r\n").bytes());
    }
    vec![Step::Bytes(out)]
}

fn delta(text: &str) -> String {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
    format!("data: {}", json!({"model": "only", "choices": [choice]}))
}

const STOP: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"data: {"choices":[],"usage":{"prompt_tokens":40,"completion_tokens":7}}"#;
const DONE: &str = "data: [DONE]";

fn connect(server: &Server, model: Option<&str>) -> Result<OpenAiChat> {
    OpenAiChat::connect(&server.url("/"), model, None, WAIT)
}

fn ask_openai(server: &Server) -> Result<Reply> {
    connect(server, None)?.ask(&messages(), SAMPLING, &mut |_| Ok(()))
}

#[test]
fn an_openai_server_is_asked_and_its_stream_read() {
    let (server, posted) = openai(
        |_| {
            sse(&[
                ": ping",
                &delta("It is "),
                &delta("5 [E1]."),
                STOP,
                USAGE,
                DONE,
            ])
        },
        |_| None,
    );
    let key = ApiKey::new("sk-1").unwrap();
    let chat = OpenAiChat::connect(&server.url(""), None, Some(&key), WAIT).unwrap();
    assert_eq!(
        (
            chat.model().name.as_str(),
            &chat.model().digest,
            chat.model().window
        ),
        ("only", &None, None)
    );
    assert_eq!(chat.model().warnings, Vec::<String>::new());
    let reply = chat.ask(&messages(), SAMPLING, &mut |_| Ok(())).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("It is 5 [E1].", Finish::Stop)
    );
    assert_eq!(
        (reply.prompt_tokens, reply.reply_tokens),
        (Some(40), Some(7))
    );
    let posted = posted.lock().unwrap();
    let (_, body, key) = &posted[0];
    assert_eq!(key.as_deref(), Some("Bearer sk-1"));
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["seed"]),
        (&json!("only"), &json!(100), &json!(1))
    );
}

#[test]
fn missing_fields_stay_unknown() {
    let events = [
        "data:{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}",
        "event: x",
        "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}",
        "data: {}",
        DONE,
    ];
    let (server, _) = openai(move |_| sse(&events), |_| None);
    let reply = ask_openai(&server).unwrap();
    assert_eq!(
        (reply.text.as_str(), reply.prompt_tokens, reply.served_model),
        ("ok", None, None)
    );
    let (no_done, _) = openai(|_| sse(&[&delta("ok"), STOP]), |_| None);
    assert_eq!(ask_openai(&no_done).unwrap().text, "ok");
    let (cut, _) = openai(
        |_| {
            sse(&[
                &delta("ok"),
                r#"data: {"choices":[{"delta":{},"finish_reason":"length"}]}"#,
                DONE,
            ])
        },
        |_| None,
    );
    assert_eq!(ask_openai(&cut).unwrap().finish, Finish::Length);
}

#[test]
fn a_server_that_does_not_stream_is_read_too() {
    let body = json!({"model": "only", "usage": {"prompt_tokens": 9, "completion_tokens": 1},
        "choices": [{"message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}]});
    for text in [
        body.to_string(),
        serde_json::to_string_pretty(&body).unwrap(),
    ] {
        let (server, _) = openai(move |_| vec![Step::Bytes(ok_json(&text))], |_| None);
        let reply = ask_openai(&server).unwrap();
        assert_eq!((reply.text.as_str(), reply.prompt_tokens), ("ok", Some(9)));
    }
}

#[test]
fn thoughts_are_taken_away_in_fields_and_in_tags() {
    let thought = r#"data: {"choices":[{"delta":{"reasoning_content":"secret plan"}}]}"#;
    let (server, _) = openai(
        move |_| {
            sse(&[
                thought,
                &delta("<think>secret"),
                &delta(" plan</think>X"),
                STOP,
            ])
        },
        |_| None,
    );
    let reply = ask_openai(&server).unwrap();
    assert_eq!((reply.text.as_str(), reply.had_thinking), ("X", true));
    assert!(!serde_json::to_string(&reply).unwrap().contains("secret"));
    let (server, _) = ollama(|_| {
        let line = json!({"model": "m:latest", "message": {"content": "", "thinking": "secret"}, "done": false});
        let mut out = [
            head("application/x-ndjson"),
            format!("{line}\n").into_bytes(),
        ]
        .concat();
        let text = json!({"model": "m:latest", "message": {"content": "X"}, "done": false});
        out.extend(format!("{text}\n{}\n", end()).bytes());
        vec![Step::Bytes(out)]
    });
    let reply = ask_ollama(&server).unwrap();
    assert_eq!((reply.text.as_str(), reply.had_thinking), ("X", true));
}

#[test]
fn every_servers_word_for_a_prompt_that_is_too_long_is_known() {
    for (code, body) in [
        (
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_ctx":4096}}"#,
        ),
        (
            400,
            r#"{"error":{"message":"This model's maximum context length is 2048 tokens","code":"context_length_exceeded"}}"#,
        ),
        (
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 9000","code":400}"#,
        ),
        (
            400,
            r#"{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
        ),
        (
            500,
            r#"{"error":{"message":"Requested tokens (900) exceed context window of 512","type":"internal_server_error"}}"#,
        ),
    ] {
        let (server, _) = openai(move |_| status(code, body), |_| None);
        assert_eq!(
            ask_openai(&server).unwrap_err().code,
            ErrorCode::ContextTruncated,
            "{body}"
        );
    }
    let (late, _) = openai(
        |_| sse(&[r#"data: {"error":{"message":"context size exceeded"}}"#]),
        |_| None,
    );
    assert_eq!(
        ask_openai(&late).unwrap_err().code,
        ErrorCode::ContextTruncated
    );
}

#[test]
fn s41_a_broken_openai_server_is_a_failure() {
    type Replies = Box<dyn Fn() -> Vec<Step> + Send + Sync>;
    let faults: Vec<(&str, &str, Replies)> = vec![
        (
            "cut",
            "broke off",
            Box::new(|| sse(&[&delta("The budget")])),
        ),
        (
            "not JSON",
            "not JSON",
            Box::new(|| sse(&["data: {nonsense"])),
        ),
        (
            "a page",
            "not JSON",
            Box::new(|| {
                vec![Step::Bytes(
                    [head("text/html"), b"<html></html>".to_vec()].concat(),
                )]
            }),
        ),
        (
            "no message",
            "without a message",
            Box::new(|| vec![Step::Bytes(ok_json(r#"{"choices":[]}"#))]),
        ),
        (
            "an error in the middle",
            "GPU is gone",
            Box::new(|| {
                sse(&[
                    &delta("The"),
                    r#"data: {"error":{"message":"GPU is gone"}}"#,
                ])
            }),
        ),
        (
            "an error of the older kind",
            "GPU is gone",
            Box::new(|| sse(&[r#"error: {"message":"GPU is gone"}"#])),
        ),
        (
            "500",
            "500",
            Box::new(|| status(500, r#"{"error":{"message":"no"}}"#)),
        ),
        ("401", "401", Box::new(|| status(401, "{}"))),
    ];
    for (name, words, fault) in faults {
        let (server, posted) = openai(move |_| fault(), |_| None);
        let failure = ask_openai(&server).unwrap_err();
        let code = match words {
            "401" => ErrorCode::ServerUnauthorized,
            _ => ErrorCode::ServerError,
        };
        assert!(
            failure.code == code && failure.message.contains(words),
            "{name}: {failure}"
        );
        assert_eq!(posted.lock().unwrap().len(), 1, "{name}");
    }
}

#[test]
fn a_llama_cpp_server_that_loads_is_waited_for_and_counts_tokens() {
    let tries = Arc::new(Mutex::new(0));
    let loading = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
    let (server, posted) = openai(
        move |_| {
            let mut tries = tries.lock().unwrap();
            *tries += 1;
            if *tries < 3 {
                status(503, loading)
            } else {
                sse(&[&delta("ok"), STOP, DONE])
            }
        },
        |path| match path {
            "/props" => Some(r#"{"default_generation_settings":{"n_ctx":2048}}"#.to_owned()),
            "/tokenize" => Some(r#"{"tokens":[1,2,3]}"#.to_owned()),
            _ => None,
        },
    );
    let chat = connect(&server, None).unwrap();
    assert_eq!(
        (chat.model().window, chat.count(&messages())),
        (Some(2048), Some(3 + 2 * 16))
    );
    let reply = chat.ask(&messages(), SAMPLING, &mut |_| Ok(())).unwrap();
    assert_eq!((reply.attempts, posted.lock().unwrap().len()), (3, 3));
}

#[test]
fn an_ollama_behind_the_interface_and_a_model_that_is_not_listed_are_said() {
    let version =
        |path: &str| (path == "/api/version").then(|| r#"{"version":"0.9.0"}"#.to_owned());
    let (server, _) = openai(|_| sse(&[&delta("ok"), STOP]), version);
    let warnings = connect(&server, None).unwrap().model().warnings.clone();
    assert!(
        warnings.len() == 1 && warnings[0].contains("ask.provider: ollama"),
        "{warnings:?}"
    );
    let (server, _) = openai(|_| sse(&[&delta("ok"), STOP]), |_| None);
    let warnings = connect(&server, Some("other"))
        .unwrap()
        .model()
        .warnings
        .clone();
    assert!(
        warnings.len() == 1 && warnings[0].contains("does not list `other`; it has only"),
        "{warnings:?}"
    );
}

#[test]
fn without_a_name_one_model_is_taken_and_two_are_a_failure() {
    let two = |path: &str| {
        (path == "/v1/models").then(|| r#"{"data":[{"id":"a"},{"id":"b"}]}"#.to_owned())
    };
    let (server, _) = openai(|_| Vec::new(), two);
    assert_eq!(
        connect(&server, None).unwrap_err().code,
        ErrorCode::ModelNotFound
    );
    let window = |path: &str| {
        (path == "/v1/models")
            .then(|| r#"{"data":[{"id":"a","max_model_len":8192},{"id":"b"}]}"#.to_owned())
    };
    let (server, _) = openai(|_| Vec::new(), window);
    assert_eq!(
        connect(&server, Some("a")).unwrap().model().window,
        Some(8192)
    );
}

#[test]
fn a_reply_that_does_not_come_in_time_names_the_key() {
    let limit = Duration::from_millis(200);
    let (server, _) = ollama(move |_| vec![Step::Wait(10 * WAIT)]);
    let chat = OllamaChat::connect(&server.url(""), "m", WAIT, limit).unwrap();
    let chat = Chat::Ollama(Box::new(chat));
    let ask = |chat: &Chat| {
        chat.ask(&messages(), SAMPLING, &mut |_| Ok(()))
            .unwrap_err()
    };
    let failure = ask(&chat);
    assert_eq!(failure.code, ErrorCode::ServerUnreachable);
    assert!(
        failure
            .hint
            .unwrap()
            .starts_with("raise llm.timeout_s (it is")
    );
    let big = chat.with_keys(BudgetKeys::BIG);
    assert!(ask(&big).hint.unwrap().contains("llm.timeout_s_big_second"));
}
