//! Progress on a terminal's stderr; nothing anywhere else, so that logs and agents are not flooded.

use std::cell::RefCell;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use local_agent_index::indexing::Progress;

/// A bar for one job.
pub struct Bar {
    bar: ProgressBar,
    phase: RefCell<&'static str>,
}

impl Bar {
    /// Draws on stderr when that is a terminal and `quiet` is not set.
    pub fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) =
            ProgressStyle::with_template("{msg} {wide_bar} {human_pos}/{human_len} {eta}")
        {
            bar.set_style(style);
        }
        Self {
            bar,
            phase: RefCell::new(""),
        }
    }

    /// Takes one report.
    pub fn report(&self, progress: Progress) {
        let (phase, done, total) = match progress {
            Progress::Files { done, total } => ("files", done as u64, total as u64),
            Progress::Lexical { done, total } => ("words", done as u64, total as u64),
            Progress::Tokens { done, total } => ("tokens", done, total),
        };
        if self.phase.replace(phase) != phase {
            self.bar.reset();
            self.bar.set_message(phase);
        }
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Shows how far the download of one file is.
    pub fn bytes(&self, file: &str, done: u64, total: u64) {
        self.bar.set_message(file.to_owned());
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
