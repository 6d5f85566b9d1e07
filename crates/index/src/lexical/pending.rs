//! Limits the documents that wait for tantivy's threads.
//!
//! tantivy queues ten thousand batches, whatever their size, before it makes a caller wait. When
//! analysis is faster than tantivy's writing, the queue takes most of the memory of a first index
//! and saves no time: the waiting threads would only fill the queue further.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tantivy::schema::TantivyDocument;
use tantivy::schema::document::Document;

/// Maximum number of bytes of text in the queue. This is more than the threads of a large machine
/// take at once.
const MOST_BYTES: usize = 4 << 20;

/// Maximum time that a thread waits, as long as a slow disk may take. Waiting only saves memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// The size of the queue, in bytes of the original texts.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<usize>,
    left: Condvar,
}

impl Queue {
    fn waiting(&self) -> MutexGuard<'_, usize> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for `bytes` and reserves it. An item larger than the whole queue
    /// enters when the queue is empty.
    pub(super) fn enter(self: &Arc<Self>, bytes: usize) -> PendingPlace {
        let entered = self
            .left
            .wait_timeout_while(self.waiting(), PATIENCE, |waiting| {
                *waiting > 0 && *waiting + bytes > MOST_BYTES
            });
        *entered.unwrap_or_else(PoisonError::into_inner).0 += bytes;
        PendingPlace {
            queue: Arc::clone(self),
            bytes,
        }
    }
}

/// A reserved place in the queue, released when dropped.
#[derive(Debug)]
pub(super) struct PendingPlace {
    queue: Arc<Queue>,
    bytes: usize,
}

impl Drop for PendingPlace {
    fn drop(&mut self) {
        *self.queue.waiting() -= self.bytes;
        self.queue.left.notify_all();
    }
}

/// A document for tantivy; the last document of a batch holds the batch's place.
#[derive(Debug)]
pub(super) struct Pending {
    pub document: TantivyDocument,
    pub place: Option<PendingPlace>,
}

impl Document for Pending {
    type Value<'a> = <TantivyDocument as Document>::Value<'a>;
    type FieldsValuesIter<'a> = <TantivyDocument as Document>::FieldsValuesIter<'a>;

    fn iter_fields_and_values(&self) -> Self::FieldsValuesIter<'_> {
        self.document.iter_fields_and_values()
    }

    /// Called when a thread takes the document from the queue.
    fn into_tantivy_document(self) -> TantivyDocument {
        self.document
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn who_finds_no_room_waits_until_there_is() {
        let queue = Arc::new(Queue::default());
        let first = queue.enter(MOST_BYTES * 2);
        let (send, receive) = mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| send.send(queue.enter(1)));
            assert!(receive.recv_timeout(Duration::from_millis(50)).is_err());
            drop(first);
            let second = receive.recv().unwrap();
            assert_eq!(*queue.waiting(), 1);
            drop(second);
        });
        assert_eq!(*queue.waiting(), 0);
    }

    #[test]
    fn a_document_that_is_taken_leaves_the_queue() {
        let queue = Arc::new(Queue::default());
        let pending = Pending {
            document: TantivyDocument::default(),
            place: Some(queue.enter(7)),
        };
        assert_eq!(*queue.waiting(), 7);
        pending.into_tantivy_document();
        assert_eq!(*queue.waiting(), 0);
    }
}
