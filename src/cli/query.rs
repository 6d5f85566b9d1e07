//! `query`.

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use super::args::{FusionArg, ModeArg, Query as Args};
use super::context::Context;
use super::enter::Needs;
use super::index::{extend, say_failures};
use super::output::{Output, talk, visible};
use local_agent_agent::config::Config;
use local_agent_agent::operations::search::{Search, Searched, search, words_of};
use local_agent_agent::operations::{IndexRun, Library, jobs};
use local_agent_index::lexical;
use local_agent_index::retrieval::Fusion;
use local_agent_index::retrieval::{Coverage, Hit, Mode, Stale};
use local_agent_text::error::Result;

/// How much of a chunk a person sees around the first word found, in characters.
const SNIPPET_BEFORE: usize = 60;
const SNIPPET_AFTER: usize = 120;
const SNIPPET_NO_MATCH: usize = 180;

pub fn run(context: &mut Context, args: &Args) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(
        &config,
        &Needs {
            makes_state: args.refresh,
            ..Needs::nothing()
        },
    )?;
    let sandbox = context.sandbox(&config)?;
    if args.refresh && !args.text.trim().is_empty() {
        let files = context.model(&config)?;
        let run = IndexRun {
            wait: Duration::from_secs(60),
            ..IndexRun::default()
        };
        let summary = jobs::run_index(&config, &sandbox, &files, &run, &|_| ())?;
        // What the index holds of such a source is still searched.
        say_failures(context, &summary.failures);
    }
    let mode = match args.mode {
        ModeArg::Hybrid => Mode::Hybrid,
        ModeArg::Lexical => Mode::Lexical,
        ModeArg::Vector => Mode::Vector,
    };
    let model = if mode == Mode::Lexical {
        None
    } else {
        Some(context.embedding(&config)?)
    };
    let wanted = Search {
        text: &args.text,
        has_syntax: true,
        mode,
        fusion: args.fusion.map(|fusion| match fusion {
            FusionArg::Convex => Fusion::Convex,
            FusionArg::Rrf => Fusion::Rrf,
        }),
        limits: args.scope.limits(),
        limit: usize::try_from(args.limit).unwrap_or(0),
        min_score: args.min_score,
    };
    let searched = search(
        &config,
        &sandbox,
        &Library::for_one(&config, model),
        &wanted,
    )?;
    let out = context.out;
    if args.jsonl {
        hits_json(&searched, args.explain).for_each(|hit| out.line(&hit.to_string()));
    } else if args.json {
        out.json(report(context, &config, args, &searched));
    } else if args.files {
        let mut seen = std::collections::HashSet::new();
        for hit in searched
            .found
            .hits
            .iter()
            .filter(|hit| seen.insert(hit.chunk.document_id))
        {
            out.line(&out.shown(&format!("{}:{}", hit.chunk.source, hit.chunk.path)));
        }
    } else {
        print(out, args, &searched);
    }
    if !args.json {
        say_index_stale(&searched.index_stale(0..searched.found.hits.len()));
        say_limits(&searched.found.coverage, &searched.found.stale);
        if let Some(why) = &searched.found.vectors_without_say {
            talk(&format!("note: {why}"));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn hits_json(searched: &Searched, explain: bool) -> impl Iterator<Item = Value> + '_ {
    let hits = searched.found.hits.iter().zip(&searched.fresh).enumerate();
    hits.map(move |(at, (hit, fresh))| hit_json(at, hit, *fresh, explain))
}

fn report(context: &Context, config: &Config, args: &Args, searched: &Searched) -> Value {
    let found = &searched.found;
    let hits: Vec<Value> = hits_json(searched, args.explain).collect();
    let mut body = json!({
        "query": args.text,
        "parsed": searched.query,
        "outcome": if hits.is_empty() { "nothing_found" } else { "found" },
        "count": hits.len(),
        "hits": hits,
        "coverage": found.coverage,
        "index_stale": searched.index_stale(0..searched.found.hits.len()),
        "stale": found.stale,
        "vectors_without_say": found.vectors_without_say,
        "warnings": config.warnings,
    });
    extend(&mut body, context.roots());
    body
}

fn hit_json(at: usize, hit: &Hit, fresh: bool, explain: bool) -> Value {
    let chunk = &hit.chunk;
    let (yaml_present, yaml_parse_ok, yaml_error, typed) = &chunk.yaml;
    let mut body = json!({
        "rank": at + 1,
        "source": chunk.source,
        "kind": chunk.source_kind,
        "rel_path": chunk.path,
        "title": chunk.title,
        "heading_path": chunk.heading.to_string(),
        "chunk_key": chunk.key,
        "lines": chunk.lines,
        "start_byte": chunk.span.start(),
        "end_byte": chunk.span.end(),
        "fresh": fresh,
        "score": hit.chance,
        "method": hit.trace.method,
        "metadata": metadata_state(*yaml_present, *yaml_parse_ok),
        "yaml_present": yaml_present,
        "yaml_parse_ok": yaml_parse_ok,
        "yaml_error": yaml_error,
        "required_keys_present": typed,
        "text": chunk.text,
    });
    if explain {
        body["explain"] = json!(hit.trace);
        body["explain"]["fused"] = json!(hit.score);
    }
    body
}

/// `absent`, `present` or `unknown`, as the ancestor showed it.
fn metadata_state(yaml_present: bool, yaml_parse_ok: Option<bool>) -> &'static str {
    match (yaml_present, yaml_parse_ok) {
        (false, _) => "absent",
        (true, Some(true)) => "present",
        (true, _) => "unknown",
    }
}

fn print(out: Output, args: &Args, searched: &Searched) {
    let Searched {
        query,
        found,
        fresh,
    } = searched;
    if found.hits.is_empty() {
        out.line("Nothing in the index fits this query.");
    }
    for (at, (hit, fresh)) in found.hits.iter().zip(fresh).enumerate() {
        let chunk = &hit.chunk;
        let (yaml_present, yaml_parse_ok, yaml_error, typed) = &chunk.yaml;
        let address = format!("{}:{}:{}", chunk.source, chunk.path, chunk.lines.first());
        out.line(&format!(
            "[{}] {}  {:.3}",
            at + 1,
            out.bold(&out.shown(&address)),
            hit.chance
        ));
        let flag = |value: Option<bool>| value.map_or("unknown", |v| if v { "1" } else { "0" });
        let facts = format!(
            "    provenance: source={} kind={} key={}  typed: metadata={}; yaml_present={}; yaml_parse_ok={}; \
             required_keys_present={}",
            chunk.source,
            chunk.source_kind,
            chunk.key,
            metadata_state(*yaml_present, *yaml_parse_ok),
            u8::from(*yaml_present),
            flag(*yaml_parse_ok),
            flag(*typed),
        );
        out.line(&out.dim(&facts));
        if let Some(error) = yaml_error {
            out.line(&out.dim(&out.shown(&format!(
                "    yaml_error: {}",
                error.lines().next().unwrap_or_default()
            ))));
        }
        if !chunk.heading.is_root() {
            out.line(&out.shown(&format!("    heading_path: {}", chunk.heading)));
        }
        if !fresh {
            out.line("    stale: the file changed, went or cannot be read; this is the text that was indexed");
        }
        out.line(&out.shown(&format!("    snippet: {}", snippet(&chunk.text, query))));
        if args.explain {
            out.line(&format!("    explain: {}", json!(hit.trace)));
        }
    }
}

/// Tells, on stderr, which files are not what was indexed.
pub(super) fn say_index_stale(files: &[String]) {
    for file in files {
        talk(&format!(
            "stale: {} changed, went or cannot be read since it was indexed (fix: local-agent index)",
            visible(file)
        ));
    }
}

/// Tells, on stderr, what a reader must know about the answer's reach.
pub(super) fn say_limits(coverage: &Coverage, stale: &[Stale]) {
    for one in stale {
        talk(&format!("stale: {} (fix: {})", visible(&one.why), one.fix));
    }
    if coverage.embedded > 0 && coverage.embedded < coverage.chunks {
        talk(&format!(
            "coverage: {} of {} chunks can be found by meaning (fix: local-agent embed)",
            coverage.embedded, coverage.chunks
        ));
    }
}

/// One line around the first word of the query that the text holds.
fn snippet(text: &str, query: &lexical::Query) -> String {
    let lower = text.to_lowercase();
    let wanted = words_of(query).to_lowercase();
    let at = wanted
        .split_whitespace()
        .filter(|word| word.chars().count() > 2)
        .filter_map(|word| lower.find(word).map(|byte| lower[..byte].chars().count()))
        .min();
    let chars: Vec<char> = text.chars().collect();
    let (from, to) = match at {
        Some(at) => (
            at.saturating_sub(SNIPPET_BEFORE),
            (at + SNIPPET_AFTER).min(chars.len()),
        ),
        None => (0, SNIPPET_NO_MATCH.min(chars.len())),
    };
    let cut: String = chars.get(from..to).unwrap_or_default().iter().collect();
    let line = cut.split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (
        if from > 0 { "..." } else { "" },
        if to < chars.len() { "..." } else { "" },
    );
    format!("{before}{line}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_one_line_around_the_first_word_found() {
        let text = format!(
            "{}\nthe oven costs 23,500 euros\n{}",
            "x ".repeat(100),
            "y ".repeat(200)
        );
        let line = snippet(&text, &lexical::Query::plain("oven costs"));
        assert!(line.starts_with("...") && line.ends_with("..."));
        assert!(line.contains("the oven costs 23,500 euros") && !line.contains('\n'));
    }
}
