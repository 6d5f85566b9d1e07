//! Publishes the matrix: writes new rows into new segments and dead rows into tombstones, then
//! replaces the manifest atomically.
//!
//! The order of a publication: segment files (each synced, then renamed), tombstone files, folder
//! synced, manifest renamed, folder synced, unreferenced files removed. Until the manifest is
//! renamed, nothing that the old one names has changed, so a crash at any point leaves either the
//! old or the new state complete.

use std::collections::HashSet;
use std::path::Path;

use super::disk::{self, Disk};
use super::manifest::{self, Entry, Manifest};
use super::matrix::Matrix;
use super::quant;
use super::segment::{Builder, Segment};
use super::tombstones::Tombstones;
use super::{MatrixStamp, Row, check_dim};
use crate::ids::ChunkId;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{ChunkKey, Sha256};

/// Maximum size in bytes of a segment; the writer keeps one in memory.
const SEGMENT_BYTES: usize = 32 << 20;
/// A segment is rewritten without its dead rows when more than one row in this many is dead.
const DEAD_SHARE: usize = 4;
/// Segments of similar size (the same power of this number) are merged when more than this many
/// exist. So a row is rewritten about once for each power, and a matrix has at most a few dozen
/// segments that are not full.
const TIER: usize = 8;

/// One publication in progress. Readers see nothing before [`VectorWriter::publish`]; dropping a
/// writer keeps the old state. The caller must hold the `embed` lock for the lifetime of the
/// writer.
///
/// Memory: one segment's worth of rows (32 MiB), plus some 20 bytes for each row added or removed.
pub struct VectorWriter {
    disk: Disk,
    stamp: MatrixStamp,
    capacity: usize,
    old: Vec<(Segment, Tombstones)>,
    builder: Builder,
    written: Vec<Entry>,
    added: HashSet<ChunkKey>,
    removed: HashSet<ChunkKey>,
}

impl VectorWriter {
    /// Starts from the current content of `dir`, or from an empty matrix if it does not exist.
    /// `stamp` is the state of the result. Its fingerprint and width must equal those of the rows
    /// that stay, because vectors of two models never share a matrix (`PHASE3_EMBED_ERROR`; use
    /// [`Self::rebuild`]). Damage is `DB_CORRUPT`, which `rebuild` repairs.
    pub fn update(dir: &Path, stamp: MatrixStamp) -> Result<Self> {
        let Some(matrix) = Matrix::open(dir)? else {
            return Self::start(dir, stamp, Vec::new());
        };
        let before = matrix.stamp();
        if (before.fingerprint, before.dim) != (stamp.fingerprint, stamp.dim) {
            return Err(Failure::new(
                ErrorCode::EmbedError,
                "The stored matrix holds vectors of another model, which cannot be mixed with new ones.",
            )
            .with_command("local-agent embed --rebuild"));
        }
        Self::start(dir, stamp, matrix.segments)
    }

    /// Starts from an empty matrix: the publication replaces everything, whatever state `dir` is
    /// in. Only a matrix in a later format is kept (`DB_NEWER`).
    pub fn rebuild(dir: &Path, stamp: MatrixStamp) -> Result<Self> {
        if let Some(folder) = disk::open(dir)?
            && let Ok(Some(bytes)) = Manifest::read(&folder)
            && let Err(failure) = Manifest::decode(&bytes)
            && failure.code == ErrorCode::DbNewer
        {
            return Err(failure);
        }
        Self::start(dir, stamp, Vec::new())
    }

    /// Removes files that the published state does not name. A publication that died before its own
    /// clean-up leaves such files.
    pub fn tidy(dir: &Path) -> Result<()> {
        let Some(folder) = disk::open(dir)? else {
            return Ok(());
        };
        if let Some(bytes) = Manifest::read(&folder)? {
            let manifest = Manifest::decode(&bytes)?;
            Disk::create(dir)?.sweep(|name| manifest.names(name));
        }
        Ok(())
    }

    fn start(dir: &Path, stamp: MatrixStamp, old: Vec<Segment>) -> Result<Self> {
        check_dim(stamp.dim)?;
        let row_bytes = quant::stride(stamp.dim) + 2 * stamp.dim + 28;
        Ok(Self {
            disk: Disk::create(dir)?,
            capacity: (SEGMENT_BYTES / row_bytes).max(1),
            builder: Builder::new(stamp.dim),
            stamp,
            old: old
                .into_iter()
                .map(|s| {
                    let dead = s.tombstones();
                    (s, dead)
                })
                .collect(),
            written: Vec::new(),
            added: HashSet::new(),
            removed: HashSet::new(),
        })
    }

    /// Makes segments small, so that tests see many of them.
    #[cfg(test)]
    pub(super) fn with_capacity(mut self, rows: usize) -> Self {
        self.capacity = rows;
        self
    }

    /// Simulates a crash at the step after this many.
    #[cfg(test)]
    pub(super) fn crashing_after(mut self, steps: usize) -> Self {
        self.disk.steps_left = Some(steps);
        self
    }

    /// Adds a row. It replaces the row with the same key in the old state; the same key twice in
    /// one publication is refused, as is a vector that is not `dim` finite numbers of length 1
    /// (`PHASE3_EMBED_ERROR`). A refused row leaves the writer as it was. Full segments are written
    /// as they fill.
    pub fn add(&mut self, row: &Row<'_>) -> Result<()> {
        quant::check_row(row.vector, self.stamp.dim)?;
        if !self.added.insert(row.key) {
            return Err(Failure::new(
                ErrorCode::EmbedError,
                format!("The chunk {} was given two vectors.", row.key),
            ));
        }
        self.builder.push(row);
        self.flush_if_full()
    }

    /// Drops the row with this key from the old state, if there is one. Rows added by this writer
    /// are not affected.
    pub fn remove(&mut self, key: ChunkKey) {
        self.removed.insert(key);
    }

    /// Drops every row of the old state for which `keep(chunk_id, key)` is false.
    pub fn retain(&mut self, mut keep: impl FnMut(ChunkId, &ChunkKey) -> bool) {
        for (segment, dead) in &mut self.old {
            for row in 0..segment.entry.rows {
                if !dead.contains(row) && !keep(segment.id(row), &segment.key(row)) {
                    dead.insert(row);
                }
            }
        }
    }

    /// Publishes the new state and returns its number of live rows. After a failure
    /// (`WRITE_ERROR`), readers see the old state or, if only the last sync or the clean-up failed,
    /// the new one.
    pub fn publish(mut self) -> Result<usize> {
        self.bury();
        let kept = self.merge()?;
        self.flush()?;
        let mut segments = Vec::new();
        for (segment, dead) in kept {
            segments.push(self.write_tombstones(&segment.entry, &dead)?);
        }
        segments.append(&mut self.written);
        let live = segments.iter().map(|e| e.rows - e.dead).sum();
        let manifest = Manifest::new(self.stamp.clone(), segments);
        self.disk.sync()?;
        self.disk.put(manifest::FILE, &[&manifest.encode()?])?;
        self.disk.sync()?;
        self.disk.sweep(|name| manifest.names(name));
        Ok(live)
    }

    /// Marks the old rows that were removed or replaced.
    fn bury(&mut self) {
        if self.added.is_empty() && self.removed.is_empty() {
            return;
        }
        for (segment, dead) in &mut self.old {
            for row in 0..segment.entry.rows {
                let key = segment.key(row);
                if self.added.contains(&key) || self.removed.contains(&key) {
                    dead.insert(row);
                }
            }
        }
    }

    /// Copies the live rows of segments that must be merged into new ones, and returns the other
    /// segments.
    fn merge(&mut self) -> Result<Vec<(Segment, Tombstones)>> {
        let old = std::mem::take(&mut self.old);
        let tiers: Vec<_> = old.iter().map(|(s, _)| self.tier(s.entry.rows)).collect();
        let mut kept = Vec::new();
        for ((segment, dead), tier) in old.into_iter().zip(&tiers) {
            let rows = segment.entry.rows;
            if dead.len() * DEAD_SHARE <= rows && !is_crowded(&tiers, *tier) {
                kept.push((segment, dead));
                continue;
            }
            for row in (0..rows).filter(|row| !dead.contains(*row)) {
                self.builder.push_copy(&segment, row);
                self.flush_if_full()?;
            }
        }
        Ok(kept)
    }

    /// Which segments a segment may be merged with; `None` for one that is more than half full.
    fn tier(&self, rows: usize) -> Option<u32> {
        (rows <= self.capacity / 2).then(|| rows.max(1).ilog(TIER))
    }

    fn flush_if_full(&mut self) -> Result<()> {
        if self.builder.rows() >= self.capacity {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<()> {
        if let Some(sealed) = self.builder.seal()? {
            self.disk.put(&sealed.entry.file(), &sealed.parts())?;
            self.written.push(sealed.entry);
        }
        self.builder.clear();
        Ok(())
    }

    /// Writes the tombstones of a segment that stays, if they changed, and returns its new entry.
    fn write_tombstones(&mut self, entry: &Entry, dead: &Tombstones) -> Result<Entry> {
        if dead.len() == entry.dead {
            return Ok(entry.clone()); // rows are only deleted, so equal counts mean equal rows
        }
        let bytes = dead.encode(&entry.checksum, entry.rows);
        let checksum = Sha256::of(&bytes);
        self.disk
            .put(&manifest::tombstone_name(&checksum), &[&bytes])?;
        Ok(Entry {
            dead: dead.len(),
            tombstones: Some(checksum),
            ..entry.clone()
        })
    }
}

/// Whether the tier has more segments than allowed.
fn is_crowded(tiers: &[Option<u32>], tier: Option<u32>) -> bool {
    tier.is_some() && tiers.iter().filter(|t| **t == tier).count() > TIER
}
