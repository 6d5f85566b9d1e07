//! `examples/`: runs the hook and the CI job in the way that people run them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::harness::World;

fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(path)
}

fn project() -> World {
    let world = World::empty();
    world.write(
        "src/retry.rs",
        "// The limit is 7 attempts.\nlet limit = 7;\n",
    );
    world
}

/// What the hook prints for an event.
fn hook(world: &World, event: &Value) -> String {
    let mut run = Command::new("python3")
        .arg(example("claude-code/verify_answer.py"))
        .env("LOCAL_AGENT", env!("CARGO_BIN_EXE_local-agent"))
        .env("CLAUDE_PROJECT_DIR", world.vault())
        .env("HOME", world.home())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = run.stdin.take().unwrap();
    stdin.write_all(event.to_string().as_bytes()).unwrap();
    drop(stdin);
    let done = run.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn the_stop_hook_sends_back_an_answer_whose_citations_do_not_hold() {
    let world = project();
    let wrong = "The limit is 9 attempts `src/retry.rs:1`. I also ran the tests.";
    let right = "The limit is 7 attempts `src/retry.rs:1`. I also ran the tests.";
    let blocked: Value = serde_json::from_str(&hook(
        &world,
        &json!({"hook_event_name": "Stop", "last_assistant_message": wrong}),
    ))
    .unwrap();
    assert_eq!(blocked["decision"], "block");
    let reason = blocked["reason"].as_str().unwrap();
    assert!(
        reason.contains("9 attempts") && !reason.contains("ran the tests"),
        "{reason}"
    );
    let passes = json!({"hook_event_name": "Stop", "last_assistant_message": right});
    assert_eq!(hook(&world, &passes), "");
    let again = json!({"last_assistant_message": wrong, "stop_hook_active": true});
    assert_eq!(hook(&world, &again), "");
}

#[test]
fn the_stop_hook_reads_the_answer_from_the_transcript() {
    let world = project();
    let transcript = world.root().join("transcript.jsonl");
    let says = |role: &str, text: &str| {
        json!({"type": role, "message": {"content": [{"type": "text", "text": text}]}}).to_string()
    };
    let lines = [
        says("assistant", "The limit is 8 attempts `src/retry.rs:1`."),
        says("user", "Are you sure?"),
        says("assistant", "The limit is 9 attempts `src/retry.rs:1`."),
    ];
    std::fs::write(&transcript, lines.join("\n")).unwrap();
    let out = hook(&world, &json!({"transcript_path": transcript}));
    assert!(
        out.contains("9 attempts") && !out.contains("8 attempts"),
        "{out}"
    );
}

#[test]
fn the_job_fails_when_a_document_drifted() {
    let job = std::fs::read_to_string(example("ci/claims.yml")).unwrap();
    let script: String = job
        .split("run: |\n")
        .nth(1)
        .unwrap()
        .lines()
        .map(|line| format!("{}\n", line.trim_start_matches(' ')))
        .collect();
    let world = project();
    world.write(
        "docs/retry.md",
        "The limit is 7 attempts (src/retry.rs:1).\n",
    );
    let bin = world.root().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_local-agent"), bin.join("local-agent")).unwrap();
    let shell = |script: &str| {
        Command::new("sh")
            .args(["-c", script])
            .env(
                "PATH",
                format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()),
            )
            .env("HOME", world.home())
            .env("BASE", "HEAD")
            .current_dir(world.vault())
            .output()
            .unwrap()
    };
    let made = shell(
        "git init -q && git add -A && git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -q -m x",
    );
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    assert!(shell(&script).status.success());
    world.write(
        "src/retry.rs",
        "\n\n// The limit is 7 attempts.\nlet limit = 7;\n",
    );
    assert!(shell(&script).status.success(), "moved");
    world.write(
        "src/retry.rs",
        "// The limit is 9 attempts.\nlet limit = 9;\n",
    );
    let drifted = shell(&script);
    let out = String::from_utf8_lossy(&drifted.stdout);
    assert!(!drifted.status.success() && out.contains("BROKEN"), "{out}");
}
