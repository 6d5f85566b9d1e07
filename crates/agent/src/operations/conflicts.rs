//! `conflicts`: finds notes that give different values for the same thing.
//!
//! Passages without anything in common are never compared. Each value of a passage gets the key of
//! its subject ([`stated_values`]), and only values with the same key are compared. So the time
//! grows with the number of passages, and the memory with the number of values.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::library::Library;
use super::privacy::owners_coverage;
use super::recency::NoteDay;
use super::scope::{Limits, scope};
use super::search::{Search, search};
use crate::ask::Day;
use crate::config::Config;
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_index::ids::{ChunkId, DocumentId};
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::{Coverage, Engine, Hit, Mode, Stale};
use local_agent_index::store::{ChunkRecord, IndexReader, StoredDay};
use local_agent_text::documents::{headings_at, line_in_file};
use local_agent_text::error::Result;
use local_agent_text::types::Sha256;
use local_agent_verify::{PassagePlace, StatedValue, stated_values};

/// Maximum number of passages that are compared without a topic, those of the newest notes first.
const MOST_PASSAGES: usize = 20_000;

/// Maximum number of hits of a topic.
const TOPIC_HITS: usize = 300;

/// Number of passages that are read and parsed at once.
const BATCH: usize = 512;

/// A statement with more different values than this is a form that is filled in repeatedly, as in a
/// log, and not a contradiction.
const MOST_VALUES: usize = 3;

/// Maximum number of sentences with the same value that are compared with those of another value.
const MAX_STATEMENTS: usize = 8;

/// Where to look for conflicts.
#[derive(Debug, Clone)]
pub struct ConflictRequest<'a> {
    /// A query whose hits are compared; `None`: the whole index, within [`Conflicts::compared`].
    pub topic: Option<&'a str>,
    /// The documents to search.
    pub limits: Limits,
    /// Maximum number of conflicts.
    pub limit: usize,
}

/// One of two sentences that contradict each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConflictSide {
    /// `source:path` of the note.
    pub note: String,
    /// The line of the file on which the sentence begins.
    pub line: usize,
    /// The value as written.
    pub value: String,
    /// The sentence on one line.
    pub sentence: String,
    /// The day of the note; without month or day where only the year or the month is stated.
    pub date: String,
    /// Whether the note states that day in its name, its folders, a property or its title;
    /// otherwise its file last changed then.
    pub date_is_stated: bool,
    /// Whether its note is of a later day than the other.
    pub is_newest: bool,
    /// The passage, as `get '#KEY'` takes it.
    pub chunk_key: String,
    /// Whether the file is unchanged since it was indexed.
    pub fresh: bool,
}

/// Two notes that give different values for the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// What the values are said of: the first sentence with `…` in place of its value.
    pub thing: String,
    /// The newer one, if their days differ.
    pub a: ConflictSide,
    /// The other.
    pub b: ConflictSide,
}

/// The conflicts that were found.
#[derive(Debug)]
pub struct Conflicts {
    /// The conflicts, those of the newest notes first.
    pub conflicts: Vec<Conflict>,
    /// Number of conflicts, including those beyond the limit.
    pub found: usize,
    /// Number of passages that were compared.
    pub compared: usize,
    /// Number of passages to compare: in the searched part of the index, or among the hits.
    pub passages: usize,
    /// How much of the index has vectors, for the search by topic.
    pub coverage: Coverage,
    /// Stale projections, which hide hits of a topic.
    pub stale: Vec<Stale>,
}

impl Conflicts {
    /// The files of the shown conflicts that changed since they were indexed, as `source:path`.
    pub fn index_stale(&self) -> Vec<String> {
        let sides = self.conflicts.iter().flat_map(|one| [&one.a, &one.b]);
        let old = sides.filter(|side| !side.fresh);
        let mut files: Vec<String> = old.map(|side| side.note.clone()).collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// A value, and the passage and note that state it.
struct StatedPassage {
    document: DocumentId,
    chunk: ChunkId,
    value: StatedValue,
}

/// The passages to compare.
struct Passages {
    chunks: Vec<ChunkId>,
    /// Number of passages, including those beyond the bound.
    all: usize,
    coverage: Coverage,
    stale: Vec<Stale>,
}

/// Finds notes that give different values for the same thing.
///
/// # Errors
/// `INVALID_ARGS` for limits that match nothing; those of [`search`] and of the database.
pub fn conflicts(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    wanted: &ConflictRequest<'_>,
) -> Result<Conflicts> {
    let passages = match wanted.topic {
        Some(topic) => of_topic(config, sandbox, library, wanted, topic)?,
        None => library.with(|engine| of_index(config, sandbox, engine, wanted))?,
    };
    library.with(|engine| {
        let index = engine.index();
        let told = read_values(index, &passages.chunks)?;
        let pairs = contradictions(&told);
        let mut found = Vec::with_capacity(pairs.len());
        let days = days_of(index, &pairs)?;
        for (one, other) in pairs {
            let (Some(a), Some(b)) = (days.get(&one.document), days.get(&other.document)) else {
                continue;
            };
            let is_first = place_in_pair(a, one) < place_in_pair(b, other);
            let (one, other) = if is_first { (one, other) } else { (other, one) };
            found.push((a.day.max(b.day), one, other));
        }
        found.sort_by_key(|(day, ..)| std::cmp::Reverse(*day));
        let mut shown = Vec::new();
        for (_, one, other) in found.iter().take(wanted.limit) {
            shown.extend(conflict(index, sandbox, (one, other), &days)?);
        }
        Ok(Conflicts {
            conflicts: shown,
            found: found.len(),
            compared: passages.chunks.len(),
            passages: passages.all,
            coverage: passages.coverage,
            stale: passages.stale.clone(),
        })
    })
}

/// The sort key of the two sides, which puts the newer note first.
fn place_in_pair(day: &NoteDay, told: &StatedPassage) -> (i64, DocumentId) {
    (-day.day.number(), told.document)
}

/// The passages that a query finds.
fn of_topic(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    wanted: &ConflictRequest<'_>,
    topic: &str,
) -> Result<Passages> {
    let asked = Search {
        text: topic,
        has_syntax: true,
        mode: if library.model().is_some() {
            Mode::Hybrid
        } else {
            Mode::Lexical
        },
        fusion: None,
        limits: wanted.limits.clone(),
        limit: TOPIC_HITS,
        min_score: None,
        recency: None,
    };
    let found = search(config, sandbox, library, &asked)?.found;
    let chunks: Vec<ChunkId> = found.hits.iter().map(|hit| hit.chunk.id).collect();
    Ok(Passages {
        all: chunks.len(),
        chunks,
        coverage: found.coverage,
        stale: found.stale,
    })
}

/// The passages of all notes that the limits allow, those of the newest notes first.
fn of_index(
    config: &Config,
    sandbox: &Sandbox,
    engine: &Engine,
    wanted: &ConflictRequest<'_>,
) -> Result<Passages> {
    let index = engine.index();
    let (first_chunks, _) = engine.listing(
        &scope(config, &wanted.limits)?,
        &Query::default(),
        usize::MAX,
    )?;
    let ids: Vec<DocumentId> = first_chunks
        .iter()
        .map(|hit| hit.chunk.document_id)
        .collect();
    let stored = index.days_of(&ids)?;
    let shown = first_chunks
        .iter()
        .filter(|hit| sandbox.shows(&address(&hit.chunk)));
    let mut notes: Vec<_> = shown
        .map(|hit| (day_of_hit(&stored, hit), hit.chunk.document_id))
        .collect();
    notes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut of_note: HashMap<DocumentId, Vec<ChunkId>> = HashMap::new();
    for (document, chunk) in index.chunks_by_document(&ids)? {
        of_note.entry(document).or_default().push(chunk);
    }
    let chunks = notes
        .iter()
        .flat_map(|(_, id)| of_note.get(id).into_iter().flatten());
    let all: Vec<ChunkId> = chunks.copied().collect();
    Ok(Passages {
        chunks: all.iter().take(MOST_PASSAGES).copied().collect(),
        all: all.len(),
        coverage: owners_coverage(config, engine)?,
        stale: Vec::new(),
    })
}

/// The day of a hit's note.
fn day_of_hit(stored: &HashMap<DocumentId, StoredDay>, hit: &Hit) -> Option<Day> {
    let stored = stored.get(&hit.chunk.document_id)?;
    Some(NoteDay::of(&hit.chunk.path, &hit.chunk.title, stored).day)
}

/// The values that these passages state.
fn read_values(index: &IndexReader, chunks: &[ChunkId]) -> Result<Vec<StatedPassage>> {
    let mut told = Vec::new();
    for batch in chunks.chunks(BATCH) {
        let records = index.chunks(batch)?;
        let values: Vec<Vec<StatedPassage>> = records.par_iter().map(values_of).collect();
        told.extend(values.into_iter().flatten());
    }
    Ok(told)
}

fn values_of(chunk: &ChunkRecord) -> Vec<StatedPassage> {
    let headings = chunk.heading.headings().iter();
    let headings: Vec<&str> = headings.map(|heading| heading.title.as_str()).collect();
    let headings = headings.join(" | ");
    let place = PassagePlace {
        title: &chunk.title,
        path: chunk.path.as_str(),
        headings: &headings,
    };
    stated_values(&chunk.text, &place)
        .into_iter()
        .map(|value| told_in(chunk, value))
        .collect()
}

/// A value with the chunk that states it.
fn told_in(chunk: &ChunkRecord, value: StatedValue) -> StatedPassage {
    StatedPassage {
        document: chunk.document_id,
        chunk: chunk.id,
        value,
    }
}

/// For each pair of different values of one thing, the first two sentences of different notes that
/// contradict each other.
fn contradictions(told: &[StatedPassage]) -> Vec<(&StatedPassage, &StatedPassage)> {
    let mut subjects: BTreeMap<u64, Vec<&StatedPassage>> = BTreeMap::new();
    for one in told {
        subjects.entry(one.value.subject).or_default().push(one);
    }
    let mut pairs = Vec::new();
    for same in subjects.values().filter(|same| same.len() > 1) {
        let Some(values) = by_value(same) else {
            continue;
        };
        for (n, value) in values.iter().enumerate() {
            for other in values.iter().skip(n + 1) {
                pairs.extend(first_pair(value, other));
            }
        }
    }
    pairs
}

/// The sentences by value; `None` for a form that is filled in with many values.
fn by_value<'t>(same: &[&'t StatedPassage]) -> Option<Vec<Vec<&'t StatedPassage>>> {
    let mut values: Vec<Vec<&StatedPassage>> = Vec::new();
    for one in same {
        match values.iter().position(|known| agrees_with(one, known)) {
            Some(at) if values[at].len() < MAX_STATEMENTS => values[at].push(one),
            Some(_) => {}
            None if values.len() == MOST_VALUES => return None,
            None => values.push(vec![one]),
        }
    }
    Some(values)
}

/// Whether the value agrees with the first of the known ones.
fn agrees_with(one: &StatedPassage, known: &[&StatedPassage]) -> bool {
    let first = known.first();
    first.is_some_and(|first| first.value.agrees(&one.value))
}

fn first_pair<'t>(
    some: &[&'t StatedPassage],
    others: &[&'t StatedPassage],
) -> Option<(&'t StatedPassage, &'t StatedPassage)> {
    some.iter().find_map(|one| {
        let other = others
            .iter()
            .find(|other| one.document != other.document && one.value.contradicts(&other.value))?;
        Some((*one, *other))
    })
}

/// The days of the notes of these pairs.
fn days_of(
    index: &IndexReader,
    pairs: &[(&StatedPassage, &StatedPassage)],
) -> Result<HashMap<DocumentId, NoteDay>> {
    let told = pairs.iter().flat_map(|(one, other)| [*one, *other]);
    let mut chunks: HashMap<DocumentId, ChunkId> = HashMap::new();
    for one in told {
        chunks.insert(one.document, one.chunk);
    }
    let documents: Vec<DocumentId> = chunks.keys().copied().collect();
    let stored = index.days_of(&documents)?;
    let mut days = HashMap::new();
    for chunk in index.chunks(&chunks.into_values().collect::<Vec<_>>())? {
        if let Some(stored) = stored.get(&chunk.document_id) {
            let day = NoteDay::of(&chunk.path, &chunk.title, stored);
            days.insert(chunk.document_id, day);
        }
    }
    Ok(days)
}

/// The pair as it is shown.
fn conflict(
    index: &IndexReader,
    sandbox: &Sandbox,
    (one, other): (&StatedPassage, &StatedPassage),
    days: &HashMap<DocumentId, NoteDay>,
) -> Result<Option<Conflict>> {
    let (Some(mut a), Some(b)) = (
        side(index, sandbox, one, days)?,
        side(index, sandbox, other, days)?,
    ) else {
        return Ok(None);
    };
    a.1.is_newest = is_newer(days.get(&one.document), days.get(&other.document));
    Ok(Some(Conflict {
        thing: a.0,
        a: a.1,
        b: b.1,
    }))
}

/// Whether the note of one day is newer than that of the other. A file may have been copied, so the
/// day it changed does not make a note newer than one that states its day.
fn is_newer(one: Option<&NoteDay>, other: Option<&NoteDay>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return false;
    };
    one.day.number() > other.day.number() && (one.is_stated || !other.is_stated)
}

/// The end of a value with the rest of its unit: `l` is only a part of `l/min`.
fn end_with_unit(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let Some(per) = rest.strip_prefix('/') else {
        return end;
    };
    let unit = per
        .find(|c: char| !c.is_alphabetic() && !matches!(c, '²' | '³'))
        .unwrap_or(per.len());
    if unit == 0 { end } else { end + 1 + unit }
}

/// One side: its sentence, split at the value.
fn side(
    index: &IndexReader,
    sandbox: &Sandbox,
    told: &StatedPassage,
    days: &HashMap<DocumentId, NoteDay>,
) -> Result<Option<(String, ConflictSide)>> {
    let Some(chunk) = index.chunks(&[told.chunk])?.pop() else {
        return Ok(None);
    };
    let Some(day) = days.get(&told.document) else {
        return Ok(None);
    };
    let value = &told.value;
    let value_end = end_with_unit(&chunk.text, value.value.end).min(value.sentence.end);
    let part = |range| one_line(chunk.text.get(range).unwrap_or_default());
    let before = chunk.text.get(..value.sentence.start).unwrap_or_default();
    let line = chunk.lines.first() as usize + before.matches('\n').count();
    let above = headings_at(
        chunk.path.as_str(),
        &chunk.heading,
        &chunk.text,
        value.sentence.start,
    );
    let thing = format!(
        "{}…{}",
        chunk
            .text
            .get(value.sentence.start..value.value.start)
            .unwrap_or_default(),
        chunk
            .text
            .get(value_end..value.sentence.end)
            .unwrap_or_default(),
    );
    let at = address(&chunk);
    let file = sandbox.read(&at);
    let shown = ConflictSide {
        note: at.to_string(),
        line: line_in_file(chunk.path.as_str(), &above).unwrap_or(line),
        value: part(value.value.start..value_end),
        sentence: part(value.sentence.clone()),
        date: day.day.to_string(),
        date_is_stated: day.is_stated,
        is_newest: false,
        chunk_key: chunk.key.to_string(),
        fresh: file.is_ok_and(|file| Sha256::of(&file.bytes) == chunk.file_sha256),
    };
    Ok(Some((one_line(&thing), shown)))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn address(chunk: &ChunkRecord) -> Address {
    Address {
        source: chunk.source.clone(),
        path: chunk.path.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str, is_stated: bool) -> NoteDay {
        NoteDay {
            day: Day::parse(text).unwrap(),
            is_stated,
        }
    }

    #[test]
    fn a_file_that_was_copied_is_not_newer_than_a_note_that_states_its_day() {
        let newer = |one: NoteDay, other: NoteDay| is_newer(Some(&one), Some(&other));
        let (stated, copied) = (day("2026-10-01", true), day("2026-11-29", false));
        assert!(!newer(copied, stated));
        assert!(newer(day("2026-12-01", true), copied));
        assert!(newer(copied, day("2026-01-01", false)));
        assert!(newer(day("2026-11-01", true), stated));
    }

    #[test]
    fn a_unit_is_not_cut() {
        let end = |text: &str, value: &str| text[..end_with_unit(text, value.len())].to_owned();
        assert_eq!(end("40 l/min in summer", "40 l"), "40 l/min");
        assert_eq!(end("5 €/m² and", "5 €"), "5 €/m²");
        assert_eq!(end("40 l and more", "40 l"), "40 l");
        assert_eq!(end("40/50", "40"), "40");
        assert_eq!(end("40 l", "40 l"), "40 l");
    }
}
