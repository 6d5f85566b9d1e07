//! Measures the citations of faulty drafts before the gate, and those of the drafts that pass it.
//!
//! Citation recall and precision as ALCE defines them (Gao et al., 2023, "Enabling Large Language
//! Models to Generate Text with Citations", section 4): a statement is recalled when all its
//! citations together support it; a citation is precise when its statement is recalled and the
//! citation either supports the statement alone or cannot be left out. Support is judged in two
//! ways: by people (`gold`: sets of labels, each of which is sufficient), and by the verifier's own
//! support score, compared with its one threshold, where ALCE uses a model. Gold is marked by hand
//! in `drafts.jsonl`; for drafts made from a set's marked answers ([`gold`]) it follows from the
//! marks. The drafts of `drafts.jsonl` were written by hand after the mistakes that small models
//! make, with one named fault each, and some without a fault. They were written after the
//! verifier's rules, so they only illustrate; their figures do not generalise.

pub mod gold;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attacks::{AttackPassage, freeze};
use super::invalid;
use local_agent_text::error::Result;
use local_agent_text::evidence::{
    Draft, EvidenceSnapshot, FreshnessReport, MarkerKind, scan_markers,
};
use local_agent_verify::{ClaimSupport, VerifyOptions, claim_support, verify};

/// The value of `draft` that means no fault.
pub const NO_FAULT: &str = "none";

/// The compiled-in drafts.
pub const DRAFTS: &str = include_str!("drafts.jsonl");

/// A line of the file: evidence, or a draft that is written from it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Evidence {
        set: String,
        question: String,
        evidence: Vec<String>,
    },
    Draft {
        set: String,
        fault: String,
        statements: Vec<Statement>,
    },
}

/// One statement of a draft with its citations.
#[derive(Debug, Clone, Deserialize)]
pub struct Statement {
    /// The text as the model wrote it.
    pub text: String,
    /// Sets of labels, each of which supports it on its own; empty if it has no support.
    pub gold: Vec<BTreeSet<u32>>,
}

/// A draft with its evidence and its fault.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// The fault of the draft, which names its row in the report.
    pub fault: String,
    /// The evidence that the draft cites.
    pub snapshot: EvidenceSnapshot,
    /// The statements in the order of the draft.
    pub statements: Vec<Statement>,
}

/// Reads drafts. `EVAL_ERROR` for a line that cannot be read or that refers to evidence not defined
/// before it.
pub fn read(text: &str) -> Result<Vec<Recorded>> {
    let mut snapshots: BTreeMap<String, EvidenceSnapshot> = BTreeMap::new();
    let mut out = Vec::new();
    for (at, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        let at = at + 1;
        match serde_json::from_str(line)
            .map_err(|e| invalid(format!("line {at} of the drafts: {e}")))?
        {
            Line::Evidence {
                set,
                question,
                evidence,
            } => {
                let name = |n: usize| format!("{set}-{n}.md");
                let passages: Vec<AttackPassage> = evidence
                    .iter()
                    .enumerate()
                    .map(|(n, text)| AttackPassage::whole(&name(n + 1), text))
                    .collect();
                let views: Vec<&AttackPassage> = passages.iter().collect();
                let snapshot = freeze(&question, &views)
                    .ok_or_else(|| invalid(format!("line {at} of the drafts holds no evidence")))?;
                snapshots.insert(set, snapshot);
            }
            Line::Draft {
                set,
                fault,
                statements,
            } => {
                let snapshot = snapshots.get(&set).cloned();
                let snapshot = snapshot
                    .ok_or_else(|| invalid(format!("line {at} of the drafts: no set `{set}`")))?;
                out.push(Recorded {
                    fault,
                    snapshot,
                    statements,
                });
            }
        }
    }
    if out.is_empty() {
        Err(invalid("there are no drafts"))
    } else {
        Ok(out)
    }
}

/// The figures of a group of drafts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct DraftRow {
    /// Number of drafts.
    pub drafts: usize,
    /// Drafts that pass the gate.
    pub passed: usize,
    /// Citations by people's marks, for all drafts.
    pub before: Citations,
    /// Citations by people's marks, for the drafts that passed.
    pub after: Citations,
    /// Citations by the verifier's support score, for all drafts.
    pub own_before: Citations,
    /// Citations by the verifier's support score, for the drafts that passed.
    pub own_after: Citations,
}

impl DraftRow {
    fn add(&mut self, other: Self) {
        self.drafts += other.drafts;
        self.passed += other.passed;
        self.before.add(other.before);
        self.after.add(other.after);
        self.own_before.add(other.own_before);
        self.own_after.add(other.own_after);
    }
}

/// Counts for citation recall and precision.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Citations {
    /// Number of statements.
    pub statements: usize,
    /// Number of statements that their citations support.
    pub recalled: usize,
    /// Number of citations.
    pub citations: usize,
    /// Number of citations that their statement needs.
    pub precise: usize,
}

impl Citations {
    /// Share of statements that their citations support; `None` without statements.
    pub fn recall(&self) -> Option<f64> {
        (self.statements > 0).then(|| self.recalled as f64 / self.statements as f64)
    }

    /// Share of citations that support their statement; `None` without citations.
    pub fn precision(&self) -> Option<f64> {
        (self.citations > 0).then(|| self.precise as f64 / self.citations as f64)
    }

    fn add(&mut self, other: Self) {
        self.statements += other.statements;
        self.recalled += other.recalled;
        self.citations += other.citations;
        self.precise += other.precise;
    }
}

/// The figures of each fault, sorted by name, then of all faulty drafts, then of all drafts.
pub fn rows(drafts: &[Recorded]) -> Vec<(String, DraftRow)> {
    let mut rows: BTreeMap<&str, DraftRow> = BTreeMap::new();
    let (mut faulty, mut all) = (DraftRow::default(), DraftRow::default());
    for draft in drafts {
        let one = row(draft);
        rows.entry(&draft.fault).or_default().add(one);
        if !draft.fault.starts_with(NO_FAULT) {
            faulty.add(one);
        }
        all.add(one);
    }
    let mut out: Vec<(String, DraftRow)> = rows
        .into_iter()
        .map(|(fault, row)| (fault.to_owned(), row))
        .collect();
    out.extend([("all faulty".to_owned(), faulty), ("all".to_owned(), all)]);
    out
}

fn row(recorded: &Recorded) -> DraftRow {
    let text = recorded
        .statements
        .iter()
        .map(|s| s.text.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    let draft = Draft::parse(&text, &recorded.snapshot);
    let report = verify(
        &draft,
        &recorded.snapshot,
        &FreshnessReport::default(),
        &VerifyOptions::default(),
    );
    let before = sum_of_citations(recorded, &|s| {
        citations(s, |labels| {
            s.gold
                .iter()
                .any(|set| !set.is_empty() && set.is_subset(labels))
        })
    });
    let own_before = sum_of_citations(recorded, &|s| {
        citations(s, |labels| {
            is_supported(&s.text, labels, &recorded.snapshot)
        })
    });
    let kept = |before| {
        if report.ok {
            before
        } else {
            Citations::default()
        }
    };
    DraftRow {
        drafts: 1,
        passed: usize::from(report.ok),
        before,
        after: kept(before),
        own_before,
        own_after: kept(own_before),
    }
}

/// The citations of all statements of a draft, counted by `one`.
fn sum_of_citations(recorded: &Recorded, one: &dyn Fn(&Statement) -> Citations) -> Citations {
    recorded
        .statements
        .iter()
        .map(one)
        .fold(Citations::default(), |mut all, c| {
            all.add(c);
            all
        })
}

/// Whether the verifier's support score accepts the words of a statement as supported by these
/// items together.
fn is_supported(text: &str, labels: &BTreeSet<u32>, snapshot: &EvidenceSnapshot) -> bool {
    let cited = snapshot
        .items()
        .iter()
        .filter(|item| labels.contains(&item.label.number()));
    let evidence: Vec<&str> = cited.map(|item| item.text.as_str()).collect();
    let mut words = String::new();
    let mut at = 0;
    for marker in scan_markers(text) {
        words.push_str(text.get(at..marker.span.start()).unwrap_or(""));
        at = marker.span.end();
    }
    words.push_str(text.get(at..).unwrap_or(""));
    !evidence.is_empty()
        && claim_support(&words, &evidence.join("\n\n")).score >= ClaimSupport::threshold()
}

/// ALCE's two measures for one statement. `carries` says whether these items together support it.
fn citations(statement: &Statement, carries: impl Fn(&BTreeSet<u32>) -> bool) -> Citations {
    let cited = cited(&statement.text);
    let labels: BTreeSet<u32> = cited.iter().flatten().copied().collect();
    let recalled = carries(&labels);
    Citations {
        statements: 1,
        recalled: usize::from(recalled),
        citations: cited.len(),
        precise: cited
            .iter()
            .flatten()
            .filter(|label| is_precise(&labels, recalled, &carries, **label))
            .count(),
    }
}

/// Whether a citation is needed: it supports the statement alone, or the others do not support it
/// without it.
fn is_precise(
    labels: &BTreeSet<u32>,
    recalled: bool,
    carries: &impl Fn(&BTreeSet<u32>) -> bool,
    label: u32,
) -> bool {
    let without: BTreeSet<u32> = labels.iter().copied().filter(|l| *l != label).collect();
    recalled && (carries(&BTreeSet::from([label])) || !carries(&without))
}

/// Everything in a statement that is or looks like a citation; `None` for one that cites nothing.
fn cited(text: &str) -> Vec<Option<u32>> {
    let mut out = Vec::new();
    for marker in scan_markers(text) {
        match marker.kind {
            MarkerKind::Labels(labels) => out.extend(labels.iter().map(|l| Some(l.number()))),
            MarkerKind::Quoted { label, .. } => out.push(Some(label.number())),
            _ => out.push(None),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_and_precision_are_alces() {
        let of = |text: &str, gold: &[&[u32]]| {
            let gold: Vec<BTreeSet<u32>> = gold
                .iter()
                .map(|set| set.iter().copied().collect())
                .collect();
            let c = citations(
                &Statement {
                    text: text.to_owned(),
                    gold: gold.clone(),
                },
                |labels| gold.iter().any(|set| set.is_subset(labels)),
            );
            (c.recalled, c.citations, c.precise)
        };
        assert_eq!(of("X [E1].", &[&[1]]), (1, 1, 1));
        assert_eq!(
            of("X [E1][E2].", &[&[1]]),
            (1, 2, 1),
            "the second can be left out"
        );
        assert_eq!(
            of("X [E1][E2].", &[&[1, 2]]),
            (1, 2, 2),
            "neither can be left out"
        );
        assert_eq!(
            of("X [E1][E2].", &[&[1], &[2]]),
            (1, 2, 2),
            "each is enough"
        );
        assert_eq!(of("X [E2].", &[&[1]]), (0, 1, 0));
        assert_eq!(of("X.", &[&[1]]), (0, 0, 0));
        assert_eq!(of("X [E1].", &[]), (0, 1, 0));
        assert_eq!(
            of("X [7].", &[&[7]]),
            (0, 1, 0),
            "what is no citation carries nothing"
        );
    }

    #[test]
    fn the_gate_keeps_faulty_drafts_back_and_lets_the_others_pass() {
        let drafts = read(DRAFTS).unwrap();
        let faults: BTreeSet<&str> = drafts.iter().map(|d| d.fault.as_str()).collect();
        let faulty = drafts.iter().filter(|d| d.fault != NO_FAULT).count();
        assert!(
            faulty >= 50 && faults.len() >= 20,
            "{faulty} drafts, {} faults",
            faults.len()
        );
        let rows = rows(&drafts);
        let find = |name: &str| rows.iter().find(|(fault, _)| fault == name).unwrap().1;
        let clean = find(NO_FAULT);
        assert_eq!(
            (clean.passed, clean.before.recall()),
            (clean.drafts, Some(1.0)),
            "{rows:#?}"
        );
        let all = find("all faulty");
        assert!(
            all.before.recall().unwrap() < 0.3,
            "the faults are faults: {all:?}"
        );
        assert!(
            all.passed * 10 <= all.drafts,
            "at most one in ten gets through: {rows:#?}"
        );
    }

    #[test]
    fn drafts_that_cannot_be_read_are_a_failure() {
        for text in [
            "",
            "{}",
            "{\"set\":\"x\",\"fault\":\"f\",\"statements\":[]}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
