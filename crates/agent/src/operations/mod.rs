//! The operations behind the commands, below argument parsing and above printing.
//!
//! This module exists because the command line and MCP lead to the same operations. Searching,
//! asking, reading, judging, reporting status, and the jobs are implemented here once; `cli/` and
//! `mcp/` parse arguments and show results, each in its own way. Nothing here prints.
//!
//! | file | contents |
//! | --- | --- |
//! | `setting` | what every operation starts from: sandbox, model files, chunking, clock |
//! | `library` | index, projections and model, opened per command or kept open for a server |
//! | `model_choice` | `embed.model: auto`: which model, and why |
//! | `scope` | where to look |
//! | `search`, `ask`, `documents`, `notes`, `verify`, `status` | one operation each |
//! | `query_lines`, `corrections` | how a query is read, and what its unknown words may mean |
//! | `recency` | the day of a note, and ranking by it |
//! | `conflicts` | notes that give different values for the same thing |
//! | `address` | a name for a note → a file and a position in it |
//! | `privacy` | who may see private notes |
//! | `memories` | what is remembered, for those who may not see everything |
//! | `freshness` | do index and projections match the files? |
//! | `standing` | are the folders of a confined process still the same? |
//! | `run_log` | how `ask` records its run |
//! | `jobs` | `index` and `embed` |

pub mod address;
pub mod ask;
pub mod conflicts;
pub mod corrections;
pub mod documents;
pub mod freshness;
pub mod jobs;
pub mod library;
pub mod memories;
pub mod model_choice;
pub mod notes;
pub mod privacy;
pub mod query_lines;
pub mod recency;
pub mod run_log;
pub mod scope;
pub mod search;
mod setting;
pub mod standing;
pub mod status;
pub mod verify;

pub use jobs::{EmbedRun, EmbeddingModel, IndexRun};
pub use library::Library;
pub use run_log::place;
pub use scope::Limits;
pub use setting::{
    Cutting, RootFields, embedding_files, file_stamp, holder, model_files, now, reranker_files,
    roots, sandbox,
};
