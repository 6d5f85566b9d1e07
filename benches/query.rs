//! Measures how long one search takes in a long-running process: 2,000 queries over a vault that is
//! indexed and embedded, lexical and hybrid; median, 99th percentile and the slowest.
//!
//! `LOCAL_AGENT_BENCH_STATE` names the state folder (`benches/figures.py --state DIR --fill` makes
//! one from any folder of notes). Queries are two to five words of the notes; their vectors are
//! computed before the clock starts. It is an error if the state has no chunks or no vectors, or if
//! no query finds anything.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use local_agent_embed::embedding::{self, Encoder, QueryVector};
use local_agent_embed::models::ModelFiles;
use local_agent_index::lexical::Query;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{Engine, Mode, Request, Scope};

const QUERIES: usize = 2_000;

/// Runs the benchmark; see the top of this file.
pub(crate) fn run(_: &[String]) -> Result<(), String> {
    let state = std::env::var_os("LOCAL_AGENT_BENCH_STATE")
        .ok_or("set LOCAL_AGENT_BENCH_STATE to a state folder")?;
    let state = PathBuf::from(state);
    let files = ModelFiles::embedded().expect("the compiled-in model");
    let fingerprint = embedding::fingerprint(&files);
    let (lexical, vectors) = (state.join("lexical"), state.join("vectors"));
    let engine = Engine::open(
        &state.join("index.sqlite"),
        &lexical,
        &vectors,
        Some(&fingerprint),
    )
    .expect("an index");
    let coverage = engine.coverage().expect("a count");
    assert!(
        coverage.embedded > 0,
        "nothing in {} was embedded by the compiled-in model",
        state.display()
    );
    let queries = queries(&engine);
    let encoder = Encoder::load(&files).expect("the compiled-in model");
    let texts: Vec<&str> = queries.iter().map(String::as_str).collect();
    let embedded = encoder
        .embed_passages(&texts, 0, 2048, &|_| ())
        .expect("texts that can be embedded");
    println!(
        "{QUERIES} queries, {} chunks, {} with a vector",
        coverage.chunks, coverage.embedded
    );
    for (name, mode) in [("lexical", Mode::Lexical), ("hybrid", Mode::Hybrid)] {
        let (mut times, mut found) = (Vec::with_capacity(QUERIES), 0);
        for (text, embedded) in queries.iter().zip(&embedded) {
            let query = Query::plain(text);
            let scope = Scope::default();
            let request = Request {
                query: &query,
                mode,
                scope,
                limit: 10,
                fusion: Fusion::Convex,
                vector_weight: None,
            };
            let start = Instant::now();
            let hits = engine
                .search(&request, || {
                    Ok(QueryVector::new(embedded.vector.clone(), text))
                })
                .expect("a search")
                .hits;
            times.push(start.elapsed());
            found += usize::from(!hits.is_empty());
        }
        assert!(
            found * 2 > QUERIES,
            "{found} of {QUERIES} queries found anything"
        );
        print(name, times);
    }
    Ok(())
}

/// Two to five adjacent words of evenly spread chunks.
fn queries(engine: &Engine) -> Vec<String> {
    let ids: Vec<_> = engine
        .index()
        .all_chunk_ids()
        .expect("a list")
        .iter()
        .collect();
    assert!(!ids.is_empty(), "the index holds no chunks");
    let words = |number: usize| {
        let id = ids[number * ids.len() / (4 * QUERIES) % ids.len()];
        let chunk = engine.index().chunks(&[id]).ok()?.pop()?;
        let words: Vec<&str> = chunk
            .text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|w| w.len() > 2)
            .collect();
        let count = 2 + number % 4;
        let start = number * 7919 % words.len().saturating_sub(count).max(1);
        (words.len() >= count).then(|| words[start..start + count].join(" "))
    };
    let queries: Vec<String> = (0..4 * QUERIES).filter_map(words).take(QUERIES).collect();
    assert_eq!(queries.len(), QUERIES, "the notes hold too few words");
    queries
}

fn print(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<8} p50 {:.2} ms, p99 {:.2} ms, slowest {:.2} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}
