//! Private notes: no agent sees them, and no model on another machine receives them. Tests every
//! path by which text leaves the program.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::chat_server::{ChatServer, Say, say};
use crate::harness::World;
use crate::mcp::Session;
use local_agent_testing::server::{Step, ok_json, serve};

const SECRET: &str = "The falcon code is 4711.";

fn world() -> World {
    let diary = format!("---\nprivate: true\n---\n# Falcon diary\n\n{SECRET} See [[zoo]].\n");
    let world = World::with(&[
        (
            "zoo.md",
            "# Zoo\n\nThe zebra eats 14 apples a day. See [[diary]].\n",
        ),
        ("diary.md", &diary),
        (
            "dreams/owl.md",
            &format!("# Owl dream\n\n#private/dreams {SECRET}\n"),
        ),
    ]);
    world.ok(&["index"]);
    world
}

/// Uses every way in which an agent can request text, and returns all results.
fn all_that_an_agent_gets(session: &mut Session) -> String {
    let calls = [
        ("search", json!({"query": "falcon code"})),
        ("ask", json!({"question": "What is the falcon code?"})),
        ("get", json!({"address": "diary.md"})),
        ("get", json!({"address": "[[diary]]"})),
        ("get", json!({"address": "notes:dreams/owl.md"})),
        ("multi_get", json!({"glob": "**/*.md"})),
        ("grep", json!({"pattern": "falcon"})),
        ("list_dir", json!({"path": "."})),
        ("list_dir", json!({"path": "dreams"})),
        ("links", json!({"note": "diary.md"})),
        ("links", json!({"note": "zoo.md"})),
        ("similar", json!({"note": "zoo.md"})),
        ("tags", json!({})),
        (
            "verify",
            json!({"answer": "The falcon code is 4712 [notes:diary.md:6]."}),
        ),
    ];
    let mut all = String::new();
    for (tool, args) in calls {
        all.push_str(&session.call(tool, args).to_string());
        all.push('\n');
    }
    all
}

#[test]
fn a_private_note_with_broken_yaml_is_kept_from_agents() {
    let world = world();
    let matter = "---\ntitle: Raven: a diary\ntags:\n  - private\n---\n";
    world.write("raven.md", &format!("{matter}# Raven\n\n{SECRET}\n"));
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let found = session.call("search", json!({"query": "raven falcon code"}));
    let read = session.call("get", json!({"address": "raven.md"}));
    session.end();
    for seen in [found, read] {
        assert!(!seen.to_string().contains("4711"), "{seen}");
    }
}

#[test]
fn an_agent_gets_no_word_of_a_private_note() {
    let world = world();
    let mut session = Session::start(&world, &[]);
    let all = all_that_an_agent_gets(&mut session);
    // A private note that is not indexed yet is not named either.
    world.write("lynx.md", "---\nprivate: true\n---\nA lynx.\n");
    let looks = [
        session.call("status", json!({"compare_files": true})),
        session.call("search", json!({"query": "xylophone quokka"})),
    ];
    for seen in looks {
        assert!(!seen.to_string().contains("lynx"), "{seen}");
        assert!(seen.to_string().contains("files are new (1)"), "{seen}");
    }
    let folder = session.call("list_dir", json!({"path": "dreams"}));
    assert!(!folder.to_string().contains("owl"), "{folder}");
    session.end();
    for word in ["4711", "Falcon diary", "Owl dream", "notes:diary.md\""] {
        assert!(!all.contains(word), "{word} in {all}");
    }
    assert!(all.contains("zebra"), "{all}");
}

/// What was said of unknown words named those of private notes.
/// The commands that the skill teaches are those of an agent without the tools.
#[test]
fn a_command_for_an_agent_gives_no_private_note() {
    let world = world();
    world.write("answer.md", "The falcon code is 4712 [notes:diary.md:6].\n");
    let commands: [&[&str]; 8] = [
        &["query", "falcon code"],
        &["search", "falcon"],
        &["ask", "What is the falcon code?"],
        &["ask", "--read", "diary.md", "What is the code?"],
        &["get", "diary.md"],
        &["get", "[[diary]]"],
        &["multi-get", "**/*.md"],
        &["verify", "answer.md"],
    ];
    for command in commands {
        let run = world.run(&[command, &["--for-agent"]].concat());
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(
            !said.contains("4711") && !said.contains("Falcon diary"),
            "{command:?}: {said}"
        );
    }
    assert!(world.ok(&["query", "falcon code"]).stdout.contains("4711"));
    // Every command of the skill has the option.
    let skill = world.ok(&["skill", "show"]).stdout;
    let taught: Vec<&str> = skill
        .lines()
        .filter(|line| line.starts_with("local-agent "))
        .collect();
    assert_eq!(taught.len(), 4);
    assert!(
        taught.iter().all(|line| line.contains("--for-agent")),
        "{taught:?}"
    );
}

#[test]
fn words_of_private_notes_are_not_told_from_words_that_no_note_has() {
    let world = world();
    let mut session = Session::start(&world, &[]);
    let mut said = |word: &str| {
        let told = session.call("search", json!({ "query": word }));
        let told = &told["structuredContent"];
        [&told["unknown_words"], &told["outcome"]].map(ToString::to_string)
    };
    for typed in ["falc", "falcn", "falcon"] {
        let unknown = said("qqzzqq");
        assert_eq!(said(typed), unknown, "{typed}");
    }
    assert_eq!(session.end().0, 0);
}

/// Private notes took the places of others, and their links decided which notes came first.
#[test]
fn a_summary_of_all_notes_shows_and_counts_no_private_note() {
    let world = world();
    for n in 0..14 {
        let text = format!("---\nprivate: true\n---\n# Hidden {n}\n\nSee [[yak]].\n");
        world.write(&format!("hidden/{n}.md"), &text);
    }
    world.write("ant.md", "# Ant\n\nThe ant carries leaves.\n");
    world.write("yak.md", "# Yak\n\nThe yak eats grass.\n");
    world.ok(&["index"]);
    let mut session = Session::start(&world, &[]);
    let told = session.call("ask", json!({"question": "Summarize the vault"}));
    assert_eq!(session.end().0, 0);
    let told = &told["structuredContent"];
    let answer = told["answer"].as_str().unwrap();
    let place = |words: &str| answer.find(words).unwrap_or_else(|| panic!("{answer}"));
    assert!(place("The ant carries") < place("The yak eats"), "{answer}");
    assert!(!told.to_string().contains("Hidden"), "{told}");
    let why = told["why"].as_str().unwrap();
    assert!(!why.contains(|c: char| c.is_ascii_digit()), "{why}");
    let own = world.json(&["ask", "Summarize the vault"]);
    let answer = own["answer"].as_str().unwrap();
    assert!(
        answer.starts_with("The yak") || answer.contains("Yak"),
        "{answer}"
    );
}

#[test]
fn the_owner_sees_private_notes_and_may_show_them_to_agents() {
    let world = world();
    assert!(world.ok(&["query", "falcon code"]).stdout.contains("4711"));
    assert!(world.ok(&["get", "diary.md"]).stdout.contains("4711"));
    let config = world.root().join("show.yaml");
    std::fs::write(&config, "mcp: {private_notes: true}\n").unwrap();
    let mut session = Session::start(&world, &["--config", config.to_str().unwrap()]);
    let all = all_that_an_agent_gets(&mut session);
    session.end();
    assert!(all.contains("4711"), "{all}");
}

#[test]
fn a_note_that_became_private_after_it_was_indexed_is_kept_back_at_once() {
    let world = world();
    world.write(
        "zoo.md",
        "---\ntags: [private]\n---\n# Zoo\n\nThe zebra eats 14 apples.\n",
    );
    let mut session = Session::start(&world, &[]);
    let found = session.call("search", json!({"query": "zebra apples"}));
    session.end();
    assert!(!found.to_string().contains("14 apples"), "{found}");
}

#[test]
fn an_agent_learns_nothing_from_the_evidence_that_the_owners_run_kept() {
    let world = world();
    let config = world.root().join("keep.yaml");
    std::fs::write(&config, "runs: {keep_evidence: true}\n").unwrap();
    let config = config.to_str().unwrap();
    let asked = world.json(&["ask", "What is the falcon code?", "--config", config]);
    assert!(asked.to_string().contains("4711"), "{asked}");
    let mut session = Session::start(&world, &["--config", config]);
    let args = json!({"answer": "The falcon code is 4712 [E1].", "run_id": "last"});
    let judged = session.call("verify", args);
    session.end();
    assert!(!judged.to_string().contains("4711"), "{judged}");
    assert!(judged.to_string().contains("RUN_INCOMPLETE"), "{judged}");
}

/// Every prompt of a question to a chat model at this host.
fn prompts(world: &World, host: &str, question: &str) -> (String, Value) {
    let server = ChatServer::ollama(vec![say("INSUFFICIENT_EVIDENCE")]);
    let config = world.root().join("llm.yaml");
    let text = "ask: {provider: ollama}\nllm: {model: m, timeout_s: 20}\n";
    std::fs::write(&config, text).unwrap();
    let url = server.url().replace("127.0.0.1", host);
    let args = ["ask", question, "--ollama-base-url", &url, "--json"];
    let run = world.run(&[&args[..], &["--config", config.to_str().unwrap()]].concat());
    let prompts = server.prompts().iter().map(Value::to_string).collect();
    (prompts, run.json())
}

#[test]
fn a_chat_model_on_another_machine_gets_no_private_note_and_the_person_is_told() {
    let world = world();
    let question = "What is the falcon code of the zoo?";
    let (here, _) = prompts(&world, "127.0.0.1", question);
    assert!(here.contains("4711"), "{here}");
    // The address reaches this machine, but its spelling does not show that.
    let (there, body) = prompts(&world, "0.0.0.0", question);
    assert!(
        !there.contains("4711") && !there.contains("Falcon diary"),
        "{there}"
    );
    assert!(
        body["stale"]
            .to_string()
            .contains("private notes were not used"),
        "{body}"
    );
    let run = body["run_id"].as_str().unwrap();
    let record = world.ok(&["runs", "show", run, "--json"]).stdout;
    assert!(record.contains("\"private_kept_back\":true"), "{record}");
}

/// The server is on this machine, but passes the text on to its maker's.
#[test]
fn a_model_in_the_cloud_of_a_local_server_gets_no_private_note() {
    let world = world();
    let lines = [
        json!({"model": "m:8b-cloud", "message": {"content": "INSUFFICIENT_EVIDENCE"}, "done": false}),
        json!({"model": "m:8b-cloud", "done": true, "done_reason": "stop", "prompt_eval_count": 1000}),
    ];
    let reply = format!(
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{}\n{}\n",
        lines[0], lines[1]
    );
    let server = ChatServer::ollama_cloud(vec![Say::Bytes(reply.into_bytes())]);
    let config = world.root().join("llm.yaml");
    let text = "ask: {provider: ollama}\nllm: {model: 'm:8b-cloud', timeout_s: 20}\n";
    std::fs::write(&config, text).unwrap();
    let args = ["ask", "What is the falcon code of the zoo?", "--json"];
    let more = [
        "--ollama-base-url",
        &server.url(),
        "--config",
        config.to_str().unwrap(),
    ];
    let body = world.run(&[&args[..], &more].concat()).json();
    let prompts: String = server.prompts().iter().map(Value::to_string).collect();
    assert!(prompts.contains("zebra"), "{prompts} {body}");
    assert!(!prompts.contains("4711"), "{prompts}");
    let told = body["stale"].to_string();
    assert!(told.contains("private notes were not used"), "{body}");
    assert!(
        told.contains("sends the text for `m:8b-cloud` on"),
        "{body}"
    );
    let run = body["run_id"].as_str().unwrap();
    let record = world.ok(&["runs", "show", run, "--json"]).stdout;
    let record: Value = serde_json::from_str(&record).unwrap();
    let sent = record["record"]["sent"].to_string();
    assert!(sent.contains("\"local\":false"), "{record}");
}

/// The owner was told that there is no such file.
#[test]
fn a_private_note_that_was_named_is_refused_with_the_reason() {
    let world = world();
    let config = world.root().join("llm.yaml");
    std::fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 20}\n",
    )
    .unwrap();
    let server = ChatServer::ollama(vec![say("INSUFFICIENT_EVIDENCE")]);
    let url = server.url().replace("127.0.0.1", "0.0.0.0");
    let read = |file: &str| {
        let args = [
            "ask",
            "What is the code?",
            "--read",
            file,
            "--ollama-base-url",
            &url,
        ];
        world.fails(&[&args[..], &["--config", config.to_str().unwrap()]].concat())
    };
    let refused = read("diary.md");
    assert_eq!(refused["error_code"], "PATH_DENIED", "{refused}");
    let said = refused["error_message"].as_str().unwrap();
    assert!(
        said.contains("is private") && said.contains("was not sent"),
        "{said}"
    );
    assert_eq!(read("nosuch.md")["error_code"], "FILE_NOT_FOUND");
    assert!(server.prompts().is_empty());
}

#[test]
fn a_private_note_outside_all_sources_is_read_to_no_model_on_another_machine() {
    let world = world();
    let diary = format!("---\nprivate: true\n---\n# Falcon diary\n\n{SECRET}\n");
    world.write("../outside/diary.md", &diary);
    world.write("../outside/open.md", "# Open\n\nThe owl code is 9.\n");
    world.write("../outside/link.txt", "");
    let outside = world.root().join("outside");
    std::fs::remove_file(outside.join("link.txt")).unwrap();
    std::os::unix::fs::symlink(outside.join("diary.md"), outside.join("link.txt")).unwrap();
    let config = world.root().join("any.yaml");
    let text = "security: {allow_any_path: true}\nask: {provider: ollama}\nllm: {model: m, timeout_s: 20}\n";
    std::fs::write(&config, text).unwrap();
    for (host, name, gets) in [
        ("127.0.0.1", "diary.md", true),
        ("0.0.0.0", "diary.md", false),
        ("0.0.0.0", "link.txt", false),
        ("0.0.0.0", "open.md", true),
    ] {
        let server = ChatServer::ollama(vec![say("INSUFFICIENT_EVIDENCE")]);
        let url = server.url().replace("127.0.0.1", host);
        let file = outside.join(name);
        let args = ["ask", "What is the code?", "--ollama-base-url", &url];
        let more = [
            "--config",
            config.to_str().unwrap(),
            "--read",
            file.to_str().unwrap(),
        ];
        let run = world.run(&[&args[..], &more].concat());
        let prompts: String = server.prompts().iter().map(Value::to_string).collect();
        let told = prompts.contains("4711") || prompts.contains("owl code");
        assert_eq!(told, gets, "{host} {name}: {prompts} {}", run.stderr);
    }
}

#[test]
fn a_configuration_that_came_with_a_folder_opens_no_private_note() {
    let world = world();
    let file = world.vault().join("local-agent.yaml");
    let own = std::fs::read_to_string(&file).unwrap();
    for (more, says) in [
        ("mcp: {private_notes: true}\n", "`mcp.private_notes` is on"),
        (
            "mcp: {tools: [grep, read_text_file]}\n",
            "`mcp.tools` adds `read_text_file`",
        ),
    ] {
        std::fs::write(&file, format!("{own}{more}")).unwrap();
        let run = world.run(&["mcp"]);
        assert_eq!(run.code, 1, "{}", run.stderr);
        assert!(
            run.stderr.contains("CONFIG_UNTRUSTED") && run.stderr.contains(says),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn tools_give_no_private_note_to_a_chat_model_on_another_machine() {
    let world = world();
    for (host, gets) in [("127.0.0.1", true), ("0.0.0.0", false)] {
        let server = ChatServer::ollama(vec![
            say(r#"{"type": "tool_call", "name": "grep", "args": {"pattern": "falcon code"}}"#),
            say(r#"{"type": "tool_call", "name": "read_text_file", "args": {"path": "diary.md"}}"#),
            say("Done."),
        ]);
        let config = world.root().join("llm.yaml");
        let text = "ask: {provider: ollama}\nllm: {model: m, timeout_s: 20}\n";
        std::fs::write(&config, text).unwrap();
        let url = server.url().replace("127.0.0.1", host);
        let args = ["chat", "--tools", "--ollama-base-url", &url];
        let more = [
            "--config",
            config.to_str().unwrap(),
            "What do the files say?",
        ];
        let run = world.run(&[&args[..], &more].concat());
        let prompts: String = server.prompts().iter().map(Value::to_string).collect();
        assert_eq!(prompts.contains("4711"), gets, "{host}: {prompts}");
        assert!(server.prompts().len() > 1, "{}{}", run.stdout, run.stderr);
    }
}

/// Runs `embed` with a model of a server at this host. Returns what the server received, and the
/// result.
fn embedded(host: &str, model: &'static str) -> (String, Value) {
    let world = world();
    let bodies = Arc::new(Mutex::new(String::new()));
    let seen = Arc::clone(&bodies);
    let server = serve(move |request| {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        seen.lock().unwrap().push_str(&request.body);
        let inputs = body["input"].as_array().map_or(1, Vec::len);
        let vectors: Vec<Value> = (0..inputs).map(|_| json!([0.6, 0.8])).collect();
        let models = json!([{"name": model, "model": model, "digest": "d"}]);
        let reply = json!({"embeddings": vectors, "models": models});
        vec![Step::Bytes(ok_json(&reply.to_string()))]
    });
    let url = server.url("").replace("127.0.0.1", host);
    let config = world.root().join("embed.yaml");
    let text = format!("embed: {{provider: ollama, model: '{model}'}}\n");
    std::fs::write(&config, text).unwrap();
    let args = ["embed", "--json", "--ollama-base-url", &url];
    let run = world.run(&[&args[..], &["--config", config.to_str().unwrap()]].concat());
    let sent = bodies.lock().unwrap().clone();
    assert!(sent.contains("zebra"), "{}{}", run.stdout, run.stderr);
    (sent, run.json())
}

#[test]
fn an_embedding_model_on_another_machine_gets_no_private_note() {
    for (host, model, kept) in [
        ("127.0.0.1", "m", 0),
        ("0.0.0.0", "m", 2),
        ("127.0.0.1", "m:8b-cloud", 2),
    ] {
        let (sent, body) = embedded(host, model);
        let told = sent.contains("4711") || sent.contains("Owl dream");
        assert_eq!(told, kept == 0, "{host} {model}: {sent}");
        assert_eq!(body["kept_back"], kept, "{host} {model}: {body}");
    }
}

#[test]
fn private_chunks_that_are_not_sent_for_embedding_are_not_missing() {
    let world = world();
    let server = serve(move |request| {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let inputs = body["input"].as_array().map_or(1, Vec::len);
        let vectors: Vec<Value> = (0..inputs).map(|n| json!([0.6, 0.8 + n as f64])).collect();
        let models = json!([{"name": "m:cloud", "model": "m:cloud", "digest": "d"}]);
        let reply = json!({"embeddings": vectors, "models": models});
        vec![Step::Bytes(ok_json(&reply.to_string()))]
    });
    let config = world.root().join("embed.yaml");
    let text = format!(
        "embed: {{provider: ollama, model: 'm:cloud'}}\nllm: {{base_url: '{}'}}\n",
        server.url("")
    );
    std::fs::write(&config, text).unwrap();
    let config = config.to_str().unwrap();
    world.ok(&["embed", "--config", config]);
    for args in [
        &["query", "zebra apples"][..],
        &["ask", "How many apples does the zebra eat?"],
        &["status"],
    ] {
        let run = world.ok(&[args, &["--config", config]].concat());
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(!said.contains("coverage:"), "{args:?}: {said}");
        assert!(!said.contains("fix: local-agent embed"), "{args:?}: {said}");
    }
    let body = world.json(&["query", "zebra", "--config", config]);
    assert_eq!(body["coverage"]["chunks"], body["coverage"]["embedded"]);
    let failure = world.fails(&["similar", "diary.md", "--config", config]);
    let said = failure["error_message"].as_str().unwrap();
    assert!(said.contains("private"), "{failure}");
    let report = world.run(&["doctor", "--config", config, "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let says = |code: &str| checks.iter().any(|check| check["error_code"] == code);
    assert!(says("DOCTOR_EMBED_MISSING_OK"), "{report}");
}
