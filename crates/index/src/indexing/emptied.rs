//! Detects a source whose files are all missing, or mostly missing and on a different disk. An
//! unmounted disk is more likely than deleted notes, so the documents are kept until a person
//! confirms the deletion.

use local_agent_files::sandbox::{Entry, What};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::types::{SkipReason, SourceName};

/// The advice for such a source.
pub const WAY_OUT: &str = "bring the files back (is the disk mounted?) and run `local-agent index`, or, when they are meant to be gone, \
     `local-agent index --allow-empty`";

/// The index's data on a source before the scan.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Was {
    /// Documents that were indexed.
    pub documents: usize,
    /// The device of its root.
    pub device: Option<u64>,
}

/// The number of files that a walk found, whether they are indexed or not.
pub(super) fn shown(entries: &[Entry]) -> usize {
    entries
        .iter()
        .filter(|entry| entry.what != What::Skipped(SkipReason::Unreadable))
        .count()
}

/// The reason why the files of a source must not be treated as deleted, if a walk found only
/// `shown` of them, on `device`.
pub(super) fn suspicion(
    source: &SourceName,
    was: Was,
    shown: usize,
    device: Option<u64>,
) -> Option<String> {
    let moved = was.device.is_some() && device.is_some() && was.device != device;
    let held = match was.documents {
        1 => "1 document".to_owned(),
        n => format!("{n} documents"),
    };
    if was.documents > 0 && shown == 0 {
        return Some(format!(
            "the source `{source}` had {held} and shows no file now"
        ));
    }
    (moved && shown.saturating_mul(2) < was.documents).then(|| {
        format!("the source `{source}` had {held} and shows {shown} now, from another disk")
    })
}

/// The failure for that reason.
pub(super) fn failure(why: &str) -> Failure {
    Failure::new(
        ErrorCode::SourceEmpty,
        format!("{why}; what is indexed of it was kept"),
    )
    .with_hint(WAY_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_source_that_lost_everything_or_most_of_it_with_its_disk_is_suspect() {
        let source = SourceName::new("notes").unwrap();
        let suspect = |documents, before, shown, now| {
            suspicion(
                &source,
                Was {
                    documents,
                    device: before,
                },
                shown,
                now,
            )
            .is_some()
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
}
