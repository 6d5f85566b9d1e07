//! A note with its file's current content: properties, sections, blocks, date and names.

use std::ops::Range;

use local_agent_text::markdown::{self, Block, BlockKind, ChunkOptions, Scheme};
use local_agent_text::types::{ByteSpan, Heading, HeadingPath, LineSpan, RelPath, SourceName};

use super::calendar::{self, Day};

/// Maximum size in bytes of a file that is read whole. In a larger file, only the text around the
/// hits is read.
const WHOLE: usize = 128 * 1024;

/// The same for a question whose answer is computed, because a total needs every row.
const WHOLE_IF_COMPUTED: usize = 2 * 1024 * 1024;

/// Bytes read on each side of a hit in a file that is too long to read whole.
const AROUND: usize = 2048;

/// The input for a note.
#[derive(Debug, Clone)]
pub(in crate::ask) struct NoteSource {
    pub source: SourceName,
    pub path: RelPath,
    /// Whether another source has this path too.
    pub path_is_shared: bool,
    /// The whole file.
    pub text: String,
    /// Byte ranges of the file that the search found, each with its score, 0 to 1.
    pub hits: Vec<(Range<usize>, f32)>,
}

/// A note, parsed.
#[derive(Debug)]
pub(in crate::ask) struct NoteText {
    pub source: SourceName,
    pub path: RelPath,
    pub path_is_shared: bool,
    pub text: String,
    pub title: String,
    /// Title, aliases and file name.
    pub names: Vec<String>,
    /// The day that the note is about: from its file name, its path, a property, or its title.
    pub date: Option<Day>,
    pub properties: Vec<Property>,
    pub sections: Vec<Section>,
    /// The blocks of the parts that were read, with positions in the file.
    pub blocks: Vec<Block>,
    /// The parts of the body that were read.
    pub parts: Vec<Range<usize>>,
    /// Whether all of the body was read.
    pub is_whole: bool,
    pub hits: Vec<(Range<usize>, f32)>,
}

/// One key of the frontmatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::ask) struct Property {
    pub key: String,
    /// The value as written, without quote marks around it.
    pub value: String,
    /// Its lines, without the last line break.
    pub span: Range<usize>,
}

/// The text under one heading, up to the next heading of any level.
#[derive(Debug, Clone)]
pub(in crate::ask) struct Section {
    /// 0 for the text above all headings.
    pub level: u8,
    pub heading: HeadingPath,
    /// Starts with the heading.
    pub span: Range<usize>,
    /// Where the text below the heading begins.
    pub body: usize,
}

impl NoteText {
    /// Parses a note. Never fails: invalid Markdown is read as plain text.
    pub(crate) fn read(from: NoteSource) -> Self {
        Self::read_up_to(from, WHOLE)
    }

    /// Parses a note for a question whose answer is computed.
    pub(crate) fn read_for_computing(from: NoteSource) -> Self {
        Self::read_up_to(from, WHOLE_IF_COMPUTED)
    }

    /// Parses a note; of a body with more than `most` bytes, only the text around the hits.
    fn read_up_to(from: NoteSource, most: usize) -> Self {
        let options = ChunkOptions {
            scheme: Scheme::ObsidianV2,
            max_tokens: 256,
            max_chars: 1200,
            overlap: 120,
        };
        let document = markdown::parse(&from.text, &options, &|text| text.len() / 4 + 1);
        let matter = document.frontmatter.span;
        let base = matter.map_or(0, ByteSpan::end);
        let properties = matter.map_or_else(Vec::new, |span| properties(&from.text, span));
        let sections = sections(&from.text, base, &document.headings);
        let parts = parts((&from.text, base), &from.hits, most);
        let is_whole = parts.first() == Some(&(base..from.text.len()));
        let mut blocks = Vec::new();
        for part in &parts {
            add_blocks(&from.text, part, &mut blocks);
        }
        let stem = from.path.stem().to_owned();
        let title = document.title.clone().unwrap_or_else(|| stem.clone());
        let mut names = vec![title.clone(), stem];
        names.extend(document.aliases);
        names.dedup();
        let date = date(&from.path, &properties, &title);
        Self {
            source: from.source,
            path: from.path,
            path_is_shared: from.path_is_shared,
            text: from.text,
            title,
            names,
            date,
            properties,
            sections,
            blocks,
            parts,
            is_whole,
            hits: from.hits,
        }
    }

    /// The text at `span`; empty when it is out of range.
    pub(crate) fn slice(&self, span: &Range<usize>) -> &str {
        self.text.get(span.clone()).unwrap_or("")
    }

    /// The section that a byte is in.
    pub(crate) fn section_at(&self, at: usize) -> usize {
        let after = self.sections.partition_point(|s| s.span.start <= at);
        after.saturating_sub(1)
    }

    /// The innermost block around `span`.
    pub(crate) fn block_at(&self, span: &Range<usize>) -> Option<usize> {
        let around = |b: &Block| b.span.start() <= span.start && span.end <= b.span.end();
        let before = self
            .blocks
            .partition_point(|b| b.span.start() <= span.start);
        let mut at = before.checked_sub(1);
        while let Some(index) = at {
            let block = self.blocks.get(index)?;
            if around(block) {
                return Some(index);
            }
            at = block.parent;
        }
        None
    }

    /// The blocks around block `index`, itself first.
    pub(crate) fn around(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(index), |i| self.blocks.get(*i)?.parent)
    }

    /// The outermost block that contains block `index`.
    pub(crate) fn outermost(&self, index: usize) -> usize {
        self.around(index).last().unwrap_or(index)
    }

    /// The bytes of a block.
    pub(crate) fn span_of(&self, block: usize) -> Range<usize> {
        self.blocks
            .get(block)
            .map_or(0..0, |b| b.span.start()..b.span.end())
    }

    pub(crate) fn kind_of(&self, block: usize) -> Option<BlockKind> {
        self.blocks.get(block).map(|b| b.kind)
    }

    /// The outermost blocks of a section, in order, without its heading.
    pub(crate) fn blocks_of_section(&self, section: usize) -> impl Iterator<Item = usize> {
        let span = self
            .sections
            .get(section)
            .map_or(0..0, |s| s.body..s.span.end);
        self.blocks
            .iter()
            .enumerate()
            .filter(move |(_, b)| b.parent.is_none() && span.contains(&b.span.start()))
            .filter(|(_, b)| b.kind != BlockKind::Heading)
            .map(|(i, _)| i)
    }

    /// The score of the search hit at `span`; elsewhere a share of the note's best score.
    pub(crate) fn rank_at(&self, span: &Range<usize>) -> f32 {
        let best = self.hits.iter().map(|(_, s)| *s).fold(0.0, f32::max);
        let here = self
            .hits
            .iter()
            .filter(|(hit, _)| hit.start < span.end && span.start < hit.end);
        here.map(|(_, score)| *score).fold(best * BESIDE, f32::max)
    }

    /// The text of the body, from the first part that was read.
    pub(crate) fn body(&self) -> &str {
        let start = self.parts.first().map_or(0, |part| part.start);
        self.text.get(start..).unwrap_or("")
    }

    /// The lines of a range of bytes, from 1.
    pub(crate) fn lines(&self, span: &Range<usize>) -> Option<LineSpan> {
        let first = line_breaks(self.text.get(..span.start)?) + 1;
        let last = first + line_breaks(self.slice(span).trim_end_matches('\n'));
        LineSpan::new(u32::try_from(first).ok()?, u32::try_from(last).ok()?)
    }
}

/// How many lines end in the text.
fn line_breaks(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

/// The share of its note's best score that a place gets if no hit is there.
const BESIDE: f32 = 0.6;

/// Adds the blocks of a part, with positions in the file.
fn add_blocks(text: &str, part: &Range<usize>, out: &mut Vec<Block>) {
    let first = out.len();
    for block in markdown::blocks(text.get(part.clone()).unwrap_or("")) {
        let (start, end) = (block.span.start(), block.span.end());
        let Some(span) = ByteSpan::new(start + part.start, end + part.start) else {
            continue;
        };
        let parent = block.parent.map(|parent| parent + first);
        out.push(Block {
            span,
            parent,
            ..block
        });
    }
}

/// The parts of the body, from `base` on, that are read: all of it if it has at most `most` bytes,
/// otherwise whole lines around the hits. Adjacent parts are joined.
fn parts(
    (text, base): (&str, usize),
    hits: &[(Range<usize>, f32)],
    most: usize,
) -> Vec<Range<usize>> {
    let whole = base..text.len();
    if whole.len() <= most || hits.is_empty() {
        return vec![whole];
    }
    let mut wanted: Vec<Range<usize>> = hits
        .iter()
        .map(|(hit, _)| {
            line_start(text, base, hit.start.saturating_sub(AROUND))
                ..line_end(text, hit.end + AROUND)
        })
        .collect();
    wanted.sort_by_key(|part| part.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for part in wanted {
        match out.last_mut() {
            Some(last) if part.start <= last.end => last.end = last.end.max(part.end),
            _ => out.push(part),
        }
    }
    out
}

/// Where the line around `at` ends.
fn line_end(text: &str, at: usize) -> usize {
    let at = floor(text, at.min(text.len()));
    text[at..].find('\n').map_or(text.len(), |i| at + i)
}

/// Where the line around `at` begins.
fn line_start(text: &str, base: usize, at: usize) -> usize {
    let at = floor(text, at.max(base));
    text[base..at].rfind('\n').map_or(base, |i| base + i + 1)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn sections(text: &str, base: usize, headings: &[markdown::HeadingAt]) -> Vec<Section> {
    let start = |i: usize| headings.get(i).map_or(text.len(), |h| h.span.start());
    let mut out = vec![Section {
        level: 0,
        heading: HeadingPath::default(),
        span: base..start(0),
        body: base,
    }];
    let mut stack: Vec<Heading> = Vec::new();
    for (i, heading) in headings.iter().enumerate() {
        stack.retain(|above| above.level < heading.level);
        stack.push(Heading {
            level: heading.level,
            title: heading.title.clone(),
        });
        out.push(Section {
            level: heading.level,
            heading: HeadingPath::new(stack.clone()).unwrap_or_default(),
            span: heading.span.start()..start(i + 1),
            body: heading.span.end(),
        });
    }
    out
}

/// The keys of the frontmatter, each with the lines that belong to it.
fn properties(text: &str, matter: ByteSpan) -> Vec<Property> {
    let mut out: Vec<Property> = Vec::new();
    let mut at = matter.start();
    let lines = text
        .get(matter.start()..matter.end())
        .unwrap_or("")
        .split_inclusive('\n');
    for line in lines {
        let (start, bare) = (at, line.trim_end());
        at += line.len();
        if bare.is_empty() || bare.chars().all(|c| c == '-' || c == '.') || bare.starts_with('#') {
            continue;
        }
        let key = bare
            .split_once(':')
            .filter(|(key, _)| !key.starts_with([' ', '\t', '-']) && !key.is_empty());
        match key {
            Some((key, value)) => out.push(Property {
                key: key.trim_matches(['"', '\'']).to_owned(),
                value: unquoted(value).to_owned(),
                span: start..start + bare.len(),
            }),
            None => {
                if let Some(last) = out.last_mut() {
                    let more = unquoted(bare.trim_start().trim_start_matches("- "));
                    last.value = format!("{} {more}", last.value).trim().to_owned();
                    last.span.end = start + bare.len();
                }
            }
        }
    }
    out.retain(|property| !property.value.is_empty());
    out
}

fn unquoted(value: &str) -> &str {
    let value = value.trim();
    without_marks(value, '"')
        .or_else(|| without_marks(value, '\''))
        .unwrap_or(value)
}

/// The value without the quotation marks around it.
fn without_marks(value: &str, mark: char) -> Option<&str> {
    value.strip_prefix(mark)?.strip_suffix(mark)
}

/// Properties that give the day of a note.
const DATE_KEYS: [&str; 14] = [
    "date",
    "day",
    "updated",
    "modified",
    "valid_from",
    "valid from",
    "as_of",
    "datum",
    "stand",
    "gültig_ab",
    "fecha",
    "дата",
    "日期",
    "data",
];

/// The day of a note: from its file name, its folders, a property with a date name, or its title.
fn date(path: &RelPath, properties: &[Property], title: &str) -> Option<Day> {
    let property = || {
        let found = properties.iter().find(|p| is_date_key(&p.key))?;
        calendar::latest(&found.value)
    };
    named_day(path, property, title)
}

fn is_date_key(key: &str) -> bool {
    DATE_KEYS.contains(&key.to_lowercase().as_str())
}

/// The day that a property states, if its key is a date key.
pub fn stated_day(key: &str, value: &str) -> Option<Day> {
    is_date_key(key).then(|| calendar::latest(value)).flatten()
}

/// The day of a note: from its file name, its folders, `property`, or its title.
pub fn named_day(
    path: &RelPath,
    property: impl FnOnce() -> Option<Day>,
    title: &str,
) -> Option<Day> {
    calendar::latest(path.stem())
        .or_else(|| calendar::latest(path.as_str()))
        .or_else(property)
        .or_else(|| calendar::latest(title))
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn note(path: &str, text: &str) -> NoteText {
        NoteText::read(NoteSource {
            source: SourceName::new("notes").unwrap(),
            path: RelPath::new(path).unwrap(),
            path_is_shared: false,
            text: text.to_owned(),
            hits: Vec::new(),
        })
    }

    #[test]
    fn properties_are_lines_with_a_place() {
        let text =
            "---\nphone: \"+49 30 1\"\nattendees:\n  - Ann\n  - \"[[Bo]]\"\nempty:\n---\nText\n";
        let found = note("a.md", text).properties;
        let shown: Vec<_> = found
            .iter()
            .map(|p| (p.key.as_str(), p.value.as_str(), &text[p.span.clone()]))
            .collect();
        assert_eq!(
            shown,
            [
                ("phone", "+49 30 1", "phone: \"+49 30 1\""),
                (
                    "attendees",
                    "Ann [[Bo]]",
                    "attendees:\n  - Ann\n  - \"[[Bo]]\""
                ),
            ]
        );
    }

    #[test]
    fn the_day_of_a_note_comes_from_its_name_or_a_property() {
        let day = |path: &str, text: &str| note(path, text).date.map(|d| d.to_string());
        assert_eq!(
            day("daily/2026-05-14.md", ""),
            Some("2026-05-14".to_owned())
        );
        assert_eq!(
            day("a.md", "---\ndate: 2026-03-02\n---\n"),
            Some("2026-03-02".to_owned())
        );
        assert_eq!(day("a.md", "On 2026-03-02 it rained."), None);
    }

    #[test]
    fn sections_and_blocks_have_their_places_in_the_file() {
        let text = "---\na: b\n---\nTop\n\n# One\n\n- x\n- y\n\n## Two\n\nEnd\n";
        let note = note("a.md", text);
        let titles: Vec<_> = note
            .sections
            .iter()
            .map(|s| s.heading.to_string())
            .collect();
        assert_eq!(titles, ["", "H1: One", "H1: One > H2: Two"]);
        let list = note.blocks_of_section(1).next().unwrap();
        assert_eq!(note.slice(&note.span_of(list)), "- x\n- y");
        let y = text.find("- y").unwrap();
        let item = note.block_at(&(y + 2..y + 3)).unwrap();
        assert_eq!(note.kind_of(item), Some(BlockKind::Item));
        assert_eq!(note.outermost(item), list);
    }
}
