//! `ask` about one file: `--read`, and questions that name a file.

use insta::assert_snapshot;
use serde_json::json;

use crate::chat_server::{ChatServer, Say, say};
use crate::harness::{Run, World};

const PLAN: &str = "# Plan\n\nThe harbour budget is 5 million euros.\n\nAlice leads the project.\n\nThe council did not approve the tunnel.\n";
const READ: &str = r#"{"type":"tool_call","name":"read_text_file","args":{"path":"plan.md"}}"#;
const QUESTION: &str = "What does plan.md say about the harbour budget?";

fn world() -> World {
    let world = World::with(&[
        ("plan.md", PLAN),
        ("empty.md", " \n"),
        ("other.md", "# Other\n\nNothing here.\n"),
    ]);
    world.ok(&["index"]);
    world
}

fn ask(world: &World, server: &ChatServer, args: &[&str]) -> Run {
    let config = world.root().join("llm.yaml");
    std::fs::write(
        &config,
        "ask: {provider: ollama}\nllm: {model: m, timeout_s: 20}\n",
    )
    .unwrap();
    let url = server.url();
    world.run(
        &[
            &[
                "ask",
                "--config",
                config.to_str().unwrap(),
                "--ollama-base-url",
                &url,
            ],
            args,
        ]
        .concat(),
    )
}

fn code(world: &World, script: Vec<Say>, args: &[&str]) -> (String, usize) {
    let server = ChatServer::ollama(script);
    let run = ask(world, &server, &[args, &["--json"]].concat());
    assert_eq!(run.code, 1, "{}", run.stdout);
    (
        run.json()["error_code"].as_str().unwrap().to_owned(),
        server.prompts().len(),
    )
}

#[test]
fn without_a_model_the_file_answers_in_its_own_words() {
    let world = world();
    let run = world.ok(&["ask", "What is the harbour budget?", "--read", "plan.md"]);
    assert_snapshot!(world.stable(&run.stdout), @r"
    The harbour budget is 5 million euros.   [1]

    [1] plan.md:3
    1 statement, word for word from your notes
    read: the whole of notes:plan.md
    ");
    assert_eq!(
        world.ok(&["ask", QUESTION]).stdout,
        run.stdout,
        "a question that names the file"
    );
    let body = world.json(&[
        "ask",
        "What is the harbour budget?",
        "--read",
        "notes:plan.md",
    ]);
    assert_eq!(
        (&body["scope"], &body["file"]["path"]),
        (&json!("file"), &json!("notes:plan.md"))
    );
    assert_eq!(
        (&body["outcome"], &body["sent_to"]),
        (&json!("answered"), &json!([]))
    );
    // No sentence answers the question. The closest passages are shown, with a message that says
    // so.
    let absent = world.json(&["ask", "Who painted the ceiling?", "--read", "plan.md"]);
    assert_eq!(absent["outcome"], "closest");
}

#[test]
fn a_question_that_names_two_files_is_asked_of_the_notes() {
    let world = world();
    let question = "Which of plan.md and other.md is longer?";
    assert_eq!(world.json(&["ask", question])["scope"], "notes");
    assert_eq!(
        world.json(&["ask", QUESTION, "--source", "notes"])["scope"],
        "notes"
    );
}

/// Other notes once answered such a question, as if they were that file.
#[test]
fn what_a_missing_file_says_is_not_answered_from_other_notes() {
    let world = world();
    let question = "What does gone.md say about the budget?";
    assert_eq!(world.code(&["ask", question]), "FILE_NOT_FOUND");
}

#[test]
fn a_model_answers_from_the_file_that_a_person_named() {
    let world = world();
    let server = ChatServer::ollama(vec![say(
        "The harbour budget is 5 million euros.\n\nScope: everything",
    )]);
    let run = ask(
        &world,
        &server,
        &["What is the budget?", "--read", "plan.md"],
    );
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_snapshot!(world.stable(&run.stdout), @r"
    The harbour budget is 5 million euros.

    1 statement, word for word from your notes
    read: the whole of notes:plan.md
    ");
    let prompts = server.prompts();
    assert_eq!(prompts.len(), 1);
    let roles: Vec<&str> = prompts[0]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["role"].as_str().unwrap())
        .collect();
    assert_eq!(roles, ["system", "user", "assistant", "user"]);
    assert!(
        server.prompt(0).contains("\"name\":\"read_text_file\"")
            && server.prompt(0).contains("Alice leads")
    );
}

#[test]
fn a_model_asks_for_the_file_that_the_question_names_and_then_answers() {
    let world = world();
    let server = ChatServer::ollama(vec![
        say(&format!("{READ} and I go on")),
        say("It says 5 million euros."),
    ]);
    let run = ask(&world, &server, &[QUESTION]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.starts_with(
            "It says 5 million euros. [~]\n\n1 statement, checked [~] (not contradicted by your \
             notes, but not proved)\nread: the whole of notes:plan.md"
        ),
        "{}",
        run.stdout
    );
    assert!(
        !server.prompt(0).contains("Alice leads"),
        "nothing of the file before it was asked for"
    );
}

#[test]
fn what_pass_one_can_get_wrong_has_a_code_each() {
    let world = world();
    let call = |name: &str, path: &str| {
        say(&json!({"type": "tool_call", "name": name, "args": {"path": path}}).to_string())
    };
    for (reply, expected) in [
        (say("The budget is 5 million."), "EVIDENCE_NOT_ACQUIRED"),
        (
            say(&format!("I read it now: {READ}")),
            "EVIDENCE_NOT_ACQUIRED",
        ),
        (call("write_file", "plan.md"), "TOOL_ERROR"),
        (call("read_text_file", "other.md"), "EVIDENCE_INVALID"),
        (call("read_text_file", "/etc/passwd"), "PATH_DENIED"),
        (call("read_text_file", "../llm.yaml"), "PATH_DENIED"),
        (call("read_text_file", "gone.md"), "FILE_NOT_FOUND"),
        (call("read_text_file", " "), "INVALID_ARGS"),
    ] {
        let (got, calls) = code(&world, vec![reply], &[QUESTION]);
        assert_eq!((got.as_str(), calls), (expected, 1));
    }
}

#[test]
fn what_pass_two_can_get_wrong_has_a_code_each() {
    let world = world();
    let table = || say("| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |");
    let read = ["What is the budget?", "--read", "plan.md"];
    assert_eq!(
        code(&world, vec![say(READ)], &read),
        ("UNEXPECTED_TOOL_CALL_SECOND_PASS".to_owned(), 1)
    );
    assert_eq!(
        code(&world, vec![table(), table()], &read),
        ("SECOND_PASS_FORMAT_VIOLATION".to_owned(), 2)
    );
    let cut = vec![Say::ReadOnly(9, "It is 5 million euros.".to_owned())];
    assert_eq!(
        code(&world, cut, &read),
        ("LLM_CONTEXT_TRUNCATED".to_owned(), 1)
    );
    let server = ChatServer::ollama(vec![table(), say("The harbour budget is 5 million euros.")]);
    let run = ask(&world, &server, &read);
    assert!(
        run.code == 0 && run.stdout.starts_with("The harbour budget is 5 million"),
        "{}",
        run.stdout
    );
    assert!(server.prompt(1).contains("MARKDOWN_TABLE"));
}

#[test]
fn an_answer_that_the_file_does_not_carry_is_repaired_replaced_or_refused() {
    let world = world();
    let read = ["What is the harbour budget?", "--read", "plan.md"];
    let wrong = || say("The harbour budget is 6 million euros.");
    let server = ChatServer::ollama(vec![wrong(), say("The harbour budget is 5 million euros.")]);
    let run = ask(&world, &server, &read);
    assert!(
        run.stdout
            .starts_with("The harbour budget is 5 million euros.\n"),
        "{}",
        run.stdout
    );
    assert!(server.prompt(1).contains("“5”") && server.prompt(1).contains("“6”"));
    let run = ask(&world, &ChatServer::ollama(vec![wrong(), wrong()]), &read);
    let (answer, left_out) = run.stdout.split_once("Left out (1):").unwrap();
    assert!(
        run.code == 0 && !answer.contains("6 million") && left_out.contains("6 million"),
        "{}",
        run.stdout
    );
    assert!(
        answer.contains("passed verification (NUMBER)") && answer.contains("read: the whole of"),
        "{}",
        run.stdout
    );
    let (refused, calls) = code(
        &world,
        vec![wrong(), wrong()],
        &[&read[..], &["--strict"]].concat(),
    );
    assert_eq!((refused.as_str(), calls), ("ASK_CITATION_INVALID", 2));
}

#[test]
fn an_empty_file_and_one_that_is_too_long_are_said() {
    let world = world();
    let (got, calls) = code(&world, Vec::new(), &["Summarise it", "--read", "empty.md"]);
    assert_eq!((got.as_str(), calls), ("FILE_EMPTY", 0));
    let body = world.json(&["ask", "What is the budget?", "--read", "empty.md"]);
    assert_eq!(
        (&body["outcome"], &body["why"]),
        (&json!("abstained"), &json!("The file is empty."))
    );
    world.write("long.md", &"All work and no play. ".repeat(10_000));
    let (got, calls) = code(
        &world,
        Vec::new(),
        &["What is it about?", "--read", "long.md"],
    );
    assert_eq!((got.as_str(), calls), ("EVIDENCE_TRUNCATED", 0));
    // The configured limit applies, and the hint names its key.
    world.write(
        "medium.md",
        &format!(
            "{}\n\nThe answer is 42.\n",
            "Some words stand here.\n\n".repeat(100)
        ),
    );
    let config = world.root().join("short.yaml");
    std::fs::write(&config, "llm: {max_chars_full_read: 200}\n").unwrap();
    let args = [
        "ask",
        "What is the answer?",
        "--read",
        "medium.md",
        "--config",
        config.to_str().unwrap(),
    ];
    let body = world.run(&[&args[..], &["--json"]].concat()).json();
    assert_eq!(body["error_code"], "EVIDENCE_TRUNCATED", "{body}");
    let hint = body.to_string();
    assert!(
        hint.contains("raise llm.max_chars_full_read (it is 200 now)"),
        "{hint}"
    );
    std::fs::write(&config, "llm: {max_chars_full_read: 5000}\n").unwrap();
    assert!(world.ok(&args).stdout.contains("The answer is 42."));
}

#[test]
fn every_refusal_of_the_sandbox_keeps_its_code() {
    let world = world();
    for (file, expected) in [
        ("../x.md", "PATH_DENIED"),
        ("/etc/hosts.md", "PATH_DENIED"),
        ("gone.md", "FILE_NOT_FOUND"),
        ("x.exe", "PATH_DENIED"),
    ] {
        assert_eq!(
            world.code(&["ask", "What is it?", "--read", file]),
            expected,
            "{file}"
        );
    }
}
