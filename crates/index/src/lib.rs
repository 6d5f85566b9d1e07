//! What is known about the notes, and how to find it.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`store`] | SQLite: index, embeddings, what is durable; locks |
//! | [`lexical`] | the tantivy projection |
//! | [`vectors`] | the matrix projection |
//! | [`profile`] | what the cosines of a model mean |
//! | [`indexing`] | the `index` and `embed` jobs |
//! | [`retrieval`] | filters, fusion, calibration, packing → evidence snapshot |

pub mod indexing;
pub mod lexical;
pub mod profile;
pub mod retrieval;
pub mod store;
pub mod vectors;
