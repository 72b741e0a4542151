//! Cancels a token at a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Instant;

use aurora_pipeline::CancelToken;

/// A thread that cancels a token at a point in time. Dropping the value before that time ends the thread without
/// cancelling the token.
pub struct Deadline {
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
    reached: Arc<AtomicBool>,
}

impl Deadline {
    /// Starts the thread. If no thread can be started, cancels the token immediately.
    pub fn start(token: &CancelToken, at: Instant) -> Self {
        let (stop, waits) = mpsc::channel::<()>();
        let of_thread = token.clone();
        let reached = Arc::new(AtomicBool::new(false));
        let set_reached = Arc::clone(&reached);
        let wait = move || {
            let rest = at.saturating_duration_since(Instant::now());
            if waits.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                set_reached.store(!of_thread.is_cancelled(), Ordering::SeqCst);
                of_thread.cancel();
            }
        };
        let thread = std::thread::Builder::new().name("aurora-deadline".to_owned()).spawn(wait);
        if thread.is_err() {
            reached.store(true, Ordering::SeqCst);
            token.cancel();
        }
        Self { stop: Some(stop), thread: thread.ok(), reached }
    }

    /// Whether the token was cancelled because of the deadline. False if something else had cancelled it before.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::SeqCst)
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
        let passed = Deadline::start(&early, Instant::now());
        while !early.is_cancelled() {
            std::thread::yield_now();
        }
        assert!(passed.is_reached());
        let cancelled = CancelToken::new();
        cancelled.cancel();
        let after = Deadline::start(&cancelled, Instant::now() + Duration::from_millis(1));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!after.is_reached(), "the token had been cancelled before the deadline");
    }
}
