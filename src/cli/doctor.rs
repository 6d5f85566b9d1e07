//! `doctor`: exit code 0 if and only if every check is ok.

use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::args::Doctor;
use super::context::Context;
use super::enter::Needs;
use super::index::extend;
use super::output::Output;
use crate::doctor::{self, Report, Subject};
use local_agent_text::error::Result;

pub fn run(context: &Context, args: &Doctor) -> Result<ExitCode> {
    let mut loaded = context.load_lenient()?;
    let state_is_trusted = match context.check_state(&loaded.config) {
        Ok(()) => true,
        Err(failure) => {
            loaded.problems.push(failure);
            false
        }
    };
    context.roots();
    context.enter(&loaded.config, &Needs::nothing())?;
    let sandbox = context.sandbox(&loaded.config);
    let model = context.embedding_files(&loaded.config);
    let report = doctor::examine(&Subject {
        loaded: &loaded,
        state_is_trusted,
        sandbox: &sandbox,
        model: &model,
        require_phase3: args.require_phase3,
        offline: args.offline,
        seed: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
    });
    if args.json {
        let mut body = json!({
            "ok": report.ok(),
            "require_phase3": args.require_phase3,
            "checks": report.checks,
            "phase3": report.phase3,
        });
        extend(&mut body, context.roots());
        context.out.json(body);
    } else {
        print(context.out, &report, args.quiet);
    }
    Ok(ExitCode::from(u8::from(!report.ok())))
}

fn print(out: Output, report: &Report, quiet: bool) {
    for check in report.checks.iter().filter(|check| !(quiet && check.ok)) {
        let state = if check.ok { "OK" } else { "FAIL" };
        let line = format!(
            "[{state}] {}: {}",
            check.error_code,
            out.shown(&check.message)
        );
        out.line(&if check.ok { line } else { out.bold(&line) });
        if let Some(fix) = check.suggested_fix.as_ref().filter(|_| !check.ok) {
            out.line(&format!("    fix: {}", out.shown(fix)));
        }
    }
    if !quiet {
        let failed = report.checks.iter().filter(|check| !check.ok).count();
        out.line("");
        out.line(&format!("{} checks, {failed} failed", report.checks.len()));
    }
}
