//! The bytes of a weights file: compiled in, or mapped read-only.
//!
//! Mapping instead of reading keeps a query process from copying hundreds of megabytes that it
//! looks at in part.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use local_agent_text::error::{ErrorCode, Failure, Result};

/// Bytes that stay where they are for as long as anything holds them; cheap to clone.
#[derive(Debug, Clone)]
pub enum Bytes {
    /// Compiled in.
    Static(&'static [u8]),
    /// A file, mapped read-only.
    Mapped(Arc<memmap2::Mmap>),
}

impl Bytes {
    /// All of them.
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
    let failed = |e: std::io::Error| {
        Failure::new(
            ErrorCode::ModelInvalid,
            format!("The model file {} cannot be read: {e}.", path.display()),
        )
    };
    let file = File::open(path).map_err(failed)?;
    // SAFETY: the map is read-only and this program never changes such a file in place: `models
    // pull` makes a new folder and renames it, packed weights are renamed over their like. Another
    // program that truncates the file while it is mapped makes a read fail with SIGBUS; the bytes
    // are only ever read as plain numbers, so a change of content cannot break memory safety.
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(&file) }.map_err(failed)?;
    Ok(Bytes::Mapped(Arc::new(map)))
}
