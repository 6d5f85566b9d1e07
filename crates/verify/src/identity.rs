//! L1: does a citation identify exactly one item of the snapshot, under the name it gives, and does
//! the file still contain it?
//!
//! L0 for single markers is here too: what cannot be parsed, what only looks like a citation, and
//! citations in places where they do not count.

use std::collections::HashSet;

use super::answer::{Mark, MarkKind};
use super::report::MismatchRecord;
use super::{Code, VerifyOptions};
use local_agent_text::evidence::{
    EvidenceItem, EvidenceSnapshot, Freshness, FreshnessReport, HeadingVerdict, MarkerKind,
    RawCitation, SegmentProblem, UnresolvedProblem, compare_headings, scan_markers, skeleton,
};
use local_agent_text::types::{ChunkKey, Label, SourceName};

/// What one marker refers to.
#[derive(Debug, Default)]
pub(crate) struct Resolved {
    /// The items it means; may be empty.
    pub labels: Vec<Label>,
    /// What is wrong, each with an explanation.
    pub problems: Vec<(Code, String)>,
    /// The key that it names and the snapshot does not contain.
    pub unknown_key: Option<ChunkKey>,
    /// How path and heading differ.
    pub mismatch: Option<MismatchRecord>,
}

impl Resolved {
    fn problem(code: Code, why: impl Into<String>) -> Self {
        Self {
            problems: vec![(code, why.into())],
            ..Self::default()
        }
    }

    /// Whether claims may rely on it.
    pub(crate) fn is_good(&self) -> bool {
        !self.labels.is_empty() && self.problems.is_empty()
    }
}

/// Resolves markers against one snapshot.
pub(crate) struct Resolver<'a> {
    snapshot: &'a EvidenceSnapshot,
    freshness: &'a FreshnessReport,
    options: &'a VerifyOptions,
    /// Citations that are written in the evidence itself.
    planted: HashSet<&'a str>,
}

impl<'a> Resolver<'a> {
    /// Collects the citations inside the evidence, once.
    pub(crate) fn new(
        snapshot: &'a EvidenceSnapshot,
        freshness: &'a FreshnessReport,
        options: &'a VerifyOptions,
    ) -> Self {
        let mut planted = HashSet::new();
        for item in snapshot.items() {
            for marker in scan_markers(&item.text) {
                if matches!(marker.kind, MarkerKind::Source(_)) {
                    planted.extend(item.text.get(marker.span.start()..marker.span.end()));
                }
            }
        }
        Self {
            snapshot,
            freshness,
            options,
            planted,
        }
    }

    /// What `mark` of `text` means.
    pub(crate) fn resolve(&self, mark: &Mark, text: &str) -> Resolved {
        let mut resolved = match &mark.kind {
            MarkKind::Cite(label) => self.labels(&[*label]),
            MarkKind::Broken(SegmentProblem::NoSuchItem(label)) => self.labels(&[*label]),
            MarkKind::Broken(SegmentProblem::OutOfRange(label)) => Resolved::problem(
                Code::SpanOutOfRange,
                format!("{label} does not contain the quoted bytes."),
            ),
            MarkKind::Unresolved(problem, why) => {
                let code = match problem {
                    UnresolvedProblem::NotFound => Code::NotInSnapshot,
                    UnresolvedProblem::OtherPath => Code::PathMismatch,
                    UnresolvedProblem::PastTheEnd => Code::SpanOutOfRange,
                };
                Resolved::problem(code, why.clone())
            }
            MarkKind::Written(kind) => {
                self.written(kind, text.get(mark.range.clone()).unwrap_or(""))
            }
        };
        if let Some(place) = mark.hidden.filter(|_| mark.is_citation()) {
            let why =
                format!("A citation inside {place} does not count. Put it after the sentence.");
            resolved.problems.push((Code::HiddenContext, why));
        }
        resolved
    }

    fn written(&self, kind: &MarkerKind, raw: &str) -> Resolved {
        match kind {
            MarkerKind::Labels(labels) => self.labels(labels),
            MarkerKind::Quoted { label, .. } => self.labels(&[*label]),
            MarkerKind::Source(citation) => {
                let mut resolved = self.source(citation);
                if self.planted.contains(raw) {
                    let why = "This citation was copied from the text of a note.";
                    resolved.problems.push((Code::Laundered, why.to_owned()));
                }
                resolved
            }
            MarkerKind::Number => Resolved::problem(
                Code::Lookalike,
                format!(
                    "“{raw}” looks like a citation, but names no evidence. Citations are written like `[E1]`."
                ),
            ),
            MarkerKind::Malformed(why) => Resolved::problem(
                Code::Malformed,
                format!("The citation “{}” {why}.", shorten(raw)),
            ),
            MarkerKind::SourceLookalike(why) | MarkerKind::LabelLookalike(why) => {
                Resolved::problem(
                    Code::Lookalike,
                    format!("The marker “{}” {why}.", shorten(raw)),
                )
            }
        }
    }

    fn labels(&self, labels: &[Label]) -> Resolved {
        let mut resolved = Resolved::default();
        for &label in labels {
            match self.snapshot.item(label) {
                Some(item) => self.take(item, &mut resolved),
                None => {
                    let why = format!(
                        "{label} is not in the snapshot, which has {}.",
                        count(self.snapshot.items().len())
                    );
                    resolved.problems.push((Code::NotInSnapshot, why));
                }
            }
        }
        resolved
    }

    /// Adds `item`, and whether its file has changed.
    fn take(&self, item: &EvidenceItem, resolved: &mut Resolved) {
        resolved.labels.push(item.label);
        let problem = match self.freshness.of(item.label) {
            Freshness::Stale => (
                Code::Stale,
                format!("{} no longer contains the cited text.", item.path),
            ),
            Freshness::Gone => (Code::Gone, format!("{} no longer exists.", item.path)),
            Freshness::Fresh | Freshness::Moved { .. } | Freshness::Unknown => return,
        };
        resolved.problems.push(problem);
    }

    fn source(&self, raw: &RawCitation) -> Resolved {
        let mut items: Vec<_> = self
            .snapshot
            .items()
            .iter()
            .filter(|i| i.has_key(raw.chunk_key))
            .collect();
        if items.len() > 1 {
            let found = items.len();
            items.retain(|i| {
                i.path == raw.path && i.heading == raw.heading && self.in_source(raw, i)
            });
            if items.len() != 1 {
                let why = format!("The key fits {found} items.");
                return Resolved::problem(Code::Ambiguous, why);
            }
        }
        let Some(item) = items.first() else {
            let why = format!("The key {} is not in the snapshot.", raw.chunk_key);
            let unknown_key = Some(raw.chunk_key);
            return Resolved {
                unknown_key,
                ..Resolved::problem(Code::NotInSnapshot, why)
            };
        };
        let mut resolved = Resolved::default();
        self.compare(raw, item, &mut resolved);
        self.take(item, &mut resolved);
        resolved
    }

    fn in_source(&self, raw: &RawCitation, item: &EvidenceItem) -> bool {
        raw.source.as_ref().is_none_or(|s| *s == item.source)
    }

    /// Compares path and heading of `raw` with the item that its key names.
    fn compare(&self, raw: &RawCitation, item: &EvidenceItem, resolved: &mut Resolved) {
        let path_differs = raw.path != item.path || !self.in_source(raw, item);
        if path_differs {
            let source = raw
                .source
                .as_ref()
                .map_or(item.source.as_str(), |s| s.as_str());
            let look_alike = skeleton(raw.path.as_str()) == skeleton(item.path.as_str())
                && skeleton(source) == skeleton(item.source.as_str());
            resolved.problems.push(if look_alike {
                (
                    Code::Lookalike,
                    format!(
                        "The path looks like {}, but some characters differ.",
                        item.path
                    ),
                )
            } else {
                (
                    Code::PathMismatch,
                    format!("The key belongs to {}, not to {}.", item.path, raw.path),
                )
            });
        }
        // The headings of a merged neighbour are not known, and its key is enough.
        let verdict = if raw.chunk_key == item.chunk_key {
            let VerifyOptions {
                heading_match,
                normalize_heading,
                ..
            } = *self.options;
            compare_headings(
                &raw.heading,
                &item.heading,
                heading_match,
                normalize_heading,
            )
        } else {
            HeadingVerdict::Matches
        };
        if !verdict.is_valid() {
            let (cited, stored) = (raw.heading.to_string(), item.heading.to_string());
            resolved
                .problems
                .push(if skeleton(&cited) == skeleton(&stored) {
                    (
                        Code::Lookalike,
                        format!("The heading looks like “{stored}”, but some characters differ."),
                    )
                } else {
                    (
                        Code::HeadingMismatch,
                        format!("The key belongs to the heading “{stored}”, not to “{cited}”."),
                    )
                });
        }
        if path_differs || verdict != HeadingVerdict::Matches {
            resolved.mismatch = Some(record(raw, item, path_differs, verdict));
        }
    }
}

/// A path as a citation writes it, with or without its source.
fn address(source: Option<&str>, path: &str) -> String {
    match source {
        Some(source) => format!("{source}:{path}"),
        None => path.to_owned(),
    }
}

fn record(
    raw: &RawCitation,
    item: &EvidenceItem,
    path_differs: bool,
    verdict: HeadingVerdict,
) -> MismatchRecord {
    let named = raw.source.as_ref();
    MismatchRecord {
        chunk_key: raw.chunk_key,
        expected_rel_path: address(named.map(|_| item.source.as_str()), item.path.as_str()),
        got_rel_path: address(named.map(SourceName::as_str), raw.path.as_str()),
        expected_heading_path: item.heading.to_string(),
        got_heading_path: raw.heading.to_string(),
        mismatch_kind: match (path_differs, verdict) {
            (true, HeadingVerdict::Matches) => "rel_path",
            (true, _) => "both",
            (false, _) => "heading",
        },
        heading_invalid: !verdict.is_valid(),
        heading_mismatch_reason: match verdict {
            HeadingVerdict::Matches => "",
            HeadingVerdict::Ignored => "ignored",
            HeadingVerdict::Shorter => "prefix",
            HeadingVerdict::Punctuation => "punctuation",
            HeadingVerdict::Other => "other",
        },
    }
}

fn count(items: usize) -> String {
    match items {
        0 => "no items".to_owned(),
        1 => "one item".to_owned(),
        n => format!("{n} items"),
    }
}

/// The first characters of `raw`, on one line.
pub(super) fn shorten(raw: &str) -> String {
    let mut out: String = raw
        .chars()
        .take(60)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if raw.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}
