//! `get` and `multi-get`: read documents, parts of them and chunks through the sandbox, with line
//! numbers.

use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{Get, MultiGet};
use super::context::Context;
use super::enter::Needs;
use super::output::{Output, talk, visible};
use super::query::file_path;
use local_agent_agent::config::Config;
use local_agent_agent::operations::documents::{self, DocumentPiece, Lines, Listed};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Result};

/// What `get --json` prints of a document, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PieceView<'a> {
    /// `source:path`.
    address: &'a str,
    /// Of the whole file.
    sha256: String,
    /// Line number of the first line of `text`, from 1.
    first_line: usize,
    /// Lines of the whole file.
    total_lines: usize,
    text: &'a str,
    /// Whether `text` is only the beginning of what was asked for.
    truncated: bool,
}

impl<'a> From<&'a DocumentPiece> for PieceView<'a> {
    fn from(piece: &'a DocumentPiece) -> Self {
        Self {
            address: &piece.address,
            sha256: piece.sha256.to_string(),
            first_line: piece.first_line,
            total_lines: piece.total_lines,
            text: &piece.text,
            truncated: piece.truncated,
        }
    }
}

/// What `multi-get --json` prints, without the roots.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ManyView<'a> {
    patterns: &'a [String],
    count: usize,
    outcome: &'static str,
    documents: Vec<PieceView<'a>>,
    skipped: &'a [SkippedNote],
    /// Documents of which nothing is shown because `--max-bytes` is used up.
    left_out_by_max_bytes: usize,
}

/// Something that was named and is not shown.
#[derive(Debug, Serialize, JsonSchema)]
struct SkippedNote {
    /// The address, or the pattern as it was typed.
    path: String,
    /// A stable code.
    reason: String,
}

pub(super) fn run(context: &Context, args: &Get) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let sandbox = context.sandbox_for(&config, args.for_agent)?;
    let lines = Lines {
        from: args.from.and_then(|line| usize::try_from(line).ok()),
        count: args.lines.and_then(|count| usize::try_from(count).ok()),
    };
    let piece = documents::get(&config, &sandbox, &args.address, lines)?;
    let out = context.out;
    if out.json {
        out.json(context.body(&PieceView::from(&piece))?);
        return Ok(ExitCode::SUCCESS);
    }
    if args.full_path
        && let Some((source, path)) = piece.address.split_once(':')
    {
        let path = file_path(&config, source, path);
        out.line(&out.shown(&path.to_string_lossy()));
    }
    print(out, &piece, args.raw);
    Ok(ExitCode::SUCCESS)
}

fn print(out: Output, piece: &DocumentPiece, raw: bool) {
    if raw {
        out.raw(&out.shown(&piece.text));
        return;
    }
    for (at, line) in piece.text.lines().enumerate() {
        out.line(&format!(
            "{:>5}  {}",
            piece.first_line + at,
            out.shown(line)
        ));
    }
}

/// The requested documents, as far as they could be read and shown.
#[derive(Debug, Default)]
struct Collected {
    pieces: Vec<DocumentPiece>,
    skipped: Vec<SkippedNote>,
    left_out: usize,
    budget: u64,
    /// Why the first name was not found.
    first_failure: Option<Failure>,
}

pub(super) fn run_many(context: &Context, args: &MultiGet) -> Result<ExitCode> {
    let config = context.load()?.config;
    context.enter(&config, &Needs::nothing())?;
    let sandbox = context.sandbox_for(&config, args.for_agent)?;
    let mut collected = Collected {
        budget: args.max_bytes,
        ..Collected::default()
    };
    let lines = Lines {
        from: None,
        count: args.lines.and_then(|count| usize::try_from(count).ok()),
    };
    for list in &args.patterns {
        for one in documents::listed(&sandbox, list)? {
            collected.add(&config, &sandbox, one, lines);
        }
    }
    if collected.pieces.is_empty() && collected.left_out == 0 && collected.skipped.is_empty() {
        let message = format!("No document fits `{}`.", args.patterns.join(" "));
        let none = Failure::new(ErrorCode::FileNotFound, message).with_command("local-agent ls");
        return Err(collected.first_failure.unwrap_or(none));
    }
    if let (true, Some(failure)) = (collected.pieces.is_empty(), &collected.first_failure) {
        return Err(failure.clone());
    }
    show_many(context, args, &collected)?;
    Ok(ExitCode::SUCCESS)
}

impl Collected {
    /// Adds what was named. A glob without a match and an unknown name are recorded.
    fn add(&mut self, config: &Config, sandbox: &Sandbox, one: Listed, lines: Lines) {
        let request = match one {
            Listed::File(at) => at.to_string(),
            Listed::Request(request) => request,
            Listed::Skipped(at, reason) => {
                self.skipped.push(SkippedNote {
                    path: at.to_string(),
                    reason: reason.as_str().to_owned(),
                });
                return;
            }
            Listed::NoMatch(pattern) => {
                let message = format!("No document fits `{pattern}`.");
                let failure = Failure::new(ErrorCode::FileNotFound, message);
                return self.note(pattern, failure.with_command("local-agent ls"));
            }
        };
        let got = documents::get(config, sandbox, &request, lines);
        self.take(request, got);
    }

    /// Adds one document, or as much of its beginning as fits.
    fn take(&mut self, name: String, got: Result<DocumentPiece>) {
        let piece = match got {
            Ok(piece) => piece,
            Err(failure) => return self.note(name, failure),
        };
        // After one omitted document, later ones are omitted too, so that the output is a prefix.
        if self.left_out > 0 {
            self.left_out += 1;
            return;
        }
        match piece.beginning(self.budget) {
            Some(piece) => {
                self.budget -= piece.text.len() as u64;
                if piece.truncated {
                    self.budget = 0;
                }
                self.pieces.push(piece);
            }
            None => self.left_out += 1,
        }
    }

    fn note(&mut self, path: String, failure: Failure) {
        let reason = failure.code.as_str().to_owned();
        self.skipped.push(SkippedNote { path, reason });
        self.first_failure.get_or_insert(failure);
    }
}

fn show_many(context: &Context, args: &MultiGet, collected: &Collected) -> Result<()> {
    let out = context.out;
    if out.json {
        let view = ManyView {
            patterns: &args.patterns,
            count: collected.pieces.len(),
            outcome: "found",
            documents: collected.pieces.iter().map(PieceView::from).collect(),
            skipped: &collected.skipped,
            left_out_by_max_bytes: collected.left_out,
        };
        out.json(context.body(&view)?);
        return Ok(());
    }
    for piece in &collected.pieces {
        out.line(&out.bold(&out.shown(&format!("== {}", piece.address))));
        print(out, piece, false);
        if piece.truncated {
            talk(&format!(
                "cut: {} is shown to line {} of {}, because of --max-bytes {}",
                visible(&piece.address),
                piece.first_line + piece.text.lines().count() - 1,
                piece.total_lines,
                args.max_bytes
            ));
        }
    }
    for one in &collected.skipped {
        talk(&format!("skipped: {} ({})", visible(&one.path), one.reason));
    }
    if collected.left_out > 0 {
        talk(&format!(
            "left out: {} more, beyond --max-bytes {}",
            super::output::count(collected.left_out, "document"),
            args.max_bytes
        ));
    }
    Ok(())
}
