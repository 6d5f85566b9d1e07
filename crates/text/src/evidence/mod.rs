//! Evidence snapshots, labels, the canonical citation form, drafts: plain data.
//!
//! The evidence for an answer is frozen once, before the answer is written. Every later check
//! compares with these bytes and never with the current content of the files. The module is pure:
//! it uses no clock, network, model or disk.
//!
//! | file | contents |
//! | --- | --- |
//! | `snapshot` | [`EvidenceSnapshot`]: the items of one question, numbered and hashed |
//! | `freshness` | [`FreshnessReport`]: the state of each item on the disk afterwards |
//! | `citation` | writes, parses and compares `[source: path#heading \| key]` |
//! | `fold` | converts a disguised text to the form that a reader sees |
//! | `markers` | finds every citation in a text, and everything that looks like one |
//! | `normal` | the normalisation under which a quote is verbatim |
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
