//! Turns claims into a report: the outcome of the whole answer, and the counts for the footer.

use std::collections::BTreeSet;

use super::answer::MarkKind;
use super::coverage::Kind;
use super::identity::Resolved;
use super::judge::Court;
use super::report::{
    Claim, Counts, Outcome, ParsedCitation, REPORT_VERSION, Report, strategy_name,
};
use super::{Code, Scope};
use local_agent_text::evidence::{Freshness, MarkerKind};
use local_agent_text::types::{ChunkKey, Label, Sha256};

impl Court<'_> {
    /// The report: the verdict on the whole answer, and everything that is counted.
    pub(super) fn report(&self, mut claims: Vec<Claim>) -> Report {
        let refuses = self
            .covered
            .iter()
            .any(|c| matches!(c.kind, Kind::Refusal { .. }));
        let citing = self
            .answer
            .marks
            .iter()
            .any(|m| m.is_citation() && m.hidden.is_none());
        // Without any citation, what is not rejected is a refusal that is doubtful.
        let only_refuses = refuses && !citing && claims.iter().all(|c| c.codes.is_empty());
        let mut codes: BTreeSet<Code> = BTreeSet::new();
        if self.options.scope == Scope::Cited && !citing {
            if refuses && !only_refuses {
                codes.insert(Code::AbstainWithClaims);
                claims
                    .iter_mut()
                    .filter(|c| c.codes.contains(&Code::Uncited))
                    .for_each(|c| {
                        c.codes.push(Code::AbstainWithClaims);
                        c.codes.sort_unstable();
                        c.codes.dedup();
                    });
            }
            if !only_refuses {
                codes.insert(Code::NoCitations);
            }
        }
        codes.extend(claims.iter().flat_map(|c| c.codes.iter().copied()));
        let rejected = !codes.is_empty();
        let abstained = !rejected && refuses && (claims.is_empty() || only_refuses);
        let empty = claims.is_empty() && !abstained && self.options.scope == Scope::Cited;
        if empty {
            codes.insert(Code::NoCitations);
        }
        let outcome = match (rejected || empty, abstained) {
            (true, _) => Outcome::Rejected,
            (false, true) => Outcome::Abstained,
            (false, false) => Outcome::Passed,
        };
        let doubts: BTreeSet<Code> = claims.iter().flat_map(|c| c.doubts.clone()).collect();
        let mut report = self.tally();
        report.doubts = doubts.into_iter().collect();
        report.ok = outcome != Outcome::Rejected;
        report.valid = report.ok;
        report.outcome = outcome;
        report.codes = codes.into_iter().collect();
        report.claims = claims;
        report.seal()
    }

    /// The citations with a problem that is not excused.
    fn with_problem(&self, code: Code) -> impl Iterator<Item = &Resolved> {
        let resolved = self.resolved.iter().enumerate();
        resolved
            .filter(move |(i, r)| {
                !self.excused.contains(i) && r.problems.iter().any(|(c, _)| *c == code)
            })
            .map(|(_, r)| r)
    }

    fn keys_with(&self, code: Code) -> Vec<ChunkKey> {
        let resolved = self.with_problem(code);
        let keys: BTreeSet<_> = resolved.flat_map(|r| self.keys(r)).collect();
        keys.into_iter().collect()
    }

    /// The report's lists and counts; verdicts are filled in later.
    fn tally(&self) -> Report {
        let parsed: Vec<ParsedCitation> = self.parsed();
        let marks = self.answer.marks.iter().enumerate();
        let markers = marks.filter(|(i, _)| !self.excused.contains(i));
        let unreadable = markers.clone().filter(|(_, m)| !m.is_citation()).count();
        let found = markers.count();
        let cited: BTreeSet<Label> = self
            .resolved
            .iter()
            .flat_map(|r| r.labels.iter().copied())
            .collect();
        let unchecked = cited
            .iter()
            .filter(|l| self.freshness.of(**l) == Freshness::Unknown);
        let path_mismatches: Vec<_> = self
            .resolved
            .iter()
            .filter_map(|r| r.mismatch.clone())
            .collect();
        Report {
            version: REPORT_VERSION,
            ok: false,
            valid: false,
            outcome: Outcome::Rejected,
            codes: Vec::new(),
            doubts: Vec::new(),
            claims: Vec::new(),
            snapshot_id: self.snapshot.id(),
            answer_sha256: Sha256::of(self.answer.text.as_bytes()),
            heading_match_strategy: strategy_name(self.options.heading_match),
            normalize_heading: self.options.normalize_heading,
            parsed_citations_count: parsed.len(),
            parsed_citations: parsed,
            citation_markers_found: found,
            unparseable_citations_count: unreadable,
            all_citations_unparseable: found > 0 && unreadable == found,
            missing_chunk_keys: self.keys_with(Code::Gone),
            mismatched_sha: self.keys_with(Code::Stale),
            not_in_snapshot_chunk_keys: self
                .resolved
                .iter()
                .filter_map(|r| r.unknown_key)
                .collect(),
            sha_unchecked_chunk_keys: unchecked
                .filter_map(|l| self.snapshot.item(*l))
                .map(|i| i.chunk_key)
                .collect(),
            counts: Counts {
                missing: self.with_problem(Code::Gone).count() + unreadable,
                path_mismatches: path_mismatches.len(),
                sha_mismatches: self.with_problem(Code::Stale).count(),
                not_in_snapshot: self.with_problem(Code::NotInSnapshot).count(),
            },
            path_mismatches,
            sha256: Sha256::of(b""),
        }
    }

    fn keys(&self, resolved: &Resolved) -> Vec<ChunkKey> {
        resolved
            .labels
            .iter()
            .filter_map(|l| self.snapshot.item(*l))
            .map(|item| item.chunk_key)
            .collect()
    }

    fn parsed(&self) -> Vec<ParsedCitation> {
        let mut out = Vec::new();
        for (mark, resolved) in self.answer.marks.iter().zip(&self.resolved) {
            if let MarkKind::Written(MarkerKind::Source(raw)) = &mark.kind {
                out.push(ParsedCitation {
                    chunk_key: raw.chunk_key,
                    rel_path: raw.path.to_string(),
                    heading_path: raw.heading.to_canonical(),
                });
                continue;
            }
            out.extend(
                resolved
                    .labels
                    .iter()
                    .filter_map(|l| self.snapshot.item(*l))
                    .map(|item| ParsedCitation {
                        chunk_key: item.chunk_key,
                        rel_path: item.path.to_string(),
                        heading_path: item.heading.to_canonical(),
                    }),
            );
        }
        out
    }
}
