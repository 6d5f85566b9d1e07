//! The types of a parsed document.

use super::frontmatter::Frontmatter;
use super::inline::Link;
use crate::types::{ByteSpan, HeadingPath, LineSpan};

/// Counts the tokens of a text, without padding, truncation or special tokens. `parse` calls it
/// once per block (and again for the parts of a block that is too large), and adds up the results:
/// the count of a text must not exceed the sum over its pieces when it is cut at white space. A
/// word is assumed to have at least one token.
pub type CountTokens<'a> = &'a (dyn Fn(&str) -> usize + Sync);

/// How a document is cut into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Blocks kept whole, small sections packed under their parent: the default.
    ObsidianV2,
    /// The Python version's cut points, for comparison.
    ObsidianV1,
    /// Windows of one length, without regard to the content.
    FixedWindowV1,
}

/// Options for cutting a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkOptions {
    /// The rules to use.
    pub scheme: Scheme,
    /// Upper bound of a chunk in tokens (`obsidian_v2`); at least 1 is used.
    pub max_tokens: usize,
    /// Upper bound of a chunk in characters (the Python version's schemes); at least 1 is used.
    pub max_chars: usize,
    /// Overlap in characters (the Python version's schemes); at most `max_chars - 1` is used.
    pub overlap: usize,
}

/// A parsed markdown file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The frontmatter.
    pub frontmatter: Frontmatter,
    /// `title` of the frontmatter, otherwise the first heading of level 1.
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
    /// not white space is in one.
    pub chunks: Vec<Chunk>,
    /// What could not be parsed as probably intended.
    pub problems: Vec<Problem>,
}

/// A heading and where it is.
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
    /// The headings it is under; for several sections packed together, the headings they share.
    pub heading: HeadingPath,
    /// The kinds of blocks in it.
    pub kinds: BlockKinds,
    /// Its number of tokens: the sum over its blocks, so at least the count of the whole.
    pub tokens: usize,
    /// The `^ids` of its blocks, without `^`.
    pub block_ids: Vec<String>,
}

/// Something that could not be parsed as probably intended. The text is indexed anyway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line it begins at, from 1.
    pub line: u32,
    /// One plain sentence without the full stop.
    pub message: String,
}

bitflags::bitflags! {
    /// A set of kinds of blocks. The bits are stored in the database.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct BlockKinds: u16 {
        /// Running text.
        const PARAGRAPH = 1;
        /// A list.
        const LIST = 1 << 1;
        /// A table.
        const TABLE = 1 << 2;
        /// Fenced or indented code.
        const CODE = 1 << 3;
        /// A block quote (including callouts).
        const QUOTE = 1 << 4;
        /// A callout.
        const CALLOUT = 1 << 5;
        /// A heading.
        const HEADING = 1 << 6;
        /// A block of HTML.
        const HTML = 1 << 7;
        /// A `%%comment%%`, inline or block.
        const COMMENT = 1 << 8;
    }
}

impl BlockKinds {
    /// The stable names of the kinds in the set, in lower case.
    pub fn names(self) -> impl Iterator<Item = String> {
        self.iter_names().map(|(name, _)| name.to_ascii_lowercase())
    }
}
