//! The form in which filters compare words: in lower case and composed, for every script. SQLite's
//! own `lower` changes only ASCII letters.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use unicode_normalization::UnicodeNormalization as _;

use super::error::Result;

/// Adds the function `folded(text)` to the SQL of a connection. A value that is no text must be
/// cast to one; the result for NULL is NULL.
pub(super) fn register(conn: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_DIRECTONLY;
    Ok(conn.create_scalar_function("folded", 1, flags, folded_argument)?)
}

fn folded_argument(context: &Context<'_>) -> rusqlite::Result<Option<String>> {
    let text: Option<String> = context.get(0)?;
    Ok(text.as_deref().map(folded))
}

/// The text in lower case, composed.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfc().flat_map(char::to_lowercase).nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_script_are_folded_in_sql() {
        let conn = Connection::open_in_memory().unwrap();
        register(&conn).unwrap();
        let sql = "SELECT folded(?1)";
        let fold = |text: &str| conn.query_row(sql, [text], |row| row.get(0));
        for (text, folded) in [
            ("Open", "open"),
            ("Готово", "готово"),
            ("U\u{308}bung", "\u{fc}bung"),
            ("東京", "東京"),
        ] {
            assert_eq!(fold(text), Ok(folded.to_owned()));
        }
        let sql = "SELECT folded(NULL), folded(CAST(5 AS TEXT))";
        let found: (Option<String>, String) = conn
            .query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!(found, (None, "5".to_owned()));
    }
}
