//! Turns documents of every kind into the same [`Document`]: markdown, plain text, Org files,
//! source code.
//!
//! Each kind produces an outline of blocks and headings, and the same code makes chunks from it.
//! Pure functions that never fail.

mod code;
mod org;
mod text;

use std::ops::Range;

use serde_json::{Map, Value};

use crate::markdown::{self, ChunkOptions, CountTokens, Document, Scheme};
use crate::types::{Heading, HeadingPath, LineSpan, RelPath};

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// Markdown, and everything else that is not one of the other kinds.
    Markdown,
    /// Paragraphs between blank lines, without any markup.
    Text,
    /// An Org file, read as markdown.
    Org,
    /// A source file.
    Code,
}

/// Extensions of source files, in lower case with their dots.
pub const CODE_EXTENSIONS: [&str; 9] = [
    ".rs", ".py", ".pyi", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs",
];

/// Extensions of files whose text must be extracted from their bytes, in lower case with their
/// dots. The extracted text is markdown.
pub const EXTRACTED_EXTENSIONS: [&str; 5] = [".canvas", ".docx", ".htm", ".html", ".pdf"];

/// The extension in [`EXTRACTED_EXTENSIONS`] with which a path or an address ends.
pub fn extracted(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    EXTRACTED_EXTENSIONS
        .into_iter()
        .find(|extension| has_extension(name, extension))
}

/// Whether a path or an address is that of an Org file. Its text is read as markdown, with the same
/// lines.
pub fn is_org(path: &str) -> bool {
    has_extension(path.rsplit('/').next().unwrap_or(path), ".org")
}

/// The title of a headline without the state, the priority and the tags that an Org file has there.
pub fn bare_headline(title: &str) -> &str {
    org::bare_title(title).0
}

/// Whether the name ends with the extension, ignoring case.
fn has_extension(name: &str, extension: &str) -> bool {
    let start = name.len().checked_sub(extension.len());
    start
        .and_then(|start| name.get(start..))
        .is_some_and(|end| end.eq_ignore_ascii_case(extension))
}

/// The line numbers of a document for a reader: `line 4`, `lines 4-6`. For an extracted text they
/// are `lines 4-6 of its text`, because no editor shows the file with these line numbers.
pub fn said_lines(path: &str, lines: LineSpan) -> String {
    let many = match lines.first() == lines.last() {
        true => "line",
        false => "lines",
    };
    match extracted(path) {
        Some(_) => format!("{many} {lines} of its text"),
        None => format!("{many} {lines}"),
    }
}

/// The headings above byte `at` of a passage below `heading`. A passage of an extracted text may
/// contain several places (cards, pages), each with its own heading, and a person opens the place
/// and not the passage. For other documents, the result is `heading` itself.
pub fn headings_at(path: &str, heading: &HeadingPath, passage: &str, at: usize) -> HeadingPath {
    if extracted(path).is_none() {
        return heading.clone();
    }
    let mut out = heading.headings().to_vec();
    let (mut seen, mut fence) = (0, "");
    for line in passage.split_inclusive('\n') {
        if seen > at {
            break;
        }
        seen += line.len();
        let bare = line.trim();
        let ticks = &bare[..bare.len() - bare.trim_start_matches('`').len()];
        if fence.is_empty() && ticks.len() >= 3 {
            fence = ticks;
        } else if !fence.is_empty() && bare == fence {
            fence = "";
        }
        let title = bare.trim_start_matches('#');
        let level = bare.len() - title.len();
        if !fence.is_empty() || !(1..=6).contains(&level) || !title.starts_with(' ') {
            continue;
        }
        let level = u8::try_from(level).unwrap_or(1);
        out.retain(|above| above.level < level);
        out.push(Heading {
            level,
            title: title.trim().to_owned(),
        });
    }
    HeadingPath::new(out).unwrap_or_else(|_| heading.clone())
}

/// The line of the file, from 1, that a heading of its extracted text names (`line 14 of the
/// file`); 1 if the file has no lines. `None` if the text was not extracted, so that both have the
/// same lines.
pub fn line_in_file(path: &str, heading: &HeadingPath) -> Option<usize> {
    extracted(path)?;
    Some(
        heading
            .headings()
            .iter()
            .find_map(|heading| line_number(&heading.title))
            .unwrap_or(1),
    )
}

/// The line number in a title `line N of the file`.
fn line_number(title: &str) -> Option<usize> {
    let line = title.strip_prefix("line ")?;
    line.strip_suffix(" of the file")?.parse().ok()
}

impl DocumentKind {
    /// The kind of a file, by its name.
    pub fn of(path: &RelPath) -> Self {
        let name = path.file_name().to_lowercase();
        let ends = |extension: &&str| name.ends_with(*extension);
        if CODE_EXTENSIONS.iter().any(ends) {
            Self::Code
        } else if ends(&".txt") {
            Self::Text
        } else if ends(&".org") {
            Self::Org
        } else {
            Self::Markdown
        }
    }
}

/// A function, class or other thing that source code defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The name as the code spells it.
    pub name: String,
    /// Its bytes in the file, including the comment or attributes above it if they are known.
    pub range: Range<usize>,
}

/// Parses a document of this kind. Markdown is parsed by [`markdown::parse`]. `definitions` are
/// those of source code, in any order; they may be nested. The same text, options, counter and
/// definitions give the same document, whose chunks are slices of `text`.
pub fn parse(
    kind: DocumentKind,
    text: &str,
    definitions: &[Definition],
    options: &ChunkOptions,
    count: CountTokens<'_>,
) -> Document {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let base = text.len() - body.len();
    let (outline, properties) = match kind {
        DocumentKind::Markdown => return markdown::parse(text, options, count),
        DocumentKind::Text => (text::outline(body), Map::new()),
        DocumentKind::Org => org::read(body),
        DocumentKind::Code => (code::outline(body, &moved(definitions, base)), Map::new()),
    };
    markdown::of_outline(text, base, outline, properties, options, count)
}

/// Whether a document is private: it has `private: true` in its frontmatter (or `#+private: true`),
/// one of `tags`, or a tag nested below one of them. Case is ignored. If the frontmatter could not
/// be parsed or is never closed, the word `private` or one of `tags` in it is enough.
pub fn is_private(path: &RelPath, text: &str, tags: &[String]) -> bool {
    let lower = text.to_lowercase();
    let may_be = lower.contains("private") || tags.iter().any(|tag| lower.contains(&**tag));
    if !may_be {
        return false;
    }
    let kind = DocumentKind::of(path);
    if extracted(path.as_str()) == Some(".canvas") {
        let mut cards = cards(text).into_iter();
        return cards.any(|card| is_part_private(kind, card, tags));
    }
    is_part_private(kind, text, tags)
}

/// The text of a canvas, cut before the heading of each card, so that no card can hide another one.
fn cards(text: &str) -> Vec<&str> {
    let (mut cards, mut start, mut at) = (Vec::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        let title = line.trim_end().trim_start_matches('#').trim_start();
        if line.starts_with('#') && line_number(title).is_some() {
            cards.push(&text[start..at]);
            start = at;
        }
        at += line.len();
    }
    cards.push(&text[start..]);
    cards
}

/// Whether a document, or a card of one, is private.
fn is_part_private(kind: DocumentKind, text: &str, tags: &[String]) -> bool {
    let options = ChunkOptions {
        scheme: Scheme::ObsidianV2,
        max_tokens: usize::MAX,
        max_chars: usize::MAX,
        overlap: 0,
    };
    let document = parse(kind, text, &[], &options, &|text| text.len());
    document.frontmatter.json.iter().any(says_private)
        || document.tags.iter().any(|tag| is_below(tag, tags))
        || kind == DocumentKind::Markdown
            && markdown::unread_frontmatter(text, document.frontmatter.state)
                .is_some_and(|matter| may_say_private(matter, tags))
}

/// Whether a frontmatter whose keys are not known has the word `private` or one of `tags`.
fn may_say_private(matter: &str, tags: &[String]) -> bool {
    let matter = matter.to_lowercase();
    has_word(&matter, "private") || tags.iter().any(|tag| has_word(&matter, tag))
}

/// Whether the text has the word: no letter or digit is directly before or after it.
fn has_word(text: &str, word: &str) -> bool {
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            !text[..at].ends_with(char::is_alphanumeric)
                && !text[at + word.len()..].starts_with(char::is_alphanumeric)
        })
}

/// Words that mean that a note is not private. `nil` is the one of Org files.
const NOT_PRIVATE: [&str; 7] = ["false", "no", "n", "f", "off", "0", "nil"];

/// Whether a property is `private` with a value that does not plainly mean "no". An empty value, or
/// one that is not understood, keeps the note private.
fn says_private((key, value): (&String, &Value)) -> bool {
    let is_no = match value {
        Value::Bool(is_private) => !is_private,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(word) => NOT_PRIVATE.contains(&word.trim().to_lowercase().as_str()),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    };
    key.trim().eq_ignore_ascii_case("private") && !is_no
}

/// Whether a tag is one of `tags` (lower case), or nested below one.
fn is_below(tag: &str, tags: &[String]) -> bool {
    let tag = tag.to_lowercase();
    tags.iter().any(|one| {
        tag.strip_prefix(one.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The definitions with positions in the text without its first `base` bytes.
fn moved(definitions: &[Definition], base: usize) -> Vec<Definition> {
    definitions
        .iter()
        .map(|definition| moved_definition(base, definition))
        .collect()
}

/// The definition with its position relative to `base`.
fn moved_definition(base: usize, definition: &Definition) -> Definition {
    Definition {
        name: definition.name.clone(),
        range: definition.range.start.saturating_sub(base)
            ..definition.range.end.saturating_sub(base),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPTIONS: ChunkOptions = ChunkOptions {
        scheme: Scheme::ObsidianV2,
        max_tokens: 40,
        max_chars: 1200,
        overlap: 120,
    };

    fn words(text: &str) -> usize {
        text.split_whitespace().count()
    }

    fn cut(kind: DocumentKind, text: &str, definitions: &[Definition]) -> Vec<(String, String)> {
        let document = parse(kind, text, definitions, &OPTIONS, &words);
        let shown = |chunk: &markdown::Chunk| {
            let slice = &text[chunk.span.start()..chunk.span.end()];
            (slice.to_owned(), chunk.heading.to_string())
        };
        document.chunks.iter().map(shown).collect()
    }

    fn long(word: &str, n: usize) -> String {
        vec![word; n].join(" ")
    }

    #[test]
    fn a_kind_is_told_by_the_name() {
        let of = |path: &str| DocumentKind::of(&RelPath::new(path).unwrap());
        assert_eq!(of("a/b.md"), DocumentKind::Markdown);
        assert_eq!(of("a/README.TXT"), DocumentKind::Text);
        assert_eq!(of("todo.org"), DocumentKind::Org);
        assert_eq!(of("src/net.py"), DocumentKind::Code);
        assert_eq!(of("board.canvas"), DocumentKind::Markdown);
    }

    #[test]
    fn lines_of_an_extracted_text_are_called_that() {
        let said = |path: &str, first, last| said_lines(path, LineSpan::new(first, last).unwrap());
        assert_eq!(said("n:a/b.md", 4, 4), "line 4");
        assert_eq!(said("a.md", 4, 6), "lines 4-6");
        assert_eq!(said("n:a/B.Canvas", 4, 4), "line 4 of its text");
        assert_eq!(said("x.docx", 4, 6), "lines 4-6 of its text");
        assert_eq!(extracted("a.canvas/b.md"), None);
        assert_eq!(extracted("ü.htm"), Some(".htm"));
    }

    #[test]
    fn a_passage_of_an_extracted_text_has_its_places_in_it() {
        let passage = "## Pond\n\n### line 3 of the file\n\ncarp\n\n```\n# no\n```\n\n### line 4 of the file\n\npike\n";
        let at = |path: &str, word: &str| {
            let at = passage.find(word).unwrap();
            headings_at(path, &HeadingPath::default(), passage, at).to_string()
        };
        assert_eq!(at("a.canvas", "carp"), "H2: Pond > H3: line 3 of the file");
        assert_eq!(at("a.canvas", "pike"), "H2: Pond > H3: line 4 of the file");
        assert_eq!(at("a.canvas", "# no"), "H2: Pond > H3: line 3 of the file");
        assert_eq!(at("a.md", "pike"), "");
        let line = |path: &str, at| {
            line_in_file(
                path,
                &headings_at(path, &HeadingPath::default(), passage, at),
            )
        };
        assert_eq!(line("a.canvas", passage.len()), Some(4));
        assert_eq!(line("a.pdf", 0), Some(1));
        assert_eq!(line("a.md", 0), None);
    }

    #[test]
    fn a_note_is_private_by_its_frontmatter_or_a_tag() {
        let tags = ["private".to_owned(), "diary".to_owned()];
        let is = |path: &str, text: &str| is_private(&RelPath::new(path).unwrap(), text, &tags);
        for text in [
            "---\nprivate: true\n---\nx",
            "---\nPrivate: \"yes\"\n---\nx",
            "---\ntags: [Diary/2026]\n---\nx",
            "Today #private was fine",
            "---\nprivate: true\nbad: [\n---\nx",
        ] {
            assert!(is("a.md", text), "{text}");
        }
        for value in [
            "on", "On", "1", "y", "True", "ja", "x", "2026", "[me]", "{a: 1}", "~", "", "\"\"",
            "-1",
        ] {
            let text = format!("---\nprivate: {value}\n---\nx");
            assert!(is("a.md", &text), "{text}");
        }
        for value in ["no", "No", "off", "0", "0.0", "n", "False", "\"false\""] {
            let text = format!("---\nprivate: {value}\n---\nx");
            assert!(!is("a.md", &text), "{text}");
        }
        assert!(is("a.org", "#+PRIVATE: on\n* A\n"));
        assert!(!is("a.org", "#+PRIVATE: nil\n* A\n"));
        for text in [
            "---\nprivate: false\n---\nx",
            "private: true",
            "a #diaryfarm, `#private`",
            "---\ntags: [privateer]\n---\n",
        ] {
            assert!(!is("a.md", text), "{text}");
        }
        let cards = "## line 2 of the file\n\n```\nopen\n\n## line 3 of the file\n\n#private\n";
        assert!(is("a.canvas", cards) && !is("a.md", cards));
        assert!(is("a.org", "#+FILETAGS: :private:\n* A\n"));
        assert!(!is("a.txt", "#private"));
    }

    #[test]
    fn a_private_note_with_a_broken_frontmatter_stays_private() {
        let tags = ["private".to_owned(), "tagebuch/über".to_owned()];
        let is = |text: &str| is_private(&RelPath::new("a.md").unwrap(), text, &tags);
        let long = format!("---\nx: {}\nprivate: true\n---\n", "y".repeat(70_000));
        for text in [
            "---\ntitle: Meeting: salaries\ntags:\n  - private\n---\nx",
            "---\ntitle: Meeting: salaries\ntags: [private, work]\n---\nx",
            "---\ntitle: Meeting: salaries\nprivate: true # mine\n---\nx",
            "---\r\ntitle: a: b\r\n  Private : yes\r\n...\r\nx",
            "---\na: &x b\nc: *x\ntags:\n- Tagebuch/Über/2026\n---\nx",
            "---\ntitle: Salaries\nprivate: true\n\nx",
            "\u{feff}---\ntitle: Salaries\ntags:\n  - private\nx",
            &long,
        ] {
            assert!(is(text), "{text:.80}");
        }
        for text in [
            "---\ntitle: a: b\n---\nMy private life.",
            "---\ntitle: a: privateers\n---\nx",
            "---\ntitle: private lessons\n---\nx",
            "---\n\nA private thought below a rule.\n",
        ] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn plain_text_has_no_markup() {
        let text = format!(
            "# a remark\n{}\n\n* star {}\n",
            long("one", 30),
            long("two", 30)
        );
        let found = cut(DocumentKind::Text, &text, &[]);
        assert_eq!(found.len(), 2);
        assert!(found[0].0.starts_with("# a remark") && found[0].1.is_empty());
        assert!(found[1].0.starts_with("* star") && found[1].1.is_empty());
    }

    #[test]
    fn org_headlines_make_sections_and_keywords_make_properties() {
        let text = format!(
            "#+TITLE: Bread\n#+FILETAGS: :food:slow:\n\n* TODO Dough :baking:\n{}\n** Flour\n{}\n",
            long("mix", 35),
            long("rye", 35)
        );
        let document = parse(DocumentKind::Org, &text, &[], &OPTIONS, &words);
        assert_eq!(document.title.as_deref(), Some("Bread"));
        assert_eq!(document.tags, ["food", "slow", "baking"]);
        let paths: Vec<String> = document
            .chunks
            .iter()
            .map(|chunk| chunk.heading.to_string())
            .collect();
        assert_eq!(paths, ["", "H1: Dough", "H1: Dough > H2: Flour"]);
    }

    #[test]
    fn org_source_blocks_hold_no_headlines_and_links_are_found() {
        let text = "* A\n#+begin_src sh\n* not a headline\n#+end_src\nsee [[file:b.org][the other]] and [[https://x.org]]\n";
        let document = parse(DocumentKind::Org, text, &[], &OPTIONS, &words);
        assert_eq!(document.headings.len(), 1);
        let links: Vec<(&str, Option<&str>)> = document
            .links
            .iter()
            .map(|link| (link.target.as_str(), link.text.as_deref()))
            .collect();
        assert_eq!(
            links,
            [("b.org", Some("the other")), ("https://x.org", None)]
        );
    }

    #[test]
    fn code_is_cut_at_its_definitions() {
        let body = "    x = 1 # words\n".repeat(7);
        let text = format!("import os\n\ndef first():\n{body}\ndef second():\n{body}");
        let second = text.find("def second").unwrap();
        let definitions = [
            Definition {
                name: "second".to_owned(),
                range: second..text.len(),
            },
            Definition {
                name: "first".to_owned(),
                range: text.find("def first").unwrap()..second - 1,
            },
        ];
        let found = cut(DocumentKind::Code, &text, &definitions);
        assert!(
            found
                .iter()
                .any(|(text, path)| { text.starts_with("def second():") && path == "H3: second" })
        );
        assert!(
            found
                .iter()
                .all(|(text, _)| { !(text.contains("def first") && text.contains("def second")) })
        );
    }

    proptest! {
        #[test]
        fn chunks_are_slices_in_order_and_hold_every_word(
            text in "[-a1 *#:\n\\[\\]+|]{0,160}",
            kind in prop::sample::select(vec![DocumentKind::Text, DocumentKind::Org, DocumentKind::Code]),
            cuts in prop::collection::vec((0usize..160, 0usize..160), 0..4),
        ) {
            let definitions: Vec<Definition> = cuts
                .into_iter()
                .map(|(a, b)| Definition { name: "f".to_owned(), range: a.min(b)..a.max(b) })
                .collect();
            let document = parse(kind, &text, &definitions, &OPTIONS, &words);
            let mut at = 0;
            for chunk in &document.chunks {
                prop_assert!(chunk.span.start() >= at);
                prop_assert!(text[at..chunk.span.start()].trim().is_empty());
                at = chunk.span.end();
            }
            prop_assert!(text[at..].trim().is_empty());
        }
    }
}
