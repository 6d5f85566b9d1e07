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

/// A profile is measured again when the index has grown by this ratio (a quarter), because new
/// notes may be in another language.
const GROWTH: (usize, usize) = (5, 4);

/// A profile that `embed` measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The fingerprint of the vectors it applies to.
    pub fingerprint: Fingerprint,
    /// Chunks that had a vector when it was measured.
    pub chunks: usize,
    /// The measured values; `None` if they could not be measured, because all chunks are of one
    /// document.
    pub profile: Option<Profile>,
}

impl Measured {
    /// Whether a matrix with this number of chunks should be measured again. A measurement that was
    /// impossible is tried again when the number changes.
    pub fn is_outdated(&self, chunks: usize) -> bool {
        match self.profile {
            Some(_) => self.chunks.saturating_mul(GROWTH.0) < chunks.saturating_mul(GROWTH.1),
            None => self.chunks != chunks,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Cosines, Origin};

    #[test]
    fn what_could_not_be_measured_is_remembered_until_there_are_other_chunks() {
        let dir = tempfile::tempdir().unwrap();
        let none = Measured {
            fingerprint: Fingerprint::from_bytes([7; 32]),
            chunks: 40,
            profile: None,
        };
        none.write(dir.path()).unwrap();
        let read = Measured::read(dir.path(), &none.fingerprint).unwrap();
        assert_eq!(read.as_ref(), Some(&none));
        assert!(!none.is_outdated(40) && none.is_outdated(41));
        let cosines = Cosines {
            mean: 0.5,
            spread: 0.1,
        };
        let some = Measured {
            profile: Some(Profile::new(Origin::Measured, cosines, None)),
            ..none
        };
        assert!(!some.is_outdated(41) && some.is_outdated(51));
    }
}
