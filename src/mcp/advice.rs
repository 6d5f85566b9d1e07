//! Advice for an agent about a failure. The hints of the command line name shell commands; an agent
//! has tools, and a person who can run a command.

use local_agent_net::http::is_server_failure;
use local_agent_text::error::{ErrorCode, Failure};

/// The name of the program at the start of a command.
const PROGRAM: &str = "local-agent ";

/// Whether a server offers the tool with a name.
pub(super) type Offers<'a> = &'a dyn Fn(&str) -> bool;

/// The advice in words for an agent, to which the server offers some tools; `None` if no help is
/// known.
pub(super) fn advice(failure: &Failure, offers: Offers<'_>) -> Option<String> {
    let is_of_server = is_server_failure(failure) || failure.code == ErrorCode::ModelNotFound;
    if is_of_server && failure.found.is_some() {
        return Some(of_model(failure, offers));
    }
    let hint = failure.hint.as_deref()?;
    // An option of the command line has the name of an argument.
    if let Some((name, value)) = hint
        .strip_prefix("--")
        .and_then(|hint| hint.split_once(' '))
    {
        return Some(format!("pass `{name}` as in \"{value}\""));
    }
    let is_in_words = failure.code != ErrorCode::PathIsDirectory && !hint.contains(PROGRAM);
    Some(match is_in_words {
        true => with_offered_tools(hint, offers),
        false => in_place_of_command(failure, hint, offers),
    })
}

/// The advice about a model's server that failed: the notes can still be searched.
fn of_model(failure: &Failure, offers: Offers<'_>) -> String {
    let hint = failure.hint.as_deref().unwrap_or("local-agent doctor");
    let person = of_person(hint);
    match offers("search") {
        true => format!("answer from the passages below or from `search`; {person}"),
        false => person,
    }
}

/// The advice in place of a command. If it needs a tool that is not offered, a person must run the
/// command.
fn in_place_of_command(failure: &Failure, hint: &str, offers: Offers<'_>) -> String {
    let (tool, advice) = match failure.code {
        ErrorCode::FileNotFound if hint.contains("local-agent index") => return of_person(hint),
        ErrorCode::FileNotFound if hint.contains("local-agent get") => {
            (None, "make the same call with one of these names")
        }
        ErrorCode::FileNotFound if offers("search") => {
            (Some("search"), "call `search` with words of the note")
        }
        ErrorCode::FileNotFound => (Some("list_dir"), "call `list_dir` without a path"),
        ErrorCode::AmbiguousPath => (None, "make the same call with one of these names"),
        ErrorCode::SymbolNotFound => (
            None,
            "make the same call with a name that the message lists, or without what is behind `#`",
        ),
        ErrorCode::PathIsDirectory => (Some("list_dir"), "call `list_dir`"),
        ErrorCode::RunNotFound | ErrorCode::RunIncomplete => (
            Some("ask"),
            "call `ask`, and verify with the `run_id` that it gives",
        ),
        ErrorCode::InvalidArgs | ErrorCode::PathDenied if hint.contains("source list") => (
            Some("status"),
            "call `status` to see the names of the sources",
        ),
        ErrorCode::InvalidArgs if hint.contains("chunk key") => (
            Some("search"),
            "call `search`: each hit has its `chunk_key`",
        ),
        ErrorCode::InvalidArgs => (None, CHANGE_ARGUMENT),
        ErrorCode::InvalidQuery => (None, "give it words"),
        _ => return of_person(hint),
    };
    match tool.is_none_or(offers) {
        true => advice.to_owned(),
        false => of_person(hint),
    }
}

/// What to do about an argument that does not fit.
pub(super) const CHANGE_ARGUMENT: &str =
    "change the argument that the message names; the tool's input schema describes all of them";

/// A hint that names tools or settings, as far as an agent can follow it.
fn with_offered_tools(hint: &str, offers: Offers<'_>) -> String {
    if hint.contains("read_text_file") && !offers("read_text_file") {
        return "call `get` for it".to_owned();
    }
    if hint.contains("with grep") && !offers("grep") {
        return "call `search` with words of it".to_owned();
    }
    let is_for_a_person = hint.contains("configuration")
        || ["set `", "raise `", "convert "]
            .iter()
            .any(|start| hint.starts_with(start));
    match is_for_a_person {
        true => of_person(hint),
        false => hint.to_owned(),
    }
}

/// What a person must do. A server reads its configuration when a client connects.
fn of_person(hint: &str) -> String {
    let changes_configuration = [
        "configuration",
        "`extensions",
        "set `",
        "raise `",
        "init --here",
        "source add",
    ]
    .iter()
    .any(|words| hint.contains(words));
    match changes_configuration {
        true => format!("ask the person: {hint}; afterwards this server must be started again"),
        false => format!("ask the person: {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_of_tools_and_a_person_of_commands() {
        let failure = |code, hint: &str| Failure::new(code, "x").with_hint(hint);
        let said = |code, hint: &str| advice(&failure(code, hint), &|_| true).unwrap();
        let alone = |code, hint: &str| advice(&failure(code, hint), &|_| false).unwrap();
        assert_eq!(
            said(ErrorCode::RunNotFound, "local-agent runs list"),
            "call `ask`, and verify with the `run_id` that it gives"
        );
        assert_eq!(
            said(ErrorCode::IndexMissing, "local-agent index"),
            "ask the person: local-agent index"
        );
        assert_eq!(
            said(ErrorCode::InvalidArgs, "leave `limit` out"),
            "leave `limit` out"
        );
        for (hint, wanted) in [
            ("--after 2026-01-31", "pass `after` as in \"2026-01-31\""),
            (
                "local-agent source list",
                "call `status` to see the names of the sources",
            ),
            (
                "a chunk key is up to 32 hexadecimal digits, as `local-agent query WORDS --json` shows",
                "call `search`: each hit has its `chunk_key`",
            ),
        ] {
            assert_eq!(said(ErrorCode::InvalidArgs, hint), wanted);
        }
        assert_eq!(
            alone(ErrorCode::RunNotFound, "local-agent runs list"),
            "ask the person: local-agent runs list"
        );
        assert_eq!(
            alone(ErrorCode::InvalidArgs, "read it with read_text_file"),
            "call `get` for it"
        );
        assert_eq!(
            said(
                ErrorCode::MemoryDisabled,
                "set `memory.enabled: true` in the configuration"
            ),
            "ask the person: set `memory.enabled: true` in the configuration; afterwards this server \
             must be started again"
        );
        let nothing = Failure::new(ErrorCode::Cancelled, "x");
        assert_eq!(advice(&nothing, &|_| true), None);
    }
}
