//! Refines the ranking of the best candidates of a hybrid search, using the mean of each document's
//! chunks, and whether adjacent words of the question are adjacent in the chunk.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use foldhash::fast::RandomState;

use super::fuse::{Candidate, VectorSide, sort};
use super::{Engine, Request};
use crate::ids::{ChunkId, DocumentId};
use crate::profile::NeutralQuestion;
use crate::vectors::{Matrix, VectorSum};
use local_agent_text::error::Result;

/// How many of the best chunks are compared with their documents.
const HEAD: usize = 200;

/// Share of the document's mean in the likeness of a chunk. The whole file often shows its subject
/// more clearly than one chunk of it.
const DOCUMENT_SHARE: f32 = 0.4;

/// Maximum number of chunks per document for its mean, from its beginning.
const MOST_CHUNKS: usize = 256;

/// How many of the best documents are checked for adjacent words.
const NEIGHBOURS_IN: usize = 25;

/// How many of the best chunks are checked for them.
const CHUNKS_LOOKED_AT: usize = 50;

/// Bonus if all adjacent words of the question are adjacent.
const NEIGHBOURS: f32 = 0.08;

/// Chunk id → document id.
type DocumentOf = HashMap<ChunkId, DocumentId, RandomState>;

impl Engine {
    /// Ranks the first [`HEAD`] candidates again. Those after them keep their order and stay after
    /// them.
    pub(super) fn refine(
        &self,
        request: &Request<'_>,
        question: &NeutralQuestion,
        vectors: VectorSide<'_>,
        candidates: &mut [Candidate],
    ) -> Result<()> {
        let Some(matrix) = &self.projections.matrix else {
            return Ok(());
        };
        let (head, tail) = candidates.split_at_mut(candidates.len().min(HEAD));
        let ids: Vec<ChunkId> = head.iter().map(|candidate| candidate.chunk_id).collect();
        let documents = self.index.documents_of(&ids)?;
        if !vectors.hits.is_empty() {
            let means = self.document_likeness(matrix, question, vectors, &documents)?;
            mix_documents(vectors, head, &documents, &means);
        }
        for candidate in head.iter_mut() {
            candidate.score = candidate.mixed(request.fusion);
        }
        sort(head);
        self.reward_neighbours(request, &documents, head)?;
        sort(head);
        let last = head.last().map_or(0.0, |candidate| candidate.score);
        for candidate in tail {
            candidate.score = candidate.score.min(last);
        }
        Ok(())
    }

    /// Raises chunks of the best documents in which adjacent words of the question are adjacent.
    fn reward_neighbours(
        &self,
        request: &Request<'_>,
        documents: &DocumentOf,
        head: &mut [Candidate],
    ) -> Result<()> {
        let reader = self.lexical();
        let pairs = reader.map(|reader| reader.neighbours(request.query));
        let pairs = pairs.unwrap_or_default();
        let mut seen: HashSet<DocumentId, RandomState> = HashSet::default();
        for (at, candidate) in head.iter_mut().enumerate() {
            candidate.score /= 1.0 + NEIGHBOURS;
            if at >= CHUNKS_LOOKED_AT || pairs.is_empty() {
                continue;
            }
            let Some(document) = documents.get(&candidate.chunk_id) else {
                continue;
            };
            if seen.len() == NEIGHBOURS_IN && !seen.contains(document) {
                continue;
            }
            seen.insert(*document);
            let Some((_, text)) = self.index.embedding_text(candidate.chunk_id)? else {
                continue;
            };
            let share = pairs.share_in(&text);
            candidate.trace.neighbours = Some(share);
            candidate.score += NEIGHBOURS / (1.0 + NEIGHBOURS) * share;
        }
        Ok(())
    }

    /// The likeness of the mean of each document with several chunks.
    fn document_likeness(
        &self,
        matrix: &Matrix,
        question: &NeutralQuestion,
        vectors: VectorSide<'_>,
        documents: &DocumentOf,
    ) -> Result<HashMap<DocumentId, f32, RandomState>> {
        let mut ids: Vec<DocumentId> = documents.values().copied().collect();
        ids.sort_unstable();
        ids.dedup();
        let sums = self.document_sums(matrix, &ids)?;
        let cosines =
            matrix.cosines_of_sums(&question.vector, sums.iter().map(|(_, sum)| &**sum))?;
        let found = sums
            .iter()
            .zip(cosines)
            .filter_map(|((document, _), cosine)| {
                Some((*document, vectors.likeness(question.cosine(cosine?))))
            });
        Ok(found.collect())
    }

    /// The sums of the vectors of those of these documents that have several chunks.
    fn document_sums(
        &self,
        matrix: &Matrix,
        documents: &[DocumentId],
    ) -> Result<Vec<(DocumentId, Arc<VectorSum>)>> {
        let kept = &self.projections.document_sums;
        let (mut sums, missing) = kept.of(documents);
        if missing.is_empty() {
            return Ok(sums);
        }
        let chunks = self.index.chunks_by_document(&missing)?;
        let several: Vec<(DocumentId, Vec<ChunkId>)> = chunks
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|chunks| chunks.len() > 1)
            .map(|chunks| {
                let ids = chunks.iter().take(MOST_CHUNKS).map(|(_, id)| *id);
                (chunks[0].0, ids.collect())
            })
            .collect();
        let groups: Vec<Vec<ChunkId>> = several.iter().map(|(_, ids)| ids.clone()).collect();
        let new = matrix.sums_of(&groups).into_iter().map(Arc::new);
        let new: Vec<_> = several
            .iter()
            .map(|(document, _)| *document)
            .zip(new)
            .collect();
        kept.keep(&missing, &new);
        sums.extend(new);
        Ok(sums)
    }
}

/// Mixes the likeness of each candidate with that of its document, and scales the results again.
fn mix_documents(
    vectors: VectorSide<'_>,
    head: &mut [Candidate],
    documents: &DocumentOf,
    means: &HashMap<DocumentId, f32, RandomState>,
) {
    let best = head
        .iter()
        .map(|one| mixed_likeness(documents, means, one).0)
        .fold(-vectors.lift, f32::max);
    if best + vectors.lift <= 0.0 {
        return;
    }
    for candidate in head {
        let (likeness, mean) = mixed_likeness(documents, means, candidate);
        candidate.trace.document_likeness = mean;
        candidate.trace.vector_scaled = vectors.share(likeness, best);
    }
}

/// The likeness of a chunk mixed with the mean of its document, and that mean.
fn mixed_likeness(
    documents: &DocumentOf,
    means: &HashMap<DocumentId, f32, RandomState>,
    candidate: &Candidate,
) -> (f32, Option<f32>) {
    let own = candidate.trace.likeness;
    let mean = documents
        .get(&candidate.chunk_id)
        .and_then(|doc| means.get(doc));
    let mean = mean.filter(|_| candidate.trace.vector_weight > 0.0);
    let mixed = mean.map_or(own, |mean| {
        (1.0 - DOCUMENT_SHARE) * own + DOCUMENT_SHARE * mean
    });
    (mixed, mean.copied())
}
