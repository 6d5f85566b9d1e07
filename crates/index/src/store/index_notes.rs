//! Reads `index.sqlite` for browsing: documents, names, links, tags, and chunks by the first digits
//! of their key.

use std::collections::HashMap;

use rusqlite::Row;

use super::IndexReader;
use super::error::Result;
use super::row_ids::json_list;
use crate::ids::DocumentId;
use local_agent_text::types::ChunkKey;

/// Maximum number of rows in the list of one note's links.
const MOST_LINKS: i64 = 1_000;

/// One indexed document, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteRow {
    /// Row id.
    pub id: DocumentId,
    /// Name of its source.
    pub source: String,
    /// Path below the source's root.
    pub path: String,
    /// Its title.
    pub title: String,
    /// Frontmatter aliases.
    pub aliases: Vec<String>,
    /// The size in bytes when it was indexed.
    pub size: u64,
    /// When the file last changed, seconds since 1970.
    pub modified_unix: i64,
}

/// The data for determining the day of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDay {
    /// Frontmatter properties whose value is text: name and value, by name.
    pub properties: Vec<(String, String)>,
    /// The day that `date` or `created` states, in ISO form.
    pub stated: Option<String>,
    /// When the file last changed, seconds since 1970.
    pub modified_unix: i64,
}

/// One link in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLink {
    /// `wiki`, `embed`, `inline` and so on, as named by the parser.
    pub kind: String,
    /// The target of the link, without its anchor.
    pub target: String,
    /// The heading or block after `#`.
    pub anchor: Option<String>,
    /// The displayed words.
    pub text: String,
}

/// The columns of [`note`], in its order.
const NOTE: &str = "documents.id, name, rel_path, title, aliases_json, size, mtime_ns";

impl IndexReader {
    /// Every indexed document, by source and path.
    pub fn notes(&self) -> Result<Vec<NoteRow>> {
        let sql = format!(
            "SELECT {NOTE} FROM documents JOIN sources ON sources.id = source_id
             WHERE status = 'indexed' ORDER BY name, rel_path"
        );
        let mut statement = self.conn.prepare(&sql)?;
        let rows = statement.query_map([], note)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Row ids of the indexed documents: those that most documents link to first, then by source and
    /// path. A link counts for every document with the file name that it gives.
    pub fn documents_by_links(&self) -> Result<Vec<DocumentId>> {
        let mut statement = self.conn.prepare(
            "SELECT documents.id FROM documents
             JOIN sources ON sources.id = source_id
             LEFT JOIN (SELECT target_key, count(DISTINCT document_id) AS linking
                        FROM links GROUP BY target_key) ON target_key = stem_key
             WHERE status = 'indexed' ORDER BY coalesce(linking, 0) DESC, name, rel_path",
        )?;
        let rows = statement.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The data for determining the days of these documents, by row id; missing ids are left out.
    pub fn days_of(&self, documents: &[DocumentId]) -> Result<HashMap<DocumentId, StoredDay>> {
        let mut statement = self.conn.prepare(
            "SELECT id, frontmatter_json, note_date, mtime_ns FROM documents
             WHERE id IN (SELECT value FROM json_each(?1))",
        )?;
        let ids = json_list(documents);
        let rows = statement.query_map([ids], |row| {
            let frontmatter: String = row.get(1)?;
            let day = StoredDay {
                properties: texts_of(&frontmatter),
                stated: row.get(2)?,
                modified_unix: row.get::<_, i64>(3)? / 1_000_000_000,
            };
            Ok((row.get(0)?, day))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// The links of one document, in file order.
    pub fn links_of(&self, document_id: DocumentId) -> Result<Vec<StoredLink>> {
        let mut statement = self.conn.prepare(
            "SELECT kind, target, anchor, text FROM links WHERE document_id = ?1
             ORDER BY rowid LIMIT ?2",
        )?;
        let rows = statement.query_map((document_id, MOST_LINKS), link)?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Links whose last segment is `stem` (lower case, without extension), with the document that
    /// contains them, by source and path. The caller decides whether such a link refers to the
    /// document.
    pub fn links_with_stem(&self, stem: &str) -> Result<Vec<(NoteRow, StoredLink)>> {
        let sql = format!(
            "SELECT links.kind, target, anchor, text, {NOTE} FROM links
             JOIN documents ON documents.id = links.document_id
             JOIN sources ON sources.id = source_id
             WHERE target_key = ?1 AND status = 'indexed'
             ORDER BY name, rel_path, links.rowid"
        );
        let mut statement = self.conn.prepare(&sql)?;
        let rows = statement.query_map([stem], |row| Ok((note_at(row, 4)?, link(row)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Every tag with the number of documents that have it, the most frequent first; `hidden`
    /// documents are not counted.
    pub fn tags_without(&self, hidden: &[DocumentId]) -> Result<Vec<(String, u64)>> {
        let mut statement = self.conn.prepare(
            "SELECT tag, count(DISTINCT document_id) AS notes FROM tags
             JOIN documents ON documents.id = document_id
             WHERE status = 'indexed' AND document_id NOT IN (SELECT value FROM json_each(?1))
             GROUP BY folded(tag) ORDER BY notes DESC, folded(tag)",
        )?;
        let hidden = json_list(hidden);
        let rows = statement.query_map([hidden], |row| {
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// At most `most` keys that begin with these hexadecimal digits, in order. Anything other than
    /// 1 to 32 such digits matches no key.
    pub fn keys_with_prefix(&self, digits: &str, most: usize) -> Result<Vec<ChunkKey>> {
        let Some((least, greatest)) = key_range(digits) else {
            return Ok(Vec::new());
        };
        let mut statement = self.conn.prepare_cached(
            "SELECT key FROM chunks WHERE key BETWEEN ?1 AND ?2 ORDER BY key LIMIT ?3",
        )?;
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = statement.query_map((least, greatest, most), |row| {
            Ok(ChunkKey::from_bytes(row.get(0)?))
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// The smallest and the greatest key that begin with these digits.
fn key_range(digits: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits = digits.as_bytes();
    if digits.is_empty() || digits.len() > 32 {
        return None;
    }
    let (mut least, mut greatest) = ([0; 16], [0xff; 16]);
    for (at, digit) in digits.iter().enumerate() {
        let value = u8::try_from(char::from(*digit).to_digit(16)?).ok()?;
        let (shift, mask) = if at % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
        for key in [&mut least, &mut greatest] {
            key[at / 2] = (key[at / 2] & mask) | (value << shift);
        }
    }
    Some((least, greatest))
}

/// The fields of a JSON object whose value is text; none if it cannot be parsed.
fn texts_of(json: &str) -> Vec<(String, String)> {
    let fields: serde_json::Map<_, _> = serde_json::from_str(json).unwrap_or_default();
    fields.into_iter().filter_map(text_property).collect()
}

/// The property, if its value is text.
fn text_property((key, value): (String, serde_json::Value)) -> Option<(String, String)> {
    match value {
        serde_json::Value::String(value) => Some((key, value)),
        _ => None,
    }
}

fn note(row: &Row<'_>) -> rusqlite::Result<NoteRow> {
    note_at(row, 0)
}

fn note_at(row: &Row<'_>, first: usize) -> rusqlite::Result<NoteRow> {
    let aliases: String = row.get(first + 4)?;
    Ok(NoteRow {
        id: row.get(first)?,
        source: row.get(first + 1)?,
        path: row.get(first + 2)?,
        title: row.get(first + 3)?,
        // If the aliases cannot be parsed, the note is still found by path and title.
        aliases: serde_json::from_str(&aliases).unwrap_or_default(),
        size: row.get::<_, i64>(first + 5)?.max(0) as u64,
        modified_unix: row.get::<_, i64>(first + 6)? / 1_000_000_000,
    })
}

fn link(row: &Row<'_>) -> rusqlite::Result<StoredLink> {
    Ok(StoredLink {
        kind: row.get(0)?,
        target: row.get(1)?,
        anchor: row.get(2)?,
        text: row.get(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_give_the_range_of_keys_that_begin_with_them() {
        let (least, greatest) = key_range("a1f").unwrap();
        assert_eq!((least[0], least[1], least[15]), (0xa1, 0xf0, 0));
        assert_eq!((greatest[0], greatest[1], greatest[15]), (0xa1, 0xff, 0xff));
        let whole = "0123456789abcdef0123456789ABCDEF";
        let (least, greatest) = key_range(whole).unwrap();
        assert_eq!(least, greatest);
        for bad in ["", "xyz", "12 ", &"0".repeat(33)] {
            assert_eq!(key_range(bad), None, "{bad:?}");
        }
    }
}
