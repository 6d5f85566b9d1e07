//! Lines and the hash chain: each line contains the hash of the line before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::runs::RunId;
use local_agent_index::store::Head;
use local_agent_text::types::Sha256;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineKind {
    /// The first line.
    Open,
    /// A run begins.
    Begin,
    /// The run ended, with this record.
    End,
    /// Its record was removed on purpose.
    Prune,
    /// The head had been lost; from this line on it is maintained again.
    Anchor,
    /// A tool was called.
    Tool,
    /// A record that was in no ledger was entered. Nothing confirms it before this line.
    Found,
    /// A record from an earlier ledger was missing when this one was begun.
    Lost,
}

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Line {
    /// The number of the line, from 0.
    pub n: u64,
    /// RFC 3339, UTC.
    pub at: String,
    /// The kind of event.
    pub kind: LineKind,
    /// The run that it concerns, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// For a `tool` line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolLine>,
    /// SHA-256 of `run.json` as written; in an `open` line that follows an earlier ledger, of that
    /// whole ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_sha256: Option<Sha256>,
    /// Whether the line was copied from an earlier ledger, which is kept; `at` is its time there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
    /// SHA-256 of the line before, without its line break; empty in the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prev: Option<Sha256>,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolLine {
    /// `person`, `model` or `agent`.
    pub caller: String,
    /// The name of the tool as it was called; it may not exist.
    pub name: String,
    /// The path, name or pattern of the call; shortened and redacted.
    pub subject: String,
    /// `ok`, `agreed` (a person approved a change, which is about to be made), or the code of a
    /// failure.
    pub outcome: String,
    /// The true reason behind a `FILE_NOT_FOUND`, only for the operator; for a refused call, who or
    /// what refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Number of bytes handed out or to be written.
    pub bytes: u64,
}

/// A ledger as read.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    /// Every line that continues the chain, with its hash.
    pub lines: Vec<(Line, Sha256)>,
    /// Where each of them ends in the file.
    ends: Vec<u64>,
    /// Number of bytes after the last line break: a line that was being written when the machine
    /// stopped.
    pub torn: u64,
    /// The first line that does not continue the chain, counted from 1, and why; everything after
    /// it is not read.
    pub broken: Option<(u64, String)>,
}

impl Chain {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let mut chain = Self::default();
        let mut at = 0;
        for raw in bytes.split_inclusive(|b| *b == b'\n') {
            let Some(text) = raw.strip_suffix(b"\n") else {
                chain.torn = raw.len() as u64;
                break;
            };
            at += raw.len() as u64;
            let number = chain.lines.len() as u64;
            match chain.next(text) {
                Ok(line) => {
                    chain.lines.push((line, Sha256::of(text)));
                    chain.ends.push(at);
                }
                Err(why) => {
                    chain.broken = Some((number + 1, why));
                    break;
                }
            }
        }
        chain
    }

    fn next(&self, text: &[u8]) -> Result<Line, String> {
        let line: Line = serde_json::from_slice(text)
            .map_err(|e| format!("it is not a line of a ledger ({e})"))?;
        if line.n != self.lines.len() as u64 {
            return Err(format!(
                "it is numbered {} where {} is expected",
                line.n,
                self.lines.len()
            ));
        }
        if line.prev != self.lines.last().map(|(_, sha)| *sha) {
            return Err("it does not hold the hash of the line before".to_owned());
        }
        if (line.kind == LineKind::Open) != self.lines.is_empty() {
            return Err("it opens a ledger in the middle of one".to_owned());
        }
        Ok(line)
    }

    /// The hash of the first line, which identifies the ledger.
    pub fn id(&self) -> Option<Sha256> {
        self.lines.first().map(|(_, sha)| *sha)
    }

    /// The lines of an intact or broken ledger that are confirmed: each whose hash is in the next
    /// line, or in one of `heads`.
    pub(super) fn vouched(bytes: &[u8], heads: &[Head]) -> Vec<Line> {
        let parsed: Vec<(Sha256, Option<Line>)> = bytes
            .split(|b| *b == b'\n')
            .map(|text| (Sha256::of(text), serde_json::from_slice::<Line>(text).ok()))
            .collect();
        let mut out = Vec::new();
        for (at, (sha256, line)) in parsed.iter().enumerate() {
            let next = parsed.get(at + 1).and_then(|(_, next)| next.as_ref()?.prev);
            if let Some(line) = line
                .as_ref()
                .filter(|_| next == Some(*sha256) || heads.iter().any(|h| h.sha256 == *sha256))
            {
                out.push(line.clone());
            }
        }
        out
    }

    pub(super) fn head(&self) -> Option<Head> {
        let ((_, sha256), bytes) = self.lines.last().zip(self.ends.last())?;
        Some(Head {
            ledger: self.id()?,
            lines: self.lines.len() as u64,
            bytes: *bytes,
            sha256: *sha256,
        })
    }

    /// Whether the chain reaches at least as far as `head` and contains it.
    pub(super) fn continues(&self, head: &Head) -> bool {
        let last = head
            .lines
            .checked_sub(1)
            .and_then(|n| self.lines.get(usize::try_from(n).ok()?));
        last.is_some_and(|(_, sha)| *sha == head.sha256)
    }

    /// Whether some line has this hash. This shows, for a head noted earlier, that the ledger has
    /// only grown since.
    pub fn holds(&self, sha: &Sha256) -> bool {
        self.lines.iter().any(|(_, own)| own == sha)
    }
}
