//! Evidence snapshots, labels, the canonical citation form, drafts. Plain data.
//!
//! The evidence for an answer is frozen here, once, before anything is written: every later check
//! compares with these bytes and never with the current content of the files. The module is pure:
//! no clock, network, model, disk.
//!
//! | file | contents |
//! | --- | --- |
//! | `snapshot` | [`EvidenceSnapshot`]: the items of one question, numbered and hashed |
//! | `freshness` | [`FreshnessReport`]: the state of each item on the disk afterwards |
//! | `citation` | `[source: path#heading \| key]`: written, read back, compared |
//! | `fold` | what a disguised text looks like to a reader |
//! | `markers` | every citation, and everything that looks like one, in a text |
//! | `normal` | the one normalisation under which a quote is verbatim |
//! | `draft` | an answer as segments: text, quote, citation |
//! | `canonical` | JSON with one spelling, for hashes |

mod canonical;
mod citation;
mod draft;
mod fold;
mod freshness;
mod markers;
mod normal;
mod snapshot;

pub use canonical::canonical_json;
pub use citation::{HeadingMatch, HeadingVerdict, RawCitation, citation_of, compare_headings};
pub use draft::{Draft, Piece, Rendered, Segment, SegmentProblem, UnresolvedProblem};
pub use fold::{is_ignorable, skeleton};
pub use freshness::{Freshness, FreshnessReport};
pub use markers::{Marker, MarkerKind, scan_markers};
pub use normal::{Normal, whole_words};
pub use snapshot::{EvidenceItem, EvidenceSnapshot, Excerpt};

#[cfg(test)]
mod fixture;
