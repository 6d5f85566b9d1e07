//! `models pull`: the only command that may download.
//!
//! A pull is pinned to a commit. Files are downloaded into a staging folder next to the target and
//! hashed there, and the whole folder is renamed at the end: a model folder is either complete or
//! absent. An interrupted pull continues where it stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::manifest::{SMALL_FILES, record, records, verify_folder};
use super::registry::refused_network;
use super::reranker::refusal;
use super::{Known, Manifest, Trust, WEIGHTS, dense_paths, described_layers};
use super::{folder_of, invalid, known};
use local_agent_net::hub::{Fetched, Remote, fetch, is_commit, resolve};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// The default hub.
pub const HUB: &str = "https://huggingface.co";

/// The size limit of a description or tokenizer.
const SMALL_FILE_LIMIT: u64 = 64 << 20;

/// The options of a pull.
#[derive(Debug, Clone)]
pub struct PullOptions {
    /// Scheme and host of the hub; [`HUB`] by default.
    pub endpoint: String,
    /// `owner/name`; needed for a model that is not known by name.
    pub repo: Option<String>,
    /// The commit, 40 hexadecimal digits; needed when the registry has none.
    pub revision: Option<String>,
    /// The largest weights file that is accepted.
    pub max_bytes: u64,
    /// How long the server may be silent.
    pub idle: Duration,
}

impl Default for PullOptions {
    fn default() -> Self {
        Self {
            endpoint: HUB.into(),
            repo: None,
            revision: None,
            max_bytes: 4 << 30,
            idle: Duration::from_secs(60),
        }
    }
}

/// The progress of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullProgress<'a> {
    /// The file that is being downloaded.
    pub file: &'a str,
    /// Bytes of it that have been received.
    pub bytes: u64,
    /// Its whole size.
    pub total: u64,
}

/// The result of a pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    /// The folder of the model.
    pub folder: PathBuf,
    /// Its `trust` says whether the weights were compared with a hash that is compiled into this
    /// program, or trusted on first use.
    pub manifest: Manifest,
    /// Whether the same commit was already there and complete, so that nothing was downloaded.
    pub already_here: bool,
}

/// Downloads the model `id` into `models_dir/<id>`.
///
/// Every file is compared with the hash that the server announces, if it does. The weights of a
/// pinned commit are compared with the registry's hash, if it has one; otherwise they are recorded
/// as trusted on first use. Errors: `INVALID_ARGS` without a commit or repository,
/// `MODEL_PULL_ERROR`, `MODEL_CHECKSUM_MISMATCH`, `MODEL_INVALID` for files that this program
/// cannot run, `WRITE_ERROR`. The old folder stays until the new one is complete.
pub fn pull(
    id: &str,
    models_dir: &Path,
    options: &PullOptions,
    progress: &mut dyn FnMut(PullProgress<'_>),
) -> Result<Pulled> {
    let folder = folder_of(id, models_dir)?;
    if let Some(network) = refused_network(id) {
        return Err(refusal(id, network));
    }
    let entry = known(id);
    let remote = at_commit(remote(id, entry, options)?)?;
    if let Some(manifest) = whole(id, &folder, &remote) {
        return Ok(Pulled {
            folder,
            manifest,
            already_here: true,
        });
    }
    let staging = models_dir.join(format!(".pull-{id}-{}", &remote.revision[..12]));
    let (cache, ready) = (staging.join("cache"), staging.join("ready"));
    fs::create_dir_all(ready.join("1_Pooling")).map_err(|e| write_error(&staging, &e))?;
    bring_all(id, &remote, options.max_bytes, (&cache, &ready), progress).inspect_err(
        |failure| {
            // Nothing of a model that cannot run is kept; what a broken connection left is continued.
            if failure.code == ErrorCode::ModelInvalid {
                let _ = fs::remove_dir_all(&staging);
            }
        },
    )?;
    let pinned = entry
        .filter(|e| e.revision == Some(remote.revision.as_str()))
        .and_then(|e| e.weights_sha256);
    let manifest = check(id, &remote, &ready, pinned).inspect_err(|_| {
        // A damaged download is not continued.
        let _ = fs::remove_dir_all(&staging);
    })?;
    manifest.write(&ready)?;
    verify_folder(id, &ready)?;
    publish(&ready, &folder)?;
    let _ = fs::remove_dir_all(&staging);
    Ok(Pulled {
        folder,
        manifest,
        already_here: false,
    })
}

/// Downloads all files of the model into `ready`. The descriptions come first, so that an
/// unsupported network is refused before its weights are downloaded.
fn bring_all(
    id: &str,
    remote: &Remote,
    max_bytes: u64,
    (cache, ready): (&Path, &Path),
    progress: &mut dyn FnMut(PullProgress<'_>),
) -> Result<()> {
    for (file, needed) in SMALL_FILES {
        if !bring(remote, file, cache, ready, SMALL_FILE_LIMIT, progress)? && needed {
            return Err(without_file(id, file));
        }
    }
    let layers = described_layers(id, ready)?;
    if !bring(remote, WEIGHTS, cache, ready, max_bytes, progress)? {
        return Err(without_file(
            id,
            "model.safetensors; split and pickled weights are not used",
        ));
    }
    for layer in layers {
        let place = ready.join(&layer);
        fs::create_dir_all(&place).map_err(|e| write_error(&place, &e))?;
        for file in <[String; 2]>::from(dense_paths(&layer)) {
            if !bring(remote, &file, cache, ready, max_bytes, progress)? {
                return Err(without_file(id, &file));
            }
        }
    }
    Ok(())
}

/// The failure for a repository without a needed file.
fn without_file(id: &str, file: &str) -> Failure {
    invalid(id, &format!("the repository has no {file}"))
}

/// The same with the commit that its branch or tag is at now, which is recorded.
fn at_commit(mut remote: Remote) -> Result<Remote> {
    if is_commit(&remote.revision) {
        return Ok(remote);
    }
    let (file, _) = SMALL_FILES[0];
    remote.revision = resolve(&remote, file)?.ok_or_else(|| {
        let Remote { repo, revision, .. } = &remote;
        let message = format!("`{repo}` has no branch or tag `{revision}` with a {file}.");
        wrong_arguments(
            message,
            Fix::Words,
            format!("name a branch, a tag or a commit of {repo}"),
        )
    })?;
    Ok(remote)
}

/// The repository and revision to pull; none is ever guessed.
fn remote(id: &str, entry: Option<&Known>, options: &PullOptions) -> Result<Remote> {
    let repo = options
        .repo
        .clone()
        .or_else(|| entry.map(|e| e.repo.to_owned()))
        .ok_or_else(|| {
            let hint = format!("local-agent models pull {id} --repo OWNER/NAME --revision main");
            wrong_arguments(
                format!("`{id}` is not a model that this program knows by name."),
                Fix::PullModel,
                hint,
            )
        })?;
    if repo.split('/').count() != 2 || !repo.split('/').all(is_name_part) {
        return Err(wrong_arguments(
            format!("`{repo}` is not a repository."),
            Fix::Words,
            "name it as OWNER/NAME".into(),
        ));
    }
    let registered = entry
        .filter(|e| e.repo == repo)
        .and_then(|e| e.revision)
        .map(str::to_owned);
    let revision = options.revision.clone().or(registered).ok_or_else(|| {
        let hint = format!("local-agent models pull {id} --repo {repo} --revision main");
        wrong_arguments(
            format!("No commit of `{repo}` is pinned; say which one, or a branch."),
            Fix::PullModel,
            hint,
        )
    })?;
    if !is_commit(&revision) && !is_branch(&revision) {
        let message = format!("`{revision}` cannot be the name of a commit, a branch or a tag.");
        let hint = format!("name a branch, a tag or a commit of {repo}");
        return Err(wrong_arguments(message, Fix::Words, hint));
    }
    Ok(Remote {
        endpoint: options.endpoint.trim_end_matches('/').into(),
        repo,
        revision,
        idle: options.idle,
    })
}

/// Whether this may be the name of a branch or tag, or a part of a commit.
fn is_branch(name: &str) -> bool {
    let is_part = |part: &str| is_name_part(&part.replace('+', "-"));
    name.len() <= 100 && name.split('/').all(is_part)
}

/// Whether this may be one part of a repository's name.
fn is_name_part(s: &str) -> bool {
    !s.is_empty()
        && !s.starts_with('.')
        && s.chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// The failure for a model name that cannot be used.
fn wrong_arguments(message: String, fix: Fix, hint: String) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, message).with_fix(fix, hint)
}

/// The manifest of `folder`, if it is for this commit and every file matches it.
fn whole(id: &str, folder: &Path, remote: &Remote) -> Option<Manifest> {
    let manifest = Manifest::read(folder).ok().flatten()?;
    let same = manifest.revision.as_deref() == Some(&remote.revision)
        && manifest.repo.as_deref() == Some(&remote.repo);
    (same && verify_folder(id, folder).is_ok()).then_some(manifest)
}

/// Downloads one file into `ready`, unless an earlier attempt did; `false` if the repository does
/// not have the file.
///
/// If the server announced a hash, it is compared before the file is moved. The bytes may come from
/// another host (hubs store large files elsewhere), so only a hash proves what they are.
fn bring(
    remote: &Remote,
    file: &str,
    cache: &Path,
    ready: &Path,
    max_bytes: u64,
    progress: &mut dyn FnMut(PullProgress<'_>),
) -> Result<bool> {
    let place = ready.join(file);
    if place.is_file() {
        return Ok(true);
    }
    let mut tell = |bytes, total| progress(PullProgress { file, bytes, total });
    let Some(Fetched {
        path,
        announced_sha256,
    }) = fetch(remote, file, cache, max_bytes, &mut tell)?
    else {
        return Ok(false);
    };
    if let Some(announced) = announced_sha256 {
        let own =
            record(path.parent().unwrap_or(cache), &name_of(&path))?.map(|r| r.sha256.to_string());
        if own.as_ref() != Some(&announced) {
            let _ = fs::remove_file(&path);
            return Err(mismatch(file, &remote.repo));
        }
    }
    fs::rename(&path, &place).map_err(|e| write_error(&place, &e))?;
    Ok(true)
}

/// Hashes everything in `ready` and compares the weights with the hash that is compiled into this
/// program.
fn check(id: &str, remote: &Remote, ready: &Path, pinned: Option<&str>) -> Result<Manifest> {
    let files = records(id, ready)?;
    let weights = files
        .iter()
        .find(|f| f.path.as_str() == WEIGHTS)
        .map(|f| f.sha256.to_string());
    if pinned.is_some_and(|expected| weights.as_deref() != Some(expected)) {
        return Err(mismatch(WEIGHTS, &remote.repo));
    }
    let trust = if pinned.is_some() {
        Trust::Pinned
    } else {
        Trust::FirstUse
    };
    Ok(Manifest::new(
        id,
        Some(remote.repo.clone()),
        Some(remote.revision.clone()),
        trust,
        files,
    ))
}

/// Moves the complete folder to its place; the old folder is moved aside first, and put back if
/// that fails.
fn publish(ready: &Path, folder: &Path) -> Result<()> {
    let aside = folder.with_file_name(format!(".old-{}", name_of(folder)));
    let _ = fs::remove_dir_all(&aside);
    let had = folder.exists();
    if had {
        fs::rename(folder, &aside).map_err(|e| write_error(folder, &e))?;
    }
    if let Err(error) = fs::rename(ready, folder) {
        if had {
            let _ = fs::rename(&aside, folder);
        }
        return Err(write_error(folder, &error));
    }
    let _ = fs::remove_dir_all(&aside);
    Ok(())
}

fn name_of(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn mismatch(file: &str, repo: &str) -> Failure {
    Failure::new(
        ErrorCode::ModelChecksum,
        format!("{file} of {repo} does not have the expected SHA-256; it was not kept."),
    )
    .with_hint("pull again, or from another --endpoint")
}

fn write_error(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::WriteError,
        format!("{} cannot be written: {error}.", path.display()),
    )
}

#[cfg(test)]
#[path = "pull_tests.rs"]
mod tests;
