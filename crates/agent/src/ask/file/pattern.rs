//! Recognises questions about a file: they name one by its extension, or ask to read or summarise
//! something with a dot in its name.

use std::sync::OnceLock;

use regex::Regex;

use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::Failure;

fn regex(cell: &'static OnceLock<Option<Regex>>, pattern: &str) -> Option<&'static Regex> {
    // Patterns are constants, and a test covers every one of them.
    cell.get_or_init(|| Regex::new(pattern).ok()).as_ref()
}

/// The extensions of notes, and of other files that a question may name, as alternatives.
const NOTES: &str = "md|markdown|txt|org|canvas";
const OTHER_FILES: &str = "json|ya?ml|html?|pdf|docx|py|rs|toml|csv";

/// Names in quotes, and words, that end in a known extension; names with a dot after "read" or in
/// "what does … contain".
fn names(question: &str) -> Vec<String> {
    static QUOTED: OnceLock<Option<Regex>> = OnceLock::new();
    static BARE: OnceLock<Option<Regex>> = OnceLock::new();
    static READ: OnceLock<Option<Regex>> = OnceLock::new();
    static SAYING: OnceLock<Option<Regex>> = OnceLock::new();
    let mut out: Vec<String> = Vec::new();
    let quoted = regex(
        &QUOTED,
        &format!(r#"(?i)["'`“„«]([^"'`”“«»\n]{{1,400}}\.(?:{NOTES}|{OTHER_FILES}))["'`”“»]"#),
    );
    let bare = regex(
        &BARE,
        &format!(r"(?i)([\w./\\:~-]+\.(?:{NOTES}|{OTHER_FILES}))(?:$|[^\w])"),
    );
    let read = regex(
        &READ,
        r"(?i)\b(?:read|summari[sz]e)\s+(?:the\s+)?(?:file\s+)?([\w/\\:~-][\w./\\:~-]*\.\w+)",
    );
    let saying = regex(
        &SAYING,
        r"(?i)\bwhat\s+(?:does|do|did)\s+(?:the\s+)?(?:file\s+)?((?:[\w./\\:~-]*/)?\.\w[\w.-]*)\s+(?:say|contain)",
    );
    for found in [quoted, bare, read, saying]
        .into_iter()
        .flatten()
        .flat_map(|r| r.captures_iter(question))
    {
        if let Some(name) = found.get(1).map(|m| m.as_str().trim().to_owned())
            && !out.iter().any(|known| known.ends_with(&name))
        {
            out.push(name);
        }
    }
    out
}

/// The one readable file that a question names; `None` if it names none or several.
pub fn named_file(question: &str, sandbox: &Sandbox) -> Option<String> {
    let mut found: Option<(String, Address)> = None;
    for name in names(question) {
        let Ok(at) = sandbox.resolve(&name) else {
            continue;
        };
        match &found {
            Some((_, known)) if *known != at => return None,
            Some(_) => {}
            None => found = Some((name, at)),
        }
    }
    found.map(|(name, _)| name)
}

/// Why a file cannot be read that a question is about: it asks to read or to summarise the file, or
/// what the file says. `None` if it is about no file, or about one that exists.
pub fn unreadable_file(question: &str, sandbox: &Sandbox) -> Option<Failure> {
    static COMMAND: OnceLock<Option<Regex>> = OnceLock::new();
    let command = regex(&COMMAND, r"(?i)^\s*(?:please\s+)?read\b");
    let asks = command.is_some_and(|r| r.is_match(question)) || wants_summary(question);
    let named = names(question);
    let is_alone = named.len() == 1;
    let mut about = named
        .iter()
        .filter(|name| is_alone && asks || is_source_of(question, name));
    about.find_map(|name| sandbox.resolve(name).err())
}

/// The notes that a question names by their extension and that cannot be read. Other files are often
/// only the subject of a question.
pub fn unread_names(question: &str, sandbox: &Sandbox) -> Vec<String> {
    let mut named = names(question);
    named.retain(|name| is_note(name) && sandbox.resolve(name).is_err());
    named
}

fn is_note(name: &str) -> bool {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    NOTES
        .split('|')
        .any(|known| known.eq_ignore_ascii_case(extension))
}

/// Whether the question asks what this file says: "according to plan.md", "in plan.md, …", "what does
/// plan.md say about …".
fn is_source_of(question: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let file = format!(r#"(?:the\s+)?(?:file\s+|note\s+)?["'`“„«]?{name}["'`”“»]?"#);
    let pattern = format!(
        r"(?i)\b(?:according\s+to|laut|gemäß|selon|d'après|según|secondo|segundo|volgens|według|согласно)\s+{file}|^\s*(?:in|from|aus|dans|en|nel|no|w|в)\s+{file}\s*[,:]|\bwhat\s+(?:does|do|did)\s+{file}\s+(?:say|contain|mention|list)|\bwas\s+(?:steht|sagt)\s+(?:in\s+)?{file}"
    );
    Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(question))
}

/// Whether the question asks for the whole file and not for something in it.
pub(super) fn wants_summary(question: &str) -> bool {
    static SUMMARY: OnceLock<Option<Regex>> = OnceLock::new();
    let words = r"(?i)\b(summar|sum up|overview|fasse?\b.*\bzusammen|zusammenfass|tl;?dr|what (?:does|do|did|is in)\b.*\b(?:say|contain)\b\s*\??$|what is in\b)|要約|まとめて|总结|概括";
    regex(&SUMMARY, words).is_some_and(|r| r.is_match(question))
}

/// The question without the words that name the file.
pub(super) fn topic(question: &str, file: &str) -> String {
    let name = regex::escape(file);
    let pattern = format!(
        r#"(?i)\b(?:what (?:does|do|did)\s+["'`]?{name}["'`]?\s+say(?:\s+about|\s+on)?|according to\s+["'`]?{name}["'`]?,?|(?:please\s+)?read\s+(?:the\s+file\s+)?["'`]?{name}["'`]?(?:\s+and|,)?(?:\s+tell me)?|summari[sz]e\s+["'`]?{name}["'`]?|in\s+["'`]?{name}["'`]?,?)|["'`]?{name}["'`]?"#
    );
    let rest = Regex::new(&pattern).map_or_else(
        |_| question.to_owned(),
        |r| r.replace_all(question, " ").into_owned(),
    );
    let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    if rest.chars().any(char::is_alphanumeric) {
        rest
    } else {
        question.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_an_extension_in_quotes_or_after_read_are_found() {
        for (question, expected) in [
            ("What does plan.md say about the budget?", &["plan.md"][..]),
            (
                "Compare a/b.md with notes:c.txt.",
                &["a/b.md", "notes:c.txt"],
            ),
            ("What is in `My Plan 2026.md`?", &["My Plan 2026.md"]),
            ("Read config.toml please", &["config.toml"]),
            ("Read the file a.json, then b.yaml", &["a.json", "b.yaml"]),
            (
                "Was steht in Straße/Übersicht.md?",
                &["Straße/Übersicht.md"],
            ),
            ("What is the budget?", &[]),
            ("Is version 2.1 better than node.js?", &[]),
            ("I read 3.5 books", &["3.5"]),
            ("Summarize code/lib.rs", &["code/lib.rs"]),
            ("What does .env contain?", &[".env"]),
            ("What does Dr. Berg say?", &[]),
        ] {
            assert_eq!(names(question), expected, "{question}");
        }
    }

    #[test]
    fn a_question_of_what_a_file_says_is_about_the_file() {
        for question in [
            "In plan.md, what does rye flour cost?",
            "According to `plan.md`, who leads?",
            "What does plan.md say about flour?",
            "Laut plan.md, wer leitet das?",
            "Was steht in plan.md?",
        ] {
            assert!(is_source_of(question, "plan.md"), "{question}");
        }
        for question in [
            "What goes in plan.md?",
            "Who wrote plan.md and why?",
            "How do I rename plan.md?",
        ] {
            assert!(!is_source_of(question, "plan.md"), "{question}");
        }
    }

    #[test]
    fn a_summary_is_asked_for_or_something_in_the_file() {
        for question in [
            "Summarise plan.md",
            "What does plan.md say?",
            "Fasse plan.md zusammen",
            "plan.mdを要約して",
        ] {
            assert!(wants_summary(question), "{question}");
        }
        for question in [
            "What does plan.md say about the budget?",
            "When is the deadline in plan.md?",
        ] {
            assert!(!wants_summary(question), "{question}");
        }
    }

    #[test]
    fn the_topic_is_the_question_without_the_file() {
        for (question, topic_of) in [
            ("What does plan.md say about the budget?", "the budget?"),
            (
                "Read plan.md and tell me who leads the project.",
                "who leads the project.",
            ),
            (
                "According to plan.md, when is the deadline?",
                "when is the deadline?",
            ),
            ("Who leads it in plan.md?", "Who leads it ?"),
        ] {
            assert_eq!(topic(question, "plan.md"), topic_of);
        }
        assert_eq!(topic("plan.md?", "plan.md"), "plan.md?");
    }
}
