//! Reads and checks the small JSON files of a model: the shape of the network, the pooling, the
//! prefixes.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::invalid;
use local_agent_text::error::Result;

/// The shape of a BERT encoder (`config.json`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Architecture {
    /// Width of a token's vector, and of the result.
    pub hidden: usize,
    /// Attention heads; divides `hidden`.
    pub heads: usize,
    /// Layers.
    pub layers: usize,
    /// Width between the two feed-forward matrices.
    pub intermediate: usize,
    /// Rows of the word table.
    pub vocabulary: usize,
    /// Positions that have a vector: the longest window the network can process.
    pub positions: usize,
    /// The constant under the square root of a layer norm.
    pub norm_eps: f32,
    /// The function between the two feed-forward matrices.
    pub activation: Activation,
}

/// The function between the two feed-forward matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// `x · Φ(x)` with the exact normal distribution function.
    Gelu,
}

#[derive(Deserialize)]
struct RawConfig {
    model_type: Option<String>,
    hidden_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    hidden_act: String,
    position_embedding_type: Option<String>,
}

/// Limits that every real encoder stays within; a file outside them is broken or malicious.
const LARGEST_DIMENSION: usize = 1 << 20;

impl Architecture {
    /// Reads `config.json`.
    ///
    /// Errors: `MODEL_INVALID` for anything but a BERT encoder with absolute positions and exact
    /// GELU.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Self> {
        let raw: RawConfig = json(id, "config.json", bytes)?;
        let kind = raw.model_type.as_deref().unwrap_or("bert");
        if kind != "bert" {
            return Err(invalid(
                id,
                &format!("it is a `{kind}` network; only `bert` is supported"),
            ));
        }
        if raw.position_embedding_type.as_deref().unwrap_or("absolute") != "absolute" {
            return Err(invalid(id, "its positions are not absolute"));
        }
        let activation = match raw.hidden_act.as_str() {
            "gelu" => Activation::Gelu,
            other => {
                return Err(invalid(
                    id,
                    &format!("its activation `{other}` is not supported"),
                ));
            }
        };
        let shape = Self {
            hidden: raw.hidden_size,
            heads: raw.num_attention_heads,
            layers: raw.num_hidden_layers,
            intermediate: raw.intermediate_size,
            vocabulary: raw.vocab_size,
            positions: raw.max_position_embeddings,
            norm_eps: raw.layer_norm_eps as f32,
            activation,
        };
        let sizes = [
            shape.hidden,
            shape.heads,
            shape.layers,
            shape.intermediate,
            shape.vocabulary,
            shape.positions,
        ];
        if sizes.iter().any(|&s| s == 0 || s > LARGEST_DIMENSION)
            || !shape.hidden.is_multiple_of(shape.heads)
        {
            return Err(invalid(
                id,
                "the sizes in config.json do not make a network",
            ));
        }
        Ok(shape)
    }

    /// Width of one attention head.
    pub fn head_width(&self) -> usize {
        self.hidden / self.heads
    }
}

/// How the vectors of the tokens are combined into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// The mean over all tokens, special ones included.
    Mean,
    /// The vector of the first token.
    Cls,
}

#[derive(Deserialize)]
struct RawPooling {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(flatten)]
    rest: serde_json::Map<String, serde_json::Value>,
}

impl Pooling {
    /// The stable name, part of the fingerprint.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Cls => "cls",
        }
    }

    /// Reads `1_Pooling/config.json`.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Self> {
        let raw: RawPooling = json(id, "1_Pooling/config.json", bytes)?;
        let other = raw
            .rest
            .iter()
            .any(|(k, v)| k.starts_with("pooling_mode_") && v == &serde_json::Value::Bool(true));
        match (
            raw.pooling_mode_mean_tokens,
            raw.pooling_mode_cls_token,
            other,
        ) {
            (true, false, false) => Ok(Self::Mean),
            (false, true, false) => Ok(Self::Cls),
            _ => Err(invalid(id, "its pooling is neither `mean` nor `cls`")),
        }
    }
}

/// What is put before a text; empty for models that need no prefix.
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
    /// Reads `prompts` of `config_sentence_transformers.json`; `None` when the file names none.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Option<Self>> {
        let prompts = json::<RawPrompts>(id, "config_sentence_transformers.json", bytes)?
            .prompts
            .unwrap_or_default();
        let text = |names: &[&str]| {
            names
                .iter()
                .find_map(|name| prompts.get(*name)?.as_str())
                .unwrap_or_default()
                .to_owned()
        };
        let found = Self {
            query: text(&["query"]),
            passage: text(&["passage", "document"]),
        };
        Ok((found != Self::default()).then_some(found))
    }
}

#[derive(Deserialize)]
struct RawModule {
    #[serde(rename = "type")]
    kind: String,
}

/// Rejects a chain of modules that this program would silently compute in another way (a dense
/// layer after the pooling).
pub(super) fn refuse_other_modules(id: &str, bytes: &[u8]) -> Result<()> {
    let modules: Vec<RawModule> = json(id, "modules.json", bytes)?;
    let last = |kind: &str| kind.rsplit('.').next().unwrap_or_default().to_owned();
    match modules
        .iter()
        .map(|m| last(&m.kind))
        .find(|k| !matches!(k.as_str(), "Transformer" | "Pooling" | "Normalize"))
    {
        Some(kind) => Err(invalid(
            id,
            &format!("it has a module `{kind}` that this program does not compute"),
        )),
        None => Ok(()),
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

fn json<T: DeserializeOwned>(id: &str, file: &str, bytes: &[u8]) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|e| invalid(id, &format!("{file} cannot be read ({e})")))
}
