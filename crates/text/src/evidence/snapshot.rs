//! The frozen evidence of one question. Its items are numbered and hashed, and never change.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use super::canonical_json;
use crate::error::{ErrorCode, Failure, Result};
use crate::types::{ByteSpan, ChunkKey, HeadingPath, Label, LineSpan, RelPath, Sha256, SourceName};

/// The command that makes a snapshot.
const MAKE_ONE: &str = "local-agent ask QUESTION --snapshot-out FILE";

/// A part of a file to be added to a snapshot, not yet numbered or hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The key of the best-ranked chunk.
    pub chunk_key: ChunkKey,
    /// The keys of the neighbours that were merged into the same span.
    pub merged: Vec<ChunkKey>,
    /// The source the file belongs to.
    pub source: SourceName,
    /// The file, below its source's root.
    pub path: RelPath,
    /// Whether another source of the index has a file with this path too, so that a citation names
    /// the source.
    pub path_is_shared: bool,
    /// The headings above the best-ranked chunk.
    pub heading: HeadingPath,
    /// Where `text` is in the file, in bytes.
    pub span: ByteSpan,
    /// The lines `text` is on.
    pub lines: LineSpan,
    /// The file's bytes at `span`, exactly.
    pub text: String,
}

/// One numbered item of evidence: one contiguous span of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvidenceItem {
    /// `E1`, `E2`, … in the snapshot's order.
    pub label: Label,
    /// The key of the best-ranked chunk, which citations contain.
    pub chunk_key: ChunkKey,
    /// The keys of the neighbours that were merged into the same span; a citation of one of them
    /// means this item.
    pub merged: Vec<ChunkKey>,
    /// The source the file belongs to.
    pub source: SourceName,
    /// The file, below its source's root.
    pub path: RelPath,
    /// Whether another source of the index has a file with this path too, so that a citation names
    /// the source.
    pub path_is_shared: bool,
    /// The headings above the best-ranked chunk.
    #[serde(with = "canonical_heading")]
    pub heading: HeadingPath,
    /// Where `text` is in the file, in bytes.
    pub span: ByteSpan,
    /// The lines `text` is on.
    pub lines: LineSpan,
    /// The file's bytes at `span`, exactly.
    pub text: String,
    /// SHA-256 of `text`.
    pub text_sha256: Sha256,
}

impl EvidenceItem {
    /// Whether `key` is this item's own key or that of a merged neighbour.
    pub fn has_key(&self, key: ChunkKey) -> bool {
        self.chunk_key == key || self.merged.contains(&key)
    }

    /// The bytes at `span`, which counts from the start of the **file**; `None` when it is outside
    /// the item or splits a character.
    pub fn slice(&self, span: ByteSpan) -> Option<&str> {
        let start = span.start().checked_sub(self.span.start())?;
        let end = span.end().checked_sub(self.span.start())?;
        self.text.get(start..end)
    }

    /// The position in the file of a range of `text`: its bytes and its lines. `None` when the
    /// range is outside the text or splits a character.
    pub fn locate(&self, start: usize, end: usize) -> Option<(ByteSpan, LineSpan)> {
        let inside = self.text.get(start..end)?;
        let before = self.text.get(..start)?;
        let first = self
            .lines
            .first()
            .saturating_add(u32::try_from(line_breaks(before)).ok()?);
        // A line break at the end of the range belongs to the line it ends.
        let inner = inside.strip_suffix('\n').unwrap_or(inside);
        let last = first.saturating_add(u32::try_from(line_breaks(inner)).ok()?);
        let span = ByteSpan::new(
            self.span.start().checked_add(start)?,
            self.span.start().checked_add(end)?,
        )?;
        Some((span, LineSpan::new(first, last)?))
    }
}

/// How many lines end in the text.
fn line_breaks(text: &str) -> usize {
    text.bytes().filter(|b| *b == b'\n').count()
}

impl From<&EvidenceItem> for Excerpt {
    /// The excerpt that the item was made from.
    fn from(item: &EvidenceItem) -> Self {
        Self {
            chunk_key: item.chunk_key,
            merged: item.merged.clone(),
            source: item.source.clone(),
            path: item.path.clone(),
            path_is_shared: item.path_is_shared,
            heading: item.heading.clone(),
            span: item.span,
            lines: item.lines,
            text: item.text.clone(),
        }
    }
}

/// The evidence for one question. Guaranteed: labels count from 1 in order, texts have the stated
/// hashes and lengths, and the id covers everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvidenceSnapshot {
    id: Sha256,
    question: String,
    items: Vec<EvidenceItem>,
}

impl EvidenceSnapshot {
    /// Numbers `excerpts` in order, hashes them, and computes the id. `INTERNAL_ERROR` for an
    /// excerpt whose text and span differ in length, because a span must be verbatim.
    pub fn freeze(question: impl Into<String>, excerpts: Vec<Excerpt>) -> Result<Self> {
        let question = question.into();
        let mut items = Vec::with_capacity(excerpts.len());
        for (i, e) in excerpts.into_iter().enumerate() {
            let label = u32::try_from(i + 1).ok().and_then(Label::new);
            let Some(label) = label.filter(|_| e.text.len() == e.span.len()) else {
                return Err(Failure::internal(format!(
                    "An excerpt of {} is not as long as its span.",
                    e.path
                )));
            };
            let text_sha256 = Sha256::of(e.text.as_bytes());
            let Excerpt {
                chunk_key,
                merged,
                source,
                path,
                path_is_shared,
                heading,
                span,
                lines,
                text,
            } = e;
            items.push(EvidenceItem {
                label,
                chunk_key,
                merged,
                source,
                path,
                path_is_shared,
                heading,
                span,
                lines,
                text,
                text_sha256,
            });
        }
        Ok(Self {
            id: id_of(&question, &items),
            question,
            items,
        })
    }

    /// Parses a snapshot from JSON. `INVALID_ARGS` when it is not one; `SNAPSHOT_TAMPERED` when a
    /// text, a label or the id does not match the rest.
    pub fn from_json(json: &str) -> Result<Self> {
        let raw: RawSnapshot = serde_json::from_str(json).map_err(|e| {
            Failure::new(
                ErrorCode::InvalidArgs,
                format!("This is not an evidence snapshot: {e}."),
            )
            .with_command(MAKE_ONE)
        })?;
        raw.check()
            .map_err(|why| Failure::new(ErrorCode::SnapshotTampered, why).with_command(MAKE_ONE))
    }

    /// SHA-256 of the sorted-key JSON of question, labels, keys, sources, paths and whether they
    /// are shared, headings, spans, lines and text hashes.
    pub fn id(&self) -> Sha256 {
        self.id
    }

    /// The question the evidence was gathered for.
    pub fn question(&self) -> &str {
        &self.question
    }

    /// The items, `E1` first.
    pub fn items(&self) -> &[EvidenceItem] {
        &self.items
    }

    /// The item with this label.
    pub fn item(&self, label: Label) -> Option<&EvidenceItem> {
        self.items
            .get(usize::try_from(label.number()).ok()?.checked_sub(1)?)
    }

    /// A snapshot of the first `count` items, with its own id. Labels do not change.
    pub fn first(&self, count: usize) -> Self {
        let items: Vec<EvidenceItem> = self.items.iter().take(count).cloned().collect();
        Self {
            id: id_of(&self.question, &items),
            question: self.question.clone(),
            items,
        }
    }

    /// Whether a citation of `item` names its source. It does if another source has the same path,
    /// in the original index or in this snapshot.
    pub fn names_source(&self, item: &EvidenceItem) -> bool {
        item.path_is_shared
            || self
                .items
                .iter()
                .any(|i| i.path == item.path && i.source != item.source)
    }
}

/// A snapshot before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSnapshot {
    id: Sha256,
    question: String,
    items: Vec<EvidenceItem>,
}

impl RawSnapshot {
    fn check(self) -> std::result::Result<EvidenceSnapshot, String> {
        for (i, item) in self.items.iter().enumerate() {
            if u32::try_from(i + 1).ok().and_then(Label::new) != Some(item.label) {
                return Err(format!(
                    "The evidence items are not numbered in order: {} is out of place.",
                    item.label
                ));
            }
            if item.text.len() != item.span.len()
                || Sha256::of(item.text.as_bytes()) != item.text_sha256
            {
                return Err(format!(
                    "The text of {} is not the text that was frozen.",
                    item.label
                ));
            }
        }
        if id_of(&self.question, &self.items) != self.id {
            return Err("The snapshot's id does not fit its content.".to_owned());
        }
        Ok(EvidenceSnapshot {
            id: self.id,
            question: self.question,
            items: self.items,
        })
    }
}

impl<'de> Deserialize<'de> for EvidenceSnapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        RawSnapshot::deserialize(deserializer)?
            .check()
            .map_err(|why| {
                serde::de::Error::custom(format!("{}: {why}", ErrorCode::SnapshotTampered))
            })
    }
}

fn id_of(question: &str, items: &[EvidenceItem]) -> Sha256 {
    let items: Vec<Value> = items
        .iter()
        .map(|i| {
            json!({
                "label": i.label, "chunk_key": i.chunk_key, "merged": i.merged, "source": i.source, "path": i.path,
                "path_is_shared": i.path_is_shared, "heading": i.heading.to_canonical(), "span": i.span, "lines": i.lines, "text_sha256": i.text_sha256,
            })
        })
        .collect();
    Sha256::of(canonical_json(&json!({ "question": question, "items": items })).as_bytes())
}

/// Heading paths in JSON, in canonical form.
mod canonical_heading {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        path: &HeadingPath,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.to_canonical())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<HeadingPath, D::Error> {
        HeadingPath::from_canonical(&String::deserialize(deserializer)?)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{excerpt, snapshot};
    use super::*;

    fn json() -> Value {
        serde_json::to_value(snapshot(&[
            "The budget is 5 million.\n",
            "The sky is green.\n",
        ]))
        .unwrap()
    }

    fn code_of(value: &Value) -> ErrorCode {
        EvidenceSnapshot::from_json(&value.to_string())
            .unwrap_err()
            .code
    }

    #[test]
    fn a_snapshot_reads_back_as_it_was_written() {
        let frozen = snapshot(&["one\n", "two\r\nthree\n", "日本\n"]);
        let read = EvidenceSnapshot::from_json(&serde_json::to_string(&frozen).unwrap()).unwrap();
        assert_eq!(read, frozen);
        assert_eq!(read.items()[2].label.to_string(), "E3");
        assert_eq!(
            read.item(Label::new(2).unwrap()).unwrap().text,
            "two\r\nthree\n"
        );
        assert!(read.item(Label::new(4).unwrap()).is_none());
    }

    #[test]
    fn c09_a_text_that_was_changed_afterwards_is_tampering() {
        for (field, value) in [
            ("text", json!("The budget is 9 million.\n")),
            ("text_sha256", json!(Sha256::of(b"x"))),
            ("path", json!("other.md")),
            ("path_is_shared", json!(true)),
            ("chunk_key", json!(ChunkKey::from_bytes([9; 16]))),
            ("heading", json!("H1: Other")),
            ("label", json!("E2")),
            ("lines", json!("7")),
        ] {
            let mut tampered = json();
            tampered["items"][0][field] = value;
            assert_eq!(code_of(&tampered), ErrorCode::SnapshotTampered, "{field}");
        }
        let mut other_question = json();
        other_question["question"] = json!("What colour is the sky?");
        assert_eq!(code_of(&other_question), ErrorCode::SnapshotTampered);
    }

    #[test]
    fn c09_items_taken_out_or_swapped_are_tampering() {
        let mut fewer = json();
        fewer["items"].as_array_mut().unwrap().pop();
        assert_eq!(code_of(&fewer), ErrorCode::SnapshotTampered);
        let mut swapped = json();
        swapped["items"].as_array_mut().unwrap().swap(0, 1);
        assert_eq!(code_of(&swapped), ErrorCode::SnapshotTampered);
        // Swapped and renumbered, but with the old id.
        swapped["items"][0]["label"] = json!("E1");
        swapped["items"][1]["label"] = json!("E2");
        assert_eq!(code_of(&swapped), ErrorCode::SnapshotTampered);
    }

    #[test]
    fn what_is_no_snapshot_is_said_to_be_none() {
        assert_eq!(
            EvidenceSnapshot::from_json("{}").unwrap_err().code,
            ErrorCode::InvalidArgs
        );
        assert_eq!(
            EvidenceSnapshot::from_json("not json").unwrap_err().code,
            ErrorCode::InvalidArgs
        );
    }

    #[test]
    fn the_id_covers_everything_that_identifies_the_evidence() {
        let base = EvidenceSnapshot::freeze("q", vec![excerpt("a.md", "H1: A", 10, "text")])
            .unwrap()
            .id();
        let other = |q: &str, e: Excerpt| EvidenceSnapshot::freeze(q, vec![e]).unwrap().id();
        assert_eq!(base, other("q", excerpt("a.md", "H1: A", 10, "text")));
        assert_ne!(base, other("Q", excerpt("a.md", "H1: A", 10, "text")));
        assert_ne!(base, other("q", excerpt("b.md", "H1: A", 10, "text")));
        assert_ne!(base, other("q", excerpt("a.md", "H1: B", 10, "text")));
        assert_ne!(base, other("q", excerpt("a.md", "H1: A", 11, "text")));
        assert_ne!(base, other("q", excerpt("a.md", "H1: A", 10, "Text")));
    }

    #[test]
    fn an_excerpt_that_is_not_its_span_cannot_be_frozen() {
        let mut bad = excerpt("a.md", "", 0, "text");
        bad.span = ByteSpan::new(0, 3).unwrap();
        assert_eq!(
            EvidenceSnapshot::freeze("q", vec![bad]).unwrap_err().code,
            ErrorCode::InternalError
        );
    }

    #[test]
    fn w20_a_place_in_an_item_is_a_place_in_the_file() {
        let frozen =
            EvidenceSnapshot::freeze("q", vec![excerpt("a.md", "", 100, "a\nbé\nc\n")]).unwrap();
        let item = &frozen.items()[0];
        let (span, lines) = item.locate(2, 6).unwrap();
        assert_eq!(
            (span.start(), span.end(), lines.first(), lines.last()),
            (102, 106, 2, 2)
        );
        assert_eq!(item.slice(span), Some("bé\n"));
        assert_eq!(item.locate(4, 6), None, "cuts é");
        assert_eq!(item.slice(ByteSpan::new(99, 101).unwrap()), None);
    }
}
