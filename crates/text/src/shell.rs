//! Words of a command as a shell reads them.

use std::path::Path;

/// `path` as one word for a shell.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text.chars().all(needs_no_quotes) {
        text
    } else {
        in_quotes(&text)
    }
}

/// `text` in single quotes, as one word for a shell whatever it contains.
pub fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether a shell takes the character literally without quotes.
fn needs_no_quotes(c: char) -> bool {
    c.is_alphanumeric() || "/._-+,:@%".contains(c)
}
