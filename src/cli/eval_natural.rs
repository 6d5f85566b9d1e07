//! `eval natural`: the verifier's verdicts on natural answers, both honest ones and those with one
//! changed fact.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;

use super::context::Context;
use super::output::Output;
use super::read::read_text;
use local_agent_eval::natural::{self, CodeCounts, Faults, Miss, NaturalFigures, Vaults};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::RelPath;

/// What `eval natural --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct EvalNaturalView<'a> {
    sets: Vec<NaturalSet<'a>>,
}

/// One set of answers.
#[derive(Serialize, JsonSchema)]
struct NaturalSet<'a> {
    set: &'a str,
    figures: &'a NaturalFigures,
}

pub(super) fn run(
    context: &Context,
    files: &[PathBuf],
    vaults: &[String],
    show: bool,
) -> Result<ExitCode> {
    let folders = folders(context, vaults)?;
    let read = |vault: &str, path: &str| read_note(&folders, vault, path);
    let mut vaults = Vaults::new(&read);
    let mut sets: Vec<(String, NaturalFigures)> = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let rows = natural::rows(&read_text(&context.environment.cwd.join(file))?, &name)?;
        sets.push((name, natural::measure(&rows, &mut vaults)?));
    }
    if context.out.json {
        let sets = sets.iter();
        let view = EvalNaturalView {
            sets: sets
                .map(|(set, figures)| NaturalSet { set, figures })
                .collect(),
        };
        context.out.json(context.body(&view)?);
        return Ok(ExitCode::SUCCESS);
    }
    for (name, figures) in &sets {
        print(&context.out, name, figures);
        if show {
            figures
                .misses
                .iter()
                .for_each(|miss| print_miss(&context.out, miss));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Parses `NAME=DIR` to the folder, which must exist.
fn folders(context: &Context, vaults: &[String]) -> Result<HashMap<String, PathBuf>> {
    let mut out = HashMap::new();
    for vault in vaults {
        let (name, folder) = vault
            .split_once('=')
            .ok_or_else(|| wrong_vault(vault, "not NAME=DIR"))?;
        let folder = context.environment.cwd.join(folder);
        if !folder.is_dir() {
            return Err(wrong_vault(vault, "the folder does not exist"));
        }
        out.insert(name.to_owned(), folder);
    }
    Ok(out)
}

/// The failure for an argument `--vault` that cannot be used.
fn wrong_vault(vault: &str, why: &str) -> Failure {
    Failure::new(ErrorCode::InvalidArgs, format!("--vault {vault}: {why}"))
        .with_command("local-agent eval natural --help")
}

fn read_note(folders: &HashMap<String, PathBuf>, vault: &str, path: &str) -> Result<String> {
    let folder: &Path = folders.get(vault).ok_or_else(|| {
        unusable(format!(
            "the set uses the vault {vault}, and no --vault {vault}=DIR says where it is"
        ))
    })?;
    let path = RelPath::new(path).map_err(|e| unusable(format!("{path}: {e}")))?;
    read_text(&folder.join(path.as_str()))
}

/// The failure for a note of the set that cannot be used.
fn unusable(message: String) -> Failure {
    Failure::new(ErrorCode::EvalError, message).with_command("local-agent eval natural --help")
}

fn print(out: &Output, name: &str, figures: &NaturalFigures) {
    let NaturalFigures {
        honest,
        passed,
        sentences,
        refused,
        doubted,
        wrong,
        ..
    } = figures;
    out.line(&out.bold(name));
    out.line(&format!(
        "honest answers that pass: {passed} of {honest} ({:.3}); of their {sentences} sentences refused: {refused} \
         ({:.3}), doubted: {doubted} ({:.3})",
        share(*passed, *honest),
        share(*refused, *sentences),
        share(*doubted, *sentences),
    ));
    out.line("");
    out.line("| fault | wrong answers | rejected | doubtful | shown | rejected or doubtful |");
    out.line("| --- | --- | --- | --- | --- | --- |");
    for (fault, faults) in &figures.by_fault {
        row(out, fault, faults);
    }
    row(out, "all", wrong);
    out.line("");
    out.line("| code | true rejected | true doubted | false rejected | false doubted |");
    out.line("| --- | --- | --- | --- | --- |");
    for (code, counts) in &figures.by_code {
        code_row(out, code, counts);
    }
}

fn code_row(out: &Output, code: &str, counts: &CodeCounts) {
    let CodeCounts {
        true_rejected,
        true_doubted,
        false_rejected,
        false_doubted,
    } = counts;
    out.line(&format!(
        "| {code} | {true_rejected} | {true_doubted} | {false_rejected} | {false_doubted} |"
    ));
}

fn row(out: &Output, name: &str, faults: &Faults) {
    let Faults {
        all,
        rejected,
        doubtful,
        shown,
    } = faults;
    out.line(&format!(
        "| {name} | {all} | {rejected} | {doubtful} | {shown} | {:.3} |",
        share(rejected + doubtful, *all)
    ));
}

fn print_miss(out: &Output, miss: &Miss) {
    let fate = match miss.fate {
        natural::Fate::Shown => "shown",
        natural::Fate::Doubtful => "doubted",
        natural::Fate::Rejected => "refused",
    };
    let what = miss.fault.as_deref().unwrap_or("true");
    let words: Vec<&str> = miss.sentence.split_whitespace().collect();
    out.line(&format!(
        "\n{} ({what}, {fate}) {}\n  {}\n  {}",
        miss.id,
        miss.codes.join(", "),
        out.shown(&words.join(" ")),
        out.shown(&miss.why),
    ));
}

fn share(part: usize, of: usize) -> f64 {
    as_float(part) / as_float(of.max(1))
}

/// The number as a fraction.
fn as_float(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}
