//! The measured profile beside the vectors: a small file that is replaced whole.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Profile;
use crate::vectors;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::Fingerprint;

/// The file's name, in the folder of the vectors.
const FILE: &str = "profile.json";

/// Far above any real one.
const MAX_BYTES: u64 = 1 << 16;

/// A profile that `embed` measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The vectors that it holds for.
    pub fingerprint: Fingerprint,
    /// Chunks that had a vector when it was measured.
    pub chunks: usize,
    /// What was measured.
    pub profile: Profile,
}

impl Measured {
    /// The profile beside the vectors in `dir`, when it was measured on vectors of this
    /// fingerprint. One that cannot be read is as good as none: `embed` measures it again.
    ///
    /// Errors: `DB_ERROR` when the file cannot be opened.
    pub fn read(dir: &Path, fingerprint: &Fingerprint) -> Result<Option<Self>> {
        let bytes = vectors::read_beside(dir, FILE, MAX_BYTES)?;
        let read: Option<Self> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(read.filter(|one| one.fingerprint == *fingerprint))
    }

    /// Writes it beside the vectors in `dir`.
    ///
    /// Errors: `WRITE_ERROR`.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| Failure::internal(error.to_string()))?;
        vectors::write_beside(dir, FILE, &text)
    }
}
