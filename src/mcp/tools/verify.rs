//! `verify`: the client's own answer, judged claim by claim.

use std::fmt::Write as _;

use super::words::say_next;
use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::page::{about, budget, cursor, place};
use crate::mcp::shapes::{ClaimResult, Unresolved, VerifyArgs, VerifyResult};
use local_agent_agent::operations::place as runs_place;
use local_agent_agent::operations::verify::{Judged, against_files, against_snapshot};
use local_agent_agent::runs::{Archive, Record, thaw};
use local_agent_files::sandbox::{Address, Sandbox};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_verify::{Claim, Counts, Outcome};

pub(super) const SPEC: Spec = Spec {
    name: "verify",
    description: "Judges an answer that you wrote, claim by claim: its citations, quotes, numbers, names, dates and \
        negations. Use it before the person reads your answer.",
    input: input::<VerifyArgs>,
    output: output::<VerifyResult>,
    subject: "run_id",
    run: |call, args| verify(call, &parse(args)?),
};

const CLAIM_BYTES: usize = 32 << 10;

/// Maximum size of an answer, in bytes.
const LONGEST_ANSWER: usize = 8 << 20;

/// Refuses a run whose evidence the sandbox hides. Explanations quote that evidence, and the run
/// may be another client's.
fn refuse_private(record: &Record, sandbox: &Sandbox) -> Result<()> {
    let items = record.snapshot.iter().flat_map(|snapshot| &snapshot.items);
    let mut addresses = items.map(|item| Address {
        source: item.source.clone(),
        path: item.rel_path.clone(),
    });
    if addresses.all(|at| sandbox.shows(&at)) {
        return Ok(());
    }
    let message = format!(
        "the evidence of the run {} cannot be shown: a note of it is private, or cannot be read now",
        record.run_id
    );
    Err(Failure::new(ErrorCode::RunIncomplete, message)
        .with_hint("call `ask` again, and verify with the `run_id` that it gives"))
}

fn verify(call: &Call, args: &VerifyArgs) -> Result<Reply> {
    let mut left = budget(args.max_bytes, CLAIM_BYTES)?;
    if args.answer.len() > LONGEST_ANSWER {
        return Err(
            Failure::new(ErrorCode::FileTooLarge, "the answer is too large")
                .with_hint("verify its parts"),
        );
    }
    let judged = match &args.run_id {
        None => against_files(&args.answer, &call.sandbox)?,
        Some(name) => {
            let archive = Archive::new(runs_place(&call.service.loaded.config));
            let id = archive.find(name)?;
            let (record, _) = archive.load(&id)?;
            refuse_private(&record, &call.sandbox)?;
            against_snapshot(
                &args.answer,
                thaw(&record, &archive.folder(&id), &call.sandbox)?.snapshot,
            )
        }
    };
    let Judged {
        report, unresolved, ..
    } = judged;
    let of = about(&[
        "verify",
        &args.answer,
        args.run_id.as_deref().unwrap_or(""),
        &report.sha256.to_string(),
    ]);
    let from = place(args.cursor.as_deref(), &of)?;
    let mut claims = Vec::new();
    for claim in report.claims.iter().skip(from) {
        let bytes = claim.text.len() + claim.why.len();
        if bytes > left && !claims.is_empty() {
            break;
        }
        left = left.saturating_sub(bytes);
        claims.push(claim_result(claim));
    }
    let end = from + claims.len();
    let result = VerifyResult {
        passed: report.ok,
        outcome: outcome(report.outcome).to_owned(),
        codes: report
            .codes
            .iter()
            .map(|code| code.as_str().to_owned())
            .collect(),
        claims,
        unresolved: unresolved
            .into_iter()
            .map(|one| Unresolved {
                citation: one.citation,
                why: one.why,
            })
            .collect(),
        footer: (report.counts != Counts::default()).then(|| report.footer()),
        next_cursor: (end < report.claims.len()).then(|| cursor(end, &of)),
    };
    Reply::new(result_text(&result), &result)
}

fn claim_result(claim: &Claim) -> ClaimResult {
    ClaimResult {
        text: claim.text.clone(),
        verdict: claim.verdict.as_str().to_owned(),
        codes: claim
            .codes
            .iter()
            .chain(&claim.doubts)
            .chain(&claim.remarks)
            .map(|code| code.as_str().to_owned())
            .collect(),
        why: claim.why.clone(),
        found_in: claim
            .evidence
            .as_ref()
            .map(|at| format!("{}:{}:{}", at.source, at.path, at.lines)),
    }
}

/// The result for a reader.
fn result_text(result: &VerifyResult) -> String {
    let mut text = format!("{}{}\n", result.outcome, joined(&result.codes));
    for one in &result.unresolved {
        let _ = writeln!(text, "{}: {}", one.citation, one.why);
    }
    for claim in &result.claims {
        let _ = writeln!(
            text,
            "\n{}{}\n  {}\n  {}",
            claim.verdict,
            joined(&claim.codes),
            claim.text,
            claim.why
        );
    }
    if let Some(footer) = &result.footer {
        let _ = writeln!(text, "\n{footer}");
    }
    say_next(&mut text, result.next_cursor.as_deref());
    text
}

const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Abstained => "abstained",
        Outcome::Rejected => "rejected",
    }
}

fn joined(codes: &[String]) -> String {
    if codes.is_empty() {
        String::new()
    } else {
        format!(": {}", codes.join(", "))
    }
}
