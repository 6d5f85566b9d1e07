//! `models list`, `models pull`, `models verify`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::ModelsCommand;
use super::context::Context;
use super::output::talk;
#[cfg(feature = "pull")]
use super::progress::Bar;
use local_agent_agent::config::Embed;
use local_agent_embed::embedding::{
    Agreement, fingerprint, second_opinion, second_opinion_on_pairs,
};
use local_agent_embed::models::{
    self, FileRecord, ModelFiles, ModelState, ModelTask, RerankerFiles,
};
#[cfg(feature = "pull")]
use local_agent_embed::models::{PullOptions, PullProgress, Trust};
use local_agent_index::profile::{Cosines, Origin, Profile};
use local_agent_index::vectors::Matrix;
use local_agent_text::error::Result;
use local_agent_text::types::Fingerprint;

pub(super) fn run(context: &Context, command: &ModelsCommand) -> Result<ExitCode> {
    match command {
        ModelsCommand::List => list(context),
        #[cfg(not(feature = "pull"))]
        ModelsCommand::Pull { id, .. } => pull(context, &models::id_of(id)),
        #[cfg(feature = "pull")]
        ModelsCommand::Pull {
            id,
            repo,
            revision,
            endpoint,
            ..
        } => {
            let defaults = PullOptions::default();
            let own_id = models::id_of(id);
            let options = PullOptions {
                endpoint: endpoint
                    .clone()
                    .unwrap_or_else(|| defaults.endpoint.clone()),
                // `owner/name` is both a repository and a name.
                repo: repo.clone().or_else(|| {
                    let is_repository = id.contains('/') && models::known(&own_id).is_none();
                    is_repository.then(|| id.clone())
                }),
                revision: revision.clone(),
                ..defaults
            };
            let is_plain = options.repo.is_none() && options.revision.is_none();
            if is_plain && models::built_in_ids().any(|id| id == own_id) {
                return compiled_in(context, &own_id);
            }
            pull(context, &own_id, &options)
        }
        ModelsCommand::Verify { id, .. } => verify(context, id.as_deref()),
    }
}

/// The output of `models list --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct ModelsView<'a> {
    models: Vec<ModelView<'a>>,
}

/// One model of the list.
#[derive(Serialize, JsonSchema)]
pub(super) struct ModelView<'a> {
    id: &'a str,
    state: &'static str,
    /// `vectors` or `reranking`.
    task: &'static str,
    folder: Option<Cow<'a, str>>,
    revision: Option<&'a str>,
    /// The scale of its cosines: measured on the index here, or compiled in.
    profile: Option<Profile>,
    window: Option<usize>,
    languages: Option<&'static str>,
    megabytes: Option<u32>,
    /// Whether it makes the vectors here.
    in_use: bool,
}

impl<'a> ModelView<'a> {
    fn of(model: &'a models::Listed, task: ModelTask, used: Option<&UsedModel>) -> Self {
        let manifest = model.manifest.as_ref();
        Self {
            id: &model.id,
            state: state(model.state),
            task: task.as_str(),
            folder: model.folder.as_ref().map(|folder| folder.to_string_lossy()),
            revision: manifest.and_then(|manifest| manifest.revision.as_deref()),
            profile: profile(model, used),
            window: window(model),
            languages: languages(&model.id),
            megabytes: models::known(&model.id).map(|known| known.megabytes),
            in_use: used.is_some_and(|used| used.is(model)),
        }
    }
}

/// The output of `models pull --json`. A program that was built without `pull` has only its schema.
#[derive(Serialize, JsonSchema)]
pub(super) struct PulledView<'a> {
    id: &'a str,
    /// Null for a model that is compiled in.
    folder: Option<Cow<'a, str>>,
    revision: Option<&'a str>,
    trust: &'static str,
    already_here: bool,
}

/// The output of `models verify --json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct VerifiedView<'a> {
    verified: &'a [VerifiedModel],
    packed_weights: Vec<PackedView<'a>>,
}

/// A model whose files and arithmetic were verified.
#[derive(Serialize, JsonSchema)]
struct VerifiedModel {
    id: String,
    compared: bool,
    files: Vec<FileRecord>,
    texts_embedded: usize,
    /// The smallest cosine; `None` if its network has no second implementation.
    least_cosine: Option<f64>,
}

/// A file of packed weights.
#[derive(Serialize, JsonSchema)]
pub(super) struct PackedView<'a> {
    path: Cow<'a, str>,
    damage: Option<&'a str>,
}

fn list(context: &Context) -> Result<ExitCode> {
    let models_dir = context.environment.models_dir()?;
    let mut listed = models::list(&models_dir)?;
    let used = in_use(context);
    let own = used.as_ref().and_then(UsedModel::in_own_folder);
    if let Some(own) = own.filter(|own| listed.iter().all(|model| model.folder != own.folder)) {
        listed.push(own);
    }
    let tasks: Vec<ModelTask> = listed
        .iter()
        .map(|model| match used.as_ref() {
            Some(used) if used.is(model) => Ok(ModelTask::Vectors),
            _ => models::task_of(&model.id, &models_dir),
        })
        .collect::<Result<_>>()?;
    if context.out.json {
        let models = listed.iter().zip(tasks);
        let models = models
            .map(|(model, task)| ModelView::of(model, task, used.as_ref()))
            .collect();
        context.out.json(context.body(&ModelsView { models })?);
        return Ok(ExitCode::SUCCESS);
    }
    let width = listed.iter().map(|model| model.id.len()).max().unwrap_or(0);
    for (model, task) in listed.iter().zip(tasks) {
        let place = model
            .folder
            .as_ref()
            .map(|folder| format!("  {}", folder.display()))
            .unwrap_or_default();
        let known = profile(model, used.as_ref()).map_or_else(String::new, cosines);
        let task = match task {
            ModelTask::Vectors => "",
            ModelTask::Reranking => "  reranker",
        };
        let is_used = used.as_ref().is_some_and(|used| used.is(model));
        context.out.line(&format!(
            "{} {:<width$}  {:<8}{task}{}{known}{place}",
            if is_used { "*" } else { " " },
            model.id,
            state(model.state),
            facts(model)
        ));
    }
    if used.is_some_and(|used| listed.iter().any(|model| used.is(model))) {
        context.out.line(&context.out.dim("* is in use here"));
    }
    Ok(ExitCode::SUCCESS)
}

/// A profile as part of a line.
fn cosines(profile: Profile) -> String {
    let Cosines { mean, spread } = profile.unrelated;
    let origin = match profile.origin {
        Origin::Shipped => "",
        Origin::Measured => " (measured on this index)",
        Origin::Estimated => " (estimated from this index)",
    };
    format!("  cosines of unrelated texts: {mean:.2} ± {spread:.2}{origin}")
}

/// The model that makes the vectors here.
struct UsedModel {
    id: String,
    /// The folder that `embed.model_path` names.
    own_folder: Option<PathBuf>,
    /// The scale of its cosines on the index here, if there are vectors of it.
    profile: Option<Profile>,
}

impl UsedModel {
    /// Whether it is this one of the list. A model in a folder of its own may be called like one
    /// of the model folder.
    fn is(&self, model: &models::Listed) -> bool {
        let own = self.own_folder.as_ref();
        self.id == model.id && own.is_none_or(|own| model.folder.as_ref() == Some(own))
    }

    /// Its place in the list, if it is in a folder of its own.
    fn in_own_folder(&self) -> Option<models::Listed> {
        Some(models::Listed {
            id: self.id.clone(),
            state: ModelState::Present,
            folder: Some(self.own_folder.clone()?),
            manifest: None,
        })
    }
}

/// The model that computes vectors inside this program with this configuration, if one does.
fn in_use(context: &Context) -> Option<UsedModel> {
    let config = context.load_lenient().ok()?.config;
    if config.embed.provider.is_server() {
        return None;
    }
    let files = context.embedding_files(&config).ok()?;
    Some(UsedModel {
        id: files.id().to_owned(),
        own_folder: config.embed.model_path.clone(),
        profile: profile_of_vectors(&config.vectors_dir(), &fingerprint(&files)),
    })
}

/// The profile of the vectors in `dir`, if a model with this fingerprint made them.
fn profile_of_vectors(dir: &Path, fingerprint: &Fingerprint) -> Option<Profile> {
    let matrix = Matrix::open(dir).ok()??;
    let is_own = matrix.stamp().fingerprint == *fingerprint;
    let profile = is_own.then(|| Profile::of_matrix(dir, &matrix))?.ok()?;
    // The directions of languages are long lists of numbers.
    Some(Profile {
        languages: None,
        ..profile
    })
}

/// Size, window and languages, if they are known.
fn facts(model: &models::Listed) -> String {
    let size = models::known(&model.id)
        .filter(|_| model.state == ModelState::Absent)
        .map(|known| format!("  {} MB", known.megabytes));
    let window = window(model).map(|window| format!("  {window} tokens"));
    let languages = languages(&model.id).map(|languages| format!("  {languages}"));
    [size, window, languages].into_iter().flatten().collect()
}

/// Maximum number of tokens of one text.
fn window(model: &models::Listed) -> Option<usize> {
    let built_in = ModelFiles::built_in(&model.id).ok();
    built_in
        .map(|files| files.window())
        .or_else(|| known_window(model))
}

/// The window of a model that the program knows.
fn known_window(model: &models::Listed) -> Option<usize> {
    models::known(&model.id)?
        .window
        .map(|tokens| tokens as usize)
}

fn languages(id: &str) -> Option<&'static str> {
    models::known(id).map(|known| known.languages)
}

/// The cosine profile of the model in use on the index here, and of a compiled-in model.
fn profile(model: &models::Listed, used: Option<&UsedModel>) -> Option<Profile> {
    if let Some(used) = used.filter(|used| used.is(model) && used.profile.is_some()) {
        return used.profile.clone();
    }
    if model.state != ModelState::Embedded {
        return None;
    }
    let files = ModelFiles::built_in(&model.id).ok()?;
    Profile::shipped(&fingerprint(&files))
}

/// The stable name of a model's location.
const fn state(state: ModelState) -> &'static str {
    match state {
        ModelState::Embedded => "embedded",
        ModelState::Present => "present",
        ModelState::Absent => "absent",
    }
}

#[cfg(not(feature = "pull"))]
fn pull(_: &Context, id: &str) -> Result<ExitCode> {
    use local_agent_text::error::{ErrorCode, Failure};
    Err(Failure::new(
        ErrorCode::ModelPull,
        format!("this program was built without `pull`, so `{id}` cannot be downloaded"),
    )
    .with_hint("cargo install --path . --features pull"))
}

/// A model that is part of the program: nothing is pulled.
#[cfg(feature = "pull")]
fn compiled_in(context: &Context, id: &str) -> Result<ExitCode> {
    if context.out.json {
        let body = context.body(&PulledView {
            id,
            folder: None,
            revision: None,
            trust: "compiled_in",
            already_here: true,
        })?;
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    let out = context.out;
    out.line(&format!("{id}  is compiled into this program"));
    out.line(&format!("next: local-agent embed --model {id}"));
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "pull")]
fn pull(context: &Context, id: &str, options: &PullOptions) -> Result<ExitCode> {
    let bar = Bar::new(context.out.json);
    let pulled = models::pull(
        id,
        &context.environment.models_dir()?,
        options,
        &mut |progress: PullProgress<'_>| {
            bar.bytes(progress.file, progress.bytes, progress.total);
        },
    );
    bar.finish();
    let pulled = pulled?;
    let trust = match pulled.manifest.trust {
        Trust::Pinned => "pinned",
        Trust::FirstUse => "first_use",
    };
    if context.out.json {
        let body = context.body(&PulledView {
            id,
            folder: Some(pulled.folder.to_string_lossy()),
            revision: pulled.manifest.revision.as_deref(),
            trust,
            already_here: pulled.already_here,
        })?;
        context.out.json(body);
        return Ok(ExitCode::SUCCESS);
    }
    let state = if pulled.already_here {
        "was here already"
    } else {
        "pulled"
    };
    context
        .out
        .line(&format!("{id}  {state}  {}", pulled.folder.display()));
    if pulled.manifest.trust == Trust::FirstUse {
        context.out.line(
            "Its hashes were recorded as they came: this program knows none to compare them with.",
        );
    }
    let next = match models::task_of(id, &context.environment.models_dir()?)? {
        ModelTask::Vectors => format!("local-agent embed --model {id}"),
        ModelTask::Reranking => {
            format!("write `retrieve: {{reranker: {id}}}` in the configuration")
        }
    };
    context.out.line(&format!("next: {next}"));
    Ok(ExitCode::SUCCESS)
}

/// Reads all packed weights completely; damaged ones are removed, and this is reported.
fn verify_prepared(context: &Context) -> Result<Vec<models::Prepared>> {
    let dir = context.environment.prepared_dir()?;
    let files = models::verify_prepared(&dir)?;
    for file in &files {
        let path = file.path.display();
        match &file.damage {
            Some(damage) => talk(&format!(
                "warning: the packed weights in {path} {damage}; removed, to be made again"
            )),
            None if !context.out.json => {
                context.out.line(&format!("{path}  packed weights, whole"));
            }
            None => {}
        }
    }
    Ok(files)
}

/// The comparison of the vectors of a model, as a clause.
fn agreed(agreement: &Agreement) -> String {
    let texts = agreement.texts;
    match agreement.least_cosine {
        Some(least) => {
            // Rounded down, so that a small difference never disappears.
            let least = (least * 1e5).floor() / 1e5;
            format!(
                "its vectors are those of a second implementation ({texts} texts, cosine at least \
                 {least:.5})"
            )
        }
        None => format!(
            "it embedded {texts} texts in f32; there is no second implementation to compare with"
        ),
    }
}

/// Compares the model's arithmetic with a second implementation, with the settings of the other
/// commands.
fn compared(id: &str, models_dir: &Path, embed: &Embed) -> Result<Agreement> {
    match models::task_of(id, models_dir)? {
        ModelTask::Vectors => second_opinion(
            &ModelFiles::find(id, models_dir)?
                .with_precision(embed.precision)
                .with_instructions(embed.instructions),
        ),
        ModelTask::Reranking => second_opinion_on_pairs(
            &RerankerFiles::find(id, models_dir)?
                .with_precision(embed.precision)
                .with_instructions(embed.instructions),
        ),
    }
}

fn verify(context: &Context, id: Option<&str>) -> Result<ExitCode> {
    let models_dir = context.environment.models_dir()?;
    let embed = context.load()?.config.embed;
    let ids = match id {
        Some(id) => vec![id.to_owned()],
        None => models::list(&models_dir)?
            .into_iter()
            .filter(|model| model.state != ModelState::Absent)
            .map(|model| model.id)
            .collect(),
    };
    let mut verified = Vec::new();
    for id in ids {
        let result = models::verify(&id, &models_dir)?;
        let agreement = compared(&id, &models_dir, &embed)?;
        if !context.out.json {
            let how = if result.compared {
                "matches its recorded hashes"
            } else {
                "hashes recorded now"
            };
            context
                .out
                .line(&format!("{id}  {how}; {}", agreed(&agreement)));
        }
        verified.push(VerifiedModel {
            id,
            compared: result.compared,
            files: result.manifest.files,
            texts_embedded: agreement.texts,
            least_cosine: agreement.least_cosine,
        });
    }
    let prepared = verify_prepared(context)?;
    if context.out.json {
        let packed = prepared.iter().map(|file| PackedView {
            path: file.path.to_string_lossy(),
            damage: file.damage.as_deref(),
        });
        let body = context.body(&VerifiedView {
            verified: &verified,
            packed_weights: packed.collect(),
        })?;
        context.out.json(body);
    }
    Ok(ExitCode::SUCCESS)
}
