//! `doctor`.

use std::process::ExitCode;

use super::args::Doctor;
use super::context::Context;
use crate::error::Result;

pub fn run(_context: &Context, _args: &Doctor) -> Result<ExitCode> {
    Ok(ExitCode::SUCCESS)
}
