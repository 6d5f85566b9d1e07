//! What a parsed document is.

use std::ops::{BitOr, BitOrAssign};

use super::frontmatter::Frontmatter;
use super::inline::Link;
use crate::types::{ByteSpan, HeadingPath, LineSpan};

/// Counts the tokens of a text, without padding, truncation or special tokens. `parse` asks for
/// each block once (and again for the parts of a block that is too large), and adds up: the count
/// of a text must not exceed the sum over its pieces when it is cut at white space. A word is taken
/// to be at least one token.
pub type CountTokens<'a> = &'a (dyn Fn(&str) -> usize + Sync);

/// How a document is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    ObsidianV2,
    ObsidianV1,
    FixedWindowV1,
}

/// How a document is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkOptions {
    /// Which rules.
    pub scheme: Scheme,
    /// Upper bound of a chunk in tokens (`obsidian_v2`); at least 1 is used.
    pub max_tokens: usize,
    /// Upper bound of a chunk in characters (the ancestor's schemes); at least 1 is used.
    pub max_chars: usize,
    /// Overlap in characters (the ancestor's schemes); at most `max_chars - 1` is used.
    pub overlap: usize,
}

/// A markdown file, read.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The frontmatter.
    pub frontmatter: Frontmatter,
    /// `title` of the frontmatter, else the first heading of level 1.
    pub title: Option<String>,
    /// All headings that begin a section, in order.
    pub headings: Vec<HeadingAt>,
    /// All links, in order of their ends.
    pub links: Vec<Link>,
    /// Tags of the frontmatter, then of the text: without `#`, nested ones whole, each once (first
    /// spelling).
    pub tags: Vec<String>,
    /// `aliases` or `alias` of the frontmatter.
    pub aliases: Vec<String>,
    /// The chunks, in order. `obsidian_v2`: they do not overlap, and every byte of the body that is
    /// not white space lies in one.
    pub chunks: Vec<Chunk>,
    /// What could not be read as it was probably meant.
    pub problems: Vec<Problem>,
}

/// A heading and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadingAt {
    /// 1 to 6.
    pub level: u8,
    /// Its plain text.
    pub title: String,
    /// Its bytes in the file, marks included.
    pub span: ByteSpan,
    /// Its first line, from 1.
    pub line: u32,
}

/// A verbatim slice of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes in the file.
    pub span: ByteSpan,
    /// Its lines in the file.
    pub lines: LineSpan,
    /// The headings it stands under; of several sections packed together, the headings they share.
    pub heading: HeadingPath,
    /// What kinds of blocks are in it.
    pub kinds: BlockKinds,
    /// Its tokens by the counter given: the sum over its blocks, so at least the count of the
    /// whole.
    pub tokens: usize,
    /// The `^ids` of blocks in it, without `^`.
    pub block_ids: Vec<String>,
}

/// Something that could not be read as it was probably meant. The text is indexed all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line it begins at, from 1.
    pub line: u32,
    /// One plain sentence without the full stop.
    pub message: String,
}

/// A set of kinds of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BlockKinds(u16);

impl BlockKinds {
    /// Running text.
    pub const PARAGRAPH: Self = Self(1);
    /// A list.
    pub const LIST: Self = Self(1 << 1);
    /// A table.
    pub const TABLE: Self = Self(1 << 2);
    /// Fenced or indented code.
    pub const CODE: Self = Self(1 << 3);
    /// A block quote (a callout is one, too).
    pub const QUOTE: Self = Self(1 << 4);
    /// A callout.
    pub const CALLOUT: Self = Self(1 << 5);
    /// A heading.
    pub const HEADING: Self = Self(1 << 6);
    /// A block of HTML.
    pub const HTML: Self = Self(1 << 7);
    /// A `%%comment%%`, inline or block.
    pub const COMMENT: Self = Self(1 << 8);

    const NAMES: [(Self, &'static str); 9] = [
        (Self::PARAGRAPH, "paragraph"),
        (Self::LIST, "list"),
        (Self::TABLE, "table"),
        (Self::CODE, "code"),
        (Self::QUOTE, "quote"),
        (Self::CALLOUT, "callout"),
        (Self::HEADING, "heading"),
        (Self::HTML, "html"),
        (Self::COMMENT, "comment"),
    ];

    /// Whether all of `other` is in the set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits, as the database stores them.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The set with these bits; unknown ones are dropped.
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & 0x1ff)
    }

    /// The stable names of what is in the set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES
            .into_iter()
            .filter(move |(kind, _)| self.contains(*kind))
            .map(|(_, name)| name)
    }
}

impl BitOr for BlockKinds {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for BlockKinds {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
