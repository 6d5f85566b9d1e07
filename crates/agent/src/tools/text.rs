//! Reads a file as text, and extracts exact evidence from it, for the tools that read one file.

use super::Bound;
use local_agent_files::sandbox::Address;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::evidence::Excerpt;
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, LineSpan, Sha256};

/// Number of bytes at the start of a file that decide whether it is text.
const SNIFFED: usize = 8192;

/// A file, read once and completely.
pub(super) struct ReadFile {
    pub at: Address,
    pub sha256: Sha256,
    pub bytes: Vec<u8>,
}

/// The kind of a file's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Text(&'a str),
    /// An image with its width and height in pixels, if they can be read.
    Image(&'static str, Option<(u32, u32)>),
    Pdf,
    /// Anything else.
    Binary,
}

impl ReadFile {
    /// Errors: those of the sandbox.
    pub(super) fn of(bound: &Bound, request: &str) -> Result<Self> {
        let at = bound.sandbox.resolve(request)?;
        let bytes = bound.sandbox.read(&at)?.bytes;
        Ok(Self {
            at,
            sha256: Sha256::of(&bytes),
            bytes,
        })
    }

    /// Its kind of content.
    pub(super) fn content(&self) -> Content<'_> {
        sniff(&self.bytes)
    }

    /// Its text; `FILE_READ_ERROR` when it is not text.
    pub(super) fn text(&self) -> Result<&str> {
        match self.content() {
            Content::Text(text) => Ok(text),
            _ => Err(Failure::new(
                ErrorCode::FileReadError,
                format!("`{}` is not UTF-8 text.", self.at),
            )
            .with_fix(
                Fix::ReadTextFile,
                "read_text_file says what kind of file it is",
            )),
        }
    }

    /// The bytes from `start` to `end` as evidence; `None` if they contain no text.
    pub(super) fn excerpt(&self, start: usize, end: usize) -> Option<Excerpt> {
        let text = std::str::from_utf8(self.bytes.get(start..end)?).ok()?;
        if text.trim().is_empty() {
            return None;
        }
        let heading = HeadingPath::new(Vec::new()).ok()?;
        Some(Excerpt {
            chunk_key: ChunkKey::derive(
                &self.at.source,
                &self.at.path,
                &heading,
                &Sha256::of(text.as_bytes()),
                0,
            ),
            merged: Vec::new(),
            source: self.at.source.clone(),
            path: self.at.path.clone(),
            path_is_shared: false,
            heading,
            span: ByteSpan::new(start, end)?,
            lines: LineSpan::new(
                self.line_of(start)?,
                self.line_of(start + text.trim_end_matches('\n').len())?,
            )?,
            text: text.to_owned(),
        })
    }

    /// The line of a byte, from 1.
    fn line_of(&self, byte: usize) -> Option<u32> {
        let before = self.bytes.get(..byte).unwrap_or_default();
        u32::try_from(before.iter().filter(|b| **b == b'\n').count() + 1).ok()
    }
}

/// Detects the kind of content: by magic numbers, then by a NUL near the start, then by whether it
/// is UTF-8.
fn sniff(bytes: &[u8]) -> Content<'_> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => {
            return Content::Image("image/png", png_size(bytes));
        }
        [0xff, 0xd8, 0xff, ..] => return Content::Image("image/jpeg", jpeg_size(bytes)),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            return Content::Image("image/gif", None);
        }
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => return Content::Image("image/webp", None),
        [b'%', b'P', b'D', b'F', b'-', ..] => return Content::Pdf,
        _ => {}
    }
    if bytes.iter().take(SNIFFED).any(|b| *b == 0) {
        return Content::Binary;
    }
    std::str::from_utf8(bytes).map_or(Content::Binary, Content::Text)
}

fn be(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let field = bytes.get(at..at.checked_add(count)?)?;
    Some(field.iter().fold(0, |sum, b| (sum << 8) | u32::from(*b)))
}

/// The size of a PNG: width and height are the first fields of the first chunk, `IHDR`.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.get(12..16)? == b"IHDR").then_some(())?;
    be(bytes, 16, 4).zip(be(bytes, 20, 4))
}

/// The size of a JPEG: it is in the first frame header (`SOF0` to `SOF15` without `DHT`, `JPG`,
/// `DAC`).
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        (*bytes.get(at)? == 0xff).then_some(())?;
        match *bytes.get(at + 1)? {
            0xff => at += 1,
            // Markers without a body.
            0x01 | 0xd0..=0xd8 => at += 2,
            0xc0..=0xcf if !matches!(bytes[at + 1], 0xc4 | 0xc8 | 0xcc) => {
                return be(bytes, at + 7, 2).zip(be(bytes, at + 5, 2));
            }
            // The image data begins, or the file ends, without a frame header.
            0xd9 | 0xda => return None,
            _ => at += 2 + usize::try_from(be(bytes, at + 2, 2)?.max(2)).ok()?,
        }
    }
}

/// The longest prefix of `text` of at most `max` bytes that ends between two characters.
pub(super) fn prefix(text: &str, max: usize) -> &str {
    let mut end = text.len().min(max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn images_and_pdfs_are_known_by_their_bytes_with_their_pixels() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x80\0\0\x01\xe0".to_vec();
        assert_eq!(sniff(&png), Content::Image("image/png", Some((640, 480))));
        png.truncate(14);
        assert_eq!(sniff(&png), Content::Image("image/png", None));
        let jpeg =
            b"\xff\xd8\xff\xe0\0\x04ab\xff\xc4\0\x03x\xff\xff\xc2\0\x0b\x08\0\x10\0\x20\x03rest";
        assert_eq!(sniff(jpeg), Content::Image("image/jpeg", Some((32, 16))));
        assert_eq!(
            sniff(b"\xff\xd8\xff\xda\0\x02"),
            Content::Image("image/jpeg", None)
        );
        assert_eq!(sniff(b"%PDF-1.7\n"), Content::Pdf);
        assert_eq!(sniff(b"a\0b"), Content::Binary);
        assert_eq!(sniff(b"\xff\xfea\0"), Content::Binary);
        assert_eq!(sniff("ä\n".as_bytes()), Content::Text("ä\n"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_sniffer_panic(head in 0usize..4, tail in prop::collection::vec(any::<u8>(), 0..64)) {
            let heads: [&[u8]; 4] = [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xc4"];
            let _ = sniff(&[heads[head], &tail].concat());
        }

        #[test]
        fn a_prefix_ends_between_characters(text in any::<String>(), max in 0usize..40) {
            let cut = prefix(&text, max);
            prop_assert!(cut.len() <= max && text.starts_with(cut));
        }
    }
}
