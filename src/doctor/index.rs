//! Checks `index.sqlite`: it is ours, intact, not empty, and consistent in itself and with the
//! configuration.

use super::codes::Code;
use super::database::{self, Codes, Looked};
use super::{Checks, MOST_SAMPLES, Subject, count, sample};
use local_agent_agent::operations::is_chosen;
use local_agent_embed::embedding;
use local_agent_embed::models::ModelFiles;
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_index::indexing::Source;
use local_agent_index::store::{Database, IndexReader};
use local_agent_text::error::{Failure, Result};
use local_agent_text::markdown::{self, ChunkOptions};
use local_agent_text::types::{RelPath, Sha256, SourceName};

const CODES: Codes = Codes {
    foreign: Code::IndexDbForeign,
    version: Code::IndexSchemaVersion,
    error: Code::IndexDbError,
    schema_ok: Code::IndexSchemaOk,
    integrity_ok: Code::IndexIntegrityOk,
    key: "index.db_path",
};

const INDEX: &str = "local-agent index";
const REBUILD: &str = "local-agent index --rebuild";

/// Maximum number of documents without chunks that are checked.
const MOST_LOOKED_INTO: usize = 1_000;

/// Checks the index; returns the open index if the rest can be compared with it.
pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) -> Option<IndexReader> {
    let path = &subject.config().index.db_path;
    match database::look(path, Database::Index, &CODES, checks) {
        Looked::Nothing => {
            // `index` would fail without a source.
            let fix = match subject.config().sources.is_empty() {
                true => subject.config().first_step(),
                false => INDEX,
            };
            checks.fail(
                Code::IndexDbMissing,
                format!("there is no index at {}", path.display()),
                fix,
            );
            return None;
        }
        Looked::Refused => return None,
        Looked::Usable => {}
    }
    let opened = IndexReader::open(path)
        .map_err(Failure::from)
        .and_then(|opened| {
            let Some(index) = opened else {
                checks.fail(
                    Code::IndexEmpty,
                    format!("{} holds nothing yet", path.display()),
                    INDEX,
                );
                return Ok(None);
            };
            contents(subject, &index, checks)?;
            Ok(Some(index))
        });
    opened.unwrap_or_else(|failure: Failure| {
        let message = format!("{} cannot be read: {}", path.display(), failure.message);
        checks.fail(
            Code::IndexDbError,
            message,
            database::again(Database::Index),
        );
        None
    })
}

fn contents(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let totals = index.totals()?;
    if totals.chunks == 0 {
        let shows = shows_files(subject);
        let now = if shows {
            "its sources show files"
        } else {
            "its sources show no file now"
        };
        let message = format!(
            "the index holds {} and no chunk; {now}",
            count(totals.documents, "document")
        );
        let fix = if shows {
            INDEX
        } else {
            "put markdown below a source, then run `local-agent index`"
        };
        checks.fail(Code::IndexEmpty, message, fix);
    } else {
        let message = format!(
            "{}, {}",
            count(totals.documents, "document"),
            count(totals.chunks, "chunk")
        );
        checks.ok(Code::IndexNonempty, message);
    }
    skipped(index, totals.skipped, checks)?;
    sources(subject, index, checks)?;
    without_chunks(subject, index, checks)?;
    of_nothing(index, checks)?;
    keys(index, checks)?;
    inputs(index, checks)?;
    cutting(subject, index, checks)
}

/// Whether any source has a file that `index` would read.
fn shows_files(subject: &Subject<'_>) -> bool {
    let Ok(sandbox) = subject.sandbox else {
        return false;
    };
    subject
        .config()
        .sources
        .iter()
        .any(|source| shows_source(sandbox, source))
}

/// Whether the source shows any file.
fn shows_source(sandbox: &Sandbox, source: &Source) -> bool {
    sandbox
        .documents(&source.name)
        .is_ok_and(|entries| !entries.is_empty())
}

/// Checks the embedding inputs: a chunk whose text differs from the hashed one would never get a
/// vector.
fn inputs(index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let mut wrong = Vec::new();
    index.each_text(|id, heading, text, input| {
        if Sha256::of(embedding::passage_input(heading, text).as_bytes()) != input {
            wrong.push(id.to_string());
        }
        Ok(())
    })?;
    if !wrong.is_empty() {
        let message = format!(
            "of {} the hash of what is embedded is wrong",
            count(wrong.len(), "chunk")
        );
        checks.fail(
            Code::IndexDbError,
            format!("{message}: {}", sample(&wrong)),
            REBUILD,
        );
    }
    Ok(())
}

fn skipped(index: &IndexReader, total: u64, checks: &mut Checks) -> Result<()> {
    let by_reason = index.skipped_by_reason()?;
    let message = match total {
        0 => "no document was skipped".to_owned(),
        _ => format!(
            "{} listed and not indexed: {}",
            count(total, "file"),
            by_reason.join(", ")
        ),
    };
    checks.ok(Code::SkippedFiles, message);
    Ok(())
}

/// W28: sources that are no longer configured must not be cited, and configured sources must have
/// been scanned.
fn sources(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let held = index.sources()?;
    let mut wrong = Vec::new();
    for source in &subject.config().sources {
        match held.iter().find(|held| held.name == source.name.as_str()) {
            None => wrong.push(format!("`{}` was never indexed", source.name)),
            Some(held) if held.root != source.root || held.kind != source.kind => {
                wrong.push(format!(
                    "`{}` was indexed from {} as `{}`",
                    source.name,
                    held.root.display(),
                    held.kind
                ));
            }
            // A folder that is missing is a check of its own, and indexing does not bring it back.
            Some(held) if held.scanned_ns == 0 && source.root.exists() => {
                wrong.push(format!("`{}` was never seen whole", source.name));
            }
            Some(_) => {}
        }
    }
    let gone = held.iter().filter(|held| {
        !subject
            .config()
            .sources
            .iter()
            .any(|s| s.name.as_str() == held.name)
    });
    wrong.extend(gone.map(|held| format!("`{}` is no longer configured", held.name)));
    if wrong.is_empty() {
        checks.ok(
            Code::IndexSourcesOk,
            "the index holds exactly the configured sources",
        );
    } else {
        checks.fail(Code::IndexSourcesMismatch, sample(&wrong), INDEX);
    }
    Ok(())
}

/// A document may have no chunks if it is empty or has only frontmatter. One with text must have
/// chunks.
fn without_chunks(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let found = index.documents_without_chunks(MOST_LOOKED_INTO)?;
    let options = cut_options(subject);
    let wrong: Vec<String> = found
        .into_iter()
        .filter_map(|(source, path)| address_with_text(subject, &options, source, path))
        .collect();
    if wrong.is_empty() {
        checks.ok(
            Code::DocsWithoutChunksOk,
            "every document that has text has chunks",
        );
    } else {
        let message = format!(
            "{} with text and without chunks: {}",
            count(wrong.len(), "document"),
            sample(&wrong)
        );
        checks.fail(Code::DocsWithoutChunks, message, REBUILD);
    }
    Ok(())
}

/// The address of a document whose file has text that chunks are made of.
fn address_with_text(
    subject: &Subject<'_>,
    options: &ChunkOptions,
    source: String,
    path: String,
) -> Option<String> {
    let at = Address {
        source: SourceName::new(source).ok()?,
        path: RelPath::new(path).ok()?,
    };
    let file = subject.sandbox.as_ref().ok()?.read(&at).ok()?;
    let text = std::str::from_utf8(&file.bytes).ok()?;
    (!markdown::parse(text, options, &str::len).chunks.is_empty()).then(|| at.to_string())
}

fn of_nothing(index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let wrong = index.chunks_without_document()?;
    if wrong.is_empty() {
        checks.ok(
            Code::ChunksWithoutDocsOk,
            "every chunk belongs to an indexed document",
        );
    } else {
        let message = format!(
            "{} of no indexed document: {}",
            count(wrong.len(), "chunk"),
            sample(&wrong)
        );
        checks.fail(Code::ChunksWithoutDocs, message, REBUILD);
    }
    Ok(())
}

fn keys(index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let wrong = index.chunks_without_own_key(MOST_SAMPLES + 1)?;
    if wrong.is_empty() {
        checks.ok(Code::ChunkKeyOk, "every chunk has a key of its own");
    } else {
        checks.fail(
            Code::ChunkKeyMissing,
            format!("chunk rows without a key of their own: {}", sample(&wrong)),
            REBUILD,
        );
    }
    Ok(())
}

/// W24: the chunking is checked for every document, not only for the index.
fn cutting(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) -> Result<()> {
    let stored = index.meta("chunker_sig")?;
    match &stored {
        Some(_) => checks.ok(Code::ChunkerSigOk, "the index says how it was cut"),
        None => checks.fail(
            Code::ChunkerSigMissing,
            "the index does not say how it was cut: no run has finished",
            INDEX,
        ),
    }
    let Ok(files) = subject.model else {
        checks.skipped(
            "the way documents were cut",
            "the embedding model, whose tokens measure chunks, is not ready",
        );
        return Ok(());
    };
    // A model in a folder of its own counts its tokens itself, whatever `embed.model` says.
    let counting = if is_chosen(subject.config()) {
        ModelFiles::embedded().ok()
    } else {
        None
    };
    let tokenizer = counting.as_ref().unwrap_or(files).tokenizer_sha256();
    let wanted = markdown::chunker_sig(&cut_options(subject), tokenizer);
    let others = index.documents_cut_otherwise(&wanted)?;
    if others.is_empty() {
        checks.ok(
            Code::ChunkSchemeOk,
            "every document was cut in the configured way",
        );
    } else {
        let message = format!(
            "{} cut in another way: {}",
            count(others.len(), "document"),
            sample(&others)
        );
        checks.fail(Code::ChunkSchemeMismatch, message, INDEX);
    }
    match stored {
        Some(stored) if stored == wanted => checks.ok(
            Code::ChunkerSigMatch,
            "the index was cut in the configured way",
        ),
        Some(_) => checks.fail(
            Code::ChunkerSigMismatch,
            "the index was cut in another way than is configured",
            INDEX,
        ),
        None => {}
    }
    Ok(())
}

fn cut_options(subject: &Subject<'_>) -> ChunkOptions {
    let index = &subject.config().index;
    ChunkOptions {
        scheme: index.scheme,
        max_tokens: index.max_tokens,
        max_chars: index.max_chars,
        overlap: index.overlap,
    }
}
