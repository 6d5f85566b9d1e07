//! Documents whose text is most similar to that of one document, by vectors alone.

use std::collections::HashSet;

use super::{CANDIDATES, Engine};
use crate::ids::{ChunkId, DocumentId, IdSet};
use crate::store::ChunkRecord;
use local_agent_text::error::{ErrorCode, Failure, Result};

impl Engine {
    /// The best chunk of each of at most `limit` other documents, with its cosine to the mean of
    /// the document's own vectors, best first.
    ///
    /// # Errors
    /// `PHASE2_QUERY_ERROR` when there are no vectors, or none for this document, or it has no text.
    pub fn similar(
        &self,
        document_id: DocumentId,
        limit: usize,
    ) -> Result<Vec<(ChunkRecord, f32)>> {
        let Some(matrix) = &self.projections.matrix else {
            return Err(missing_vectors("there are no vectors to compare"));
        };
        let own = self.index.chunks_of(&IdSet::from_iter([document_id]))?;
        if own.is_empty() {
            let what = "this note has no text, so no other is like it";
            return Err(Failure::new(ErrorCode::QueryError, what).with_hint("name another note"));
        }
        let Some(mean) = matrix.mean_of(&own) else {
            return Err(missing_vectors("this document has no vector yet"));
        };
        let everything = self.index.all_chunk_ids()?;
        let others: IdSet<ChunkId> = everything.iter().filter(|id| !own.contains(*id)).collect();
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for hit in matrix.search(&mean, CANDIDATES, Some(&others))? {
            if found.len() == limit {
                break;
            }
            // A row that is gone, or is now another chunk, is not a hit.
            let Some(chunk) = self.index.chunks(&[hit.chunk_id])?.pop() else {
                continue;
            };
            if chunk.key == hit.key && seen.insert(chunk.document_id) {
                found.push((chunk, hit.score));
            }
        }
        Ok(found)
    }
}

/// The failure for missing vectors.
fn missing_vectors(what: &str) -> Failure {
    Failure::new(ErrorCode::QueryError, what).with_command("local-agent embed")
}
