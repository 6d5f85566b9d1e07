//! Natural answers: measures the verifier on answers that strong models wrote, and on the same
//! answers with one fact changed.
//!
//! A set has one JSON object per line ([`rows`]). Its evidence is given as lines of files, which
//! the caller reads ([`NaturalRow::evidence`]). Every figure is a count of sentences and answers,
//! never a score: an honest answer passes or not, and a false sentence is rejected, doubted or
//! shown.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt, FreshnessReport};
use local_agent_text::markdown::{ChunkOptions, Scheme, parse};
use local_agent_text::types::{
    ByteSpan, ChunkKey, Heading, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
};
use local_agent_verify::{Claim, Report, Verdict, VerifyOptions, verify_text};

/// Whole lines of one file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Lines {
    /// The path relative to the folder of the vault.
    pub path: String,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
}

/// Whether an answer is unchanged or has one changed fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truth {
    /// Every sentence follows from what it cites.
    Honest,
    /// Exactly one sentence is false.
    Wrong,
}

/// One answer with the evidence from which it was written.
#[derive(Debug, Clone, Deserialize)]
pub struct NaturalRow {
    /// The id, unique in its set.
    pub id: String,
    /// For a wrong answer: the id of the honest one that it was made from.
    #[serde(default)]
    pub of: Option<String>,
    /// The name of the vault with the evidence.
    pub vault: String,
    /// The question.
    pub question: String,
    /// The passages, labelled E1, E2, … in this order.
    pub evidence: Vec<Lines>,
    /// The answer, with its citations.
    pub answer: String,
    /// Honest or wrong.
    pub kind: Truth,
    /// For a wrong answer: the kind of its fault.
    #[serde(default)]
    pub fault: Option<String>,
    /// For a wrong answer: the false sentence, exactly as it is in `answer`.
    #[serde(default)]
    pub sentence: Option<String>,
}

/// A set that cannot be measured.
fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::EvalError, message).with_command("local-agent eval natural --help")
}

/// Reads a set: one row per line.
///
/// # Errors
/// `EVAL_ERROR`: no row; a line that is not a row; a duplicate id; a wrong row without fault or
/// sentence, or whose sentence is not in its answer.
pub fn rows(text: &str, name: &str) -> Result<Vec<NaturalRow>> {
    let mut out: Vec<NaturalRow> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    let lines = text.lines().enumerate();
    for (n, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let at = |why: String| invalid(format!("{name}, line {}: {why}", n + 1));
        let row: NaturalRow = serde_json::from_str(line).map_err(|e| at(e.to_string()))?;
        if !seen.insert(row.id.clone()) {
            return Err(at(format!("the id {} is there twice", row.id)));
        }
        if row.evidence.is_empty() {
            return Err(at("the row has no evidence".to_owned()));
        }
        if row.kind == Truth::Wrong {
            let sentence = row.sentence.as_deref().unwrap_or("");
            if row.fault.is_none() || sentence.is_empty() || !row.answer.contains(sentence) {
                let why = "a wrong row needs its fault and a sentence of its answer";
                return Err(at(why.to_owned()));
            }
        }
        out.push(row);
    }
    if out.is_empty() {
        return Err(invalid(format!("{name} holds no row")));
    }
    Ok(out)
}

/// Files of the vaults, each read and parsed only once.
pub struct Vaults<'r> {
    read: &'r dyn Fn(&str, &str) -> Result<String>,
    files: HashMap<(String, String), File>,
}

struct File {
    text: String,
    /// Where each line begins, and the end of the text.
    starts: Vec<usize>,
    /// Where each section begins, with its headings; ascending.
    headings: Vec<(usize, HeadingPath)>,
}

impl<'r> Vaults<'r> {
    /// `read` returns the text of a file by vault and path, or the reason why it cannot.
    pub fn new(read: &'r dyn Fn(&str, &str) -> Result<String>) -> Self {
        Self {
            read,
            files: HashMap::new(),
        }
    }

    /// The frozen evidence of a row.
    ///
    /// # Errors
    /// Errors of `read`; `EVAL_ERROR` for lines that are not in their file.
    pub fn snapshot(&mut self, row: &NaturalRow) -> Result<EvidenceSnapshot> {
        let mut excerpts = Vec::new();
        for lines in &row.evidence {
            excerpts.push(self.excerpt(row, lines)?);
        }
        EvidenceSnapshot::freeze(row.question.clone(), excerpts)
            .map_err(|e| invalid(format!("{}: {}", row.id, e.message)))
    }

    fn excerpt(&mut self, row: &NaturalRow, lines: &Lines) -> Result<Excerpt> {
        let key = (row.vault.clone(), lines.path.clone());
        if !self.files.contains_key(&key) {
            let text = (self.read)(&row.vault, &lines.path)?;
            self.files.insert(key.clone(), File::of(text));
        }
        let file = self
            .files
            .get(&key)
            .ok_or_else(|| missing_lines(row, lines))?;
        file.excerpt(lines).ok_or_else(|| missing_lines(row, lines))
    }
}

/// The failure for lines that the file does not have.
fn missing_lines(row: &NaturalRow, lines: &Lines) -> Failure {
    let Lines {
        path,
        start_line,
        end_line,
    } = lines;
    invalid(format!(
        "{}: {path} has no lines {start_line} to {end_line}",
        row.id
    ))
}

impl File {
    fn of(text: String) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut starts: Vec<usize> = std::iter::once(0).chain(breaks).collect();
        if starts.last() != Some(&text.len()) {
            starts.push(text.len());
        }
        let options = ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens: usize::MAX,
            max_chars: usize::MAX,
            overlap: 0,
        };
        let document = parse(&text, &options, &|t: &str| t.len() / 4 + 1);
        let mut headings = Vec::new();
        let mut open: Vec<Heading> = Vec::new();
        for heading in document.headings {
            let (level, title) = (heading.level, heading.title);
            open.retain(|above| above.level < level);
            open.push(Heading { level, title });
            let path = HeadingPath::new(open.clone()).unwrap_or_default();
            headings.push((heading.span.start(), path));
        }
        Self {
            text,
            starts,
            headings,
        }
    }

    fn excerpt(&self, lines: &Lines) -> Option<Excerpt> {
        let line = |n: u32| self.starts.get(usize::try_from(n).ok()?).copied();
        let start = line(lines.start_line.checked_sub(1)?)?;
        let end = line(lines.end_line)?;
        let text = self.text.get(start..end)?.to_owned();
        // A passage that begins with its heading belongs to that heading.
        let blank = text.len() - text.trim_start().len();
        let above = self
            .headings
            .partition_point(|(at, _)| *at <= start + blank);
        let heading = above.checked_sub(1).and_then(|at| self.headings.get(at));
        let heading = heading.map(|(_, path)| path.clone()).unwrap_or_default();
        let source = SourceName::new("notes").ok()?;
        let path = RelPath::new(&lines.path).ok()?;
        let sha = Sha256::of(text.as_bytes());
        Some(Excerpt {
            path_is_shared: false,
            chunk_key: ChunkKey::derive(&source, &path, &heading, &sha, lines.start_line),
            merged: Vec::new(),
            source,
            path,
            heading,
            span: ByteSpan::new(start, end)?,
            lines: LineSpan::new(lines.start_line, lines.end_line)?,
            text,
        })
    }
}

/// The verdict on one sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// There was no objection.
    Shown,
    /// Shown, and marked.
    Doubtful,
    /// Not shown.
    Rejected,
}

impl Fate {
    fn of(claim: &Claim) -> Self {
        match claim.verdict {
            Verdict::Rejected => Self::Rejected,
            Verdict::Doubtful => Self::Doubtful,
            Verdict::Verified | Verdict::Checked | Verdict::Derived => Self::Shown,
        }
    }
}

/// A sentence with the wrong verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Miss {
    /// The id of its row.
    pub id: String,
    /// The kind of the fault; `None` for a true sentence.
    pub fault: Option<String>,
    /// Its verdict.
    pub fate: Fate,
    /// The sentence.
    pub sentence: String,
    /// Codes that reject or doubt it.
    pub codes: Vec<&'static str>,
    /// The verifier's reason.
    pub why: String,
}

/// Counts of one fault kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Faults {
    /// Number of wrong answers.
    pub all: usize,
    /// Number of those whose false sentence was rejected.
    pub rejected: usize,
    /// Number of those whose false sentence was shown and marked.
    pub doubtful: usize,
    /// Number of those whose false sentence was shown as if it were true.
    pub shown: usize,
}

impl Faults {
    fn add(&mut self, fate: Fate) {
        self.all += 1;
        match fate {
            Fate::Rejected => self.rejected += 1,
            Fate::Doubtful => self.doubtful += 1,
            Fate::Shown => self.shown += 1,
        }
    }
}

/// How often one code rejected or doubted sentences that are known to be true or false. A sentence
/// with two codes counts for both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeCounts {
    /// Number of true sentences that the code rejected.
    pub true_rejected: usize,
    /// Number of true sentences that the code doubted.
    pub true_doubted: usize,
    /// Number of false sentences that the code rejected.
    pub false_rejected: usize,
    /// Number of false sentences that the code doubted.
    pub false_doubted: usize,
}

/// The figures of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NaturalFigures {
    /// Number of honest answers.
    pub honest: usize,
    /// Number of those without a rejected sentence.
    pub passed: usize,
    /// Number of sentences of honest answers that the verifier judged.
    pub sentences: usize,
    /// Number of those that were rejected, although they are true.
    pub refused: usize,
    /// Number of those that were marked doubtful, although they are true.
    pub doubted: usize,
    /// All wrong answers.
    pub wrong: Faults,
    /// Wrong answers by the kind of their fault.
    pub by_fault: BTreeMap<String, Faults>,
    /// Rejected and doubted sentences by code: those of honest answers, and the changed one of each
    /// wrong answer.
    pub by_code: BTreeMap<String, CodeCounts>,
    /// True sentences that were rejected or marked, and false ones that were shown without a mark.
    pub misses: Vec<Miss>,
}

/// Verifies every answer of a set.
///
/// # Errors
/// See [`Vaults::snapshot`].
pub fn measure(rows: &[NaturalRow], vaults: &mut Vaults<'_>) -> Result<NaturalFigures> {
    let mut out = NaturalFigures::default();
    for row in rows {
        let snapshot = vaults.snapshot(row)?;
        let (fresh, options) = (FreshnessReport::default(), VerifyOptions::default());
        let report = verify_text(&row.answer, &snapshot, &fresh, &options);
        match row.kind {
            Truth::Honest => out.honest(row, &report),
            Truth::Wrong => out.wrong(row, &report),
        }
    }
    Ok(out)
}

impl NaturalFigures {
    fn honest(&mut self, row: &NaturalRow, report: &Report) {
        self.honest += 1;
        self.passed += usize::from(report.ok);
        self.sentences += report.claims.len();
        for claim in &report.claims {
            let fate = Fate::of(claim);
            self.refused += usize::from(fate == Fate::Rejected);
            self.doubted += usize::from(fate == Fate::Doubtful);
            if fate != Fate::Shown {
                self.misses.push(miss(row, claim));
            }
            self.count_codes(claim, Truth::Honest);
        }
        if !report.ok && report.claims.iter().all(|c| Fate::of(c) != Fate::Rejected) {
            self.misses.push(Miss {
                id: row.id.clone(),
                fault: None,
                fate: Fate::Rejected,
                sentence: row.answer.clone(),
                codes: report.codes.iter().map(|code| code.as_str()).collect(),
                why: "The answer as a whole was rejected.".to_owned(),
            });
        }
    }

    fn wrong(&mut self, row: &NaturalRow, report: &Report) {
        let sentence = row.sentence.as_deref().unwrap_or("");
        let start = row.answer.find(sentence).unwrap_or(0);
        let end = start + sentence.len();
        let claims: Vec<&Claim> = report
            .claims
            .iter()
            .filter(|claim| claim.span.start() < end && start < claim.span.end())
            .collect();
        let worst = claims.iter().max_by_key(|claim| Fate::of(claim));
        let fate = worst.map_or(Fate::Shown, |claim| Fate::of(claim));
        self.wrong.add(fate);
        let fault = row.fault.clone().unwrap_or_default();
        self.by_fault.entry(fault.clone()).or_default().add(fate);
        if let Some(claim) = worst {
            self.count_codes(claim, Truth::Wrong);
        }
        if fate == Fate::Shown {
            self.misses.push(Miss {
                id: row.id.clone(),
                fault: Some(fault),
                fate,
                sentence: sentence.to_owned(),
                codes: Vec::new(),
                why: worst.map_or_else(String::new, |claim| claim.why.clone()),
            });
        }
    }

    fn count_codes(&mut self, claim: &Claim, truth: Truth) {
        for code in &claim.codes {
            let counts = self.by_code.entry(code.as_str().to_owned()).or_default();
            match truth {
                Truth::Honest => counts.true_rejected += 1,
                Truth::Wrong => counts.false_rejected += 1,
            }
        }
        for code in &claim.doubts {
            let counts = self.by_code.entry(code.as_str().to_owned()).or_default();
            match truth {
                Truth::Honest => counts.true_doubted += 1,
                Truth::Wrong => counts.false_doubted += 1,
            }
        }
    }
}

fn miss(row: &NaturalRow, claim: &Claim) -> Miss {
    let codes = claim.codes.iter().chain(&claim.doubts);
    Miss {
        id: row.id.clone(),
        fault: None,
        fate: Fate::of(claim),
        sentence: claim.text.clone(),
        codes: codes.map(|code| code.as_str()).collect(),
        why: claim.why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "# Tides\n\nHigh water is at six.\n\n## Locks\n\nThe lock opens at seven.\n";

    fn row(id: &str, kind: &str, more: &str) -> String {
        format!(
            "{{\"id\":\"{id}\",\"vault\":\"v\",\"question\":\"When?\",\"evidence\":[{{\"path\":\"a.md\",\
             \"start_line\":1,\"end_line\":3}},{{\"path\":\"a.md\",\"start_line\":5,\"end_line\":7}}],\
             \"kind\":\"{kind}\",{more}}}\n"
        )
    }

    fn read(vault: &str, path: &str) -> Result<String> {
        match (vault, path) {
            ("v", "a.md") => Ok(NOTE.to_owned()),
            _ => Err(invalid(format!("no file {path} in {vault}"))),
        }
    }

    #[test]
    fn honest_and_wrong_answers_are_counted_by_sentence() {
        let honest = row(
            "h",
            "honest",
            "\"answer\":\"High water is at six [E1]. The lock opens at seven [E2].\"",
        );
        let wrong = row(
            "w",
            "wrong",
            "\"of\":\"h\",\"fault\":\"number\",\"sentence\":\"The lock opens at nine [E2].\",\
             \"answer\":\"High water is at six [E1]. The lock opens at nine [E2].\"",
        );
        let rows = rows(&format!("{honest}\n{wrong}"), "set").unwrap();
        let figures = measure(&rows, &mut Vaults::new(&read)).unwrap();
        assert_eq!(
            (figures.honest, figures.passed, figures.sentences),
            (1, 1, 2)
        );
        assert_eq!((figures.refused, figures.doubted), (0, 0));
        assert_eq!((figures.wrong.all, figures.wrong.rejected), (1, 1));
        assert_eq!(figures.by_fault["number"].rejected, 1);
        assert!(figures.misses.is_empty(), "{:?}", figures.misses);
    }

    #[test]
    fn a_passage_knows_its_lines_and_its_heading() {
        let rows = rows(&row("h", "honest", "\"answer\":\"a\""), "set").unwrap();
        let snapshot = Vaults::new(&read).snapshot(&rows[0]).unwrap();
        let items: Vec<_> = snapshot
            .items()
            .iter()
            .map(|i| (i.text.as_str(), i.heading.to_string()))
            .collect();
        assert_eq!(items[0].0, "# Tides\n\nHigh water is at six.\n");
        assert_eq!(items[1].0, "## Locks\n\nThe lock opens at seven.\n");
        assert!(items[0].1.contains("Tides") && !items[0].1.contains("Locks"));
        assert!(items[1].1.contains("Locks"), "{}", items[1].1);
    }

    #[test]
    fn what_cannot_be_measured_is_an_error() {
        for text in [
            "",
            "{}",
            &row("w", "wrong", "\"answer\":\"a\""),
            &format!("{0}{0}", row("h", "honest", "\"answer\":\"a\"")),
        ] {
            assert!(rows(text, "set").is_err(), "{text}");
        }
        let missing = row("h", "honest", "\"answer\":\"a\"").replace("a.md", "b.md");
        let far =
            row("h", "honest", "\"answer\":\"a\"").replace("\"end_line\":7", "\"end_line\":9");
        for text in [missing, far] {
            let rows = rows(&text, "set").unwrap();
            assert!(measure(&rows, &mut Vaults::new(&read)).is_err());
        }
    }
}
