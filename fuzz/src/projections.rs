//! The lists that name the files of both projections, through the code that opens them.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use local_agent_index::ids::{ChunkId, DocumentId, RowId as _};
use local_agent_index::lexical;
use local_agent_index::vectors::{Matrix, MatrixStamp, Row, VectorWriter};
use local_agent_text::types::{ChunkKey, CommitId, Fingerprint};
use tempfile::TempDir;

/// The file list of a projection is replaced by any bytes: opening it then gives a complete
/// projection or a typed failure, and no file outside the projection is changed.
///
/// The first byte selects the list.
pub(super) fn manifest(data: &[u8]) {
    thread_local! {
        static PLACE: RefCell<Option<TempDir>> = const { RefCell::new(None) };
    }
    let Some((which, bytes)) = data.split_first() else {
        return;
    };
    PLACE.with_borrow_mut(|place| {
        let place = place.get_or_insert_with(projections);
        let bystander = place.path().join("bystander");
        match which % 3 {
            0 => vectors(&place.path().join("vectors"), bytes),
            1 => lexical(&place.path().join("lexical"), "meta.json", bytes),
            _ => lexical(&place.path().join("lexical"), ".managed.json", bytes),
        }
        assert_eq!(fs::read(bystander).unwrap(), b"whole");
    });
}

fn vectors(folder: &Path, manifest: &[u8]) {
    let file = folder.join("manifest.json");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, manifest).unwrap();
    if let Ok(Some(matrix)) = Matrix::open(folder)
        && matrix.verify().is_ok()
    {
        assert_eq!(matrix.rows().count(), matrix.len());
    }
    fs::write(&file, whole).unwrap();
}

fn lexical(folder: &Path, name: &str, list: &[u8]) {
    let file = folder.join(name);
    let whole = fs::read(&file).unwrap();
    fs::write(&file, list).unwrap();
    if let Ok(Some(reader)) = lexical::Reader::open(folder) {
        let _ = reader.damaged_files();
        let _ = reader.chunk_keys();
    }
    fs::write(&file, whole).unwrap();
}

/// A folder with both projections, and a file that belongs to neither.
fn projections() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("bystander"), "whole").unwrap();
    let stamp = MatrixStamp {
        index_commit: CommitId::from_bytes([1; 16]),
        embed_commit: CommitId::from_bytes([2; 16]),
        fingerprint: Fingerprint::of_fields(&[b"fuzz"]),
        chunker_sig: "0".repeat(32),
        dim: 2,
    };
    let folder: PathBuf = place.path().join("vectors");
    let mut writer = VectorWriter::rebuild(&folder, stamp).unwrap();
    for id in 0..4 {
        let row = Row {
            chunk_id: ChunkId::from_row(i64::from(id)),
            key: ChunkKey::from_bytes([id; 16]),
            vector: &[1.0, 0.0],
        };
        writer.add(&row).unwrap();
    }
    writer.publish().unwrap();
    let mut writer =
        lexical::LexicalWriter::open(&place.path().join("lexical"), 15_000_000, 1).unwrap();
    (1..4).for_each(|id| writer.add(&entry(id)).unwrap());
    let stamp = lexical::LexicalStamp::new(CommitId::from_bytes([1; 16]));
    writer.commit(&stamp).unwrap();
    place
}

fn entry(id: u8) -> lexical::DocEntry<'static> {
    lexical::DocEntry {
        doc_id: DocumentId::from_row(i64::from(id)),
        title: "Boiler",
        path: "boiler.md",
        aliases: &[],
        tags: &[],
        anchors: &[],
        headings: "Boiler",
        outside: "",
        chunks: vec![lexical::ChunkEntry {
            chunk_id: ChunkId::from_row(i64::from(id)),
            key: ChunkKey::from_bytes([id; 16]),
            headings: "Boiler",
            text: "The boiler runs at 72 degrees.",
        }],
    }
}
