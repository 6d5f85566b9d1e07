//! Parses text into frontmatter, blocks, sections, links and chunks. Pure functions that never
//! fail.

mod ancestor;
mod blocks;
mod closed;
mod comments;
mod document;
mod fit;
mod frontmatter;
mod inline;
mod link_list;
mod outline;
mod pack;
mod plain;
pub mod sentences;
mod shallow;
mod syntax_tree;
mod types;

pub use blocks::{Block, BlockKind, blocks};
pub use closed::{closed, code_blocks};
pub(crate) use document::of_outline;
pub use document::{chunker_sig, heading_list, parse};
pub(crate) use frontmatter::unread_frontmatter;
pub use frontmatter::{Frontmatter, FrontmatterState};
pub use inline::{Link, LinkKind};
pub use link_list::is_list_of_links;
pub(crate) use outline::{Outline, Shape};
pub use plain::plain;
pub use sentences::{BlockRole, Sentence, sentences};
pub use shallow::shallow;
pub use syntax_tree::{CellAlignment, SyntaxKind, SyntaxNode, SyntaxTree, syntax_tree};
pub use types::{
    BlockKinds, Chunk, ChunkOptions, CountTokens, Document, HeadingAt, Problem, Scheme,
};

/// The dialect: CommonMark with tables, footnotes, strikethrough, task lists and `[[wikilinks]]`.
/// Metadata blocks are off, because our own scanner finds the frontmatter. Maths is off, because
/// two prices in one sentence would become a formula.
fn dialect() -> pulldown_cmark::Options {
    use pulldown_cmark::Options;
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS
}
