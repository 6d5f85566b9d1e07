//! The index of a set of questions: its location, and bringing it up to date.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::context::Context;
use super::output::talk;
use super::progress::Bar;
use super::write::write_whole;
use local_agent_agent::config::{self, Config, FlagValue, Inputs, Template};
use local_agent_agent::operations::model_choice::model_by_languages;
use local_agent_agent::operations::{EmbedRun, EmbeddingModel, IndexRun, is_chosen, jobs};
use local_agent_eval::run::Mode;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::retrieval::Engine;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::{Sha256, SourceName};

/// The name of the one source of a set.
pub(super) const SOURCE: &str = "docs";

/// The folder of a set; `EVAL_ERROR` if `set` is not one.
pub(super) fn folder(context: &Context, set: &Path) -> Result<PathBuf> {
    let path = context.environment.cwd.join(set);
    let dir = path
        .canonicalize()
        .ok()
        .filter(|dir| dir.join("docs").is_dir());
    dir.ok_or_else(|| {
        let message = format!(
            "{} is not a set: there is no folder docs/ in it",
            path.display()
        );
        Failure::new(ErrorCode::EvalError, message).with_command("local-agent eval --help")
    })
}

/// The name of a set: that of its folder.
pub(super) fn set_name(dir: &Path) -> String {
    dir.file_name().map_or_else(
        || "set".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// Brings the set's index up to date, and its vectors if a mode needs them, and opens them.
pub(super) fn prepare(
    context: &Context,
    settings: &[String],
    quiet: bool,
    dir: &Path,
    modes: &[Mode],
) -> Result<(Config, Sandbox, Engine, EmbeddingModel)> {
    let mut config = config_for(context, settings, dir)?;
    let sandbox = context.sandbox(&config)?;
    let files = context.model(&config)?;
    let bar = Bar::new(quiet);
    let run = IndexRun {
        wait: Duration::from_secs(60),
        ..IndexRun::default()
    };
    let indexed = jobs::run_index(&config, &sandbox, &files, &run, &|p| bar.report(p))?;
    for error in &indexed.errors {
        talk(&format!("error: {error}"));
    }
    // As `embed` does it for a new index: vectors of an earlier measurement do not decide.
    if is_chosen(&config) && !config.embed.provider.is_server() {
        config.embed.model = model_by_languages(&config)?.to_owned();
    }
    let model = context.embedding(&config)?;
    let vectors = modes.iter().any(|mode| mode.needs_vectors());
    if vectors {
        // Vectors of another chunking are kept. Otherwise a comparison of two chunkings would embed
        // everything each time.
        let embed = EmbedRun {
            no_prune: true,
            wait: Duration::from_secs(60),
            ..EmbedRun::default()
        };
        jobs::run_embed(&config, &model, &embed, &|p| bar.report(p))?;
    }
    bar.finish();
    let fingerprint = if vectors {
        Some(model.fingerprint()?)
    } else {
        None
    };
    let (db, lexical, matrix) = (
        &config.index.db_path,
        config.lexical_dir(),
        config.vectors_dir(),
    );
    let engine = Engine::open(db, &lexical, &matrix, fingerprint.as_ref())?;
    Ok((config, sandbox, engine, model))
}

/// The defaults and `--set`, with the set's documents as the one source and state in the cache
/// folder.
fn config_for(context: &Context, settings: &[String], dir: &Path) -> Result<Config> {
    let state = Sha256::of(dir.as_os_str().as_encoded_bytes()).to_string();
    let state = context
        .environment
        .cache_dir()?
        .join("eval")
        .join(&state[..16]);
    let name = SourceName::new(SOURCE).map_err(|e| Failure::internal(e.to_string()))?;
    let template = Template {
        sources: vec![(name, dir.join("docs").to_string_lossy().into_owned())],
        state_dir: Some(state.to_string_lossy().into_owned()),
        sources_anywhere: true,
    };
    let file = state.join("config.yaml");
    write_whole(&file, config::template(&template).as_bytes())?;
    let mut inputs = Inputs {
        cwd: state,
        config_flag: Some(file),
        ..Inputs::default()
    };
    let known = config::load(&inputs)?.origins;
    for setting in settings {
        let (key, value) = setting
            .split_once('=')
            .ok_or_else(|| wrong_setting(setting, "not KEY=VALUE"))?;
        let key = known
            .iter()
            .map(|known| known.key)
            .find(|known| *known == key && is_measured_key(known));
        let key =
            key.ok_or_else(|| wrong_setting(setting, "not a key of index, embed or retrieve"))?;
        inputs.flags.push(FlagValue {
            flag: "--set".to_owned(),
            key,
            value: value.to_owned(),
        });
    }
    Ok(config::load(&inputs)?.config)
}

/// Whether the key affects the measurement.
fn is_measured_key(key: &str) -> bool {
    ["index.", "embed.", "retrieve."]
        .iter()
        .any(|section| key.starts_with(section))
}

/// The failure for an argument `--set` that cannot be used.
fn wrong_setting(setting: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, format!("--set {setting}: {why}"))
        .with_command("local-agent config show")
}
