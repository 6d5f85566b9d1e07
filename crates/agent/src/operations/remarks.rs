//! Says how a typed query was read where the writer may have meant something else.

use super::query_lines::QueryLines;
use local_agent_index::lexical::{Filter, Query};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// One sentence for each part of a typed query that was read as words although it looks like a
/// line with a type, a filter or a phrase.
pub(super) fn of(text: &str, query: &Query) -> Vec<String> {
    let mut remarks = Vec::new();
    for line in QueryLines::parse(text).map_or_else(Vec::new, |lines| lines.untyped) {
        remarks.push(format!(
            "line {line} has no type, so it was searched by words and by meaning; the types are \
             `lex:`, `vec:`, `hyde:` and `intent:`"
        ));
    }
    if !text.trim().is_empty() && text.split_whitespace().all(is_left_out) {
        remarks.push(format!(
            "`{}` leaves notes out of a search for other words; alone it was read as words to find",
            text.trim()
        ));
    }
    for word in query.words.iter().chain(&query.excluded) {
        if let Some(name) = unknown_filter(word) {
            remarks.push(format!(
                "no note has a property `{name}`, so `{word}` was read as words"
            ));
        } else if word.starts_with(['"', '\u{201c}', '\u{201e}']) {
            remarks.push(format!(
                "the quotation mark of `{word}` is not closed, so no phrase was searched"
            ));
        }
    }
    remarks
}

/// The sentence for a search that found nothing because its filters select no note.
pub(super) fn no_note(filters: &[Filter]) -> String {
    let named: Vec<String> = filters.iter().map(written).collect();
    format!("no note fits {}", named.join(" "))
}

/// A filter as it is typed.
fn written(filter: &Filter) -> String {
    let negation = if filter.negated { "-" } else { "" };
    format!("`{negation}{}:{}`", filter.key, filter.value)
}

/// Fails for `after:` and `before:` with anything but a day, a month or a year.
///
/// # Errors
/// `INVALID_QUERY`.
pub(super) fn check_days(filters: &[Filter]) -> Result<()> {
    let dated = |filter: &&Filter| ["after", "before"].contains(&filter.key.as_str());
    match filters
        .iter()
        .filter(dated)
        .find(|one| !is_time(&one.value))
    {
        None => Ok(()),
        Some(filter) => {
            let message = format!("`{}` names no day", written(filter).trim_matches('`'));
            let hint = format!("{}:2026-01-31", filter.key);
            Err(Failure::new(ErrorCode::InvalidQuery, message).with_hint(hint))
        }
    }
}

/// Whether a text is a day, a month or a year: `2026-01-31`, `2026-01`, `2026`.
fn is_time(text: &str) -> bool {
    let form = time::macros::format_description!("[year]-[month]-[day]");
    let first_day = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    time::Date::parse(&first_day, form).is_ok()
}

/// Whether a word was written as one to leave out.
fn is_left_out(word: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| rest.starts_with(char::is_alphabetic))
}

/// The name in a word that looks like `name:value`.
fn unknown_filter(word: &str) -> Option<&str> {
    let (name, value) = word.split_once(':')?;
    let is_name = name.chars().nth(1).is_some()
        && name.starts_with(char::is_alphabetic)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || ['-', '_'].contains(&c));
    (is_name && !value.is_empty() && !value.starts_with([':', '/'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn remarks(text: &str) -> Vec<String> {
        of(text, &Query::parse(text, &BTreeSet::new()))
    }

    #[test]
    fn what_is_read_as_words_is_said() {
        assert!(remarks("author:Ann rye")[0].contains("no note has a property `author`"));
        assert!(remarks("rye -author:Ann")[0].contains("`author`"));
        assert!(remarks("\"open end")[0].contains("is not closed"));
        assert!(remarks("lex: rye\n\nfoo bar")[0].starts_with("line 3 has no type"));
    }

    #[test]
    fn words_with_colons_that_are_no_filter_need_no_remark() {
        for text in [
            "rye flour",
            "std::vec::new",
            "https://a.b/c",
            "12:30",
            "at: noon",
            "C:x",
            "lex: rye\nvec: what is rye?",
            "\"a phrase\" tag:x",
        ] {
            assert_eq!(remarks(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_day_that_is_none_is_refused() {
        let check = |text: &str| check_days(&Query::parse(text, &BTreeSet::new()).filters);
        for text in ["after:2026-01-31", "before:2026-02", "-after:2026", "tag:x"] {
            assert!(check(text).is_ok(), "{text}");
        }
        for text in [
            "after:x",
            "before:2026-13-01",
            "after:31.01.2026",
            "-after:x",
        ] {
            assert_eq!(
                check(text).unwrap_err().code,
                ErrorCode::InvalidQuery,
                "{text}"
            );
        }
    }
}
