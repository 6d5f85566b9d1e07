//! Advice for whoever reads a page. The hints of failures name commands and addresses for programs;
//! a page has fields and links.

use super::page::NOTHING_HERE;
use local_agent_text::error::{ErrorCode, Failure, Fix};

/// The same failure with a fix for a person in a browser.
pub(super) fn for_browser(failure: &Failure) -> Failure {
    let mut failure = failure.clone();
    failure.hint = advice(&failure).or(failure.hint);
    failure
}

fn advice(failure: &Failure) -> Option<String> {
    let hint = failure.hint.as_deref().unwrap_or_default();
    // An option of the command line has the name of a field.
    if let Fix::PassArgument { name, example } = &failure.fix {
        return Some(format!(
            "write it as {example} in the field “{name}” in the filters"
        ));
    }
    let said = match failure.code {
        _ if failure.message == NOTHING_HERE => "begin at the page of notes",
        ErrorCode::FileNotFound => "search for words of the note",
        ErrorCode::AmbiguousPath => "open one of the notes that the message names",
        ErrorCode::PathIsDirectory => "open a note in it; the search finds them",
        ErrorCode::SymbolNotFound => "open the note without what is behind `#`",
        ErrorCode::InvalidQuery => "write some words",
        ErrorCode::RunNotFound | ErrorCode::RunIncomplete => "choose one in the list of runs",
        ErrorCode::ServerUnreachable if hint.is_empty() => {
            return Some(of_person("local-agent doctor"));
        }
        _ if failure.fix.is_command() => return Some(of_person(hint)),
        _ => return None,
    };
    Some(said.to_owned())
}

/// A fix that is a command is for the machine of the server.
fn of_person(hint: &str) -> String {
    format!("on the machine where the server runs: {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_in_a_browser_is_told_of_fields_and_pages() {
        let said = |code, hint: &str| {
            let failure = Failure::new(code, "x").with_command(hint);
            for_browser(&failure).hint.unwrap()
        };
        let argument = Fix::PassArgument {
            name: "after".to_owned(),
            example: "2026-01-31".to_owned(),
        };
        let day =
            Failure::new(ErrorCode::InvalidArgs, "x").with_fix(argument, "--after 2026-01-31");
        assert_eq!(
            for_browser(&day).hint.unwrap(),
            "write it as 2026-01-31 in the field “after” in the filters"
        );
        let nothing = Failure::new(ErrorCode::InvalidArgs, NOTHING_HERE);
        assert_eq!(
            for_browser(&nothing).hint.unwrap(),
            "begin at the page of notes"
        );
        assert_eq!(
            said(ErrorCode::FileNotFound, "local-agent ls"),
            "search for words of the note"
        );
        assert_eq!(
            said(ErrorCode::IndexMissing, "local-agent index"),
            "on the machine where the server runs: local-agent index"
        );
        let two = Failure::new(ErrorCode::InvalidArgs, "x").with_hint("choose two");
        assert_eq!(for_browser(&two).hint.unwrap(), "choose two");
        let bare = Failure::new(ErrorCode::Cancelled, "x");
        assert_eq!(for_browser(&bare).hint, None);
    }
}
