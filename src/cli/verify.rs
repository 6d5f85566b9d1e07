//! `verify`: runs only the verifier, on an answer from any author.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::Verify as Args;
use super::claims;
use super::context::Context;
use super::git;
use super::output::talk;
use super::read::read_text;
use super::try_it::config_for;
use super::write::write_whole;
use local_agent_agent::ask::{SourceSentence, source_sentence};
use local_agent_agent::config::Config;
use local_agent_agent::operations::verify::lock::{self, Change, ClaimChange, Lock};
use local_agent_agent::operations::verify::{Judged, Unresolved, against_files, against_snapshot};
use local_agent_agent::runs::{self, Record};
use local_agent_files::sandbox::Sandbox;
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::evidence::EvidenceSnapshot;
use local_agent_verify::{self as verify, Claim, Report, Verdict};

/// What `verify --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct JudgedView<'a> {
    #[serde(flatten)]
    report: &'a Report,
    /// Citations that name no passage of the notes.
    unresolved: &'a [Unresolved],
    /// With a lock file: what changed for each claim.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<&'a [ClaimChange]>,
    /// With a lock file: whether every claim still holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    holds: Option<bool>,
}

/// Maximum size of an answer, in bytes.
const LARGEST: u64 = 8 << 20;

pub(super) fn run(context: &mut Context, args: &Args) -> Result<ExitCode> {
    let answer = answer(context, &args.answer)?;
    if let Some(file) = &args.snapshot {
        let snapshot = snapshot(context, &context.environment.cwd.join(file))?;
        return finish(
            context,
            &against_snapshot(&answer, snapshot),
            None,
            args.strict,
        );
    }
    let config = match &args.vault {
        Some(dir) => vault_config(context, &context.environment.cwd.join(dir))?,
        None => context.load()?.config,
    };
    let sandbox = context.sandbox_for(&config, args.for_agent)?;
    let judged = against_files(&answer, &sandbox)?;
    if let Some(file) = &args.lock {
        let file = context.environment.cwd.join(file);
        let document = args.answer.to_string_lossy();
        if args.update {
            return update(context, &judged, &file, &document, args.strict);
        }
        let changes = read_lock(&file)?.changes(&document, &judged, &sandbox)?;
        return finish(context, &judged, Some(&changes), args.strict);
    }
    if let Some(revision) = &args.changed_since {
        let changes = since(&config, &sandbox, &judged, revision)?;
        return finish(context, &judged, Some(&changes), args.strict);
    }
    finish(context, &judged, None, args.strict)
}

/// The state of the claims that cite a file which changed since `revision`.
fn since(
    config: &Config,
    sandbox: &Sandbox,
    judged: &Judged,
    revision: &str,
) -> Result<Vec<ClaimChange>> {
    for source in &config.sources {
        git::check_revision(&source.root, revision)?;
    }
    lock::changes_since(judged, sandbox, &mut |at| {
        let source = config
            .sources
            .iter()
            .find(|source| source.name == at.source);
        match source {
            Some(source) => git::text_at(&source.root, revision, &at.path),
            None => Ok(None),
        }
    })
}

fn read_lock(file: &Path) -> Result<Lock> {
    let text = read_text(file).map_err(|failure| match failure.code {
        ErrorCode::FileNotFound => {
            failure.with_command("local-agent verify DOCUMENT --lock FILE --update")
        }
        _ => failure,
    })?;
    Lock::from_json(&text)
}

/// Writes the verdicts for a passing document to the lock file.
fn update(
    context: &Context,
    judged: &Judged,
    file: &Path,
    document: &str,
    strict: bool,
) -> Result<ExitCode> {
    if passes(&judged.report, strict) {
        let mut lock = if file.exists() {
            read_lock(file)?
        } else {
            Lock::default()
        };
        lock.update(document, judged);
        write_whole(file, lock.to_json()?.as_bytes())?;
    }
    finish(context, judged, None, strict)
}

/// Whether an answer passes. With `strict`, a doubt fails it.
fn passes(report: &Report, strict: bool) -> bool {
    match strict {
        true => report.ok_without_doubts(),
        false => report.ok,
    }
}

/// The changes; with `strict`, a claim in doubt does not hold.
fn firm(changes: &[ClaimChange], strict: bool) -> Vec<ClaimChange> {
    let mut changes = changes.to_vec();
    for change in &mut changes {
        change.holds &= !strict || change.verdict != Verdict::Doubtful.as_str();
    }
    changes
}

/// Prints the result, and returns an exit code that tells whether everything passed: the changes,
/// if `changes` are given, otherwise the answer.
fn finish(
    context: &Context,
    judged: &Judged,
    changes: Option<&[ClaimChange]>,
    strict: bool,
) -> Result<ExitCode> {
    let changes = changes.map(|changes| firm(changes, strict));
    let changes = changes.as_deref();
    let holds = match changes {
        Some(changes) => changes.iter().all(|change| change.holds),
        None => passes(&judged.report, strict),
    };
    if context.out.json {
        let view = JudgedView {
            report: &judged.report,
            unresolved: &judged.unresolved,
            changes,
            holds: changes.map(|_| holds),
        };
        let mut body = context.body(&view)?;
        if strict && changes.is_none() {
            body["ok"] = holds.into();
        }
        context.out.json(body);
    } else {
        match changes {
            Some(changes) => print_changes(context, changes),
            None => print(context, judged, strict),
        }
    }
    Ok(if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Prints one line for each claim whose passage has changed, with the reason if its support was
/// lost.
fn print_changes(context: &Context, changes: &[ClaimChange]) {
    let out = context.out;
    for change in changes {
        let what = match (change.holds, change.change) {
            (true, Change::Unchanged) => continue,
            (true, Change::Moved) => "moved",
            (true, Change::Edited) => "edited, and still carries it",
            (true, Change::New) => "new",
            (false, _) => "BROKEN",
        };
        let words: Vec<&str> = change.claim.split_whitespace().collect();
        out.line(&format!("{what}  {}", out.shown(&words.join(" "))));
        if let Some(at) = &change.now_at {
            out.line(&out.shown(&format!("        now at {at}")));
        }
        if !change.holds {
            out.line(&out.shown(&format!("        {}", change.why)));
        }
    }
    let broken = changes.iter().filter(|change| !change.holds).count();
    out.line(&match broken {
        0 => format!("holds: {} compared", counted(changes.len())),
        n => format!("broken: {} of {}", n, counted(changes.len())),
    });
}

fn counted(claims: usize) -> String {
    match claims {
        1 => "1 claim".to_owned(),
        n => format!("{n} claims"),
    }
}

/// The folder as the only source, with every extension of the configured sources, including code.
fn vault_config(context: &mut Context, dir: &Path) -> Result<Config> {
    // A folder can be judged without any configuration.
    let configured = context.load().map(|loaded| loaded.config).ok();
    let mut config = config_for(context, dir)
        .map_err(|failure| failure.with_hint("name the folder of the cited files: --vault DIR"))?;
    for source in &mut config.sources {
        source.code = true;
    }
    for extension in configured.iter().flat_map(|c| &c.security.allowed_exts) {
        if !config.security.allowed_exts.contains(extension) {
            config.security.allowed_exts.push(extension.clone());
        }
    }
    Ok(config)
}

fn answer(context: &Context, file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return read_text(&context.environment.cwd.join(file));
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| unreadable_input(format!("cannot be read: {e}")))?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::new(
            ErrorCode::FileTooLarge,
            "the answer on stdin is too large",
        ));
    }
    String::from_utf8(bytes).map_err(|_| unreadable_input("is not UTF-8 text".to_owned()))
}

/// The failure for an answer that cannot be read from the standard input.
fn unreadable_input(why: String) -> Failure {
    Failure::new(ErrorCode::FileReadError, format!("stdin {why}"))
}

/// Reads a snapshot from a snapshot file, from a JSON object with one under `snapshot`, or from a
/// run's record, whose evidence is restored.
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

/// The sentence of the cited text that a rejected or doubtful claim is about.
fn objected_source(claim: &Claim, judged: &Judged) -> Option<SourceSentence> {
    let is_objected = matches!(claim.verdict, Verdict::Rejected | Verdict::Doubtful);
    is_objected
        .then(|| source_sentence(claim, &judged.snapshot))
        .flatten()
}

fn print(context: &Context, judged: &Judged, strict: bool) {
    let out = context.out;
    for one in &judged.unresolved {
        talk(&format!("{}: {}", one.citation, one.why));
    }
    let report = &judged.report;
    for claim in &report.claims {
        let verdict = match claim.verdict {
            Verdict::Verified => "verified",
            Verdict::Checked => "checked ",
            Verdict::Derived => "derived ",
            Verdict::Doubtful => "doubtful",
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
            .chain(&claim.doubts)
            .chain(&claim.remarks)
            .map(|c| c.as_str())
            .collect();
        let codes = if codes.is_empty() {
            String::new()
        } else {
            format!("{}: ", codes.join(", "))
        };
        out.line(&format!("          {codes}{}", out.shown(&claim.why)));
        if let Some(source) = objected_source(claim, judged) {
            out.line(&format!(
                "          {}",
                out.shown(&claims::quoted(&source))
            ));
        }
    }
    let names: Vec<&str> = report.codes.iter().map(|c| c.as_str()).collect();
    let doubts = report.claims.iter();
    let doubts = doubts.filter(|claim| claim.verdict == Verdict::Doubtful);
    let outcome = match report.outcome {
        verify::Outcome::Passed if report.ok_without_doubts() => {
            "passed: every claim is cited, and nothing was found against it".to_owned()
        }
        verify::Outcome::Passed => {
            let doubts = counted(doubts.count());
            match strict {
                true => format!("rejected: {doubts} in doubt"),
                false => format!(
                    "passed, {doubts} in doubt: every claim is cited, and nothing disproves it"
                ),
            }
        }
        verify::Outcome::Abstained => {
            "abstained: the answer says that it cannot answer, and claims nothing".to_owned()
        }
        verify::Outcome::Rejected => format!("rejected: {}", names.join(", ")),
    };
    out.line(&outcome);
    if let Some(counts) = report.counts.in_words() {
        out.line(&out.dim(&counts));
    }
}
