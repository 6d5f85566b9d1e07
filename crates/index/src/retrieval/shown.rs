//! Filters hits by whether their text may be shown: a sandbox that hides private notes decides.

use local_agent_files::sandbox::{Address, Sandbox};

use super::Hit;

/// How many extra hits to request when some may be hidden.
pub(super) const SPARE_HITS: usize = 30;

/// Number of hits to request when `limit` are wanted.
pub fn with_spare(sandbox: &Sandbox, limit: usize) -> usize {
    if sandbox.keeps_private() {
        limit.saturating_add(SPARE_HITS)
    } else {
        limit
    }
}

/// Keeps the first `limit` hits whose files the sandbox shows.
pub fn keep_shown(sandbox: &Sandbox, hits: &mut Vec<Hit>, limit: usize) {
    let mut kept = 0;
    hits.retain(|hit| {
        let at = Address {
            source: hit.chunk.source.clone(),
            path: hit.chunk.path.clone(),
        };
        let keeps = kept < limit && sandbox.shows(&at);
        kept += usize::from(keeps);
        keeps
    });
}
