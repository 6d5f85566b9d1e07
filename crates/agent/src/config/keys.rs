//! The entries of the table of keys, and finding one by its name or by a misspelling.

use super::places::is_folder_name;
pub(super) use super::table::RULES;
pub use super::table::{INSTRUCTIONS, KEYS, SECTIONS};

/// The type of a key's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number, both ends included.
    Int {
        /// The smallest value that is accepted.
        min: i64,
        /// The largest value that is accepted.
        max: i64,
    },
    /// A number, both ends included.
    Float {
        /// The smallest value that is accepted.
        min: f64,
        /// The largest value that is accepted.
        max: f64,
    },
    /// Words on one line.
    Text,
    /// Words on one line, with significant white space.
    Prompt,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A file or folder; relative ones join the security root, `~` is the home folder.
    Path,
    /// A model: its id, its repository, or a folder as for `Path`, which begins with `/`, `~` or
    /// `.`.
    Model,
    /// A folder inside the sources, without a leading `/`.
    Prefix,
    /// A server: scheme, host, optional port. Checked by the commands that contact it.
    Url,
    /// A list of words.
    Words,
    /// A list of file extensions.
    Exts,
    /// A list of names and `*` patterns for single path segments.
    Names,
    /// A list of folders.
    Paths,
    /// The list of `{name, root, kind}`.
    Sources,
}

impl Kind {
    /// Whether this value is a file or a folder.
    pub(super) fn is_place(self, text: &str) -> bool {
        match self {
            Self::Path => true,
            Self::Model => is_folder_name(text),
            _ => false,
        }
    }
}

/// How a key of a file is treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// A key of this program.
    Setting,
    /// A key of the Python version whose value goes into this key.
    Moved(&'static str),
    /// A key of the Python version that is read but has no key here; its sentence says what it
    /// does.
    Kept,
}

/// One entry of the table.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The dotted path from the top of the file.
    pub path: &'static str,
    /// The type of its value.
    pub kind: Kind,
    /// The default as written in `configs/default.yaml`; blank means unset.
    pub default: &'static str,
    /// One sentence for people.
    pub doc: &'static str,
    /// Whether it is a key of this program or of the Python version, and where its value goes.
    pub effect: Effect,
}

impl Key {
    /// The key with this dotted path.
    pub fn find(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|k| k.path == path)
    }

    /// Whether it is one of the Python version's.
    pub fn is_ancestor(&self) -> bool {
        self.effect != Effect::Setting
    }

    /// The section that contains it; blank for a top-level key.
    pub fn section(&self) -> &'static str {
        if self.kind == Kind::Sources && !self.is_ancestor() {
            return self.path;
        }
        self.path.split_once('.').map_or("", |(section, _)| section)
    }

    /// The type of its value, in words.
    pub fn takes(&self) -> String {
        match self.kind {
            Kind::Bool => "`true` or `false`".to_owned(),
            Kind::Int { min, max } => format!("a whole number, {min} to {max}"),
            Kind::Float { min, max } => format!("a number, {min} to {max}"),
            Kind::Text => "words".to_owned(),
            Kind::Prompt => "words in quotes, with their white space".to_owned(),
            Kind::OneOf(words) => words
                .iter()
                .map(|w| format!("`{w}`"))
                .collect::<Vec<_>>()
                .join(" or "),
            Kind::Path => "a path".to_owned(),
            Kind::Model => "the name or the folder of a model".to_owned(),
            Kind::Prefix => "a folder as `a/b`".to_owned(),
            Kind::Url => "a server as `http://host:port`".to_owned(),
            Kind::Words => "a list of words".to_owned(),
            Kind::Exts => "a list of extensions".to_owned(),
            Kind::Names => "a list of names".to_owned(),
            Kind::Paths => "a list of paths".to_owned(),
            Kind::Sources => {
                "a list of `{name, root, kind, code, extensions, include, exclude}`".to_owned()
            }
        }
    }
}

/// Whether `path` is a section: there is a key below it.
pub(super) fn is_section(path: &str) -> bool {
    KEYS.iter().any(|k| {
        k.path
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('.'))
    })
}

/// The known key or section closest to a misspelt one, if any is close. The Python version's keys
/// are suggested only inside the Python version's sections.
pub(super) fn nearest(path: &str) -> Option<&'static str> {
    let in_ancestor = path.starts_with("phase2") || path.starts_with("phase3");
    let typed_last = last_part(path);
    let sections = SECTIONS
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| !name.is_empty());
    KEYS.iter()
        .filter(|k| k.is_ancestor() == in_ancestor)
        .map(|k| k.path)
        .chain(sections)
        .map(|candidate| (likeness_of_keys(path, &typed_last, candidate), candidate))
        .filter(|(score, _)| *score >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// The similarity of a key to the typed one.
fn likeness_of_keys(path: &str, typed_last: &str, candidate: &str) -> f64 {
    let whole = strsim::normalized_damerau_levenshtein(path, candidate);
    // The right word in the wrong section, or a misspelt word in the right one.
    let word = strsim::normalized_damerau_levenshtein(typed_last, &last_part(candidate)) * 0.95;
    whole.max(word)
}

/// The part of a key after the last dot.
fn last_part(p: &str) -> String {
    p.rsplit('.').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_consistent() {
        let mut seen = std::collections::HashSet::new();
        for key in KEYS {
            assert!(seen.insert(key.path), "{} twice", key.path);
            assert!(!is_section(key.path), "{} is a key and a section", key.path);
            match key.effect {
                Effect::Setting => {
                    assert!(
                        SECTIONS.iter().any(|(name, _)| *name == key.section()),
                        "{}",
                        key.path
                    );
                    assert!(
                        key.doc.ends_with('.') && key.doc.starts_with(char::is_uppercase),
                        "{}",
                        key.doc
                    );
                }
                Effect::Moved(to) => {
                    assert!(Key::find(to).is_some_and(|k| !k.is_ancestor()), "{to}");
                }
                Effect::Kept => assert!(!key.doc.ends_with('.'), "{}", key.doc),
            }
        }
    }

    #[test]
    fn a_misspelt_key_finds_its_neighbour() {
        for (typed, expected) in [
            ("ask.strct", "ask.strict"),
            ("strict", "ask.strict"),
            ("security.deny_hiden_paths", "security.deny_hidden_paths"),
            ("secuirty", "security"),
            ("source", "sources"),
            ("retrieval.fusion", "retrieve.fusion"),
            (
                "phase3.ask.citation_validation.strickt",
                "phase3.ask.citation_validation.strict",
            ),
            ("llm.ollama_base_url", "llm.base_url"),
        ] {
            assert_eq!(nearest(typed), Some(expected), "{typed}");
        }
        assert_eq!(nearest("zzzzqqqq"), None);
    }
}
