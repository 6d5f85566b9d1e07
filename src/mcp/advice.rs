//! Advice for an agent about a failure. The hints of the command line name shell commands; an agent
//! has tools, and a person who can run a command.

use local_agent_text::error::{ErrorCode, Failure};

/// The name of the program at the start of a command.
const PROGRAM: &str = "local-agent ";

/// The advice in words for an agent; `None` if no help is known.
pub(super) fn advice(failure: &Failure) -> Option<String> {
    let hint = failure.hint.as_deref()?;
    // An option of the command line has the name of an argument.
    if let Some((name, value)) = hint
        .strip_prefix("--")
        .and_then(|hint| hint.split_once(' '))
    {
        return Some(format!("pass `{name}` as in \"{value}\""));
    }
    if !hint.contains(PROGRAM) {
        return Some(hint.to_owned());
    }
    let by_tool = match failure.code {
        ErrorCode::FileNotFound => {
            "call `search` with words of the note, or `list_dir` without a path"
        }
        ErrorCode::AmbiguousPath => "make the same call with one of these names",
        ErrorCode::SymbolNotFound => "call `outline` to see the headings",
        ErrorCode::PathIsDirectory => "call `list_dir`",
        ErrorCode::FileTooLarge => "call `get` for some lines, as in `path.md:1:200`",
        ErrorCode::RunNotFound | ErrorCode::RunIncomplete => {
            "call `ask`, and verify with the `run_id` that it gives"
        }
        ErrorCode::InvalidArgs if hint.contains("source list") => {
            "call `status` to see the names of the sources"
        }
        ErrorCode::InvalidArgs if hint.contains("chunk key") => {
            "call `search`: each hit has its `chunk_key`"
        }
        ErrorCode::InvalidArgs | ErrorCode::InvalidQuery => "see the tool's input schema",
        _ => return Some(format!("ask the person: {hint}")),
    };
    Some(by_tool.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_told_of_tools_and_a_person_of_commands() {
        let said = |code, hint: &str| advice(&Failure::new(code, "x").with_hint(hint)).unwrap();
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
        assert_eq!(advice(&Failure::new(ErrorCode::Cancelled, "x")), None);
    }
}
