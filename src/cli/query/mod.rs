//! `query`, `search` and `vsearch`.

mod formats;
mod reading;
mod snippet;
pub(super) mod view;

use std::process::ExitCode;
use std::time::Duration;

use console::measure_text_width;
use serde_json::Value;

use super::args::{FusionArg, ModeArg, Query as Args, QueryFormat};
use super::ask::today;
use super::context::{Context, to_value};
use super::enter::Needs;
use super::hints;
use super::index::say_failures;
use super::output::{Output, talk, visible};
use local_agent_agent::config::Config;
use local_agent_agent::operations::recency::Recency;
use local_agent_agent::operations::search::{Search, Searched, search};
use local_agent_agent::operations::{IndexRun, Library, jobs};
use local_agent_files::sandbox::Sandbox;
use local_agent_index::retrieval::{Coverage, Fusion, Hit, Mode, Stale};
use local_agent_text::documents::{headings_at, line_in_file};
use local_agent_text::error::Result;
use local_agent_text::types::HeadingPath;
use snippet::{Highlighter, Snippet};
use view::QueryView;

/// Number of hits for `--all`: every candidate that a search considers.
const ALL: usize = 1_000;

/// Width of a snippet line in columns, if the width of the terminal is not known.
const WIDTH: usize = 96;

/// The smallest width of a snippet line.
const NARROWEST: usize = 20;

/// Number of columns before a snippet.
const INDENT: usize = 4;

pub(super) fn run(context: &mut Context, args: &Args, usual: ModeArg) -> Result<ExitCode> {
    let config = context.load()?.config;
    let needs = Needs {
        makes_state: args.refresh,
        ..Needs::nothing()
    };
    context.enter(&config, &needs)?;
    let sandbox = context.sandbox_for(&config, args.for_agent)?;
    let text = args.text();
    if args.refresh && !text.trim().is_empty() {
        refresh(context, &config, &context.sandbox(&config)?)?;
    }
    let mode = mode_of(args.mode.unwrap_or(usual));
    let model = match mode {
        Mode::Lexical => None,
        _ => Some(context.embedding(&config)?),
    };
    let format = args.format(context.global.json);
    let limit = match args.all {
        true => ALL,
        false => usize::try_from(args.limit).unwrap_or(0),
    };
    let wanted = Search {
        limit: match format {
            // A long file may have any number of hits, and qmd lists it once.
            QueryFormat::Qmd => ALL,
            _ => limit,
        },
        ..request(args, &text, mode)
    };
    let reranker = match mode {
        Mode::Hybrid if !args.no_rerank => context.reranker(&config)?,
        Mode::Hybrid | Mode::Lexical | Mode::Vector => None,
    };
    let library = Library::for_command(&config, model).with_reranker(&config, reranker);
    let mut searched = search(&config, &sandbox, &library, &wanted)?;
    if format == QueryFormat::Qmd {
        searched.keep_best_of_each_file(limit);
    }
    // Programs get every hit with its score.
    let leaves_out = format == QueryFormat::Text && !args.all && args.min_score.is_none();
    let weak = match leaves_out {
        true => searched.leave_out_weak_hits(),
        false => 0,
    };
    let shown = Shown {
        out: context.out,
        config: &config,
        args,
        searched: &searched,
        weak,
    };
    if format == QueryFormat::Json {
        context.out.json(report(context, &shown, text)?);
        return Ok(ExitCode::SUCCESS);
    }
    shown.print(format)?;
    say_remarks(&searched);
    Ok(ExitCode::SUCCESS)
}

const fn mode_of(arg: ModeArg) -> Mode {
    match arg {
        ModeArg::Hybrid => Mode::Hybrid,
        ModeArg::Lexical => Mode::Lexical,
        ModeArg::Vector => Mode::Vector,
    }
}

/// The search that the arguments describe, without its limit.
fn request<'a>(args: &'a Args, text: &'a str, mode: Mode) -> Search<'a> {
    Search {
        text,
        has_syntax: true,
        mode,
        fusion: args.fusion.map(|fusion| match fusion {
            FusionArg::Convex => Fusion::Convex,
            FusionArg::Rrf => Fusion::Rrf,
        }),
        limits: args.scope.limits(),
        limit: 0,
        min_score: args.min_score,
        recency: args.recent.map(|half_life_days| Recency {
            half_life_days,
            today: args.now.unwrap_or_else(today),
        }),
    }
}

/// Says on stderr how the query was read, and what was not searched or is not current.
fn say_remarks(searched: &Searched) {
    for remark in &searched.remarks {
        talk(&format!("note: {}", visible(remark)));
    }
    say_index_stale(&searched.index_stale(0..searched.found.hits.len()));
    say_limits(&searched.found.coverage, &searched.found.stale);
    if let Some(why) = &searched.found.vectors_without_say {
        talk(&format!("note: {why}"));
    }
}

/// Brings the index up to date, and reports sources that could not be read.
fn refresh(context: &mut Context, config: &Config, sandbox: &Sandbox) -> Result<()> {
    let files = context.model(config)?;
    let run = IndexRun {
        wait: Duration::from_secs(60),
        ..IndexRun::default()
    };
    let summary = jobs::run_index(config, sandbox, &files, &run, &|_| ())?;
    // The indexed content of such a source is still searched.
    say_failures(&summary.failures);
    Ok(())
}

fn report(context: &Context, shown: &Shown<'_>, text: String) -> Result<Value> {
    let explain = shown.args.explain;
    let view = QueryView::new(text, shown.searched, &shown.config.warnings, explain);
    context.body(&view)
}

/// The output of `query --json` for a search without flags, without the roots.
pub(super) fn body(text: &str, searched: &Searched, config: &Config) -> Result<Value> {
    let view = QueryView::new(text.to_owned(), searched, &config.warnings, false);
    to_value(&view)
}

/// The search result, and how to show it.
struct Shown<'a> {
    out: Output,
    config: &'a Config,
    args: &'a Args,
    searched: &'a Searched,
    /// Number of weak hits that are not shown.
    weak: usize,
}

impl Shown<'_> {
    /// Prints every format except the single JSON object.
    fn print(&self, format: QueryFormat) -> Result<()> {
        let (out, searched, full) = (self.out, self.searched, self.args.full);
        let file = |hit: &Hit| self.file(hit);
        match format {
            QueryFormat::Jsonl => {
                for hit in view::hits(searched, self.args.explain) {
                    out.line(&to_value(&hit)?.to_string());
                }
            }
            QueryFormat::Files => self.print_files(),
            QueryFormat::Csv => out.raw(&out.shown(&formats::csv(searched, full, &file))),
            QueryFormat::Md => out.raw(&out.shown(&formats::markdown(searched, full, &file))),
            QueryFormat::Xml => out.raw(&out.shown(&formats::xml(searched, full, &file))),
            QueryFormat::Qmd => out.line(&formats::qmd(searched, full)?),
            QueryFormat::Text | QueryFormat::Json => self.print_text(),
        }
        Ok(())
    }

    /// The name of a hit's file, with its source if several sources are configured.
    fn file(&self, hit: &Hit) -> String {
        let chunk = &hit.chunk;
        if self.args.full_path {
            return self.path(hit).to_string_lossy().into_owned();
        }
        if self.config.sources.len() > 1 {
            format!("{}:{}", chunk.source, chunk.path)
        } else {
            chunk.path.to_string()
        }
    }

    /// The path of a hit's file.
    fn path(&self, hit: &Hit) -> std::path::PathBuf {
        file_path(
            self.config,
            hit.chunk.source.as_str(),
            hit.chunk.path.as_str(),
        )
    }

    fn print_files(&self) {
        let mut seen = std::collections::HashSet::new();
        for hit in &self.searched.found.hits {
            if !seen.insert(hit.chunk.document_id) {
                continue;
            }
            let file = if self.args.full_path {
                self.file(hit)
            } else {
                format!("{}:{}", hit.chunk.source, hit.chunk.path)
            };
            self.out.line(&self.out.shown(&file));
        }
    }

    fn print_text(&self) {
        let (out, searched) = (self.out, self.searched);
        for line in searched.unknown_words() {
            talk(&visible(&line));
        }
        if searched.found.hits.is_empty() {
            out.line(&nothing(self.args, searched));
        }
        let mut highlighter = Highlighter::new(&searched.query);
        let states = searched.fresh.iter().zip(&searched.gone);
        let states = states.map(|(fresh, gone)| old_text(*fresh, *gone));
        let hits = searched.found.hits.iter().zip(states);
        for ((hit, stale), context) in hits.zip(&searched.contexts) {
            let found = highlighter.snippet(&hit.chunk.path, &hit.chunk.text);
            self.print_hit(hit, &found, stale, context.as_deref());
        }
        let shown = searched.found.hits.len();
        if let Some(more) = searched.documents.and_then(|all| all.checked_sub(shown))
            && more > 0
        {
            out.line(&out.dim(&format!("and {more} more (--all lists them)")));
        }
        if self.weak > 0 {
            out.line(&out.dim(&weak_hits(self.weak)));
        }
    }

    fn print_hit(&self, hit: &Hit, found: &Snippet, stale: Option<&str>, context: Option<&str>) {
        let (out, chunk) = (self.out, &hit.chunk);
        let line = chunk.lines.first() as usize + found.line;
        let place = out.bold(&out.shown(&format!("{}:{line}", self.file(hit))));
        let before = chunk.text.split_inclusive('\n').take(found.line);
        let above = headings_at(
            chunk.path.as_str(),
            &chunk.heading,
            &chunk.text,
            before.map(str::len).sum(),
        );
        // An editor opens the file, and the lines of an extracted text are not those of the file.
        let opened = line_in_file(chunk.path.as_str(), &above).unwrap_or(line);
        let place = out.link(&self.path(hit), opened, &place);
        let score = if self.searched.documents.is_some() {
            String::new()
        } else {
            format!("  {}", out.dim(&format!("{:.2}", hit.chance)))
        };
        out.line(&format!(
            "{place}  {}{score}",
            out.shown(&trail(hit, &above))
        ));
        if let Some(context) = context {
            let about = format!("about this folder: {context}");
            out.line(&format!("    {}", out.dim(&out.shown(&about))));
        }
        if let Some(stale) = stale {
            out.line(&format!("    stale: {stale}"));
        }
        if self.args.full {
            let first = chunk.lines.first() as usize;
            for (number, text) in (first..).zip(chunk.text.lines()) {
                let number = match self.args.line_numbers {
                    true => format!("{number:>5}  "),
                    false => "    ".to_owned(),
                };
                out.line(&format!("{number}{}", out.shown(text)));
            }
        } else {
            for text in wrapped(found, out) {
                out.line(&format!("    {text}"));
            }
        }
        if self.args.explain {
            self.explain(hit);
        }
    }

    fn explain(&self, hit: &Hit) {
        let (out, chunk) = (self.out, &hit.chunk);
        let (yaml_present, yaml_parse_ok, yaml_error, typed) = &chunk.yaml;
        out.line(&out.dim(&format!(
            "    provenance: source={} kind={} key={}  typed: metadata={}; yaml_present={}; \
             yaml_parse_ok={}; required_keys_present={}",
            chunk.source,
            chunk.source_kind,
            chunk.key,
            view::metadata_state(*yaml_present, *yaml_parse_ok),
            u8::from(*yaml_present),
            flag(*yaml_parse_ok),
            flag(*typed),
        )));
        if let Some(error) = yaml_error {
            let first = error.lines().next().unwrap_or_default();
            out.line(&out.dim(&out.shown(&format!("    yaml_error: {first}"))));
        }
        let Value::Object(numbers) = view::explanation(hit) else {
            return;
        };
        for (name, value) in numbers.into_iter().filter(|(_, value)| !value.is_null()) {
            out.line(&out.dim(&format!("    {name:<16} {}", short(&value))));
        }
    }
}

/// A value for people: a number with at most four places.
fn short(value: &Value) -> String {
    match value.as_f64().filter(|_| value.is_f64()) {
        Some(number) => format!("{number:.4}"),
        None => value.to_string(),
    }
}

/// `1`, `0` or `unknown`.
fn flag(value: Option<bool>) -> &'static str {
    value.map_or("unknown", |v| if v { "1" } else { "0" })
}

/// The path of a source's document.
pub(super) fn file_path(config: &Config, source: &str, path: &str) -> std::path::PathBuf {
    let root = config
        .sources
        .iter()
        .find(|one| one.name.as_str() == source)
        .map(|one| one.root.clone())
        .unwrap_or_default();
    root.join(path)
}

/// `title › heading › heading`; a top heading that repeats the title is left out.
fn trail(hit: &Hit, above: &HeadingPath) -> String {
    let chunk = &hit.chunk;
    let mut names = vec![chunk.title.as_str()];
    for heading in above.headings() {
        if heading.title != chunk.title {
            names.push(&heading.title);
        }
    }
    names.join(" › ")
}

/// The message for an empty result.
fn nothing(args: &Args, searched: &Searched) -> String {
    let tag = args.scope.tag.first();
    let filter = searched.query.filters.iter().find(|one| one.key == "tag");
    match tag.or(filter.map(|filter| &filter.value)) {
        Some(tag) if searched.documents == Some(0) => format!("No note has the tag `{tag}`."),
        _ if searched.documents == Some(0) => "No note fits these filters.".to_owned(),
        // Vectors always have a nearest note. It may be right, in another language above all.
        _ if searched.found.top_cosine.is_some() && args.min_score.is_none() => {
            "Nothing in the index fits this query. (--min-score 0 lists what is nearest)".to_owned()
        }
        _ => "Nothing in the index fits this query.".to_owned(),
    }
}

/// How many weak hits are not shown, and how to see them.
fn weak_hits(n: usize) -> String {
    match n {
        1 => "1 weak hit is left out (--all shows it)".to_owned(),
        n => format!("{n} weak hits are left out (--all shows them)"),
    }
}

/// Maximum number of files listed in one line.
const NAMED: usize = 3;

/// Reports on stderr, in one line, which files have changed since they were indexed.
pub(super) fn say_index_stale(files: &[String]) {
    if files.is_empty() {
        return;
    }
    let named: Vec<String> = files.iter().take(NAMED).map(|file| visible(file)).collect();
    let more = match files.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    talk(&format!(
        "stale: {}{more} changed, went or cannot be read since indexing (fix: {})",
        named.join(", "),
        hints::here("local-agent index"),
    ));
}

/// Reports on stderr why the result may be incomplete.
pub(super) fn say_limits(coverage: &Coverage, stale: &[Stale]) {
    for one in stale {
        // Vectors from an earlier state of the index still find every chunk that has one; how many
        // have none is said below.
        if one.what == "vectors" && coverage.embedded > 0 {
            continue;
        }
        let (why, fix) = (visible(&one.why), hints::here(one.fix));
        talk(&format!("stale: {why} (fix: {fix})"));
    }
    if coverage.embedded > 0 && coverage.embedded < coverage.chunks {
        talk(&format!(
            "coverage: {} of {} chunks can be found by meaning (fix: {})",
            coverage.embedded,
            coverage.chunks,
            hints::here("local-agent embed"),
        ));
    }
}

/// A snippet in lines as wide as the terminal, with its marks emphasised if colour is on.
fn wrapped(found: &Snippet, out: Output) -> Vec<String> {
    let most = out.width.map_or(WIDTH, |columns| {
        columns.saturating_sub(INDENT).max(NARROWEST)
    });
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut width = 0;
    if found.cut.0 {
        line.push_str("… ");
        width = 2;
    }
    let mut at = 0;
    for word in found.text.split(' ') {
        let length = measure_text_width(word);
        if width + length > most && width > 0 {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            width = 0;
        }
        line.push_str(&marked(word, at, found, out));
        line.push(' ');
        width += length + 1;
        at += word.len() + 1;
    }
    if found.cut.1 {
        line.push('…');
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// A word that begins at `start` of the snippet, with its marked parts emphasised.
fn marked(word: &str, start: usize, found: &Snippet, out: Output) -> String {
    let mut text = String::new();
    let mut done = 0;
    for mark in &found.marks {
        let Some(from) = mark.start.checked_sub(start) else {
            continue;
        };
        let to = mark.end - start;
        if from < done || to > word.len() {
            continue;
        }
        let (Some(before), Some(inside)) = (word.get(done..from), word.get(from..to)) else {
            continue;
        };
        text.push_str(&out.shown(before));
        text.push_str(&out.mark(&out.shown(inside)));
        done = to;
    }
    text.push_str(&out.shown(word.get(done..).unwrap_or_default()));
    text
}

/// Why the text of a hit is an old one; `None` if it is not.
const fn old_text(fresh: bool, gone: bool) -> Option<&'static str> {
    match (fresh, gone) {
        (true, _) => None,
        (false, true) => Some("the file is gone; this is the text that was indexed"),
        (false, false) => {
            Some("the file changed or cannot be read; this is the text that was indexed")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use local_agent_index::lexical::Query;
    use local_agent_text::types::RelPath;

    fn note() -> RelPath {
        RelPath::new("a.md").unwrap()
    }

    #[test]
    fn marks_stand_around_the_words_that_were_searched_for() {
        let out = Output {
            json: false,
            terminal: false,
            color: true,
            links: false,
            width: None,
        };
        let found = Highlighter::new(&Query::plain("oven two")).snippet(&note(), "the (oven), two");
        assert_eq!(
            wrapped(&found, out),
            ["the (\x1b[1;4moven\x1b[0m), \x1b[1;4mtwo\x1b[0m"]
        );
        let plain = Output {
            color: false,
            ..out
        };
        assert_eq!(wrapped(&found, plain), ["the (oven), two"]);
    }

    #[test]
    fn a_snippet_is_as_wide_as_the_terminal_and_cuts_no_word() {
        let out = Output {
            json: false,
            terminal: true,
            color: false,
            links: false,
            width: Some(30),
        };
        let text = "until the new oven came we baked in the old one of the neighbour";
        let found = Highlighter::new(&Query::plain("oven")).snippet(&note(), text);
        let lines = wrapped(&found, out);
        assert!(lines.len() > 1, "{lines:?}");
        assert!(lines.iter().all(|line| line.len() <= 26), "{lines:?}");
        assert_eq!(lines.join(" "), text);
    }
}
