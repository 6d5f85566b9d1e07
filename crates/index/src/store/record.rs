//! The output of the `index` job for one file, ready to be written.

use local_agent_text::types::{
    ByteSpan, ChunkKey, FileStamp, LineSpan, RelPath, Sha256, SkipReason,
};

/// One file of one source.
#[derive(Debug, Clone)]
pub struct DocumentRow {
    /// Row id of its source.
    pub source_id: i64,
    /// Its path below the source's root.
    pub path: RelPath,
    /// What the file system reported when the file was read.
    pub stamp: FileStamp,
    /// Why it has no chunks; `None` if it is indexed.
    pub skipped: Option<SkipReason>,
    /// Hash of the file's bytes, when they were read.
    pub sha256: Option<Sha256>,
    /// The chunking that made `chunks`.
    pub chunker_sig: String,
    /// Frontmatter title, first heading, or the file name without extension.
    pub title: String,
    /// Frontmatter aliases.
    pub aliases: Vec<String>,
    /// Tags of frontmatter and text, without `#`.
    pub tags: Vec<String>,
    /// The date that the note states, in ISO form.
    pub note_date: Option<String>,
    /// Whether there is a frontmatter block.
    pub yaml_present: bool,
    /// Whether it could be parsed; `None` without frontmatter.
    pub yaml_parse_ok: Option<bool>,
    /// Why it could not be parsed.
    pub yaml_error: Option<String>,
    /// Typed (`uuid` present) or untyped; `None` when unknown.
    pub required_keys_present: Option<bool>,
    /// The frontmatter as a JSON object with sorted keys.
    pub frontmatter_json: String,
    /// Wikilinks, embeds and markdown links.
    pub links: Vec<LinkRow>,
    /// The chunks, in file order.
    pub chunks: Vec<ChunkRow>,
}

/// One link in a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LinkRow {
    /// `wiki`, `embed`, `markdown`, `image` or `autolink`.
    pub kind: &'static str,
    /// The target as written.
    pub target: String,
    /// The key that matches [`DocumentRow::stem_key`]; see [`target_key`].
    pub target_key: String,
    /// Heading or `^block` after `#`.
    pub anchor: Option<String>,
    /// The displayed text; empty when the link shows its target.
    pub text: String,
}

/// The last segment of a link's target, lower-case, without extension.
pub fn target_key(target: &str) -> String {
    let last = target.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = last
        .strip_suffix(".md")
        .or_else(|| last.strip_suffix(".markdown"))
        .unwrap_or(last);
    stem.to_lowercase()
}

impl DocumentRow {
    /// The key with which a wikilink refers to this document.
    pub fn stem_key(&self) -> String {
        self.path.stem().to_lowercase()
    }
}

/// One chunk: a verbatim slice of its file.
#[derive(Debug, Clone)]
pub struct ChunkRow {
    /// See [`ChunkKey::derive`].
    pub key: ChunkKey,
    /// Position in the file.
    pub span: ByteSpan,
    /// Lines of the file.
    pub lines: LineSpan,
    /// Headings above it, canonical.
    pub heading: String,
    /// Bit set of block kinds, as the markdown module defines it.
    pub kinds: u32,
    /// Number of tokens for the embedding model.
    pub tokens: usize,
    /// The slice.
    pub text: String,
    /// Hash of the slice.
    pub text_sha256: Sha256,
    /// Hash of its embedding input.
    pub input_sha256: Sha256,
}
