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
use super::scores::{Finalists, Most, Scores, best};
use super::weights::WEIGHTS;
use super::{LexicalHit, Query, failure, guarded};
use crate::ids::{DocumentId, IdSet};
use local_agent_text::error::Result;

impl Reader {
    /// The `k` best chunks, best first; for equal scores, the smaller chunk key first. If there is
    /// a `filter` (ids), only its documents are considered: it is applied before the cut. A blank
    /// query finds nothing.
    pub fn search(
        &self,
        query: &Query,
        k: usize,
        filter: Option<&IdSet<DocumentId>>,
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
    pub fn excluded(&self, query: &Query) -> Result<IdSet<DocumentId>> {
        guarded(|| {
            self.documents_without(&QueryPlan::new(query, &self.languages))
                .map_err(|error| failure(&error))
        })
    }

    fn documents_without(&self, plan: &QueryPlan) -> tantivy::Result<IdSet<DocumentId>> {
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
        filter: Option<&IdSet<DocumentId>>,
    ) -> tantivy::Result<Vec<LexicalHit>> {
        let mut scores = self.scores();
        let mut most = Most::default();
        for ((form, text), wanted) in &plan.terms {
            self.score_term(&mut scores, *form, text, wanted, &mut most)?;
        }
        let mut found = Finalists::new(k);
        for scores in &scores {
            let allowed = self.allowed(scores.segment, plan)?;
            scores.collect(filter, allowed.as_deref(), &mut found);
        }
        Ok(best(found, &most))
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
                let more = frequency / norm - scores.frequency(at);
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
