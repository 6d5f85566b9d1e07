//! The program really accepts the commands in the documents and prints their transcripts.

use std::fs;
use std::path::Path;

use crate::chat_server::{ChatServer, say};
use crate::harness::World;

fn document(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

/// The lines of every fenced block of the given language.
fn blocks(text: &str, language: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.strip_prefix("```") == Some(language) {
            found.push(
                lines
                    .by_ref()
                    .take_while(|line| *line != "```")
                    .map(str::to_owned)
                    .collect(),
            );
        }
    }
    found
}

#[test]
fn the_transcript_in_the_readme_is_what_the_program_prints() {
    let world = World::empty();
    let readme = document("README.md");
    let transcript = blocks(&readme, "text")
        .into_iter()
        .find(|block| block[0].starts_with("$ local-agent try"))
        .expect("the README shows `try`");
    let args: Vec<&str> = transcript[0].split_whitespace().skip(2).collect();
    let printed = world.ok(&args).stdout;
    for line in &transcript[1..] {
        assert!(
            printed.lines().any(|l| l == line),
            "the README shows a line that is not printed: {line}\n{printed}"
        );
    }
}

#[test]
fn the_transcripts_of_a_chat_model_in_the_readme_are_what_the_program_prints() {
    let world = World::example();
    let config = world.root().join("llm.yaml");
    fs::write(&config, "ask: {provider: ollama}\nllm: {model: m}\n").unwrap();
    let wrong = "The proofbox holds sourdough at 29 °C and 78 % relative humidity [E1].";
    let right = "The proofbox holds sourdough at 27 °C and 78 % relative humidity [E1].";
    let readme = document("README.md");
    let mut transcripts = blocks(&readme, "text")
        .into_iter()
        .filter(|block| block[0].starts_with("$ local-agent ask \""));
    for script in [[wrong, right], [wrong, wrong]] {
        let transcript = transcripts
            .next()
            .expect("the README shows a repaired and a rejected answer");
        let question = transcript[0].split('"').nth(1).unwrap();
        let server = ChatServer::ollama(script.map(say).into());
        let url = server.url();
        let run = world.ok(&[
            "ask",
            question,
            "--config",
            config.to_str().unwrap(),
            "--ollama-base-url",
            &url,
        ]);
        let printed = format!("{}{}", run.stdout, run.stderr)
            .replace(&url.replace("http://", ""), "127.0.0.1:11434");
        for line in &transcript[1..] {
            assert!(
                printed.lines().any(|l| l == line),
                "the README shows a line that is not printed: {line}\n{printed}"
            );
        }
    }
}

#[test]
fn every_command_line_in_the_documents_is_understood() {
    let world = World::empty();
    let mut seen = 0;
    for name in [
        "README.md",
        "OPERATOR_QUICKREF.md",
        "docs/quality.md",
        "docs/mcp.md",
        "docs/serve.md",
        "docs/conflicts.md",
    ] {
        for line in blocks(&document(name), "sh").concat() {
            let line = line.split(" #").next().unwrap_or_default();
            for command in line
                .split("&&")
                .map(str::trim)
                .filter(|c| c.starts_with("local-agent "))
            {
                // `--help` is handled after the whole line is parsed, and runs nothing.
                let subcommand = command.split_whitespace().nth(1).unwrap();
                // `eval retrieval` and similar subcommands have their own flags.
                let deeper = command
                    .split_whitespace()
                    .nth(2)
                    .filter(|_| {
                        ["eval", "runs", "memory", "mcp", "serve", "skill", "tool"]
                            .contains(&subcommand)
                    })
                    .filter(|word| !word.starts_with('-'));
                let deepest = command
                    .split_whitespace()
                    .nth(3)
                    .filter(|word| deeper == Some("token") && !word.starts_with('-'));
                let path: Vec<&str> = [Some(subcommand), deeper, deepest, Some("--help")]
                    .into_iter()
                    .flatten()
                    .collect();
                let help = world.ok(&path).stdout;
                for flag in command
                    .split_whitespace()
                    .filter(|word| word.starts_with("--"))
                {
                    assert!(
                        help.contains(flag),
                        "{name}: `{command}`: {flag} is not a flag of {subcommand}"
                    );
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 10, "the documents show commands");
}
