//! Checks whether index and projections match the files. Reads only.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::library::Library;
use super::privacy::owners_coverage;
use super::scope::{not_configured, unconfigured};
use super::setup::sandbox;
use crate::config::Config;
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_index::indexing::{Compared, Source, compare};
use local_agent_index::retrieval::{Hit, Stale};
use local_agent_index::store::IndexReader;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{RelPath, Sha256, SourceName};

/// Shortest pause between two checks.
const SHORTEST: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Maximum number of files named in a sentence.
const NAMED: usize = 3;

/// The fix for files that differ from the index.
const INDEX: &str = "local-agent index";

/// The fix for a folder that is missing: its source is removed, or gets its new folder.
const SOURCES: &str = "local-agent source list";

/// The fix for a folder that exists and that this process may not list.
const ACCESS: &str = "allow reading the folder, and start the program that answers again";

/// Lists what is out of date, one sentence each; empty if the search finds everything in the files.
///
/// Errors: those of the sandbox and of the databases; a source whose root cannot be used counts as
/// out of date.
pub fn behind(config: &Config, library: &Library) -> Result<Vec<String>> {
    if IndexReader::open(&config.index.db_path)?.is_none() {
        return Ok(vec!["nothing is indexed yet".to_owned()]);
    }
    let mut behind = files_behind(config, &[], &sandbox(config)?)?;
    library.with(|engine| {
        behind.extend(engine.stale()?.into_iter().map(|stale| stale.why));
        let coverage = owners_coverage(config, engine)?;
        if engine.has_vectors() && coverage.embedded < coverage.chunks {
            behind.push(format!(
                "{} of {} chunks have a vector",
                coverage.embedded, coverage.chunks
            ));
        }
        Ok(())
    })?;
    Ok(behind)
}

/// Which files of `sources` (all if empty) have changed since they were indexed, one sentence per
/// kind of change. Only files visible in `shown_to` are named; the others are counted.
///
/// Errors: as [`behind`], and `INDEX_MISSING`.
pub fn files_behind(
    config: &Config,
    sources: &[SourceName],
    shown_to: &Sandbox,
) -> Result<Vec<String>> {
    let behind = compared(config, sources, shown_to)?;
    Ok(behind.into_iter().map(|stale| stale.why).collect())
}

fn files(why: String, fix: &'static str) -> Stale {
    Stale {
        what: "files",
        why,
        fix,
    }
}

/// The folder of a source cannot be used. The process may lack the right to list one that exists,
/// such as a confined server that was started before the source was added.
fn unlisted(source: &Source, failure: Failure) -> Stale {
    if source.root.exists() {
        let why = format!(
            "the folder of `{}` is there, and this process may not read it",
            source.name
        );
        return files(why, ACCESS);
    }
    files(failure.message, SOURCES)
}

/// As [`files_behind`], each with its fix.
fn compared(config: &Config, sources: &[SourceName], shown_to: &Sandbox) -> Result<Vec<Stale>> {
    let index = IndexReader::required(&config.index.db_path)?;
    // Opened again each time: a folder that was deleted and recreated is a different folder.
    let sandbox = sandbox(config)?;
    let (mut compared, mut behind) = (Compared::default(), Vec::new());
    for source in config
        .sources
        .iter()
        .filter(|source| sources.is_empty() || sources.contains(&source.name))
    {
        match compare(&sandbox, source, &index, &mut compared) {
            Err(failure) if failure.code == ErrorCode::ConfigError => {
                behind.push(unlisted(source, failure));
            }
            done => done?,
        }
    }
    for (what, which) in [
        ("new", &compared.new),
        ("changed", &compared.changed),
        ("gone", &compared.gone),
    ] {
        if !which.is_empty() {
            let named = names(which, shown_to);
            let why = format!("files are {what} ({}){named}", which.len());
            behind.push(files(why, INDEX));
        }
    }
    let emptied = compared.emptied.drain(..);
    behind.extend(emptied.map(|why| files(why, INDEX)));
    if sources.is_empty() && config.client.is_none() {
        let gone = unconfigured(config, &index)?;
        behind.extend(gone.iter().map(|name| files(not_configured(name), INDEX)));
    }
    Ok(behind)
}

/// A colon and the first names that may be shown; blank if no name may be shown.
fn names(files: &[String], shown_to: &Sandbox) -> String {
    let mut shown = files.iter().filter(|file| may_show(shown_to, file));
    let named: Vec<&str> = shown.by_ref().take(NAMED).map(String::as_str).collect();
    if named.is_empty() {
        return String::new();
    }
    let more = if files.len() > named.len() {
        ", …"
    } else {
        ""
    };
    format!(": {}{more}", named.join(", "))
}

/// Whether the reader may see the file.
fn may_show(shown_to: &Sandbox, file: &str) -> bool {
    let address = file.split_once(':').and_then(|(source, path)| {
        Some(Address {
            source: SourceName::new(source).ok()?,
            path: RelPath::new(path).ok()?,
        })
    });
    address.is_some_and(|at| shown_to.shows(&at))
}

/// Like [`files_behind`], for use with other results: if the files cannot be compared, this is
/// reported as a sentence and not as a failure.
pub fn stale_files(config: &Config, sources: &[SourceName], shown_to: &Sandbox) -> Vec<Stale> {
    match compared(config, sources, shown_to) {
        Ok(behind) => behind,
        Err(failure) => {
            let why = format!(
                "whether files are new or changed is not known: {}",
                failure.message
            );
            vec![Stale {
                what: "files",
                why,
                fix: "local-agent doctor",
            }]
        }
    }
}

/// For each hit, whether its file is unchanged since it was indexed. `false` if it cannot be read.
pub fn are_fresh(hits: &[Hit], sandbox: &Sandbox) -> Vec<bool> {
    let mut files = HashMap::new();
    let mut is_fresh = |hit: &Hit| {
        let at = Address {
            source: hit.chunk.source.clone(),
            path: hit.chunk.path.clone(),
        };
        *files.entry(hit.chunk.document_id).or_insert_with(|| {
            sandbox
                .read(&at)
                .is_ok_and(|file| Sha256::of(&file.bytes) == hit.chunk.file_sha256)
        })
    };
    hits.iter().map(&mut is_fresh).collect()
}

/// For each hit, whether its file no longer exists. `fresh`: the result of [`are_fresh`].
pub fn are_gone(hits: &[Hit], fresh: &[bool], sandbox: &Sandbox) -> Vec<bool> {
    let is_gone = |hit: &Hit| {
        let at = Address {
            source: hit.chunk.source.clone(),
            path: hit.chunk.path.clone(),
        };
        let read = sandbox.read(&at);
        read.is_err_and(|failure| failure.code == ErrorCode::FileNotFound)
    };
    let hits = hits.iter().zip(fresh);
    hits.map(|(hit, fresh)| !fresh && is_gone(hit)).collect()
}

/// Waits until index and projections are up to date.
///
/// Errors: `NOT_FRESH` with what is out of date when `patience` is over; those of [`behind`].
pub fn wait(config: &Config, library: &Library, patience: Duration) -> Result<()> {
    let start = Instant::now();
    let mut pause = SHORTEST;
    loop {
        let behind = behind(config, library)?;
        if behind.is_empty() {
            return Ok(());
        }
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            let message = format!(
                "still older than the files after {} s: {}",
                patience.as_secs(),
                behind.join("; ")
            );
            return Err(Failure::new(ErrorCode::NotFresh, message).with_command(
                "`local-agent index && local-agent embed`, or keep `local-agent watch` at work",
            ));
        }
        std::thread::sleep(pause.min(left));
        pause = (pause * 2).min(MAX_PAUSE);
    }
}
