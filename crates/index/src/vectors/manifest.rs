//! The manifest: the small file that lists the segments of the matrix and records the state from
//! which it was made.
//!
//! It contains no file names. They follow from the checksums, so a damaged or forged manifest can
//! only name files of this module's own kinds.

use serde::{Deserialize, Serialize};

use super::{MatrixStamp, check_dim, corrupt, disk, newer};
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::{Sha256, to_hex};

/// The manifest's file name.
pub const FILE: &str = "manifest.json";
const FORMAT: &str = "local-agent vectors";
const VERSION: u64 = 1;
/// Maximum size in bytes, far above that of any real manifest (a segment takes some 250 bytes).
const MAX_BYTES: u64 = 16 << 20;

/// One published state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: String,
    version: u64,
    pub(super) stamp: MatrixStamp,
    pub(super) segments: Vec<Entry>,
}

/// One segment of that state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// SHA-256 of the segment's header, which contains the SHA-256 of every section.
    pub(super) checksum: Sha256,
    /// Number of rows, including dead ones; never 0.
    pub(super) rows: usize,
    /// Length of the file.
    pub(super) bytes: u64,
    /// Number of dead rows.
    pub(super) dead: usize,
    /// SHA-256 of the tombstone file; absent when no row is dead.
    pub(super) tombstones: Option<Sha256>,
}

impl Entry {
    /// The segment's file name.
    pub(super) fn file(&self) -> String {
        content_name("seg-", &self.checksum, ".vec")
    }

    /// The tombstone file's name, if it exists.
    pub(super) fn tombstone_file(&self) -> Option<String> {
        self.tombstones.as_ref().map(tombstone_name)
    }
}

/// The name of the tombstone file with this content.
pub(super) fn tombstone_name(checksum: &Sha256) -> String {
    content_name("dead-", checksum, ".bits")
}

fn content_name(prefix: &str, checksum: &Sha256, suffix: &str) -> String {
    format!("{prefix}{}{suffix}", to_hex(&checksum.as_bytes()[..16]))
}

/// Whether a file with this name was written by this module (which may then remove it).
pub(super) fn is_content_name(name: &str) -> bool {
    middle_of(name, "seg-", ".vec")
        .or_else(|| middle_of(name, "dead-", ".bits"))
        .is_some_and(|hex| {
            hex.len() == 32 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
        })
}

/// The part of a name between its two ends.
fn middle_of<'n>(name: &'n str, prefix: &str, suffix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix)
        .and_then(|n: &str| n.strip_suffix(suffix))
}

/// The fields that can be read from a manifest of any version.
#[derive(Deserialize)]
struct Preamble {
    format: String,
    version: u64,
}

impl Manifest {
    /// A manifest of this version.
    pub(super) fn new(stamp: MatrixStamp, segments: Vec<Entry>) -> Self {
        Self {
            format: FORMAT.into(),
            version: VERSION,
            stamp,
            segments,
        }
    }

    /// The bytes of the manifest of `dir`; `None` if it does not exist.
    pub(super) fn read(dir: &StateDirectory) -> Result<Option<Vec<u8>>> {
        disk::read_small(dir, FILE, MAX_BYTES)
    }

    /// Reads the output of [`Self::encode`]. A later version is `DB_NEWER`, anything else
    /// `DB_CORRUPT`.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self> {
        let preamble: Preamble =
            serde_json::from_slice(bytes).map_err(|_| damaged("cannot be read"))?;
        if preamble.format != FORMAT {
            return Err(damaged("belongs to something else"));
        }
        if preamble.version > VERSION {
            return Err(newer("vector manifest", preamble.version));
        }
        let manifest: Self =
            serde_json::from_slice(bytes).map_err(|_| damaged("cannot be read"))?;
        if manifest.version != VERSION || check_dim(manifest.stamp.dim).is_err() {
            return Err(damaged("holds a version or a width that cannot be"));
        }
        if !manifest.segments.iter().all(is_possible) {
            return Err(damaged("contradicts itself about removed rows"));
        }
        Ok(manifest)
    }

    /// The file's bytes.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        serde_json::to_vec_pretty(self).map_err(|e| {
            Failure::internal(format!("The vector manifest could not be written: {e}."))
        })
    }

    /// Whether the manifest refers to the file with this name.
    pub(super) fn names(&self, file: &str) -> bool {
        self.segments
            .iter()
            .any(|e| e.file() == file || e.tombstone_file().as_deref() == Some(file))
    }
}

/// Whether the numbers of an entry are consistent.
fn is_possible(e: &Entry) -> bool {
    e.rows > 0 && e.dead <= e.rows && (e.dead > 0) == e.tombstones.is_some()
}

/// The failure for a damaged manifest.
fn damaged(why: &str) -> Failure {
    corrupt(format!("The vector manifest {why}."))
}
