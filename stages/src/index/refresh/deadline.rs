//! Cancels a token at a deadline.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

use aurora_pipeline::CancelToken;

/// A thread that cancels a token at a point in time. Dropping the value before that time ends the thread without
/// cancelling the token.
pub(super) struct Deadline {
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Deadline {
    /// Starts the thread. If no thread can be started, cancels the token immediately.
    pub(super) fn start(token: &CancelToken, at: Instant) -> Self {
        let (stop, waits) = mpsc::channel::<()>();
        let of_thread = token.clone();
        let wait = move || {
            let rest = at.saturating_duration_since(Instant::now());
            if waits.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                of_thread.cancel();
            }
        };
        let thread = std::thread::Builder::new().name("aurora-deadline".to_owned()).spawn(wait);
        if thread.is_err() {
            token.cancel();
        }
        Self { stop: Some(stop), thread: thread.ok() }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The thread only waits and cancels, so it cannot fail.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{CancelToken, Deadline};

    #[test]
    fn a_token_is_cancelled_at_the_deadline_and_not_before() {
        let (early, late) = (CancelToken::new(), CancelToken::new());
        drop(Deadline::start(&late, Instant::now() + Duration::from_secs(3_600)));
        assert!(!late.is_cancelled());
        let _passed = Deadline::start(&early, Instant::now());
        while !early.is_cancelled() {
            std::thread::yield_now();
        }
    }
}
