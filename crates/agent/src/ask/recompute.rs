//! Lets the verifier compute a value again.
//!
//! The extraction computes a value from the rows that it shows. The verifier then gets the value as a
//! claim that cites these rows, such as "12.50 + 30 = 42.50 €", and finds the computation itself, by
//! the rules for a model's answer.

use std::collections::BTreeSet;

use super::extractive::{Computed, Operation};
use local_agent_text::evidence::{Draft, EvidenceSnapshot, FreshnessReport, Segment};
use local_agent_verify::{self as verify, Derivation, Verdict, VerifyOptions};

/// A computed value, and the verifier's own computation of it.
#[derive(Debug, Clone, PartialEq, Eq, schemars::JsonSchema, serde::Serialize)]
pub struct RecomputedValue {
    /// The value as the extraction computed it.
    #[serde(flatten)]
    pub computed: Computed,
    /// The computation that the verifier found in the cited rows; null if it computes no such value:
    /// a count, an average, an extreme, an age, or the days until a date.
    pub derivation: Option<Derivation>,
}

impl RecomputedValue {
    /// Lets the verifier compute `computed` from what `draft` cites.
    pub(super) fn of(
        computed: Computed,
        draft: &Draft,
        snapshot: &EvidenceSnapshot,
        freshness: &FreshnessReport,
        options: &VerifyOptions,
    ) -> Self {
        let claim = claim_of(&computed).map(|text| with_citations(text, draft));
        let report = claim.map(|claim| verify::verify(&claim, snapshot, freshness, options));
        let claims = report.into_iter().flat_map(|report| report.claims);
        let mut derivations = claims
            .filter(|claim| claim.verdict == Verdict::Derived)
            .filter_map(|claim| claim.derivation);
        Self {
            // One of an operand proves nothing of the result.
            derivation: derivations.find(|derivation| derivation.result == computed.value),
            computed,
        }
    }
}

/// The sentence that says the value and how it was computed.
fn claim_of(computed: &Computed) -> Option<String> {
    let Computed {
        value, arithmetic, ..
    } = computed;
    match computed.operation {
        Operation::Sum | Operation::Difference => Some(format!("{arithmetic} = {value}")),
        Operation::Days => Some(format!("{arithmetic}: {value}")),
        // An age ends today, which no row says.
        Operation::Years
        | Operation::Count
        | Operation::Average
        | Operation::Minimum
        | Operation::Maximum
        | Operation::YesOrNo => None,
    }
}

/// A draft of one sentence with every citation of another draft.
fn with_citations(text: String, draft: &Draft) -> Draft {
    let segments = draft.segments().iter();
    let labels: BTreeSet<_> = segments
        .filter_map(|segment| match segment {
            Segment::Cite(label) => Some(*label),
            _ => None,
        })
        .collect();
    let mut claim = Draft::default();
    claim.push(Segment::Text(text));
    for label in labels {
        claim.push(Segment::Text(" ".to_owned()));
        claim.push(Segment::Cite(label));
    }
    claim.push(Segment::Text(".".to_owned()));
    claim
}
