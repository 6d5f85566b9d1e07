//! What a note is, how it is cut, and what a citation means. Pure: nothing here uses a disk, a
//! clock or a network.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`types`] | identities and spans: private fields, one constructor each |
//! | [`error`] | the table of stable codes, and `Failure` |
//! | [`language`] | what is known of human languages: word lists, stems, words, sentences |
//! | [`markdown`] | text → frontmatter, blocks, sections, links, chunks, sentences |
//! | [`documents`] | text, Org files and source code, cut as markdown is |
//! | [`evidence`] | evidence snapshots, labels, the canonical citation form |

pub mod documents;
pub mod error;
pub mod evidence;
pub mod language;
pub mod markdown;
pub mod types;
