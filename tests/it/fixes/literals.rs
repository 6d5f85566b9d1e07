//! Every hint in the source is in a row of `docs/fixes.md` or `docs/client_fixes.md`, or a test of
//! its own follows it, or there is a reason why no test can.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::architecture::source_files;

/// Hints of states that cannot be a row, and the test that follows each.
const FOLLOWED_ELSEWHERE: &[(&str, &str, &str)] = &[
    (
        "allow reading and writing there",
        "fixes/environments.rs",
        "a_folder_may_not_be_written",
    ),
    (
        "allow writing there, then run the same command again",
        "fixes/environments.rs",
        "a_folder_may_not_be_written",
    ),
    (
        "check the permissions of its folder and the space left",
        "fixes/environments.rs",
        "a_file_changes_or_its_folder_is_closed_while_a_person_reads_the_proposal",
    ),
    (
        "local-agent memory add \"…\"",
        "serve_pages.rs",
        "an_empty_memory_names_the_command_that_adds_to_it",
    ),
    (
        "look at the file again, then propose again",
        "fixes/environments.rs",
        "a_file_changes_or_its_folder_is_closed_while_a_person_reads_the_proposal",
    ),
    (
        "local-agent serve status",
        "fixes/environments.rs",
        "another_process_does_not_end",
    ),
    (
        "wait for it to end, and run it again",
        "fixes/environments.rs",
        "another_process_does_not_end",
    ),
    (
        "wait for the other process to end",
        "fixes/environments.rs",
        "another_process_does_not_end",
    ),
    (
        "remove that folder; it is made again",
        "fixes/environments.rs",
        "the_packed_weights_are_no_folder",
    ),
    (
        "change to a folder that exists",
        "fixes/environments.rs",
        "the_working_folder_was_removed",
    ),
    (
        "install git, or use --lock",
        "fixes/environments.rs",
        "git_is_not_installed",
    ),
    (
        "run the command again",
        "eval.rs",
        "a_file_that_changes_while_it_is_measured_is_a_failure_until_the_command_runs_again",
    ),
    (
        "cargo install --path . --features code",
        "fixes/builds.rs",
        "grammars_of_programming_languages_are_missing",
    ),
    (
        "cargo install --path . --features pull",
        "fixes/builds.rs",
        "models_cannot_be_pulled",
    ),
    (
        "`local-agent models pull bge-small-en-v1.5`, then set embed.model to bge-small-en-v1.5",
        "fixes/builds.rs",
        "no_model_is_compiled_in",
    ),
    (
        "No folder of notes is known. Name that of the cited files, `--vault DIR`, or add it: `local-agent source add DIR`.",
        "verify.rs",
        "a_citation_without_a_folder_of_notes_says_how_to_name_one",
    ),
    ("set HOME", "fixes/environments.rs", "a_user_has_no_home"),
    (
        "local-agent embed --model auto",
        "languages.rs",
        "doctor_names_the_command_that_takes_a_model_that_reads_the_notes",
    ),
    (
        "it made the vectors that are there; `local-agent embed --model {AUTO}` would take {} now, \
         because {}",
        "languages.rs",
        "auto_says_when_it_would_take_another_model_by_now_and_takes_it_when_asked",
    ),
    (
        "local-agent embed --model multilingual-e5-small",
        "languages.rs",
        "a_model_that_reads_english_only_says_so_of_a_question_in_another_language",
    ),
    (
        "set embed.model to multilingual-e5-small, then run `local-agent embed`",
        "languages.rs",
        "a_configured_model_that_reads_english_only_is_changed_in_the_configuration",
    ),
    (
        "end other processes; `watch` tries again by itself",
        "fixes/environments.rs",
        "no_thread_is_left_for_a_round_of_watch",
    ),
    (
        "pull again, or from another --endpoint",
        "fixes/environments.rs",
        "a_hub_sends_wrong_bytes",
    ),
    (
        "to leave out notes with a word: `local-agent {command} -- {query}`",
        "fixes/environments.rs",
        "a_word_is_left_out",
    ),
    (
        "`local-agent serve` is the server",
        "fixes/environments.rs",
        "the_server_of_another_program_is_asked_for",
    ),
    (
        "`local-agent serve` serves agents over HTTP at /mcp",
        "fixes/environments.rs",
        "the_server_of_another_program_is_asked_for",
    ),
    (
        "set embed.instructions to auto (here that is {best})",
        "doctor.rs",
        "instructions_that_the_machine_lacks_are_named_before_anybody_embeds",
    ),
    (
        "restart the server: the kernel confines it to the folders that it started with",
        "mcp.rs",
        "a_root_that_was_moved_away_and_made_again_is_read_as_it_is_now",
    ),
    (
        "local-agent serve stop && local-agent serve",
        "serve_tls.rs",
        "a_new_source_that_the_kernel_keeps_closed_is_said",
    ),
    (
        "name another note",
        "everyday.rs",
        "an_empty_vault_or_note_gets_no_advice_that_leads_nowhere",
    ),
    (
        "There is nothing to search yet: put notes into the folders of `local-agent source list`, or add one with \
         `local-agent source add DIR`.",
        "everyday.rs",
        "an_empty_vault_or_note_gets_no_advice_that_leads_nowhere",
    ),
    (
        "start the client again",
        "mcp.rs",
        "a_client_whose_server_moved_is_started_again",
    ),
    (
        "call it in the next reply",
        "chat.rs",
        "too_many_calls_at_once_and_calls_that_cannot_be_read_are_answered",
    ),
    (
        "write {\"type\":\"tool_call\",\"name\":\"…\",\"args\":{…}} and nothing else",
        "chat.rs",
        "too_many_calls_at_once_and_calls_that_cannot_be_read_are_answered",
    ),
];

/// The beginnings of texts that name a command and are no advice after a failure.
const NO_HINTS: &[&str] = &[
    "# Configuration",
    "{} (and {more} more: ",
    "Signature: ",
    "There is no named token; ",
    "What `local-agent {command} --json` prints.",
    "has no effect: models are stored in ",
    "local-agent eval calibrate, questions of {}",
    "local-agent keeps index and embeddings current",
    "local-agent pack",
    "local-agent serves this user's notes",
    "LOCAL_AGENT_API_KEY is not sent: ",
    "local-agent vectors",
    "next: ",
    "pid {}, `local-agent ",
    "unverified: these are the model's own words; ",
];

#[test]
fn every_hint_is_followed_or_has_a_reason() {
    let pages = ["docs/fixes.md", "docs/client_fixes.md"];
    let pages = pages.map(|page| fs::read_to_string(root().join(page)).unwrap());
    let rows: Vec<String> = pages
        .iter()
        .flat_map(|page| page.lines())
        .map(plain)
        .collect();
    let elsewhere = FOLLOWED_ELSEWHERE.iter().map(|(hint, ..)| *hint);
    let known: BTreeSet<&str> = elsewhere.collect();
    let hints = hints_in_source();
    assert!(hints.len() > 250, "only {} hints were found", hints.len());
    let missing: Vec<&String> = hints
        .iter()
        .filter(|hint| !known.contains(hint.as_str()) && !is_in_a_row(hint, &rows))
        .collect();
    assert!(missing.is_empty(), "without a row: {missing:#?}");
    let gone: Vec<&&str> = known
        .iter()
        .filter(|hint| !hints.contains(**hint))
        .collect();
    assert!(gone.is_empty(), "no hint of the program: {gone:#?}");
}

#[test]
fn the_tests_that_follow_a_hint_exist() {
    for (hint, file, name) in FOLLOWED_ELSEWHERE {
        let text = fs::read_to_string(root().join("tests/it").join(file)).unwrap();
        let (attributes, test) = text
            .split_once(&format!("fn {name}()"))
            .unwrap_or_else(|| panic!("{file}: no test {name}, for: {hint}"));
        let is_test = attributes.trim_end().ends_with("#[test]");
        assert!(is_test, "{file}: {name} is no test");
        // The test itself, or a function behind it that it calls.
        let test = test.split("\n#[test]").next().unwrap_or_default();
        let start = hint.trim_start_matches('`').split(['{', '`']).next();
        let start = start.unwrap_or_default();
        let is_looked_for = !start.is_empty() && test.contains(start);
        assert!(is_looked_for, "{file}: {name} does not look for: {hint}");
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text without the marks of code and the escapes of a table.
fn plain(text: &str) -> String {
    text.replace('`', "").replace("\\|", "|")
}

/// Whether a row has the parts of a hint around its placeholders, in order.
fn is_in_a_row(hint: &str, rows: &[String]) -> bool {
    let hint = plain(hint);
    let parts = parts(&hint);
    rows.iter().any(|row| {
        let mut rest = row.as_str();
        parts
            .iter()
            .all(|part| match rest.split_once(part.as_str()) {
                Some((_, behind)) => {
                    rest = behind;
                    true
                }
                None => false,
            })
    })
}

/// The parts of a format string between its placeholders.
fn parts(format: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for (n, piece) in format.split('{').enumerate() {
        let behind = match n {
            0 => piece,
            _ => piece.split_once('}').map_or("", |(_, behind)| behind),
        };
        parts.push(behind.to_owned());
    }
    parts
}

/// The calls that give a failure its hint.
const GIVEN_BY: [&str; 3] = ["with_hint(", "with_command(", "with_fix("];

/// The hints of the program: the literals and constants in the arguments of [`GIVEN_BY`], and every
/// other literal with a command to run.
fn hints_in_source() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["src", "crates"] {
        source_files(&root().join(folder), &mut files);
    }
    let is_tested = |file: &&PathBuf| {
        let is_of_tests = file.components().any(|part| part.as_os_str() == "testing");
        !is_of_tests && !file.ends_with("tests.rs")
    };
    let code: Vec<String> = files.iter().filter(is_tested).map(|f| code_of(f)).collect();
    let (mut found, mut names) = (BTreeSet::new(), BTreeSet::new());
    for code in &code {
        for call in GIVEN_BY.iter().flat_map(|call| code.split(call).skip(1)) {
            let arguments = arguments(call);
            found.extend(literals(arguments));
            let without = arguments.split('"').step_by(2);
            let words = without.flat_map(|code| code.split(|c: char| !is_of_constant(c)));
            names.extend(words.filter(|word| word.len() > 1));
        }
        found.extend(literals(code).into_iter().filter(|text| is_advice(text)));
    }
    for name in names {
        let constant = format!("const {name}: &str =");
        for code in code.iter().filter(|code| code.contains(&constant)) {
            let value = code.split(&constant).nth(1).unwrap_or_default();
            found.extend(literals(value).into_iter().next());
        }
    }
    found
}

/// Whether a character is one of the name of a constant.
fn is_of_constant(c: char) -> bool {
    c.is_ascii_uppercase() || c == '_'
}

/// A file of source without its tests and comments.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |code, line| code + line + "\n")
}

/// Whether a literal has a command of this program to run.
fn is_advice(text: &str) -> bool {
    let starts = ["`local-agent ", "&& local-agent ", "; local-agent "];
    let has_command =
        text.starts_with("local-agent ") || starts.iter().any(|start| text.contains(start));
    has_command && !NO_HINTS.iter().any(|start| text.starts_with(start))
}

/// The text up to the parenthesis that closes the arguments at its beginning.
fn arguments(text: &str) -> &str {
    let (mut depth, mut is_quoted, mut is_escaped) = (1, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    text
}

/// The string literals of a piece of code, as the program reads them.
fn literals(code: &str) -> Vec<String> {
    let literal = regex::Regex::new(r#""((?:[^"\\]|\\[\s\S])*)""#).unwrap();
    let continued = regex::Regex::new(r"\\\n\s*").unwrap();
    literal
        .captures_iter(code)
        .map(|found| continued.replace_all(&found[1], "").replace("\\\"", "\""))
        .collect()
}
