//! The output of the `index` job for one file, ready to be written.

use crate::ids::SourceId;
use local_agent_files::sandbox::NOTE_EXTENSIONS;
use local_agent_text::types::{
    ByteSpan, ChunkKey, FileStamp, LineSpan, RelPath, Sha256, SkipReason,
};

/// One file of one source.
#[derive(Debug, Clone)]
pub struct DocumentRow {
    /// Row id of its source.
    pub source_id: SourceId,
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

/// The last segment of a link's target or of a document's path, in lower case and without the
/// extension of notes. Other extensions stay: a link must name them (`[[plan.pdf]]`).
pub fn target_key(target: &str) -> String {
    let last = target.rsplit(['/', '\\']).next().unwrap_or_default();
    let last = last.to_lowercase();
    let stem = NOTE_EXTENSIONS
        .iter()
        .find_map(|extension| last.strip_suffix(extension));
    stem.map(str::to_owned).unwrap_or(last)
}

impl DocumentRow {
    /// The key with which a wikilink refers to this document; see [`target_key`].
    pub fn stem_key(&self) -> String {
        target_key(self.path.file_name())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_and_its_document_have_the_same_key() {
        for (path, target) in [
            ("a/Plan.md", "Plan"),
            ("a/Plan.md", "../a/plan.md"),
            ("Plan.MD", "plan.markdown"),
            ("a/Board.canvas", "Board.canvas"),
            ("scan.PDF", "a\\Scan.pdf"),
            ("todo.org", "todo.org"),
            ("Node.js.md", "Node.js"),
        ] {
            assert_eq!(target_key(path), target_key(target), "{path} {target}");
        }
        assert_ne!(target_key("plan.md"), target_key("plan.pdf"));
    }
}
