//! `config.json`: the kind of a network, its sizes, and the engine that computes it.

use candle_nn::Activation as CandleActivation;
use candle_transformers::models::{modernbert, nomic_bert, qwen3};
use serde::Deserialize;
use serde_json::Value;

use super::description::json;
use super::{CONFIG, invalid};
use local_agent_text::error::Result;

/// Upper limits of a size; a file with larger ones is broken or malicious.
pub(super) const LARGEST_DIMENSION: usize = 1 << 20;

/// Maximum length of a window, even if a network has more positions.
const LONGEST_WINDOW: usize = 1 << 20;

/// The kinds of networks (`model_type` in `config.json`) that can be computed, for messages.
pub const RUNNABLE: &str = "bert, roberta, xlm-roberta, camembert, mpnet, modernbert, nomic_bert, \
                            new, gte, qwen3, gemma3_text and model2vec";

/// The shape of a BERT encoder (`config.json`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Architecture {
    /// Width of a token's vector and of the result.
    pub hidden: usize,
    /// Attention heads; divides `hidden`.
    pub heads: usize,
    /// Layers.
    pub layers: usize,
    /// Width between the two feed-forward matrices.
    pub intermediate: usize,
    /// Rows of the word table.
    pub vocabulary: usize,
    /// Positions that a token can have: the longest window the network can process.
    pub positions: usize,
    /// The row of the position table for the first token. BERT: 0. RoBERTa: the row after that of
    /// the padding token.
    pub first_position: usize,
    /// Rows of the table of token types. A single text uses the first one.
    pub token_types: usize,
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
struct RawBert {
    hidden_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    intermediate_size: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    hidden_act: String,
    position_embedding_type: Option<String>,
    type_vocab_size: Option<usize>,
    pad_token_id: Option<usize>,
}

impl Architecture {
    /// Reads the `config.json` of a BERT, or of a RoBERTa, which only counts positions differently.
    fn parse(id: &str, bytes: &[u8], is_roberta: bool) -> Result<Self> {
        let raw: RawBert = json(id, CONFIG, bytes)?;
        let positions = raw.position_embedding_type.as_deref();
        if let Some(other) = positions.filter(|positions| *positions != "absolute") {
            let reason = format!("its positions are `{other}`; only absolute ones can be computed");
            return Err(invalid(id, &reason));
        }
        exact_gelu(id, &raw.hidden_act)?;
        let first_position = if is_roberta {
            // RoBERTa uses the position of its padding token for padding, and counts from the next
            // one.
            raw.pad_token_id.unwrap_or(1) + 1
        } else {
            0
        };
        let shape = Self {
            hidden: raw.hidden_size,
            heads: raw.num_attention_heads,
            layers: raw.num_hidden_layers,
            intermediate: raw.intermediate_size,
            vocabulary: raw.vocab_size,
            positions: raw.max_position_embeddings.saturating_sub(first_position),
            first_position,
            token_types: raw.type_vocab_size.unwrap_or(2),
            norm_eps: raw.layer_norm_eps as f32,
            activation: Activation::Gelu,
        };
        let sizes = [
            shape.hidden,
            shape.heads,
            shape.layers,
            shape.intermediate,
            shape.vocabulary,
            shape.positions,
            shape.token_types,
        ];
        check_sizes(id, &sizes, shape.hidden, shape.heads)?;
        Ok(shape)
    }

    /// Width of one attention head.
    pub fn head_width(&self) -> usize {
        self.hidden / self.heads
    }
}

fn exact_gelu(id: &str, name: &str) -> Result<()> {
    if name == "gelu" {
        return Ok(());
    }
    let reason =
        format!("its activation is `{name}`; for this network only `gelu` can be computed");
    Err(invalid(id, &reason))
}

fn check_sizes(id: &str, sizes: &[usize], width: usize, heads: usize) -> Result<()> {
    let is_possible = sizes
        .iter()
        .all(|size| (1..=LARGEST_DIMENSION).contains(size));
    if is_possible && width.is_multiple_of(heads) {
        return Ok(());
    }
    Err(invalid(
        id,
        "the sizes in config.json do not make a network",
    ))
}

/// The shape of an MPNet: a BERT whose attention also uses the distance between two tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct MpnetConfig {
    /// Width of a token's vector.
    pub hidden_size: usize,
    /// Attention heads; divides the width.
    pub num_attention_heads: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Width between the two feed-forward matrices.
    pub intermediate_size: usize,
    /// Rows of the word table.
    pub vocab_size: usize,
    /// Rows of the position table; the first token has the row after that of the padding token.
    pub max_position_embeddings: usize,
    /// Number of distances between tokens that are distinguished.
    pub relative_attention_num_buckets: usize,
    /// The constant under the square root of a layer norm.
    pub layer_norm_eps: f64,
    /// Row of the padding token.
    #[serde(default = "one")]
    pub pad_token_id: usize,
}

const fn one() -> usize {
    1
}

/// The shape of a GTE network of Alibaba (`new`): a BERT with rotary positions and a gated
/// feed-forward part.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct GteConfig {
    /// Width of a token's vector.
    pub hidden_size: usize,
    /// Attention heads; divides the width.
    pub num_attention_heads: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Width between the two feed-forward matrices.
    pub intermediate_size: usize,
    /// Rows of the word table.
    pub vocab_size: usize,
    /// The longest window it was trained for.
    pub max_position_embeddings: usize,
    /// Rows of the table of token types; 0 if it has no such table.
    pub type_vocab_size: usize,
    /// The constant under the square root of a layer norm.
    pub layer_norm_eps: f64,
    /// The base of the rotation angles.
    pub rope_theta: f64,
    /// How the angles are scaled for long texts; `None`: they are not.
    pub rope_scaling: Option<RopeScaling>,
}

/// How rotary positions are scaled.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct RopeScaling {
    /// The kind of scaling; only `ntk` is supported.
    #[serde(rename = "type", alias = "rope_type")]
    pub kind: String,
    /// The factor.
    pub factor: f64,
}

/// The shape of a Gemma 3 encoder with bidirectional attention.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Gemma3Config {
    /// Width of a token's vector.
    pub hidden_size: usize,
    /// Query heads of attention.
    pub num_attention_heads: usize,
    /// Heads of keys and values; divides the number of query heads.
    pub num_key_value_heads: usize,
    /// Width of one head.
    pub head_dim: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Width between the feed-forward matrices.
    pub intermediate_size: usize,
    /// Rows of the word table.
    pub vocab_size: usize,
    /// The longest window it was trained for.
    pub max_position_embeddings: usize,
    /// The constant under the square root of a norm.
    pub rms_norm_eps: f64,
    /// The base of the angles in layers that attend to the whole text.
    pub rope_theta: f64,
    /// The base of the angles in layers that attend to a window.
    pub rope_local_base_freq: f64,
    /// The width of that window, defined as for a causal network.
    pub sliding_window: usize,
    /// Attention scores are divided by the square root of this.
    pub query_pre_attn_scalar: f64,
    /// For each layer `full_attention` or `sliding_attention`.
    pub layer_types: Vec<String>,
    /// The function in the feed-forward part.
    pub hidden_activation: CandleActivation,
    /// Whether attention is bidirectional.
    #[serde(default)]
    pub use_bidirectional_attention: bool,
    /// Whether the projections of attention have a bias.
    #[serde(default)]
    pub attention_bias: bool,
    attn_logit_softcapping: Option<f64>,
}

impl Gemma3Config {
    /// The largest distance between two tokens that attend to each other in a layer with a window.
    /// Both directions share the window, as in the reference implementation.
    pub fn reach(&self) -> usize {
        self.sliding_window / 2
    }
}

/// A network that candle computes, in f32.
#[derive(Debug, Clone, PartialEq)]
pub enum CandleConfig {
    /// MPNet (Song et al. 2020), as in all-mpnet-base-v2.
    Mpnet(MpnetConfig),
    /// ModernBERT (Warner et al. 2024).
    ModernBert(Box<modernbert::Config>),
    /// Nomic's BERT (Nussbaum et al. 2024).
    NomicBert(Box<nomic_bert::Config>),
    /// Alibaba's GTE (Zhang et al. 2024).
    Gte(GteConfig),
    /// Qwen 3, which uses the vector of the last token for the text (Zhang et al. 2025).
    Qwen3(Box<qwen3::Config>),
    /// Gemma 3 as an encoder (Vera et al. 2025).
    Gemma3(Box<Gemma3Config>),
}

/// The shape of a table of token vectors (model2vec).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableShape {
    /// Width of a token's vector.
    pub width: usize,
}

/// The engine that computes a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// This program's own kernels, in every precision.
    Kernels,
    /// candle, in f32.
    Candle,
    /// A look-up of token vectors, which are averaged in f32.
    Table,
}

impl Engine {
    /// The stable name in JSON outputs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Kernels => "kernels",
            Self::Candle => "candle",
            Self::Table => "table",
        }
    }
}

/// The network of a model: its kind and its sizes.
#[derive(Debug, Clone, PartialEq)]
pub enum NetworkConfig {
    /// BERT, and RoBERTa, which differs in the first position.
    Bert(Architecture),
    /// A network that candle computes.
    Candle(CandleConfig),
    /// A table of token vectors.
    Table(TableShape),
}

#[derive(Deserialize)]
struct RawKind {
    model_type: Option<String>,
}

impl NetworkConfig {
    /// Reads `config.json`.
    ///
    /// Errors: `MODEL_INVALID` for a network that cannot be computed; the message names its kind
    /// and the supported kinds.
    pub(super) fn parse(id: &str, bytes: &[u8]) -> Result<Self> {
        let kind = json::<RawKind>(id, CONFIG, bytes)?.model_type;
        match kind.as_deref().unwrap_or("bert") {
            "bert" => Architecture::parse(id, bytes, false).map(Self::Bert),
            "roberta" | "xlm-roberta" | "camembert" => {
                Architecture::parse(id, bytes, true).map(Self::Bert)
            }
            "model2vec" => table(id, bytes).map(Self::Table),
            other => CandleConfig::parse(id, other, bytes).map(Self::Candle),
        }
    }

    /// The engine that computes it.
    pub fn engine(&self) -> Engine {
        match self {
            Self::Bert(_) => Engine::Kernels,
            Self::Candle(_) => Engine::Candle,
            Self::Table(_) => Engine::Table,
        }
    }

    /// Width of a token's vector.
    pub fn width(&self) -> usize {
        match self {
            Self::Bert(shape) => shape.hidden,
            Self::Candle(config) => config.width(),
            Self::Table(shape) => shape.width,
        }
    }

    /// The maximum number of tokens at once.
    pub fn positions(&self) -> usize {
        match self {
            Self::Bert(shape) => shape.positions,
            Self::Candle(config) => config.positions().min(LONGEST_WINDOW),
            Self::Table(_) => LONGEST_WINDOW,
        }
    }
}

#[derive(Deserialize)]
struct RawTable {
    hidden_dim: usize,
}

fn table(id: &str, bytes: &[u8]) -> Result<TableShape> {
    let width = json::<RawTable>(id, CONFIG, bytes)?.hidden_dim;
    check_sizes(id, &[width], width, 1)?;
    Ok(TableShape { width })
}

impl CandleConfig {
    fn parse(id: &str, kind: &str, bytes: &[u8]) -> Result<Self> {
        let config = match kind {
            "mpnet" => mpnet(id, bytes).map(Self::Mpnet),
            "modernbert" => modern_bert(id, bytes).map(Self::ModernBert),
            "nomic_bert" => nomic(id, bytes).map(Self::NomicBert),
            "new" | "gte" => gte(id, bytes).map(Self::Gte),
            "qwen3" => qwen(id, bytes).map(Self::Qwen3),
            "gemma3_text" => gemma(id, bytes).map(Self::Gemma3),
            other => {
                let reason = format!("it is a `{other}` network; {RUNNABLE} can be computed");
                return Err(invalid(id, &reason));
            }
        }?;
        check_sizes(id, &config.sizes(), config.heads_width(), config.heads())?;
        Ok(config)
    }

    fn width(&self) -> usize {
        match self {
            Self::Mpnet(config) => config.hidden_size,
            Self::ModernBert(config) => config.hidden_size,
            Self::NomicBert(config) => config.n_embd,
            Self::Gte(config) => config.hidden_size,
            Self::Qwen3(config) => config.hidden_size,
            Self::Gemma3(config) => config.hidden_size,
        }
    }

    fn positions(&self) -> usize {
        match self {
            Self::Mpnet(config) => config
                .max_position_embeddings
                .saturating_sub(config.pad_token_id + 1),
            Self::ModernBert(config) => config.max_position_embeddings,
            Self::NomicBert(config) => config.n_positions,
            Self::Gte(config) => config.max_position_embeddings,
            Self::Qwen3(config) => config.max_position_embeddings,
            Self::Gemma3(config) => config.max_position_embeddings,
        }
    }

    /// Attention heads.
    fn heads(&self) -> usize {
        match self {
            Self::Mpnet(config) => config.num_attention_heads,
            Self::ModernBert(config) => config.num_attention_heads,
            Self::NomicBert(config) => config.n_head,
            Self::Gte(config) => config.num_attention_heads,
            Self::Qwen3(config) => config.num_key_value_heads,
            Self::Gemma3(config) => config.num_key_value_heads,
        }
    }

    /// A number that [`Self::heads`] must divide.
    fn heads_width(&self) -> usize {
        match self {
            Self::Qwen3(config) => config.num_attention_heads,
            Self::Gemma3(config) => config.num_attention_heads,
            _ => self.width(),
        }
    }

    /// All sizes that must be plausible.
    fn sizes(&self) -> [usize; 6] {
        let (layers, inner, vocabulary) = match self {
            Self::Mpnet(c) => (c.num_hidden_layers, c.intermediate_size, c.vocab_size),
            Self::ModernBert(c) => (c.num_hidden_layers, c.intermediate_size, c.vocab_size),
            Self::NomicBert(c) => (c.n_layer, c.n_inner, c.vocab_size),
            Self::Gte(c) => (c.num_hidden_layers, c.intermediate_size, c.vocab_size),
            Self::Qwen3(c) => (c.num_hidden_layers, c.intermediate_size, c.vocab_size),
            Self::Gemma3(c) => (c.num_hidden_layers, c.intermediate_size, c.vocab_size),
        };
        let (width, positions) = (self.width(), self.positions());
        [width, self.heads(), positions, layers, inner, vocabulary]
    }
}

#[derive(Deserialize)]
struct RawActivation {
    #[serde(alias = "hidden_activation")]
    hidden_act: String,
}

fn mpnet(id: &str, bytes: &[u8]) -> Result<MpnetConfig> {
    exact_gelu(id, &json::<RawActivation>(id, CONFIG, bytes)?.hidden_act)?;
    let config: MpnetConfig = json(id, CONFIG, bytes)?;
    // Half of the buckets are for each direction, and half of those for single distances.
    if config.relative_attention_num_buckets < 4 {
        return Err(invalid(
            id,
            "the sizes in config.json do not make a network",
        ));
    }
    Ok(config)
}

#[derive(Deserialize)]
struct RawBiases {
    #[serde(default)]
    attention_bias: bool,
    #[serde(default)]
    mlp_bias: bool,
    #[serde(default)]
    norm_bias: bool,
}

fn modern_bert(id: &str, bytes: &[u8]) -> Result<Box<modernbert::Config>> {
    exact_gelu(id, &json::<RawActivation>(id, CONFIG, bytes)?.hidden_act)?;
    let biases: RawBiases = json(id, CONFIG, bytes)?;
    if biases.attention_bias || biases.mlp_bias || biases.norm_bias {
        let reason = "its layers have biases; a ModernBERT without them can be computed";
        return Err(invalid(id, reason));
    }
    let config = with_older_names(json(id, CONFIG, bytes)?);
    let mut config: modernbert::Config = from_value(id, config)?;
    if config.global_attn_every_n_layers == 0 {
        return Err(invalid(
            id,
            "the sizes in config.json do not make a network",
        ));
    }
    // Its labels are not used.
    config.classifier_config = None;
    Ok(Box::new(config))
}

#[derive(Deserialize)]
struct RawNomic {
    activation_function: String,
    #[serde(default)]
    use_rms_norm: bool,
    rotary_emb_fraction: Option<f64>,
    max_trained_positions: Option<usize>,
    moe_every_n_layers: Option<usize>,
    n_inner: Option<usize>,
    n_embd: usize,
}

/// The window of a `nomic_bert` network whose file does not state the length of its training texts:
/// that of nomic-embed-text-v1.5.
const NOMIC_POSITIONS: usize = 2048;

fn nomic(id: &str, bytes: &[u8]) -> Result<Box<nomic_bert::Config>> {
    let raw: RawNomic = json(id, CONFIG, bytes)?;
    let refusal = if raw.activation_function != "swiglu" {
        Some(format!("its activation is `{}`", raw.activation_function))
    } else if raw.use_rms_norm {
        Some("its norms are RMS norms".to_owned())
    } else if raw.rotary_emb_fraction.is_some_and(|share| share != 1.0) {
        Some("it rotates only a part of each head".to_owned())
    } else if raw.moe_every_n_layers.is_some_and(|every| every > 0) {
        Some("it is a mixture of experts".to_owned())
    } else {
        None
    };
    if let Some(refusal) = refusal {
        let reason =
            format!("{refusal}; a nomic_bert with `swiglu` and layer norms can be computed");
        return Err(invalid(id, &reason));
    }
    let mut config: nomic_bert::Config = json(id, CONFIG, bytes)?;
    config.n_inner = raw.n_inner.unwrap_or(4 * raw.n_embd);
    // For longer texts than in training, the reference implementation scales the angles with the
    // length.
    let trained = raw.max_trained_positions.unwrap_or(NOMIC_POSITIONS);
    config.n_positions = config.n_positions.min(trained);
    Ok(Box::new(config))
}

#[derive(Deserialize)]
struct RawGte {
    #[serde(default)]
    logn_attention_scale: bool,
    position_embedding_type: Option<String>,
    layer_norm_type: Option<String>,
}

fn gte(id: &str, bytes: &[u8]) -> Result<GteConfig> {
    exact_gelu(id, &json::<RawActivation>(id, CONFIG, bytes)?.hidden_act)?;
    let raw: RawGte = json(id, CONFIG, bytes)?;
    let is_rotated = raw
        .position_embedding_type
        .is_none_or(|kind| kind == "rope");
    let is_normed = raw.layer_norm_type.is_none_or(|kind| kind == "layer_norm");
    if raw.logn_attention_scale || !is_rotated || !is_normed {
        let reason = "it needs positions, norms or scales of another kind; one with rotated \
                      positions, layer norms and plain scores can be computed";
        return Err(invalid(id, reason));
    }
    let config: GteConfig = from_value(id, with_older_names(json(id, CONFIG, bytes)?))?;
    match &config.rope_scaling {
        Some(scaling) if scaling.kind != "ntk" => {
            let reason = format!(
                "its positions are stretched by `{}`; only `ntk` can be computed",
                scaling.kind
            );
            Err(invalid(id, &reason))
        }
        _ => Ok(config),
    }
}

fn qwen(id: &str, bytes: &[u8]) -> Result<Box<qwen3::Config>> {
    let value = with_older_names(json(id, CONFIG, bytes)?);
    if value
        .get("rope_scaling")
        .is_some_and(|scaling| !scaling.is_null())
    {
        let reason = "its positions are stretched; a qwen3 without `rope_scaling` can be computed";
        return Err(invalid(id, reason));
    }
    let config: qwen3::Config = from_value(id, value)?;
    if config.use_sliding_window {
        let reason = "its attention has a window; a qwen3 without one can be computed";
        return Err(invalid(id, reason));
    }
    Ok(Box::new(config))
}

fn gemma(id: &str, bytes: &[u8]) -> Result<Box<Gemma3Config>> {
    let config: Gemma3Config = from_value(id, with_older_names(json(id, CONFIG, bytes)?))?;
    if !config.use_bidirectional_attention || config.attn_logit_softcapping.is_some() {
        let reason = "it writes text; a gemma3_text whose attention looks in both directions, \
                      without a cap on its scores, can be computed";
        return Err(invalid(id, reason));
    }
    if config.layer_types.len() != config.num_hidden_layers {
        return Err(invalid(
            id,
            "the sizes in config.json do not make a network",
        ));
    }
    Ok(Box::new(config))
}

fn from_value<T: serde::de::DeserializeOwned>(id: &str, value: Value) -> Result<T> {
    serde_json::from_value(value)
        .map_err(|e| invalid(id, &format!("{CONFIG} cannot be read ({e})")))
}

/// A configuration with the names that `transformers` used for the position angles before version
/// 5: `rope_theta` and related keys instead of one `rope_parameters`. Existing older names do not
/// change.
fn with_older_names(mut config: Value) -> Value {
    let Some(fields) = config.as_object_mut() else {
        return config;
    };
    let rope = fields.get("rope_parameters").cloned().unwrap_or_default();
    let full = rope.get("full_attention").unwrap_or(&rope);
    let window = rope.get("sliding_attention");
    let found = [
        ("rope_theta", rope_theta(Some(full))),
        ("global_rope_theta", rope_theta(Some(full))),
        ("local_rope_theta", rope_theta(window)),
        ("rope_local_base_freq", rope_theta(window)),
    ];
    for (name, value) in found {
        if let Some(value) = value.filter(|_| !fields.contains_key(name)) {
            fields.insert(name.to_owned(), value);
        }
    }
    let kind = full.get("rope_type").and_then(Value::as_str);
    if kind.is_some_and(|kind| kind != "default") && !fields.contains_key("rope_scaling") {
        fields.insert("rope_scaling".to_owned(), full.clone());
    }
    config
}

/// The base of the rotation.
fn rope_theta(rope: Option<&Value>) -> Option<Value> {
    rope.and_then(|rope| rope.get("rope_theta")).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(config: &Value) -> String {
        NetworkConfig::parse("m", config.to_string().as_bytes())
            .unwrap_err()
            .message
    }

    #[test]
    fn a_refusal_says_what_was_found_and_what_can_be_computed() {
        let message = refusal(&json!({"model_type": "deberta-v2"}));
        assert!(
            message.contains("`deberta-v2`") && message.contains("xlm-roberta"),
            "{message}"
        );
        let nomic = json!({"model_type": "nomic_bert", "activation_function": "gelu", "n_embd": 8});
        let message = refusal(&nomic);
        assert!(
            message.contains("`gelu`") && message.contains("swiglu"),
            "{message}"
        );
        let experts = json!({"model_type": "nomic_bert", "activation_function": "swiglu",
            "n_embd": 8, "moe_every_n_layers": 2});
        assert!(refusal(&experts).contains("mixture of experts"));
    }

    #[test]
    fn a_roberta_begins_behind_the_position_of_its_padding() {
        let config = json!({"model_type": "xlm-roberta", "hidden_size": 8, "hidden_act": "gelu",
            "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 16,
            "vocab_size": 10, "max_position_embeddings": 514, "type_vocab_size": 1,
            "layer_norm_eps": 1e-5, "pad_token_id": 1});
        let parsed = NetworkConfig::parse("m", config.to_string().as_bytes()).unwrap();
        let NetworkConfig::Bert(shape) = &parsed else {
            panic!("{parsed:?}");
        };
        let found = (shape.first_position, shape.positions, shape.token_types);
        assert_eq!(found, (2, 512, 1));
        assert_eq!(
            (parsed.positions(), parsed.engine()),
            (512, Engine::Kernels)
        );
    }

    #[test]
    fn angles_are_read_under_their_older_and_their_newer_names() {
        let newer = json!({"rope_parameters": {
            "full_attention": {"rope_type": "default", "rope_theta": 3.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 4.0}}});
        let read = with_older_names(newer);
        assert_eq!(
            (&read["rope_theta"], &read["global_rope_theta"]),
            (&json!(3.0), &json!(3.0))
        );
        assert_eq!(read["rope_local_base_freq"], json!(4.0));
        assert!(read.get("rope_scaling").is_none());
        let flat =
            json!({"rope_theta": 9.0, "rope_parameters": {"rope_type": "yarn", "rope_theta": 5.0}});
        let read = with_older_names(flat);
        assert_eq!(read["rope_theta"], json!(9.0));
        assert_eq!(read["rope_scaling"]["rope_type"], json!("yarn"));
    }
}
