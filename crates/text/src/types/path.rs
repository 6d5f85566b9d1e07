//! The location of a file: its source, and its path below the source's root.

use std::fmt;
use std::str::FromStr;

use super::Invalid;

/// A path below a root: UTF-8, `/` between segments, never absolute, no `.` or `..` segments, no
/// control characters.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RelPath(String);

impl RelPath {
    /// Accepts `path` unchanged; nothing is normalised.
    pub fn new(path: impl Into<String>) -> Result<Self, Invalid> {
        let path = path.into();
        if path.is_empty() {
            return Err(Invalid("the path is empty"));
        }
        if path.chars().any(|c| c.is_control() || c == '\\') {
            return Err(Invalid("the path holds a control character or a backslash"));
        }
        match path.split('/').find(|s| matches!(*s, "" | "." | "..")) {
            Some("") => Err(Invalid("the path is absolute or holds an empty segment")),
            Some(_) => Err(Invalid("the path holds a `.` or `..` segment")),
            None => Ok(Self(path)),
        }
    }

    /// The whole path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The last segment without its extension; a leading dot is not an extension.
    pub fn stem(&self) -> &str {
        let name = self.file_name();
        match name.rfind('.') {
            Some(dot) if dot > 0 => &name[..dot],
            _ => name,
        }
    }

    /// The segments from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for RelPath {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

text_form!(RelPath, "a relative path without `.` or `..`");

/// The name of a source: the part before the colon in `source:rel/path.md`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceName(String);

impl SourceName {
    /// Accepts a non-blank name without white space at its ends, `:`, `/`, `\` or control
    /// characters.
    pub fn new(name: impl Into<String>) -> Result<Self, Invalid> {
        let name = name.into();
        if name.trim().is_empty() || name.trim() != name {
            return Err(Invalid(
                "a source name is not blank and has no white space at its ends",
            ));
        }
        if name
            .chars()
            .any(|c| c.is_control() || matches!(c, ':' | '/' | '\\'))
        {
            return Err(Invalid(
                "a source name holds no `:`, `/`, `\\` or control character",
            ));
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl FromStr for SourceName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::new(text)
    }
}

text_form!(SourceName, "a source name");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rel_path_cannot_leave_its_root() {
        for bad in [
            "", "/a", "a//b", "a/", ".", "a/../b", "..", "a/./b", "a\\b", "a\nb",
        ] {
            assert!(RelPath::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a.md", "..foo", "a/.b/c.md", "ä/日本.md", "a b.md"] {
            assert!(RelPath::new(good).is_ok(), "{good:?}");
        }
    }
}
