//! Checks that the reference pages are what the program generates. `UPDATE_DOCS=1 cargo test --test
//! it docs` writes them.

use std::fs;
use std::path::Path;

pub(crate) fn holds(name: &str, generated: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, generated).unwrap();
    }
    let written = fs::read_to_string(&file)
        .unwrap_or_default()
        .replace("\r\n", "\n");
    assert!(
        written == generated,
        "docs/{name} is behind the program: UPDATE_DOCS=1 cargo test --test it docs"
    );
}

#[test]
fn the_command_line_reference_is_the_programs_help() {
    holds("cli.md", &local_agent::cli::cli_reference());
}

#[test]
fn the_language_reference_is_the_word_lists() {
    holds(
        "languages.md",
        &local_agent_text::language::reference::languages_markdown(),
    );
}

#[test]
fn the_code_reference_is_the_tables() {
    holds("codes.md", &local_agent::cli::codes_reference());
}

#[test]
fn the_configuration_reference_is_the_table_of_keys() {
    holds(
        "config.md",
        &local_agent_agent::config::reference_markdown(),
    );
}

#[test]
fn the_model_reference_is_the_registry() {
    holds("models.md", &local_agent::cli::models_reference());
}

#[test]
fn the_schemas_of_json_outputs_are_the_printed_structs() {
    let mut page = String::from(
        "# What `--json` prints\n\nEvery command prints one JSON object with `--json`. Its schema, \
         generated from the struct that is printed:\n\n| command | schema |\n| --- | --- |\n",
    );
    for (command, schema) in local_agent::cli::json_schemas() {
        let file = format!(
            "json/{}.schema.json",
            command.replace(" --", "-").replace(' ', "-")
        );
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        holds(&file, &text);
        let about = if command == "error" {
            "any command that fails (exit code 1)".to_owned()
        } else {
            format!("`{command}`")
        };
        page.push_str(&format!("| {about} | [{file}]({file}) |\n"));
    }
    holds("json.md", &page);
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    // What these print is another program's text, or a line for each event or call.
    let others = [
        "completions",
        "man",
        "mcp",
        "skill show",
        "tool run",
        "watch",
    ];
    let reference = local_agent::cli::cli_reference();
    let commands: Vec<&str> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("## `local-agent ")?.strip_suffix('`'))
        .collect();
    let schemas = local_agent::cli::json_schemas();
    let has_schema = |command: &str| schemas.iter().any(|(name, _)| *name == command);
    for command in &commands {
        let below = format!("{command} ");
        let is_group = commands.iter().any(|other| other.starts_with(&below));
        assert!(
            is_group || has_schema(command) || others.contains(command),
            "`{command}` has no schema"
        );
    }
    assert!(commands.len() > 60);
}
