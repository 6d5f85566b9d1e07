//! Checks the embedding model: its files exist, and the two that determine vectors have their
//! recorded hashes.

use super::codes::Code;
use super::{Checks, Subject};
use local_agent_agent::operations::fill_folder;
use local_agent_embed::embedding::instructions;
use local_agent_embed::models::built_in_ids;
use local_agent_text::types::Sha256;

pub(super) fn check(subject: &Subject<'_>, checks: &mut Checks) {
    let files = match subject.model {
        Ok(files) => files,
        Err(failure) => {
            let fix = failure
                .hint
                .clone()
                .unwrap_or_else(|| "local-agent models list".to_owned());
            checks.fail(Code::ModelNotReady, failure.message.clone(), fix);
            return;
        }
    };
    let with = match instructions(files) {
        Ok(with) => with,
        Err(failure) => {
            checks.fail(
                Code::ModelNotReady,
                failure.message,
                failure.hint.unwrap_or_default(),
            );
            return;
        }
    };
    let hashes = [
        (
            "weights",
            files.weights().as_slice(),
            files.weights_sha256(),
        ),
        ("tokenizer", files.tokenizer(), files.tokenizer_sha256()),
    ];
    let damaged: Vec<&str> = hashes
        .iter()
        .filter(|(_, bytes, sha256)| Sha256::of(bytes) != **sha256)
        .map(|(name, ..)| *name)
        .collect();
    if damaged.is_empty() {
        let (id, weights) = (files.id(), files.weights_sha256());
        let message = format!(
            "the model `{id}` is there, computed with {with}; its weights have SHA-256 {weights}"
        );
        checks.ok(Code::ModelOk, message);
    } else {
        let fix = match &subject.config().embed.model_path {
            Some(folder) => fill_folder("embed.model_path", folder),
            None if built_in_ids().any(|id| id == files.id()) => "reinstall local-agent".to_owned(),
            None => format!("local-agent models pull {}", files.id()),
        };
        let message = format!(
            "the model `{}` does not have its recorded SHA-256: {}",
            files.id(),
            damaged.join(", ")
        );
        checks.fail(Code::ModelChecksumMismatch, message, fix);
    }
}
