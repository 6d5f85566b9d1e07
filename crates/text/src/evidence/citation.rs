//! The canonical citation: `[source: rel_path#heading_path | chunk_key]`.
//!
//! Every possible path and heading can be cited: characters with a special meaning here are
//! percent-encoded, so everything is read back exactly as written. At the top of a document, the
//! `#` and the heading path are left out.

use super::{EvidenceItem, EvidenceSnapshot};
use crate::types::{
    ChunkKey, Heading, HeadingPath, RelPath, SourceName, percent_decode, percent_encode,
};

/// How a citation starts.
pub(super) const OPEN: &str = "[source:";
const SPECIAL: &str = "]|#>:";

/// How strictly the headings of a citation are compared with those of its chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingMatch {
    /// The cited path is a prefix of the chunk's path; an empty path matches only an empty one.
    Prefix,
    /// Both paths are equal.
    Exact,
    /// A difference is reported, but does not make the citation invalid.
    Ignore,
}

/// A citation as written: well-formed, not yet compared with a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCitation {
    /// The source's name, if the citation has one.
    pub source: Option<SourceName>,
    /// The cited file.
    pub path: RelPath,
    /// The cited headings.
    pub heading: HeadingPath,
    /// The cited chunk.
    pub chunk_key: ChunkKey,
}

impl RawCitation {
    /// Parses one whole citation, including brackets. The error is the end of the sentence "The
    /// citation …".
    pub fn parse(marker: &str) -> Result<Self, &'static str> {
        let body = marker
            .strip_prefix(OPEN)
            .and_then(|rest| rest.strip_suffix(']'));
        let body = body.ok_or("does not start with `[source:` or does not end with `]`")?;
        if body.contains(['\n', '\r', ']']) {
            return Err("is split over two lines or closed twice");
        }
        Self::parse_body(body)
    }

    /// Parses the text between `[source:` and the next `]` on one line.
    pub(super) fn parse_body(body: &str) -> Result<Self, &'static str> {
        let (address, key) = body
            .split_once('|')
            .ok_or("has no `|` before a chunk key")?;
        let chunk_key = key
            .trim()
            .parse()
            .map_err(|_| "does not end with 32 lower-case hexadecimal digits")?;
        let (file, heading) = address.split_once('#').unwrap_or((address, ""));
        let (source, path) = match file.split_once(':') {
            Some((source, path)) => (
                Some(SourceName::new(decoded(source)?).map_err(|_| "names no possible source")?),
                path,
            ),
            None => (None, file),
        };
        let path = RelPath::new(decoded(path)?).map_err(|_| "names no path below a root")?;
        let heading = match heading.trim() {
            root if root.eq_ignore_ascii_case("root") => HeadingPath::default(),
            text => HeadingPath::from_canonical(text)
                .map_err(|_| "has no heading path as `H1: Title > H2: Title`")?,
        };
        Ok(Self {
            source,
            path,
            heading,
            chunk_key,
        })
    }
}

/// The text with its percent escapes decoded.
fn decoded(text: &str) -> Result<String, &'static str> {
    percent_decode(text.trim()).ok_or("holds a broken percent escape")
}

impl std::fmt::Display for RawCitation {
    /// The canonical form.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(OPEN)?;
        f.write_str(" ")?;
        if let Some(source) = &self.source {
            write!(f, "{}:", encode(source.as_str()))?;
        }
        f.write_str(&encode(self.path.as_str()))?;
        if !self.heading.is_root() {
            write!(f, "#{}", self.heading.to_canonical())?;
        }
        write!(f, " | {}]", self.chunk_key)
    }
}

/// Percent-encodes characters that would end a part early, and white space at both ends, which
/// parsing trims.
fn encode(text: &str) -> String {
    let inner = text.trim();
    let lead = text.len() - text.trim_start().len();
    let (Some(before), Some(after)) = (text.get(..lead), text.get(lead + inner.len()..)) else {
        return percent_encode(text, SPECIAL).into_owned();
    };
    format!(
        "{}{}{}",
        escaped_edge(before),
        percent_encode(inner, SPECIAL),
        escaped_edge(after)
    )
}

/// Encodes every byte as a percent escape.
fn escaped_edge(part: &str) -> String {
    let bytes = part.bytes();
    bytes.map(|b| format!("%{b:02X}")).collect()
}

/// The canonical citation of `item`, with its source's name if two sources have its path
/// ([`EvidenceSnapshot::names_source`]).
pub fn citation_of(item: &EvidenceItem, snapshot: &EvidenceSnapshot) -> String {
    let source = snapshot.names_source(item).then(|| item.source.clone());
    let (path, heading) = (item.path.clone(), item.heading.clone());
    RawCitation {
        source,
        path,
        heading,
        chunk_key: item.chunk_key,
    }
    .to_string()
}

/// The result of comparing a cited heading path with the frozen one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadingVerdict {
    /// Equal under the chosen strategy.
    Matches,
    /// Different, but the strategy ignores that.
    Ignored,
    /// Different because one of the two is shorter.
    Shorter,
    /// Different only in white space or closing punctuation.
    Punctuation,
    /// Different.
    Other,
}

impl HeadingVerdict {
    /// Whether the citation is valid.
    pub const fn is_valid(self) -> bool {
        matches!(self, Self::Matches | Self::Ignored)
    }
}

/// Compares heading paths, case-sensitively, segment by segment.
///
/// `Exact`: equal. `Prefix`: the cited path is a prefix of the stored one, and an empty cited path
/// matches only an empty stored one. `Ignore`: a difference is reported but never invalid. With
/// `normalize`, closing punctuation (`: ; , . ! ?`) of a title and empty titles are ignored; white
/// space is always ignored.
pub fn compare_headings(
    cited: &HeadingPath,
    stored: &HeadingPath,
    strategy: HeadingMatch,
    normalize: bool,
) -> HeadingVerdict {
    let (a, b) = (titles(cited, normalize), titles(stored, normalize));
    let leading = a.len() <= b.len() && a.iter().zip(&b).all(|(x, y)| x == y);
    let matches = match strategy {
        HeadingMatch::Exact | HeadingMatch::Ignore => a == b,
        HeadingMatch::Prefix => leading && (!a.is_empty() || b.is_empty()),
    };
    if matches {
        HeadingVerdict::Matches
    } else if strategy == HeadingMatch::Ignore {
        HeadingVerdict::Ignored
    } else if titles(cited, true) == titles(stored, true) {
        HeadingVerdict::Punctuation
    } else if leading || (b.len() < a.len() && a.starts_with(&b)) {
        HeadingVerdict::Shorter
    } else {
        HeadingVerdict::Other
    }
}

fn titles(path: &HeadingPath, normalize: bool) -> Vec<(u8, &str)> {
    path.headings()
        .iter()
        .map(|h| clean_title(h, normalize))
        .filter(|(_, title)| !normalize || !title.is_empty())
        .collect()
}

fn clean_title(heading: &Heading, normalize: bool) -> (u8, &str) {
    let title = heading.title.as_str();
    let title = if normalize {
        title.trim_end_matches([':', ';', ',', '.', '!', '?', ' '])
    } else {
        title
    };
    (heading.level, title)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{excerpt, snapshot};
    use super::*;
    use crate::types::LineSpan;
    use proptest::prelude::*;

    fn path(text: &str) -> HeadingPath {
        HeadingPath::from_canonical(text).unwrap()
    }

    #[test]
    fn a_citation_is_short_where_it_can_be() {
        let frozen = snapshot(&["text"]);
        let item = &frozen.items()[0];
        assert_eq!(
            citation_of(item, &frozen),
            format!("[source: n1.md#H1: Title | {}]", item.chunk_key)
        );
        let root = EvidenceSnapshot::freeze("q", vec![excerpt("a b.md", "", 0, "x")]).unwrap();
        assert_eq!(
            citation_of(&root.items()[0], &root),
            format!("[source: a b.md | {}]", root.items()[0].chunk_key)
        );
    }

    #[test]
    fn a_path_of_two_sources_carries_its_source() {
        let mut other = excerpt("a.md", "", 0, "x");
        other.source = SourceName::new("work").unwrap();
        let frozen =
            EvidenceSnapshot::freeze("q", vec![excerpt("a.md", "", 0, "x"), other]).unwrap();
        assert!(citation_of(&frozen.items()[0], &frozen).starts_with("[source: notes:a.md | "));
        assert!(citation_of(&frozen.items()[1], &frozen).starts_with("[source: work:a.md | "));
        let mut alone = excerpt("a.md", "", 0, "x");
        alone.path_is_shared = true;
        let frozen = EvidenceSnapshot::freeze("q", vec![alone]).unwrap();
        assert!(citation_of(&frozen.items()[0], &frozen).starts_with("[source: notes:a.md | "));
    }

    #[test]
    fn w5_every_real_heading_and_path_can_be_cited() {
        let key = ChunkKey::from_bytes([7; 16]);
        for (file, title) in [
            ("CHANGELOG.md", "[1.2.0] - 2024-05-01"),
            ("c#/notes.md", "A | B"),
            ("a|b]c.md", "x > y"),
            ("12:30 meeting.md", "100% done: #tag"),
            (" lead and trail .md ", "see [[Other|note]]"),
        ] {
            let heading = HeadingPath::new(vec![Heading {
                level: 2,
                title: title.into(),
            }])
            .unwrap();
            let written = RawCitation {
                source: None,
                path: RelPath::new(file).unwrap(),
                heading,
                chunk_key: key,
            };
            assert_eq!(RawCitation::parse(&written.to_string()), Ok(written));
        }
    }

    #[test]
    fn what_is_not_a_citation_says_why() {
        let key = "0123456789abcdef0123456789abcdef";
        for bad in [
            "[source: a.md#H1: A]".to_owned(),
            format!("[source: a.md#A | {key}]"),
            format!("[source: ../a.md | {key}]"),
            format!("[source: a.md | {}]", key.to_uppercase()),
            format!("[source: a.md | {key}0]"),
            format!("[source: a.md\n#H1: A | {key}]"),
            format!("[source: | {key}]"),
            format!("[source: a%zz.md | {key}]"),
            format!("[source: a.md | b | {key}]"),
        ] {
            assert!(RawCitation::parse(&bad).is_err(), "{bad}");
        }
        assert!(
            RawCitation::parse(&format!("[source:a.md#ROOT|{key}]"))
                .unwrap()
                .heading
                .is_root()
        );
    }

    #[test]
    fn c05_headings_are_compared_by_segment() {
        use HeadingMatch::{Exact, Ignore, Prefix};
        let cases = [
            ("H1: Plan", "H1: Planning", Prefix, HeadingVerdict::Other),
            ("H1: Plan", "H1: Plan (old)", Prefix, HeadingVerdict::Other),
            (
                "H1: Plan",
                "H1: Plan > H2: Old",
                Prefix,
                HeadingVerdict::Matches,
            ),
            (
                "H1: Plan",
                "H1: Plan > H2: Old",
                Exact,
                HeadingVerdict::Shorter,
            ),
            (
                "H1: Plan > H2: Old",
                "H1: Plan",
                Prefix,
                HeadingVerdict::Shorter,
            ),
            ("", "H1: Plan", Prefix, HeadingVerdict::Shorter),
            ("", "", Prefix, HeadingVerdict::Matches),
            ("H2: Plan", "H1: Plan", Exact, HeadingVerdict::Other),
            ("H1: plan", "H1: Plan", Exact, HeadingVerdict::Other),
            ("H1: plan", "H1: Plan", Ignore, HeadingVerdict::Ignored),
        ];
        for (cited, stored, strategy, expected) in cases {
            let got = compare_headings(&path(cited), &path(stored), strategy, true);
            assert_eq!(got, expected, "{cited} / {stored}");
        }
        let punctuated = compare_headings(&path("H1: Why"), &path("H1: Why?"), Exact, false);
        assert_eq!(punctuated, HeadingVerdict::Punctuation);
        assert!(compare_headings(&path("H1: Why"), &path("H1: Why?"), Exact, true).is_valid());
    }

    proptest! {
        #[test]
        fn a_citation_of_any_item_reads_back(
            segments in prop::collection::vec("[^/\\\\\\p{Cc}]{1,12}", 1..4),
            titles in prop::collection::vec((1u8..=6, "\\PC{0,20}"), 0..4),
            source in "[^/:\\\\\\p{Cc}\\s]{1,8}",
            two_sources in any::<bool>(),
        ) {
            prop_assume!(segments.iter().all(|s| s != "." && s != ".."));
            let mut one = excerpt("a.md", "", 0, "x");
            one.path = RelPath::new(segments.join("/")).unwrap();
            one.heading = HeadingPath::new(
                titles.into_iter().map(|(level, title)| Heading { level, title }).collect(),
            ).unwrap();
            one.source = SourceName::new(source).unwrap();
            one.lines = LineSpan::new(1, 1).unwrap();
            let mut excerpts = vec![one.clone()];
            if two_sources {
                let mut two = one.clone();
                two.source = SourceName::new(format!("{}x", one.source)).unwrap();
                excerpts.push(two);
            }
            let frozen = EvidenceSnapshot::freeze("q", excerpts).unwrap();
            let written = citation_of(&frozen.items()[0], &frozen);
            // No earlier character can be mistaken for the end of the citation.
            prop_assert_eq!(written.find(']'), Some(written.len() - 1));
            let read = RawCitation::parse(&written).unwrap();
            prop_assert_eq!(read.path, one.path);
            prop_assert_eq!(read.heading, one.heading);
            prop_assert_eq!(read.chunk_key, one.chunk_key);
            prop_assert_eq!(read.source, two_sources.then_some(one.source));
        }

        #[test]
        fn parsing_never_panics(text in any::<String>()) {
            let _ = RawCitation::parse(&text);
            let _ = RawCitation::parse_body(&text);
        }
    }
}
