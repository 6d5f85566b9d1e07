//! Browses the index: lists of documents, links between notes, tags, similar notes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::address;
use super::documents::chunk_of_key;
use super::jobs::chunks_without_vector;
use super::library::Library;
use super::privacy::{address_of, shows_note};
use crate::config::Config;
use crate::tools::link_target::{bare, means, relative, same};
use local_agent_files::sandbox::{Address, NOTE_EXTENSIONS, Sandbox, readable};
use local_agent_index::ids::{DocumentId, IdSet};
use local_agent_index::retrieval::{Engine, with_spare};
use local_agent_index::store::{IndexReader, NoteRow, StoredLink, target_key};
use local_agent_text::documents::{CODE_EXTENSIONS, extracted};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// One document in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Note {
    /// The name of its source.
    pub source: String,
    /// Below the source's folder.
    pub path: String,
    /// Its title, as in the index.
    pub title: String,
    /// Bytes of the file when it was indexed.
    pub bytes: u64,
    /// When the file last changed, in seconds since 1970.
    pub modified_unix: i64,
}

/// One link of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutgoingLink {
    /// What the link names.
    pub target: String,
    /// The heading or block after `#`.
    pub anchor: Option<String>,
    /// The words that are shown.
    pub text: String,
    /// The document that it means, as `source:path`; more than one where the name is not unique,
    /// none where no document is called so.
    pub notes: Vec<String>,
    /// Whether it leads out of the notes.
    pub external: bool,
}

/// One note that links to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Backlink {
    /// `source:path` of the note that holds the link.
    pub note: String,
    /// Title of that note.
    pub title: String,
    /// The words that its links show.
    pub texts: Vec<String>,
}

/// One tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TagCount {
    /// Without `#`.
    pub tag: String,
    /// How many notes have it.
    pub notes: u64,
}

/// Files of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KindCount {
    /// In lower case with its dot; empty for files without one.
    pub extension: String,
    /// How many files of this kind the sources have.
    pub files: u64,
    /// How such files become documents, where they can: a setting of their source, or a feature of
    /// the build.
    pub way_in: Option<String>,
}

/// How files of a kind become documents.
fn way_in(extension: &str) -> Option<(Fix, String)> {
    if CODE_EXTENSIONS.contains(&extension) {
        let way = "`code: true` of their source".to_owned();
        return Some((Fix::ConfigureByCommand, way));
    }
    if let Err(why) = readable(extension) {
        return Some((Fix::UpdateIndex, format!("another build: {why}")));
    }
    let is_known = [".org", ".txt"].contains(&extension) || extracted(extension).is_some();
    let way = format!("`extensions: [{extension}]` of their source");
    is_known.then_some((Fix::ConfigureByCommand, way))
}

/// One note whose text is like another's.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SimilarNote {
    /// `source:path`.
    pub note: String,
    /// Title of that note.
    pub title: String,
    /// Cosine of its best chunk and the mean of the other note's, −1 to 1.
    pub cosine: f32,
    /// First line of that chunk.
    pub line: u32,
}

impl From<&NoteRow> for Note {
    fn from(row: &NoteRow) -> Self {
        Self {
            source: row.source.clone(),
            path: row.path.clone(),
            title: row.title.clone(),
            bytes: row.size,
            modified_unix: row.modified_unix,
        }
    }
}

/// The indexed documents at `place`, ordered by source and path. `place` is a source,
/// `source/folder`, `source:folder`, or a path below any source; without it, all documents.
///
/// # Errors
/// `INDEX_MISSING`; `FILE_NOT_FOUND` when there is nothing indexed there; those of the database.
pub fn list(config: &Config, place: Option<&str>) -> Result<Vec<Note>> {
    let index = IndexReader::required(&config.index.db_path)?;
    let notes = index.notes()?;
    let Some(place) = place else {
        return Ok(notes.iter().map(Note::from).collect());
    };
    // Other programs use this form.
    let place = place.strip_prefix("qmd://").unwrap_or(place);
    let place = place.trim_end_matches('/');
    let found: Vec<Note> = notes
        .iter()
        .filter(|note| lies_at(note, place))
        .map(Note::from)
        .collect();
    if found.is_empty() {
        let sources: Vec<String> = config
            .sources
            .iter()
            .map(|s| format!("`{}`", s.name))
            .collect();
        let message = format!(
            "No indexed document lies at `{place}`; the sources are {}",
            sources.join(", ")
        );
        return Err(Failure::new(ErrorCode::FileNotFound, message)
            .with_fix(Fix::ListSources, "local-agent source list"));
    }
    Ok(found)
}

fn lies_at(note: &NoteRow, place: &str) -> bool {
    let in_source = place.strip_prefix(note.source.as_str()).and_then(|rest| {
        rest.strip_prefix([':', '/'])
            .or(rest.is_empty().then_some(""))
    });
    in_source.is_some_and(|folder| is_at_or_below(&note.path, folder))
        || is_at_or_below(&note.path, place)
}

/// Whether the path is the folder or below it.
fn is_at_or_below(path: &str, folder: &str) -> bool {
    path == folder
        || folder.is_empty()
        || path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// Finds a note in the index by a user's name for it, or by the key of one of its chunks.
///
/// # Errors
/// `INDEX_MISSING`; those of [`address::find`]; `FILE_NOT_FOUND` when it is not indexed yet.
fn indexed(
    config: &Config,
    sandbox: &Sandbox,
    index: &IndexReader,
    request: &str,
) -> Result<(Address, DocumentId)> {
    let at = match request.trim().strip_prefix('#') {
        Some(digits) => chunk_of_key(index, sandbox, digits)?.1,
        None => address::find(config, sandbox, request)?.0,
    };
    match index.document(&at.source, &at.path)? {
        Some((id, Some(_))) => Ok((at, id)),
        _ => Err(not_indexed(config, &at)),
    }
}

/// The failure for a file that is in no index, perhaps because its source leaves its kind out.
fn not_indexed(config: &Config, at: &Address) -> Failure {
    let failure = Failure::new(ErrorCode::FileNotFound, format!("{at} is not indexed"));
    let name = at.path.file_name().to_lowercase();
    let extension = name.rfind('.').and_then(|dot| name.get(dot..));
    let source = config.sources.iter().find(|own| own.name == at.source);
    let takes = |extension: &str| {
        NOTE_EXTENSIONS.contains(&extension)
            || source.is_some_and(|own| {
                own.code && CODE_EXTENSIONS.contains(&extension)
                    || own
                        .selection
                        .extensions()
                        .iter()
                        .any(|known| known == extension)
            })
    };
    match extension.filter(|extension| !takes(extension)) {
        Some(extension) if let Some((fix, way)) = way_in(extension) => {
            let hint = format!(
                "{extension} files become documents by {way}; then run `local-agent index`"
            );
            failure.with_fix(fix, hint)
        }
        _ => failure.with_fix(Fix::UpdateIndex, "local-agent index"),
    }
}

/// The links of a note, in file order, each target once.
///
/// # Errors
/// As [`indexed`]; those of the database.
pub fn links(
    config: &Config,
    sandbox: &Sandbox,
    request: &str,
) -> Result<(String, Vec<OutgoingLink>)> {
    let index = IndexReader::required(&config.index.db_path)?;
    let (at, id) = indexed(config, sandbox, &index, request)?;
    let notes = index.notes()?;
    let mut out: Vec<OutgoingLink> = Vec::new();
    for link in index.links_of(id)? {
        let external = is_external(&link.target);
        let found = notes
            .iter()
            .filter(|note| !external && leads_to(&link, &at, note) && shows_note(sandbox, note))
            .map(|note| format!("{}:{}", note.source, note.path))
            .collect();
        let one = OutgoingLink {
            target: link.target,
            anchor: link.anchor,
            text: link.text,
            notes: found,
            external,
        };
        if !out
            .iter()
            .any(|known| known.target == one.target && known.anchor == one.anchor)
        {
            out.push(one);
        }
    }
    Ok((at.to_string(), out))
}

/// The notes that link to a note, by source and path.
///
/// # Errors
/// As [`links`].
pub fn backlinks(
    config: &Config,
    sandbox: &Sandbox,
    request: &str,
) -> Result<(String, Vec<Backlink>)> {
    let index = IndexReader::required(&config.index.db_path)?;
    let (at, id) = indexed(config, sandbox, &index, request)?;
    let Some(own) = index.notes()?.into_iter().find(|note| note.id == id) else {
        return Ok((at.to_string(), Vec::new()));
    };
    let mut out: Vec<Backlink> = Vec::new();
    for (from, link) in index.links_with_stem(&target_key(at.path.as_str()))? {
        let Some(here) = address_of(&from) else {
            continue;
        };
        if from.id == id || !leads_to(&link, &here, &own) || !sandbox.shows(&here) {
            continue;
        }
        let note = here.to_string();
        match out.iter_mut().find(|known| known.note == note) {
            Some(known) if known.texts.contains(&link.text) => {}
            Some(known) => known.texts.push(link.text),
            None => out.push(Backlink {
                note,
                title: from.title,
                texts: vec![link.text],
            }),
        }
    }
    Ok((at.to_string(), out))
}

/// Every tag with its number of notes, the most frequent first.
///
/// # Errors
/// `INDEX_MISSING`; those of the database.
pub fn tags(config: &Config, sandbox: &Sandbox) -> Result<Vec<TagCount>> {
    let index = IndexReader::required(&config.index.db_path)?;
    let hidden: Vec<DocumentId> = if sandbox.keeps_private() {
        let notes = index.notes()?.into_iter();
        notes
            .filter(|note| !shows_note(sandbox, note))
            .map(|note| note.id)
            .collect()
    } else {
        Vec::new()
    };
    let tags = index.tags_without(&hidden)?.into_iter();
    Ok(tags.map(|(tag, notes)| TagCount { tag, notes }).collect())
}

/// Fails with `PHASE2_QUERY_ERROR` if a note has no vector because it is private and the embedding
/// model is on another machine.
fn not_kept_back(config: &Config, engine: &Engine, document: DocumentId) -> Result<()> {
    let own = engine.index().chunks_of(&IdSet::from_iter([document]))?;
    if engine.embedded_among(&own) > 0 {
        return Ok(());
    }
    let kept = chunks_without_vector(config, engine.index())?;
    if own.iter().any(|id| kept.contains(id)) {
        let message = "this note is private, so its text is not sent to the embedding model, \
                       which is on another machine";
        return Err(Failure::new(ErrorCode::QueryError, message)
            .with_hint("choose a model of this machine in `embed`"));
    }
    Ok(())
}

/// The notes whose vectors are most similar to those of a note, most similar first.
///
/// # Errors
/// As [`links`]; `PHASE2_QUERY_ERROR` without vectors.
pub fn similar(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    request: &str,
    limit: usize,
) -> Result<(String, Vec<SimilarNote>)> {
    // Vectors that are stored are compared with each other, so no server is needed.
    let (library, _) = library.or_stored_vectors(config)?;
    library.with(|engine| {
        let (at, id) = indexed(config, sandbox, engine.index(), request)?;
        not_kept_back(config, engine, id)?;
        let found = engine.similar(id, with_spare(sandbox, limit))?;
        let shown = found.into_iter().filter(|(chunk, _)| {
            sandbox.shows(&Address {
                source: chunk.source.clone(),
                path: chunk.path.clone(),
            })
        });
        let notes = shown.take(limit).map(|(chunk, cosine)| SimilarNote {
            note: format!("{}:{}", chunk.source, chunk.path),
            title: chunk.title,
            cosine,
            line: chunk.lines.first(),
        });
        Ok((at.to_string(), notes.collect()))
    })
}

/// Files of the sources that are not documents, and so not indexed, by extension: the most frequent
/// first. A source that cannot be listed is left out; `index` says why.
pub fn left_out(config: &Config, sandbox: &Sandbox) -> Vec<KindCount> {
    let mut all: BTreeMap<String, u64> = BTreeMap::new();
    for source in &config.sources {
        let kinds = sandbox.other_kinds(&source.name);
        for (kind, files) in kinds.unwrap_or_default() {
            *all.entry(kind).or_default() += files;
        }
    }
    let mut kinds: Vec<KindCount> = all
        .into_iter()
        .map(|(extension, files)| KindCount {
            way_in: way_in(&extension).map(|(_, way)| way),
            extension,
            files,
        })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.files));
    kinds
}

fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// Whether a link in `here` means `there`. Links never lead from one source to another.
fn leads_to(link: &StoredLink, here: &Address, there: &NoteRow) -> bool {
    if here.source.as_str() != there.source || link.target.is_empty() {
        return false;
    }
    match link.kind.as_str() {
        "wiki" | "embed" => means(&bare(&link.target), &bare(&there.path)),
        _ => relative(here, &link.target).is_some_and(|path| same(&path, &there.path)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_index::ids::RowId as _;
    use local_agent_text::types::{RelPath, SourceName};

    fn note(source: &str, path: &str) -> NoteRow {
        NoteRow {
            id: DocumentId::from_row(1),
            source: source.to_owned(),
            path: path.to_owned(),
            title: String::new(),
            aliases: Vec::new(),
            size: 0,
            modified_unix: 0,
        }
    }

    #[test]
    fn a_place_is_a_source_a_folder_or_a_path() {
        let one = note("notes", "pub/a.md");
        for place in [
            "notes",
            "notes:pub",
            "notes/pub",
            "pub",
            "pub/a.md",
            "notes:pub/a.md",
        ] {
            assert!(lies_at(&one, place), "{place}");
        }
        for place in ["note", "notes/pu", "pu", "other", "a.md"] {
            assert!(!lies_at(&one, place), "{place}");
        }
    }

    #[test]
    fn links_lead_by_name_or_by_relative_path_within_one_source() {
        let here = Address {
            source: SourceName::new("notes").unwrap(),
            path: RelPath::new("b/c.md").unwrap(),
        };
        let link = |kind: &str, target: &str| StoredLink {
            kind: kind.to_owned(),
            target: target.to_owned(),
            anchor: None,
            text: String::new(),
        };
        let there = note("notes", "pub/Plan.md");
        assert!(leads_to(&link("wiki", "plan"), &here, &there));
        assert!(leads_to(&link("markdown", "../pub/Plan.md"), &here, &there));
        assert!(!leads_to(&link("markdown", "Plan.md"), &here, &there));
        assert!(!leads_to(
            &link("wiki", "plan"),
            &here,
            &note("other", "pub/Plan.md")
        ));
    }
}
