//! Searching, as `query` and MCP do it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::freshness::{are_fresh, stale_files};
use super::library::Library;
use super::scope::{Limits, scope};
use crate::config::Config;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::lexical;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{Found, Mode, Request};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Search<'a> {
    pub text: &'a str,
    /// Whether `text` may hold "phrases", -exclusions and name:value filters; else it is plain
    /// words.
    pub has_syntax: bool,
    pub mode: Mode,
    /// `None`: as configured.
    pub fusion: Option<Fusion>,
    pub limits: Limits,
    /// Most hits.
    pub limit: usize,
    /// Show hits whose chance of relevance is at least this; `None`: the calibrated floor decides
    /// whether anything was found.
    pub min_score: Option<f32>,
}

/// What was found.
#[derive(Debug)]
pub struct Searched {
    pub query: lexical::Query,
    pub found: Found,
    /// Of each hit, whether its file is what was indexed; where it is not, the hit's text is the
    /// old one.
    pub fresh: Vec<bool>,
}

impl Searched {
    /// Files that changed or went since they were indexed, as `source:path`, each once: of these
    /// hits, where there are so many.
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

/// Searches the library, and looks at the files of what it found; when that is nothing, at all
/// files of the sources that were searched: what is not indexed yet cannot be found.
///
/// Errors: `INVALID_QUERY` for a blank text; `INVALID_ARGS` for limits that name nothing; those of
/// [`Library::with`] and of the search itself.
pub fn search(
    config: &Config,
    sandbox: &Sandbox,
    library: &Library,
    wanted: &Search<'_>,
) -> Result<Searched> {
    not_blank(wanted.text)?;
    let mut limited = scope(config, &wanted.limits)?;
    let sources = limited.sources.clone();
    let (query, mut found) = library.with(|engine| {
        let query = if wanted.has_syntax {
            // Which names filter depends on what the notes' frontmatter holds; asked only when
            // something looks like a filter.
            let keys = if wanted.text.contains(':') {
                engine.index().frontmatter_keys()?
            } else {
                BTreeSet::new()
            };
            lexical::Query::parse(wanted.text, &keys)
        } else {
            lexical::Query::plain(wanted.text)
        };
        limited.filters.extend(query.filters.iter().cloned());
        let request = Request {
            query: &query,
            mode: wanted.mode,
            scope: limited,
            limit: wanted.limit.max(1),
            fusion: wanted.fusion.unwrap_or(config.retrieve.fusion),
            vector_weight: config.retrieve.vector_weight,
        };
        let text = words_of(&query);
        // The question is embedded in a thread of its own while the words are searched.
        let mut found = std::thread::scope(|threads| {
            let meant = engine.has_vectors() && wanted.mode != Mode::Lexical;
            let embedding = meant.then(|| threads.spawn(|| library.embed_question(&text)));
            engine.search(&request, || match embedding {
                Some(thread) => thread
                    .join()
                    .unwrap_or_else(|_| Err(Failure::internal("embedding the query panicked"))),
                None => Err(Failure::internal("vectors are searched without a model")),
            })
        })?;
        match wanted.min_score {
            Some(least) => found.hits.retain(|hit| hit.chance >= least),
            None if !found.is_relevant => found.hits.clear(),
            None => {}
        }
        Ok((query, found))
    })?;
    if found.hits.is_empty() {
        found.stale.extend(stale_files(config, &sources));
    }
    let fresh = are_fresh(&found.hits, sandbox);
    Ok(Searched {
        query,
        found,
        fresh,
    })
}

/// `INVALID_QUERY` for a text without a word.
pub fn not_blank(text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Failure::new(ErrorCode::InvalidQuery, "the query is blank")
            .with_hint("local-agent query \"words to look for\""));
    }
    Ok(())
}

/// What is left of a query when filters and exclusions are taken out: what is embedded.
pub fn words_of(query: &lexical::Query) -> String {
    query
        .words
        .iter()
        .chain(&query.phrases)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
}
