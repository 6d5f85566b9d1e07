//! Detects a source whose files are all missing, or mostly missing and on a different disk, and a
//! folder in it whose disk is missing. An unmounted disk is more likely than deleted notes, so the
//! documents are kept until a person confirms the deletion.

use std::collections::BTreeMap;

use crate::store::KnownDocuments;
use local_agent_files::sandbox::{Disks, Entry, Sandbox, WalkOutcome};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{RelPath, SkipReason, SourceName};

/// The advice for such a source.
pub const WAY_OUT: &str = "bring the files back (is the disk mounted?) and run `local-agent index`, or, when they are meant to be gone, \
     `local-agent index --allow-empty`";

/// The index's data on a source before the scan.
#[derive(Debug, Clone, Default)]
pub(super) struct Was {
    /// Documents that were indexed.
    documents: usize,
    /// The disks that they were on.
    disks: Disks,
    /// The number of them below each folder at which something was mounted.
    below: BTreeMap<RelPath, usize>,
}

impl Was {
    /// The data of an index: its documents of the source, and the disks they were on.
    pub(super) fn of(known: &KnownDocuments, disks: Disks) -> Self {
        let indexed = || {
            known
                .iter()
                .filter(|(_, known)| known.status == "indexed")
                .map(|(path, _)| path.as_str())
        };
        let below = disks
            .mounted
            .keys()
            .map(|folder| {
                (
                    folder.clone(),
                    indexed().filter(|path| lies_in(path, folder)).count(),
                )
            })
            .collect();
        Self {
            documents: indexed().count(),
            disks,
            below,
        }
    }
}

/// Whether a path lies below a folder.
fn lies_in(path: &str, folder: &RelPath) -> bool {
    path.strip_prefix(folder.as_str())
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a walk found a file, whether it is indexed or not.
fn is_shown(entry: &Entry) -> bool {
    entry.what != WalkOutcome::Skipped(SkipReason::Unreadable)
}

/// Whether a walk could not list the folder, or one above it.
fn is_closed(entries: &[Entry], folder: &RelPath) -> bool {
    entries
        .iter()
        .filter(|entry| !is_shown(entry))
        .any(|entry| entry.path == *folder || lies_in(folder.as_str(), &entry.path))
}

/// The reason why the files of a source must not be treated as deleted, if a walk found only these
/// entries, on these disks.
pub(super) fn suspicion(
    source: &SourceName,
    was: &Was,
    entries: &[Entry],
    disks: &Disks,
) -> Option<String> {
    let shown = entries.iter().filter(|entry| is_shown(entry)).count();
    let (before, now) = (was.disks.root, disks.root);
    let moved = before.is_some() && now.is_some() && before != now;
    let held = documents(was.documents);
    if was.documents > 0 && shown == 0 {
        return Some(format!(
            "the source `{source}` had {held} and shows no file now"
        ));
    }
    (moved && shown.saturating_mul(2) < was.documents).then(|| {
        format!("the source `{source}` had {held} and shows {shown} now, from another disk")
    })
}

/// The folders whose files must not be treated as deleted: another disk was mounted there, most of the
/// documents that were on it are not shown now, and the folder is not left out on purpose.
pub(super) fn lost_disks(
    sandbox: &Sandbox,
    source: &SourceName,
    was: &Was,
    entries: &[Entry],
    disks: &Disks,
) -> Vec<LostDisk> {
    let lost = was.lost_disks(entries, disks).into_iter();
    lost.filter(|lost| !sandbox.leaves_out(source, &lost.folder))
        .collect()
}

/// A folder of a source whose disk seems to be missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LostDisk {
    folder: RelPath,
    /// The number of documents that were there, and of files that are shown there now.
    held: usize,
    shown: usize,
}

impl LostDisk {
    /// Whether a document lies below the folder.
    pub(super) fn holds(&self, path: &str) -> bool {
        lies_in(path, &self.folder)
    }

    /// The reason why its files must not be treated as deleted.
    pub(super) fn why(&self, source: &SourceName) -> String {
        let now = match self.shown {
            0 => "no file".to_owned(),
            shown => shown.to_string(),
        };
        format!(
            "the folder `{source}:{}` had {} on a disk of its own and shows {now} now",
            self.folder,
            documents(self.held)
        )
    }
}

impl Was {
    fn lost_disks(&self, entries: &[Entry], disks: &Disks) -> Vec<LostDisk> {
        let mut lost = Vec::new();
        for (folder, device) in &self.disks.mounted {
            if disks.mounted.get(folder) == Some(device) || is_closed(entries, folder) {
                continue;
            }
            let held = self.below.get(folder).copied().unwrap_or_default();
            let shown = entries
                .iter()
                .filter(|entry| is_shown(entry) && lies_in(entry.path.as_str(), folder))
                .count();
            if shown.saturating_mul(2) < held {
                lost.push(LostDisk {
                    folder: folder.clone(),
                    held,
                    shown,
                });
            }
        }
        lost
    }
}

/// The disks of a scan, with those that were mounted at folders which could not be listed this time.
pub(super) fn with_unreadable(mut disks: Disks, was: &Was, entries: &[Entry]) -> Disks {
    for (folder, device) in &was.disks.mounted {
        if is_closed(entries, folder) {
            disks.mounted.insert(folder.clone(), *device);
        }
    }
    disks
}

fn documents(n: usize) -> String {
    match n {
        1 => "1 document".to_owned(),
        n => format!("{n} documents"),
    }
}

/// The failure for that reason.
pub(super) fn failure(why: &str) -> Failure {
    Failure::new(
        ErrorCode::SourceEmpty,
        format!("{why}; what is indexed of it was kept"),
    )
    .with_command(WAY_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::types::FileStamp;

    fn source() -> SourceName {
        SourceName::new("notes").unwrap()
    }

    fn path(text: &str) -> RelPath {
        RelPath::new(text).unwrap()
    }

    /// This many files in a folder.
    fn files(folder: &str, n: usize) -> Vec<Entry> {
        (0..n)
            .map(|at| Entry {
                path: path(&format!("{folder}/{at}.md")),
                what: WalkOutcome::Found(FileStamp::default()),
            })
            .collect()
    }

    fn unreadable(folder: &str) -> Entry {
        Entry {
            path: path(folder),
            what: WalkOutcome::Skipped(SkipReason::Unreadable),
        }
    }

    fn disks(root: Option<u64>, mounted: &[(&str, u64)]) -> Disks {
        let mounted = mounted
            .iter()
            .map(|(folder, device)| (path(folder), *device));
        Disks {
            root,
            mounted: mounted.collect(),
        }
    }

    #[test]
    fn only_a_source_that_lost_everything_or_most_of_it_with_its_disk_is_suspect() {
        let suspect = |documents, before, shown, now| {
            let was = Was {
                documents,
                disks: disks(before, &[]),
                below: BTreeMap::new(),
            };
            suspicion(&source(), &was, &files("a", shown), &disks(now, &[])).is_some()
        };
        assert!(
            suspect(1, None, 0, None)
                && suspect(900, Some(1), 0, Some(1))
                && suspect(900, Some(1), 449, Some(2))
        );
        assert!(
            !suspect(0, Some(1), 0, Some(2)),
            "there was nothing to lose"
        );
        assert!(
            !suspect(900, Some(1), 1, Some(1)),
            "deleted on the same disk"
        );
        assert!(
            !suspect(900, Some(1), 450, Some(2)),
            "moved to another disk"
        );
        assert!(
            !suspect(900, None, 1, Some(2)) && !suspect(900, Some(1), 1, None),
            "nobody knows the disk"
        );
    }

    #[test]
    fn a_folder_whose_disk_is_gone_is_suspect_and_one_that_was_emptied_on_its_disk_is_not() {
        let was = Was {
            documents: 30,
            disks: disks(Some(1), &[("work", 2)]),
            below: BTreeMap::from([(path("work"), 20)]),
        };
        let suspect = |entries: &[Entry], now: &[(&str, u64)]| {
            !was.lost_disks(entries, &disks(Some(1), now)).is_empty()
        };
        assert!(suspect(&files("play", 10), &[]), "unmounted");
        assert!(suspect(&files("work", 9), &[("work", 3)]), "another disk");
        assert!(suspect(&files("works", 20), &[]), "another folder");
        assert!(!suspect(&files("play", 10), &[("work", 2)]), "deleted");
        assert!(!suspect(&files("work", 10), &[]), "moved off the disk");
        for closed in ["work", "work/deep"] {
            let was = Was {
                disks: disks(Some(1), &[("work/deep", 2)]),
                below: BTreeMap::from([(path("work/deep"), 20)]),
                ..was.clone()
            };
            let entries = [unreadable(closed)];
            assert_eq!(was.lost_disks(&entries, &disks(Some(1), &[])), []);
            let kept = with_unreadable(disks(Some(1), &[]), &was, &entries);
            assert_eq!(kept, was.disks, "{closed}");
        }
    }
}
