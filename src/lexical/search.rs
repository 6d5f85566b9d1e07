//! Ranking: BM25F over a document, BM25F over a chunk, added up.
//!
//! For each term the postings of all fields are gathered into one weighted frequency an entry, which saturates once
//! (Robertson, Zaragoza, Taylor 2004, "Simple BM25 extension to multiple weighted fields"). A document's frequency in
//! its body is the sum over its chunks. Statistics count only what is alive, so an index that grew by a hundred
//! commits ranks exactly as one that was written at once.

use std::collections::{BTreeMap, HashSet};

use tantivy::postings::Postings as _;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet as _, TERMINATED, Term};

use super::analyze::{Analyzer, Token};
use super::reader::{Reader, Segment};
use super::{Hit, Query, failure, guarded};
use crate::error::Result;
use crate::types::IdSet;

/// What the parts of a score are worth. The defaults were chosen on development sets of four kinds (scientific
/// abstracts, technical documentation, encyclopedia paragraphs in English and in Chinese); one setting for all.
#[derive(Debug, Clone, Copy)]
pub struct Weights {
    /// Saturation of frequencies.
    pub k1: f32,
    /// Length normalisation of documents, and of chunks.
    pub b_doc: f32,
    pub b_chunk: f32,
    pub title: f32,
    pub aliases: f32,
    pub headings: f32,
    pub chunk_headings: f32,
    pub path: f32,
    pub tags: f32,
    pub anchors: f32,
    /// Share of the document's score in its chunks' scores.
    pub doc_share: f32,
    /// Of a compound: each part, and the whole.
    pub part: f32,
    pub whole: f32,
    /// For the same form of the word, on top of the stem.
    pub exact: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b_doc: 0.75,
            b_chunk: 0.75,
            title: 2.0,
            aliases: 1.0,
            headings: 0.5,
            chunk_headings: 1.5,
            path: 0.5,
            tags: 0.5,
            anchors: 0.5,
            doc_share: 1.0,
            part: 0.5,
            whole: 0.5,
            exact: 0.25,
        }
    }
}

/// How common a term of a query is.
#[derive(Debug, Clone, PartialEq)]
pub struct TermStat {
    /// The term as [`super::terms`] gives it.
    pub term: String,
    /// Documents that hold it, in any field.
    pub doc_freq: u64,
    /// All documents.
    pub docs: u64,
}

impl TermStat {
    /// BM25's inverse document frequency: ln(1 + (N − n + ½) / (n + ½)); positive.
    pub fn idf(&self) -> f32 {
        idf(self.doc_freq, self.docs)
    }
}

/// The share, 0 to 1, of the terms in `stats`, weighted by their idf, that stand in `text`; 0 without terms.
pub fn coverage(stats: &[TermStat], text: &str) -> f32 {
    let mut analyzer = Analyzer::default();
    let mut present = HashSet::new();
    analyzer.analyze(text, &mut |token| match token {
        Token::Word { stem, .. } | Token::Whole { stem, .. } => drop(present.insert(stem.to_owned())),
        Token::Char { text, .. } | Token::Pair(text) => drop(present.insert(text.to_owned())),
    });
    let (mut found, mut all) = (0.0, 0.0);
    for stat in stats {
        let idf = stat.idf();
        all += idf;
        if present.contains(&stat.term) {
            found += idf;
        }
    }
    if all > 0.0 { found / all } else { 0.0 }
}

/// Which form of a word a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    Stem,
    Exact,
}

/// A query, analysed.
#[derive(Debug, Default)]
struct Plan {
    terms: BTreeMap<(Form, String), f32>,
    phrases: Vec<Vec<String>>,
    excluded_stems: Vec<String>,
    excluded_phrases: Vec<Vec<String>>,
}

impl Plan {
    fn new(query: &Query, weights: &Weights) -> Self {
        let mut analyzer = Analyzer::default();
        let mut plan = Self::default();
        let mut stops = Vec::new();
        for text in [query.words.join(" ")].iter().chain(&query.phrases) {
            analyzer.analyze(text, &mut |token| plan.weigh(&token, weights, &mut stops));
        }
        if plan.terms.is_empty() {
            plan.terms = stops.into_iter().map(|word| ((Form::Exact, word), 1.0)).collect();
        }
        plan.phrases = query.phrases.iter().map(|text| sequence(&mut analyzer, text)).collect();
        plan.excluded_phrases = query.excluded_phrases.iter().map(|text| sequence(&mut analyzer, text)).collect();
        for word in &query.excluded {
            plan.excluded_phrases.push(sequence(&mut analyzer, word));
            let mut lone = Vec::new();
            let mut words = 0;
            analyzer.analyze(word, &mut |token| match token {
                Token::Whole { stem, .. } => lone.push(stem.to_owned()),
                Token::Word { stem, part: false, .. } => {
                    words += 1;
                    lone.push(stem.to_owned());
                }
                _ => {}
            });
            if words <= 1 {
                plan.excluded_stems.append(&mut lone);
            }
        }
        plan.phrases.retain(|phrase| !phrase.is_empty());
        plan.excluded_phrases.retain(|phrase| !phrase.is_empty());
        plan
    }

    fn weigh(&mut self, token: &Token<'_>, weights: &Weights, stops: &mut Vec<String>) {
        match *token {
            Token::Word { exact, stop: true, .. } => stops.push(exact.to_owned()),
            Token::Word { exact, stem, part, .. } => {
                let weight = if part { weights.part } else { 1.0 };
                self.add(Form::Stem, stem, weight);
                self.add(Form::Exact, exact, weight * weights.exact);
            }
            Token::Whole { stem, .. } => self.add(Form::Stem, stem, weights.whole),
            Token::Char { text, alone: true } => self.add(Form::Exact, text, 1.0),
            Token::Char { .. } => {}
            Token::Pair(text) => self.add(Form::Stem, text, 1.0),
        }
    }

    fn add(&mut self, form: Form, text: &str, weight: f32) {
        if weight > 0.0 {
            *self.terms.entry((form, text.to_owned())).or_default() += weight;
        }
    }
}

/// The exact forms of `text`, one a position.
fn sequence(analyzer: &mut Analyzer, text: &str) -> Vec<String> {
    let mut sequence = Vec::new();
    analyzer.analyze(text, &mut |token| match token {
        Token::Word { exact, .. } => sequence.push(exact.to_owned()),
        Token::Char { text, .. } => sequence.push(text.to_owned()),
        Token::Whole { .. } | Token::Pair(_) => {}
    });
    sequence
}

/// What scoring keeps for one segment; all indexed by entry.
struct Scores<'a> {
    segment: &'a Segment,
    /// Weighted frequency of the term at hand; 0 elsewhere.
    frequency: Vec<f32>,
    /// Entries whose `frequency` is not 0.
    touched: Vec<u32>,
    score: Vec<f32>,
}

impl Reader {
    /// The `k` best chunks, best first; equal scores: smaller chunk key first. Only documents in `filter` (ids) are
    /// looked at when one is given: it is applied before the cut. A blank query finds nothing.
    pub fn search(&self, query: &Query, k: usize, filter: Option<&IdSet>) -> Result<Vec<Hit>> {
        self.search_with(query, k, filter, &Weights::default())
    }

    /// [`Reader::search`] with other weights.
    pub fn search_with(&self, query: &Query, k: usize, filter: Option<&IdSet>, weights: &Weights) -> Result<Vec<Hit>> {
        if k == 0 || query.is_blank() {
            return Ok(Vec::new());
        }
        guarded(|| self.ranked(&Plan::new(query, weights), k, filter, weights).map_err(|error| failure(&error)))
    }

    /// For every term of words and phrases, how common it is, in order of appearance; each once.
    pub fn term_stats(&self, query: &Query) -> Result<Vec<TermStat>> {
        let text = query.words.iter().chain(&query.phrases).map(String::as_str).collect::<Vec<_>>().join("\n");
        let mut seen = HashSet::new();
        let terms: Vec<_> = super::terms(&text).into_iter().filter(|term| seen.insert(term.clone())).collect();
        guarded(|| {
            let mut scores = self.scores();
            let mut stats = Vec::with_capacity(terms.len());
            for term in terms {
                let mut doc_freq = 0;
                for scores in &mut scores {
                    for form in [Form::Stem, Form::Exact] {
                        self.gather(scores, form, &term, &Weights::default()).map_err(|error| failure(&error))?;
                    }
                    doc_freq += scores.count().0;
                    scores.reset();
                }
                stats.push(TermStat { term, doc_freq, docs: self.totals.docs });
            }
            Ok(stats)
        })
    }

    fn scores(&self) -> Vec<Scores<'_>> {
        self.segments.iter().map(Scores::new).collect()
    }

    fn ranked(&self, plan: &Plan, k: usize, filter: Option<&IdSet>, weights: &Weights) -> tantivy::Result<Vec<Hit>> {
        let mut scores = self.scores();
        for ((form, text), weight) in &plan.terms {
            self.score_term(&mut scores, *form, text, *weight, weights)?;
        }
        let mut found = Vec::new();
        for scores in &scores {
            let allowed = self.allowed(scores.segment, plan)?;
            scores.collect(filter, allowed.as_deref(), weights.doc_share, &mut found);
        }
        Ok(best(found, k))
    }

    fn score_term(
        &self,
        all: &mut [Scores<'_>],
        form: Form,
        text: &str,
        weight: f32,
        weights: &Weights,
    ) -> tantivy::Result<()> {
        let (mut docs, mut chunks) = (0, 0);
        for scores in all.iter_mut() {
            self.gather(scores, form, text, weights)?;
            let (d, c) = scores.count();
            docs += d;
            chunks += c;
        }
        let doc_idf = weight * idf(docs, self.totals.docs);
        let chunk_idf = weight * idf(chunks, self.totals.chunks);
        for scores in all {
            scores.add_up(doc_idf, chunk_idf, weights.k1);
            scores.reset();
        }
        Ok(())
    }

    /// Gathers the weighted frequencies of one term in one segment.
    fn gather(&self, scores: &mut Scores<'_>, form: Form, text: &str, weights: &Weights) -> tantivy::Result<()> {
        let fields = &self.fields.stems;
        let norm = |length: u32, sum: u64, count: u64, b: f32| {
            let average = (sum as f32 / count.max(1) as f32).max(1.0);
            1.0 - b + b * length as f32 / average
        };
        let totals = self.totals;
        let segment = scores.segment;
        let mut in_body = |at: u32, frequency: f32| {
            let back = segment.back[at as usize];
            let doc = at - back;
            if back > 0 {
                let length = segment.length[at as usize];
                scores.touch(at, frequency / norm(length, totals.chunk_length, totals.chunks, weights.b_chunk));
            }
            let length = segment.length[doc as usize];
            scores.touch(doc, frequency / norm(length, totals.doc_length, totals.docs, weights.b_doc));
        };
        if form == Form::Stem {
            each(segment, fields.text, text, &mut in_body)?;
        }
        each(segment, self.fields.exact, text, |at, frequency| {
            // On a document's entry the stems of each field stand in the field.
            if form == Form::Exact || segment.is_chunk(at) {
                in_body(at, frequency);
            }
        })?;
        if form == Form::Exact {
            return Ok(());
        }
        each(segment, fields.headings, text, |at, frequency| {
            let weight = if segment.back[at as usize] > 0 { weights.chunk_headings } else { weights.headings };
            scores.touch(at, weight * frequency);
        })?;
        for (field, weight) in [
            (fields.title, weights.title),
            (fields.aliases, weights.aliases),
            (fields.path, weights.path),
            (fields.tags, weights.tags),
            (fields.anchors, weights.anchors),
        ] {
            each(segment, field, text, |at, frequency| scores.touch(at, weight * frequency))?;
        }
        Ok(())
    }

    /// Which entries phrases and exclusions let through; `None`: all.
    fn allowed(&self, segment: &Segment, plan: &Plan) -> tantivy::Result<Option<Vec<bool>>> {
        if plan.phrases.is_empty() && plan.excluded_phrases.is_empty() && plan.excluded_stems.is_empty() {
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
        let mut excluded = vec![false; entries];
        for phrase in &plan.excluded_phrases {
            self.each_phrase(segment, phrase, |at| excluded[doc_of(at)] = true)?;
        }
        let f = &self.fields.stems;
        for stem in &plan.excluded_stems {
            for field in [self.fields.exact, f.text, f.headings, f.title, f.aliases, f.path, f.tags, f.anchors] {
                each(segment, field, stem, |at, _| excluded[doc_of(at)] = true)?;
            }
        }
        for at in 0..entries as u32 {
            allowed[at as usize] &= !excluded[doc_of(at)];
        }
        Ok(Some(allowed))
    }

    /// Every entry in which the words of `phrase` follow one another.
    fn each_phrase(&self, segment: &Segment, phrase: &[String], mut found: impl FnMut(u32)) -> tantivy::Result<()> {
        let index = segment.reader.inverted_index(self.fields.exact)?;
        let mut lists = Vec::with_capacity(phrase.len());
        for word in phrase {
            let term = Term::from_field_text(self.fields.exact, word);
            match index.read_postings(&term, IndexRecordOption::WithFreqsAndPositions)? {
                Some(list) => lists.push(list),
                None => return Ok(()),
            }
        }
        let Some((first, others)) = lists.split_first_mut() else { return Ok(()) };
        let (mut starts, mut next) = (Vec::new(), Vec::new());
        let mut at = first.doc();
        'entries: while at != TERMINATED {
            for list in others.iter_mut() {
                let other = if list.doc() < at { list.seek(at) } else { list.doc() };
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

/// Hands every living entry that holds `text` in `field`, and how often, to `with`.
fn each(segment: &Segment, field: Field, text: &str, mut with: impl FnMut(u32, f32)) -> tantivy::Result<()> {
    let index = segment.reader.inverted_index(field)?;
    let term = Term::from_field_text(field, text);
    let Some(mut postings) = index.read_postings(&term, IndexRecordOption::WithFreqs)? else { return Ok(()) };
    let mut at = postings.doc();
    while at != TERMINATED {
        if !segment.reader.is_deleted(at) {
            with(at, postings.term_freq() as f32);
        }
        at = postings.advance();
    }
    Ok(())
}

fn idf(with: u64, of: u64) -> f32 {
    let (with, of) = (with as f32, of.max(with) as f32);
    (1.0 + (of - with + 0.5) / (with + 0.5)).ln()
}

/// A chunk that may be among the best.
struct Candidate<'a> {
    segment: &'a Segment,
    at: u32,
    score: f32,
    chunk_score: f32,
    doc_score: f32,
}

impl<'a> Scores<'a> {
    fn new(segment: &'a Segment) -> Self {
        let entries = segment.back.len();
        Self { segment, frequency: vec![0.0; entries], touched: Vec::new(), score: vec![0.0; entries] }
    }

    fn touch(&mut self, at: u32, frequency: f32) {
        let sum = &mut self.frequency[at as usize];
        if *sum == 0.0 && frequency > 0.0 {
            self.touched.push(at);
        }
        *sum += frequency;
    }

    /// Touched documents and chunks.
    fn count(&self) -> (u64, u64) {
        let chunks = self.touched.iter().filter(|at| self.segment.is_chunk(**at)).count();
        ((self.touched.len() - chunks) as u64, chunks as u64)
    }

    fn add_up(&mut self, doc_idf: f32, chunk_idf: f32, k1: f32) {
        for &at in &self.touched {
            let frequency = self.frequency[at as usize];
            let idf = if self.segment.is_chunk(at) { chunk_idf } else { doc_idf };
            self.score[at as usize] += idf * (k1 + 1.0) * frequency / (k1 + frequency);
        }
    }

    fn reset(&mut self) {
        for at in self.touched.drain(..) {
            self.frequency[at as usize] = 0.0;
        }
    }

    /// Chunks that match, and of documents that match outside their chunks the first chunk.
    fn collect(
        &self,
        filter: Option<&IdSet>,
        allowed: Option<&[bool]>,
        doc_share: f32,
        found: &mut Vec<Candidate<'a>>,
    ) {
        let segment = self.segment;
        let entries = segment.back.len() as u32;
        let mut at = 0;
        while at < entries {
            let doc = at;
            at += 1;
            let mut first = None;
            let before = found.len();
            let doc_score = self.score[doc as usize];
            let wanted = doc_score > 0.0 && filter.is_none_or(|ids| ids.contains(segment.doc_id(doc)));
            while at < entries && segment.back[at as usize] > 0 {
                let chunk_score = self.score[at as usize];
                let passes = wanted && allowed.is_none_or(|a| a[at as usize]);
                if passes {
                    first = first.or(Some(at));
                }
                if passes && chunk_score > 0.0 {
                    let score = chunk_score + doc_share * doc_score;
                    found.push(Candidate { segment, at, score, chunk_score, doc_score });
                }
                at += 1;
            }
            if let Some(at) = first.filter(|_| found.len() == before) {
                found.push(Candidate { segment, at, score: doc_share * doc_score, chunk_score: 0.0, doc_score });
            }
        }
    }
}

fn best(mut found: Vec<Candidate<'_>>, k: usize) -> Vec<Hit> {
    // Keys are read only for those that can still win.
    if found.len() > k {
        let (_, last, _) = found.select_nth_unstable_by(k - 1, |a, b| b.score.total_cmp(&a.score));
        let least = last.score;
        found.retain(|candidate| candidate.score >= least);
    }
    let mut hits: Vec<Hit> = found
        .into_iter()
        .map(|c| Hit {
            chunk_id: c.segment.chunk_id(c.at),
            doc_id: c.segment.doc_id(c.at),
            key: c.segment.key(c.at),
            score: c.score,
            chunk_score: c.chunk_score,
            doc_score: c.doc_score,
        })
        .collect();
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    hits.truncate(k);
    hits
}
