//! Checks the reranker, if one is configured: its files exist, have their recorded hashes, and
//! load.

use super::codes::Code;
use super::{Checks, Subject};
use local_agent_embed::embedding::Reranker;
use local_agent_text::error::Failure;
use local_agent_text::types::Sha256;

pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) {
    let files = match subject.reranker {
        Ok(None) => return,
        Ok(Some(files)) => files,
        Err(failure) => return not_ready(checks, failure),
    };
    let network = files.network_files();
    let hashes = [
        (
            "weights",
            network.weights().as_slice(),
            network.weights_sha256(),
        ),
        ("tokenizer", network.tokenizer(), network.tokenizer_sha256()),
    ];
    let damaged: Vec<&str> = hashes
        .iter()
        .filter(|(_, bytes, sha256)| Sha256::of(bytes) != **sha256)
        .map(|(name, ..)| *name)
        .collect();
    let id = files.id();
    if !damaged.is_empty() {
        let message = format!(
            "the reranker `{id}` does not have its recorded SHA-256: {}",
            damaged.join(", ")
        );
        let fix = format!("local-agent models pull {id}");
        return checks.fail(Code::RerankerChecksumMismatch, message, fix);
    }
    match Reranker::load(files) {
        Ok(_) => {
            let message = format!("the reranker `{id}` is there and can be loaded");
            checks.ok(Code::RerankerOk, message);
        }
        Err(failure) => not_ready(checks, &failure),
    }
}

fn not_ready(checks: &mut Checks, failure: &Failure) {
    let usual = || "remove `retrieve.reranker` from the configuration".to_owned();
    let fix = failure.hint.clone().unwrap_or_else(usual);
    checks.fail(Code::RerankerNotReady, failure.message.clone(), fix);
}
