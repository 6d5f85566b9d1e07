//! Implements searching for `query` and MCP.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::corrections::{self, Correction};
use super::freshness::{are_fresh, are_gone, stale_files};
use super::library::Library;
use super::model_choice::question_in_another_language;
use super::privacy::{coverage_of, hides_notes, is_partial, owners_coverage, shown_chunks};
use super::query_lines::QueryLines;
use super::recency::Recency;
use super::remarks;
use super::scope::{Limits, leave_out_unconfigured, scope};
use super::weak_hits::{WeakHits, has_good};
use crate::config::{Config, context_of};
use local_agent_embed::embedding::QueryVector;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical;
use local_agent_index::retrieval::{
    self, Engine, Found, Fusion, Hit, Mode, Request, Scope, Stale, keep_shown, with_reranked,
    with_spare,
};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Number of the best hits from which the newest are chosen: all hits that a search considers.
const RECENT_AMONG: usize = 1_000;

/// The search request.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    /// The query as typed. A blank one is refused with `INVALID_QUERY`.
    pub text: &'a str,
    /// Whether `text` may contain "phrases", -exclusions, name:value filters and typed lines (see
    /// [`QueryLines`]); otherwise it is plain words.
    pub has_syntax: bool,
    /// Whether words, vectors or both are searched. Typed lines may narrow `Hybrid` to one of them.
    pub mode: Mode,
    /// How the lists are merged; `None`: as configured.
    pub fusion: Option<Fusion>,
    /// The documents to search; combined with the filters in `text`.
    pub limits: Limits,
    /// Maximum number of hits.
    pub limit: usize,
    /// Minimum chance of relevance of a hit; `None`: the calibrated floor.
    pub min_score: Option<f32>,
    /// Ranks newer notes before older ones; `None`: age does not count.
    pub recency: Option<Recency>,
}

/// The search result.
#[derive(Debug)]
pub struct Searched {
    /// The query that was searched, with the applied corrections.
    pub query: lexical::Query,
    /// The number of matching documents if the query has only filters; then each hit is the first
    /// chunk of one document.
    pub documents: Option<usize>,
    /// Words that no note contains, with alternatives.
    pub corrections: Vec<Correction>,
    /// The hits, best first, at most `limit`, with reports on what the search could not see.
    pub found: Found,
    /// For each hit, whether its file is unchanged since it was indexed; if not, the hit's text is
    /// the old one.
    pub fresh: Vec<bool>,
    /// For each hit, whether its file is gone.
    pub gone: Vec<bool>,
    /// For each hit, the configured description of its folder.
    pub contexts: Vec<Option<String>>,
    /// How parts of the query were read that may have been meant otherwise; sentences.
    pub remarks: Vec<String>,
    /// If no hit of a search of all notes is good: the words of the query that no note contains.
    pub words_in_no_note: Vec<String>,
    /// Which hits are weak.
    weak: WeakHits,
}

impl Searched {
    /// Leaves out the weak hits (see [`WeakHits`]), and returns how many there were.
    pub fn leave_out_weak_hits(&mut self) -> usize {
        let keeps: Vec<bool> = self
            .found
            .hits
            .iter()
            .map(|hit| !self.weak.is_weak(hit))
            .collect();
        self.keep(&keeps);
        keeps.len() - self.found.hits.len()
    }

    /// Keeps the best hit of each file, and of those the first `limit`.
    pub fn keep_best_of_each_file(&mut self, limit: usize) {
        let mut seen = HashSet::new();
        let hits = self.found.hits.iter();
        let keeps: Vec<bool> = hits
            .map(|hit| seen.insert((&hit.chunk.source, &hit.chunk.path)) && seen.len() <= limit)
            .collect();
        self.keep(&keeps);
    }

    /// Leaves out the hits without a `true`.
    fn keep(&mut self, keeps: &[bool]) {
        keep(&mut self.found.hits, keeps);
        keep(&mut self.fresh, keeps);
        keep(&mut self.gone, keeps);
        keep(&mut self.contexts, keeps);
    }

    /// The files of the hits in this range that changed or disappeared since they were indexed, as
    /// `source:path`, each once.
    pub fn index_stale(&self, hits: Range<usize>) -> Vec<String> {
        let shown = self
            .found
            .hits
            .iter()
            .zip(&self.fresh)
            .skip(hits.start)
            .take(hits.len());
        let old = shown.filter(|(_, fresh)| !**fresh);
        let mut files: Vec<String> = old
            .map(|(hit, _)| format!("{}:{}", hit.chunk.source, hit.chunk.path))
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// Searches the library, and checks the files of the hits. If no hit is good, it
/// checks all files of the searched sources, because unindexed text cannot be found.
///
/// A query with only filters lists the selected documents. A word that no note contains is
/// completed; if the search finds no good hit, it is replaced by the word of the index with the most
/// similar spelling, unless that finds nothing better. If the embedding server cannot
/// be used, a hybrid search continues with words alone, and reports it.
///
/// # Errors
/// `INVALID_QUERY` for a blank text; `INVALID_ARGS` for limits that match nothing; those of
/// [`Library::with`] and of the search itself.
pub fn search(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    wanted: &Search<'_>,
) -> Result<Searched> {
    not_blank(wanted.text)?;
    let limited = scope(config, &wanted.limits)?;
    let asked = Search {
        limit: with_spare(sandbox, wanted.limit),
        ..wanted.clone()
    };
    let sources = limited.sources.clone();
    let mut searched = match attempt(config, sandbox, library, &asked, limited.clone()) {
        Err(failure) if library.is_without_server(&failure) && wanted.mode == Mode::Hybrid => {
            let words_alone = library.words_alone(config);
            let mut searched = attempt(config, sandbox, &words_alone, &asked, limited)?;
            let missing = retrieval::without_meaning(&failure);
            searched.found.stale.push(missing);
            searched
        }
        done => done?,
    };
    keep_shown(sandbox, &mut searched.found.hits, wanted.limit.max(1));
    if config.client.is_none() && is_partial(&searched.found.coverage) {
        searched.found.coverage = library.with(|engine| owners_coverage(config, engine))?;
    }
    if config.client.is_some() {
        library.with(|engine| {
            searched.found.coverage = coverage_of(engine, &shown_chunks(engine.index(), sandbox)?);
            Ok(())
        })?;
        // The other documents may be private.
        let shown = searched.found.hits.len();
        searched.documents = searched.documents.map(|_| shown);
    }
    if !has_good(&searched.found.hits) {
        let stale = stale_files(config, &sources, sandbox);
        // Notes that are not indexed yet may hold them.
        if !stale.is_empty() {
            searched.words_in_no_note.clear();
        }
        searched.found.stale.extend(stale);
        if searched.found.top_cosine.is_some() {
            let unread = question_in_another_language(config, library, &words_of(&searched.query));
            searched.found.stale.extend(unread);
        }
    }
    searched.fresh = are_fresh(&searched.found.hits, sandbox);
    searched.gone = are_gone(&searched.found.hits, &searched.fresh, sandbox);
    searched.contexts = searched
        .found
        .hits
        .iter()
        .map(|hit| context_of_hit(config, hit))
        .collect();
    Ok(searched)
}

/// Keeps the items whose place says so.
fn keep<T>(items: &mut Vec<T>, keeps: &[bool]) {
    let mut keeps = keeps.iter();
    items.retain(|_| keeps.next().copied().unwrap_or(true));
}

/// The user's description of the folder of a hit.
fn context_of_hit(config: &Config, hit: &Hit) -> Option<String> {
    let (source, path) = (hit.chunk.source.as_str(), hit.chunk.path.as_str());
    context_of(&config.contexts, source, path).map(|context| context.text.clone())
}

/// The parsed request.
struct Understood {
    query: lexical::Query,
    /// The texts to embed, each separately.
    meanings: Vec<String>,
    mode: Mode,
}

/// One search with one library.
fn attempt(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    wanted: &Search<'_>,
    mut limited: Scope,
) -> Result<Searched> {
    library.with(|engine| {
        let mut understood = understand(engine, wanted)?;
        let left_out = leave_out_unconfigured(config, engine, &mut limited)?;
        remarks::check_days(&understood.query.filters)?;
        limited
            .filters
            .extend(understood.query.filters.iter().cloned());
        if understood.query.is_blank() && understood.meanings.is_empty() {
            let mut listed = list(engine, understood.query, &limited, wanted)?;
            report(left_out, &mut listed.found);
            return Ok(listed);
        }
        let mut corrections = corrections_of(config, sandbox, engine, &understood)?;
        let typed = understood.query.clone();
        understood.query = corrections::apply(&typed, &corrections);
        let (mut found, mut weak) = run(config, library, engine, wanted, &understood, &limited)?;
        // Who asks for all hits gets them for the words as typed.
        let is_found = match wanted.min_score {
            Some(_) => !found.hits.is_empty(),
            None => has_good(&found.hits),
        };
        if !is_found && corrections.iter().any(|one| !one.used) {
            let corrected = corrected(&understood, &typed, &corrections);
            let (better, weak_then) = run(config, library, engine, wanted, &corrected, &limited)?;
            if found.hits.is_empty() || has_good(&better.hits) {
                for one in &mut corrections {
                    one.used = true;
                }
                (understood, found, weak) = (corrected, better, weak_then);
            }
        }
        let words_in_no_note = match has_good(&found.hits) {
            true => Vec::new(),
            false => words_in_no_note(config, sandbox, engine, &understood, &limited)?,
        };
        report(left_out, &mut found);
        let mut remarks = remarks_of(wanted, &typed);
        if found.hits.is_empty() && fits_no_note(config, engine, &limited)? {
            remarks.push(remarks::no_note(&limited.filters));
        }
        Ok(Searched {
            query: understood.query,
            documents: None,
            corrections,
            found,
            fresh: Vec::new(),
            gone: Vec::new(),
            contexts: Vec::new(),
            remarks,
            words_in_no_note,
            weak,
        })
    })
}

/// The corrections of a query's words. A correction is a word of the index, which may be in a note
/// that is not shown: then there is none.
fn corrections_of(
    config: &Config,
    sandbox: &Sandbox,
    engine: &Engine,
    understood: &Understood,
) -> Result<Vec<Correction>> {
    let Some(reader) = engine.lexical() else {
        return Ok(Vec::new());
    };
    if understood.mode == Mode::Vector || config.client.is_some() {
        return Ok(Vec::new());
    }
    let corrections = corrections::of(reader, &understood.query)?;
    match !corrections.is_empty() && hides_notes(engine.index(), sandbox)? {
        true => Ok(Vec::new()),
        false => Ok(corrections),
    }
}

/// The words of a search of all notes that no note contains; none if a note is hidden from whoever
/// asks.
fn words_in_no_note(
    config: &Config,
    sandbox: &Sandbox,
    engine: &Engine,
    understood: &Understood,
    limited: &Scope,
) -> Result<Vec<String>> {
    let is_everything = limited.sources.is_empty()
        && limited.path_prefix.is_none()
        && limited.filters.is_empty()
        && understood.mode != Mode::Vector;
    let Some(reader) = engine.lexical() else {
        return Ok(Vec::new());
    };
    if config.client.is_some() || !is_everything {
        return Ok(Vec::new());
    }
    let words = corrections::in_no_note(reader, &understood.query)?;
    match !words.is_empty() && hides_notes(engine.index(), sandbox)? {
        true => Ok(Vec::new()),
        false => Ok(words),
    }
}

/// Whether no note has the properties that a search asks for. A client does not learn this: a note that is
/// kept from it must look like one that does not exist.
fn fits_no_note(config: &Config, engine: &Engine, limited: &Scope) -> Result<bool> {
    if limited.filters.is_empty() || config.client.is_some() {
        return Ok(false);
    }
    let allowed = engine.allowed(limited)?;
    Ok(allowed.is_some_and(|documents| documents.is_empty()))
}

impl Searched {
    /// What is said of the words that no note contains: one sentence for each that something else was
    /// searched for or that may be a slip, and one for the others.
    #[must_use]
    pub fn unknown_words(&self) -> Vec<String> {
        let mut said: Vec<String> = self
            .corrections
            .iter()
            .filter_map(corrections::said)
            .collect();
        said.extend(corrections::without_any(
            &self.corrections,
            &self.words_in_no_note,
        ));
        said
    }
}

/// The request with all corrections applied.
fn corrected(
    understood: &Understood,
    typed: &lexical::Query,
    corrections: &[Correction],
) -> Understood {
    let all: Vec<Correction> = corrections
        .iter()
        .map(|one| Correction {
            used: true,
            ..one.clone()
        })
        .collect();
    let query = corrections::apply(typed, &all);
    let meanings = match understood.meanings == [words_of(typed)] {
        true => vec![words_of(&query)],
        false => understood.meanings.clone(),
    };
    Understood {
        query,
        meanings,
        mode: understood.mode,
    }
}

/// Reports what a search that found something left out. Without hits, all files are checked later.
fn report(left_out: Vec<Stale>, found: &mut Found) {
    if !found.hits.is_empty() {
        found.stale.extend(left_out);
    }
}

/// The remarks on a query; none if every character of it is plain text.
fn remarks_of(wanted: &Search<'_>, typed: &lexical::Query) -> Vec<String> {
    if wanted.has_syntax {
        remarks::of(wanted.text, typed)
    } else {
        Vec::new()
    }
}

/// The documents selected by filters alone.
fn list(
    engine: &Engine,
    query: lexical::Query,
    limited: &Scope,
    wanted: &Search<'_>,
) -> Result<Searched> {
    let limit = wanted.limit.max(1);
    let most = wanted.recency.map_or(limit, |_| usize::MAX);
    let (mut hits, documents) = engine.listing(limited, &query, most)?;
    if let Some(recency) = wanted.recency {
        recency.rank(engine.index(), &mut hits)?;
        hits.truncate(limit);
    }
    Ok(Searched {
        remarks: remarks_of(wanted, &query),
        query,
        documents: Some(documents),
        corrections: Vec::new(),
        found: Found {
            is_relevant: !hits.is_empty(),
            hits,
            coverage: engine.coverage()?,
            stale: engine.stale()?,
            vectors_without_say: None,
            top_cosine: None,
            floor: None,
            dropped: 0,
            reranked: None,
        },
        fresh: Vec::new(),
        gone: Vec::new(),
        contexts: Vec::new(),
        words_in_no_note: Vec::new(),
        weak: WeakHits::default(),
    })
}

fn understand(engine: &Engine, wanted: &Search<'_>) -> Result<Understood> {
    let lines = QueryLines::parse(wanted.text).filter(|_| wanted.has_syntax);
    let Some(lines) = lines else {
        let query = parse(engine, wanted.text, wanted.has_syntax)?;
        let meanings = vec![words_of(&query)];
        return Ok(Understood {
            meanings: meanings
                .into_iter()
                .filter(|text| !text.is_empty())
                .collect(),
            query,
            mode: wanted.mode,
        });
    };
    let mut meanings = lines.embedded();
    let only_words = lines.meanings.is_empty();
    // The first word is after the type of its line, so a hyphen there excludes.
    let words = format!(" {}", lines.words);
    let mut query = if only_words {
        parse(engine, &words, true)?
    } else {
        lexical::Query::parse_beside(&words, &filter_names(engine, &words)?)
    };
    let only_meaning = query.is_blank() && !only_words;
    // Without vectors, only the words of a question can be searched.
    let by_words = only_meaning && (!engine.has_vectors() || wanted.mode == Mode::Lexical);
    if by_words {
        query.words = lexical::Query::plain(&lines.meanings.join(" ")).words;
    }
    if meanings.is_empty() && wanted.mode == Mode::Vector {
        meanings.push(words_of(&query));
    }
    let mode = match wanted.mode {
        Mode::Hybrid if by_words || only_words => Mode::Lexical,
        Mode::Hybrid if only_meaning => Mode::Vector,
        mode => mode,
    };
    Ok(Understood {
        query,
        meanings,
        mode,
    })
}

fn parse(engine: &Engine, text: &str, has_syntax: bool) -> Result<lexical::Query> {
    if !has_syntax {
        return Ok(lexical::Query::plain(text));
    }
    Ok(lexical::Query::parse(text, &filter_names(engine, text)?))
}

/// The names of the notes' properties, which are valid filter names; looked up only if something in
/// `text` looks like a filter.
fn filter_names(engine: &Engine, text: &str) -> Result<BTreeSet<String>> {
    if text.contains(':') {
        Ok(engine.index().frontmatter_keys()?)
    } else {
        Ok(BTreeSet::new())
    }
}

/// One search over words and vectors, and which hits are weak; hits below the floor are left out.
fn run(
    config: &Config,
    library: &Library,
    engine: &Engine,
    wanted: &Search<'_>,
    understood: &Understood,
    limited: &Scope,
) -> Result<(Found, WeakHits)> {
    let limit = wanted.limit.max(1);
    // A search by words alone or vectors alone is not reranked.
    let reranker = library
        .reranker()
        .filter(|_| understood.mode == Mode::Hybrid);
    let ranked = reranker.map_or(limit, |_| with_reranked(limit));
    let request = Request {
        query: &understood.query,
        mode: understood.mode,
        scope: limited.clone(),
        limit: wanted.recency.map_or(ranked, |_| ranked.max(RECENT_AMONG)),
        fusion: wanted.fusion.unwrap_or(config.retrieve.fusion),
        vector_weight: config.retrieve.vector_weight,
    };
    let meanings = &understood.meanings;
    let mut found = engine.search(&request, || embed(library, meanings))?;
    let is_shown = wanted.min_score.is_some() || found.is_relevant;
    if let Some(reranker) = reranker.filter(|_| is_shown) {
        reranker.rerank(&mut found, &meanings.join(" "))?;
    }
    let weak = WeakHits::of(engine.lexical(), &understood.query, understood.mode, &found)?;
    match (wanted.min_score, found.floor) {
        (Some(least), _) => found.hits.retain(|hit| hit.chance >= least),
        (None, _) if !found.is_relevant => found.hits.clear(),
        (None, Some(floor)) => found.hits.retain(|hit| hit.chance >= floor),
        (None, None) => {}
    }
    if let Some(recency) = wanted.recency {
        recency.rank(engine.index(), &mut found.hits)?;
    }
    found.hits.truncate(limit);
    Ok((found, weak))
}

/// One vector of length 1 for all texts: their mean.
fn embed(library: &Library, texts: &[String]) -> Result<QueryVector> {
    let Some((first, others)) = texts.split_first() else {
        return library.embed_question("");
    };
    let mut sum = library.embed_question(first)?;
    for text in others {
        let next = library.embed_question(text)?;
        sum.vector
            .iter_mut()
            .zip(&next.vector)
            .for_each(|(sum, x)| *sum += x);
        sum.letters += next.letters;
        sum.pieces = sum.pieces.zip(next.pieces).map(|(a, b)| a + b);
    }
    let length = sum.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if !others.is_empty() && length > f32::EPSILON {
        sum.vector.iter_mut().for_each(|x| *x /= length);
    }
    Ok(sum)
}

/// Fails with `INVALID_QUERY` for a text without a word.
pub fn not_blank(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidQuery, "the query is blank")
            .with_command("local-agent query \"words to look for\""));
    }
    Ok(())
}

/// The words of a query without filters and exclusions: the text to embed.
pub fn words_of(query: &lexical::Query) -> String {
    query
        .words
        .iter()
        .chain(&query.phrases)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}
