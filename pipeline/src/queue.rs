//! Bounded queues between stages that measure how long they are empty or full, and the reorder buffer of sinks.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};

use crate::progress::StageMeter;

/// Time that a worker waits for the next item before it forwards the sequence numbers of batches that have become
/// empty.
const IDLE_TIMEOUT: Duration = Duration::from_millis(2);

/// Creates the input queue of a stage. `meter` is the meter of the same stage.
pub(crate) fn queue<T>(capacity: usize, meter: &StageMeter) -> (QueueSender<'_, T>, QueueReceiver<'_, T>) {
    let (sender, receiver) = bounded(capacity);
    (QueueSender { sender, consumer: meter }, QueueReceiver { receiver, consumer: meter })
}

/// The sending end of a queue, shared by the stages of the previous step.
pub(crate) struct QueueSender<'a, T> {
    sender: Sender<T>,
    consumer: &'a StageMeter,
}

impl<T> Clone for QueueSender<'_, T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), consumer: self.consumer }
    }
}

impl<T> QueueSender<'_, T> {
    /// Adds an item. Blocks while the queue is full. Drops the item if the workers of the stage have ended or were
    /// never spawned.
    pub(crate) fn put(&self, item: T, producer: &StageMeter) {
        self.consumer.queued.fetch_add(1, Ordering::Relaxed);
        let gone = match self.sender.try_send(item) {
            Ok(()) => false,
            Err(TrySendError::Disconnected(_)) => true,
            Err(TrySendError::Full(item)) => {
                let since = Instant::now();
                let gone = self.sender.send(item).is_err();
                producer.blocked.add(since.elapsed());
                gone
            }
        };
        if gone {
            self.consumer.queued.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// The receiving end of a queue, shared by the workers of a stage.
pub(crate) struct QueueReceiver<'a, T> {
    receiver: Receiver<T>,
    consumer: &'a StageMeter,
}

impl<T> Clone for QueueReceiver<'_, T> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), consumer: self.consumer }
    }
}

impl<T> QueueReceiver<'_, T> {
    /// Returns the next item, or `None` if the queue is empty and all senders have been dropped. Calls `idle` if no
    /// item arrives within [`IDLE_TIMEOUT`], and then keeps waiting.
    pub(crate) fn take(&self, idle: impl FnOnce()) -> Option<T> {
        let item = match self.receiver.try_recv() {
            Ok(item) => item,
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                let since = Instant::now();
                let item = match self.receiver.recv_timeout(IDLE_TIMEOUT) {
                    Err(RecvTimeoutError::Timeout) => {
                        idle();
                        self.receiver.recv().ok()
                    }
                    soon => soon.ok(),
                };
                self.consumer.starved.add(since.elapsed());
                item?
            }
        };
        self.consumer.queued.fetch_sub(1, Ordering::Relaxed);
        Some(item)
    }
}

impl<T> QueueReceiver<'_, T> {
    /// Returns the next item if one arrives within [`IDLE_TIMEOUT`].
    pub(crate) fn poll(&self) -> Option<T> {
        match self.receiver.recv_timeout(IDLE_TIMEOUT) {
            Ok(item) => {
                self.consumer.queued.fetch_sub(1, Ordering::Relaxed);
                Some(item)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // The caller polls while it waits for memory. Without a pause, a closed queue would make it poll in a
                // busy loop.
                std::thread::sleep(IDLE_TIMEOUT);
                None
            }
        }
    }
}

/// Returns items in the order of their numbers, whatever the order of their arrival.
pub(crate) struct ReorderBuffer<T> {
    next: u64,
    /// Items that arrived before an item with a lower number; `None` for a number that was skipped.
    early: BTreeMap<u64, Option<T>>,
}

impl<T> ReorderBuffer<T> {
    pub(crate) fn new() -> Self {
        Self { next: 0, early: BTreeMap::new() }
    }

    pub(crate) fn put(&mut self, number: u64, item: T) {
        self.early.insert(number, Some(item));
    }

    /// Declares that no item has this number. May be called more than once for a number.
    pub(crate) fn skip(&mut self, number: u64) {
        if number >= self.next {
            self.early.insert(number, None);
        }
    }

    pub(crate) fn take(&mut self) -> Option<T> {
        loop {
            let item = self.early.remove(&self.next)?;
            self.next += 1;
            if item.is_some() {
                return item;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_are_returned_in_the_order_of_their_numbers(
            order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(),
            absent in prop::collection::hash_set(0..40u64, 0..20),
        ) {
            let mut buffer = ReorderBuffer::new();
            let mut left = Vec::new();
            for number in order {
                if absent.contains(&number) {
                    (0..2).for_each(|_| buffer.skip(number));
                } else {
                    buffer.put(number, number);
                }
                while let Some(item) = buffer.take() {
                    left.push(item);
                }
            }
            buffer.skip(0);
            prop_assert_eq!(buffer.take(), None);
            prop_assert_eq!(left, (0..40).filter(|number| !absent.contains(number)).collect::<Vec<_>>());
        }
    }
}
