//! Parses notes, cuts them into chunks, and defines citations. Pure: the code uses no disk, clock
//! or network.
//!
//! | module | contents |
//! | --- | --- |
//! | [`types`] | identities and spans: private fields, one constructor each |
//! | [`error`] | the table of stable codes, and `Failure` |
//! | [`language`] | knowledge about human languages: word lists, stems, words, sentences |
//! | [`markdown`] | text → frontmatter, blocks, sections, links, chunks, sentences |
//! | [`documents`] | text, Org files and source code, chunked like markdown |
//! | [`evidence`] | evidence snapshots, labels, the canonical citation form |

pub mod documents;
pub mod error;
pub mod evidence;
pub mod language;
pub mod markdown;
pub mod shell;
pub mod types;
