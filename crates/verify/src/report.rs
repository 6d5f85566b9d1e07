//! The report of a verification, for people and for programs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finding::Place;
use super::{Code, Derivation, Finding};
use local_agent_text::evidence::HeadingMatch;
use local_agent_text::evidence::{Freshness, canonical_json};
use local_agent_text::types::{ByteSpan, ChunkKey, Label, Sha256};

/// The overall result for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// No claim is rejected; some may be doubtful.
    Passed,
    /// The answer says that it cannot answer, and makes no claim.
    Abstained,
    /// At least one claim is rejected, or nothing is cited.
    Rejected,
}

/// The version of the report's fields and of the rules behind it: a report with another version for
/// the same draft may differ. Version 1 had no such field and three verdicts.
pub const REPORT_VERSION: u32 = 2;

/// The result for one claim. Only `Rejected` keeps a claim from being shown. Never present
/// `Checked` as true: it only means that nothing was found against the claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The claim consists of one or more whole sentences of the cited evidence, word for word.
    Verified,
    /// Properly cited; quotes, numbers, names and negations match the cited text. The wording is
    /// the answerer's own, and it is not proved that it follows.
    Checked,
    /// Properly cited, and its number was computed from numbers in the cited text: see
    /// [`Claim::derivation`]. The words around the number were checked, not proved.
    Derived,
    /// Some finding speaks against the claim, but none disproves it: see its doubts. It may be
    /// shown, marked, next to the sentence that raises the doubt; a strict caller withholds it.
    Doubtful,
    /// Disproved, or not properly cited: see its codes.
    Rejected,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 5] = [
        Self::Verified,
        Self::Derived,
        Self::Checked,
        Self::Doubtful,
        Self::Rejected,
    ];

    /// Its name, as in JSON: `verified`, `derived`, `checked`, `doubtful`, `rejected`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Checked => "checked",
            Self::Derived => "derived",
            Self::Doubtful => "doubtful",
            Self::Rejected => "rejected",
        }
    }
}

/// One citation of a claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CitationReport {
    /// Its bytes in the answer.
    pub span: ByteSpan,
    /// The item it refers to, if any.
    pub label: Option<Label>,
    /// The key it carries or resolves to.
    pub chunk_key: Option<ChunkKey>,
    /// The freshness of the item's file.
    pub freshness: Option<Freshness>,
    /// What is wrong with it, remarks included.
    pub codes: Vec<Code>,
}

/// One claim of the answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Claim {
    /// The claim as written, without its citations.
    pub text: String,
    /// Its bytes in the answer, citations included.
    pub span: ByteSpan,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why it was rejected; sorted, each once.
    pub codes: Vec<Code>,
    /// Why it is doubted; sorted, each once. A rejected claim may have doubts too.
    pub doubts: Vec<Code>,
    /// Information for the reader that rejects nothing; sorted, each once.
    pub remarks: Vec<Code>,
    /// Its citations, including those taken over from a neighbour.
    pub citations: Vec<CitationReport>,
    /// Everything found, in order: rejections, doubts and remarks.
    pub findings: Vec<Finding>,
    /// For a derived claim: what was computed.
    pub derivation: Option<Derivation>,
    /// Where it is supported.
    pub evidence: Option<Place>,
    /// The findings as one or more sentences for people.
    pub why: String,
}

/// A citation that was parsed, named as in the Python version's report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ParsedCitation {
    /// The cited chunk.
    pub chunk_key: ChunkKey,
    /// The cited file.
    pub rel_path: String,
    /// The cited headings, canonical; empty at the root.
    pub heading_path: String,
}

/// A citation whose path or heading differs from that of the item its key names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MismatchRecord {
    /// The cited chunk.
    pub chunk_key: ChunkKey,
    /// The path in the snapshot.
    pub expected_rel_path: String,
    /// The path in the citation.
    pub got_rel_path: String,
    /// The heading in the snapshot.
    pub expected_heading_path: String,
    /// The heading in the citation.
    pub got_heading_path: String,
    /// `rel_path`, `heading` or `both`.
    pub mismatch_kind: &'static str,
    /// Whether the heading mismatch rejects the citation.
    pub heading_invalid: bool,
    /// `prefix`, `punctuation`, `other`, `ignored`; empty when the headings agree.
    pub heading_mismatch_reason: &'static str,
}

/// The four numbers of the footer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Citations whose file is gone, and markers that could not be parsed.
    pub missing: usize,
    /// Citations with a different path or heading than their key, including ignored headings.
    pub path_mismatches: usize,
    /// Citations whose file no longer contains the frozen text.
    pub sha_mismatches: usize,
    /// Citations of something outside the snapshot.
    pub not_in_snapshot: usize,
}

impl Counts {
    /// The counts of a report that was read as JSON; `None` if it has none.
    pub fn of_report(report: &Value) -> Option<Self> {
        Self::deserialize(report.get("counts")?).ok()
    }

    /// What is wrong with the citations, for people: only what was found.
    pub fn in_words(&self) -> Option<String> {
        let kinds = [
            (self.missing, "gone or unreadable"),
            (self.path_mismatches, "with another path or heading"),
            (self.sha_mismatches, "of text that changed"),
            (self.not_in_snapshot, "of something outside the evidence"),
        ];
        let found = kinds.into_iter().filter(|(n, _)| *n > 0);
        let found: Vec<String> = found.map(|(n, what)| format!("{n} {what}")).collect();
        (!found.is_empty()).then(|| format!("citations: {}", found.join(", ")))
    }
}

/// Everything that verification found. The same answer, snapshot, freshness and options give the
/// same report, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Report {
    /// [`REPORT_VERSION`].
    pub version: u32,
    /// Whether the answer may be shown: it passed, or it is an honest abstention.
    pub ok: bool,
    /// The same as `ok`, under the Python version's name.
    pub valid: bool,
    /// The overall result.
    pub outcome: Outcome,
    /// Every code that rejects something, sorted, each once.
    pub codes: Vec<Code>,
    /// Every code that raises a doubt, sorted, each once.
    pub doubts: Vec<Code>,
    /// The claims, in the order of the answer.
    pub claims: Vec<Claim>,
    /// The snapshot that the answer was compared with.
    pub snapshot_id: Sha256,
    /// SHA-256 of the answer's text; the claims' spans refer to it.
    pub answer_sha256: Sha256,
    /// `exact`, `prefix` or `ignore`.
    pub heading_match_strategy: &'static str,
    /// Whether closing punctuation of headings was ignored.
    pub normalize_heading: bool,
    /// The citations that were parsed, in the order of the answer.
    pub parsed_citations: Vec<ParsedCitation>,
    /// Their number.
    pub parsed_citations_count: usize,
    /// Everything that is or looks like a citation.
    pub citation_markers_found: usize,
    /// Those that could not be parsed.
    pub unparseable_citations_count: usize,
    /// Whether there are markers and none of them could be parsed.
    pub all_citations_unparseable: bool,
    /// Keys of cited items whose file is gone.
    pub missing_chunk_keys: Vec<ChunkKey>,
    /// Citations with a different path or heading than their key.
    pub path_mismatches: Vec<MismatchRecord>,
    /// Keys of cited items whose file no longer contains the frozen text.
    pub mismatched_sha: Vec<ChunkKey>,
    /// Keys that are not in the snapshot.
    pub not_in_snapshot_chunk_keys: Vec<ChunkKey>,
    /// Keys of cited items that were not compared with the disk.
    pub sha_unchecked_chunk_keys: Vec<ChunkKey>,
    /// The four numbers of the footer.
    pub counts: Counts,
    /// SHA-256 of this report as sorted-key JSON without this field.
    pub sha256: Sha256,
}

impl Report {
    /// Computes and sets `sha256`.
    pub(super) fn seal(mut self) -> Self {
        let mut value = serde_json::to_value(&self).unwrap_or(Value::Null);
        if let Some(fields) = value.as_object_mut() {
            fields.remove("sha256");
        }
        self.sha256 = Sha256::of(canonical_json(&value).as_bytes());
        self
    }

    /// Whether the answer may be shown when doubts count as rejections.
    pub fn ok_without_doubts(&self) -> bool {
        self.ok && self.doubts.is_empty()
    }

    /// Makes every span refer to `answer` instead of the rendered text: `place` maps a span to its
    /// position there; spans that it does not map stay. The report is sealed again.
    pub fn relocate(&mut self, answer: &str, place: impl Fn(ByteSpan) -> Option<ByteSpan>) {
        for claim in &mut self.claims {
            claim.span = place(claim.span).unwrap_or(claim.span);
            for finding in &mut claim.findings {
                finding.span = finding.span.map(|span| place(span).unwrap_or(span));
            }
            for citation in &mut claim.citations {
                citation.span = place(citation.span).unwrap_or(citation.span);
            }
        }
        self.answer_sha256 = Sha256::of(answer.as_bytes());
        *self = self.clone().seal();
    }

    /// The line that ends an answer: `(missing=A, path_mismatches=B, sha_mismatches=C,
    /// not_in_snapshot=D)`.
    pub fn footer(&self) -> String {
        let Counts {
            missing,
            path_mismatches,
            sha_mismatches,
            not_in_snapshot,
        } = self.counts;
        format!(
            "(missing={missing}, path_mismatches={path_mismatches}, sha_mismatches={sha_mismatches}, \
             not_in_snapshot={not_in_snapshot})"
        )
    }
}

/// The name of a strategy in configuration and reports.
pub(super) const fn strategy_name(strategy: HeadingMatch) -> &'static str {
    match strategy {
        HeadingMatch::Exact => "exact",
        HeadingMatch::Prefix => "prefix",
        HeadingMatch::Ignore => "ignore",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_told_what_was_found_and_no_zero() {
        assert_eq!(Counts::default().in_words(), None);
        let counts = Counts {
            missing: 1,
            sha_mismatches: 2,
            ..Counts::default()
        };
        assert_eq!(
            counts.in_words().unwrap(),
            "citations: 1 gone or unreadable, 2 of text that changed"
        );
        let report = serde_json::json!({ "counts": counts });
        assert_eq!(Counts::of_report(&report), Some(counts));
        assert_eq!(Counts::of_report(&Value::Null), None);
    }
}
