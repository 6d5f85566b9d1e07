//! Batches the lines of concurrent callers in one process: one of them takes the lock and writes
//! for all that wait, with a single disk sync. Each returns when its own lines are on the disk.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use super::{Ledger, NewLine};
use local_agent_index::store::Durable;
use local_agent_text::error::{Failure, Result};

/// Like [`Ledger::append`].
type WriteOutcome = Result<Option<Failure>>;

/// Keyed by the folder of runs and the database with the head.
type Queues = HashMap<(PathBuf, PathBuf), Arc<Queue>>;

/// The queue of each ledger that this process writes.
static QUEUES: LazyLock<Mutex<Queues>> = LazyLock::new(Mutex::default);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    done: Condvar,
    /// The open database with the head. Only the caller that writes uses it.
    durable: Mutex<Option<Durable>>,
}

#[derive(Debug, Default)]
struct QueueState {
    /// A caller is writing for the others.
    busy: bool,
    next: u64,
    waiting: Vec<(u64, Vec<NewLine>)>,
    outcomes: HashMap<u64, WriteOutcome>,
}

/// Writes for the waiting callers. If it is dropped, callers without an outcome get a failure.
struct Turn<'a> {
    queue: &'a Queue,
    tickets: Vec<u64>,
    outcome: WriteOutcome,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = locked(&self.queue.state);
        state.busy = false;
        for ticket in self.tickets.drain(..) {
            state.outcomes.insert(ticket, self.outcome.clone());
        }
        self.queue.done.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Enters lines when the caller's turn comes.
pub(super) fn enter(ledger: &Ledger, entries: Vec<NewLine>) -> WriteOutcome {
    let key = (ledger.runs_dir.clone(), ledger.durable.clone());
    let queue = Arc::clone(locked(&QUEUES).entry(key).or_default());
    let mut state = locked(&queue.state);
    let ticket = state.next;
    state.next += 1;
    state.waiting.push((ticket, entries));
    loop {
        if let Some(outcome) = state.outcomes.remove(&ticket) {
            return outcome;
        }
        if state.busy {
            state = queue
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        state.busy = true;
        let batch = std::mem::take(&mut state.waiting);
        drop(state);
        let (tickets, entries): (Vec<u64>, Vec<Vec<NewLine>>) = batch.into_iter().unzip();
        let unfinished = Err(Failure::internal(
            "lines of the ledger were not written to their end",
        ));
        let mut turn = Turn {
            queue: &queue,
            tickets,
            outcome: unfinished,
        };
        turn.outcome = ledger.write(&entries.concat(), &mut locked(&queue.durable));
        drop(turn);
        state = locked(&queue.state);
    }
}
