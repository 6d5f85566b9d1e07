//! Org files: headlines with their tags, `#+KEY: value` lines, blocks, tables, links. They are read as
//! markdown with the same lines: `#` instead of `*`, fences around blocks, `#tag` in headlines. What
//! they were written as is read, too.

use serde_json::{Map, Value};

use crate::markdown::{BlockKinds, Link, LinkKind, Outline, Shape};
use crate::types::ByteSpan;

/// Words that may come before the title of a headline and are not part of it.
const STATES: [&str; 6] = ["TODO", "DONE", "NEXT", "WAITING", "CANCELLED", "HOLD"];

/// Maximum level of a headline; deeper ones count as this level, because headings have no more
/// levels.
const DEEPEST: usize = 6;

/// The kind of block being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OrgBlock {
    Text,
    Table,
    /// A block that ends at its closing line.
    Block,
    /// A block between fences of so many backticks.
    Fenced(usize),
}

/// The blocks, headings, links and tags of an Org file, and its `#+KEY: value` lines.
pub(super) fn read(text: &str) -> (Outline, Map<String, Value>) {
    let mut reader = OrgReader {
        text,
        outline: Outline::default(),
        properties: Map::new(),
        open: None,
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.take(line, at);
        at += line.len();
    }
    reader.close();
    (reader.outline, reader.properties)
}

struct OrgReader<'a> {
    text: &'a str,
    outline: Outline,
    properties: Map<String, Value>,
    /// The open block, with its start and its end so far.
    open: Option<(OrgBlock, usize, usize)>,
}

impl OrgReader<'_> {
    fn take(&mut self, line: &str, at: usize) {
        let end = at + line.len();
        let bare = line.trim();
        if let Some((OrgBlock::Block, _, until)) = &mut self.open {
            *until = end;
            if starts_with(bare, "#+end") {
                self.close();
            }
            return;
        }
        if let Some((OrgBlock::Fenced(ticks), _, until)) = &mut self.open {
            let ticks = *ticks;
            *until = end;
            if ticks_of(bare) >= ticks && bare.len() == ticks_of(bare) {
                self.close();
            }
            return;
        }
        if let Some((level, title, tags)) = headline(line) {
            self.close();
            let node = self.outline.push(at..end, BlockKinds::HEADING, Shape::Text);
            self.outline.head(node, level, title.to_owned());
            self.tag(tags);
        } else if starts_with(bare, "#+begin") {
            self.close();
            self.open = Some((OrgBlock::Block, at, end));
        } else if ticks_of(bare) >= 3 {
            self.close();
            self.open = Some((OrgBlock::Fenced(ticks_of(bare)), at, end));
        } else if let Some((key, value)) = keyword(bare) {
            self.keep(&key, value);
            self.extend(OrgBlock::Text, at, end);
        } else if bare.is_empty() {
            self.close();
        } else if bare.starts_with('|') {
            self.extend(OrgBlock::Table, at, end);
        } else {
            self.links(line, at);
            self.extend(OrgBlock::Text, at, end);
        }
    }

    fn extend(&mut self, run: OrgBlock, at: usize, end: usize) {
        match &mut self.open {
            Some((open, _, until)) if *open == run => *until = end,
            _ => {
                self.close();
                self.open = Some((run, at, end));
            }
        }
    }

    fn close(&mut self) {
        let Some((run, start, end)) = self.open.take() else {
            return;
        };
        let (kinds, shape) = match run {
            OrgBlock::Text => (BlockKinds::PARAGRAPH, Shape::Text),
            OrgBlock::Table => (BlockKinds::TABLE, Shape::Lines),
            OrgBlock::Block | OrgBlock::Fenced(_) => (BlockKinds::CODE, Shape::Lines),
        };
        if !self.text[start..end].trim().is_empty() {
            self.outline.push(start..end, kinds, shape);
        }
    }

    fn keep(&mut self, key: &str, value: &str) {
        if key == "filetags" {
            self.tag(value.split(':').flat_map(str::split_whitespace));
        } else if !value.is_empty() {
            self.properties
                .entry(key.to_owned())
                .or_insert_with(|| Value::String(without_brackets(value).to_owned()));
        }
    }

    fn tag<'t>(&mut self, tags: impl Iterator<Item = &'t str>) {
        let tags = tags.filter(|tag| !tag.is_empty()).map(str::to_owned);
        self.outline.tags.extend(tags);
    }

    /// Adds the links `[[target]]` and `[[target][words]]`.
    fn links(&mut self, line: &str, at: usize) {
        let mut from = 0;
        while let Some(start) = line[from..].find("[[").map(|found| from + found) {
            let Some(end) = line[start..].find("]]").map(|found| start + found + 2) else {
                return;
            };
            let inside = &line[start + 2..end - 2];
            let (target, words) = match inside.split_once("][") {
                Some((target, words)) => (target, Some(words.to_owned())),
                None => (inside, None),
            };
            let (target, anchor) = split_target(target);
            if let Some(span) = ByteSpan::new(at + start, at + end) {
                self.outline.links.push(Link {
                    kind: if target.contains(':') {
                        LinkKind::Autolink
                    } else {
                        LinkKind::Markdown
                    },
                    target: target.to_owned(),
                    anchor,
                    text: words,
                    span,
                });
            }
            from = end;
        }
    }
}

/// Splits `file:a.org::*Heading` into the file and the heading.
fn split_target(target: &str) -> (&str, Option<String>) {
    let target = target.strip_prefix("file:").unwrap_or(target);
    match target.split_once("::") {
        Some((file, place)) => (file, Some(place.trim_start_matches('*').to_owned())),
        None => (target, None),
    }
}

/// Removes the brackets of `<2026-01-31 Sat>` and `[2026-01-31]`.
fn without_brackets(value: &str) -> &str {
    value.trim_matches(['<', '>', '[', ']'])
}

fn starts_with(line: &str, mark: &str) -> bool {
    line.get(..mark.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// The number of backticks with which a line begins.
fn ticks_of(bare: &str) -> usize {
    bare.len() - bare.trim_start_matches('`').len()
}

/// Parses `* TODO [#A] Title :tag:other:` or `# TODO [#A] Title #tag #other` into level, title and
/// tags.
fn headline(line: &str) -> Option<(u8, &str, impl Iterator<Item = &str>)> {
    let mark = line.chars().next().filter(|c| matches!(c, '*' | '#'))?;
    let rest = line.trim_start_matches(mark);
    let marks = line.len() - rest.len();
    let rest = rest.strip_prefix([' ', '\t'])?;
    let level = u8::try_from(marks.min(DEEPEST)).ok()?;
    let (title, tags) = bare_title(rest.trim());
    let tags = tags.split(|c: char| c == ':' || c == '#' || c.is_whitespace());
    Some((level, title, tags))
}

/// Splits a title into its words, without state and priority, and the tags behind them.
pub(super) fn bare_title(title: &str) -> (&str, &str) {
    let mut title = title;
    if let Some((state, after)) = title.split_once(' ')
        && STATES.contains(&state)
    {
        title = after.trim_start();
    }
    if let Some(after) = title.strip_prefix("[#") {
        title = after
            .split_once(']')
            .map_or(title, |(_, rest)| rest.trim_start());
    }
    let mut end = title.len();
    while let Some(before) = without_last_tag(title.get(..end).unwrap_or_default()) {
        end = before;
    }
    let (words, tags) = title.split_at_checked(end).unwrap_or((title, ""));
    (words.trim_end(), tags.trim())
}

/// Where a title ends that has a tag or tags as its last word.
fn without_last_tag(title: &str) -> Option<usize> {
    let (before, last) = title.trim_end().rsplit_once(' ')?;
    (is_tags(last) || is_hash_tag(last)).then(|| before.trim_end().len())
}

/// Whether the word is `#tag`; a tag has more than digits.
fn is_hash_tag(word: &str) -> bool {
    word.strip_prefix('#').is_some_and(|tag| {
        tag.chars()
            .all(|c| c.is_alphanumeric() || "_@%".contains(c))
            && tag.chars().any(|c| !c.is_numeric())
    })
}

fn is_tags(word: &str) -> bool {
    word.len() > 2
        && word.starts_with(':')
        && word.ends_with(':')
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || "_@#%:".contains(c))
}

/// Parses `#+TITLE: Bread` into (`title`, `Bread`).
fn keyword(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.strip_prefix("#+")?.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_key.then(|| (key.to_lowercase(), value.trim()))
}
