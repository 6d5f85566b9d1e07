//! How many threads one search may use. Searches that run at the same time share the cores: a
//! thread that waits for a core costs time and saves none.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many searches run in this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// Counts as a running search until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningSearch(());

impl RunningSearch {
    pub(crate) fn begin() -> Self {
        RUNNING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for RunningSearch {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The cores of the machine, divided by the number of running searches; at least 1.
pub(crate) fn threads_of_a_search() -> usize {
    // Asking the system reads files every time, so the answer is cached.
    static CORES: OnceLock<usize> = OnceLock::new();
    let cores = *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from));
    share_of(cores, RUNNING.load(Ordering::Relaxed))
}

fn share_of(cores: usize, searches: usize) -> usize {
    (cores / searches.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_at_the_same_time_share_the_cores() {
        assert_eq!(
            [0, 1, 2, 3, 9].map(|searches| share_of(4, searches)),
            [4, 4, 2, 1, 1]
        );
        let before = RUNNING.load(Ordering::Relaxed);
        let search = RunningSearch::begin();
        assert!(RUNNING.load(Ordering::Relaxed) > 0 || before > 0);
        assert!(threads_of_a_search() >= 1);
        drop(search);
    }
}
