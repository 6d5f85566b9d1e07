//! The state of each evidence item on disk after the snapshot was frozen.
//!
//! Other code compares the files (retrieval, through the sandbox); this module only stores the
//! results, so that verification stays a pure function.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::types::{ByteSpan, Label, LineSpan};

/// How one item compares with the file from which it was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Freshness {
    /// The file has the same bytes in the same place.
    Fresh,
    /// The file has the same bytes exactly once, elsewhere.
    Moved {
        /// Their current position.
        span: ByteSpan,
        /// Their current lines.
        lines: LineSpan,
    },
    /// The file no longer contains these bytes.
    Stale,
    /// The file no longer exists.
    Gone,
    /// The item was not compared.
    Unknown,
}

/// The freshness of the items of one snapshot; an item that is not listed is
/// [`Freshness::Unknown`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct FreshnessReport(BTreeMap<Label, Freshness>);

impl FreshnessReport {
    /// The freshness of one item.
    pub fn of(&self, label: Label) -> Freshness {
        self.0.get(&label).copied().unwrap_or(Freshness::Unknown)
    }

    /// Records the freshness of one item, replacing an earlier record.
    pub fn set(&mut self, label: Label, freshness: Freshness) {
        self.0.insert(label, freshness);
    }

    /// All records, in label order.
    pub fn iter(&self) -> impl Iterator<Item = (Label, Freshness)> + '_ {
        self.0.iter().map(|(label, freshness)| (*label, *freshness))
    }
}

impl FromIterator<(Label, Freshness)> for FreshnessReport {
    fn from_iter<I: IntoIterator<Item = (Label, Freshness)>>(notes: I) -> Self {
        Self(notes.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looked_at_is_unknown_and_notes_round_trip() {
        let moved = Freshness::Moved {
            span: ByteSpan::new(3, 9).unwrap(),
            lines: LineSpan::new(2, 2).unwrap(),
        };
        let report: FreshnessReport = [
            (Label::new(1).unwrap(), Freshness::Stale),
            (Label::new(2).unwrap(), moved),
        ]
        .into_iter()
        .collect();
        assert_eq!(report.of(Label::new(3).unwrap()), Freshness::Unknown);
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(
            json,
            r#"{"E1":{"state":"stale"},"E2":{"state":"moved","span":{"start":3,"end":9},"lines":"2"}}"#
        );
        assert_eq!(
            serde_json::from_str::<FreshnessReport>(&json).unwrap(),
            report
        );
    }
}
