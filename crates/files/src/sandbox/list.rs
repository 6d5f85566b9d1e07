//! Lists the contents of one folder: files that may be read and folders that may be opened. Denied
//! and hidden names, links, and names that an ignore file leaves out are not listed.

use std::fmt;

use super::refusal::{Refusal, denied_folder, no_folder};
use super::request::{self, Place};
use super::walk::Walk;
use super::{Sandbox, WalkOutcome, ambiguous_words};
use local_agent_text::error::Result;
use local_agent_text::types::{RelPath, SkipReason, SourceName};

/// The address of a folder: `source:` or `source:folder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The root's name.
    pub source: SourceName,
    /// The path below the root; `None`: the root itself.
    pub path: Option<RelPath>,
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}",
            self.source,
            self.path.as_ref().map_or("", RelPath::as_str)
        )
    }
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The path below the root.
    pub path: RelPath,
    /// Whether it is a folder; otherwise it is a file.
    pub is_folder: bool,
    /// Size of a file in bytes; `None` for a folder and for a file that is too large to be read.
    pub size: Option<u64>,
}

impl Sandbox {
    /// The one folder that a request means, with its entries sorted by the bytes of their names.
    ///
    /// `INVALID_ARGS` (blank), `PATH_DENIED`, `FILE_NOT_FOUND` (also when it is not a folder),
    /// `AMBIGUOUS_PATH`.
    pub fn list(&self, request: &str) -> Result<(Folder, Vec<Listed>)> {
        let places = request::plan_folder(request, &self.inner.texts, &self.inner.policy)
            .map_err(|d| denied_folder(request, d))?;
        let mut found: Vec<(Folder, Vec<Listed>)> = places
            .iter()
            .filter_map(|p| self.list_one(p).ok())
            .collect();
        match found.len() {
            0 => Err(no_folder(request)),
            1 => Ok(found.remove(0)),
            _ => {
                let names: Vec<String> =
                    found.iter().map(|(folder, _)| folder.to_string()).collect();
                Err(ambiguous_words(request, "folder", &names))
            }
        }
    }

    fn list_one(&self, place: &Place) -> std::result::Result<(Folder, Vec<Listed>), Refusal> {
        let root = self.open_root(place.root)?;
        let exts: Vec<String> = self
            .inner
            .policy
            .extensions(&root.text.extensions)
            .into_iter()
            .map(str::to_owned)
            .collect();
        let (entries, folders) = Walk::of(&root, &exts).one(place.path.as_ref())?;
        let entries = self.drop_private(&root.text.name, entries);
        let mut listed: Vec<Listed> = folders
            .into_iter()
            .map(|path| Listed {
                path,
                is_folder: true,
                size: None,
            })
            .collect();
        for entry in entries {
            match entry.what {
                WalkOutcome::Found(stamp) => listed.push(Listed {
                    path: entry.path,
                    is_folder: false,
                    size: Some(stamp.size),
                }),
                WalkOutcome::Skipped(SkipReason::TooLarge) => {
                    listed.push(Listed {
                        path: entry.path,
                        is_folder: false,
                        size: None,
                    });
                }
                WalkOutcome::Skipped(_) => {}
            }
        }
        listed.sort_by(|a, b| a.path.as_str().cmp(b.path.as_str()));
        Ok((
            Folder {
                source: self.inner.roots[place.root].name.clone(),
                path: place.path.clone(),
            },
            listed,
        ))
    }
}
