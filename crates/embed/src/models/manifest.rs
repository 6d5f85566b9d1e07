//! `local-agent-model.json`: the sizes and hashes of a model's files, written when the model was
//! pulled or verified.
//!
//! With it, the fingerprint of a model needs no hashing at run time, and `models verify` can detect
//! a damaged file.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::Digest as _;

use super::{POOLING, TOKENIZER, WEIGHTS, folder_of, invalid, pull_again};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::shell::moving_aside;
use local_agent_text::types::{RelPath, Sha256};

/// The name of the manifest in a model's folder.
pub const MANIFEST: &str = "local-agent-model.json";

/// The files of a model other than its weights and dense layers, and whether every model has them.
/// The network and `modules.json` determine whether the others are needed.
pub(super) const SMALL_FILES: [(&str, bool); 6] = [
    ("config.json", true),
    (TOKENIZER, true),
    (POOLING, false),
    ("sentence_bert_config.json", false),
    ("modules.json", false),
    ("config_sentence_transformers.json", false),
];

/// The size limit of a tokenizer or description.
const LARGEST_SMALL_FILE: u64 = 64 << 20;

/// Why the hashes of a manifest are trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The weights were compared with a hash that is compiled into this program.
    Pinned,
    /// No hash was known beforehand: the first download, or the first `models verify`, was trusted.
    FirstUse,
}

/// One file of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileRecord {
    /// The path below the folder of the model.
    pub path: RelPath,
    /// The size of the file.
    pub bytes: u64,
    /// The SHA-256 of its bytes.
    pub sha256: Sha256,
}

/// The recorded data of a model's files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    format: u32,
    /// The name in `embed.model`.
    pub id: String,
    /// The repository of the files, if they were pulled.
    pub repo: Option<String>,
    /// The commit of the files, if known.
    pub revision: Option<String>,
    /// Why the hashes are trusted.
    pub trust: Trust,
    /// All files from which the model is loaded.
    pub files: Vec<FileRecord>,
}

const FORMAT: u32 = 1;

impl Manifest {
    /// A manifest in this program's format.
    pub fn new(
        id: &str,
        repo: Option<String>,
        revision: Option<String>,
        trust: Trust,
        files: Vec<FileRecord>,
    ) -> Self {
        Self {
            format: FORMAT,
            id: id.to_owned(),
            repo,
            revision,
            trust,
            files,
        }
    }

    /// Reads a manifest's bytes.
    ///
    /// Errors: `MODEL_INVALID`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|e| broken_manifest(format!("cannot be read ({e})")))?;
        if manifest.format != FORMAT {
            return Err(broken_manifest(format!(
                "has format {}, not {FORMAT}",
                manifest.format
            )));
        }
        Ok(manifest)
    }

    /// The manifest in `folder`, if there is one. `MODEL_INVALID` if it cannot be read; what moves it
    /// away is the fix, because `models verify` writes it again.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        let file = folder.join(MANIFEST);
        let parsed = read_small(&file)?.map(|bytes| Self::parse(&bytes));
        parsed.transpose().map_err(|failure| {
            failure.with_hint(moving_aside(&file, |name| name.symlink_metadata().is_err()))
        })
    }

    /// Writes it into `folder` through a temporary file in the same folder.
    ///
    /// Errors: `WRITE_ERROR`.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut text =
            serde_json::to_vec_pretty(self).map_err(|e| unwritable_manifest(&self.id, e.into()))?;
        text.push(b'\n');
        let mut file = tempfile::NamedTempFile::new_in(folder)
            .map_err(|e| unwritable_manifest(&self.id, e))?;
        std::io::Write::write_all(&mut file, &text)
            .map_err(|e| unwritable_manifest(&self.id, e))?;
        file.as_file()
            .sync_all()
            .map_err(|e| unwritable_manifest(&self.id, e))?;
        file.persist(folder.join(MANIFEST))
            .map_err(|e| unwritable_manifest(&self.id, e.error))?;
        Ok(())
    }

    /// The recorded hash of `path`.
    pub fn sha256(&self, path: &str) -> Option<Sha256> {
        self.files
            .iter()
            .find(|f| f.path.as_str() == path)
            .map(|f| f.sha256)
    }

    /// Whether every file has the recorded size. This check costs almost nothing.
    pub(super) fn sizes_hold(&self, folder: &Path) -> bool {
        self.files.iter().all(|f| {
            folder
                .join(f.path.as_str())
                .metadata()
                .is_ok_and(|m| m.len() == f.bytes)
        })
    }
}

/// The failure for a manifest that cannot be written.
fn unwritable_manifest(id: &str, e: std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::WriteError,
        format!("The manifest of `{id}` cannot be written: {e}."),
    )
}

/// The failure for a manifest that cannot be used.
fn broken_manifest(what: String) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model's {MANIFEST} {what}."),
    )
}

/// The result of `models verify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The manifest with the current hashes.
    pub manifest: Manifest,
    /// Whether the hashes were compared; otherwise they were recorded now.
    pub compared: bool,
}

/// Hashes every file of the model `id` and compares the hashes with its manifest. Without a
/// manifest, it writes one if the folder is writable.
///
/// Errors: `MODEL_CHECKSUM_MISMATCH` naming the first damaged file, `MODEL_NOT_FOUND`,
/// `MODEL_INVALID`.
pub fn verify(id: &str, models_dir: &Path) -> Result<Verified> {
    let id = super::id_of(id);
    if let Some(model) = super::built_in::find(&id) {
        return verify_built_in(model);
    }
    verify_folder(&id, &folder_of(&id, models_dir)?)
}

fn verify_built_in(model: &super::built_in::BuiltIn) -> Result<Verified> {
    let manifest = Manifest::parse(model.manifest)?;
    for file in &manifest.files {
        let path = file.path.as_str();
        if model.file(path).map(Sha256::of) != Some(file.sha256) {
            return Err(mismatch(
                &manifest.id,
                path,
                (Fix::ByPerson, "reinstall the program"),
            ));
        }
    }
    Ok(Verified {
        manifest,
        compared: true,
    })
}

/// Like [`verify`], for the model in `folder`.
pub(super) fn verify_folder(id: &str, folder: &Path) -> Result<Verified> {
    must_load(id, folder)?;
    if let Some(manifest) = Manifest::read(folder)? {
        for file in &manifest.files {
            if record(folder, file.path.as_str())?.as_ref() != Some(file) {
                return Err(mismatch(
                    id,
                    file.path.as_str(),
                    (Fix::PullModel, &pull_again(id)),
                ));
            }
        }
        return Ok(Verified {
            manifest,
            compared: true,
        });
    }
    let manifest = Manifest::new(id, None, None, Trust::FirstUse, records(id, folder)?);
    // A read-only folder can be used too; it is then hashed each time.
    let _ = manifest.write(folder);
    Ok(Verified {
        manifest,
        compared: false,
    })
}

/// Everything that loading would reject is rejected here too. Where loading advises to verify the
/// files, they must be got again.
fn must_load(id: &str, folder: &Path) -> Result<()> {
    let loaded = match super::reranker::is_reranker_folder(folder)? {
        true => super::RerankerFiles::from_folder(id, folder).map(drop),
        false => super::ModelFiles::from_folder(id, folder).map(drop),
    };
    loaded.map_err(|failure| match failure.fix {
        Fix::VerifyModel => failure.with_fix(Fix::PullModel, pull_again(id)),
        _ => failure,
    })
}

fn mismatch(id: &str, path: &str, (fix, hint): (Fix, &str)) -> Failure {
    Failure::new(
        ErrorCode::ModelChecksum,
        format!("The file {path} of the model `{id}` does not have the recorded SHA-256."),
    )
    .with_fix(fix, hint)
}

/// The sizes and hashes of all files in `folder` that the model is loaded from.
///
/// Errors: `MODEL_INVALID` when a description or a file cannot be read.
pub(super) fn records(id: &str, folder: &Path) -> Result<Vec<FileRecord>> {
    let mut files = Vec::new();
    for path in SMALL_FILES.iter().map(|(path, _)| *path).chain([WEIGHTS]) {
        files.extend(record(folder, path)?);
    }
    for layer in super::described_layers(id, folder)? {
        for path in <[String; 2]>::from(super::dense_paths(&layer)) {
            files.extend(record(folder, &path)?);
        }
    }
    Ok(files)
}

/// The size and hash of `path` in `folder`; `None` if the file does not exist.
pub(super) fn record(folder: &Path, path: &str) -> Result<Option<FileRecord>> {
    let rel = RelPath::new(path).map_err(|e| Failure::internal(e.to_string()))?;
    let mut file = match File::open(folder.join(path)) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable_part(folder, path, e)),
    };
    let (mut hasher, mut bytes, mut buffer) = (sha2::Sha256::new(), 0, vec![0; 1 << 16]);
    loop {
        let n = file
            .read(&mut buffer)
            .map_err(|e| unreadable_part(folder, path, e))?;
        if n == 0 {
            break;
        }
        hasher.update(&buffer[..n]);
        bytes += n as u64;
    }
    Ok(Some(FileRecord {
        path: rel,
        bytes,
        sha256: Sha256::from_bytes(hasher.finalize().into()),
    }))
}

/// The failure for a file of the model that cannot be read.
fn unreadable_part(folder: &Path, path: &str, e: std::io::Error) -> Failure {
    invalid(
        &folder.display().to_string(),
        &format!("{path} cannot be read ({e})"),
    )
}

/// Reads a file that should be small; `None` when it does not exist.
pub(super) fn read_small(path: &Path) -> Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(unreadable_file(path, format!("cannot be read: {e}"))),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST_SMALL_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| unreadable_file(path, format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > LARGEST_SMALL_FILE {
        return Err(unreadable_file(path, "is too large".into()));
    }
    Ok(Some(bytes))
}

/// The failure for a file of the model that cannot be used.
fn unreadable_file(path: &Path, what: String) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model file {} {what}.", path.display()),
    )
}
