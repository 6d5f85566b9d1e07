//! Words of a command as a shell reads them.

use std::path::{Path, PathBuf};

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

/// The command that moves `path` to a free name next to it: `.aside` after its own
/// name, then `.aside.2` and so on. `is_free` says whether nothing has a name.
pub fn moving_aside(path: &Path, is_free: impl Fn(&Path) -> bool) -> String {
    let aside = free_name(path, "aside", is_free);
    format!("mv {} {}", quoted(path), quoted(&aside))
}

/// The command that replaces `path` by a copy of itself, which has no second name.
pub fn replacing_by_copy(path: &Path, is_free: impl Fn(&Path) -> bool) -> String {
    let (path, copy) = (quoted(path), quoted(&free_name(path, "copy", is_free)));
    format!("cp {path} {copy} && mv {copy} {path}")
}

/// `path` with `.ending` after it, and with a number if something has that name.
fn free_name(path: &Path, ending: &str, is_free: impl Fn(&Path) -> bool) -> PathBuf {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{ending}"));
        if number > 1 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    (1..)
        .map(named)
        .find(|name| is_free(name))
        .unwrap_or_else(|| named(u32::MAX))
}

/// Whether a shell takes the character literally without quotes.
fn needs_no_quotes(c: char) -> bool {
    c.is_alphanumeric() || "/._-+,:@%".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_moved_aside_before_is_not_overwritten() {
        let path = Path::new("/my notes/durable.sqlite");
        let with = |taken: &[&str]| {
            let taken: Vec<PathBuf> = taken.iter().map(PathBuf::from).collect();
            moving_aside(path, |name| !taken.iter().any(|one| one == name))
        };
        assert_eq!(
            with(&[]),
            "mv '/my notes/durable.sqlite' '/my notes/durable.sqlite.aside'"
        );
        let before = [
            "/my notes/durable.sqlite.aside",
            "/my notes/durable.sqlite.aside.2",
        ];
        assert!(with(&before).ends_with(" '/my notes/durable.sqlite.aside.3'"));
        let copied = replacing_by_copy(Path::new("a"), |name| name != Path::new("a.copy"));
        assert_eq!(copied, "cp a a.copy.2 && mv a.copy.2 a");
    }
}
