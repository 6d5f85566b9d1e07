//! Shared code for the tests of several packages. It is never part of the program.

// The fixture is a file of `local-agent-text`, whose own tests compile it as a module of that
// package.
use local_agent_text::evidence::{EvidenceSnapshot, Excerpt};
use local_agent_text::types;

#[path = "../../text/src/evidence/fixture.rs"]
pub mod fixture;
pub mod server;
