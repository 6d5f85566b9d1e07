//! Shows progress on stderr if it is a terminal, so that logs and agents are not flooded.

use std::cell::RefCell;
use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use local_agent_index::indexing::Progress;

/// Length of a bar whose parts are counted in different units.
const WHOLE: u64 = 1_000;

/// A bar for one job.
pub(super) struct Bar {
    bar: ProgressBar,
    job: RefCell<&'static str>,
}

impl Bar {
    /// Draws on stderr if that is a terminal and `quiet` is not set.
    pub(super) fn new(quiet: bool) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} % {eta}") {
            bar.set_style(style);
        }
        Self {
            bar,
            job: RefCell::new(""),
        }
    }

    /// Shows one report. Reading files and writing words are two halves of one job, so the bar runs
    /// only once and never backwards.
    pub(super) fn report(&self, progress: Progress) {
        let (job, part, done, total) = match progress {
            Progress::Files { done, total } => ("indexing", 0.0, done as u64, total as u64),
            Progress::Lexical { done, total } => ("indexing", 0.5, done as u64, total as u64),
            Progress::Tokens { done, total } => {
                self.show("embedding", done, total);
                return;
            }
        };
        let share = part + 0.5 * done as f64 / total.max(1) as f64;
        self.show(job, (share * WHOLE as f64) as u64, WHOLE);
    }

    fn show(&self, job: &'static str, done: u64, total: u64) {
        if self.job.replace(job) != job {
            self.bar.reset();
            self.bar.set_message(job);
        }
        self.bar.set_length(total);
        self.bar
            .set_position(done.max(self.bar.position()).min(total));
    }

    /// Shows the progress of downloading one file.
    #[cfg(feature = "pull")]
    pub(super) fn bytes(&self, file: &str, done: u64, total: u64) {
        self.bar.set_message(file.to_owned());
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
