//! Checks `embeddings.sqlite`: it is ours, intact, made like queries, and complete for the index.

use std::collections::HashSet;

use super::codes::Code;
use super::configured_model::{ConfiguredModel, Unready};
use super::database::{self, Codes, Looked};
use super::{Checks, Phase3, Subject, count};
use local_agent_agent::config::Config;
use local_agent_agent::operations::jobs::chunks_without_vector;
use local_agent_index::store::{Database, EmbeddingStore, IndexReader};
use local_agent_text::error::{Failure, Result};
use local_agent_text::types::{Fingerprint, Sha256};

const CODES: Codes = Codes {
    foreign: Code::EmbedDbForeign,
    version: Code::EmbedSchemaVersion,
    error: Code::EmbedDbError,
    schema_ok: Code::EmbedSchemaOk,
    integrity_ok: Code::EmbedIntegrityOk,
    key: "embed.db_path",
};

const EMBED: &str = "local-agent embed";

/// The stable name of the configured provider.
pub(super) const fn provider(config: &Config) -> &'static str {
    config.embed.provider.as_str()
}

/// Checks the embeddings; returns the open database if the matrix can be compared with it.
pub(super) fn check(
    subject: &Subject<'_>,
    index: Option<&IndexReader>,
    configured: &std::result::Result<ConfiguredModel<'_>, Unready>,
    checks: &mut Checks,
    phase3: &mut Phase3,
) -> Option<EmbeddingStore> {
    let path = &subject.config().embed.db_path;
    match database::look(path, Database::Embeddings, &CODES, checks) {
        Looked::Nothing => {
            missing_db(subject, checks);
            phase3.embeddings_total = Some(0);
            phase3.missing_embeddings = phase3.chunks_total;
            return None;
        }
        Looked::Refused => return None,
        Looked::Usable => {}
    }
    let opened = EmbeddingStore::open_read(path)
        .map_err(Failure::from)
        .and_then(|opened| {
            let Some(store) = opened else { return Ok(None) };
            contents(subject, &store, index, configured, checks, phase3)?;
            Ok(Some(store))
        });
    opened.unwrap_or_else(|failure| {
        let message = format!("{} cannot be read: {}", path.display(), failure.message);
        checks.fail(
            Code::EmbedDbError,
            message,
            database::again(Database::Embeddings),
        );
        None
    })
}

fn missing_db(subject: &Subject<'_>, checks: &mut Checks) {
    let path = subject.config().embed.db_path.display();
    let message = format!("there are no embeddings at {path}; search goes by words alone");
    if subject.require_phase3 {
        checks.fail(Code::EmbedDbMissing, message, EMBED);
    } else {
        checks.warn(Code::EmbedDbMissingWarn, message, EMBED);
    }
}

fn contents(
    subject: &Subject<'_>,
    store: &EmbeddingStore,
    index: Option<&IndexReader>,
    configured: &std::result::Result<ConfiguredModel<'_>, Unready>,
    checks: &mut Checks,
    phase3: &mut Phase3,
) -> Result<()> {
    let rows = store.count()?;
    phase3.embeddings_total = Some(rows);
    if rows > 0 && store.commit_id()?.is_none() {
        let message = format!(
            "{} without the commit that published them",
            count(rows, "row")
        );
        checks.fail(
            Code::EmbedMetaMissing,
            message,
            database::again(Database::Embeddings),
        );
    }
    let configured = match configured {
        Ok(configured) => configured,
        Err(Unready { why, fix }) => {
            if let Some(fix) = fix.as_ref().filter(|_| rows > 0) {
                checks.fail(Code::EmbedFingerprintError, why.clone(), fix.clone());
            }
            checks.skipped("which chunks have vectors", why);
            return Ok(());
        }
    };
    let fingerprint = configured.fingerprint();
    made_alike(subject, store, &fingerprint, rows, checks, phase3)?;
    let Some(index) = index else {
        checks.skipped(
            "which chunks have vectors",
            "there is no index that can be read",
        );
        return Ok(());
    };
    complete(subject, store, index, configured, checks, phase3)
}

/// Checks the fingerprints. If no vector has the current fingerprint, the vectors are useless, and
/// the check reports the reason.
fn made_alike(
    subject: &Subject<'_>,
    store: &EmbeddingStore,
    fingerprint: &Fingerprint,
    rows: u64,
    checks: &mut Checks,
    phase3: &mut Phase3,
) -> Result<()> {
    if rows == 0 {
        return Ok(());
    }
    let all = store.by_fingerprint()?;
    let matches = all.iter().any(|(found, ..)| found == fingerprint);
    phase3.embed_runtime_fingerprint_match = Some(matches);
    let configured = match subject.model {
        Ok(files) if !subject.config().embed.provider.is_server() => files.id(),
        _ => subject.config().embed.model.as_str(),
    };
    match all.first() {
        Some((_, model, _)) if !matches && model != configured => {
            let message =
                format!("all vectors were made by `{model}`; configured is `{configured}`");
            checks.fail(Code::EmbedModelMismatch, message, EMBED);
        }
        _ if !matches => {
            let message = format!(
                "all vectors were made by other weights of `{configured}` or in another way"
            );
            checks.fail(Code::EmbedFingerprintMismatch, message, EMBED);
        }
        _ => checks.ok(
            Code::EmbedFingerprintOk,
            format!("vectors were made by `{configured}`, as queries are"),
        ),
    }
    Ok(())
}

/// The codes of one row: without a fault, with a fault as a warning, and with a fault as a failure.
const MISSING: [Code; 3] = [
    Code::EmbedMissingOk,
    Code::EmbedMissingWarn,
    Code::EmbedMissingRequired,
];
const OUTDATED: [Code; 3] = [
    Code::EmbedOutdatedOk,
    Code::EmbedOutdatedWarn,
    Code::EmbedOutdatedRequired,
];
const OTHER_DIM: [Code; 3] = [
    Code::EmbedDimMismatchOk,
    Code::EmbedDimMismatchWarn,
    Code::EmbedDimMismatchRequired,
];
const ORPHANS: [Code; 3] = [
    Code::EmbedOrphansOk,
    Code::EmbedOrphansWarn,
    Code::EmbedOrphansRequired,
];

fn complete(
    subject: &Subject<'_>,
    store: &EmbeddingStore,
    index: &IndexReader,
    configured: &ConfiguredModel<'_>,
    checks: &mut Checks,
    phase3: &mut Phase3,
) -> Result<()> {
    let fingerprint = configured.fingerprint();
    let have = store.inputs(&fingerprint)?;
    let mut used: HashSet<Sha256> = HashSet::new();
    // Private notes are not sent to another machine, so no vector of them is missing.
    let kept_back = chunks_without_vector(subject.config(), index)?;
    let (mut chunks, mut missing) = (0, 0);
    index.each_chunk(|chunk| {
        chunks += 1;
        let is_missing = !have.contains(&chunk.input_sha256) && !kept_back.contains(chunk.id);
        missing += u64::from(is_missing);
        used.insert(chunk.input_sha256);
        Ok(())
    })?;
    // Vectors that `embed` has recorded as unused are kept for a while; this is not a problem.
    let unused = store.unused()?;
    let kept: HashSet<&Sha256> = unused
        .iter()
        .filter(|(made, _)| *made == fingerprint)
        .map(|(_, input)| input)
        .collect();
    let kept_outdated = (unused.len() - kept.len()) as u64;
    let outdated = (store.count()? - have.len() as u64).saturating_sub(kept_outdated);
    let orphans = have
        .iter()
        .filter(|input| !used.contains(*input) && !kept.contains(input))
        .count() as u64;
    let dims = store.dims(&fingerprint)?;
    // A server does not report the dimension in advance; then the length of most vectors is assumed
    // to be right.
    let dim = configured
        .dim()
        .or_else(|| dims.iter().max_by_key(|(_, n)| *n).map(|(dim, _)| *dim))
        .unwrap_or(0);
    let other_dims: u64 = dims
        .iter()
        .filter(|(found, _)| *found != dim)
        .map(|(_, n)| n)
        .sum();
    let mut row = |n: u64, what: String, codes: [Code; 3], fix: &str| match n {
        0 => checks.ok(codes[0], what),
        _ if subject.require_phase3 => checks.fail(codes[2], what, fix),
        _ => checks.warn(codes[1], what, fix),
    };
    let have_one = format!("{missing} of {} have no vector", count(chunks, "chunk"));
    row(missing, have_one, MISSING, EMBED);
    let strange = format!("{} of another fingerprint", count(outdated, "vector"));
    row(outdated, strange, OUTDATED, EMBED);
    let of_length = format!(
        "{} of another length than {dim}",
        count(other_dims, "vector")
    );
    row(
        other_dims,
        of_length,
        OTHER_DIM,
        "local-agent embed --rebuild",
    );
    let unused = format!("{} of no chunk", count(orphans, "vector"));
    row(orphans, unused, ORPHANS, EMBED);
    phase3.missing_embeddings = Some(missing);
    phase3.outdated_embeddings = Some(outdated);
    phase3.dim_mismatch_embeddings = Some(other_dims);
    phase3.orphan_embeddings = Some(orphans);
    Ok(())
}
