//! Measures the search: sets of questions with known answers, the standard scores, and the time per
//! search.
//!
//! A quality figure must be reproducible. So the program computes its figures itself: it runs a
//! set's questions through the same [`Engine`](local_agent_index::retrieval::Engine) as `query`,
//! scores the result, and can write the run for other scorers. Reading and scoring are pure; only
//! [`run`] searches.

pub mod attacks;
mod baselines;
pub mod calibrate;
pub mod claims;
pub mod drafts;
pub mod natural;
pub mod passages;
pub mod ranking;
pub mod run;
pub mod set;
pub mod stats;

use local_agent_text::error::{ErrorCode, Failure};

/// A set that cannot be used, or an empty measurement.
fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::EvalError, message).with_command("local-agent eval --help")
}
