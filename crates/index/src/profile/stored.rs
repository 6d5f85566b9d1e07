//! The measured profile stored next to the vectors: a small file that is replaced as a whole.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Profile;
use crate::vectors;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::Fingerprint;

/// The file's name, in the folder of the vectors.
const FILE: &str = "profile.json";

/// Maximum size in bytes, far above that of any real profile.
const MAX_BYTES: u64 = 1 << 20;

/// A profile that `embed` measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The fingerprint of the vectors it applies to.
    pub fingerprint: Fingerprint,
    /// Chunks that had a vector when it was measured.
    pub chunks: usize,
    /// The measured values.
    pub profile: Profile,
}

impl Measured {
    /// The profile next to the vectors in `dir`, if it was measured on vectors with this
    /// fingerprint. An unreadable one counts as missing: `embed` measures it again.
    ///
    /// Errors: `DB_ERROR` when the file cannot be opened.
    pub fn read(dir: &Path, fingerprint: &Fingerprint) -> Result<Option<Self>> {
        let bytes = vectors::read_beside(dir, FILE, MAX_BYTES)?;
        let read: Option<Self> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(read.filter(|one| one.fingerprint == *fingerprint))
    }

    /// Writes it next to the vectors in `dir`.
    ///
    /// Errors: `WRITE_ERROR`.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let text =
            serde_json::to_vec(self).map_err(|error| Failure::internal(error.to_string()))?;
        vectors::write_beside(dir, FILE, &text)
    }
}
