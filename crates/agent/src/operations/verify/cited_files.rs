//! Finds and reads the files that an answer cites.

use std::collections::BTreeMap;

use super::super::anchors::{block, section};
use super::Unresolved;
use super::surroundings::{Outline, table_head};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::{ErrorCode, Failure};
use local_agent_text::evidence::{Excerpt, Segment, UnresolvedProblem};
use local_agent_text::types::{ByteSpan, ChunkKey, HeadingPath, Label, LineSpan, Sha256};
use local_agent_verify::{CitedPart, FileCitation, FileTarget, TableHeads};

/// Maximum number of bytes of text that one answer may cite. An answer can cite any number of line
/// ranges, and each is kept as evidence.
const MOST_CITED_BYTES: usize = 16 << 20;

/// Reads the cited parts of files, each once.
pub(super) struct CitedFiles<'a> {
    sandbox: &'a Sandbox,
    places: BTreeMap<(Address, CitedPart), Label>,
    excerpts: Vec<Excerpt>,
    heads: TableHeads,
    outlines: BTreeMap<Address, Outline>,
    held: usize,
    unresolved: Vec<Unresolved>,
}

/// Why a citation refers to nothing readable.
struct Problem {
    problem: UnresolvedProblem,
    why: String,
}

impl Problem {
    fn new(problem: UnresolvedProblem, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { problem, why }
    }
}

impl From<Failure> for Problem {
    fn from(failure: Failure) -> Self {
        Self::new(UnresolvedProblem::NotFound, failure.message)
    }
}

impl<'a> CitedFiles<'a> {
    pub(super) fn new(sandbox: &'a Sandbox) -> Self {
        Self {
            sandbox,
            places: BTreeMap::new(),
            excerpts: Vec::new(),
            heads: TableHeads::new(),
            outlines: BTreeMap::new(),
            held: 0,
            unresolved: Vec::new(),
        }
    }

    /// The excerpts that were read, in label order; the headers of the tables that they begin in; and
    /// the citations that could not be read.
    pub(super) fn into_parts(self) -> (Vec<Excerpt>, TableHeads, Vec<Unresolved>) {
        (self.excerpts, self.heads, self.unresolved)
    }

    /// Turns an unreadable citation into a segment and records it.
    pub(super) fn unresolved(
        &mut self,
        written: &str,
        problem: UnresolvedProblem,
        why: impl Into<String>,
    ) -> Segment {
        let why = why.into();
        self.unresolved.push(Unresolved {
            citation: written.to_owned(),
            why: why.clone(),
        });
        Segment::Unresolved {
            written: written.to_owned(),
            problem,
            why,
        }
    }

    /// A citation as segments, one per target. `None`: its form has other uses too, and no file has
    /// this name.
    pub(super) fn segments(
        &mut self,
        citation: &FileCitation,
        written: &str,
    ) -> Option<Vec<Segment>> {
        let mut segments = Vec::new();
        for target in &citation.targets {
            segments.push(match self.label(target) {
                Ok(label) => Segment::Cite(label),
                Err(Problem { problem, .. })
                    if citation.is_weak
                        && problem == UnresolvedProblem::NotFound
                        && !target.path.contains('/') =>
                {
                    return None;
                }
                Err(Problem { problem, why }) => self.unresolved(written, problem, why),
            });
        }
        Some(segments)
    }

    /// The problem of a file that is not found because no folder is known at all.
    fn without_folders(&self, problem: Problem) -> Problem {
        if !self.sandbox.roots().is_empty() {
            return problem;
        }
        let why = "No folder of notes is known. Name that of the cited files, `--vault DIR`, or add it: \
                   `local-agent source add DIR`.";
        Problem::new(problem.problem, why)
    }

    /// Records what is wrong with words that look like a citation, if a file has their path.
    pub(super) fn note_unclear(&mut self, citation: &FileCitation, written: &str) {
        for target in &citation.targets {
            let CitedPart::Unclear { lines } = &target.part else {
                continue;
            };
            let Ok(at) = find(self.sandbox, target) else {
                continue;
            };
            let path = &target.path;
            let why = match lines {
                None => format!(
                    "A path alone cites nothing: name the line, `[{path}:12]`, or the heading, \
                     `[{path}#Heading]`; `[words]({path})` cites the whole file."
                ),
                Some(lines) => format!(
                    "`{lines}` names no lines of {at}: they are counted from 1, the first one first, \
                     as in `[{path}:8-9]`."
                ),
            };
            self.unresolved.push(Unresolved {
                citation: written.to_owned(),
                why,
            });
        }
    }

    /// The label of a cited part; a new part is read first.
    fn label(&mut self, target: &FileTarget) -> Result<Label, Problem> {
        let at = find(self.sandbox, target).map_err(|problem| self.without_folders(problem))?;
        let key = (at, target.part.clone());
        if let Some(label) = self.places.get(&key) {
            return Ok(*label);
        }
        let bytes = self.sandbox.read(&key.0)?.bytes;
        let text = std::str::from_utf8(&bytes).map_err(|_| {
            let why = format!("{} is not UTF-8 text.", key.0);
            Problem::new(UnresolvedProblem::NotFound, why)
        })?;
        let mut excerpt = excerpt(&key.0, text, &target.part)?;
        let outline = self.outlines.entry(key.0.clone());
        let outline = outline.or_insert_with(|| Outline::of(&key.0.path, text));
        excerpt.heading = outline.above(excerpt.span.start());
        let head = table_head(text, excerpt.span.start());
        if self.held + excerpt.text.len() > MOST_CITED_BYTES {
            let why = format!("More than {MOST_CITED_BYTES} bytes are cited; verify the parts.");
            return Err(Problem::new(UnresolvedProblem::NotFound, why));
        }
        self.held += excerpt.text.len();
        self.excerpts.push(excerpt);
        let label = u32::try_from(self.excerpts.len())
            .ok()
            .and_then(Label::new)
            .ok_or_else(|| {
                Problem::new(UnresolvedProblem::NotFound, "Too many places are cited.")
            })?;
        self.heads.extend(head.map(|head| (label, head)));
        self.places.insert(key, label);
        Ok(label)
    }
}

/// The one file with exactly the name of a target: on most systems, a path in a different case is a
/// different file. Names of notes are matched ignoring case, as in note programs.
fn find(sandbox: &Sandbox, target: &FileTarget) -> Result<Address, Problem> {
    let request = match target.is_note {
        true => format!("{}.md", target.path),
        false => target.path.clone(),
    };
    let asked = request
        .split_once(':')
        .map_or(request.as_str(), |(_, path)| path);
    let asked = asked.trim_start_matches("./");
    let name = asked.rsplit('/').next().unwrap_or(asked);
    let found = match sandbox.resolve(&request) {
        // On a case-sensitive disk, the file in the other case is found by its name.
        Err(failure) if failure.code == ErrorCode::FileNotFound && name != request => sandbox
            .resolve(name)
            .ok()
            .filter(|at| ends_with(&lower(at.path.as_str()), &lower(asked)))
            .ok_or(failure)?,
        found => found?,
    };
    let path = found.path.as_str();
    let is_other_case = !path.ends_with(asked) && ends_with(&lower(path), &lower(asked));
    if is_other_case && !target.is_note {
        let why = format!("The file is called `{path}`, not `{asked}`.");
        return Err(Problem::new(UnresolvedProblem::OtherPath, why));
    }
    Ok(found)
}

fn lower(path: &str) -> String {
    path.to_lowercase()
}

/// Whether `path` is `end`, or ends with it after a folder.
fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|folder| folder.is_empty() || folder.ends_with('/') || end.starts_with('.'))
}

/// The cited part of a file, without the headings above it.
fn excerpt(at: &Address, text: &str, part: &CitedPart) -> Result<Excerpt, Problem> {
    let range = match part {
        CitedPart::Whole => 0..text.len(),
        CitedPart::Lines { first, last } => lines(text, *first as usize, *last as usize)
            .ok_or_else(|| past_the_end(format!("{at} has {}.", counted(text, "line"))))?,
        CitedPart::Heading(heading) => section(text, heading)
            .ok_or_else(|| past_the_end(format!("{at} has no heading “{heading}”.")))?,
        CitedPart::Block(name) => block(text, name)
            .ok_or_else(|| past_the_end(format!("{at} has no block `^{name}`.")))?,
        CitedPart::Unclear { .. } => {
            return Err(past_the_end(format!("No part of {at} is named.")));
        }
    };
    let cut = text.get(range.clone()).unwrap_or("");
    let broken = || past_the_end(format!("{at} is too long to be cited."));
    let before = text.get(..range.start).unwrap_or("").matches('\n').count();
    let within = cut.strip_suffix('\n').unwrap_or(cut).matches('\n').count();
    let line = |n: usize| u32::try_from(n).map_err(|_| broken());
    let lines = LineSpan::new(line(before + 1)?, line(before + within + 1)?).ok_or_else(broken)?;
    let span = ByteSpan::new(range.start, range.end).ok_or_else(broken)?;
    let heading = HeadingPath::default();
    // Equal texts in one file are distinguished by where they begin.
    let chunk_key = ChunkKey::derive(
        &at.source,
        &at.path,
        &heading,
        &Sha256::of(cut.as_bytes()),
        line(range.start)?,
    );
    Ok(Excerpt {
        chunk_key,
        merged: Vec::new(),
        source: at.source.clone(),
        path: at.path.clone(),
        heading,
        span,
        lines,
        text: cut.to_owned(),
        path_is_shared: false,
    })
}

/// The problem that the file does not have the cited part.
fn past_the_end(what: String) -> Problem {
    Problem::new(UnresolvedProblem::PastTheEnd, what)
}

/// The bytes of lines `first` to `last`, counted from 1; `None` when the text has fewer.
fn lines(text: &str, first: usize, last: usize) -> Option<std::ops::Range<usize>> {
    let mut ends = text.split_inclusive('\n').scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    });
    let start = match first.checked_sub(2) {
        None => 0,
        Some(before) => ends.nth(before)?,
    };
    let end = ends.nth(last.checked_sub(first)?)?;
    Some(start..end)
}

fn counted(text: &str, what: &str) -> String {
    match text.split_inclusive('\n').count() {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_number() {
        let text = "a\nb\nc";
        let cut = |first, last| lines(text, first, last).map(|range| &text[range]);
        assert_eq!(cut(1, 1), Some("a\n"));
        assert_eq!(cut(2, 3), Some("b\nc"));
        assert_eq!(cut(1, 3), Some(text));
        assert_eq!(cut(3, 4), None);
        assert_eq!(cut(4, 4), None);
        assert_eq!(lines("", 1, 1), None);
    }
}
