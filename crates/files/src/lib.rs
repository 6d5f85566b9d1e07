//! All access to the file system.
//!
//! | module | contents |
//! | --- | --- |
//! | [`sandbox`] | the only code that opens files below users' roots |
//! | [`state`] | the folders of the program's own files, opened by handle and never through a link |

pub mod sandbox;
pub mod state;
