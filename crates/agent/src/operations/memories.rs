//! Memories for clients that may not see private notes.

use super::privacy::{may_see_memory, shows_link};
use crate::config::Config;
use crate::memory;
use local_agent_files::sandbox::Sandbox;
use local_agent_index::store::MemoryRow;
use local_agent_text::error::{ErrorCode, Failure, Fix, Result};

/// The memories with words of `text`, best first. A sandbox without private notes also hides
/// memories that are linked to them.
///
/// # Errors
/// `PHASE3_MEMORY_DISABLED` when memory is switched off; those of the database.
pub fn remembered(config: &Config, sandbox: &Sandbox, text: &str) -> Result<Vec<MemoryRow>> {
    if !config.memory.enabled {
        let message = "memory is switched off by `memory.enabled: false`";
        return Err(Failure::new(ErrorCode::MemoryDisabled, message).with_fix(
            Fix::ChangeSetting,
            "set `memory.enabled: true` in the configuration",
        ));
    }
    let mut rows = memory::all(&config.memory.db_path)?;
    rows.retain(|row| may_see(sandbox, row) && may_see_memory(config, row, sandbox));
    let found = memory::search(&rows, text);
    Ok(found.into_iter().map(|(row, _)| row.clone()).collect())
}

/// Whether the sandbox shows every note that the memory is linked to.
pub(super) fn may_see(sandbox: &Sandbox, row: &MemoryRow) -> bool {
    !sandbox.keeps_private() || row.links.iter().all(|link| shows_link(sandbox, link))
}
