//! The index of the notes, and the search in it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`ids`] | row ids, one type for each table |
//! | [`store`] | SQLite: index, embeddings, durable data; locks |
//! | [`lexical`] | the tantivy projection |
//! | `search_load` | how many threads one search may use |
//! | [`vectors`] | the matrix projection |
//! | [`profile`] | how the cosines of a model are interpreted |
//! | [`indexing`] | the `index` and `embed` jobs |
//! | [`retrieval`] | filters, fusion, calibration, packing → evidence snapshot |

pub mod ids;
pub mod indexing;
pub mod lexical;
pub mod profile;
pub mod retrieval;
mod search_load;
pub mod store;
pub mod vectors;
