//! A model that is loaded on first use.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::Embedder;
use local_agent_text::error::Result;

/// A model that is loaded on first use and kept. Any number of threads may share it. The first
/// thread that needs it loads it, and the others wait.
pub struct LazyLoaded<'m, T> {
    load: Box<dyn Fn() -> Result<T> + Send + Sync + 'm>,
    loaded: Mutex<Option<Arc<T>>>,
}

/// An encoder that is loaded on first use.
pub type LazyEmbedder<'m> = LazyLoaded<'m, Embedder>;

impl<'m, T> LazyLoaded<'m, T> {
    /// A model that `load` returns. If it fails, the next caller tries again.
    pub fn new(load: impl Fn() -> Result<T> + Send + Sync + 'm) -> Self {
        Self {
            load: Box::new(load),
            loaded: Mutex::default(),
        }
    }

    /// The loaded model.
    ///
    /// Errors: those of loading.
    pub fn get(&self) -> Result<Arc<T>> {
        // The value is assigned as a whole, so a panic cannot leave it half-changed.
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = &*loaded {
            return Ok(Arc::clone(model));
        }
        let model = Arc::new((self.load)()?);
        *loaded = Some(Arc::clone(&model));
        Ok(model)
    }
}

/// The model for one question; records whether the question needed it.
pub struct QuestionEmbedder<'a> {
    shared: &'a LazyEmbedder<'a>,
    taken: OnceLock<Arc<Embedder>>,
    was_needed: AtomicBool,
}

impl<'a> QuestionEmbedder<'a> {
    /// Prepares a question; nothing is loaded yet.
    pub fn new(shared: &'a LazyEmbedder<'a>) -> Self {
        Self {
            shared,
            taken: OnceLock::new(),
            was_needed: AtomicBool::new(false),
        }
    }

    /// The loaded model.
    ///
    /// Errors: those of loading.
    pub fn get(&self) -> Result<&Embedder> {
        self.was_needed.store(true, Ordering::Relaxed);
        match self.taken.get() {
            Some(embedder) => Ok(embedder),
            None => {
                let embedder = self.shared.get()?;
                Ok(self.taken.get_or_init(|| embedder))
            }
        }
    }

    /// Whether the question needed the model, whether or not it could be loaded.
    pub fn was_needed(&self) -> bool {
        self.was_needed.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;
    use local_agent_text::error::Failure;

    #[test]
    fn a_failure_is_not_kept_and_a_need_is_known() {
        let tries = AtomicUsize::new(0);
        let shared: LazyEmbedder<'_> = LazyLoaded::new(|| {
            tries.fetch_add(1, Ordering::Relaxed);
            Err(Failure::internal("no model"))
        });
        let question = QuestionEmbedder::new(&shared);
        assert!(!question.was_needed() && tries.load(Ordering::Relaxed) == 0);
        assert!(question.get().is_err() && question.get().is_err());
        assert!(question.was_needed() && tries.load(Ordering::Relaxed) == 2);
    }
}
