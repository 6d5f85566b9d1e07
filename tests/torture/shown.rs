//! Checks whether shown text is, word for word, in a version of a note that was really written.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Every version of every note, stored by `Vault`.
pub(crate) struct Versions {
    folder: PathBuf,
    read: BTreeSet<OsString>,
    texts: Vec<String>,
    found: HashSet<String>,
}

impl Versions {
    pub(crate) fn of(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            read: BTreeSet::new(),
            texts: Vec::new(),
            found: HashSet::new(),
        }
    }

    fn holds(&mut self, text: &str) -> bool {
        if self.found.contains(text)
            || self
                .texts
                .iter()
                .rev()
                .any(|version| version.contains(text))
        {
            self.found.insert(text.to_owned());
            return true;
        }
        let before = self.texts.len();
        for entry in fs::read_dir(&self.folder).unwrap().flatten() {
            if self.read.insert(entry.file_name()) {
                self.texts.push(fs::read_to_string(entry.path()).unwrap());
            }
        }
        self.texts[before..]
            .iter()
            .any(|version| version.contains(text))
    }

    /// The first hit whose text is in no version.
    pub(crate) fn foreign(&mut self, answer: &Value) -> Option<String> {
        let hits = answer["hits"].as_array()?;
        let foreign = hits.iter().find(|hit| {
            hit["truncated"] != true && !hit["text"].as_str().is_some_and(|t| self.holds(t))
        });
        foreign.map(ToString::to_string)
    }
}
