//! The dead rows of one segment: a bitmap in memory, and a small file named by its content on disk.
//!
//! File, little-endian: magic `LAVECDED`, version u32, zero u32, rows u64, the segment's checksum
//! (32 bytes), then the bitmap in 64-bit words. Its name is the SHA-256 of all of it, and it names
//! its segment, so neither a flipped bit nor a foreign file is accepted.

use local_agent_text::error::{Failure, Result};
use local_agent_text::types::Sha256;

use super::corrupt;

const MAGIC: &[u8; 8] = b"LAVECDED";
const VERSION: u32 = 1;

/// A set of row numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tombstones {
    words: Vec<u64>,
    count: usize,
}

impl Tombstones {
    /// Marks `row`; false if it was marked already.
    pub(super) fn insert(&mut self, row: usize) -> bool {
        if row / 64 >= self.words.len() {
            self.words.resize(row / 64 + 1, 0);
        }
        let word = &mut self.words[row / 64];
        let fresh = *word >> (row % 64) & 1 == 0;
        *word |= 1 << (row % 64);
        self.count += usize::from(fresh);
        fresh
    }

    /// Whether `row` is marked.
    pub(super) fn contains(&self, row: usize) -> bool {
        self.words
            .get(row / 64)
            .is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// The number of marked rows.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The file's bytes, for a segment of `rows` rows.
    pub(super) fn encode(&self, segment: &Sha256, rows: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(56 + rows.div_ceil(64) * 8);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&0u32.to_le_bytes());
        out.extend_from_slice(&(rows as u64).to_le_bytes());
        out.extend_from_slice(segment.as_bytes());
        for word in 0..rows.div_ceil(64) {
            out.extend_from_slice(&self.words.get(word).copied().unwrap_or(0).to_le_bytes());
        }
        out
    }

    /// Parses a file's bytes, or reports that they differ from what the manifest says.
    pub(super) fn decode(
        bytes: &[u8],
        name: &Sha256,
        segment: &Sha256,
        rows: usize,
    ) -> Result<Self> {
        if Sha256::of(bytes) != *name {
            return Err(damaged());
        }
        let mut out = Self::default();
        for (i, word) in bytes
            .get(56..)
            .ok_or_else(damaged)?
            .as_chunks::<8>()
            .0
            .iter()
            .enumerate()
        {
            let mut word = u64::from_le_bytes(*word);
            while word != 0 {
                out.insert(i * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
        // A set has exactly one encoding: anything that differs from it in header, length or
        // surplus bits was not written here.
        if out.encode(segment, rows) == bytes {
            Ok(out)
        } else {
            Err(damaged())
        }
    }
}

/// The failure for a damaged file of removed vectors.
fn damaged() -> Failure {
    corrupt("A file of removed vectors does not have the content that its name promises.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_text::error::ErrorCode;

    #[test]
    fn a_set_of_dead_rows_round_trips_and_nothing_else_is_believed() {
        let segment = Sha256::of(b"segment");
        let mut dead = Tombstones::default();
        assert!(dead.insert(0) && dead.insert(64) && !dead.insert(64) && dead.insert(99));
        let bytes = dead.encode(&segment, 100);
        let name = Sha256::of(&bytes);
        assert_eq!(
            Tombstones::decode(&bytes, &name, &segment, 100).unwrap(),
            dead
        );
        assert!(Tombstones::decode(&bytes, &name, &Sha256::of(b"another"), 100).is_err());
        assert!(
            Tombstones::decode(&bytes, &name, &segment, 99).is_err(),
            "row 99 does not exist there"
        );
        assert!(Tombstones::decode(&bytes, &name, &segment, 1000).is_err());
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            let failure = Tombstones::decode(&flipped, &name, &segment, 100).unwrap_err();
            assert_eq!(failure.code, ErrorCode::DbCorrupt);
            assert!(
                Tombstones::decode(&bytes[..at], &Sha256::of(&bytes[..at]), &segment, 100).is_err()
            );
        }
    }
}
