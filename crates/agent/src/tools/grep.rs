//! `grep`: lines that match a regular expression, with ripgrep's engine, so that every pattern
//! takes linear time. Files are read through the sandbox's handles; files excluded by ignore files
//! are not searched.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkFinish, SinkMatch,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{FileLook, Survey};
use super::outcome::Output;
use super::text::prefix;
use super::{Bound, Spec, ToolEffect, schema};
use local_agent_text::error::{ErrorCode, Failure, Result};

/// Maximum number of bytes shown of one line.
const LINE: usize = 400;
/// Maximum number of bytes of text in one result.
const MOST_BYTES: usize = 64 * 1024;
/// Memory limit for one compiled pattern, in bytes.
const PATTERN_SIZE: usize = 256 << 10;

pub(super) const SPEC: Spec = Spec {
    name: "grep",
    description: "Finds lines that match a regular expression (Rust syntax), in all files or below a path. Letters match \
                  in any case unless the pattern has an upper-case letter.",
    effect: ToolEffect::Reads,
    admissible: false,
    schema: schema::of::<GrepArgs>,
    run,
};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArgs {
    /// The regular expression, or with `fixed` the words themselves.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// A file or folder to look in; absent: everywhere.
    #[schemars(length(max = 4096))]
    path: Option<String>,
    /// Whether the pattern is taken letter for letter.
    fixed: Option<bool>,
    /// Whether case counts; absent: only if the pattern has an upper-case letter.
    case_sensitive: Option<bool>,
    /// Lines shown before and after each hit.
    #[schemars(range(min = 0, max = 10))]
    context: Option<u32>,
    /// Hits after which the search stops (100 when absent).
    #[schemars(range(min = 1, max = 100))]
    max_hits: Option<u32>,
}

fn run(bound: &Bound, args: Value) -> Result<Output> {
    let args: GrepArgs = schema::parse(args)?;
    let matcher = compile(&args)?;
    let context = args.context.unwrap_or(0) as usize;
    let mut searcher = SearcherBuilder::new()
        .line_number(true)
        .before_context(context)
        .after_context(context)
        .binary_detection(BinaryDetection::quit(0))
        .build();
    let mut hits = Hits {
        most: args.max_hits.unwrap_or(100) as usize,
        ..Hits::default()
    };
    let survey = Survey::of(
        bound,
        args.path.as_deref(),
        |_| true,
        |at| {
            let Ok(file) = bound.sandbox.read(at) else {
                return Ok(FileLook::Unread);
            };
            hits.path = at.to_string();
            hits.fresh = true;
            searcher
                .search_slice(&matcher, &file.bytes, &mut hits)
                .map_err(|error| {
                    Failure::new(
                        ErrorCode::FileReadError,
                        format!("{at} could not be searched: {error}."),
                    )
                })?;
            Ok(hits.full.map_or(FileLook::Done, FileLook::Full))
        },
    )?;
    let facts = json!({"pattern": args.pattern, "hits": hits.hits, "lines": hits.lines});
    let mut output = Output::new(facts, hits.text);
    survey.report(&mut output.data, &mut output.text);
    Ok(output)
}

fn compile(args: &GrepArgs) -> Result<RegexMatcher> {
    if args.pattern.contains('\n') {
        let message = "The pattern holds a line break, and lines are matched one by one.";
        return Err(
            Failure::new(ErrorCode::InvalidArgs, message).with_hint("search for one of its lines")
        );
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .line_terminator(Some(b'\n'))
        .crlf(false);
    builder
        .size_limit(PATTERN_SIZE)
        .dfa_size_limit(PATTERN_SIZE)
        .nest_limit(100);
    builder.fixed_strings(args.fixed.unwrap_or(false));
    match args.case_sensitive {
        Some(sensitive) => builder.case_insensitive(!sensitive),
        None => builder.case_smart(true),
    };
    builder.build(&args.pattern).map_err(|error| {
        let why = error.to_string();
        let message = format!(
            "The pattern is not a usable regular expression: {}",
            prefix(&why, 500).trim()
        );
        Failure::new(ErrorCode::InvalidArgs, message)
            .with_hint("use `fixed` to find the words themselves")
    })
}

/// What was found so far.
#[derive(Default)]
struct Hits {
    path: String,
    /// Whether no line of this file has been shown yet.
    fresh: bool,
    most: usize,
    hits: usize,
    lines: Vec<Value>,
    text: String,
    /// The limit that was reached.
    full: Option<&'static str>,
}

impl Hits {
    fn show(&mut self, number: Option<u64>, bytes: &[u8], is_hit: bool) {
        let line = String::from_utf8_lossy(bytes);
        let line = line.trim_end_matches(['\n', '\r']);
        let shown = prefix(line, LINE);
        let cut = if shown.len() < line.len() { "…" } else { "" };
        let number = number.unwrap_or(0);
        if self.fresh && !self.text.is_empty() {
            self.text.push_str("--\n");
        }
        self.fresh = false;
        let mark = if is_hit { ':' } else { '-' };
        self.text
            .push_str(&format!("{}{mark}{number}{mark} {shown}{cut}\n", self.path));
        self.lines.push(json!({"path": self.path, "line": number, "hit": is_hit, "text": format!("{shown}{cut}")}));
        if self.text.len() > MOST_BYTES {
            self.full = Some("bytes");
        }
    }
}

impl Sink for Hits {
    type Error = std::io::Error;

    fn matched(
        &mut self,
        _: &Searcher,
        found: &SinkMatch<'_>,
    ) -> std::result::Result<bool, Self::Error> {
        if self.hits >= self.most {
            self.full = Some("hits");
            return Ok(false);
        }
        self.hits += 1;
        self.show(found.line_number(), found.bytes(), true);
        Ok(self.full.is_none())
    }

    fn context(
        &mut self,
        _: &Searcher,
        around: &SinkContext<'_>,
    ) -> std::result::Result<bool, Self::Error> {
        self.show(around.line_number(), around.bytes(), false);
        Ok(self.full.is_none())
    }

    fn context_break(&mut self, _: &Searcher) -> std::result::Result<bool, Self::Error> {
        self.text.push_str("--\n");
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, _: &SinkFinish) -> std::result::Result<(), Self::Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{World, code, ok};
    use super::*;

    fn text(world: &World, args: Value) -> String {
        ok(&world.run("grep", args))["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn hits_come_with_file_line_and_context_and_case_counts_only_when_it_is_written() {
        let world = World::new();
        world.write("a.md", "one\nZebra\nthree\nfour\n");
        world.write("b/c.md", "the zebra.\n");
        assert_eq!(
            text(&world, json!({"pattern": "zebra"})),
            "notes:a.md:2: Zebra\n--\nnotes:b/c.md:1: the zebra.\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "Zebra"})),
            "notes:a.md:2: Zebra\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "zebra", "case_sensitive": true})),
            "notes:b/c.md:1: the zebra.\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "Z", "context": 1})),
            "notes:a.md-1- one\nnotes:a.md:2: Zebra\nnotes:a.md-3- three\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "zebra.", "fixed": true})),
            "notes:b/c.md:1: the zebra.\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "e", "path": "notes:b"})),
            "notes:b/c.md:1: the zebra.\n"
        );
        assert_eq!(
            text(&world, json!({"pattern": "^t", "path": "a.md"})),
            "notes:a.md:3: three\n"
        );
        assert_eq!(
            code(&world.run("grep", json!({"pattern": "x", "path": "gone"}))),
            "FILE_NOT_FOUND"
        );
        assert_eq!(
            code(&world.run("grep", json!({"pattern": "x", "path": "../outside"}))),
            "PATH_DENIED"
        );
    }

    #[test]
    fn limits_are_said() {
        let world = World::new();
        world.write("a.md", &"hit\n".repeat(300));
        let body = ok(&world.run("grep", json!({"pattern": "hit"})));
        assert_eq!(
            (&body["hits"], &body["truncated"], &body["limit"]),
            (&json!(100), &json!(true), &json!("hits"))
        );
        let body = ok(&world.run("grep", json!({"pattern": "hit", "max_hits": 3})));
        assert_eq!(body["hits"], 3);
        world.write("long.md", &format!("needle{}\n", "x".repeat(5000)));
        assert!(text(&world, json!({"pattern": "needle"})).len() < 600);
    }

    /// A backtracking engine would take very long for this pattern and text.
    #[test]
    fn s26_a_hostile_pattern_takes_linear_time_or_is_refused() {
        let world = World::new();
        world.write("a.md", &format!("{}!\n", "a".repeat(200_000)));
        for pattern in ["(a+)+$", "(a|aa)+$", "(a|a?)+$", "(.*)*b", "(x+x+)+y"] {
            let body = ok(&world.run("grep", json!({"pattern": pattern})));
            assert!(body["limit"] != "time", "{pattern}");
        }
        for pattern in [
            "a{1000}{1000}{1000}",
            "(",
            "[z-a]",
            "\\1",
            &"(".repeat(500),
            "\\p{Greek}{9999}{999}",
        ] {
            assert_eq!(
                code(&world.run("grep", json!({"pattern": pattern}))),
                "INVALID_ARGS",
                "{pattern}"
            );
        }
        assert_eq!(
            code(&world.run("grep", json!({"pattern": "x".repeat(1001)}))),
            "INVALID_ARGS"
        );
        assert_eq!(
            code(&world.run("grep", json!({"pattern": "a\nb"}))),
            "INVALID_ARGS"
        );
    }

    #[test]
    fn what_was_not_looked_at_is_said() {
        let world = World::new();
        for n in 0..5 {
            world.write(&format!("{n}.md"), &"hit\n".repeat(60));
        }
        let body = ok(&world.run("grep", json!({"pattern": "hit"})));
        assert_eq!(
            (&body["files_searched"], &body["files_left_out"]),
            (&json!(2), &json!(3))
        );
        let end = "TRUNCATED: the limit of hits was reached; 3 files were not looked at\n";
        assert!(
            body["text"].as_str().unwrap().ends_with(end),
            "{}",
            body["text"]
        );
        let body = ok(&world
            .with_lost_root("away")
            .get("grep")
            .unwrap()
            .run(&json!({"pattern": "nothing"})));
        assert_eq!(body["sources_unavailable"], json!(["away"]));
        assert_eq!(
            body["text"],
            "NOT SEARCHED: the source `away` cannot be opened now\n"
        );
    }

    #[test]
    fn what_is_denied_is_not_looked_at() {
        let world = World::new();
        for path in [".env", "x/.git/a.md", ".hidden.md", "a.exe", "ignored/a.md"] {
            world.write(path, "NEEDLE");
        }
        world.write(".gitignore", "ignored/\n");
        world.link("../outside/secret.md", "link.md");
        world.write_bytes("binary.md", b"NEEDLE\0NEEDLE\n");
        assert_eq!(text(&world, json!({"pattern": "NEEDLE|SECRET"})), "");
    }
}
