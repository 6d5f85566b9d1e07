//! What is above cited lines and says what they are about: the title of the file, the headings,
//! and the header of the table that they begin in.

use local_agent_text::documents::{DocumentKind, parse};
use local_agent_text::evidence::Excerpt;
use local_agent_text::markdown::{ChunkOptions, HeadingAt, Scheme};
use local_agent_text::types::{Heading, HeadingPath, RelPath};

/// A part of a file with the header of the table that it begins in.
#[derive(Debug, Clone)]
pub(super) struct InFile {
    pub excerpt: Excerpt,
    pub table_head: Option<String>,
}

/// The title and the headings of one file.
pub(super) struct Outline {
    title: Option<String>,
    headings: Vec<HeadingAt>,
}

impl Outline {
    /// Reads them. A source file has none.
    pub(super) fn of(path: &RelPath, text: &str) -> Self {
        let kind = DocumentKind::of(path);
        if kind == DocumentKind::Code {
            return Self {
                title: None,
                headings: Vec::new(),
            };
        }
        // The chunks are not used.
        let options = ChunkOptions {
            scheme: Scheme::FixedWindowV1,
            max_tokens: 1,
            max_chars: text.len().max(1),
            overlap: 0,
        };
        let document = parse(kind, text, &[], &options, &|_| 0);
        Self {
            title: document.title,
            headings: document.headings,
        }
    }

    /// The headings above a byte of the file, below the title of the file if that is not one of them.
    pub(super) fn above(&self, at: usize) -> HeadingPath {
        let mut out: Vec<Heading> = Vec::new();
        let before = self.headings.iter();
        for heading in before.take_while(|heading| heading.span.start() < at) {
            out.retain(|above| above.level < heading.level);
            out.push(Heading {
                level: heading.level,
                title: heading.title.clone(),
            });
        }
        let is_named = |title: &String| self.headings.iter().any(|h| h.title == *title);
        if let Some(title) = self.title.as_ref().filter(|title| !is_named(title)) {
            let title = title.clone();
            out.insert(0, Heading { level: 1, title });
        }
        HeadingPath::new(out).unwrap_or_default()
    }
}

/// Maximum number of lines between cited lines and the header of their table.
const MOST_ROWS: usize = 10_000;

/// The header of the table that begins before byte `at` and goes on there, and the line below it. If
/// `at` is that line, only the header.
pub(super) fn table_head(text: &str, at: usize) -> Option<String> {
    let first = text.get(at..)?.lines().next()?;
    if !is_row(first) {
        return None;
    }
    let above: Vec<&str> = text
        .get(..at)?
        .split_inclusive('\n')
        .rev()
        .take(MOST_ROWS)
        .collect();
    if is_rule(first) {
        let header = above.first().filter(|line| is_row(line))?;
        return Some((*header).to_owned());
    }
    let rows = above.iter().position(|line| !is_row(line));
    let rows = above.get(..rows.unwrap_or(above.len()))?;
    let rule = rows.iter().rposition(|line| is_rule(line))?;
    let header = rows.get(rule + 1)?;
    Some(format!("{header}{}", rows.get(rule)?))
}

/// Whether a line can be a row of a table.
fn is_row(line: &str) -> bool {
    line.contains('|')
}

/// Whether a line is the one between the header and the rows: `| --- | :-: |`.
fn is_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('-')
        && line.contains('|')
        && line
            .chars()
            .all(|c| matches!(c, '|' | '-' | ':' | ' ' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLANS: &str = "Prices:\n\n| Plan | Price |\n| --- | ---: |\n| Free | 0 € |\n| Basic | 18 € |\n\nEnd a | b.\n";

    fn head_at(row: &str) -> Option<String> {
        table_head(PLANS, PLANS.find(row).unwrap())
    }

    #[test]
    fn rows_have_the_header_of_their_table() {
        let head = "| Plan | Price |\n| --- | ---: |\n";
        assert_eq!(head_at("| Free").as_deref(), Some(head));
        assert_eq!(head_at("| Basic").as_deref(), Some(head));
        assert_eq!(head_at("| ---").as_deref(), Some("| Plan | Price |\n"));
        for other in ["Prices", "| Plan", "End a"] {
            assert_eq!(head_at(other), None, "{other}");
        }
    }

    #[test]
    fn lines_have_the_headings_above_them_and_the_title_of_their_file() {
        let note = RelPath::new("a.md").unwrap();
        let text = "---\ntitle: Shop\n---\n# Prices 2024\n\n## Repairs\n\nA chain.\n\n## Rental\n\nA tandem.\n";
        let above = |words: &str| Outline::of(&note, text).above(text.find(words).unwrap());
        assert_eq!(
            above("A chain").to_string(),
            "H1: Shop > H1: Prices 2024 > H2: Repairs"
        );
        assert_eq!(
            above("A tandem").to_string(),
            "H1: Shop > H1: Prices 2024 > H2: Rental"
        );
        assert_eq!(above("# Prices").to_string(), "H1: Shop");
        let code = RelPath::new("a.py").unwrap();
        assert!(Outline::of(&code, "# Plan 9\nx = 1\n").above(9).is_root());
    }
}
