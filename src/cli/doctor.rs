//! `doctor`: exit code 0 if and only if every check is ok.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::args::Doctor;
use super::context::{Context, to_value};
use super::enter::Needs;
use super::hints;
use super::output::{Output, count};
use crate::doctor::{self, Check, Phase3, Report, Subject};
use local_agent_text::error::Result;

pub(super) fn run(context: &Context, args: &Doctor) -> Result<ExitCode> {
    let mut loaded = context.load_lenient()?;
    let state_is_trusted = match context.check_state(&loaded.config) {
        Ok(()) => true,
        Err(failure) => {
            loaded.problems.push(failure.into());
            false
        }
    };
    context.roots();
    context.enter(&loaded.config, &Needs::nothing())?;
    let sandbox = context.sandbox(&loaded.config);
    let model = context.embedding_files(&loaded.config);
    let reranker = context.reranker(&loaded.config);
    let mut report = doctor::examine(&Subject {
        loaded: &loaded,
        state_is_trusted,
        sandbox: &sandbox,
        model: &model,
        reranker: &reranker,
        require_phase3: args.require_phase3,
        offline: args.offline,
        seed: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    });
    for check in &mut report.checks {
        check.suggested_fix = check.suggested_fix.as_deref().map(hints::here);
    }
    if context.out.json {
        let view = DoctorView::new(&report, args.require_phase3);
        context.out.json(context.body(&view)?);
    } else {
        let detail = match (args.quiet, args.verbose) {
            (true, _) => Detail::Quiet,
            (false, true) => Detail::All,
            (false, false) => Detail::Usual,
        };
        print(context.out, &report, detail);
    }
    Ok(ExitCode::from(u8::from(!report.ok())))
}

/// The output of `doctor --json`, without the roots.
pub(super) fn body(subject: &Subject<'_>) -> Result<Value> {
    let report = doctor::examine(subject);
    to_value(&DoctorView::new(&report, subject.require_phase3))
}

/// What `doctor --json` prints, without the roots.
#[derive(Serialize, JsonSchema)]
pub(super) struct DoctorView<'a> {
    /// Whether every check is ok.
    ok: bool,
    /// Whether `--require-phase3` was given.
    require_phase3: bool,
    checks: &'a [Check],
    phase3: &'a Phase3,
}

impl<'a> DoctorView<'a> {
    fn new(report: &'a Report, require_phase3: bool) -> Self {
        Self {
            ok: report.ok(),
            require_phase3,
            checks: &report.checks,
            phase3: &report.phase3,
        }
    }
}

/// How much of a report to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Failed checks.
    Quiet,
    /// Failed checks, then warnings.
    Usual,
    /// Every check; failed ones come first.
    All,
}

fn print(out: Output, report: &Report, detail: Detail) {
    let checks = &report.checks;
    checks
        .iter()
        .filter(|check| is_failed(check))
        .for_each(|check| say(out, check));
    if detail == Detail::Quiet {
        return;
    }
    checks
        .iter()
        .filter(|check| is_noted(check))
        .for_each(|check| say(out, check));
    if detail == Detail::All {
        checks
            .iter()
            .filter(|check| is_fine(check))
            .for_each(|check| say(out, check));
    }
    let failures = checks.iter().filter(|check| is_failed(check)).count();
    let fine = checks.iter().filter(|check| is_fine(check)).count();
    let total = count(checks.len(), "check");
    let noted = match checks.len() - failures - fine {
        0 => String::new(),
        noted => format!(", {noted} with a remark"),
    };
    let passed = match (detail, fine) {
        (_, 0) => String::new(),
        (Detail::All, _) => format!(", {fine} passed"),
        _ => format!(", {fine} passed (-v lists them)"),
    };
    let line = format!("{total}: {failures} failed{noted}{passed}");
    out.line(&if failures == 0 {
        out.good(&line)
    } else {
        out.bad(&line)
    });
}

/// Whether the check passed without a suggestion.
fn is_fine(check: &Check) -> bool {
    check.ok && check.suggested_fix.is_none()
}

/// Whether the check passed with a suggestion.
fn is_noted(check: &Check) -> bool {
    check.ok && check.suggested_fix.is_some()
}

/// Whether the check failed.
fn is_failed(check: &Check) -> bool {
    !check.ok
}

fn say(out: Output, check: &Check) {
    let state = match (check.ok, &check.suggested_fix) {
        (false, _) => out.bad("[FAIL]"),
        (true, Some(_)) => out.warning("[WARN]"),
        (true, None) => out.good("[OK]"),
    };
    let message = out.shown(&check.message);
    out.line(&format!("{state} {}: {message}", check.error_code));
    if let Some(fix) = &check.suggested_fix {
        out.line(&format!("    fix: {}", out.shown(fix)));
    }
}
