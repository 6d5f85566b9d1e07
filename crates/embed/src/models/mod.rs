//! Model files: the compiled-in ones, the ones in folders, and how they are pulled and verified.
//!
//! A [`ModelFiles`] always describes a model that this program can run: an encoder of a known kind
//! in one safetensors file, with a known pooling and tokenizer. Folders with anything else (sharded
//! or pickled weights, unknown networks or modules) are rejected here, with the reason, before any
//! weight is read.

mod built_in;
mod description;
mod manifest;
mod map;
mod network;
mod prepared;
#[cfg(feature = "pull")]
mod pull;
mod registry;
mod reranker;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Sha256;

pub use built_in::{EMBEDDED_ID, MULTILINGUAL_ID, all_built_in, built_in_ids};
pub use description::{DenseShape, Pooling, Prefixes};
pub use manifest::{FileRecord, MANIFEST, Manifest, Trust, Verified, verify};
pub use map::Bytes;
pub use network::{
    Activation, Architecture, CandleConfig, Engine, Gemma3Config, GteConfig, MpnetConfig,
    NetworkConfig, RUNNABLE, TableShape,
};
pub use prepared::{Name, Prepared, PreparedFolder, verify_prepared};
#[cfg(feature = "pull")]
pub use pull::{HUB, PullOptions, PullProgress, Pulled, pull};
pub use registry::{KNOWN, Known, ModelTask, id_of, known};
pub use reranker::{RERANKERS, RerankerFiles, RerankerHead};

/// The weights of every model are in one file of this name.
pub const WEIGHTS: &str = "model.safetensors";
/// The tokenizer of every model.
pub const TOKENIZER: &str = "tokenizer.json";
/// How the vectors of tokens are combined.
const POOLING: &str = "1_Pooling/config.json";
/// The description of every model's network.
const CONFIG: &str = "config.json";
/// A packed Unigram tokenizer, used in place of [`TOKENIZER`].
const PACKED_TOKENIZER: &str = "tokenizer.unigram";

/// The smallest number of tokens in a window: two special tokens, a prefix and some text.
const SMALLEST_WINDOW: usize = 16;

/// The number format in which the encoder computes passages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32-bit floats throughout.
    F32,
    /// 16-bit floats (bf16) in every product with weights; the ranking is that of `F32`, except for
    /// near ties.
    Bf16,
    /// Bytes in two products of a layer, bf16 in the other two, where bytes lose more accuracy.
    Mixed,
    /// Bytes in every product with weights; the ranking is as good as with `F32`, and this is the
    /// fastest.
    #[default]
    Int8,
}

/// A dense layer after the pooling.
#[derive(Debug, Clone)]
pub struct DenseFile {
    /// Its sizes.
    pub shape: DenseShape,
    /// Its safetensors file, with `linear.weight` and perhaps `linear.bias`.
    pub weights: Bytes,
    sha256: Sha256,
}

impl DenseFile {
    /// The SHA-256 of its weights.
    pub fn sha256(&self) -> &Sha256 {
        &self.sha256
    }
}

/// The files of one encoder model, described and ready to be loaded; weights are not read until
/// they are used.
#[derive(Debug, Clone)]
pub struct ModelFiles {
    id: String,
    weights: Bytes,
    tokenizer: Cow<'static, [u8]>,
    network: NetworkConfig,
    pooling: Pooling,
    dense: Vec<DenseFile>,
    prefixes: Prefixes,
    window: usize,
    dimensions: Option<usize>,
    precision: Precision,
    prepared: Option<PreparedFolder>,
    instructions: Option<&'static str>,
    weights_sha256: Sha256,
    tokenizer_sha256: Sha256,
}

impl ModelFiles {
    /// The compiled-in model for English; see [`Self::built_in`].
    pub fn embedded() -> Result<Self> {
        Self::built_in(EMBEDDED_ID)
    }

    /// A compiled-in model; nothing is read from disk and nothing is hashed.
    ///
    /// Errors: `MODEL_NOT_FOUND` in a build without it.
    pub fn built_in(id: &str) -> Result<Self> {
        let Some(model) = built_in::find(id) else {
            let message = format!("This build has no model `{id}` compiled in.");
            return Err(Failure::new(ErrorCode::ModelNotFound, message).with_fix(
                Fix::PullModel,
                "`local-agent models pull bge-small-en-v1.5`, \
                    then set embed.model to bge-small-en-v1.5",
            ));
        };
        let manifest = Manifest::parse(model.manifest)?;
        let read = |path: &str| Ok(model.file(path).map(Cow::Borrowed));
        let no_other_weights = |path: &str| Err(invalid(id, &format!("it has no {path}")));
        let weights = Bytes::Static(model.weights);
        Self::assemble(model.id, weights, read, no_other_weights, |path| {
            manifest.sha256(path)
        })
    }

    /// The model in `folder`. Hashes come from its manifest if the file sizes in it still match;
    /// otherwise the two files that determine vectors are hashed now (about a second per 500 MB).
    ///
    /// Errors: `MODEL_NOT_FOUND` if the folder does not exist, `MODEL_INVALID` when it contains
    /// anything other than one encoder of a known kind in safetensors form.
    pub fn from_folder(id: &str, folder: &Path) -> Result<Self> {
        let weights = weights_in(id, folder)?;
        let read = |path: &str| {
            manifest::read_small(&folder.join(path)).map(|bytes| bytes.map(Cow::Owned))
        };
        let manifest = Manifest::read(folder)?.filter(|m| m.sizes_hold(folder));
        let open = |path: &str| {
            if folder.join(path).is_file() {
                map::open(&folder.join(path))
            } else {
                Err(invalid(id, &format!("it has no {path}"))
                    .with_fix(Fix::PullModel, pull_again(id)))
            }
        };
        Self::assemble(id, weights, read, open, |path| {
            manifest.as_ref().and_then(|m| m.sha256(path))
        })
    }

    /// The model called `id`, which may also be its repository ([`id_of`]): a compiled-in one,
    /// otherwise the folder of that name below `models_dir`.
    ///
    /// A folder with the name of a compiled-in model is used only if it is given by path, never by
    /// id. Errors: see [`Self::embedded`] and [`Self::from_folder`]; an id that is not a plain name
    /// is `MODEL_NOT_FOUND`.
    pub fn find(id: &str, models_dir: &Path) -> Result<Self> {
        let id = id_of(id);
        if built_in::find(&id).is_some() {
            return Self::built_in(&id);
        }
        let folder = folder_of(&id, models_dir)?;
        if !folder.is_dir() && known(&id).is_some_and(|one| one.task == ModelTask::Reranking) {
            return Err(reranker::makes_no_vectors(&id));
        }
        Self::from_folder(&id, &folder)
    }

    /// The same model with a window of at most `tokens` (including special tokens), never more than
    /// the model's own window.
    #[must_use]
    pub fn with_window(mut self, tokens: Option<usize>) -> Self {
        self.window = tokens.map_or(self.window, |tokens| {
            tokens.max(SMALLEST_WINDOW).min(self.window)
        });
        self
    }

    /// The same model, with passages computed in this precision.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// The same model, which stores packed weights in `folder`.
    #[must_use]
    pub fn with_prepared(mut self, folder: PreparedFolder) -> Self {
        self.prepared = Some(folder);
        self
    }

    /// The same model, computed with these instructions; `None`: with the best ones of the machine.
    #[must_use]
    pub fn with_instructions(mut self, name: Option<&'static str>) -> Self {
        self.instructions = name;
        self
    }

    /// The same model, with each vector cut to its first `dimensions` numbers and scaled to length
    /// 1 again; `None`: whole vectors. Models are trained for this ("Matryoshka representation
    /// learning", Kusupati et al. 2022), others lose much accuracy.
    ///
    /// Errors: `CONFIG_ERROR` when the model's vectors are not that long.
    pub fn with_dimensions(mut self, dimensions: Option<usize>) -> Result<Self> {
        let own = self.own_dimensions();
        if let Some(wanted) = dimensions.filter(|wanted| !(1..=own).contains(wanted)) {
            let message = format!(
                "`embed.dimensions` is {wanted}, and the vectors of `{}` have {own} numbers.",
                self.id
            );
            return Err(Failure::new(ErrorCode::ConfigError, message).with_fix(
                Fix::ChangeSetting,
                format!("set embed.dimensions to {own} or less, or unset it"),
            ));
        }
        self.dimensions = dimensions.filter(|wanted| *wanted < own);
        Ok(self)
    }

    /// The same model with other prefixes; `None`: its own.
    #[must_use]
    pub fn with_prefixes(mut self, query: Option<&str>, passage: Option<&str>) -> Self {
        if let Some(query) = query {
            query.clone_into(&mut self.prefixes.query);
        }
        if let Some(passage) = passage {
            passage.clone_into(&mut self.prefixes.passage);
        }
        self
    }

    /// Assembles the parts and checks that they belong to an encoder this program can run. `read`
    /// reads a small file, `open` opens the weights of a dense layer.
    fn assemble(
        id: &str,
        weights: Bytes,
        read: impl Fn(&str) -> Result<Option<Cow<'static, [u8]>>>,
        open: impl Fn(&str) -> Result<Bytes>,
        recorded: impl Fn(&str) -> Option<Sha256>,
    ) -> Result<Self> {
        let need = |path: &str| {
            read(path)?.ok_or_else(|| {
                invalid(id, &format!("it has no {path}")).with_fix(Fix::PullModel, pull_again(id))
            })
        };
        let config = need(CONFIG)?;
        let pooling_file = read(POOLING)?;
        if pooling_file.is_none() && reranker::is_reranker(&config) {
            return Err(reranker::makes_no_vectors(id));
        }
        let network = NetworkConfig::parse(id, &config)?;
        let modules = match read("modules.json")? {
            Some(modules) => description::Modules::parse(id, &modules)?,
            None => description::Modules::default(),
        };
        let pooling = match network.engine() {
            Engine::Table => Pooling::Mean,
            _ if modules.is_table => return Err(names_a_table(id)),
            _ => Pooling::parse(id, &pooling_file.map_or_else(|| need(POOLING), Ok)?)?,
        };
        let mut dense = Vec::with_capacity(modules.dense.len());
        for folder in &modules.dense {
            let (config, file) = dense_paths(folder);
            let weights = open(&file)?;
            dense.push(DenseFile {
                shape: DenseShape::parse(id, &config, &need(&config)?)?,
                sha256: recorded(&file).unwrap_or_else(|| Sha256::of(weights.as_slice())),
                weights,
            });
        }
        check_chain(id, network.width(), &dense)?;
        let prefixes = own_or_known_prefixes(id, read("config_sentence_transformers.json")?)?;
        let positions = network.positions();
        let window = match read("sentence_bert_config.json")? {
            Some(bytes) => description::window(id, &bytes)?.unwrap_or(positions),
            None => positions,
        };
        let (name, tokenizer) = match read(PACKED_TOKENIZER)? {
            Some(packed) => (PACKED_TOKENIZER, packed),
            None => (TOKENIZER, need(TOKENIZER)?),
        };
        Ok(Self {
            id: id.to_owned(),
            network,
            pooling,
            dense,
            prefixes,
            window: window.min(positions).max(SMALLEST_WINDOW),
            dimensions: None,
            precision: Precision::default(),
            prepared: None,
            instructions: None,
            weights_sha256: recorded(WEIGHTS).unwrap_or_else(|| Sha256::of(weights.as_slice())),
            tokenizer_sha256: recorded(name).unwrap_or_else(|| Sha256::of(&tokenizer)),
            weights,
            tokenizer,
        })
    }

    /// The id by which it was requested.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The safetensors file.
    pub fn weights(&self) -> &Bytes {
        &self.weights
    }

    /// The bytes of the tokenizer's file.
    pub fn tokenizer(&self) -> &[u8] {
        &self.tokenizer
    }

    /// The network: its kind and its sizes.
    pub fn network(&self) -> &NetworkConfig {
        &self.network
    }

    /// The dense layers after the pooling, in order.
    pub fn dense(&self) -> &[DenseFile] {
        &self.dense
    }

    /// The length that vectors are cut to; `None`: they are not cut.
    pub fn cut(&self) -> Option<usize> {
        self.dimensions
    }

    /// The length of its vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions.unwrap_or_else(|| self.own_dimensions())
    }

    /// The length of its vectors before they are cut.
    fn own_dimensions(&self) -> usize {
        let last = self.dense.last();
        last.map_or(self.network.width(), |dense| dense.shape.outputs)
    }

    /// How token vectors are combined into one vector.
    pub fn pooling(&self) -> Pooling {
        self.pooling
    }

    /// The prefixes of questions and passages.
    pub fn prefixes(&self) -> &Prefixes {
        &self.prefixes
    }

    /// Number of tokens the encoder processes at once, including the two special tokens.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The number format in which its passages are computed. Only this program's own kernels have
    /// a choice: everything else is computed in f32.
    pub fn precision(&self) -> Precision {
        match self.network.engine() {
            Engine::Kernels => self.precision,
            Engine::Candle | Engine::Table => Precision::F32,
        }
    }

    /// The folder of its packed weights; `None`: they are packed each time.
    pub fn prepared(&self) -> Option<&PreparedFolder> {
        self.prepared.as_ref()
    }

    /// The name of the configured instruction set; `None`: the best one of the machine.
    pub fn instructions(&self) -> Option<&'static str> {
        self.instructions
    }

    /// The SHA-256 of the weights file.
    pub fn weights_sha256(&self) -> &Sha256 {
        &self.weights_sha256
    }

    /// The SHA-256 of `tokenizer.json`.
    pub fn tokenizer_sha256(&self) -> &Sha256 {
        &self.tokenizer_sha256
    }
}

/// A model that this machine has or can pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The name in `embed.model`.
    pub id: String,
    /// Whether it can be used now.
    pub state: ModelState,
    /// The folder; `None` for a compiled-in or absent model.
    pub folder: Option<PathBuf>,
    /// The contents of the manifest, if the folder has one.
    pub manifest: Option<Manifest>,
}

/// The location of a listed model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelState {
    /// Compiled in.
    Embedded,
    /// In the model folder.
    Present,
    /// Known by name, but not on this machine.
    Absent,
}

/// The compiled-in models, every folder below `models_dir`, and the known models that are not on
/// this machine; sorted by id.
///
/// A model folder that does not exist counts as empty. Errors: `MODEL_INVALID` for a manifest that
/// cannot be read.
pub fn list(models_dir: &Path) -> Result<Vec<Listed>> {
    let mut found = Vec::new();
    found.extend(built_in_ids().map(|id| Listed {
        id: id.into(),
        state: ModelState::Embedded,
        folder: None,
        manifest: None,
    }));
    for entry in std::fs::read_dir(models_dir)
        .into_iter()
        .flatten()
        .flatten()
    {
        let (folder, name) = (entry.path(), entry.file_name());
        let Some(id) = name
            .to_str()
            .filter(|id| !id.starts_with('.') && folder.is_dir())
        else {
            continue;
        };
        // `verify` reports one that cannot be read.
        let manifest = Manifest::read(&folder).ok().flatten();
        found.push(Listed {
            id: id.to_owned(),
            state: ModelState::Present,
            folder: Some(folder),
            manifest,
        });
    }
    for known in KNOWN {
        if !found.iter().any(|f| f.id == known.id) {
            found.push(Listed {
                id: known.id.into(),
                state: ModelState::Absent,
                folder: None,
                manifest: None,
            });
        }
    }
    found.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(found)
}

/// The task of the model called `name` ([`id_of`]): according to its files if it is on this
/// machine, otherwise according to the registry.
///
/// Errors: `MODEL_NOT_FOUND` for an id that is not a plain name, `MODEL_INVALID` for a description
/// that cannot be read.
pub fn task_of(name: &str, models_dir: &Path) -> Result<ModelTask> {
    let id = id_of(name);
    if built_in::find(&id).is_some() {
        return Ok(ModelTask::Vectors);
    }
    let folder = folder_of(&id, models_dir)?;
    if !folder.is_dir() {
        return Ok(known(&id).map_or(ModelTask::Vectors, |known| known.task));
    }
    Ok(if reranker::is_reranker_folder(&folder)? {
        ModelTask::Reranking
    } else {
        ModelTask::Vectors
    })
}

/// The folder of the model `id` below `models_dir`; an id is one plain path segment.
fn folder_of(id: &str, models_dir: &Path) -> Result<PathBuf> {
    if id.is_empty() || id.starts_with('.') || !id.chars().all(is_plain_name) {
        return Err(Failure::new(
            ErrorCode::ModelNotFound,
            format!("`{id}` is not the name of a model."),
        )
        .with_command("local-agent models list"));
    }
    Ok(models_dir.join(id))
}

/// Whether the name of a model may contain the character.
fn is_plain_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Maps the weights of the model `id` in `folder`.
///
/// Errors: `MODEL_NOT_FOUND` if the folder does not exist, `MODEL_INVALID` for other weights.
fn weights_in(id: &str, folder: &Path) -> Result<Bytes> {
    if !folder.is_dir() {
        let message = format!(
            "The model `{id}` is not on this machine (looked in {}).",
            folder.display()
        );
        let failure = Failure::new(ErrorCode::ModelNotFound, message);
        return Err(match known(id) {
            Some(_) => failure.with_fix(Fix::PullModel, pull_again(id)),
            None => failure.with_command("local-agent models list"),
        });
    }
    refuse_other_weights(id, folder)?;
    map::open(&folder.join(WEIGHTS))
}

/// Explains why a folder without one safetensors file is not used.
fn refuse_other_weights(id: &str, folder: &Path) -> Result<()> {
    if folder.join(WEIGHTS).is_file() {
        return Ok(());
    }
    let reason = if folder.join("model.safetensors.index.json").exists() {
        "its weights are split over several files; only one model.safetensors is used"
    } else if folder.join("pytorch_model.bin").exists() {
        "its weights are a pickle, which can run code when it is opened; only model.safetensors is used"
    } else {
        "it has no model.safetensors"
    };
    Err(invalid(id, reason).with_fix(Fix::PullModel, pull_again(id)))
}

/// The failure for two files of a model that contradict each other.
fn names_a_table(id: &str) -> Failure {
    invalid(id, "modules.json names a table, config.json a network")
}

/// The prefixes in the model's own file, otherwise those of the list of known models.
fn own_or_known_prefixes(id: &str, file: Option<Cow<'static, [u8]>>) -> Result<Prefixes> {
    let own = match file {
        Some(bytes) => Prefixes::parse(id, &bytes)?,
        None => None,
    };
    Ok(own
        .or_else(|| known(id).map(Known::prefixes))
        .unwrap_or_default())
}

/// The failure `MODEL_INVALID` for the model `id`.
fn invalid(id: &str, reason: &str) -> Failure {
    Failure::new(
        ErrorCode::ModelInvalid,
        format!("The model `{id}` cannot be used: {reason}."),
    )
}

/// The folders of the dense layers that `modules.json` in `folder` names. Checks that the network
/// and the modules can be computed; weights and pooling need not be there yet.
///
/// Errors: `MODEL_INVALID`.
fn described_layers(id: &str, folder: &Path) -> Result<Vec<String>> {
    if let Some(config) = manifest::read_small(&folder.join(CONFIG))? {
        if reranker::is_reranker_folder(folder)? {
            reranker::described(id, &config)?;
            return Ok(Vec::new());
        }
        NetworkConfig::parse(id, &config)?;
    }
    match manifest::read_small(&folder.join("modules.json"))? {
        Some(modules) => Ok(description::Modules::parse(id, &modules)?.dense),
        None => Ok(Vec::new()),
    }
}

/// The description and the weights of the dense layer in `folder`.
fn dense_paths(folder: &str) -> (String, String) {
    (
        format!("{folder}/config.json"),
        format!("{folder}/{WEIGHTS}"),
    )
}

/// Checks that the inputs of each dense layer are the outputs of the one before.
fn check_chain(id: &str, mut width: usize, dense: &[DenseFile]) -> Result<()> {
    for layer in dense {
        if layer.shape.inputs != width {
            let reason = format!(
                "a dense layer takes {} numbers and is given {width}",
                layer.shape.inputs
            );
            return Err(invalid(id, &reason));
        }
        width = layer.shape.outputs;
    }
    Ok(())
}

/// The command that says what is wrong with the files of the model `id`.
pub(crate) fn to_verify(id: &str) -> String {
    format!("local-agent models verify {id}")
}

fn pull_again(id: &str) -> String {
    format!("local-agent models pull {id}")
}

#[cfg(test)]
mod tests;
