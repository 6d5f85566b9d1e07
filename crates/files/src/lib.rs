//! The two doors to the disk.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`sandbox`] | the only code that opens what users' roots hold |
//! | [`state`] | the folders of the program's own files, opened by handle and never through a link |

pub mod sandbox;
pub mod state;
