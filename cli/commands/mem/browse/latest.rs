//! A slot for one message. A new message is merged with an older one that was not taken.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A slot for one message.
#[derive(Debug)]
pub(super) struct Latest<T> {
    message: Mutex<Option<T>>,
    arrived: Condvar,
}

impl<T> Latest<T> {
    pub(super) fn new() -> Self {
        Self { message: Mutex::new(None), arrived: Condvar::new() }
    }

    /// Stores a message. `join` merges it with an older message that was not taken.
    pub(super) fn put(&self, message: T, join: impl FnOnce(T, T) -> T) {
        let mut slot = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(match slot.take() {
            Some(older) => join(older, message),
            None => message,
        });
        self.arrived.notify_one();
    }

    /// Waits up to `timeout` for a message. Returns `None` if no message arrives.
    pub(super) fn take(&self, timeout: Duration) -> Option<T> {
        let slot = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.arrived.wait_timeout_while(slot, timeout, |message| message.is_none());
        let (mut slot, _) = waited.unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_were_not_taken_are_merged() {
        let slot = Latest::new();
        assert_eq!(slot.take(Duration::ZERO), None);
        slot.put(1, |_, new| new);
        slot.put(2, |_, new| new);
        assert_eq!((slot.take(Duration::ZERO), slot.take(Duration::ZERO)), (Some(2), None));
        slot.put(1, |old, new| old + new);
        slot.put(2, |old, new| old + new);
        assert_eq!(slot.take(Duration::ZERO), Some(3));
    }
}
