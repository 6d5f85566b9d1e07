//! Where a citation does not count: code, HTML, links, footnotes, comments, block quotes.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use local_agent_text::markdown::shallow;

/// The parts of a text where a citation does not count.
#[derive(Debug, Default)]
pub(crate) struct Contexts {
    /// Sorted by start; the last value is the index of the range that reaches furthest so far.
    ranges: Vec<(Range<usize>, &'static str, usize)>,
    /// Inline tags, in order; the text between them still counts.
    tags: Vec<Range<usize>>,
    /// Tags and blocks of HTML, in order, those that touch as one.
    html: Vec<Range<usize>>,
}

/// The name of code contexts.
pub(crate) const CODE: &str = "code";

impl Contexts {
    /// Finds the contexts. The markers of `text` must have been masked, so that their contents
    /// cannot be read as markdown.
    pub(crate) fn of(text: &str) -> Self {
        let dialect = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_WIKILINKS;
        let mut found = Vec::new();
        let mut tags = Vec::new();
        let mut html: Vec<Range<usize>> = Vec::new();
        let flat = shallow(text);
        for (event, range) in Parser::new_ext(&flat, dialect).into_offset_iter() {
            if matches!(event, Event::InlineHtml(_)) {
                tags.push(range.clone());
            }
            if matches!(event, Event::InlineHtml(_) | Event::Html(_)) {
                match html.last_mut().filter(|last| last.end == range.start) {
                    Some(last) => last.end = range.end,
                    None => html.push(range.clone()),
                }
            }
            let name = match event {
                Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => CODE,
                Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::HtmlBlock) => "HTML",
                // With a definition somewhere, `[E1]` is a link in markdown, but it is a valid
                // place for a citation.
                Event::Start(Tag::Link {
                    link_type: LinkType::Shortcut,
                    ..
                }) => continue,
                Event::Start(Tag::Link { .. } | Tag::Image { .. }) => "a link",
                Event::Start(Tag::FootnoteDefinition(_)) => "a footnote",
                Event::Start(Tag::BlockQuote(_)) => "a block quote",
                _ => continue,
            };
            found.push((range, name));
        }
        let code = Self::sorted(
            found
                .iter()
                .filter(|(_, name)| *name == CODE)
                .cloned()
                .collect(),
        );
        let mut open = None;
        for (at, _) in text
            .match_indices("%%")
            .filter(|(at, _)| code.name_at(*at).is_none())
        {
            match open.take() {
                Some(start) => found.push((start..at + 2, "a comment")),
                None => open = Some(at),
            }
        }
        Self {
            tags,
            html,
            ..Self::sorted(found)
        }
    }

    /// The parts of the text that are HTML, in order.
    pub(crate) fn html(&self) -> &[Range<usize>] {
        &self.html
    }

    /// The text with its inline tags replaced by blanks.
    pub(crate) fn without_tags(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for tag in &self.tags {
            out.push_str(text.get(at..tag.start).unwrap_or(""));
            out.extend(std::iter::repeat_n(' ', tag.len()));
            at = tag.end;
        }
        out.push_str(text.get(at..).unwrap_or(""));
        out
    }

    fn sorted(mut found: Vec<(Range<usize>, &'static str)>) -> Self {
        found.sort_by_key(|(range, _)| range.start);
        let mut ranges: Vec<(Range<usize>, &'static str, usize)> = Vec::with_capacity(found.len());
        for (i, (range, name)) in found.into_iter().enumerate() {
            let furthest = match ranges.last() {
                Some((_, _, best)) if ranges.get(*best).is_some_and(|b| b.0.end >= range.end) => {
                    *best
                }
                _ => i,
            };
            ranges.push((range, name, furthest));
        }
        Self {
            ranges,
            ..Self::default()
        }
    }

    /// What hides byte `at`, if anything does.
    pub(crate) fn name_at(&self, at: usize) -> Option<&'static str> {
        let before = self.ranges.partition_point(|(range, ..)| range.start <= at);
        let (_, _, furthest) = self.ranges.get(before.checked_sub(1)?)?;
        self.ranges
            .get(*furthest)
            .filter(|(range, ..)| range.end > at)
            .map(|(_, name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hiding_place_is_known_by_name() {
        let text = "plain `code` <b a=\"x\"> ![alt](u \"t\") [text](u) %%no%%\n\n> quoted\n\n```\nfence\n```\n\n[^1]: foot\n";
        let contexts = Contexts::of(text);
        let at = |word: &str| contexts.name_at(text.find(word).unwrap());
        assert_eq!(at("plain"), None);
        for (word, name) in [
            ("code", "code"),
            ("a=\"x", "HTML"),
            ("alt", "a link"),
            ("text", "a link"),
            ("no%%", "a comment"),
            ("quoted", "a block quote"),
            ("fence", "code"),
            ("foot", "a footnote"),
        ] {
            assert_eq!(at(word), Some(name), "{word}");
        }
    }
}
