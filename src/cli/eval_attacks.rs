//! `eval attacks`: the verifier's verdicts on true sentences made false.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::{Context, to_value};
use super::read::read_text;
use super::try_it::{config_for, example_vault};
use super::write::write_whole;
use local_agent_eval::attacks::{self, Attack, AttackFigures, AttackPassage};
use local_agent_eval::claims;
use local_agent_files::sandbox::{Address, WalkOutcome};
use local_agent_text::error::Result;
use local_agent_text::markdown::Scheme;
use local_agent_text::markdown::{Chunk, ChunkOptions, parse};

/// Maximum number of attacked sentences of notes, and of claims per file.
const MAX_ATTACKED: usize = 400;

/// Number of tokens per passage in the default configuration; four bytes count as one token.
const PASSAGE_TOKENS: usize = 200;

/// What `eval attacks --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalAttacksView<'a> {
    rows: Vec<AttackedGroup<'a>>,
}

/// One kind of fault in the sentences of one source; `all`: every kind.
#[derive(Serialize, JsonSchema)]
struct AttackedGroup<'a> {
    source: &'a str,
    operator: &'a str,
    figures: &'a AttackFigures,
}

pub(super) fn run(
    context: &mut Context,
    folder: Option<&Path>,
    files: &[PathBuf],
    out_file: Option<&Path>,
) -> Result<ExitCode> {
    let dir = match folder {
        Some(dir) => context.environment.cwd.join(dir),
        None => example_vault(context)?,
    };
    let passages: Vec<AttackPassage> = notes(context, &dir)?
        .into_iter()
        .flat_map(|note| note.passages)
        .collect();
    let mut samples = attacks::from_notes(&passages, MAX_ATTACKED);
    for file in files {
        let judged = claims::claims(
            &read_text(&context.environment.cwd.join(file))?,
            &file.display().to_string(),
        )?;
        samples.extend(attacks::from_claims(&judged, MAX_ATTACKED));
    }
    samples.extend(attacks::paraphrases()?);
    let all: Vec<Attack> = samples.iter().flat_map(attacks::attack).collect();
    if let Some(file) = out_file {
        let missed = all.iter().filter(|a| !a.caught || a.base_rejected);
        let mut lines = String::new();
        for attack in missed {
            lines.push_str(&format!("{}\n", to_value(attack)?));
        }
        write_whole(&context.environment.cwd.join(file), lines.as_bytes())?;
    }
    let rows = attacks::rows(&all);
    if context.out.json {
        let rows = rows
            .iter()
            .map(|((source, operator), figures)| AttackedGroup {
                source,
                operator,
                figures,
            });
        let view = EvalAttacksView {
            rows: rows.collect(),
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    let out = context.out;
    out.line("| source | operator | attacks | caught | false rejects | verified without the fault | substring rule: caught | its false rejects |");
    out.line("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for ((source, operator), row) in &rows {
        out.line(&format!(
            "| {source} | {operator} | {} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            row.attacks,
            row.caught,
            row.false_rejects,
            row.verified,
            row.substring_caught,
            row.substring_false_rejects,
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A note and its passages.
pub(super) struct Note {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) passages: Vec<AttackPassage>,
}

/// All notes in a folder.
pub(super) fn notes(context: &mut Context, dir: &Path) -> Result<Vec<Note>> {
    let config = config_for(context, dir)?;
    let sandbox = context.sandbox(&config)?;
    let options = ChunkOptions {
        scheme: Scheme::ObsidianV2,
        max_tokens: PASSAGE_TOKENS,
        max_chars: 800,
        overlap: 0,
    };
    let mut out = Vec::new();
    for source in &config.sources {
        for entry in sandbox.walk(&source.name, &[".md", ".markdown"])? {
            if !matches!(entry.what, WalkOutcome::Found(_)) {
                continue;
            }
            let at = Address {
                source: source.name.clone(),
                path: entry.path,
            };
            let bytes = sandbox.read(&at)?.bytes;
            let Ok(text) = String::from_utf8(bytes) else {
                continue;
            };
            let path = at.path.to_string();
            let chunks = parse(&text, &options, &|t: &str| t.len() / 4 + 1).chunks;
            let passages = chunks
                .into_iter()
                .map(|chunk| passage_of(&path, &text, chunk))
                .collect();
            out.push(Note {
                path,
                text,
                passages,
            });
        }
    }
    Ok(out)
}

/// A chunk as a passage of the note.
fn passage_of(path: &str, text: &str, chunk: Chunk) -> AttackPassage {
    AttackPassage {
        path: path.to_owned(),
        heading: chunk.heading,
        start: chunk.span.start(),
        first_line: chunk.lines.first(),
        text: text
            .get(chunk.span.start()..chunk.span.end())
            .unwrap_or("")
            .to_owned(),
    }
}
