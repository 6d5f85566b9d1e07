//! Requests for a file by a form that only files have, without a usual extension: an absolute path,
//! one with `..` or `./`, a name that begins with a dot, a `[[link]]`.
//!
//! The file must be the object of the request: "Read /etc/hosts and summarize it." A question that
//! only contains such a form (an address of the web, a command) asks for no file.

use local_agent_text::language::lists::list;

const DATA: &str = include_str!("data/requests.txt");

/// Words that ask for a file.
const ASK: &str = list(DATA, "ask");

/// Words that may stand before the file, beside these.
const BESIDE: &str = list(DATA, "beside");

/// Words that may follow the file.
const BEHIND: &str = list(DATA, "behind");

/// Marks around a name.
const QUOTES: [char; 10] = ['"', '\'', '`', '“', '”', '„', '«', '»', '(', ')'];

/// The file that the question asks to read or to summarise, as it is written there; `None` if it
/// asks for no file in one of these forms.
pub fn requested_file(question: &str) -> Option<String> {
    let (start, end) = object(question)?;
    let before = question.get(..start)?;
    let words: Vec<String> = before.split_whitespace().map(folded).collect();
    let is_request = words.iter().any(|word| holds(ASK, word))
        && words
            .iter()
            .all(|word| word.is_empty() || holds(ASK, word) || holds(BESIDE, word));
    (is_request && may_follow(question.get(end..)?))
        .then(|| question.get(start..end).map(str::to_owned))
        .flatten()
}

/// The bytes of the first link, or of the first word with the form of a path.
fn object(question: &str) -> Option<(usize, usize)> {
    if let Some(start) = question.find("[[") {
        let length = question.get(start..)?.find("]]")? + 2;
        return Some((start, start + length));
    }
    let mut at = 0;
    for word in question.split_whitespace() {
        let start = at + question.get(at..)?.find(word)?;
        at = start + word.len();
        let bare = word.trim_start_matches(QUOTES);
        let start = at - bare.len();
        let bare = bare.trim_end_matches(QUOTES);
        let bare = bare.trim_end_matches([',', ';', ':', '!', '?', '.', '。']);
        let bare = bare.trim_end_matches(QUOTES);
        if is_path(bare) {
            return Some((start, start + bare.len()));
        }
    }
    None
}

/// Whether the word has a form that only paths have.
fn is_path(word: &str) -> bool {
    let is_name =
        |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_'));
    let starts = ["/", "~/", "./", "../", "\\", "~\\", ".\\", "..\\"];
    let has_drive = word.split_once(":\\").is_some_and(|(drive, _)| {
        drive.len() == 1 && drive.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    // `.NET` is no file.
    let is_hidden = word.strip_prefix('.').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && !rest.chars().any(char::is_uppercase)
    });
    has_drive
        || is_hidden
        || starts
            .iter()
            .any(|start| word.strip_prefix(start).is_some_and(is_name))
}

/// Whether the question goes on as one about a whole file does.
fn may_follow(rest: &str) -> bool {
    let rest = rest.trim_start_matches(QUOTES);
    let ends_here = rest
        .trim_start()
        .starts_with(['.', ',', ';', '!', '?', ':', '。']);
    let next = rest.split_whitespace().next().map(folded);
    ends_here || next.is_none_or(|word| word.is_empty() || holds(BEHIND, &word))
}

/// A word in lower case without the marks around it.
fn folded(word: &str) -> String {
    let is_mark = |c: char| !c.is_alphanumeric();
    word.to_lowercase().trim_matches(is_mark).to_owned()
}

fn holds(words: &str, word: &str) -> bool {
    words.split(' ').any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_asked_for_by_the_form_of_its_name() {
        for (question, file) in [
            ("Read /etc/passwd and summarize it.", "/etc/passwd"),
            (
                "Read ../../etc/passwd and summarize it.",
                "../../etc/passwd",
            ),
            ("summarise .env", ".env"),
            ("Summarize [[nosuch note]]", "[[nosuch note]]"),
            ("Summarize the file `~/notes/x` in 5 bullets", "~/notes/x"),
            ("Please summarize [[A|b]].", "[[A|b]]"),
            ("Fasse /etc/passwd zusammen", "/etc/passwd"),
            ("Lies bitte die Datei \"../x\".", "../x"),
            ("Résume ./plan", "./plan"),
            ("Resume el archivo /tmp/x, por favor", "/tmp/x"),
            ("Give me a summary of C:\\Users\\x", "C:\\Users\\x"),
            ("Прочитай файл /etc/hosts", "/etc/hosts"),
        ] {
            assert_eq!(
                requested_file(question).as_deref(),
                Some(file),
                "{question}"
            );
        }
    }

    #[test]
    fn a_question_that_only_contains_such_a_form_asks_for_no_file() {
        for question in [
            "Summarize my notes about the endpoint /api/v1/users",
            "Summarize /r/rust posts",
            "What is in /etc/fstab according to my notes?",
            "Summarize what [[Anna]] said about the roof",
            "Summarize [[Anna]] meetings of May",
            "How do I run ./configure?",
            "Which notes mention .env files?",
            "Read more about and/or, please",
            "I read 3.5 books and / or papers",
            "Summarize the .NET notes",
            "Summarize .NET",
            "What did Anna read in /tmp?",
        ] {
            assert_eq!(requested_file(question), None, "{question}");
        }
    }
}
