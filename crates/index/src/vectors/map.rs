//! The read-only file map: one of the two places where `unsafe` is allowed.

use std::fs::File;
use std::io;

use memmap2::Mmap;

/// The bytes of one immutable segment file. They stay readable after the file has been unlinked.
pub(super) struct Mapped(Mmap);

impl Mapped {
    /// Maps the whole of `file`. The caller has checked its length and its header.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        // SAFETY: a map is unsound if the file changes while it is mapped. Segment files are
        // written under another name, renamed into place complete, never opened for writing again,
        // and only ever unlinked, which keeps the mapped inode alive. All reads go through `&[u8]`,
        // for which any bit pattern is valid.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self(map))
    }

    /// The whole file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
