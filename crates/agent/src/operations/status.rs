//! Reports what is indexed and embedded, and whether it is up to date. Changes nothing.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::freshness::stale_files;
use super::library::Library;
use super::model_choice::reason_for;
use super::privacy::{coverage_of, owners_coverage, shown_chunks, shown_notes};
use super::setup::is_chosen;
use crate::config::Config;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::retrieval::{Coverage, Stale};
use local_agent_index::store::{IndexReader, JobLock};
use local_agent_text::error::Result;
use local_agent_text::types::Fingerprint;

/// The status. Field names are those of `status --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status {
    /// The path of the index database, whether or not it exists; empty for a limited client.
    pub index_db: String,
    /// The path of the embeddings database, whether or not it exists; empty for a limited client.
    pub embeddings_db: String,
    /// Whether there is an index.
    pub indexed: bool,
    /// The process that is indexing now.
    pub index_job: Option<String>,
    /// The process that is embedding now.
    pub embed_job: Option<String>,
    /// The content of the index; `None`: no index exists, and the fields are missing in JSON.
    #[serde(flatten)]
    pub index: Option<Indexed>,
}

/// The content of the index.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Indexed {
    /// Number of indexed documents.
    pub documents: u64,
    /// Number of files that were listed but not indexed.
    pub skipped_files: u64,
    /// Those files by kind and reason, the largest number first.
    pub skipped_kinds: Vec<SkippedKind>,
    /// Number of chunks.
    pub chunks: u64,
    /// The sources in the index, which may be others than the configured ones.
    pub sources: Vec<SourceState>,
    /// How many chunks have a searchable vector.
    pub coverage: Coverage,
    /// Projections and files that are out of date.
    pub stale: Vec<Stale>,
    /// Why searches of this index ignore the vectors, if they do.
    pub vectors_without_say: Option<String>,
    /// The id of the model that embeds questions; the configured one if no model is available.
    pub model: String,
    /// Why the program chose this model, if `embed.model` is `auto`.
    pub model_reason: Option<String>,
    /// The fingerprint of that model's vectors; `None`: no model is available.
    pub fingerprint: Option<Fingerprint>,
}

/// Files of one kind that were not indexed for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedKind {
    /// The extension in lower case with its dot; empty for files without one.
    pub extension: String,
    /// The stable name of the reason.
    pub reason: String,
    /// The number of files.
    pub files: u64,
}

/// Counts skipped files by kind and reason, the largest number first. Each file is a path and a
/// reason.
pub fn by_kind<'s>(skipped: impl Iterator<Item = (&'s str, &'s str)>) -> Vec<SkippedKind> {
    let mut all: BTreeMap<(String, &str), u64> = BTreeMap::new();
    for (path, reason) in skipped {
        // A name such as `.gitignore` has no extension.
        let extension = Path::new(path).extension().map_or_else(String::new, |end| {
            format!(".{}", end.to_string_lossy().to_lowercase())
        });
        *all.entry((extension, reason)).or_default() += 1;
    }
    let mut kinds: Vec<SkippedKind> = all
        .into_iter()
        .map(|((extension, reason), files)| SkippedKind {
            extension,
            reason: reason.to_owned(),
            files,
        })
        .collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.files));
    kinds
}

/// One source, as of its last indexing.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceState {
    /// The name of the source, as when it was indexed.
    pub name: String,
    /// Its folder at that time, absolute; empty for a limited client.
    pub root: String,
    /// The kind of its documents, shown with hits.
    pub kind: String,
    /// Number of its indexed documents.
    pub documents: u64,
    /// When it was last scanned, in whole seconds since 1970.
    pub last_scan_unix: i64,
}

/// Determines the status. With `compares_files`, it also checks every file, which takes as long as
/// listing them; only files visible in `sandbox` are named. Errors: those of the databases and of
/// [`Library::with`].
pub fn status(
    config: &Config,
    library: &Library,
    sandbox: &Sandbox,
    compares_files: bool,
) -> Result<Status> {
    let (index_db, embeddings_db) = (&config.index.db_path, &config.embed.db_path);
    let index = match IndexReader::open(index_db)? {
        None => None,
        Some(reader) => Some(indexed(
            config,
            library,
            &reader,
            compares_files.then_some(sandbox),
        )?),
    };
    let index = match (index, &config.client) {
        (Some(whole), Some(_)) => Some(limited(config, library, sandbox, whole)?),
        (index, _) => index,
    };
    Ok(Status {
        indexed: index.is_some(),
        index_job: JobLock::holder(&JobLock::path_beside(index_db, "index.lock")),
        embed_job: JobLock::holder(&JobLock::path_beside(embeddings_db, "embed.lock")),
        index,
        index_db: path_for(config, index_db),
        embeddings_db: path_for(config, embeddings_db),
    })
}

fn indexed(
    config: &Config,
    library: &Library,
    index: &IndexReader,
    compared_for: Option<&Sandbox>,
) -> Result<Indexed> {
    let totals = index.totals()?;
    let (library, missing) = library.or_stored_vectors(config)?;
    let fingerprint = match missing {
        None => library.fingerprint()?,
        Some(_) => None,
    };
    let (coverage, mut stale, vectors_without_say) = library.with(|engine| {
        let without_say = engine.vectors_without_say()?;
        let coverage = owners_coverage(config, engine)?;
        Ok((coverage, engine.stale()?, without_say))
    })?;
    stale.extend(missing);
    if let Some(sandbox) = compared_for {
        stale.extend(stale_files(config, &[], sandbox));
    }
    let model = library
        .model()
        .map_or_else(|| config.embed.model.clone(), |model| model.id().to_owned());
    let model_reason = if is_chosen(config) && !config.embed.provider.is_server() {
        Some(reason_for(config, &model)?)
    } else {
        None
    };
    let sources = index.sources()?.into_iter().map(|source| SourceState {
        name: source.name,
        root: shown(&source.root),
        kind: source.kind,
        documents: source.documents,
        last_scan_unix: source.scanned_ns / 1_000_000_000,
    });
    Ok(Indexed {
        documents: totals.documents,
        skipped_files: totals.skipped,
        skipped_kinds: by_kind(
            index
                .skipped(usize::MAX)?
                .iter()
                .map(|(_, path, reason)| (path.as_str(), reason.as_str())),
        ),
        chunks: totals.chunks,
        sources: sources.collect(),
        coverage,
        stale,
        vectors_without_say,
        model,
        model_reason,
        fingerprint,
    })
}

/// The status for a limited client: its documents and chunks are counted again, and no folder is
/// named. Files that are not indexed may be private and are not counted. Every field is named here,
/// so that a new one is not shown by mistake.
fn limited(
    config: &Config,
    library: &Library,
    sandbox: &Sandbox,
    whole: Indexed,
) -> Result<Indexed> {
    let (library, _) = library.or_stored_vectors(config)?;
    let reader = IndexReader::required(&config.index.db_path)?;
    let notes = shown_notes(&reader, sandbox)?;
    let chunks = shown_chunks(&reader, sandbox)?;
    let mut sources = Vec::new();
    for source in whole.sources {
        if !config
            .sources
            .iter()
            .any(|own| own.name.as_str() == source.name)
        {
            continue;
        }
        let of_source = notes.iter().filter(|note| note.source == source.name);
        sources.push(SourceState {
            documents: of_source.count() as u64,
            root: String::new(),
            name: source.name,
            kind: source.kind,
            last_scan_unix: source.last_scan_unix,
        });
    }
    Ok(Indexed {
        documents: notes.len() as u64,
        chunks: chunks.len() as u64,
        skipped_files: 0,
        skipped_kinds: Vec::new(),
        sources,
        coverage: library.with(|engine| Ok(coverage_of(engine, &chunks)))?,
        stale: whole.stale,
        // These describe the whole index and the machine.
        vectors_without_say: None,
        model_reason: None,
        model: whole.model,
        fingerprint: whole.fingerprint,
    })
}

/// The path of a database; empty for a limited client.
fn path_for(config: &Config, path: &Path) -> String {
    match config.client {
        Some(_) => String::new(),
        None => shown(path),
    }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_begins_with_a_dot_is_no_extension() {
        let skipped = [
            "a/.gitignore",
            ".env",
            "LICENSE",
            "b.PNG",
            "d.x/file",
            ".a.png",
        ];
        let kinds = by_kind(skipped.into_iter().map(|path| (path, "extension")));
        let counted: Vec<(&str, u64)> = kinds
            .iter()
            .map(|kind| (kind.extension.as_str(), kind.files))
            .collect();
        assert_eq!(counted, [("", 4), (".png", 2)]);
    }
}
