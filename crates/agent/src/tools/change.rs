//! Shared code of the two tools that change files: the proposal shown to a person, the
//! confirmation, and the limit.

use std::sync::atomic::Ordering;

use super::{AuditRow, Bound};
use local_agent_text::error::{ErrorCode, Failure, Result};
use local_agent_text::types::visible;

/// Shows a proposal to the person at the terminal and waits for confirmation, within the session's
/// limit. The proposal is escaped here, so that no file can send control codes to the terminal; the
/// audit log records the change before it is made.
///
/// `WRITE_DENIED` without a terminal, without confirmation, or when the session's limit of changes
/// is reached.
pub(super) fn agree(
    bound: &Bound,
    tool: &str,
    subject: &str,
    proposal: &str,
    bytes: u64,
) -> Result<()> {
    let made = bound
        .policy
        .writes_before
        .saturating_add(bound.writes.load(Ordering::Relaxed));
    if made >= bound.policy.max_writes {
        let most = bound.policy.max_writes;
        return denied(
            &format!("{most} changes were made within a day, which is the limit."),
            "raise tools.max_writes, or wait",
        );
    }
    let Some(confirm) = &bound.confirm else {
        return denied(
            "A change needs a yes at the terminal, and there is none.",
            "run the command in a terminal",
        );
    };
    if !confirm(&visible(proposal))? {
        return denied(
            "The person at the terminal did not agree; nothing was changed.",
            "change the proposal",
        );
    }
    bound.writes.fetch_add(1, Ordering::Relaxed);
    let Some(audit) = &bound.audit else {
        return Ok(());
    };
    audit(&AuditRow {
        caller: bound.caller,
        tool: tool.to_owned(),
        subject: subject.to_owned(),
        outcome: "agreed".to_owned(),
        why: None,
        bytes,
    })
}

/// The failure for a change that is not made.
fn denied(message: &str, hint: &str) -> Result<()> {
    Err(Failure::new(ErrorCode::WriteDenied, message).with_hint(hint))
}

/// A unified diff of two texts with three lines of context.
pub(super) fn diff(path: &str, before: &str, after: &str) -> String {
    let (from, to) = (format!("a/{path}"), format!("b/{path}"));
    // After this time, the difference may be larger than necessary, but it is correct.
    let lines = similar::TextDiff::configure()
        .timeout(std::time::Duration::from_secs(2))
        .diff_lines(before, after);
    lines
        .unified_diff()
        .context_radius(3)
        .header(&from, &to)
        .to_string()
}
