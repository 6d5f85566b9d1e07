//! Finds out whether the passages that a document cites have changed, so that an outdated document
//! fails a check.
//!
//! An earlier passage is known from a lock file of verdicts, or from an earlier version of its
//! file. A passage that only moved is found by its lines and changes nothing. For a changed
//! passage, the claim is verified again at the current location.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Judged;
pub use super::passage::Change;
use super::passage::{CitedPassage, FoundPassage, address};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::{
    Draft, EvidenceItem, EvidenceSnapshot, Excerpt, Freshness, FreshnessReport, Segment,
};
use local_agent_text::types::Label;
use local_agent_verify::{self as verify, Claim, Verdict, VerifyOptions};

/// The version of the lock files that this program writes and reads.
const VERSION: u32 = 1;

/// A lock file: for each document its claims, and what they cite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    documents: BTreeMap<String, Vec<LockedClaim>>,
}

/// A claim at the time the lock was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LockedClaim {
    claim: String,
    verdict: String,
    passages: Vec<CitedPassage>,
}

/// A claim, what happened to the passages it cites, and whether it is still supported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimChange {
    /// The claim, as it is in the document.
    pub claim: String,
    /// The change of its passages; if they differ, the greatest one.
    pub change: Change,
    /// Whether the claim may stay as it is.
    pub holds: bool,
    /// The stable name of the claim's verdict.
    pub verdict: &'static str,
    /// The explanation in one or more sentences.
    pub why: String,
    /// Where the passage is now, `source:path:lines`, if it is not in the cited place.
    pub now_at: Option<String>,
}

impl Default for Lock {
    fn default() -> Self {
        Self {
            version: VERSION,
            documents: BTreeMap::new(),
        }
    }
}

impl Lock {
    /// Parses a lock file.
    ///
    /// Errors: `INVALID_ARGS` when it is not a lock file, or has another version.
    pub fn from_json(text: &str) -> Result<Self> {
        let lock: Self =
            serde_json::from_str(text).map_err(|e| bad_lock(format!("cannot be read: {e}")))?;
        match lock.version {
            VERSION => Ok(lock),
            other => Err(bad_lock(format!("has version {other}, not {VERSION}"))),
        }
    }

    /// The file's text; the same claims give the same bytes.
    ///
    /// Errors: `INTERNAL_ERROR`.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self)
            .map_err(|e| Failure::internal(format!("a lock file is no JSON: {e}")))?;
        Ok(text + "\n")
    }

    /// Replaces the record of one document.
    pub fn update(&mut self, document: &str, judged: &Judged) {
        let claims = judged
            .report
            .claims
            .iter()
            .map(|claim| LockedClaim {
                claim: claim.text.clone(),
                verdict: claim.verdict.as_str().to_owned(),
                passages: cited(claim, &judged.snapshot)
                    .into_iter()
                    .map(CitedPassage::of)
                    .collect(),
            })
            .collect();
        self.documents.insert(document.to_owned(), claims);
    }

    /// Compares the current verdicts for one document with its record.
    ///
    /// Errors: `INTERNAL_ERROR`. A file that can no longer be read counts as an edited passage.
    pub fn changes(
        &self,
        document: &str,
        judged: &Judged,
        sandbox: &Sandbox,
    ) -> Result<Vec<ClaimChange>> {
        let known = self.documents.get(document).map_or(&[][..], Vec::as_slice);
        let find = |claim: &Claim| {
            known
                .iter()
                .find(|locked| locked.claim == claim.text)
                .map(|locked| locked.passages.clone())
        };
        changes(judged, sandbox, find)
    }
}

/// The failure for a lock file that cannot be used.
fn bad_lock(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, format!("The lock file {why}."))
        .with_hint("local-agent verify DOCUMENT --lock FILE --update")
}

/// Compares the claims of a verified document with earlier versions of the files that it cites.
/// `before` returns the earlier version of a file, or `None` if there was none. Claims that cite no
/// changed file are left out.
///
/// Errors: those of `before`; `INTERNAL_ERROR`.
pub fn changes_since(
    judged: &Judged,
    sandbox: &Sandbox,
    before: &mut dyn FnMut(&Address) -> Result<Option<String>>,
) -> Result<Vec<ClaimChange>> {
    let mut known: BTreeMap<Label, Option<CitedPassage>> = BTreeMap::new();
    for item in judged.snapshot.items() {
        let at = address(item);
        let old = before(&at)?;
        let is_same = match (&old, sandbox.read(&at)) {
            (Some(old), Ok(now)) => old.as_bytes() == now.bytes,
            _ => false,
        };
        if !is_same {
            let passage = old.and_then(|old| CitedPassage::in_text(&at, item.lines, &old));
            known.insert(item.label, passage);
        }
    }
    let find = |claim: &Claim| {
        let passages: Vec<&Option<CitedPassage>> = cited(claim, &judged.snapshot)
            .into_iter()
            .filter_map(|item| known.get(&item.label))
            .collect();
        match passages.is_empty() {
            true => None,
            false => Some(passages.into_iter().flatten().cloned().collect()),
        }
    };
    let mut changes = changes(judged, sandbox, find)?;
    changes.retain(|change| change.change != Change::New);
    Ok(changes)
}

/// Compares the claims with earlier passages. `find` returns the earlier passages of a claim;
/// `None`: unknown.
fn changes(
    judged: &Judged,
    sandbox: &Sandbox,
    find: impl Fn(&Claim) -> Option<Vec<CitedPassage>>,
) -> Result<Vec<ClaimChange>> {
    let mut out = Vec::new();
    for claim in &judged.report.claims {
        let change = match find(claim) {
            None => ClaimChange::as_judged(claim, Change::New),
            Some(passages) => compared(claim, &passages, sandbox)?,
        };
        out.push(change);
    }
    Ok(out)
}

fn compared(claim: &Claim, passages: &[CitedPassage], sandbox: &Sandbox) -> Result<ClaimChange> {
    let places: Vec<FoundPassage> = passages.iter().map(|p| p.find(sandbox)).collect();
    let change = places
        .iter()
        .map(|found| found.change)
        .max_by_key(|change| match change {
            Change::Unchanged | Change::New => 0,
            Change::Moved => 1,
            Change::Edited => 2,
        })
        // The earlier version does not have the passage: the file is new, or was shorter.
        .unwrap_or(Change::Edited);
    let as_cited = ClaimChange::as_judged(claim, change);
    if change == Change::Unchanged || as_cited.holds {
        return Ok(as_cited);
    }
    let excerpts: Vec<Excerpt> = places
        .into_iter()
        .filter_map(|found| found.excerpt)
        .collect();
    if excerpts.is_empty() {
        return Ok(as_cited);
    }
    judged_at(claim, change, excerpts)
}

/// Judges a claim against passages at their current locations.
fn judged_at(claim: &Claim, change: Change, excerpts: Vec<Excerpt>) -> Result<ClaimChange> {
    let at: Vec<String> = excerpts
        .iter()
        .map(|e| format!("{}:{}:{}", e.source, e.path, e.lines))
        .collect();
    let snapshot = EvidenceSnapshot::freeze("", excerpts)?;
    let freshness: FreshnessReport = snapshot
        .items()
        .iter()
        .map(|item| (item.label, Freshness::Fresh))
        .collect();
    let mut segments = vec![Segment::Text(format!("{} ", claim.text))];
    segments.extend(
        snapshot
            .items()
            .iter()
            .map(|item| Segment::Cite(item.label)),
    );
    let draft = Draft::new(segments);
    let report = verify::verify(&draft, &snapshot, &freshness, &VerifyOptions::default());
    let worst = report
        .claims
        .iter()
        .find(|claim| claim.verdict == Verdict::Rejected)
        .or(report.claims.first());
    Ok(ClaimChange {
        claim: claim.text.clone(),
        change,
        holds: report.ok,
        verdict: worst.map_or(claim.verdict, |claim| claim.verdict).as_str(),
        why: worst.map_or_else(|| claim.why.clone(), |claim| claim.why.clone()),
        now_at: Some(at.join(", ")),
    })
}

impl ClaimChange {
    fn as_judged(claim: &Claim, change: Change) -> Self {
        Self {
            claim: claim.text.clone(),
            change,
            holds: claim.verdict != Verdict::Rejected,
            verdict: claim.verdict.as_str(),
            why: claim.why.clone(),
            now_at: None,
        }
    }
}

/// The items that a claim cites, each once.
fn cited<'s>(claim: &Claim, snapshot: &'s EvidenceSnapshot) -> Vec<&'s EvidenceItem> {
    let mut labels: Vec<Label> = claim.citations.iter().filter_map(|c| c.label).collect();
    labels.sort_unstable();
    labels.dedup();
    labels
        .into_iter()
        .filter_map(|l| snapshot.item(l))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_is_read_back_and_another_version_is_refused() {
        let lock = Lock::default();
        assert_eq!(Lock::from_json(&lock.to_json().unwrap()).unwrap(), lock);
        for bad in ["", "{}", "{\"version\": 2, \"documents\": {}}"] {
            assert_eq!(
                Lock::from_json(bad).unwrap_err().code,
                ErrorCode::InvalidArgs,
                "{bad}"
            );
        }
    }
}
