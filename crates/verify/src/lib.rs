//! Verifies an answer: (draft, snapshot, freshness) → report. The functions are pure: the same
//! input gives the same output on every machine.
//!
//! Each layer has its own file. A claim is accepted if no layer objects. A claim that cannot be
//! checked is rejected.
//!
//! | layer | question | file |
//! | --- | --- | --- |
//! | L0 grammar | is everything that looks like a citation one? | `answer`, `context`, `identity` (scanning: [`local_agent_text::evidence`]) |
//! | L1 identity | does it mean one item of the snapshot, still on disk? | `identity` |
//! | L2 coverage | is every claim cited, and what is said to be missing not there? | `coverage`, `phrases`, `denied` |
//! | L3 quotes | are the quoted words there? | `quotes` |
//! | L4 atoms | are its numbers, dates, names and code there, about the same thing? | `atoms`; the files of `checks` that begin with "L4" |
//! | L5 polarity | is it negated, directed, ordered, bounded, decided and reasoned alike? | the files of `checks` that begin with "L5"; words in `data/` |
//! | L6 support | are enough of its words there? | `support`, the files of `checks` that begin with "L6", weights in `data/support.txt` |
//! | L7 laundering | was the citation made by this program? | `identity` (planted citations), `laundering` (notes that give orders) |
//! | L8 verdict | `verified`, `derived`, `checked`, `doubtful` or `rejected` | `judge`; the whole answer: `tally` |
//!
//! Which findings of L4–L6 may reject, and which only raise a doubt, is decided in one place:
//! `checks::rejection`.
//!
//! `verified` is given only to whole sentences of the cited evidence, word for word. Everything
//! else without objections is `checked`: nothing was found against it, which does not prove it.
#![doc = ""]
#![doc = include_str!("../README.md")]

const PHRASE_LISTS: &str = include_str!("data/phrases.txt");

/// A list of `data/phrases.txt`: its phrases as `&'static [&'static str; N]`.
macro_rules! list {
    ($name:expr) => {{
        use local_agent_text::language::lists;
        const LIST: &str = lists::list($crate::PHRASE_LISTS, $name);
        const PHRASES: [&str; lists::count(LIST)] = lists::split(LIST);
        &PHRASES
    }};
}

mod answer;
mod atoms;
mod checks;
mod codes;
mod context;
mod coverage;
mod denied;
mod derivation;
mod evidence_statements;
mod examine;
mod file_citations;
mod finding;
mod hidden_markup;
mod identity;
mod introduced;
mod judge;
mod laundering;
mod opinion;
mod phrases;
mod quotes;
mod reading;
mod report;
mod source_text;
mod stated_values;
mod statements;
mod stem;
mod support;
mod tables;
mod tally;
mod terms;
mod text;

#[cfg(test)]
mod attacks;
#[cfg(test)]
mod content_attacks;

pub use atoms::{UnitKind, unit};
pub use codes::Code;
pub use derivation::{Derivation, Operation};
pub use file_citations::{CitedPart, FileCitation, FileCitations, FileTarget, file_citations};
pub use finding::{Detail, Effect, Finding, Place};
pub use opinion::{Opinion, differs_only_in_negation};
pub use phrases::says_nothing_new;
pub use report::{
    CitationReport, Claim, Counts, MismatchRecord, Outcome, ParsedCitation, REPORT_VERSION, Report,
    Verdict,
};
pub use stated_values::{PassagePlace, StatedValue, stated_values};
pub use support::{ClaimSupport, claim_support};

use std::collections::BTreeMap;

use local_agent_text::evidence::HeadingMatch;
use local_agent_text::evidence::{Draft, EvidenceSnapshot, FreshnessReport};
use local_agent_text::types::Label;

/// What an answer is checked against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every claim against the items that it cites.
    Cited,
    /// Every claim against the whole snapshot, cited or not: the answer states that it is about one
    /// file.
    File,
}

/// How strictly things are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyOptions {
    /// How closely a cited heading path must match the frozen one.
    pub heading_match: HeadingMatch,
    /// Whether closing punctuation of headings is ignored.
    pub normalize_heading: bool,
    /// What claims are checked against.
    pub scope: Scope,
}

impl Default for VerifyOptions {
    /// Leading headings are enough, closing punctuation is ignored, and every claim is checked
    /// against what it cites.
    fn default() -> Self {
        Self {
            heading_match: HeadingMatch::Prefix,
            normalize_heading: true,
            scope: Scope::Cited,
        }
    }
}

/// Verifies an answer. Never fails and never panics; the spans of the report refer to the rendered
/// answer ([`Draft::lay_out`]).
pub fn verify(
    answer: &Draft,
    snapshot: &EvidenceSnapshot,
    freshness: &FreshnessReport,
    options: &VerifyOptions,
) -> Report {
    judge::judge(answer, snapshot, freshness, options, &TableHeads::new())
}

/// For items that begin inside a table: the header of the table and the line below it, with their line
/// ends.
pub type TableHeads = BTreeMap<Label, String>;

/// The same as [`verify`]; items that begin inside a table are read with its header, which says what
/// their cells are. The header is no part of what is cited: no finding points at it.
pub fn verify_with_table_heads(
    answer: &Draft,
    snapshot: &EvidenceSnapshot,
    freshness: &FreshnessReport,
    options: &VerifyOptions,
    heads: &TableHeads,
) -> Report {
    judge::judge(answer, snapshot, freshness, options, heads)
}

/// Verifies a finished text from elsewhere; the spans of the report refer to it.
pub fn verify_text(
    answer: &str,
    snapshot: &EvidenceSnapshot,
    freshness: &FreshnessReport,
    options: &VerifyOptions,
) -> Report {
    verify(&Draft::verbatim(answer), snapshot, freshness, options)
}
