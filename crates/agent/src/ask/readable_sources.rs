//! The list of sources below an answer: one number per place.

use local_agent_text::documents::{headings_at, line_in_file, said_lines};
use local_agent_text::evidence::{EvidenceItem, EvidenceSnapshot};
use local_agent_text::markdown::plain;
use local_agent_text::types::{ByteSpan, Label, LineSpan, RelPath, SourceName};

/// One source of an answer, formatted for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadableSource {
    /// `[1]`.
    pub number: String,
    /// `path:line`, as `get` and editors take it; with the name of its source if another source has
    /// such a path too.
    pub place: String,
    /// ` › heading`, and the lines if there are several.
    pub rest: String,
    /// The source of the file.
    pub source: SourceName,
    /// The file.
    pub path: RelPath,
    /// The line of the file itself, for an editor.
    pub line: usize,
}

/// The sources of an answer in the order in which they are first cited.
pub(super) struct Sources<'s> {
    pub(super) snapshot: &'s EvidenceSnapshot,
    known: Vec<CitedPlace>,
}

/// A file and headings, with the lines that are cited.
struct CitedPlace {
    source: SourceName,
    path: RelPath,
    /// The path, with the source's name if another source has such a path too.
    file: String,
    headings: Vec<String>,
    lines: LineSpan,
    /// The line of the file in which the text below these headings begins, if the lines of the
    /// text are not those of the file.
    in_file: Option<usize>,
}

impl<'s> Sources<'s> {
    /// No source yet.
    pub(super) fn of(snapshot: &'s EvidenceSnapshot) -> Self {
        Self {
            snapshot,
            known: Vec::new(),
        }
    }

    /// The numbers of the sources of some spans, each once: `[1]`, `[1][2]`.
    pub(super) fn numbers(&mut self, spans: impl Iterator<Item = (Label, ByteSpan)>) -> String {
        let mut numbers: Vec<usize> = Vec::new();
        for (label, span) in spans {
            let Some(item) = self.snapshot.item(label) else {
                continue;
            };
            let number = self.number(item, span);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers.iter().map(|n| format!("[{n}]")).collect()
    }

    fn number(&mut self, item: &EvidenceItem, span: ByteSpan) -> usize {
        let new = CitedPlace::of(self.snapshot, item, span);
        let same = |known: &CitedPlace| known.file == new.file && known.headings == new.headings;
        if let Some(at) = self.known.iter().position(same) {
            if let Some(known) = self.known.get_mut(at) {
                let first = known.lines.first().min(new.lines.first());
                let last = known.lines.last().max(new.lines.last());
                known.lines = LineSpan::new(first, last).unwrap_or(known.lines);
            }
            return at + 1;
        }
        self.known.push(new);
        self.known.len()
    }

    /// The list below the answer.
    pub(super) fn list(&self) -> Vec<ReadableSource> {
        let numbered = self.known.iter().enumerate();
        numbered.map(|(at, known)| known.shown(at + 1)).collect()
    }
}

impl CitedPlace {
    fn of(snapshot: &EvidenceSnapshot, item: &EvidenceItem, span: ByteSpan) -> Self {
        let file = match snapshot.names_source(item) {
            true => format!("{}:{}", item.source, item.path),
            false => item.path.to_string(),
        };
        let start = span.start().saturating_sub(item.span.start());
        let end = span.end().saturating_sub(item.span.start());
        let above = headings_at(item.path.as_str(), &item.heading, &item.text, start);
        let headings = above.headings().iter().map(|h| plain(&h.title));
        Self {
            source: item.source.clone(),
            path: item.path.clone(),
            file,
            headings: headings.collect(),
            lines: item
                .locate(start, end)
                .map_or(item.lines, |(_, lines)| lines),
            in_file: line_in_file(item.path.as_str(), &above),
        }
    }

    fn shown(&self, number: usize) -> ReadableSource {
        let first = self.lines.first();
        let mut rest: String = self.headings.iter().map(|h| format!(" › {h}")).collect();
        let said = said_lines(self.path.as_str(), self.lines);
        if said != format!("line {first}") {
            rest.push_str(&format!(", {said}"));
        }
        ReadableSource {
            number: format!("[{number}]"),
            place: format!("{}:{first}", self.file),
            rest,
            source: self.source.clone(),
            path: self.path.clone(),
            line: self.in_file.unwrap_or(first as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_testing::fixture::snapshot;

    #[test]
    fn a_source_begins_with_a_place_that_get_and_editors_take() {
        let frozen = snapshot(&["The harbour was built in 1901.\nIt is closed in winter.\n"]);
        let item = &frozen.items()[0];
        let mut sources = Sources::of(&frozen);
        let numbers = sources.numbers([(item.label, item.span)].into_iter());
        assert_eq!(numbers, "[1]");
        let shown = &sources.list()[0];
        let place = format!("{}:{}", item.path, item.lines.first());
        assert_eq!((shown.number.as_str(), &shown.place), ("[1]", &place));
        assert!(shown.rest.contains("lines "), "{shown:?}");
    }
}
