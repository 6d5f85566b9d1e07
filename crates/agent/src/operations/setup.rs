//! The setup that operations derive from a configuration: the sandbox, the model's files, the
//! chunking, the clock.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::model_choice::{AUTO, as_configured, chosen_files};
use crate::config::{Config, RerankerName};
use local_agent_embed::models::{self, ModelFiles, RerankerFiles};
use local_agent_files::sandbox::{Policy, RootSpec, Sandbox, Selection};
use local_agent_files::state::quoted;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::markdown::{self, ChunkOptions};
use local_agent_text::types::SourceName;

/// The sandbox over every configured source, and over the allowed folders that contain no source
/// and are not below another such folder.
pub fn sandbox(config: &Config) -> Result<Sandbox> {
    let mut specs: Vec<RootSpec> = config
        .sources
        .iter()
        .map(|s| RootSpec {
            name: s.name.clone(),
            path: s.root.clone(),
            kind: s.kind.clone(),
            code: s.code,
            selection: s.selection.clone(),
        })
        .collect();
    for root in roots_of_their_own(config) {
        let stem = root.file_name().map_or_else(
            || "root".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        );
        let mut candidates =
            std::iter::once(stem.clone()).chain((2..).map(|n| format!("{stem}-{n}")));
        let name = candidates
            .find(|name| !is_taken(&specs, name))
            .unwrap_or(stem);
        if let Ok(name) = SourceName::new(name) {
            specs.push(RootSpec {
                name,
                path: root.clone(),
                kind: "allowed".to_owned(),
                code: false,
                selection: Selection::default(),
            });
        }
    }
    let policy = Policy::from(&config.security).keep_out(config.protected.clone());
    Sandbox::with_base(specs, policy, &config.security_root)
}

/// Whether a root has this name.
fn is_taken(specs: &[RootSpec], name: &str) -> bool {
    specs.iter().any(|spec| spec.name.as_str() == name)
}

/// The allowed folders that become roots, whatever their order in the configuration.
fn roots_of_their_own(config: &Config) -> Vec<&PathBuf> {
    let roots: Vec<&PathBuf> = config
        .security
        .allowed_roots
        .iter()
        .filter(|root| !holds_source(config, root))
        .collect();
    roots
        .iter()
        .copied()
        .filter(|root| !is_inside_another(&roots, root))
        .collect()
}

/// Whether the folder is in another of the folders.
fn is_inside_another(roots: &[&PathBuf], root: &PathBuf) -> bool {
    roots
        .iter()
        .any(|other| root != *other && root.starts_with(other))
}

/// Whether a source is in the folder.
fn holds_source(config: &Config, root: &Path) -> bool {
    config.sources.iter().any(|s| s.root.starts_with(root))
}

/// Whether the program chooses the model: neither an id nor a folder is configured.
pub fn is_chosen(config: &Config) -> bool {
    config.embed.model == AUTO && config.embed.model_path.is_none()
}

/// The id of a model in its own folder: the configured id, otherwise the folder's name.
fn id_of(configured: &str, folder: &Path) -> String {
    match folder.file_name() {
        Some(name) if configured == AUTO => name.to_string_lossy().into_owned(),
        _ => configured.to_owned(),
    }
}

/// The fix for a model in a folder of its own, which no command of this program fills.
pub fn fill_folder(key: &str, folder: &Path) -> String {
    format!(
        "put the files of a model into {}, or take `{key}` out of the configuration",
        quoted(folder)
    )
}

/// A failure of the files in a folder of the user's own. If its fix is to pull the model, which
/// would not change this folder, the fix is [`fill_folder`].
fn of_own_folder(failure: Failure, key: &str, folder: &Path) -> Failure {
    let would_pull = failure.hint.is_none()
        || failure.fix == Fix::PullModel
        || failure.code == ErrorCode::ModelNotFound;
    if would_pull {
        failure.with_fix(Fix::ChangeSetting, fill_folder(key, folder))
    } else {
        failure
    }
}

/// The files of the configured embedding model: in its own folder, compiled in, or in the model
/// folder. If the program chooses the model, or it is on a server: those of the model whose tokens
/// measure chunks.
pub fn model_files(config: &Config, models_dir: Option<&Path>) -> Result<ModelFiles> {
    let embed = &config.embed;
    if embed.provider.is_server() || is_chosen(config) {
        // The chunks keep their boundaries, whatever model is chosen.
        return ModelFiles::embedded();
    }
    let own_id = models::id_of(&embed.model);
    let files = match (&embed.model_path, models_dir) {
        (Some(folder), _) => ModelFiles::from_folder(&id_of(&embed.model, folder), folder)
            .map_err(|failure| of_own_folder(failure, "embed.model_path", folder))?,
        (None, _) if models::built_in_ids().any(|id| id == own_id) => {
            ModelFiles::built_in(&own_id)?
        }
        (None, Some(dir)) => ModelFiles::find(&own_id, dir)?,
        (None, None) => return Err(no_data_folder()),
    };
    as_configured(config, files)
}

/// The files of the model that computes vectors inside this program.
///
/// Errors: as [`model_files`]; those of the databases if the languages decide.
pub fn embedding_files(config: &Config, models_dir: Option<&Path>) -> Result<ModelFiles> {
    if !is_chosen(config) || config.embed.provider.is_server() {
        return model_files(config, models_dir);
    }
    chosen_files(config, models_dir)
}

/// The files of the configured reranker, with the precision and instruction set of
/// `embed.precision` and `embed.instructions`; `None` if no reranker is configured.
///
/// Errors: those of [`RerankerFiles::find`] and [`RerankerFiles::from_folder`].
pub fn reranker_files(config: &Config, models_dir: Option<&Path>) -> Result<Option<RerankerFiles>> {
    let Some(name) = &config.retrieve.reranker else {
        return Ok(None);
    };
    let files = match (name, models_dir) {
        (RerankerName::Folder(folder), _) => {
            let id = folder.file_name().unwrap_or_default().to_string_lossy();
            RerankerFiles::from_folder(&id, folder)
                .map_err(|failure| of_own_folder(failure, "retrieve.reranker", folder))?
        }
        (RerankerName::Named(name), Some(dir)) => RerankerFiles::find(name, dir)?,
        (RerankerName::Named(_), None) => return Err(no_data_folder()),
    };
    let files = files
        .with_precision(config.embed.precision)
        .with_instructions(config.embed.instructions);
    Ok(Some(files))
}

/// The failure `CONFIG_ERROR`: no folder for models is known.
fn no_data_folder() -> Failure {
    let message = "the system names no data folder for this user";
    Failure::new(ErrorCode::ConfigError, message).with_fix(Fix::ByPerson, "set HOME")
}

/// How files are cut into chunks, and the signature of that chunking.
pub struct Cutting {
    /// The scheme and its bounds.
    pub options: ChunkOptions,
    /// Identifies the scheme, its bounds and the tokenizer. Documents with another one are cut
    /// again.
    pub sig: String,
}

impl Cutting {
    /// The configured chunking, counted in tokens of this model.
    pub fn new(config: &Config, files: &ModelFiles) -> Self {
        let index = &config.index;
        let options = ChunkOptions {
            scheme: index.scheme,
            max_tokens: index.max_tokens,
            max_chars: index.max_chars,
            overlap: index.overlap,
        };
        let sig = markdown::chunker_sig(&options, files.tokenizer_sha256());
        Self { options, sig }
    }
}

/// The five paths that every JSON output names, as text.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RootFields {
    /// The configuration file that was read.
    resolved_config_path: Option<String>,
    /// The folder of that file.
    config_root: Option<String>,
    /// The folder of the program.
    package_root: Option<String>,
    /// The folder that `--workroot` or a `local-agent.yaml` names.
    workroot: Option<String>,
    /// The folder that contains every file the program may read.
    security_root: Option<String>,
}

/// The fields of [`RootFields`].
pub fn roots(config: Option<&Config>, package_root: Option<&Path>) -> Map<String, Value> {
    fields_of(&RootFields {
        resolved_config_path: path_text(config.and_then(|c| c.config_path.as_deref())),
        config_root: path_text(config.and_then(|c| c.config_root.as_deref())),
        package_root: path_text(package_root),
        workroot: path_text(config.and_then(|c| c.workroot.as_deref())),
        security_root: path_text(config.map(|c| c.security_root.as_path())),
    })
}

/// The fields of a view, as they are printed.
pub(super) fn fields_of(view: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(view) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// The path as text.
fn path_text(path: Option<&Path>) -> Option<String> {
    path.map(|p| p.to_string_lossy().into_owned())
}

/// The current time in RFC 3339, UTC, in whole seconds.
pub fn now() -> String {
    let now = OffsetDateTime::now_utc()
        .replace_nanosecond(0)
        .unwrap_or(OffsetDateTime::UNIX_EPOCH);
    now.format(&Rfc3339).unwrap_or_default()
}

/// The current time in seconds since 1970.
pub(super) fn seconds() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

/// The current time as part of a file name.
pub fn file_stamp() -> String {
    now().replace(['-', ':'], "")
}

/// The name that other processes see while a job of this process holds a lock.
pub fn holder(command: &str) -> String {
    format!(
        "pid {}, `local-agent {command}`, since {}",
        std::process::id(),
        now()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_allowed_folders_changes_nothing() {
        let mut config = Config::defaults(Path::new("/nowhere")).unwrap();
        let mut names = |order: [&str; 3]| {
            config.security.allowed_roots = order.map(PathBuf::from).to_vec();
            let mut roots = roots_of_their_own(&config);
            roots.sort();
            roots.into_iter().cloned().collect::<Vec<_>>()
        };
        let expected = [PathBuf::from("/a"), PathBuf::from("/b/c")];
        assert_eq!(names(["/a", "/a/x", "/b/c"]), expected);
        assert_eq!(names(["/a/x", "/b/c", "/a"]), expected);
    }
}
