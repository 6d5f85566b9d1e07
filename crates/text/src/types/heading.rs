//! The headings above a chunk.

use std::fmt::{self, Write as _};

use super::{Invalid, percent_decode, percent_encode};

/// One heading in the path from a document's top to a chunk.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Heading {
    /// 1 to 6.
    pub level: u8,
    /// The plain text of the heading, trimmed.
    pub title: String,
}

/// The headings above a chunk, outermost first; empty for text before any heading.
///
/// There are two text forms. *Display* (`H1: Title > H2: Title`) is for people. *Canonical* is the
/// same, but inside titles every character with a meaning in a citation (`% ] | # >` and control
/// characters) is percent-encoded. So it can be cited, stored and read back without loss.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct HeadingPath(Vec<Heading>);

impl HeadingPath {
    /// Accepts headings of levels 1 to 6; a title's white space is collapsed.
    pub fn new(headings: Vec<Heading>) -> Result<Self, Invalid> {
        if headings.iter().any(|h| !(1..=6).contains(&h.level)) {
            return Err(Invalid("a heading level is 1 to 6"));
        }
        Ok(Self(headings.into_iter().map(with_single_blanks).collect()))
    }

    /// The headings, outermost first.
    pub fn headings(&self) -> &[Heading] {
        &self.0
    }

    /// Whether the chunk is above all headings.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The reversible form used in citations and databases; empty at the root.
    pub fn to_canonical(&self) -> String {
        let mut out = String::new();
        for (i, h) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { " > " };
            // Writing to a string cannot fail.
            let _ = write!(
                out,
                "{separator}H{}: {}",
                h.level,
                percent_encode(&h.title, "]|#>")
            );
        }
        out
    }

    /// Parses the output of [`Self::to_canonical`].
    pub fn from_canonical(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        Self::new(
            text.split('>')
                .map(str::trim)
                .map(parse_heading)
                .collect::<Result<_, _>>()?,
        )
    }
}

/// The heading with single blanks in its title, and none at its ends.
fn with_single_blanks(h: Heading) -> Heading {
    // Most titles have single blanks already.
    let odd = |c: char| c.is_whitespace() && c != ' ';
    let is_collapsed =
        h.title.trim().len() == h.title.len() && !h.title.contains("  ") && !h.title.contains(odd);
    let words = || h.title.split_whitespace().collect::<Vec<_>>().join(" ");
    if is_collapsed {
        h
    } else {
        Heading {
            level: h.level,
            title: words(),
        }
    }
}

const BAD: Invalid = Invalid("a heading path as `H1: Title > H2: Title`");

/// One heading of a canonical path.
fn parse_heading(part: &str) -> Result<Heading, Invalid> {
    let (level, title) = part.split_once(':').ok_or(BAD)?;
    let level = level
        .trim()
        .strip_prefix('H')
        .and_then(|l| l.parse().ok())
        .ok_or(BAD)?;
    let title = percent_decode(title.trim()).ok_or(BAD)?;
    Ok(Heading { level, title })
}

impl fmt::Display for HeadingPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, h) in self.0.iter().enumerate() {
            let separator = if i == 0 { "" } else { " > " };
            write!(f, "{separator}H{}: {}", h.level, h.title)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn white_space_in_titles_is_collapsed(title in "[a \t\u{a0}\u{2003}\u{200b}\u{3000}\n]{0,8}") {
            let path = HeadingPath::new(vec![Heading { level: 1, title: title.clone() }]).unwrap();
            let words: Vec<&str> = title.split_whitespace().collect();
            prop_assert_eq!(&path.headings()[0].title, &words.join(" "));
        }

        #[test]
        fn heading_paths_round_trip(titles in prop::collection::vec((1u8..=6, "\\PC{0,24}"), 0..5)) {
            let headings = titles.into_iter().map(|(level, title)| Heading { level, title }).collect();
            let path = HeadingPath::new(headings).unwrap();
            let canonical = path.to_canonical();
            prop_assert!(!canonical.contains(['|', ']', '#']));
            prop_assert_eq!(HeadingPath::from_canonical(&canonical).unwrap(), path);
        }
    }
}
