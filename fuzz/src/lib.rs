//! The fuzz targets. Each takes any bytes and panics when a guarantee of the program is violated.
//!
//! | target | input |
//! | --- | --- |
//! | `citations` | citations, and text that looks like one, in any text |
//! | `frontmatter` | the frontmatter of a note |
//! | `ledger` | lines of the ledger of runs, and a record of a run |
//! | `manifest` | the lists that name the files of both projections |
//! | `markdown` | a whole note: chunks, headings, links, sentences |
//! | `mcp` | arguments of an agent's call, or a line that is not a call |
//! | `query` | the query language |
//! | `verify` | an answer and the evidence it is checked against |

mod projections;
#[cfg(feature = "agent")]
mod records;
#[cfg(feature = "agent")]
mod server;
mod text;

pub use projections::manifest;
#[cfg(feature = "agent")]
pub use records::ledger;
#[cfg(feature = "agent")]
pub use server::mcp;
pub use text::{citations, frontmatter, markdown, query, verify};
