//! Citations of files, as people, coding agents and note programs write them.
//!
//! | form | meaning |
//! | --- | --- |
//! | `[notes/a.md:12-18]`, `(a.md:12)`, `[a.md:1-2, b.md:4]` | lines, counted from 1, the last one included |
//! | `(see a.md line 12)`, `(a.md, lines 12-18)` | lines, in words |
//! | `(source: a.md:12)`, `[source: a.md:12]` | lines, with a word before them |
//! | `[a.md#Heading]`, `(a.md#^block)` | a section or a block |
//! | `` `src/a.rs:12-18` `` | lines |
//! | `[text](a.md#L12-L18)`, `[text](a.md:12)` | lines, as a link on words of the sentence |
//! | `[text](a.md)`, `[text](a.md#heading)` | the file, or one section of it |
//! | `[[Note]]`, `[[Note#Heading\|alias]]`, `[[Note#^block]]` | the same for a note by its name |
//! | `[^1]` with `[^1]: a.md:12` below | the citation in the footnote |
//!
//! Nothing inside a code block, HTML or a comment is a citation.

mod target;

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

use local_agent_text::markdown::shallow;
pub use target::{CitedPart, FileTarget};
use target::{link_target, note_target, places, unclear_lines, unclear_place};

/// One citation of one or more files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCitation {
    /// Its bytes in the answer.
    pub span: Range<usize>,
    /// What it cites, in the order written; at least one.
    pub targets: Vec<FileTarget>,
    /// The words of a link that are part of the sentence: neither the path itself nor just a
    /// number.
    pub words: Option<Range<usize>>,
    /// Whether the form also has other uses, such as `host.name:80`: it is a citation only if the
    /// path exists or contains a folder.
    pub is_weak: bool,
}

/// All citations of files in one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileCitations {
    /// In order, without overlap.
    pub citations: Vec<FileCitation>,
    /// What may be meant as a citation and names no part of a file ([`CitedPart::Unclear`]). In order.
    pub unclear: Vec<FileCitation>,
    /// Footnotes that contain only citations. In order, without overlap.
    pub footnotes: Vec<Range<usize>>,
}

/// Longest possible citation, in bytes.
const LONGEST: usize = 1024;

/// Finds them all. Linear in the length of the text.
pub fn file_citations(text: &str) -> FileCitations {
    let scan = Scan::of(text);
    let footnotes = scan.footnotes();
    let found = scan.citations(&footnotes).into_iter();
    let (unclear, citations) = found.partition(is_unclear);
    FileCitations {
        citations,
        unclear,
        footnotes: footnotes.into_iter().map(|f| f.line).collect(),
    }
}

fn is_unclear(citation: &FileCitation) -> bool {
    let mut targets = citation.targets.iter();
    targets.any(|target| matches!(target.part, CitedPart::Unclear { .. }))
}

/// The blocks of code, HTML and comments of a text, in order, without overlap.
fn hidden(text: &str) -> Vec<Range<usize>> {
    let flat = shallow(text);
    let mut found: Vec<Range<usize>> = Parser::new_ext(&flat, Options::ENABLE_TABLES)
        .into_offset_iter()
        .filter_map(|(event, range)| match event {
            Event::Start(Tag::CodeBlock(_) | Tag::HtmlBlock)
            | Event::Html(_)
            | Event::InlineHtml(_) => Some(range),
            _ => None,
        })
        .collect();
    let mut open = None;
    for (at, _) in text.match_indices("%%") {
        match open.take() {
            Some(start) => found.push(start..at + 2),
            None => open = Some(at),
        }
    }
    found.sort_by_key(|range| range.start);
    found.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    found
}

/// Words before the place that a remark in parentheses points to, in lower case.
const SEE: [&str; 6] = [
    "see also ",
    "see ",
    "cf. ",
    "siehe auch ",
    "siehe ",
    "vgl. ",
];

/// Words between a file and the numbers of its lines, in lower case.
const LINE: [&str; 4] = [" lines ", " line ", " zeilen ", " zeile "];

/// Words before a citation that only say that it is one, in lower case: "(source: `a.md:8`)". A blank
/// follows, so that they are not taken for the name of a source.
const LEADS: [&str; 14] = [
    "source: ",
    "sources: ",
    "src: ",
    "ref: ",
    "reference: ",
    "quelle: ",
    "quellen: ",
    "fuente: ",
    "fonte: ",
    "fonti: ",
    "bron: ",
    "źródło: ",
    "источник: ",
    "source : ",
];

/// The citation behind such words.
fn without_lead(remark: &str) -> &str {
    let found = LEADS.iter().find_map(|lead| {
        let start = remark.get(..lead.len())?;
        let is_lead = start.to_lowercase() == **lead;
        is_lead.then(|| remark.get(lead.len()..)).flatten()
    });
    found.map_or(remark, str::trim_start)
}

/// Longest remark, in bytes.
const LONGEST_REMARK: usize = 300;

/// `see a.md, lines 12-18` as `a.md:12-18`; `None` if it is already short, or names no file with an
/// extension.
fn in_short(remark: &str) -> Option<String> {
    let remark = without_lead(remark.trim());
    let begins_as_one = remark.starts_with(|c: char| c.is_alphanumeric() || "._/".contains(c));
    if remark.len() > LONGEST_REMARK || !begins_as_one {
        return None;
    }
    let lower = remark.to_ascii_lowercase();
    let see = SEE.iter().find(|word| lower.starts_with(**word));
    let from = see.map_or(0, |word| word.len());
    let in_words = LINE
        .iter()
        .find_map(|word| Some((lower.rfind(word)?, word.len())));
    let (path, lines) = match in_words {
        Some((at, length)) => (remark.get(from..at)?, remark.get(at + length..)),
        None => (remark.get(from..).filter(|_| see.is_some())?, None),
    };
    let path = path.trim_end_matches([',', ' ']);
    match lines {
        Some(lines) if names_a_file(path) => Some(format!("{path}:{}", lines.trim())),
        Some(_) => None,
        None => Some(path.to_owned()),
    }
}

/// Whether a path has no blank in it, and its last name an extension with a letter.
fn names_a_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    !path.contains(char::is_whitespace)
        && extension.is_some_and(|extension| {
            extension.chars().all(char::is_alphanumeric)
                && extension.contains(|c: char| c.is_alphabetic())
        })
}

/// A footnote definition that only cites.
struct Footnote {
    name: String,
    line: Range<usize>,
    targets: Vec<FileTarget>,
}

/// What was found at an opening character.
enum Step {
    Cite(FileCitation),
    /// Not a citation, and no citation starts before this byte.
    Skip(usize),
    Nothing,
}

struct Scan<'t> {
    text: &'t str,
    hidden: Vec<Range<usize>>,
}

impl<'t> Scan<'t> {
    fn of(text: &'t str) -> Self {
        Self {
            text,
            hidden: hidden(text),
        }
    }

    /// All citations, in order, without overlap, but not those in the definitions of footnotes.
    fn citations(&self, footnotes: &[Footnote]) -> Vec<FileCitation> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(next) = self.next_opening(at) {
            at = next + 1;
            if let Some(end) = self.hidden_until(next) {
                at = end;
                continue;
            }
            let following = footnotes.partition_point(|footnote| footnote.line.end <= next);
            if let Some(footnote) = footnotes.get(following)
                && footnote.line.contains(&next)
            {
                at = footnote.line.end;
                continue;
            }
            match self.citation(next, footnotes) {
                Step::Cite(citation) => {
                    at = citation.span.end;
                    found.push(citation);
                }
                Step::Skip(end) => at = end,
                Step::Nothing => {}
            }
        }
        found
    }

    fn get(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or("")
    }

    fn rest(&self, at: usize) -> &str {
        self.text.get(at..).unwrap_or("")
    }

    /// The text from byte `at` to the end of its line, cut after the longest citation.
    fn line_from(&self, at: usize) -> &str {
        line_start(self.rest(at), LONGEST + 2)
    }

    fn next_opening(&self, at: usize) -> Option<usize> {
        self.rest(at).find(['[', '(', '`', '!']).map(|i| at + i)
    }

    /// The end of the hidden range that contains byte `at`.
    fn hidden_until(&self, at: usize) -> Option<usize> {
        let next = self.hidden.partition_point(|range| range.end <= at);
        let range = self.hidden.get(next)?;
        range.contains(&at).then_some(range.end)
    }

    /// The definitions of footnotes that contain at least one citation and no other words.
    fn footnotes(&self) -> Vec<Footnote> {
        let mut out = Vec::new();
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let range = start..start + line.trim_end().len();
            start += line.len();
            if self.hidden_until(range.start).is_some() {
                continue;
            }
            let Some((name, body)) = definition(line.trim_end()) else {
                continue;
            };
            let targets = cited_by_footnote(body);
            if !targets.is_empty() {
                out.push(Footnote {
                    name: name.to_owned(),
                    line: range,
                    targets,
                });
            }
        }
        out
    }

    fn citation(&self, at: usize, footnotes: &[Footnote]) -> Step {
        let rest = self.rest(at);
        match rest.as_bytes() {
            [b'`', ..] => self.code(at),
            [b'(', ..] => self.round(at),
            [b'!', b'[', ..] => self.image(at),
            [b'[', b'[', ..] => self.wiki_link(at),
            [b'[', b'^', ..] => self.footnote_mark(at, footnotes),
            [b'[', ..] => self.bracket(at),
            _ => Step::Nothing,
        }
    }

    /// Reads `` `a.rs:12` ``; skips any other code span.
    fn code(&self, at: usize) -> Step {
        let rest = self.rest(at);
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let fence = self.get(at..at + ticks);
        let inner = at + ticks;
        let Some(length) = closing_ticks(self.rest(inner), fence) else {
            return Step::Skip(inner);
        };
        let end = inner + length + ticks;
        let inner_text = self.get(inner..inner + length);
        let unclear = || unclear_lines(inner_text).map(|target| vec![target]);
        match places(inner_text).or_else(unclear) {
            Some(targets) => Step::Cite(FileCitation {
                span: at..end,
                targets,
                words: None,
                is_weak: true,
            }),
            None => Step::Skip(end),
        }
    }

    /// Reads `(a.rs:12)` and `(see a.rs line 12)`.
    fn round(&self, at: usize) -> Step {
        let Some(inner) = self.inside(at + 1, ')') else {
            return Step::Nothing;
        };
        let end = inner.end + 1;
        let inner = without_lead(self.get(inner));
        let short = in_short(inner).and_then(|short| places(&short));
        match short.or_else(|| places(inner)) {
            Some(targets) => Step::Cite(FileCitation {
                span: at..end,
                targets,
                words: None,
                is_weak: true,
            }),
            None => Step::Nothing,
        }
    }

    /// Skips a picture, which is not a citation.
    fn image(&self, at: usize) -> Step {
        let end = self
            .inside(at + 2, ']')
            .filter(|inner| self.rest(inner.end + 1).starts_with('('))
            .and_then(|inner| self.inside(inner.end + 2, ')'));
        match end {
            Some(target) => Step::Skip(target.end + 1),
            None if self.rest(at + 1).starts_with("[[") => {
                let end = self.line_from(at).find("]]");
                let end = end.map_or(at + 3, |end| at + end + 2);
                Step::Skip(end)
            }
            None => Step::Nothing,
        }
    }

    /// Reads `[[Note#Heading|alias]]`.
    fn wiki_link(&self, at: usize) -> Step {
        let inner_start = at + 2;
        let Some(length) = self.line_from(inner_start).find("]]") else {
            return Step::Nothing;
        };
        let inner = self.get(inner_start..inner_start + length);
        let end = inner_start + length + 2;
        let (target, alias) = match inner.split_once('|') {
            Some((target, alias)) => (target, Some(alias)),
            None => (inner, None),
        };
        let Some(target) = note_target(target.trim_end_matches('\\')) else {
            return Step::Skip(end);
        };
        let words = match alias {
            Some(alias) => {
                let from = end - 2 - alias.len();
                belongs(alias, &target.path).then_some(from..end - 2)
            }
            // If the sentence continues after the name, the name is one of its words.
            None => self
                .goes_on(end)
                .then_some(inner_start..inner_start + target.name_length),
        };
        Step::Cite(FileCitation {
            span: at..end,
            targets: vec![target.target],
            words,
            is_weak: false,
        })
    }

    /// Whether a word follows on the same line.
    fn goes_on(&self, at: usize) -> bool {
        let rest = self.rest(at).trim_start_matches([' ', '*', '_']);
        rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '\'' | '’'))
    }

    /// Reads `[^1]` if the footnote is a citation.
    fn footnote_mark(&self, at: usize, footnotes: &[Footnote]) -> Step {
        let Some(inner) = self.inside(at + 1, ']') else {
            return Step::Nothing;
        };
        let end = inner.end + 1;
        let name = self.get(inner.start + 1..inner.end);
        match footnotes.iter().find(|footnote| footnote.name == name) {
            Some(footnote) => Step::Cite(FileCitation {
                span: at..end,
                targets: footnote.targets.clone(),
                words: None,
                is_weak: false,
            }),
            None => Step::Skip(end),
        }
    }

    /// Reads `[a.md:12]` or `[text](a.md#L12)`.
    fn bracket(&self, at: usize) -> Step {
        let Some(inner) = self.inside(at + 1, ']') else {
            return Step::Nothing;
        };
        let close = inner.end + 1;
        if let Some(target) = self
            .rest(close)
            .starts_with('(')
            .then(|| self.inside(close + 1, ')'))
            .flatten()
        {
            let end = target.end + 1;
            return match link_target(self.get(target)) {
                Some(target) => Step::Cite(FileCitation {
                    span: at..end,
                    words: Some(inner.clone())
                        .filter(|w| belongs(self.get(w.clone()), &target.path)),
                    targets: vec![target],
                    is_weak: false,
                }),
                None => Step::Skip(end),
            };
        }
        let inner = without_lead(self.get(inner));
        if let Some(targets) = places(inner) {
            return Step::Cite(FileCitation {
                span: at..close,
                targets,
                words: None,
                is_weak: false,
            });
        }
        // A definition of a link begins in the same way.
        let unclear = unclear_place(inner).filter(|_| !self.rest(close).starts_with(':'));
        unclear.map_or(Step::Nothing, |target| {
            Step::Cite(FileCitation {
                span: at..close,
                targets: vec![target],
                words: None,
                is_weak: true,
            })
        })
    }

    /// The bytes up to `close` on the same line.
    fn inside(&self, from: usize, close: char) -> Option<Range<usize>> {
        let end = self
            .rest(from)
            .char_indices()
            .take(LONGEST)
            .take_while(|(_, c)| *c != '\n')
            .find(|(_, c)| *c == close || *c == '[')?;
        (end.1 == close).then_some(from..from + end.0)
    }
}

/// Where the code that `fence` opened ends: at the same number of back-ticks, on the same line.
fn closing_ticks(rest: &str, fence: &str) -> Option<usize> {
    let line = line_start(rest, LONGEST);
    let mut at = 0;
    while let Some(found) = line.get(at..)?.find('`').map(|i| at + i) {
        let run = line.get(found..)?;
        let ticks = run.len() - run.trim_start_matches('`').len();
        if ticks == fence.len() {
            return Some(found);
        }
        at = found + ticks;
    }
    None
}

/// The first line of a text, at most `most` bytes of it. Nothing behind them is read.
fn line_start(text: &str, most: usize) -> &str {
    let start = text.get(..floor(text, most)).unwrap_or("");
    start.split('\n').next().unwrap_or("")
}

/// The largest character boundary of `text` that is at most `most`.
fn floor(text: &str, most: usize) -> usize {
    (0..=most.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// Splits `[^name]: body` into name and body.
fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix("[^")?;
    rest.split_once("]:")
        .filter(|(name, _)| !name.is_empty() && !name.contains(['[', ']']))
}

/// The targets of a footnote that consists only of citations: places, links and note links
/// separated by commas.
fn cited_by_footnote(body: &str) -> Vec<FileTarget> {
    if let Some(targets) = places(body.trim().trim_end_matches('.')) {
        return targets;
    }
    // A footnote has no footnotes of its own.
    let mut found = Scan::of(body).citations(&[]);
    found.retain(|citation| !is_unclear(citation));
    let mut rest = body.to_owned();
    for citation in found.iter().rev() {
        rest.replace_range(citation.span.clone(), " ");
    }
    let only_cites = !rest.chars().any(char::is_alphanumeric);
    match only_cites {
        true => found.into_iter().flat_map(|c| c.targets).collect(),
        false => Vec::new(),
    }
}

/// Whether the words of a link are part of the sentence.
fn belongs(words: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let plain = words.trim().trim_matches('`');
    let is_label = plain.chars().all(|c| c.is_ascii_digit())
        || matches!(
            plain.to_lowercase().as_str(),
            "source" | "src" | "ref" | "link" | "note"
        );
    !(is_label
        || plain == path
        || plain == name
        || plain == stem
        || plain.starts_with(name)
        || plain.starts_with(path))
}

#[cfg(test)]
mod tests;
