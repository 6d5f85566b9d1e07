//! Retries a request only if no part of the reply has arrived and the server itself asks to wait.
//!
//! A server that is loading a model answers 503; a full queue answers 503 or 429. Nothing was
//! generated, so a retry is safe. A reply that broke off is not retried: the server may be out of
//! memory, and the same could happen again. A refused connection is not retried: no server is
//! listening.

use std::time::{Duration, Instant};

use local_agent_net::http::Reply;
use local_agent_text::error::Result;

/// Pause between the first two attempts; doubled up to [`MAX_PAUSE`].
const FIRST: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Calls `attempt` until its status no longer asks to wait, for at most `limit`. Returns the last
/// reply and the number of attempts.
pub(super) fn until_ready(
    limit: Duration,
    mut attempt: impl FnMut() -> Result<Reply>,
) -> Result<(Reply, u32)> {
    let start = Instant::now();
    let mut pause = FIRST;
    for attempts in 1.. {
        let reply = attempt()?;
        if !matches!(reply.status, 429 | 503) || start.elapsed() + pause >= limit {
            return Ok((reply, attempts));
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(MAX_PAUSE);
    }
    Err(local_agent_text::error::Failure::internal(
        "waiting for a server had no end",
    ))
}
