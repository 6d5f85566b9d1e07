//! Spellings of other programs for notes, and what to type here instead.

use std::ffi::OsString;

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use local_agent_files::state::in_quotes;

/// Commands that other programs have, and what does the same here.
const COMMANDS: &[(&str, &str)] = &[
    ("add", "`local-agent source add DIR` adds a folder"),
    ("bench", "`local-agent eval retrieval` measures the search"),
    ("cat", "`local-agent get NOTE` prints a note"),
    ("collections", "`local-agent source list` lists the folders"),
    ("daemon", "`local-agent serve` is the server"),
    (
        "deep-search",
        "`local-agent query WORDS` searches by words and by meaning",
    ),
    (
        "find",
        "`local-agent query WORDS` searches, `local-agent ls` lists the documents",
    ),
    ("grep", "`local-agent search WORDS` searches by words"),
    (
        "list",
        "`local-agent ls` lists the documents, `local-agent source list` the folders",
    ),
    ("open", "`local-agent get NOTE` prints a note"),
    (
        "outline",
        "`local-agent tool run outline --arg path=NOTE` lists the headings of a note",
    ),
    (
        "pull",
        "`local-agent models pull ID` downloads a model; two models are built in",
    ),
    ("read", "`local-agent get NOTE` prints a note"),
    (
        "reindex",
        "`local-agent index --rebuild` builds the index again",
    ),
    ("show", "`local-agent get NOTE` prints a note"),
    ("sync", "`local-agent index` brings the index up to date"),
    (
        "vector-search",
        "`local-agent vsearch WORDS` searches by meaning",
    ),
];

/// Subcommands of `collection` that another program has.
const SOURCE_COMMANDS: &[(&str, &str)] = &[
    (
        "exclude",
        "`local-agent source add DIR --exclude PATTERN` leaves out what a pattern names",
    ),
    (
        "show",
        "`local-agent source list` shows the settings of each folder, `local-agent ls NAME` its documents",
    ),
    (
        "update-cmd",
        "run the command before `local-agent index`, which runs no other program",
    ),
];

/// Options that other programs have: the command (empty: any), the option, and what to do here.
const OPTIONS: &[(&str, &str, &str)] = &[
    (
        "",
        "--candidate-limit",
        "leave this option out: a search ranks every note",
    ),
    (
        "",
        "--index",
        "`--config FILE` or `-C DIR` chooses another index",
    ),
    (
        "index",
        "--pull",
        "run `git pull` before it: `local-agent index` runs no other program",
    ),
    (
        "mcp",
        "--daemon",
        "`local-agent serve` serves agents over HTTP at /mcp",
    ),
    (
        "mcp",
        "--http",
        "`local-agent serve` serves agents over HTTP at /mcp",
    ),
    (
        "mcp",
        "--port",
        "`local-agent serve` serves agents over HTTP at /mcp",
    ),
    ("ls", "-c", "name the source: `local-agent ls NAME`"),
    (
        "ls",
        "--collection",
        "name the source: `local-agent ls NAME`",
    ),
    (
        "embed",
        "-c",
        "leave this option out: every source is embedded",
    ),
    (
        "get",
        "--format",
        "documents are printed as they are; `--json` is for programs",
    ),
    (
        "index",
        "-c",
        "`local-agent index --source NAME` looks at one source",
    ),
    (
        "",
        "--intent",
        "write it as a line of the query: `intent: WORDS`",
    ),
    (
        "",
        "--no-line-numbers",
        "leave this option out: lines have numbers only with `--line-numbers`",
    ),
    (
        "multi-get",
        "--format",
        "documents are printed as they are; `--json` is for programs",
    ),
    (
        "multi-get",
        "--csv",
        "documents are printed as they are; `--json` is for programs",
    ),
    ("multi-get", "--files", "`local-agent ls` lists the paths"),
    (
        "multi-get",
        "--from",
        "`local-agent get NOTE --from LINE` begins at a line",
    ),
    (
        "multi-get",
        "--md",
        "documents are printed as they are; `--json` is for programs",
    ),
    (
        "multi-get",
        "--xml",
        "documents are printed as they are; `--json` is for programs",
    ),
    (
        "source",
        "--pattern",
        "`--mask GLOB` or `--include PATTERN` limits the files",
    ),
];

/// Puts the tip for a spelling of another program in place of the parser's own. Returns the tip, if
/// there is one. `args` is the line without the program's name, `command` the command in it.
pub(super) fn say_ours(error: &mut Error, args: &[OsString], command: &str) -> Option<String> {
    let command = match command {
        "collection" => "source",
        other => other,
    };
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            of_command(command, context(error, ContextKind::InvalidSubcommand)?)
        }
        ErrorKind::UnknownArgument => {
            let option = context(error, ContextKind::InvalidArg)?.to_owned();
            // The parser suggests to search for the option itself.
            if option.starts_with("--") && suggests_value(error) {
                error.remove(ContextKind::Suggested);
            }
            let option = option.as_str();
            of_option(command, option).or_else(|| of_exclusion(command, option, args))
        }
        _ => None,
    }?;
    for kind in [
        ContextKind::Suggested,
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
    ] {
        error.remove(kind);
    }
    let shown = ContextValue::StyledStrs(vec![tip.clone().into()]);
    error.insert(ContextKind::Suggested, shown);
    Some(tip)
}

/// Whether the parser suggests to pass an option as a value.
fn suggests_value(error: &Error) -> bool {
    let Some(ContextValue::StyledStrs(texts)) = error.get(ContextKind::Suggested) else {
        return false;
    };
    texts
        .iter()
        .any(|text| text.to_string().contains("as a value"))
}

/// One text that the parser's error contains.
fn context(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn of_command(command: &str, typed: &str) -> Option<String> {
    let commands = if command == "source" {
        SOURCE_COMMANDS
    } else {
        COMMANDS
    };
    let found = commands.iter().find(|(name, _)| *name == typed);
    found.map(|(_, tip)| (*tip).to_owned())
}

fn of_option(command: &str, typed: &str) -> Option<String> {
    let found = OPTIONS
        .iter()
        .find(|(of, name, _)| *name == typed && (of.is_empty() || *of == command));
    found.map(|(_, _, tip)| (*tip).to_owned())
}

/// The tip for a query with `-word`: the parser takes its first letter for an option. With other options
/// on the line only the way is told.
fn of_exclusion(command: &str, option: &str, args: &[OsString]) -> Option<String> {
    let is_search = ["query", "search", "vsearch"].contains(&command);
    let words: Vec<&str> = args.iter().filter_map(|arg| arg.to_str()).collect();
    let is_exclusion = |word: &&str| {
        !word.starts_with("--") && word.starts_with(option) && word.len() > option.len()
    };
    let excluded = words.iter().copied().find(is_exclusion)?;
    let (first, rest) = words.split_first()?;
    let is_plain = *first == command
        && !rest
            .iter()
            .any(|word| word.starts_with('-') && *word != excluded);
    let tip = match is_plain {
        true => {
            let query = in_quotes(&rest.join(" "));
            format!("to leave out notes with a word: `local-agent {command} -- {query}`")
        }
        false => format!(
            "to leave out notes with a word, end the line with `--` and all words of the query in quotes: \
             -- 'WORDS {excluded}'"
        ),
    };
    is_search.then_some(tip)
}

#[cfg(test)]
mod tests {
    use super::super::args::Cli;
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    fn tip(line: &[&str]) -> Option<String> {
        let args: Vec<OsString> = line.iter().map(OsString::from).collect();
        let all = std::iter::once(OsString::from("local-agent")).chain(args.clone());
        let mut error = Cli::try_parse_from(all).unwrap_err();
        let tip = say_ours(&mut error, &args, line[0]);
        if let Some(tip) = &tip {
            assert!(error.to_string().contains(tip.as_str()), "{error}");
            assert!(!error.to_string().contains("as a value"), "{error}");
        }
        tip
    }

    #[test]
    fn a_spelling_of_another_program_gets_a_tip_that_names_ours() {
        for (line, ours) in [
            (&["find", "x"][..], "`local-agent query WORDS`"),
            (&["cat", "a.md"], "`local-agent get NOTE`"),
            (&["outline", "a.md"], "outline"),
            (&["pull"], "`local-agent models pull ID`"),
            (
                &["query", "x", "--candidate-limit", "40"],
                "leave this option out",
            ),
            (&["search", "x", "--index", "a"], "`--config FILE`"),
            (&["index", "--pull"], "git pull"),
            (&["mcp", "--http"], "`local-agent serve`"),
            (&["source", "show", "notes"], "`local-agent source list`"),
            (&["multi-get", "*.md", "--md"], "`--json`"),
            (&["multi-get", "*.md", "--files"], "`local-agent ls`"),
            (&["ls", "-c", "notes"], "`local-agent ls NAME`"),
            (&["query", "-flour rye"], "query -- '-flour rye'"),
        ] {
            let tip = tip(line).unwrap_or_default();
            assert!(tip.contains(ours), "{line:?}: {tip}");
        }
        assert_eq!(tip(&["query", "x", "--nosuch"]), None);
        assert_eq!(tip(&["nosuch"]), None);
    }

    #[test]
    fn no_tip_stands_for_a_spelling_that_is_taken() {
        let cli = Cli::command();
        for (name, _) in COMMANDS {
            assert!(cli.find_subcommand(name).is_none(), "{name}");
        }
    }
}
