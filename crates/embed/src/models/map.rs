//! The bytes of a weights file: compiled in, or mapped read-only.
//!
//! With mapping instead of reading, a query process does not copy hundreds of megabytes that it
//! uses only in part.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Bytes that do not move while they are referenced; cheap to clone.
#[derive(Debug, Clone)]
pub enum Bytes {
    /// Compiled in.
    Static(&'static [u8]),
    /// A file, mapped read-only.
    Mapped(Arc<memmap2::Mmap>),
}

impl Bytes {
    /// All bytes.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::Static(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

/// Maps the file at `path` read-only.
pub(super) fn open(path: &Path) -> Result<Bytes> {
    let file = File::open(path).map_err(|e| unreadable(path, e))?;
    // SAFETY: the map is read-only and this program never changes such a file in place: `models
    // pull` makes a new folder and renames it, and packed weights are written to a new file that is
    // renamed over the old one. If another program truncates the file while it is mapped, a read
    // fails with SIGBUS; the bytes are only ever read as plain numbers, so a change of content
    // cannot break memory safety.
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(|e| unreadable(path, e))?;
    Ok(Bytes::Mapped(Arc::new(map)))
}

/// The failure for a file that cannot be read.
fn unreadable(path: &Path, e: std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model file {} cannot be read: {e}.", path.display()),
    )
}
