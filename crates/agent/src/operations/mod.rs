//! The operations behind the commands, below argument parsing and above printing.
//!
//! The command line and MCP share these operations: searching, asking, reading, verifying,
//! reporting status, and the jobs. `cli/` and `mcp/` parse arguments and show results, each in its
//! own way. Nothing here prints.
//!
//! | file | contents |
//! | --- | --- |
//! | `setting` | the common setup of all operations: sandbox, model files, chunking, clock |
//! | `library` | index, projections and model, opened per command or kept open for a server |
//! | `model_choice` | chooses the model for `embed.model: auto` |
//! | `scope` | the documents to search |
//! | `search`, `ask`, `documents`, `notes`, `verify`, `status` | one operation each |
//! | `query_lines`, `corrections` | parse a query, and correct its unknown words |
//! | `remarks` | says which parts of a query were read as words |
//! | `recency` | the day of a note, and ranking by it |
//! | `conflicts` | notes that give different values for the same thing |
//! | `address` | a name for a note → a file and a position in it |
//! | `anchors` | the sections and blocks of a note by the names that links use |
//! | `privacy` | who may see private notes |
//! | `memories` | memories for clients that may not see private notes |
//! | `freshness` | checks whether index and projections match the files |
//! | `standing` | checks whether the folders of a confined process are still the same |
//! | `run_log` | records the runs of `ask` |
//! | `jobs` | `index` and `embed` |

pub mod address;
mod anchors;
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
mod remarks;
pub mod root_identity;
pub mod run_log;
pub mod scope;
pub mod search;
mod setup;
pub mod status;
pub mod verify;
mod weak_hits;

pub use jobs::{EmbedRun, EmbeddingModel, IndexRun};
pub use library::Library;
pub use run_log::place;
pub use scope::Limits;
pub use setup::{
    Cutting, RootFields, embedding_files, file_stamp, fill_folder, holder, is_chosen, model_files,
    now, reranker_files, roots, sandbox,
};
