//! The effective values after merging all layers, returned by type.

use std::collections::BTreeMap;

use super::findings::Origin;
use super::sources::TypedSource;
use super::typed::{Item, Typed, Val};
use super::words::Vocabulary;
use local_agent_text::error::{Failure, Result};

/// The effective value for every key that has one.
#[derive(Debug, Clone, Default)]
pub(super) struct Values(pub BTreeMap<&'static str, Typed>);

impl Values {
    pub(super) fn get(&self, key: &str) -> Option<&Typed> {
        self.0.get(key)
    }

    /// The origin of the value; the default if nobody typed one.
    pub(super) fn origin(&self, key: &str) -> Origin {
        self.get(key).map_or(Origin::Default, |t| t.origin.clone())
    }

    fn missing<T>(key: &str) -> Result<T> {
        Err(Failure::internal(format!(
            "the default configuration has no usable `{key}`"
        )))
    }

    pub(super) fn bool(&self, key: &str) -> Result<bool> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Bool(b)) => Ok(*b),
            _ => Self::missing(key),
        }
    }

    /// A whole number as any integer type. The table checks ranges, so a mismatch is a bug.
    pub(super) fn int<T: TryFrom<i64>>(&self, key: &str) -> Result<T> {
        self.opt_int(key)?.map_or_else(|| Self::missing(key), Ok)
    }

    pub(super) fn opt_int<T: TryFrom<i64>>(&self, key: &str) -> Result<Option<T>> {
        match self.get(key).map(|t| &t.val) {
            None => Ok(None),
            Some(Val::Int(n)) => T::try_from(*n).map(Some).or_else(|_| Self::missing(key)),
            _ => Self::missing(key),
        }
    }

    pub(super) fn float(&self, key: &str) -> Result<f32> {
        self.opt_float(key).map_or_else(|| Self::missing(key), Ok)
    }

    pub(super) fn opt_float(&self, key: &str) -> Option<f32> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Float(x)) => Some(*x as f32),
            _ => None,
        }
    }

    pub(super) fn opt_text(&self, key: &str) -> Option<&str> {
        match self.get(key).map(|t| &t.val) {
            Some(Val::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<&str> {
        self.opt_text(key).map_or_else(|| Self::missing(key), Ok)
    }

    /// The value that the key's word names.
    ///
    /// # Errors
    /// `INTERNAL_ERROR` for a word that is not in the vocabulary.
    pub(super) fn word<T: Copy>(&self, key: &str, words: &Vocabulary<T>) -> Result<T> {
        let word = self.text(key)?;
        words.value(word).ok_or_else(|| unknown_word(key, word))
    }

    pub(super) fn list(&self, key: &str) -> &[Item] {
        match self.get(key).map(|t| &t.val) {
            Some(Val::List(items)) => items,
            _ => &[],
        }
    }

    pub(super) fn words(&self, key: &str) -> Vec<String> {
        self.list(key).iter().map(|i| i.text.clone()).collect()
    }

    pub(super) fn sources(&self) -> &[TypedSource] {
        match self.get("sources").map(|t| &t.val) {
            Some(Val::Sources(sources)) => sources,
            _ => &[],
        }
    }
}

/// The failure for a word that passed the check of its key and names no value.
pub(super) fn unknown_word(key: &str, word: &str) -> Failure {
    Failure::internal(format!("`{key}` was checked and is `{word}`"))
}
