//! Looks up words of the index: whether a word exists, which words share a prefix, and which
//! spelling is closest.

use std::collections::HashMap;

use tantivy::schema::Field;
use tantivy::{TantivyError, Term};

use super::plan::QueryPlan;
use super::reader::Reader;
use super::{Query, failure, guarded};
use local_agent_text::error::Result;

/// Minimum length in characters of a word that is completed. Too many words are similar to shorter
/// ones.
const SHORTEST: usize = 3;

/// Minimum length in characters of a word whose spelling is corrected.
const SHORTEST_CORRECTED: usize = 4;

/// From this length on, two wrong characters are corrected instead of one.
const LONG: usize = 8;

impl Reader {
    /// Whether any document contains `word` in one of its forms.
    ///
    /// # Errors
    /// `DB_CORRUPT` when the projection is damaged.
    pub fn holds(&self, word: &str) -> Result<bool> {
        let plan = QueryPlan::new(&Query::plain(word), &self.languages);
        let stems = &self.fields.stems;
        let fields = [
            stems.text,
            stems.headings,
            stems.title,
            stems.aliases,
            stems.path,
            stems.tags,
            stems.anchors,
            self.fields.exact,
        ];
        let mut asked = Vec::new();
        for ((_, form), wanted) in &plan.terms {
            asked.extend(fields.map(|field| Term::from_field_text(field, form)));
            asked.extend(
                wanted
                    .locals
                    .iter()
                    .map(|form| Term::from_field_text(self.fields.local, form)),
            );
        }
        self.guarded_lookup(|reader| {
            for term in &asked {
                for segment in &reader.segments {
                    if segment
                        .reader
                        .inverted_index(term.field())?
                        .doc_freq(term)?
                        > 0
                    {
                        return Ok(true);
                    }
                }
            }
            Ok(false)
        })
    }

    /// At most `most` words that begin with `prefix`, the most frequent first. Empty for a prefix
    /// of fewer than three characters.
    ///
    /// # Errors
    /// `DB_CORRUPT` when the projection is damaged.
    pub fn words_with_prefix(&self, prefix: &str, most: usize) -> Result<Vec<String>> {
        let prefix = prefix.to_lowercase();
        if prefix.chars().count() < SHORTEST {
            return Ok(Vec::new());
        }
        let mut counts: HashMap<String, u64> = HashMap::new();
        self.each_word(&prefix, &mut |word, count| {
            if !word.starts_with(&prefix) {
                return false;
            }
            *counts.entry(word.to_owned()).or_default() += count;
            true
        })?;
        let mut words: Vec<(String, u64)> = counts.into_iter().collect();
        words.sort_by(|(a, m), (b, n)| n.cmp(m).then_with(|| a.cmp(b)));
        Ok(words.into_iter().take(most).map(|(word, _)| word).collect())
    }

    /// The word of the index with the spelling closest to `word`: at most one character is wrong,
    /// missing, extra or swapped with its neighbour, at most two for words of eight characters or
    /// more; the first character must match. Among several, the closest, then the most frequent.
    /// `None` for a word with digits or with fewer than four characters.
    ///
    /// # Errors
    /// `DB_CORRUPT` when the projection is damaged.
    pub fn nearest_word(&self, word: &str) -> Result<Option<String>> {
        let word = word.to_lowercase();
        let length = word.chars().count();
        let Some(first) = word.chars().next() else {
            return Ok(None);
        };
        if length < SHORTEST_CORRECTED || !word.chars().all(char::is_alphabetic) {
            return Ok(None);
        }
        let most = if length < LONG { 1 } else { 2 };
        let mut near: HashMap<String, (usize, u64)> = HashMap::new();
        self.each_word(first.encode_utf8(&mut [0; 4]), &mut |other, count| {
            if !other.starts_with(first) {
                return false;
            }
            if other.chars().count().abs_diff(length) <= most {
                let distance = strsim::osa_distance(&word, other);
                if distance <= most {
                    near.entry(other.to_owned()).or_insert((distance, 0)).1 += count;
                }
            }
            true
        })?;
        let best = near
            .into_iter()
            .min_by(|(a, (near_a, n)), (b, (near_b, m))| {
                near_a
                    .cmp(near_b)
                    .then_with(|| m.cmp(n))
                    .then_with(|| a.cmp(b))
            });
        Ok(best.map(|(word, _)| word))
    }

    /// Passes each exact form from `start` on, in dictionary order, with its number of entries, to
    /// `take`, which returns whether to continue. Each segment is read separately.
    fn each_word(&self, start: &str, take: &mut dyn FnMut(&str, u64) -> bool) -> Result<()> {
        let exact: Field = self.fields.exact;
        self.guarded_lookup(|reader| {
            for segment in &reader.segments {
                let index = segment.reader.inverted_index(exact)?;
                let mut stream = index.terms().range().ge(start.as_bytes()).into_stream()?;
                while stream.advance() {
                    let Ok(word) = std::str::from_utf8(stream.key()) else {
                        continue;
                    };
                    if !take(word, u64::from(stream.value().doc_freq)) {
                        break;
                    }
                }
            }
            Ok(())
        })
    }

    fn guarded_lookup<T>(
        &self,
        mut look: impl FnMut(&Self) -> std::result::Result<T, TantivyError>,
    ) -> Result<T> {
        guarded(|| look(self).map_err(|error| failure(&error)))
    }
}
