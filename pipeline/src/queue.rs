//! Queues between stages: bounded, and timed at both ends; and the buffer that puts batches back into order.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};

use crate::progress::StageMeter;

/// How long a worker waits for the next item before it does what it has put off.
const A_WHILE: Duration = Duration::from_millis(2);

/// A queue before a stage. The meter is that stage's.
pub(crate) fn queue<T>(capacity: usize, meter: &StageMeter) -> (Outbox<'_, T>, Inbox<'_, T>) {
    let (sender, receiver) = bounded(capacity);
    (Outbox { sender, consumer: meter }, Inbox { receiver, consumer: meter })
}

/// The end into which earlier stages put.
pub(crate) struct Outbox<'a, T> {
    sender: Sender<T>,
    consumer: &'a StageMeter,
}

impl<T> Clone for Outbox<'_, T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), consumer: self.consumer }
    }
}

impl<T> Outbox<'_, T> {
    /// Waits for room. An item for a stage whose workers have left, or never came, is dropped.
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

/// The end from which a stage's workers take.
pub(crate) struct Inbox<'a, T> {
    receiver: Receiver<T>,
    consumer: &'a StageMeter,
}

impl<T> Clone for Inbox<'_, T> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), consumer: self.consumer }
    }
}

impl<T> Inbox<'_, T> {
    /// The next item, or `None` when every earlier stage has finished. Calls `idle` if none comes for a while.
    pub(crate) fn take(&self, idle: impl FnOnce()) -> Option<T> {
        let item = match self.receiver.try_recv() {
            Ok(item) => item,
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                let since = Instant::now();
                let item = match self.receiver.recv_timeout(A_WHILE) {
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

/// What came of a short wait for an item.
pub(crate) enum Soon<T> {
    Item(T),
    Nothing,
    /// Every earlier stage has finished.
    Over,
}

impl<T> Inbox<'_, T> {
    /// The next item if one comes within a short while.
    pub(crate) fn take_soon(&self) -> Soon<T> {
        match self.receiver.recv_timeout(A_WHILE) {
            Ok(item) => {
                self.consumer.queued.fetch_sub(1, Ordering::Relaxed);
                Soon::Item(item)
            }
            Err(RecvTimeoutError::Timeout) => Soon::Nothing,
            Err(RecvTimeoutError::Disconnected) => {
                // What is waited for is no item; the caller looks again at once.
                std::thread::sleep(A_WHILE);
                Soon::Over
            }
        }
    }
}

/// Gives items out by ascending number without gaps, however they come in.
pub(crate) struct Reorder<T> {
    next: u64,
    /// Nothing for a number of which no item comes.
    early: BTreeMap<u64, Option<T>>,
}

impl<T> Reorder<T> {
    pub(crate) fn new() -> Self {
        Self { next: 0, early: BTreeMap::new() }
    }

    pub(crate) fn put(&mut self, number: u64, item: T) {
        self.early.insert(number, Some(item));
    }

    /// There will be no item of this number. It may be said more than once.
    pub(crate) fn pass_over(&mut self, number: u64) {
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
        fn any_arrival_order_leaves_in_order(
            order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(),
            absent in prop::collection::hash_set(0..40u64, 0..20),
        ) {
            let mut buffer = Reorder::new();
            let mut left = Vec::new();
            for number in order {
                match absent.contains(&number) {
                    true => (0..2).for_each(|_| buffer.pass_over(number)),
                    false => buffer.put(number, number),
                }
                while let Some(item) = buffer.take() {
                    left.push(item);
                }
            }
            buffer.pass_over(0);
            prop_assert_eq!(buffer.take(), None);
            prop_assert_eq!(left, (0..40).filter(|number| !absent.contains(number)).collect::<Vec<_>>());
        }
    }
}
