//! Rerankers (cross-encoders): networks that read a question and a passage together and compute one
//! number, which is greater for a better fit (Nogueira and Cho 2019, arXiv:1901.04085).
//!
//! A reranker's folder has no pooling, and its `config.json` names an architecture that classifies
//! sequences. The layers after the network are as in `transformers`: the vector of the first token
//! goes through a dense layer with tanh, and then through one with a single output.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::description::{self, json};
use super::{
    CONFIG, Manifest, ModelFiles, NetworkConfig, POOLING, Pooling, Precision, Prefixes,
    PreparedFolder, SMALLEST_WINDOW, TOKENIZER, WEIGHTS,
};
use super::{ModelTask, built_in_ids};
use super::{folder_of, id_of, invalid, manifest, pull_again, registry, weights_in};
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};
use local_agent_text::types::Sha256;

/// The kinds of networks (`model_type` in `config.json`) that can be computed as rerankers, for
/// messages.
pub const RERANKERS: &str = "bert, roberta, xlm-roberta and camembert";

/// The suffix of the names of architectures that classify sequences.
const CLASSIFIES: &str = "ForSequenceClassification";

/// The layers after the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankerHead {
    /// The pooler of BERT, then `classifier`.
    Bert,
    /// `classifier.dense`, then `classifier.out_proj`.
    Roberta,
}

/// The files of one reranker, described and ready to be loaded; weights are not read until they
/// are used.
#[derive(Debug, Clone)]
pub struct RerankerFiles {
    /// The network, read like that of a model whose vector is that of the first token.
    files: ModelFiles,
    head: RerankerHead,
}

#[derive(Deserialize)]
struct RawReranker {
    model_type: Option<String>,
    #[serde(default)]
    architectures: Vec<String>,
    id2label: Option<Map<String, Value>>,
}

/// Whether this `config.json` describes a network that classifies sequences; `false` if it cannot
/// be read.
pub(super) fn is_reranker(config: &[u8]) -> bool {
    let raw = serde_json::from_slice::<RawReranker>(config);
    raw.is_ok_and(|raw| raw.architectures.iter().any(|a| a.ends_with(CLASSIFIES)))
}

/// Whether the model in `folder` is described as a reranker, whether or not it can be computed.
///
/// Errors: `MODEL_INVALID` for a description that cannot be read.
pub(super) fn is_reranker_folder(folder: &Path) -> Result<bool> {
    if folder.join(POOLING).is_file() {
        return Ok(false);
    }
    let config = manifest::read_small(&folder.join(CONFIG))?;
    Ok(config.is_some_and(|config| is_reranker(&config)))
}

/// The network and the head that this `config.json` describes.
///
/// Errors: `MODEL_INVALID` for a network that cannot be computed; the message names its kind and
/// the supported kinds.
pub(super) fn described(id: &str, config: &[u8]) -> Result<(NetworkConfig, RerankerHead)> {
    let raw: RawReranker = json(id, CONFIG, config)?;
    let head = match raw.model_type.as_deref().unwrap_or("bert") {
        "bert" => RerankerHead::Bert,
        "roberta" | "xlm-roberta" | "camembert" => RerankerHead::Roberta,
        other => return Err(refusal(id, other)),
    };
    if !is_reranker(config) {
        let found = match raw.architectures.first() {
            Some(name) => format!("its architecture is `{name}`"),
            None => "config.json names no architecture".to_owned(),
        };
        let reason = format!("{found}; a reranker's ends with `{CLASSIFIES}`");
        return Err(invalid(id, &reason).with_fix(Fix::PullModel, PULL_ONE));
    }
    if let Some(labels) = raw.id2label.map(|labels| labels.len())
        && labels != 1
    {
        let reason = format!("it makes {labels} numbers of a pair; a reranker makes one");
        return Err(invalid(id, &reason).with_fix(Fix::PullModel, PULL_ONE));
    }
    Ok((NetworkConfig::parse(id, config)?, head))
}

/// The command that downloads a supported reranker.
const PULL_ONE: &str = "local-agent models pull bge-reranker-base";

/// The failure `MODEL_INVALID` for a reranker with a network of another kind.
pub(super) fn refusal(id: &str, network: &str) -> Failure {
    let reason = format!("it is a `{network}` network; as rerankers {RERANKERS} can be computed");
    invalid(id, &reason).with_fix(Fix::PullModel, PULL_ONE)
}

/// The failure `MODEL_INVALID` for a reranker that is used as an embedding model.
pub(super) fn makes_no_vectors(id: &str) -> Failure {
    let reason = "it is a reranker: it compares a question with a passage, and makes no vectors";
    let hint = format!(
        "take it out of `embed` in the configuration, and set `retrieve.reranker: {id}` instead"
    );
    invalid(id, reason).with_fix(Fix::ChangeSetting, hint)
}

/// The failure `MODEL_INVALID` for an embedding model that is used as a reranker.
fn is_no_reranker(id: &str) -> Failure {
    let reason = "it makes vectors of single texts, and is no reranker; \
                  set `retrieve.reranker` to one";
    invalid(id, reason).with_fix(Fix::PullModel, PULL_ONE)
}

impl RerankerFiles {
    /// The reranker called `name`, by its id or its repository ([`id_of`]), below `models_dir`.
    ///
    /// Errors: `MODEL_NOT_FOUND` if it is not there, with the command that gets it; see
    /// [`Self::from_folder`].
    pub fn find(name: &str, models_dir: &Path) -> Result<Self> {
        let id = id_of(name);
        if let Some(network) = registry::refused_network(&id) {
            return Err(refusal(&id, network));
        }
        let makes_vectors = registry::known(&id).is_some_and(|one| one.task == ModelTask::Vectors);
        if makes_vectors || built_in_ids().any(|one| one == id) {
            return Err(is_no_reranker(&id));
        }
        let folder = folder_of(&id, models_dir)?;
        let found = Self::from_folder(&id, &folder);
        found.map_err(|failure| {
            if failure.code == ErrorCode::ModelNotFound && registry::known(&id).is_none() {
                let how = if name.contains('/') {
                    format!("local-agent models pull {name} --revision main")
                } else {
                    PULL_ONE.to_owned()
                };
                return failure.with_fix(Fix::PullModel, how);
            }
            failure
        })
    }

    /// The reranker in `folder`. Hashes are taken as in [`ModelFiles::from_folder`].
    ///
    /// Errors: `MODEL_NOT_FOUND` if the folder does not exist, `MODEL_INVALID` when it contains
    /// anything other than one reranker of a known kind in safetensors form.
    pub fn from_folder(id: &str, folder: &Path) -> Result<Self> {
        let weights = weights_in(id, folder)?;
        let (network, head) = described(id, &needed_file(folder, id, CONFIG)?)?;
        let manifest = Manifest::read(folder)?.filter(|manifest| manifest.sizes_hold(folder));
        let recorded = |path: &str| manifest.as_ref().and_then(|one| one.sha256(path));
        let tokenizer = needed_file(folder, id, TOKENIZER)?;
        let positions = network.positions();
        let window = match manifest::read_small(&folder.join("sentence_bert_config.json"))? {
            Some(bytes) => description::window(id, &bytes)?.unwrap_or(positions),
            None => positions,
        };
        let files = ModelFiles {
            id: id.to_owned(),
            network,
            pooling: Pooling::Cls,
            dense: Vec::new(),
            prefixes: Prefixes::default(),
            window: window.min(positions).max(SMALLEST_WINDOW),
            dimensions: None,
            precision: Precision::default(),
            prepared: None,
            instructions: None,
            weights_sha256: recorded(WEIGHTS).unwrap_or_else(|| Sha256::of(weights.as_slice())),
            tokenizer_sha256: recorded(TOKENIZER).unwrap_or_else(|| Sha256::of(&tokenizer)),
            weights,
            tokenizer: Cow::Owned(tokenizer),
        };
        Ok(Self { files, head })
    }

    /// The same reranker, computed in this precision.
    #[must_use]
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.files = self.files.with_precision(precision);
        self
    }

    /// The same reranker, computed with these instructions; `None`: with the best ones of the
    /// machine.
    #[must_use]
    pub fn with_instructions(mut self, name: Option<&'static str>) -> Self {
        self.files = self.files.with_instructions(name);
        self
    }

    /// The same reranker, which stores packed weights in `folder`.
    #[must_use]
    pub fn with_prepared(mut self, folder: PreparedFolder) -> Self {
        self.files = self.files.with_prepared(folder);
        self
    }

    /// The id by which it was requested.
    pub fn id(&self) -> &str {
        self.files.id()
    }

    /// The network, the tokenizer and the settings of both. Not to be loaded as an encoder.
    pub fn network_files(&self) -> &ModelFiles {
        &self.files
    }

    /// The layers after the network.
    pub fn head(&self) -> RerankerHead {
        self.head
    }
}

/// Reads a small file that the model must have.
fn needed_file(folder: &Path, id: &str, path: &str) -> Result<Vec<u8>> {
    manifest::read_small(&folder.join(path))?.ok_or_else(|| {
        invalid(id, &format!("it has no {path}")).with_fix(Fix::PullModel, pull_again(id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(config: &Value) -> Failure {
        described("m", config.to_string().as_bytes()).unwrap_err()
    }

    #[test]
    fn a_refusal_says_what_was_found_and_which_rerankers_can_be_computed() {
        let deberta = json!({"model_type": "deberta-v2",
            "architectures": ["DebertaV2ForSequenceClassification"]});
        let failure = refused(&deberta);
        assert_eq!(failure.code, ErrorCode::ModelInvalid);
        assert!(failure.message.contains("`deberta-v2`"), "{failure:?}");
        assert!(failure.message.contains(RERANKERS), "{failure:?}");
        let encoder = json!({"model_type": "bert", "architectures": ["BertModel"]});
        assert!(refused(&encoder).message.contains("`BertModel`"));
        let classes = json!({"model_type": "bert", "id2label": {"0": "no", "1": "yes"},
            "architectures": ["BertForSequenceClassification"]});
        assert!(refused(&classes).message.contains("2 numbers"));
    }

    #[test]
    fn a_missing_reranker_is_got_with_the_command_of_the_hint() {
        let nowhere = Path::new("/nonexistent");
        let hint = |name: &str| {
            let failure = RerankerFiles::find(name, nowhere).unwrap_err();
            (failure.code, failure.hint.unwrap_or_default())
        };
        let missing = ErrorCode::ModelNotFound;
        for (name, command) in [
            (
                "bge-reranker-base",
                "local-agent models pull bge-reranker-base",
            ),
            (
                "BAAI/bge-reranker-base",
                "local-agent models pull bge-reranker-base",
            ),
            (
                "cross-encoder/ms-marco-MiniLM-L-6-v2",
                "local-agent models pull ms-marco-MiniLM-L-6-v2",
            ),
            ("a/b", "local-agent models pull a/b --revision main"),
            ("b", PULL_ONE),
        ] {
            assert_eq!(hint(name), (missing, command.to_owned()), "{name}");
        }
        for model in ["all-MiniLM-L6-v2", "BAAI/bge-small-en-v1.5"] {
            let refused = (ErrorCode::ModelInvalid, PULL_ONE.to_owned());
            assert_eq!(
                hint(model),
                refused,
                "{model} cannot be pulled as a reranker"
            );
        }
        let mixedbread = hint("mixedbread-ai/mxbai-rerank-base-v1");
        assert_eq!(mixedbread, (ErrorCode::ModelInvalid, PULL_ONE.to_owned()));
    }
}
