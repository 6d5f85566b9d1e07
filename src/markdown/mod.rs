//! Bytes → frontmatter, blocks, sections, links, chunks. Pure; never fails.

mod comments;
mod plain;
pub mod sentences;
mod stops;

pub use plain::plain;
pub use sentences::{BlockRole, Sentence, sentences};

/// The dialect: CommonMark with tables, footnotes, strikethrough, task lists and `[[wikilinks]]`. No metadata blocks
/// (our own scanner finds the frontmatter) and no maths (two prices in one sentence would become a formula).
fn dialect() -> pulldown_cmark::Options {
    use pulldown_cmark::Options;
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS
}
