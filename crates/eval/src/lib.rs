//! Measures the search: sets of questions with known answers, the standard scores, and the time it
//! took.
//!
//! A claim about quality is worth nothing if nobody can reproduce it. So the program computes the
//! figures itself: it runs a set's questions through the same
//! [`Engine`](local_agent_index::retrieval::Engine) as `query` does, scores the result, and can
//! write the run for any other scorer. Reading and scoring are pure; only [`run`] searches.

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
    Failure::new(ErrorCode::EvalError, message).with_hint("local-agent eval --help")
}
