//! Finds out whether the passages that a document cites have changed, so that an outdated document
//! fails a check.
//!
//! An earlier passage is known from a lock file of verdicts, or from an earlier version of its
//! file. A passage that only moved is found by its lines and changes nothing. For a changed
//! passage, the claim is verified again at the current location.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Judged;
pub use super::passage::Change;
use super::passage::{CitedPassage, FoundPassage, address, content_stems, lines_of};
use super::surroundings::InFile;
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::{
    Draft, EvidenceItem, EvidenceSnapshot, Excerpt, Freshness, FreshnessReport, Segment,
};
use local_agent_text::types::Label;
use local_agent_verify::{self as verify, Claim, Code, TableHeads, Verdict, VerifyOptions};

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
    /// The stems of the claim's words that the passages had.
    #[serde(default)]
    words: BTreeSet<String>,
}

/// What a claim cited before.
#[derive(Debug, Clone)]
struct Earlier {
    passages: Vec<CitedPassage>,
    /// The stems of the claim's words that the passages had.
    words: BTreeSet<String>,
    was_doubtful: bool,
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
            .map_err(|e| Failure::internal(format!("a lock file is not JSON: {e}")))?;
        Ok(text + "\n")
    }

    /// Replaces the record of one document.
    pub fn update(&mut self, document: &str, judged: &Judged) {
        let claims = judged
            .report
            .claims
            .iter()
            .map(|claim| LockedClaim::of(claim, &judged.snapshot))
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
                .map(|locked| Earlier {
                    passages: locked.passages.clone(),
                    words: locked.words.clone(),
                    was_doubtful: locked.verdict == Verdict::Doubtful.as_str(),
                })
        };
        changes(judged, sandbox, find)
    }
}

impl LockedClaim {
    fn of(claim: &Claim, snapshot: &EvidenceSnapshot) -> Self {
        let items = cited(claim, snapshot);
        let texts = items.iter().map(|item| item.text.as_str());
        Self {
            claim: claim.text.clone(),
            verdict: claim.verdict.as_str().to_owned(),
            words: shared_words(&claim.text, texts),
            passages: items.into_iter().map(CitedPassage::of).collect(),
        }
    }
}

/// The stems of the content words of a claim that these texts have.
fn shared_words<'t>(claim: &str, texts: impl Iterator<Item = &'t str>) -> BTreeSet<String> {
    let mut held: BTreeSet<String> = BTreeSet::new();
    texts.for_each(|text| held.append(&mut content_stems(text)));
    let own = content_stems(claim);
    own.intersection(&held).cloned().collect()
}

/// The failure for a lock file that cannot be used.
fn bad_lock(why: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, format!("The lock file {why}."))
        .with_command("local-agent verify DOCUMENT --lock FILE --update")
}

/// Compares the claims of a verified document with earlier versions of the files that it cites.
/// `before` returns the earlier version of a file, or `None` if there was none. Claims that cite no
/// changed file are left out; those that cite a file which is not there any more are not.
///
/// Errors: those of `before`; `INTERNAL_ERROR`.
pub fn changes_since(
    judged: &Judged,
    sandbox: &Sandbox,
    before: &mut dyn FnMut(&Address) -> Result<Option<String>>,
) -> Result<Vec<ClaimChange>> {
    let mut changed: BTreeMap<Label, Option<String>> = BTreeMap::new();
    for item in judged.snapshot.items() {
        let at = address(item);
        let old = before(&at)?;
        let is_same = match (&old, sandbox.read(&at)) {
            (Some(old), Ok(now)) => old.as_bytes() == now.bytes,
            _ => false,
        };
        if !is_same {
            changed.insert(item.label, old);
        }
    }
    let mut earlier: Vec<Option<Earlier>> = Vec::new();
    for claim in &judged.report.claims {
        earlier.push(earlier_of(claim, judged, &changed)?);
    }
    let claims = judged.report.claims.iter().zip(earlier);
    let mut out = Vec::new();
    for (claim, earlier) in claims {
        if let Some(earlier) = earlier {
            out.push(compared(claim, &earlier, &judged.snapshot, sandbox)?);
        }
    }
    Ok(out)
}

/// The earlier passages of a claim that cites a changed file, or something that cannot be read;
/// `None` for other claims. `changed` holds the earlier text of the files.
fn earlier_of(
    claim: &Claim,
    judged: &Judged,
    changed: &BTreeMap<Label, Option<String>>,
) -> Result<Option<Earlier>> {
    let is_broken = claim.codes.iter().any(|code| {
        matches!(
            code,
            Code::NotInSnapshot | Code::PathMismatch | Code::SpanOutOfRange
        )
    });
    let items = cited(claim, &judged.snapshot);
    let items = items.into_iter();
    let known: Vec<(&EvidenceItem, &Option<String>)> = items
        .filter_map(|item| Some((item, changed.get(&item.label)?)))
        .collect();
    if known.is_empty() && !is_broken {
        return Ok(None);
    }
    let mut passages = Vec::new();
    let mut excerpts = Vec::new();
    for (item, old) in known {
        let Some(old) = old else { continue };
        passages.extend(CitedPassage::in_text(&address(item), item.lines, old));
        excerpts.extend(lines_of(&address(item), item.lines, old));
    }
    let texts = excerpts.iter().map(|e| e.excerpt.text.as_str());
    let words = shared_words(&claim.text, texts);
    let was_doubtful = !excerpts.is_empty() && {
        let then = judged_at(claim, excerpts)?;
        then.verdict == Verdict::Doubtful
    };
    Ok(Some(Earlier {
        passages,
        words,
        was_doubtful,
    }))
}

/// Compares the claims with earlier passages. `find` returns the earlier passages of a claim;
/// `None`: unknown.
fn changes(
    judged: &Judged,
    sandbox: &Sandbox,
    find: impl Fn(&Claim) -> Option<Earlier>,
) -> Result<Vec<ClaimChange>> {
    let mut out = Vec::new();
    for claim in &judged.report.claims {
        let change = match find(claim) {
            None => {
                let holds = claim.verdict != Verdict::Rejected;
                ClaimChange::as_judged(claim, Change::New, holds)
            }
            Some(earlier) => compared(claim, &earlier, &judged.snapshot, sandbox)?,
        };
        out.push(change);
    }
    Ok(out)
}

/// Whether a claim still holds: first by what it cites now, then where its passages are now.
fn compared(
    claim: &Claim,
    earlier: &Earlier,
    snapshot: &EvidenceSnapshot,
    sandbox: &Sandbox,
) -> Result<ClaimChange> {
    let passages = earlier.passages.iter();
    let places: Vec<FoundPassage> = passages.map(|p| p.find(sandbox, &earlier.words)).collect();
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
    let texts = cited(claim, snapshot);
    let texts: Vec<&str> = texts.iter().map(|item| item.text.as_str()).collect();
    let objection = earlier.objection(claim, claim.verdict, &texts);
    if change == Change::Unchanged {
        let holds = claim.verdict != Verdict::Rejected;
        return Ok(ClaimChange::as_judged(claim, change, holds));
    }
    let Some(objection) = objection else {
        return Ok(ClaimChange::as_judged(claim, change, true));
    };
    let excerpts = places.into_iter().filter_map(|found| found.now);
    let excerpts: Vec<InFile> = excerpts.collect();
    if excerpts.is_empty() {
        let why = match earlier.passages.is_empty() {
            true => objection,
            false => format!(
                "The cited lines have changed, and their text is not in the file any more. {objection}"
            ),
        };
        return Ok(ClaimChange {
            why,
            ..ClaimChange::as_judged(claim, change, false)
        });
    }
    let at: Vec<String> = excerpts
        .iter()
        .map(|InFile { excerpt: e, .. }| format!("{}:{}:{}", e.source, e.path, e.lines))
        .collect();
    let texts: Vec<String> = excerpts.iter().map(|e| e.excerpt.text.clone()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let now = judged_at(claim, excerpts)?;
    let objection = earlier.objection(&now, now.verdict, &texts);
    Ok(ClaimChange {
        claim: claim.text.clone(),
        change,
        holds: objection.is_none(),
        verdict: now.verdict.as_str(),
        why: objection.unwrap_or(now.why),
        now_at: Some(at.join(", ")),
    })
}

impl Earlier {
    /// Why a claim with this verdict does not hold any more; `None` if it holds. A new doubt breaks
    /// it. Wording that nothing proves holds only while the texts have all words of the claim that
    /// they had before.
    fn objection(&self, claim: &Claim, verdict: Verdict, texts: &[&str]) -> Option<String> {
        match verdict {
            Verdict::Verified | Verdict::Derived => None,
            Verdict::Rejected => Some(claim.why.clone()),
            Verdict::Doubtful if !self.was_doubtful => Some(claim.why.clone()),
            Verdict::Checked | Verdict::Doubtful => {
                let now = shared_words(&claim.text, texts.iter().copied());
                let lost = self.words.iter().find(|word| !now.contains(*word))?;
                let written = written_as(&claim.text, lost);
                Some(format!("The passage no longer has “{written}”."))
            }
        }
    }
}

/// The word of a text that has this stem.
fn written_as<'t>(text: &'t str, stem: &'t str) -> &'t str {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let mut words = words.filter(|word| content_stems(word).contains(stem));
    words.next().unwrap_or(stem)
}

/// The worst verdict on a claim that cites these excerpts.
fn judged_at(claim: &Claim, parts: Vec<InFile>) -> Result<Claim> {
    let (excerpts, heads): (Vec<Excerpt>, Vec<Option<String>>) = parts
        .into_iter()
        .map(|part| (part.excerpt, part.table_head))
        .unzip();
    let snapshot = EvidenceSnapshot::freeze("", excerpts)?;
    let items = snapshot.items().iter().zip(heads);
    let heads: TableHeads = items
        .filter_map(|(item, head)| Some((item.label, head?)))
        .collect();
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
    let options = VerifyOptions::default();
    let report = verify::verify_with_table_heads(&draft, &snapshot, &freshness, &options, &heads);
    let worst = report
        .claims
        .into_iter()
        .max_by_key(|claim| match claim.verdict {
            Verdict::Rejected => 3,
            Verdict::Doubtful => 2,
            Verdict::Checked => 1,
            Verdict::Verified | Verdict::Derived => 0,
        });
    Ok(worst.unwrap_or_else(|| claim.clone()))
}

impl ClaimChange {
    fn as_judged(claim: &Claim, change: Change, holds: bool) -> Self {
        Self {
            claim: claim.text.clone(),
            change,
            holds,
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
