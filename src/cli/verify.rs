//! `verify`: the verifier alone, on anybody's answer.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::Verify as Args;
use super::context::Context;
use super::index::extend;
use super::output::talk;
use super::read::read_text;
use super::try_it::config_for;
use local_agent_agent::operations::verify::{Judged, against_files, against_snapshot};
use local_agent_agent::runs::{self, Record};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::EvidenceSnapshot;
use local_agent_verify::{self as verify, Verdict};

/// Largest answer that is judged, in bytes.
const LARGEST: u64 = 8 << 20;

pub fn run(context: &mut Context, args: &Args) -> Result<ExitCode> {
    let answer = answer(context, &args.answer)?;
    let judged = match (&args.snapshot, &args.vault) {
        (Some(file), None) => {
            let snapshot = snapshot(context, &context.environment.cwd.join(file))?;
            against_snapshot(&answer, &snapshot)
        }
        (None, Some(dir)) => {
            let config = config_for(context, &context.environment.cwd.join(dir))?;
            against_files(&answer, &context.sandbox(&config)?)?
        }
        _ => {
            return Err(Failure::new(
                ErrorCode::InvalidArgs,
                "one of --snapshot and --vault must be given",
            )
            .with_hint("local-agent verify ANSWER --vault DIR"));
        }
    };
    if context.out.json {
        let mut body = body(&judged)?;
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context, &judged);
    }
    Ok(if judged.report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

fn answer(context: &Context, file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return read_text(&context.environment.cwd.join(file));
    }
    let mut bytes = Vec::new();
    let fail = |why: String| Failure::new(ErrorCode::FileReadError, format!("stdin {why}"));
    std::io::stdin()
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| fail(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::new(
            ErrorCode::FileTooLarge,
            "the answer on stdin is too large",
        ));
    }
    String::from_utf8(bytes).map_err(|_| fail("is not UTF-8 text".to_owned()))
}

/// A snapshot file, something that holds one under `snapshot`, or a run's record, whose evidence is
/// brought back.
fn snapshot(context: &Context, file: &Path) -> Result<EvidenceSnapshot> {
    let json = read_text(file)?;
    let held = serde_json::from_str::<Value>(&json).ok();
    if held.as_ref().is_some_and(Record::is_one) {
        let record = Record::from_json(&json)?;
        let config = context.load()?.config;
        let folder = file.parent().unwrap_or(Path::new("."));
        return Ok(runs::thaw(&record, folder, &context.sandbox(&config)?)?.snapshot);
    }
    let held = held.and_then(|v| {
        v.get("snapshot")
            .filter(|s| s.is_object())
            .map(Value::to_string)
    });
    EvidenceSnapshot::from_json(held.as_deref().unwrap_or(&json))
}

fn body(judged: &Judged) -> Result<Value> {
    let mut body = serde_json::to_value(&judged.report)
        .map_err(|e| Failure::internal(format!("the report cannot be written as JSON: {e}")))?;
    let unresolved: Vec<Value> = judged
        .unresolved
        .iter()
        .map(|(citation, why)| json!({ "citation": citation, "why": why }))
        .collect();
    if let Some(fields) = body.as_object_mut() {
        fields.insert("unresolved".to_owned(), Value::Array(unresolved));
    }
    Ok(body)
}

fn print(context: &Context, judged: &Judged) {
    let out = context.out;
    for (citation, why) in &judged.unresolved {
        talk(&format!("{}: {}", out.shown(citation), out.shown(why)));
    }
    let report = &judged.report;
    for claim in &report.claims {
        let verdict = match claim.verdict {
            Verdict::Verified => "verified",
            Verdict::Checked => "checked ",
            Verdict::Rejected => "REJECTED",
        };
        let words: Vec<&str> = claim.text.split_whitespace().collect();
        out.line(&format!(
            "{verdict}  {}",
            out.bold(&out.shown(&words.join(" ")))
        ));
        let codes: Vec<&str> = claim
            .codes
            .iter()
            .chain(&claim.remarks)
            .map(|c| c.as_str())
            .collect();
        let codes = if codes.is_empty() {
            String::new()
        } else {
            format!("{}: ", codes.join(", "))
        };
        out.line(&format!("          {codes}{}", out.shown(&claim.why)));
    }
    let names: Vec<&str> = report.codes.iter().map(|c| c.as_str()).collect();
    let outcome = match report.outcome {
        verify::Outcome::Passed => {
            "passed: every claim is cited, and nothing was found against it".to_owned()
        }
        verify::Outcome::Abstained => {
            "abstained: the answer says that it cannot answer, and claims nothing".to_owned()
        }
        verify::Outcome::Rejected => format!("rejected: {}", names.join(", ")),
    };
    out.line(&outcome);
    out.line(&out.dim(&report.footer()));
}
