//! `status`: what is indexed, and what is out of date.

use std::fmt::Write as _;

use super::words::{behind, covered, say_limits};
use super::{Call, Reply, Spec, input, output, parse};
use crate::mcp::shapes::{Behind, Covered, SourceResult, StatusArgs, StatusResult};
use local_agent_agent::operations::status::status;
use local_agent_text::error::Result;

pub(super) const SPEC: Spec = Spec {
    name: "status",
    description: "Says which notes are indexed, how much of them can be found by meaning, and what is stale.",
    input: input::<StatusArgs>,
    output: output::<StatusResult>,
    subject: "",
    run: |call, args| state(call, &parse(args)?),
};

fn state(call: &Call, args: &StatusArgs) -> Result<Reply> {
    let status = status(
        &call.service.loaded.config,
        &call.service.library,
        &call.sandbox,
        args.compare_files,
    )?;
    let jobs: Vec<String> = status
        .index_job
        .into_iter()
        .chain(status.embed_job)
        .collect();
    let result = match status.index {
        None => StatusResult {
            indexed: false,
            documents: 0,
            skipped_files: 0,
            sources: Vec::new(),
            coverage: Covered {
                chunks: 0,
                embedded: 0,
            },
            stale: vec![Behind {
                why: "nothing is indexed yet".to_owned(),
                fix: "local-agent index".to_owned(),
            }],
            model: None,
            jobs,
        },
        Some(index) => StatusResult {
            indexed: true,
            documents: index.documents,
            skipped_files: index.skipped_files,
            sources: index
                .sources
                .into_iter()
                .map(|s| SourceResult {
                    name: s.name,
                    kind: s.kind,
                    documents: s.documents,
                    last_scan_unix: s.last_scan_unix,
                })
                .collect(),
            coverage: covered(index.coverage),
            stale: behind(&index.stale, &[]),
            model: Some(index.model),
            jobs,
        },
    };
    let mut text = format!(
        "{} documents, {} chunks ({} can be found by meaning), {} files skipped\n",
        result.documents, result.coverage.chunks, result.coverage.embedded, result.skipped_files
    );
    for source in &result.sources {
        let _ = writeln!(
            text,
            "source: {}, {} documents",
            source.name, source.documents
        );
    }
    for job in &result.jobs {
        let _ = writeln!(text, "at work: {job}");
    }
    say_limits(&mut text, &result.coverage, &result.stale);
    Reply::new(text, &result)
}
