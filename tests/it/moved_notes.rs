//! Notes that are moved while the index exists or is written: none is missing from it meanwhile.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use local_agent_index::indexing::IndexSummary;
use local_agent_index::store::IndexReader;

use super::churn::State;
use super::properties::{Folder, words};

/// The documents in the index now.
fn documents(state: &State) -> u64 {
    let index = IndexReader::open(&state.index_db()).unwrap();
    index.map_or(0, |index| index.totals().unwrap().documents)
}

fn folder_of(notes: usize) -> Folder {
    let folder = Folder::new();
    for n in 0..notes {
        folder.write(&format!("old/note-{n}.md"), "A note of one line.\n", false);
    }
    folder
}

#[test]
fn a_folder_that_was_moved_is_never_missing_from_the_index() {
    let folder = folder_of(12);
    let state = folder.state("state");
    folder.index(&state);
    fs::rename(folder.notes().join("old"), folder.notes().join("new")).unwrap();
    let fewest = AtomicU64::new(u64::MAX);
    let look = |text: &str| {
        fewest.fetch_min(documents(&state), Ordering::Relaxed);
        words(text)
    };
    let summary = folder.index_with(&state, &look);
    assert!(
        fewest.load(Ordering::Relaxed) >= 12,
        "while its notes were read, the index held {fewest:?} documents"
    );
    assert_eq!((summary.docs_changed, summary.docs_pruned), (12, 12));
    assert_eq!(documents(&state), 12);
}

/// Moves all notes when the first text is counted, so that the others are gone before they are
/// read.
fn index_while_moving(folder: &Folder, state: &State) -> IndexSummary {
    let counted = AtomicUsize::new(0);
    let move_all = |text: &str| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            move_notes(&folder.notes());
        }
        words(text)
    };
    folder.index_with(state, &move_all)
}

fn move_notes(notes: &Path) {
    fs::rename(notes.join("old"), notes.join("new")).unwrap();
}

#[test]
fn notes_that_are_moved_while_the_index_is_written_are_found_under_their_new_names() {
    let folder = folder_of(40);
    let state = folder.state("state");
    let summary = index_while_moving(&folder, &state);
    assert_eq!(summary.skipped, Vec::new(), "no file is called unreadable");
    let chunks = folder.chunks(&state);
    let moved = chunks
        .iter()
        .filter(|chunk| chunk.path.as_str().starts_with("new/"))
        .count();
    assert_eq!(moved, 40, "every note is there once under its new name");
    // What was read under its old name before the move is removed by the next run.
    folder.index(&state);
    assert_eq!(documents(&state), 40);
}

#[test]
fn notes_whose_disk_goes_while_the_index_is_written_are_kept() {
    let folder = folder_of(40);
    let state = folder.state("state");
    folder.index(&state);
    for n in 0..40 {
        folder.write(&format!("old/note-{n}.md"), "Another line.\n", false);
    }
    let away = folder.state("away").0;
    let counted = AtomicUsize::new(0);
    let take_away = |text: &str| {
        if counted.fetch_add(1, Ordering::Relaxed) == 0 {
            fs::rename(folder.notes().join("old"), &away).unwrap();
        }
        words(text)
    };
    let summary = folder.run(&state, &take_away, false);
    assert_eq!(summary.docs_pruned, 0);
    assert!(
        summary.errors[0].contains("shows no file now"),
        "{:?}",
        summary.errors
    );
    assert_eq!(documents(&state), 40);
}
