//! The fuzz targets. Each takes any bytes and panics when a guarantee of the program is violated.
//!
//! The modules are also part of the test suite, where their functions must not be public, so each
//! target has a function here.

mod projections;
#[cfg(feature = "agent")]
mod records;
#[cfg(feature = "agent")]
mod server;
mod text;

/// The lists that name the files of both projections.
pub fn manifest(data: &[u8]) {
    projections::manifest(data);
}

/// Lines of the ledger of runs, and a record of a run.
#[cfg(feature = "agent")]
pub fn ledger(data: &[u8]) {
    records::ledger(data);
}

/// Arguments of an agent's call, or a line that is not a call.
#[cfg(feature = "agent")]
pub fn mcp(data: &[u8]) {
    server::mcp(data);
}

/// Citations, and text that looks like one, in any text.
pub fn citations(data: &[u8]) {
    text::citations(data);
}

/// The frontmatter of a note.
pub fn frontmatter(data: &[u8]) {
    text::frontmatter(data);
}

/// A whole note: chunks, headings, links, sentences.
pub fn markdown(data: &[u8]) {
    text::markdown(data);
}

/// The query language.
pub fn query(data: &[u8]) {
    text::query(data);
}

/// An answer and the evidence it is checked against.
pub fn verify(data: &[u8]) {
    text::verify(data);
}
