//! Advice for an agent about a failure. The hints of the command line name shell commands; an agent
//! has tools, and a person who can run a command. The kind of the fix decides, never its words.

use local_agent_net::http::is_server_failure;
use local_agent_text::error::{ErrorCode, Failure, Fix};

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
    if failure.code == ErrorCode::PathIsDirectory || failure.fix.is_command() {
        return Some(in_place_of_command(failure, hint, offers));
    }
    Some(match &failure.fix {
        // An option of the command line has the name of an argument.
        Fix::PassArgument { name, example } => format!("pass `{name}` as in \"{example}\""),
        Fix::ReadTextFile if !offers("read_text_file") => "call `get` for it".to_owned(),
        Fix::SearchWithGrep if !offers("grep") => "call `search` with words of it".to_owned(),
        Fix::ByPerson | Fix::ChangeSetting => of_person(&failure.fix, hint),
        _ => hint.to_owned(),
    })
}

/// The advice about a model's server that failed: the notes can still be searched.
fn of_model(failure: &Failure, offers: Offers<'_>) -> String {
    let hint = failure.hint.as_deref().unwrap_or("local-agent doctor");
    let person = of_person(&failure.fix, hint);
    match offers("search") {
        true => format!("answer from the passages below or from `search`; {person}"),
        false => person,
    }
}

/// The advice in place of a command. If it needs a tool that is not offered, a person must run the
/// command.
fn in_place_of_command(failure: &Failure, hint: &str, offers: Offers<'_>) -> String {
    let (tool, advice) = match (failure.code, &failure.fix) {
        (ErrorCode::FileNotFound, Fix::UpdateIndex | Fix::ConfigureByCommand) => {
            return of_person(&failure.fix, hint);
        }
        (ErrorCode::FileNotFound, Fix::UseName(_)) | (ErrorCode::AmbiguousPath, _) => {
            (None, "make the same call with one of these names")
        }
        (ErrorCode::FileNotFound, _) if offers("search") => {
            (Some("search"), "call `search` with words of the note")
        }
        (ErrorCode::FileNotFound, _) => (Some("list_dir"), "call `list_dir` without a path"),
        (ErrorCode::SymbolNotFound, _) => (
            None,
            "make the same call with a name that the message lists, or without what is after `#`",
        ),
        (ErrorCode::PathIsDirectory, _) => (Some("list_dir"), "call `list_dir`"),
        (ErrorCode::RunNotFound | ErrorCode::RunIncomplete, _) => (
            Some("ask"),
            "call `ask`, and verify with the `run_id` that it gives",
        ),
        (ErrorCode::InvalidArgs | ErrorCode::PathDenied, Fix::ListSources) => (
            Some("status"),
            "call `status` to see the names of the sources",
        ),
        (ErrorCode::InvalidArgs, Fix::FindChunkKey) => (
            Some("search"),
            "call `search`: each hit has its `chunk_key`",
        ),
        (ErrorCode::InvalidArgs, _) => (None, CHANGE_ARGUMENT),
        (ErrorCode::InvalidQuery, _) => (None, "give it words"),
        _ => return of_person(&failure.fix, hint),
    };
    match tool.is_none_or(offers) {
        true => advice.to_owned(),
        false => of_person(&failure.fix, hint),
    }
}

/// What to do about an argument that does not fit.
pub(super) const CHANGE_ARGUMENT: &str =
    "change the argument that the message names; the tool's input schema describes all of them";

/// What a person must do. A server reads its configuration when a client connects.
fn of_person(fix: &Fix, hint: &str) -> String {
    match fix {
        Fix::ChangeSetting | Fix::ConfigureByCommand => {
            format!("ask the person: {hint}; afterwards this server must be started again")
        }
        _ => format!("ask the person: {hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_of_tools_and_a_person_of_commands() {
        let said = |code, fix: Fix, hint: &str| {
            advice(&Failure::new(code, "x").with_fix(fix, hint), &|_| true).unwrap()
        };
        let alone = |code, fix: Fix, hint: &str| {
            advice(&Failure::new(code, "x").with_fix(fix, hint), &|_| false).unwrap()
        };
        assert_eq!(
            said(
                ErrorCode::RunNotFound,
                Fix::RunCommand,
                "local-agent runs list"
            ),
            "call `ask`, and verify with the `run_id` that it gives"
        );
        assert_eq!(
            said(
                ErrorCode::IndexMissing,
                Fix::RunCommand,
                "local-agent index"
            ),
            "ask the person: local-agent index"
        );
        assert_eq!(
            said(ErrorCode::InvalidArgs, Fix::Words, "leave `limit` out"),
            "leave `limit` out"
        );
        let after = Fix::PassArgument {
            name: "after".to_owned(),
            example: "2026-01-31".to_owned(),
        };
        for (fix, hint, wanted) in [
            (
                after,
                "--after 2026-01-31",
                "pass `after` as in \"2026-01-31\"",
            ),
            (
                Fix::ListSources,
                "local-agent source list",
                "call `status` to see the names of the sources",
            ),
            (
                Fix::FindChunkKey,
                "a chunk key is up to 32 hexadecimal digits, as `local-agent query WORDS --json` shows",
                "call `search`: each hit has its `chunk_key`",
            ),
        ] {
            assert_eq!(said(ErrorCode::InvalidArgs, fix, hint), wanted);
        }
        assert_eq!(
            alone(
                ErrorCode::RunNotFound,
                Fix::RunCommand,
                "local-agent runs list"
            ),
            "ask the person: local-agent runs list"
        );
        assert_eq!(
            alone(
                ErrorCode::InvalidArgs,
                Fix::ReadTextFile,
                "read it with read_text_file"
            ),
            "call `get` for it"
        );
        assert_eq!(
            said(
                ErrorCode::MemoryDisabled,
                Fix::ChangeSetting,
                "set `memory.enabled: true` in the configuration"
            ),
            "ask the person: set `memory.enabled: true` in the configuration; afterwards this server \
             must be started again"
        );
        let nothing = Failure::new(ErrorCode::Cancelled, "x");
        assert_eq!(advice(&nothing, &|_| true), None);
    }
}
