//! Reads and checks the small JSON files around a network: the pooling, the prefixes, the modules
//! after the pooling, the window.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{invalid, network};
use local_agent_text::error::Result;

/// How the vectors of the tokens are combined into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean over all tokens, special ones included.
    Mean,
    /// The vector of the first token.
    Cls,
    /// The vector of the last token, special ones included. Texts are never padded, so it does not
    /// matter on which side a model was padded in training.
    LastToken,
}

#[derive(Deserialize)]
struct RawPooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_lasttoken: bool,
    include_prompt: Option<bool>,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

impl Pooling {
    /// The stable name, part of the fingerprint.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
            Self::LastToken => "last",
        }
    }

    /// Reads `1_Pooling/config.json`.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Self> {
        let raw: RawPooling = json(id, "1_Pooling/config.json", bytes)?;
        if raw.include_prompt == Some(false) {
            let reason = "its pooling leaves out the tokens of the prefix; only one that counts them is computed";
            return Err(invalid(id, reason));
        }
        let on =
            |(_, value): &(&String, &serde_json::Value)| **value == serde_json::Value::Bool(true);
        let mut modes: Vec<&str> = raw
            .rest
            .iter()
            .filter(|(name, _)| name.starts_with("pooling_mode_"))
            .filter(on)
            .map(|(name, _)| name.as_str())
            .collect();
        let own = [
            (raw.pooling_mode_mean_tokens, "pooling_mode_mean_tokens"),
            (raw.pooling_mode_cls_token, "pooling_mode_cls_token"),
            (raw.pooling_mode_lasttoken, "pooling_mode_lasttoken"),
        ];
        modes.extend(own.iter().filter(|(on, _)| *on).map(|(_, name)| *name));
        match modes.as_slice() {
            ["pooling_mode_mean_tokens"] => Ok(Self::Mean),
            ["pooling_mode_cls_token"] => Ok(Self::Cls),
            ["pooling_mode_lasttoken"] => Ok(Self::LastToken),
            other => {
                let found = if other.is_empty() {
                    "none".to_owned()
                } else {
                    other.join(" and ")
                };
                let reason = format!(
                    "its pooling is {found}; one of mean, cls and last token can be computed"
                );
                Err(invalid(id, &reason))
            }
        }
    }
}

/// The texts before an input; empty for models that need no prefix.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prefixes {
    /// Before a question.
    pub query: String,
    /// Before a text that is searched.
    pub passage: String,
}

#[derive(Deserialize)]
struct RawPrompts {
    prompts: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Prefixes {
    /// Reads `prompts` of `config_sentence_transformers.json`; `None` if the file has no prompts.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Option<Self>> {
        let prompts = json::<RawPrompts>(id, "config_sentence_transformers.json", bytes)?
            .prompts
            .unwrap_or_default();
        let found = Self {
            query: first_prompt(&prompts, &["query"]),
            passage: first_prompt(&prompts, &["passage", "document"]),
        };
        Ok((found != Self::default()).then_some(found))
    }
}

/// The first of these prompts that the model has; empty if it has none.
fn first_prompt(prompts: &serde_json::Map<String, serde_json::Value>, names: &[&str]) -> String {
    names
        .iter()
        .find_map(|name| prompts.get(*name)?.as_str())
        .unwrap_or_default()
        .to_owned()
}

#[derive(Deserialize)]
struct RawModule {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    path: String,
}

/// The last part of a module's type: `Pooling` of `sentence_transformers.models.Pooling`.
fn short_name(kind: &str) -> &str {
    kind.rsplit('.').next().unwrap_or_default()
}

/// The modules after the network in `modules.json`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Modules {
    /// The folders of the dense layers after the pooling, in order.
    pub dense: Vec<String>,
    /// Whether the network is a table of token vectors, which is pooled by its mean.
    pub is_table: bool,
}

impl Modules {
    /// Reads `modules.json`.
    ///
    /// Errors: `MODEL_INVALID` for a module that this program would silently compute in another
    /// way, and for a dense layer that is not after the pooling or is after the normalisation.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Self> {
        let modules: Vec<RawModule> = json(id, "modules.json", bytes)?;
        let mut found = Self::default();
        let (mut is_pooled, mut is_normalized) = (false, false);
        for module in modules {
            match short_name(&module.kind) {
                "Transformer" => {}
                // Vectors are normalised once, at the end.
                "Normalize" => is_normalized = true,
                "Pooling" => is_pooled = true,
                "StaticEmbedding" => (found.is_table, is_pooled) = (true, true),
                "Dense" if is_normalized => {
                    let reason = "it has a module `Dense` after `Normalize`, but vectors are \
                                  normalised only at the end";
                    return Err(invalid(id, reason));
                }
                "Dense" if is_pooled => found.dense.push(folder_name(id, &module.path)?),
                kind => {
                    let reason = format!(
                        "it has a module `{kind}`; only Transformer, StaticEmbedding, Pooling, \
                         Normalize and, after the pooling, Dense can be computed"
                    );
                    return Err(invalid(id, &reason));
                }
            }
        }
        Ok(found)
    }
}

/// The name of a module's folder: one plain path segment.
fn folder_name(id: &str, path: &str) -> Result<String> {
    if path.is_empty() || !path.chars().all(is_plain_name) {
        let reason = format!("modules.json names a folder `{path}`");
        return Err(invalid(id, &reason));
    }
    Ok(path.to_owned())
}

/// Whether the name of a folder may contain the character.
fn is_plain_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// The shape of a dense layer after the pooling (`config.json` in its folder).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseShape {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Whether it adds a bias.
    pub has_bias: bool,
    /// Whether its activation is tanh; otherwise it has no activation.
    pub is_tanh: bool,
}

#[derive(Deserialize)]
struct RawDense {
    in_features: usize,
    out_features: usize,
    bias: bool,
    activation_function: String,
}

impl DenseShape {
    /// Reads the `config.json` of a dense layer.
    pub(super) fn parse(id: &str, file: &str, bytes: &[u8]) -> Result<Self> {
        let raw: RawDense = json(id, file, bytes)?;
        let is_tanh = match short_name(&raw.activation_function) {
            "Tanh" => true,
            "Identity" => false,
            other => {
                let reason = format!(
                    "its dense layer has the activation `{other}`; Identity and Tanh can be computed"
                );
                return Err(invalid(id, &reason));
            }
        };
        let widths = 1..=network::LARGEST_DIMENSION;
        if !widths.contains(&raw.in_features) || !widths.contains(&raw.out_features) {
            return Err(invalid(id, &format!("the sizes in {file} make no layer")));
        }
        Ok(Self {
            inputs: raw.in_features,
            outputs: raw.out_features,
            has_bias: raw.bias,
            is_tanh,
        })
    }
}

#[derive(Deserialize)]
struct RawSentenceBert {
    max_seq_length: Option<usize>,
}

/// `max_seq_length` of `sentence_bert_config.json`.
pub(super) fn window(id: &str, bytes: &[u8]) -> Result<Option<usize>> {
    Ok(json::<RawSentenceBert>(id, "sentence_bert_config.json", bytes)?.max_seq_length)
}

pub(super) fn json<T: DeserializeOwned>(id: &str, file: &str, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|e| invalid(id, &format!("{file} cannot be read ({e})")))
}
