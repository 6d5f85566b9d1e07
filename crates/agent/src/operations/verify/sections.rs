//! Finds sections and blocks of a note by the names that links use.

use std::ops::Range;

use local_agent_text::markdown::heading_list;

/// The section under a heading: up to the next heading of the same or a higher level. The heading
/// is named as written or by its anchor.
pub(super) fn section(text: &str, heading: &str) -> Option<Range<usize>> {
    let headings = heading_list(text);
    let wanted = anchor(heading);
    let at = headings
        .iter()
        .position(|known| anchor(&known.title) == wanted)?;
    let level = headings.get(at)?.level;
    let start = headings.get(at)?.span.start();
    let end = headings
        .iter()
        .skip(at + 1)
        .find(|later| later.level <= level)
        .map_or(text.len(), |later| later.span.start());
    Some(start..end)
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

/// The block that ends in ` ^name`: a list item's line, or a paragraph. A name on a separate line
/// belongs to the block above it.
pub(super) fn block(text: &str, name: &str) -> Option<Range<usize>> {
    let mark = format!("^{name}");
    let lines = line_ranges(text);
    let at = (0..lines.len())
        .find(|n| line_text(text, &lines, *n).split_whitespace().last() == Some(&mark))?;
    let last = match line_text(text, &lines, at).trim() == mark {
        true => (0..at)
            .rev()
            .find(|n| !line_text(text, &lines, *n).trim().is_empty())?,
        false => at,
    };
    let mut first = last;
    while !is_item(line_text(text, &lines, first))
        && first > 0
        && !line_text(text, &lines, first - 1).trim().is_empty()
    {
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
    }

    #[test]
    fn a_block_is_found_by_its_name() {
        let cut = |name| block(NOTE, name).map(|range| &NOTE[range]);
        assert_eq!(cut("p1"), Some("A paragraph\nof two lines. ^p1\n"));
        assert_eq!(cut("i1"), Some("- one ^i1\n"));
        assert_eq!(cut("t1"), Some("| a |\n|---|\n"));
        assert_eq!(cut("x"), None);
    }
}
