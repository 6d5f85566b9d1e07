//! `memory_search`: texts that the user asked the program to remember.

use std::fmt::Write as _;

use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::shapes::{MemoryFound, MemoryResult, MemorySearchArgs};
use local_agent_agent::operations::memories::remembered;
use local_agent_agent::operations::search::not_blank;
use local_agent_text::error::{ErrorCode, Failure, Result};

pub(super) const SPEC: Spec = Spec {
    name: "memory_search",
    description: "Finds what the person asked the program to remember, by words. Context: not to be cited.",
    input: input::<MemorySearchArgs>,
    output: output::<MemoryResult>,
    subject: "query",
    run: |call, args| find(call, &parse(args)?),
};

/// Maximum and default number of memories.
const MAX_MEMORIES: usize = 50;
const USUAL: usize = 8;

fn find(call: &Call, args: &MemorySearchArgs) -> Result<Reply> {
    let limit = args.limit.unwrap_or(USUAL);
    if !(1..=MAX_MEMORIES).contains(&limit) {
        let message = format!("`limit` is from 1 to {MAX_MEMORIES}");
        return Err(Failure::new(ErrorCode::InvalidArgs, message).with_hint("leave `limit` out"));
    }
    not_blank(&args.query)?;
    let found = remembered(&call.service.loaded.config, &call.sandbox, &args.query)?;
    let memories: Vec<MemoryFound> = found
        .into_iter()
        .take(limit)
        .map(|row| MemoryFound {
            kind: row.kind,
            content: row.content,
            created_at: row.created_at,
        })
        .collect();
    let mut text = String::new();
    for one in &memories {
        let day = one.created_at.get(..10).unwrap_or_default();
        let _ = writeln!(text, "- {} ({}, {day})", one.content.trim(), one.kind);
    }
    if memories.is_empty() {
        text.push_str("Nothing that is remembered fits this.\n");
    }
    Reply::new(text, &MemoryResult { memories })
}
