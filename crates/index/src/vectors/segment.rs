//! One immutable segment file: its layout, writing and opening.
//!
//! Little-endian; a header of 320 bytes, then five sections, each starting on a multiple of 64
//! bytes, zeros between:
//!
//! | section | bytes | contents |
//! | --- | --- | --- |
//! | keys | n × 16 | chunk keys |
//! | ids | n × 8 | chunk row ids, i64 |
//! | codes | n × stride | 8-bit codes; stride = dim rounded up to 64, padded with zeros |
//! | scales | n × 4 | f32, one per row |
//! | halves | n × dim × 2 | half floats for rescoring |
//!
//! Header: magic `LAVECSEG`, version u32, dim u32, rows u64, file length u64, then offset u64,
//! length u64 and SHA-256 of each section. The segment's checksum is the SHA-256 of its header and
//! is in the manifest: the header is checked whenever the file is opened, and through it, on
//! demand, every section.

use std::io::Read as _;
use std::sync::OnceLock;

use super::manifest::Entry;
use super::map::Mapped;
use super::quant::{self, stride};
use super::tombstones::Tombstones;
use super::{Row, corrupt, disk, manifest, newer};
use crate::ids::{ChunkId, RowId as _};
use local_agent_files::state::StateDirectory;
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::{ChunkKey, Sha256};

const MAGIC: &[u8; 8] = b"LAVECSEG";
const VERSION: u32 = 1;
const HEADER: usize = 320;
const SECTIONS: [&str; 5] = ["keys", "ids", "codes", "scales", "halves"];
const KEYS: usize = 0;
const IDS: usize = 1;
const CODES: usize = 2;
const SCALES: usize = 3;
const HALVES: usize = 4;

/// The positions of a segment's sections, computed from width and number of rows alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Layout {
    offsets: [usize; 5],
    lengths: [usize; 5],
    total: usize,
}

/// Size of one row in each section, in bytes.
const fn row_bytes(dim: usize) -> [usize; 5] {
    [16, 8, stride(dim), 4, dim * 2]
}

impl Layout {
    /// `None` if the file would be too large to address.
    fn of(dim: usize, rows: usize) -> Option<Self> {
        let mut layout = Self {
            offsets: [0; 5],
            lengths: [0; 5],
            total: HEADER,
        };
        for (i, bytes) in row_bytes(dim).into_iter().enumerate() {
            layout.offsets[i] = layout.total.checked_next_multiple_of(64)?;
            layout.lengths[i] = bytes.checked_mul(rows)?;
            layout.total = layout.offsets[i].checked_add(layout.lengths[i])?;
        }
        Some(layout)
    }

    /// The header of a segment whose sections have these hashes.
    fn header(&self, dim: usize, rows: usize, hashes: &[Sha256; 5]) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&(dim as u32).to_le_bytes());
        out.extend_from_slice(&(rows as u64).to_le_bytes());
        out.extend_from_slice(&(self.total as u64).to_le_bytes());
        for ((offset, length), hash) in self.offsets.iter().zip(&self.lengths).zip(hashes) {
            out.extend_from_slice(&(*offset as u64).to_le_bytes());
            out.extend_from_slice(&(*length as u64).to_le_bytes());
            out.extend_from_slice(hash.as_bytes());
        }
        out.resize(HEADER, 0);
        out
    }
}

/// Collects rows for a segment. It holds at most one segment's worth of rows in memory.
pub(super) struct Builder {
    dim: usize,
    rows: usize,
    sections: [Vec<u8>; 5],
}

/// A segment ready to be written.
pub(super) struct Sealed<'a> {
    /// Its entry for the manifest (no dead rows).
    pub(super) entry: Entry,
    header: Vec<u8>,
    layout: Layout,
    sections: &'a [Vec<u8>; 5],
}

impl Builder {
    /// An empty builder.
    pub(super) fn new(dim: usize) -> Self {
        Self {
            dim,
            rows: 0,
            sections: Default::default(),
        }
    }

    /// Number of rows so far.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Drops the rows, keeps the memory.
    pub(super) fn clear(&mut self) {
        self.rows = 0;
        self.sections.iter_mut().for_each(Vec::clear);
    }

    /// Adds a row that [`quant::check_row`] has accepted.
    pub(super) fn push(&mut self, row: &Row<'_>) {
        let [keys, ids, codes, scales, halves] = &mut self.sections;
        keys.extend_from_slice(row.key.as_bytes());
        ids.extend_from_slice(&row.chunk_id.row().to_le_bytes());
        scales.extend_from_slice(&quant::push_codes(row.vector, codes).to_le_bytes());
        quant::push_halves(row.vector, halves);
        self.rows += 1;
    }

    /// Adds a row of another segment of the same width, bit for bit: merging changes no score.
    pub(super) fn push_copy(&mut self, from: &Segment, row: usize) {
        for (section, bytes) in self.sections.iter_mut().zip(from.row(row)) {
            section.extend_from_slice(bytes);
        }
        self.rows += 1;
    }

    /// Hashes the added rows; `None` if no row was added.
    pub(super) fn seal(&self) -> Result<Option<Sealed<'_>>> {
        if self.rows == 0 {
            return Ok(None);
        }
        let layout = Layout::of(self.dim, self.rows).ok_or_else(|| {
            Failure::internal("A vector segment grew beyond what can be addressed.")
        })?;
        let hashes = self.sections.each_ref().map(|s| Sha256::of(s));
        let header = layout.header(self.dim, self.rows, &hashes);
        let entry = Entry {
            checksum: Sha256::of(&header),
            rows: self.rows,
            bytes: layout.total as u64,
            dead: 0,
            tombstones: None,
        };
        Ok(Some(Sealed {
            entry,
            header,
            layout,
            sections: &self.sections,
        }))
    }
}

impl Sealed<'_> {
    /// The parts of the file, in order.
    pub(super) fn parts(&self) -> Vec<&[u8]> {
        const ZEROS: [u8; 64] = [0; 64];
        let mut parts = vec![self.header.as_slice()];
        let mut end = self.header.len();
        for (section, offset) in self.sections.iter().zip(self.layout.offsets) {
            parts.push(&ZEROS[..offset - end]);
            parts.push(section);
            end = offset + section.len();
        }
        parts
    }
}

/// One segment, mapped for reading, with its dead rows.
pub(super) struct Segment {
    /// Its entry in the manifest.
    pub(super) entry: Entry,
    dim: usize,
    layout: Layout,
    map: Mapped,
    dead: Option<Tombstones>,
    /// The rows in the order of their chunk ids; computed on first use.
    by_id: OnceLock<Vec<u32>>,
}

impl Segment {
    /// Opens the segment that `entry` names. Its length and header are checked **before** it is
    /// mapped; its tombstones are read and checked completely; its sections are not read.
    pub(super) fn open(dir: &StateDirectory, entry: &Entry, dim: usize) -> Result<Self> {
        let name = entry.file();
        let path = dir.path().join(&name);
        let file = dir.read(&name).map_err(|e| disk::read_error(&path, &e))?;
        let mut file =
            file.ok_or_else(|| corrupt(format!("The vector segment `{name}` is missing.")))?;
        let length = file
            .metadata()
            .map_err(|e| disk::read_error(&path, &e))?
            .len();
        if length != entry.bytes || length < HEADER as u64 {
            return Err(corrupt(format!(
                "The vector segment `{name}` has {length} bytes where {} were written.",
                entry.bytes
            )));
        }
        let mut header = [0; HEADER];
        file.read_exact(&mut header)
            .map_err(|e| disk::read_error(&path, &e))?;
        let layout = check_header(&header, entry, dim, &name)?;
        let map = Mapped::new(&file).map_err(|e| disk::read_error(&path, &e))?;
        if map.bytes().len() != layout.total {
            return Err(corrupt(format!(
                "The vector segment `{name}` changed its length while it was opened."
            )));
        }
        let dead = open_tombstones(dir, entry)?;
        Ok(Self {
            entry: entry.clone(),
            dim,
            layout,
            map,
            dead,
            by_id: OnceLock::new(),
        })
    }

    fn section(&self, section: usize) -> &[u8] {
        let start = self.layout.offsets[section];
        // In range, because `open` compared the layout with the length of the map.
        &self.map.bytes()[start..start + self.layout.lengths[section]]
    }

    fn cell(&self, section: usize, row: usize) -> &[u8] {
        let bytes = row_bytes(self.dim)[section];
        &self.section(section)[row * bytes..(row + 1) * bytes]
    }

    /// All five cells of one row, in section order.
    fn row(&self, row: usize) -> [&[u8]; 5] {
        [KEYS, IDS, CODES, SCALES, HALVES].map(|section| self.cell(section, row))
    }

    /// The chunk key of `row`.
    pub(super) fn key(&self, row: usize) -> ChunkKey {
        ChunkKey::from_bytes(first(self.cell(KEYS, row)))
    }

    /// The chunk id of `row`.
    pub(super) fn id(&self, row: usize) -> ChunkId {
        ChunkId::from_row(i64::from_le_bytes(first(self.cell(IDS, row))))
    }

    /// The live row of the chunk `id`.
    pub(super) fn row_of(&self, id: ChunkId) -> Option<usize> {
        let order = self.by_id.get_or_init(|| {
            let rows = u32::try_from(self.entry.rows).unwrap_or(u32::MAX);
            let mut order: Vec<u32> = (0..rows)
                .filter(|row| self.is_live(*row as usize))
                .collect();
            order.sort_by_key(|row| self.id(*row as usize));
            order
        });
        let place = order.binary_search_by_key(&id, |row| self.id(*row as usize));
        place
            .ok()
            .and_then(|place| order.get(place))
            .map(|row| *row as usize)
    }

    /// The codes of all rows, `stride` bytes each.
    pub(super) fn codes(&self) -> &[u8] {
        self.section(CODES)
    }

    /// The scales of all rows.
    pub(super) fn scales(&self) -> &[[u8; 4]] {
        self.section(SCALES).as_chunks::<4>().0
    }

    /// The half floats of `row`.
    pub(super) fn halves(&self, row: usize) -> &[u8] {
        self.cell(HALVES, row)
    }

    /// Whether `row` is not dead.
    pub(super) fn is_live(&self, row: usize) -> bool {
        self.dead.as_ref().is_none_or(|dead| !dead.contains(row))
    }

    /// The dead rows.
    pub(super) fn tombstones(&self) -> Tombstones {
        self.dead.clone().unwrap_or_default()
    }

    /// Reads every byte and compares it with the checksums.
    pub(super) fn verify(&self) -> Result<()> {
        let name = self.entry.file();
        let header = self.map.bytes().get(..HEADER).unwrap_or_default();
        check_header(header, &self.entry, self.dim, &name)?;
        for (section, what) in SECTIONS.into_iter().enumerate() {
            let written = header.get(32 + section * 48 + 16..32 + section * 48 + 48);
            if written != Some(Sha256::of(self.section(section)).as_bytes().as_slice()) {
                return Err(corrupt(format!(
                    "The section `{what}` of the vector segment `{name}` is damaged."
                )));
            }
        }
        Ok(())
    }
}

/// The first `N` bytes of a cell that is at least that long.
fn first<const N: usize>(cell: &[u8]) -> [u8; N] {
    cell.first_chunk().copied().unwrap_or([0; N])
}

/// Checks a header against the manifest and returns the positions of the sections.
fn check_header(header: &[u8], entry: &Entry, dim: usize, name: &str) -> Result<Layout> {
    if Sha256::of(header) != entry.checksum {
        return Err(corrupt(format!(
            "The header of the vector segment `{name}` is damaged."
        )));
    }
    let version = u32::from_le_bytes(first(header.get(8..).unwrap_or_default()));
    if header.starts_with(MAGIC) && version > VERSION {
        return Err(newer("vector segment", version.into()));
    }
    // The header follows from dim, rows and hashes: writing it again from them must give the same
    // bytes.
    let hashes = [0, 1, 2, 3, 4]
        .map(|i| Sha256::from_bytes(first(header.get(32 + i * 48 + 16..).unwrap_or_default())));
    Layout::of(dim, entry.rows)
        .filter(|layout| {
            layout.total as u64 == entry.bytes && layout.header(dim, entry.rows, &hashes) == header
        })
        .ok_or_else(|| {
            corrupt(format!(
                "The vector segment `{name}` does not have the shape that its manifest says."
            ))
        })
}

fn open_tombstones(dir: &StateDirectory, entry: &Entry) -> Result<Option<Tombstones>> {
    let Some(checksum) = &entry.tombstones else {
        return Ok(None);
    };
    let name = manifest::tombstone_name(checksum);
    let cap = 64 + (entry.rows as u64).div_ceil(64) * 8;
    let bytes = disk::read_small(dir, &name, cap)?
        .ok_or_else(|| corrupt(format!("The file of removed vectors `{name}` is missing.")))?;
    let dead = Tombstones::decode(&bytes, checksum, &entry.checksum, entry.rows)?;
    if dead.len() != entry.dead {
        return Err(corrupt(format!(
            "`{name}` does not hold as many removed vectors as the manifest says."
        )));
    }
    Ok(Some(dead))
}
