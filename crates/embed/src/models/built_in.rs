//! The models that are compiled in. The scripts in `models/` make their files.

use super::{ModelFiles, WEIGHTS};

/// The id of the model for English.
pub const EMBEDDED_ID: &str = "all-MiniLM-L6-v2";

/// The id of the model for many languages.
pub const MULTILINGUAL_ID: &str = "multilingual-e5-small";

/// A compiled-in model.
#[derive(Debug)]
pub(super) struct BuiltIn {
    pub id: &'static str,
    pub weights: &'static [u8],
    pub manifest: &'static [u8],
    /// The small files, by their path in the model's folder.
    small: &'static [(&'static str, &'static [u8])],
}

impl BuiltIn {
    /// The file of this name, including the weights.
    pub(super) fn file(&self, path: &str) -> Option<&'static [u8]> {
        if path == WEIGHTS {
            return Some(self.weights);
        }
        self.small
            .iter()
            .find(|(name, _)| *name == path)
            .map(|(_, bytes)| *bytes)
    }
}

#[cfg(any(feature = "embedded-model", feature = "multilingual-model"))]
macro_rules! built_in {
    ($id:literal, $($path:literal),+ $(,)?) => {
        BuiltIn {
            id: $id,
            weights: built_in!(@ $id, "model.safetensors"),
            manifest: built_in!(@ $id, "local-agent-model.json"),
            small: &[$(($path, built_in!(@ $id, $path)),)+],
        }
    };
    (@ $id:literal, $path:literal) => {
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/", $id, "/", $path))
    };
}

static BUILT_IN: &[BuiltIn] = &[
    #[cfg(feature = "embedded-model")]
    built_in!(
        "all-MiniLM-L6-v2",
        "config.json",
        "tokenizer.json",
        "modules.json",
        "1_Pooling/config.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
    ),
    #[cfg(feature = "multilingual-model")]
    built_in!(
        "multilingual-e5-small",
        "config.json",
        "tokenizer.unigram",
        "modules.json",
        "1_Pooling/config.json",
        "sentence_bert_config.json",
        "config_sentence_transformers.json",
    ),
];

/// The compiled-in model called `id`.
pub(super) fn find(id: &str) -> Option<&'static BuiltIn> {
    BUILT_IN.iter().find(|one| one.id == id)
}

/// The ids of the models that are compiled into this build.
pub fn built_in_ids() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|one| one.id)
}

/// The files of every model that is compiled in.
pub fn all_built_in() -> impl Iterator<Item = ModelFiles> {
    built_in_ids().filter_map(|id| ModelFiles::built_in(id).ok())
}
