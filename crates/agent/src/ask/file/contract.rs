//! Reading the file, and the checks on the result before it is used as evidence.

use schemars::JsonSchema;
use serde::Serialize;

use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::evidence::Excerpt;
use local_agent_text::types::{
    ByteSpan, ChunkKey, HeadingPath, LineSpan, RelPath, Sha256, SourceName,
};

/// Hard limit on the number of characters.
pub(super) const HARD_CAP: usize = 200_000;

/// Minimum number of characters to read.
const MIN_CHARS: usize = 200;

/// The result of reading a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextResult {
    /// `source:path`, the document's address.
    pub path: String,
    /// Hash of the whole file.
    pub sha256: Sha256,
    pub chars_full: usize,
    pub chars_returned: usize,
    pub truncated: bool,
    pub text: String,
}

/// The file that an answer uses, and how much of it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileScope {
    /// `source:path`.
    pub path: String,
    /// Hash of the whole file.
    pub sha256: Sha256,
    /// Number of characters of the whole file.
    pub chars_full: usize,
    /// Number of characters that were read.
    pub chars_returned: usize,
    /// The last line of every answer.
    pub footer: String,
}

impl TextResult {
    pub(super) fn scope(&self) -> FileScope {
        let part = if self.truncated { "partial" } else { "full" };
        FileScope {
            path: self.path.clone(),
            sha256: self.sha256,
            chars_full: self.chars_full,
            chars_returned: self.chars_returned,
            footer: format!(
                "Scope: {part} evidence from read_text_file ({}/{}), sha256={}",
                self.chars_returned, self.chars_full, self.sha256
            ),
        }
    }

    /// Checks that the numbers agree with each other and with the text.
    pub(super) fn check(&self) -> Result<()> {
        let invalid = |what: &str| {
            Err(Failure::new(
                ErrorCode::EvidenceInvalid,
                format!("What was read of {} is not evidence: {what}.", self.path),
            ))
        };
        if self.path.trim().is_empty() {
            return invalid("it has no path");
        }
        if self.chars_returned > self.chars_full {
            return invalid("more characters came than the file has");
        }
        if self.text.chars().count() != self.chars_returned {
            return invalid("the text is not as long as it says");
        }
        if self.truncated != (self.chars_returned < self.chars_full) {
            return invalid("it says of itself both that it is whole and that it is not");
        }
        Ok(())
    }
}

/// Reads the file that `request` names, whole, as evidence. A file of more than `max_chars`
/// characters is refused, because the answer would use only part of it.
///
/// Errors: those of the sandbox; `FILE_READ_ERROR` when it is not UTF-8; `EVIDENCE_INVALID`,
/// `EVIDENCE_TRUNCATED`.
pub(super) fn acquire(
    sandbox: &Sandbox,
    request: &str,
    max_chars: usize,
) -> Result<(TextResult, Excerpt)> {
    let file = open(sandbox, request)?;
    let most = max_chars.clamp(MIN_CHARS, HARD_CAP);
    let result = file.read_text(most);
    result.check()?;
    if result.truncated {
        return Err(too_long(&result, most));
    }
    let excerpt = file.excerpt()?;
    Ok((result, excerpt))
}

/// The failure for a file of more than `most` characters.
fn too_long(result: &TextResult, most: usize) -> Failure {
    let message = format!(
        "{} has {} characters; at most {most} of one file are read, \
         so an answer would rest on a part of it.",
        result.path, result.chars_full
    );
    let other = "ask without --read: the index finds the part that matters";
    let hint = if result.chars_full <= HARD_CAP {
        format!("raise llm.max_chars_full_read (it is {most} now), or {other}")
    } else {
        other.to_owned()
    };
    Failure::new(ErrorCode::EvidenceTruncated, message).with_hint(hint)
}

/// A file's text under its address.
struct Text {
    at: Address,
    text: String,
}

fn open(sandbox: &Sandbox, request: &str) -> Result<Text> {
    let any = std::path::Path::new(request);
    let (at, bytes) = match sandbox.resolve(request) {
        Err(_) if sandbox.policy().allows_any_path() && any.is_absolute() => {
            let bytes = sandbox.read_any(any)?.bytes;
            let path = request.trim_start_matches(['/', '\\']).replace('\\', "/");
            let source = SourceName::new("file").map_err(|_| not_citable(request))?;
            (
                Address {
                    source,
                    path: RelPath::new(path).map_err(|_| not_citable(request))?,
                },
                bytes,
            )
        }
        at => {
            let at = at?;
            let bytes = sandbox.read(&at)?.bytes;
            (at, bytes)
        }
    };
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::new(ErrorCode::FileReadError, format!("{at} is not UTF-8 text"))
            .with_fix(Fix::ByPerson, "convert the file to UTF-8")
    })?;
    Ok(Text { at, text })
}

/// The failure for a request that cannot be cited.
fn not_citable(request: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidArgs,
        format!("`{request}` cannot be cited"),
    )
}

impl Text {
    fn read_text(&self, max_chars: usize) -> TextResult {
        let chars_full = self.text.chars().count();
        let text: String = self.text.chars().take(max_chars).collect();
        TextResult {
            path: self.at.to_string(),
            sha256: Sha256::of(self.text.as_bytes()),
            chars_full,
            chars_returned: chars_full.min(max_chars),
            truncated: chars_full > max_chars,
            text,
        }
    }

    /// The whole file as one piece of evidence.
    fn excerpt(self) -> Result<Excerpt> {
        let broken = || Failure::internal("a file has no extent");
        let heading = HeadingPath::new(Vec::new()).map_err(|_| broken())?;
        let body = self.text.strip_suffix('\n').unwrap_or(&self.text);
        let lines = u32::try_from(body.matches('\n').count() + 1).map_err(|_| broken())?;
        let sha = Sha256::of(self.text.as_bytes());
        Ok(Excerpt {
            chunk_key: ChunkKey::derive(&self.at.source, &self.at.path, &heading, &sha, 0),
            merged: Vec::new(),
            source: self.at.source,
            path: self.at.path,
            path_is_shared: false,
            heading,
            span: ByteSpan::new(0, self.text.len()).ok_or_else(broken)?,
            lines: LineSpan::new(1, lines).ok_or_else(broken)?,
            text: self.text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_contradicts_itself_is_no_evidence() {
        let good = TextResult {
            path: "notes:a.md".to_owned(),
            sha256: Sha256::of(b"abc"),
            chars_full: 3,
            chars_returned: 3,
            truncated: false,
            text: "abc".to_owned(),
        };
        assert!(good.check().is_ok());
        assert_eq!(
            good.scope().footer,
            format!(
                "Scope: full evidence from read_text_file (3/3), sha256={}",
                Sha256::of(b"abc")
            )
        );
        for bad in [
            TextResult {
                path: " ".to_owned(),
                ..good.clone()
            },
            TextResult {
                chars_full: 2,
                ..good.clone()
            },
            TextResult {
                chars_returned: 2,
                truncated: true,
                ..good.clone()
            },
            TextResult {
                truncated: true,
                ..good.clone()
            },
            TextResult {
                chars_full: 9,
                ..good.clone()
            },
            TextResult {
                text: "abcd".to_owned(),
                ..good.clone()
            },
        ] {
            assert_eq!(
                bad.check().unwrap_err().code,
                ErrorCode::EvidenceInvalid,
                "{bad:?}"
            );
        }
    }
}
