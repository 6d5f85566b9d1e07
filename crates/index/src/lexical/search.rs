//! Ranking: the sum of BM25F for a document and BM25F for a chunk.
//!
//! For each term the postings of all fields are combined into one weighted frequency per entry,
//! which saturates once (Robertson, Zaragoza, Taylor 2004, "Simple BM25 extension to multiple
//! weighted fields"). A document's frequency in its body is the sum over its chunks. Statistics
//! count only live entries, so an index that grew over a hundred commits ranks exactly like one
//! that was written at once.

use std::collections::BTreeSet;

use tantivy::postings::Postings as _;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, TERMINATED, Term};

use super::plan::{Form, QueryPlan, QueryTerm};
use super::reader::{LexicalSegment, Reader};
use super::weights::WEIGHTS;
use super::{LexicalHit, Query, failure, guarded};
use local_agent_text::error::Result;
use local_agent_text::types::IdSet;

/// The scoring state for one segment; all vectors are indexed by entry.
struct Scores<'a> {
    segment: &'a LexicalSegment,
    /// Weighted frequency of the current term; 0 elsewhere.
    frequency: Vec<f32>,
    /// Entries whose `frequency` is not 0.
    touched: Vec<u32>,
    score: Vec<f32>,
    /// Documents whose `score` is not 0.
    matched: Vec<u32>,
    /// Weight of the terms that an entry contains, counting each once.
    covered: Vec<f32>,
}

impl Reader {
    /// The `k` best chunks, best first; for equal scores, the smaller chunk key first. If there is
    /// a `filter` (ids), only its documents are considered: it is applied before the cut. A blank
    /// query finds nothing.
    pub fn search(
        &self,
        query: &Query,
        k: usize,
        filter: Option<&IdSet>,
    ) -> Result<Vec<LexicalHit>> {
        if k == 0 || query.is_blank() {
            return Ok(Vec::new());
        }
        guarded(|| {
            self.ranked(&QueryPlan::new(query, &self.languages), k, filter)
                .map_err(|error| failure(&error))
        })
    }

    /// The documents that `query` excludes. [`Self::search`] leaves out the same ones.
    pub fn excluded(&self, query: &Query) -> Result<IdSet> {
        guarded(|| {
            self.documents_without(&QueryPlan::new(query, &self.languages))
                .map_err(|error| failure(&error))
        })
    }

    fn documents_without(&self, plan: &QueryPlan) -> tantivy::Result<IdSet> {
        let mut documents = IdSet::default();
        for segment in &self.segments {
            let Some(excluded) = self.excluded_in(segment, plan)? else {
                continue;
            };
            for (at, _) in (0..).zip(&excluded).filter(|(_, excluded)| **excluded) {
                if !segment.reader.is_deleted(at) {
                    documents.insert(segment.doc_id(at));
                }
            }
        }
        Ok(documents)
    }

    /// For each of `terms` (stems), how many documents contain it in any field.
    pub(super) fn doc_freqs(&self, terms: &[String]) -> tantivy::Result<Vec<u64>> {
        let mut all = self.scores();
        let mut freqs = Vec::with_capacity(terms.len());
        for term in terms {
            let mut docs = 0;
            for scores in &mut all {
                for form in [Form::Stem, Form::Exact] {
                    self.gather(scores, form, term)?;
                }
                docs += scores.count().0;
                scores.reset();
            }
            freqs.push(docs);
        }
        Ok(freqs)
    }

    fn scores(&self) -> Vec<Scores<'_>> {
        self.segments.iter().map(Scores::new).collect()
    }

    fn ranked(
        &self,
        plan: &QueryPlan,
        k: usize,
        filter: Option<&IdSet>,
    ) -> tantivy::Result<Vec<LexicalHit>> {
        let mut scores = self.scores();
        let mut most = Most::default();
        for ((form, text), wanted) in &plan.terms {
            self.score_term(&mut scores, *form, text, wanted, &mut most)?;
        }
        let mut found = Vec::new();
        for scores in &scores {
            let allowed = self.allowed(scores.segment, plan)?;
            scores.collect(filter, allowed.as_deref(), &mut found);
        }
        Ok(best(found, k, &most))
    }

    fn score_term(
        &self,
        all: &mut [Scores<'_>],
        form: Form,
        text: &str,
        wanted: &QueryTerm,
        most: &mut Most,
    ) -> tantivy::Result<()> {
        let (mut docs, mut chunks) = (0, 0);
        for scores in all.iter_mut() {
            self.gather(scores, form, text)?;
            self.gather_local(scores, &wanted.locals)?;
            let (d, c) = scores.count();
            docs += d;
            chunks += c;
        }
        let doc_idf = wanted.weight * idf(docs, self.totals.docs);
        let chunk_idf = wanted.weight * idf(chunks, self.totals.chunks);
        most.doc += doc_idf;
        most.chunk += chunk_idf;
        for scores in all {
            scores.add_up(doc_idf, chunk_idf);
            scores.reset();
        }
        Ok(())
    }

    /// Adds the matches of a word's stems in the language of the text that [`Self::gather`] did not
    /// find.
    fn gather_local(
        &self,
        scores: &mut Scores<'_>,
        locals: &BTreeSet<String>,
    ) -> tantivy::Result<()> {
        let segment = scores.segment;
        for text in locals {
            each(segment, self.fields.local, text, |at, frequency| {
                let doc = at - segment.back[at as usize];
                let norm = segment.norm[at as usize];
                let more = frequency / norm - scores.frequency[at as usize];
                if more > 0.0 && doc != at {
                    scores.touch(at, more);
                    scores.touch(doc, more * norm / segment.norm[doc as usize]);
                }
            })?;
        }
        Ok(())
    }

    /// Gathers the weighted frequencies of one term in one segment.
    fn gather(&self, scores: &mut Scores<'_>, form: Form, text: &str) -> tantivy::Result<()> {
        let fields = &self.fields.stems;
        let segment = scores.segment;
        let mut in_body = |at: u32, frequency: f32| {
            let back = segment.back[at as usize];
            let doc = at - back;
            if back > 0 {
                scores.touch(at, frequency / segment.norm[at as usize]);
            }
            scores.touch(doc, frequency / segment.norm[doc as usize]);
        };
        if form == Form::Stem {
            each(segment, fields.text, text, &mut in_body)?;
        }
        each(segment, self.fields.exact, text, |at, frequency| {
            // On a document's entry, each field contains all its stems.
            if form == Form::Exact || segment.is_chunk(at) {
                in_body(at, frequency);
            }
        })?;
        if form == Form::Exact {
            return Ok(());
        }
        each(segment, fields.headings, text, |at, frequency| {
            let weight = if segment.back[at as usize] > 0 {
                WEIGHTS.chunk_headings
            } else {
                WEIGHTS.headings
            };
            scores.touch(at, weight * frequency);
        })?;
        for (field, weight) in [
            (fields.title, WEIGHTS.title),
            (fields.aliases, WEIGHTS.aliases),
            (fields.path, WEIGHTS.path),
            (fields.tags, WEIGHTS.tags),
            (fields.anchors, WEIGHTS.anchors),
        ] {
            each(segment, field, text, |at, frequency| {
                scores.touch(at, weight * frequency);
            })?;
        }
        Ok(())
    }

    /// The entries that phrases and exclusions allow; `None`: all.
    fn allowed(
        &self,
        segment: &LexicalSegment,
        plan: &QueryPlan,
    ) -> tantivy::Result<Option<Vec<bool>>> {
        let excluded = self.excluded_in(segment, plan)?;
        if plan.phrases.is_empty() && excluded.is_none() {
            return Ok(None);
        }
        let entries = segment.back.len();
        let doc_of = |at: u32| (at - segment.back[at as usize]) as usize;
        let mut allowed = vec![true; entries];
        for phrase in &plan.phrases {
            let mut holds = vec![false; entries];
            self.each_phrase(segment, phrase, |at| holds[at as usize] = true)?;
            for at in 0..entries as u32 {
                allowed[at as usize] &= holds[at as usize] || holds[doc_of(at)];
            }
        }
        if let Some(excluded) = excluded {
            for at in 0..entries as u32 {
                allowed[at as usize] &= !excluded[doc_of(at)];
            }
        }
        Ok(Some(allowed))
    }

    /// For each entry of a document, whether the document is excluded; always `false` for a chunk.
    /// `None`: nothing is excluded.
    fn excluded_in(
        &self,
        segment: &LexicalSegment,
        plan: &QueryPlan,
    ) -> tantivy::Result<Option<Vec<bool>>> {
        if !plan.excludes() {
            return Ok(None);
        }
        let mut excluded = vec![false; segment.back.len()];
        let mut exclude = |at: u32| excluded[(at - segment.back[at as usize]) as usize] = true;
        for phrase in &plan.excluded_phrases {
            self.each_phrase(segment, phrase, &mut exclude)?;
        }
        let f = &self.fields.stems;
        for stem in &plan.excluded_stems {
            for field in [
                self.fields.exact,
                f.text,
                f.headings,
                f.title,
                f.aliases,
                f.path,
                f.tags,
                f.anchors,
            ] {
                each(segment, field, stem, |at, _| exclude(at))?;
            }
        }
        for stem in &plan.excluded_locals {
            each(segment, self.fields.local, stem, |at, _| exclude(at))?;
        }
        Ok(Some(excluded))
    }

    /// Every entry in which the words of `phrase` are adjacent and in order.
    fn each_phrase(
        &self,
        segment: &LexicalSegment,
        phrase: &[String],
        mut found: impl FnMut(u32),
    ) -> tantivy::Result<()> {
        let index = segment.reader.inverted_index(self.fields.exact)?;
        let mut lists = Vec::with_capacity(phrase.len());
        for word in phrase {
            let term = Term::from_field_text(self.fields.exact, word);
            match index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(list) => lists.push(list),
                None => return Ok(()),
            }
        }
        let Some((first, others)) = lists.split_first_mut() else {
            return Ok(());
        };
        let (mut starts, mut next) = (Vec::new(), Vec::new());
        let mut at = first.doc();
        'entries: while at != TERMINATED {
            for list in others.iter_mut() {
                let other = if list.doc() < at {
                    list.seek(at)
                } else {
                    list.doc()
                };
                if other != at {
                    at = first.seek(other);
                    continue 'entries;
                }
            }
            first.positions(&mut starts);
            for (offset, list) in (1..).zip(others.iter_mut()) {
                list.positions(&mut next);
                starts.retain(|start| next.binary_search(&(start + offset)).is_ok());
            }
            if !starts.is_empty() {
                found(at);
            }
            at = first.advance();
        }
        Ok(())
    }
}

/// Calls `with` for every live entry that contains `text` in `field`, with its frequency.
fn each(
    segment: &LexicalSegment,
    field: Field,
    text: &str,
    mut with: impl FnMut(u32, f32),
) -> tantivy::Result<()> {
    let index = segment.reader.inverted_index(field)?;
    let term = Term::from_field_text(field, text);
    let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else {
        return Ok(());
    };
    let mut at = postings.doc();
    while at != TERMINATED {
        if !segment.reader.is_deleted(at) {
            with(at, postings.term_freq() as f32);
        }
        at = postings.advance();
    }
    Ok(())
}

/// BM25's inverse document frequency: ln(1 + (N − n + ½) / (n + ½)).
pub(super) fn idf(with: u64, of: u64) -> f32 {
    let (with, of) = (with as f32, of.max(with) as f32);
    (1.0 + (of - with + 0.5) / (with + 0.5)).ln()
}

/// The total weight of all terms, for a document and for a chunk.
#[derive(Default)]
struct Most {
    doc: f32,
    chunk: f32,
}

/// A chunk that may be among the best.
struct ChunkCandidate<'a> {
    segment: &'a LexicalSegment,
    at: u32,
    score: f32,
    chunk_score: f32,
    doc_score: f32,
    chunk_covered: f32,
    doc_covered: f32,
}

impl<'a> Scores<'a> {
    fn new(segment: &'a LexicalSegment) -> Self {
        let entries = segment.back.len();
        Self {
            segment,
            frequency: vec![0.0; entries],
            touched: Vec::new(),
            score: vec![0.0; entries],
            matched: Vec::new(),
            covered: vec![0.0; entries],
        }
    }

    fn touch(&mut self, at: u32, frequency: f32) {
        let sum = &mut self.frequency[at as usize];
        if *sum == 0.0 && frequency > 0.0 {
            self.touched.push(at);
        }
        *sum += frequency;
    }

    /// The number of documents and chunks touched.
    fn count(&self) -> (u64, u64) {
        let chunks = self
            .touched
            .iter()
            .filter(|at| self.segment.is_chunk(**at))
            .count();
        ((self.touched.len() - chunks) as u64, chunks as u64)
    }

    /// Adds the gathered term to the scores.
    fn add_up(&mut self, doc_idf: f32, chunk_idf: f32) {
        let k1 = WEIGHTS.k1;
        for &at in &self.touched {
            let frequency = self.frequency[at as usize];
            let is_chunk = self.segment.is_chunk(at);
            let idf = if is_chunk { chunk_idf } else { doc_idf };
            let score = &mut self.score[at as usize];
            let more = idf * ((k1 + 1.0) * frequency / (k1 + frequency) + WEIGHTS.delta);
            if !is_chunk && *score == 0.0 && more > 0.0 {
                self.matched.push(at);
            }
            *score += more;
            self.covered[at as usize] += idf;
        }
    }

    fn reset(&mut self) {
        for at in self.touched.drain(..) {
            self.frequency[at as usize] = 0.0;
        }
    }

    /// Chunks that match; for documents that match only outside their chunks, the first chunk.
    fn collect(
        &self,
        filter: Option<&IdSet>,
        allowed: Option<&[bool]>,
        found: &mut Vec<ChunkCandidate<'a>>,
    ) {
        let segment = self.segment;
        let entries = segment.back.len() as u32;
        for &doc in self
            .matched
            .iter()
            .filter(|doc| filter.is_none_or(|ids| ids.contains(segment.doc_id(**doc))))
        {
            let mut at = doc + 1;
            let mut first = None;
            let before = found.len();
            let (doc_score, doc_covered) = (self.score[doc as usize], self.covered[doc as usize]);
            while at < entries && segment.back[at as usize] > 0 {
                let chunk_score = self.score[at as usize];
                let passes = allowed.is_none_or(|a| a[at as usize]);
                if passes {
                    first = first.or(Some(at));
                }
                if passes && chunk_score > 0.0 {
                    let score = chunk_score + WEIGHTS.doc_share * doc_score;
                    let chunk_covered = self.covered[at as usize];
                    found.push(ChunkCandidate {
                        segment,
                        at,
                        score,
                        chunk_score,
                        doc_score,
                        chunk_covered,
                        doc_covered,
                    });
                }
                at += 1;
            }
            if let Some(at) = first.filter(|_| found.len() == before) {
                found.push(ChunkCandidate {
                    segment,
                    at,
                    score: WEIGHTS.doc_share * doc_score,
                    chunk_score: 0.0,
                    doc_score,
                    chunk_covered: 0.0,
                    doc_covered,
                });
            }
        }
    }
}

fn best(mut found: Vec<ChunkCandidate<'_>>, k: usize, most: &Most) -> Vec<LexicalHit> {
    // Keys are read only for candidates that can still be among the best.
    if found.len() > k {
        let (_, last, _) = found.select_nth_unstable_by(k - 1, |a, b| b.score.total_cmp(&a.score));
        let least = last.score;
        found.retain(|candidate| candidate.score >= least);
    }
    let mut hits: Vec<LexicalHit> = found
        .into_iter()
        .map(|c| LexicalHit {
            chunk_id: c.segment.chunk_id(c.at),
            doc_id: c.segment.doc_id(c.at),
            key: c.segment.key(c.at),
            score: c.score,
            chunk_score: c.chunk_score,
            doc_score: c.doc_score,
            chunk_share: share_of_most(c.chunk_covered, most.chunk),
            doc_share: share_of_most(c.doc_covered, most.doc),
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    hits.truncate(k);
    hits
}

/// The score as a share of the greatest one; 0 if `most` is 0.
fn share_of_most(score: f32, most: f32) -> f32 {
    if most > 0.0 {
        (score / most).clamp(0.0, 1.0)
    } else {
        0.0
    }
}
