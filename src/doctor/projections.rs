//! Checks the two projections: they are made from the current state, intact, and contain exactly
//! the data of the databases.

use std::collections::HashSet;
use std::path::Path;

use super::codes::Code;
use super::configured_model::ConfiguredModel;
use super::{Checks, Subject, count, sample};
use local_agent_agent::operations::is_chosen;
use local_agent_agent::operations::model_choice::model_by_languages;
use local_agent_files::state::quoted;
use local_agent_index::ids::ChunkId;
use local_agent_index::indexing::profile_is_wanted;
use local_agent_index::lexical::{LexicalStamp, Reader};
use local_agent_index::profile::{Cosines, Origin, Profile};
use local_agent_index::retrieval::Engine;
use local_agent_index::store::{EmbeddingStore, IndexReader};
use local_agent_index::vectors::Matrix;
use local_agent_text::error::{ErrorCode, Result};
use local_agent_text::types::ChunkKey;

/// Compares the lexical projection with the index.
pub(super) fn lexical(subject: &Subject<'_>, index: &IndexReader, checks: &mut Checks) {
    let dir = subject.config().lexical_dir();
    let fix = format!("rm -r {} && local-agent index", quoted(&dir));
    let reader = match Reader::open(&dir) {
        Ok(Some(reader)) => reader,
        Ok(None) => {
            checks.fail(
                Code::LexicalMissing,
                format!("there is no lexical projection in {}", dir.display()),
                "local-agent index",
            );
            return;
        }
        Err(failure) => {
            checks.fail(
                Code::LexicalDamaged,
                format!("{}: {}", dir.display(), failure.message),
                fix,
            );
            return;
        }
    };
    match reader.damaged_files() {
        Ok(damaged) if damaged.is_empty() => {}
        Ok(damaged) => {
            checks.fail(
                Code::LexicalDamaged,
                format!("damaged in {}: {}", dir.display(), sample(&damaged)),
                fix,
            );
            return;
        }
        Err(failure) => {
            checks.fail(
                Code::LexicalDamaged,
                format!("{}: {}", dir.display(), failure.message),
                fix,
            );
            return;
        }
    }
    match lexical_state(&reader, index) {
        Ok(Agreement::Stale) => {
            let message = "the lexical projection was made from another state of the index";
            checks.fail(Code::LexicalStale, message, "local-agent index");
        }
        Ok(Agreement::Differ { missing, surplus }) => {
            let message = format!(
                "the lexical projection lacks {} and has {surplus} too many",
                count(missing, "chunk")
            );
            checks.fail(Code::LexicalKeysMismatch, message, fix);
        }
        Ok(Agreement::Same) => {
            let message = format!(
                "{} can be found by their words",
                count(reader.chunk_count(), "chunk")
            );
            checks.ok(Code::LexicalOk, message);
        }
        Err(failure) => checks.fail(Code::LexicalDamaged, failure.message, fix),
    }
}

/// How a projection relates to the state from which it was made.
enum Agreement {
    Same,
    Stale,
    Differ { missing: usize, surplus: usize },
}

fn lexical_state(reader: &Reader, index: &IndexReader) -> Result<Agreement> {
    if reader.stamp() != index.commit_id()?.map(LexicalStamp::new) {
        return Ok(Agreement::Stale);
    }
    let held: HashSet<(ChunkId, ChunkKey)> = reader.chunk_keys()?.into_iter().collect();
    let mut missing = 0;
    let mut found = 0;
    index.each_chunk(|chunk| {
        if held.contains(&(chunk.id, chunk.key)) {
            found += 1;
        } else {
            missing += 1;
        }
        Ok(())
    })?;
    let surplus = held.len() - found;
    Ok(if missing + surplus == 0 {
        Agreement::Same
    } else {
        Agreement::Differ { missing, surplus }
    })
}

/// Compares the matrix with the index and the embeddings.
pub(super) fn vectors(
    subject: &Subject<'_>,
    index: &IndexReader,
    store: &EmbeddingStore,
    configured: Option<&ConfiguredModel<'_>>,
    checks: &mut Checks,
) {
    let dir = subject.config().vectors_dir();
    let fix = format!("rm -r {} && local-agent embed", quoted(&dir));
    let Some(matrix) = sound_matrix(&dir, store, &fix, checks) else {
        return;
    };
    if configured.is_some_and(|configured| configured.fingerprint() != matrix.stamp().fingerprint) {
        let message =
            "the matrix was made by another model or in another way, so it is not searched";
        checks.fail(
            Code::VectorsFingerprintMismatch,
            message,
            "local-agent embed",
        );
        return;
    }
    match vectors_state(&matrix, index, store) {
        Ok(Agreement::Same) => {
            checks.ok(
                Code::VectorsOk,
                "the vectors are those of the chunks of the index",
            );
            profile(subject, &matrix, checks);
        }
        Ok(Agreement::Stale) => {
            let message = "the matrix was made from another state of the index or the embeddings";
            if subject.require_phase3 {
                checks.fail(Code::VectorsStale, message, "local-agent embed");
            } else {
                checks.warn(Code::VectorsStaleWarn, message, "local-agent embed");
            }
        }
        Ok(Agreement::Differ { surplus, .. }) => {
            let message = format!(
                "{} of the matrix are not chunks of its index",
                count(surplus, "row")
            );
            checks.fail(Code::VectorsKeysMismatch, message, fix);
        }
        Err(failure) => checks.fail(Code::VectorsDamaged, failure.message, fix),
    }
}

/// The matrix if it exists and is undamaged; otherwise reports the fault.
fn sound_matrix(
    dir: &Path,
    store: &EmbeddingStore,
    fix: &str,
    checks: &mut Checks,
) -> Option<Matrix> {
    match Matrix::open(dir).and_then(|matrix| {
        matrix.as_ref().map_or(Ok(()), Matrix::verify)?;
        Ok(matrix)
    }) {
        Ok(Some(matrix)) => return Some(matrix),
        Ok(None) if store.count().is_ok_and(|rows| rows > 0) => {
            let message = format!("there are embeddings, but no matrix in {}", dir.display());
            checks.fail(Code::VectorsMissing, message, "local-agent embed");
        }
        Ok(None) => {}
        Err(failure) if failure.code == ErrorCode::DbNewer => {
            let fix = "install the newer local-agent";
            checks.fail(Code::VectorsNewer, failure.message, fix);
        }
        Err(failure) => {
            let message = format!("{}: {}", dir.display(), failure.message);
            checks.fail(Code::VectorsDamaged, message, fix);
        }
    }
    None
}

/// Reports the cosine profile of the matrix, and whether its vectors count.
fn profile(subject: &Subject<'_>, matrix: &Matrix, checks: &mut Checks) {
    let config = subject.config();
    let fingerprint = matrix.stamp().fingerprint;
    let engine = Engine::open(
        &config.index.db_path,
        &config.lexical_dir(),
        &config.vectors_dir(),
        Some(&fingerprint),
    );
    let looked = engine.and_then(|engine| {
        let without_say = engine.vectors_without_say()?;
        let is_wanted = profile_is_wanted(&config.vectors_dir(), &fingerprint)?;
        Ok((engine.profile().cloned(), without_say, is_wanted))
    });
    match looked {
        Ok((_, Some(why), _)) => {
            let fix = other_model(subject).unwrap_or("local-agent models list");
            checks.warn(Code::VectorsWithoutSayWarn, why, fix);
        }
        Ok((Some(profile), None, is_wanted)) => {
            let message = described(&profile);
            // A few chunks are not measured: an estimate is as good.
            if profile.origin == Origin::Estimated && is_wanted {
                checks.warn(Code::VectorsProfileWarn, message, "local-agent embed");
            } else {
                checks.ok(Code::VectorsProfileOk, message);
            }
        }
        Ok((None, None, _)) => {}
        Err(failure) => checks.fail(Code::VectorsDamaged, failure.message, "local-agent embed"),
    }
}

/// The command that takes the model that the languages of the index call for, if `auto` keeps to
/// another one.
fn other_model(subject: &Subject<'_>) -> Option<&'static str> {
    let config = subject.config();
    let used = subject.model.as_ref().ok()?;
    let is_other =
        is_chosen(config) && model_by_languages(config).is_ok_and(|wanted| wanted != used.id());
    is_other.then_some("local-agent embed --model auto")
}

/// A profile as a sentence.
fn described(profile: &Profile) -> String {
    let Cosines { mean, spread } = profile.unrelated;
    let origin = match profile.origin {
        Origin::Shipped => "shipped with the program",
        Origin::Measured => "measured on this index",
        Origin::Estimated => "estimated from the vectors",
    };
    format!("unrelated texts have cosines of {mean:.2} ± {spread:.2} ({origin})")
}

/// Compares matrix and index. Chunks without a row are reported with the embeddings; here only rows
/// without a chunk are errors.
fn vectors_state(
    matrix: &Matrix,
    index: &IndexReader,
    store: &EmbeddingStore,
) -> Result<Agreement> {
    let stamp = matrix.stamp();
    let is_current = Some(stamp.index_commit) == index.commit_id()?
        && Some(stamp.embed_commit) == store.commit_id()?;
    let mut held: HashSet<(ChunkId, ChunkKey)> = matrix.rows().collect();
    let mut has_each_chunk = true;
    index.each_chunk(|chunk| {
        has_each_chunk &= held.remove(&(chunk.id, chunk.key));
        Ok(())
    })?;
    // Rows of chunks that are gone are dropped when read.
    if !is_current {
        return Ok(match has_each_chunk {
            true => Agreement::Same,
            false => Agreement::Stale,
        });
    }
    Ok(if held.is_empty() {
        Agreement::Same
    } else {
        Agreement::Differ {
            missing: 0,
            surplus: held.len(),
        }
    })
}
