//! Finds sections and blocks of a note by the names that links use. `get` and `verify` share this,
//! so that a citation means the text that `get` shows.

use std::collections::BTreeSet;
use std::ops::Range;

use local_agent_text::documents::bare_headline;
use local_agent_text::markdown::{HeadingAt, heading_list};

/// The section under a heading: up to the next heading of the same or a higher level. The heading
/// is named as written, in any case of letters and without emphasis, by its anchor, or without the
/// state and tags of a headline of Org. If some heading fits as written, only that counts.
pub(super) fn section(text: &str, heading: &str) -> Option<Range<usize>> {
    let headings = heading_list(text);
    let at = position(&headings, heading)?;
    let level = headings.get(at)?.level;
    let start = headings.get(at)?.span.start();
    let end = headings
        .iter()
        .skip(at + 1)
        .find(|later| later.level <= level)
        .map_or(text.len(), |later| later.span.start());
    Some(start..end)
}

/// The titles of all headings, in order.
pub(super) fn titles(text: &str) -> Vec<String> {
    let headings = heading_list(text);
    headings.into_iter().map(|heading| heading.title).collect()
}

fn position(headings: &[HeadingAt], wanted: &str) -> Option<usize> {
    let words = fold(wanted);
    let as_written = headings.iter().position(|one| fold(&one.title) == words);
    let id = anchor(wanted);
    let by_anchor = || {
        headings
            .iter()
            .position(|one| !id.is_empty() && anchor(&one.title) == id)
    };
    let as_headline = || {
        headings
            .iter()
            .position(|one| !words.is_empty() && fold(bare_headline(&one.title)) == words)
    };
    as_written.or_else(by_anchor).or_else(as_headline)
}

/// A heading as links compare it: in lower case, with single spaces, without emphasis.
fn fold(title: &str) -> String {
    let plain: String = title
        .chars()
        .filter(|c| !matches!(c, '*' | '_' | '`'))
        .collect();
    let words: Vec<String> = plain.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

/// The anchor that GitHub and most note programs make from a heading: letters and digits in lower
/// case, `-` for white space.
fn anchor(heading: &str) -> String {
    let mut out = String::new();
    for c in heading.trim().chars() {
        match c {
            c if c.is_alphanumeric() || c == '_' => out.extend(c.to_lowercase()),
            c if c.is_whitespace() || c == '-' => out.push('-'),
            _ => {}
        }
    }
    out
}

/// The names of all blocks.
pub(super) fn block_names(text: &str) -> BTreeSet<&str> {
    text.lines().filter_map(block_name).collect()
}

/// The name of the block that this line ends.
fn block_name(line: &str) -> Option<&str> {
    let name = line.split_whitespace().last()?.strip_prefix('^')?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (!name.is_empty() && name.chars().all(is_part)).then_some(name)
}

/// The block that ends in ` ^name`, in any case of letters: a list item's line, or a paragraph. A
/// name on a separate line belongs to the block above it.
pub(super) fn block(text: &str, name: &str) -> Option<Range<usize>> {
    let lines = line_ranges(text);
    let line = |n: usize| line_text(text, &lines, n);
    let named = |n: &usize| block_name(line(*n)).is_some_and(|own| own.eq_ignore_ascii_case(name));
    let at = (0..lines.len()).find(named)?;
    let is_alone = line(at).split_whitespace().count() == 1;
    let last = match is_alone {
        true => (0..at).rev().find(|n| !line(*n).trim().is_empty())?,
        false => at,
    };
    let mut first = last;
    while !is_item(line(first)) && first > 0 && !line(first - 1).trim().is_empty() {
        first -= 1;
    }
    Some(lines.get(first)?.start..lines.get(last)?.end)
}

/// The text of a line.
fn line_text<'t>(text: &'t str, lines: &[Range<usize>], n: usize) -> &'t str {
    lines
        .get(n)
        .and_then(|range| text.get(range.clone()))
        .unwrap_or("")
}

fn line_ranges(text: &str) -> Vec<Range<usize>> {
    let mut at = 0;
    let range = |line: &str| {
        let start = at;
        at += line.len();
        start..at
    };
    text.split_inclusive('\n').map(range).collect()
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = line.get(digits..).unwrap_or("");
    match digits {
        0 => rest.starts_with("- ") || rest.starts_with("* ") || rest.starts_with("+ "),
        _ => rest.starts_with(". ") || rest.starts_with(") "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "# Plan\n\nIntro.\n\n## The budget, 2026\n\nIt is 5.\n\n### Part\n\nOf it.\n\n## Next\n\nA paragraph\nof two lines. ^p1\n\n- one ^i1\n- two\n\n| a |\n|---|\n\n^t1\n";

    #[test]
    fn a_section_goes_to_the_next_heading_of_its_level() {
        let cut = |heading| section(NOTE, heading).map(|range| &NOTE[range]);
        let budget = "## The budget, 2026\n\nIt is 5.\n\n### Part\n\nOf it.\n\n";
        assert_eq!(cut("The budget, 2026"), Some(budget));
        assert_eq!(cut("the-budget-2026"), Some(budget));
        assert_eq!(cut("Part"), Some("### Part\n\nOf it.\n\n"));
        assert_eq!(cut("Plan"), Some(NOTE));
        assert_eq!(cut("Nothing"), None);
        assert_eq!(cut("?"), None);
    }

    #[test]
    fn a_heading_as_written_comes_before_one_with_the_same_anchor() {
        let text = "# C++\n\none\n\n# C\n\ntwo\n\n# The  *Big*   One\n\nthree\n";
        let cut = |heading| section(text, heading).map(|range| &text[range]);
        assert_eq!(cut("C"), Some("# C\n\ntwo\n\n"));
        assert_eq!(cut("c++"), Some("# C++\n\none\n\n"));
        assert_eq!(cut("the big one"), Some("# The  *Big*   One\n\nthree\n"));
        assert_eq!(titles(text).len(), 3);
    }

    #[test]
    fn a_block_is_found_by_its_name() {
        let cut = |name| block(NOTE, name).map(|range| &NOTE[range]);
        assert_eq!(cut("p1"), Some("A paragraph\nof two lines. ^p1\n"));
        assert_eq!(cut("i1"), Some("- one ^i1\n"));
        assert_eq!(cut("t1"), Some("| a |\n|---|\n"));
        assert_eq!(cut("T1"), cut("t1"));
        assert_eq!(cut("x"), None);
        assert_eq!(block_names(NOTE).len(), 3);
        assert_eq!(
            (block("2^10\n", "10"), block("^alone\n", "alone")),
            (None, None)
        );
    }
}
