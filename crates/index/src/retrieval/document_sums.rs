//! The sums of the vectors of documents, kept between the questions of a server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use crate::ids::DocumentId;
use crate::vectors::VectorSum;

/// Maximum number of kept sums. With 384 dimensions that is 12 MB.
const MAX_KEPT: usize = 8_192;

/// A document and the sum of the vectors of its first chunks.
pub(super) type DocumentSum = (DocumentId, Arc<VectorSum>);

/// Document id → its sum, `None` for a document of one chunk. Valid for one commit.
#[derive(Default)]
pub(super) struct DocumentSums(Mutex<HashMap<DocumentId, Option<Arc<VectorSum>>, RandomState>>);

impl DocumentSums {
    /// The kept sums of those of these documents that have several chunks, and the documents of
    /// which nothing is kept.
    pub(super) fn of(&self, documents: &[DocumentId]) -> (Vec<DocumentSum>, Vec<DocumentId>) {
        let kept = self.hold();
        let (mut sums, mut missing) = (Vec::with_capacity(documents.len()), Vec::new());
        for document in documents {
            match kept.get(document) {
                Some(sum) => sums.extend(sum.clone().map(|sum| (*document, sum))),
                None => missing.push(*document),
            }
        }
        (sums, missing)
    }

    /// Keeps the sums of `documents`. Those without a sum have one chunk. If too many are kept, the
    /// earlier ones are dropped.
    pub(super) fn keep(&self, documents: &[DocumentId], sums: &[DocumentSum]) {
        let mut kept = self.hold();
        if kept.len() >= MAX_KEPT {
            kept.clear();
        }
        kept.extend(documents.iter().map(|document| (*document, None)));
        kept.extend(
            sums.iter()
                .map(|(document, sum)| (*document, Some(Arc::clone(sum)))),
        );
    }

    fn hold(&self) -> MutexGuard<'_, HashMap<DocumentId, Option<Arc<VectorSum>>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
