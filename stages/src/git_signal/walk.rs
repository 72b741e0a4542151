//! The walk over the git history, in a background thread.

use std::fs::{File, TryLockError};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use aurora_pipeline::CancelToken;

use aurora_history::{EventIndex, History};

/// Interval at which a waiting thread checks the token that cancels the run.
const CANCEL_INTERVAL: Duration = Duration::from_millis(20);

/// The result of a walk.
pub(super) type WalkOutcome = Result<EventIndex, Arc<str>>;

/// The progress of a walk, in commits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WalkProgress {
    /// Number of commits that were compared with their parents.
    pub done: u64,
    /// Number of commits to compare, or 0 until the number is known.
    pub total: u64,
}

/// A walk over the git history in a background thread. Dropping the value stops the walk.
pub struct HistoryWalk {
    state: String,
    shared: Arc<Shared>,
    cancel: CancelToken,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    found: OnceLock<WalkOutcome>,
    is_found: (Mutex<bool>, Condvar),
    stop: AtomicBool,
    done: AtomicUsize,
    total: AtomicUsize,
    started: Instant,
    /// Time at which the number of commits became known.
    counted: OnceLock<Instant>,
}

impl HistoryWalk {
    /// Starts the walk on `threads` threads. `state` is the [`Repository::state`](super::Repository::state) of
    /// `history`. The walk begins when it has the `lock`.
    pub(super) fn start(
        history: Arc<History>,
        state: String,
        lock: Option<Arc<File>>,
        threads: usize,
        cancel: CancelToken,
    ) -> Self {
        let shared = Arc::new(Shared {
            found: OnceLock::new(),
            is_found: (Mutex::new(false), Condvar::new()),
            stop: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
            started: Instant::now(),
            counted: OnceLock::new(),
        });
        let of_thread = Arc::clone(&shared);
        let work = move || {
            let found = catch_panic(|| {
                let _lock = lock.as_deref().map(|file| WalkLock::take(file, &of_thread.stop));
                walk(&history, threads, &of_thread)
            });
            of_thread.finish(found);
        };
        let thread = std::thread::Builder::new().name("aurora-history".to_owned()).spawn(work);
        if let Err(error) = &thread {
            shared.finish(Err(error.to_string().into()));
        }
        Self { state, shared, cancel, thread: thread.ok() }
    }

    /// Returns the [`Repository::state`](super::Repository::state) at the start of the walk.
    pub(super) fn state(&self) -> &String {
        &self.state
    }

    /// Waits for the end of the walk.
    pub(super) fn wait(&self) -> &WalkOutcome {
        loop {
            if let Some(found) = self.wait_briefly() {
                return found;
            }
        }
    }

    /// Waits for the end of the walk. Returns `None` if the estimated remaining time exceeds `limit`. Always returns
    /// `None` if `limit` is zero, because the result would otherwise depend on whether a short walk has already ended.
    pub(super) fn wait_unless(&self, limit: Duration) -> Option<&WalkOutcome> {
        if limit.is_zero() {
            return None;
        }
        loop {
            let found = self.shared.found.get();
            if found.is_some() || self.shared.remaining() > limit {
                return found;
            }
            self.wait_briefly();
        }
    }

    /// Waits at most `time` for the end of the walk, and returns whether the walk has ended.
    pub(crate) fn is_done_after(&self, time: Duration) -> bool {
        let started = Instant::now();
        while self.wait_briefly().is_none() {
            if started.elapsed() >= time {
                return false;
            }
        }
        true
    }

    /// Whether the walk ended with an error.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.shared.found.get(), Some(Err(_)))
    }

    /// Returns the number of finished commits and the total.
    pub(crate) fn progress(&self) -> WalkProgress {
        let (done, total) = (&self.shared.done, &self.shared.total);
        WalkProgress { done: done.load(Ordering::Relaxed) as u64, total: total.load(Ordering::Relaxed) as u64 }
    }

    /// Waits for the end of the walk for at most [`CANCEL_INTERVAL`].
    fn wait_briefly(&self) -> Option<&WalkOutcome> {
        if self.cancel.is_cancelled() {
            self.shared.stop.store(true, Ordering::Relaxed);
        }
        let (is_found, changed) = &self.shared.is_found;
        let is_found = is_found.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_found {
            drop(changed.wait_timeout(is_found, CANCEL_INTERVAL));
        }
        self.shared.found.get()
    }
}

impl Drop for HistoryWalk {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread converts a panic to an error, so joining cannot fail.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn finish(&self, found: WalkOutcome) {
        self.found.get_or_init(|| found);
        *self.is_found.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.is_found.1.notify_all();
    }

    /// Estimates the remaining time. Until the first commit was compared, the estimate is the elapsed time.
    fn remaining(&self) -> Duration {
        let (done, total) = (self.done.load(Ordering::Relaxed), self.total.load(Ordering::Relaxed));
        match self.counted.get() {
            Some(counted) if done > 0 => counted.elapsed().mul_f64(total.saturating_sub(done) as f64 / done as f64),
            _ => self.started.elapsed(),
        }
    }
}

/// A lock that only one walk at a time holds.
struct WalkLock<'f>(&'f File);

impl<'f> WalkLock<'f> {
    /// Waits for the lock until `stop` is set. Without the lock, for example on a file system without locks, several
    /// runs may do the same work, but the cache stays valid because its segments have checksums.
    fn take(file: &'f File, stop: &AtomicBool) -> Self {
        while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(CANCEL_INTERVAL);
        }
        Self(file)
    }
}

impl Drop for WalkLock<'_> {
    fn drop(&mut self) {
        // A lock that cannot be released is held until the process ends.
        let _ = self.0.unlock();
    }
}

/// Converts a panic to an error, so that no thread waits forever for the result.
fn catch_panic(walk: impl FnOnce() -> WalkOutcome) -> WalkOutcome {
    let found = std::panic::catch_unwind(AssertUnwindSafe(walk));
    found.unwrap_or_else(|_| Err("the walk over the history panicked".into()))
}

fn walk(history: &History, threads: usize, shared: &Shared) -> WalkOutcome {
    let progress = |done: usize, total: usize| {
        shared.counted.get_or_init(Instant::now);
        shared.total.store(total, Ordering::Relaxed);
        shared.done.fetch_max(done, Ordering::Relaxed);
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|error| error.to_string())?;
    let index = pool.install(|| history.index_events(&shared.stop, &progress));
    Ok(index.map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::catch_panic;

    #[test]
    fn a_panicking_walk_fails() {
        let failure = catch_panic(|| panic!("a panic in a test")).err();
        assert_eq!(failure.as_deref(), Some("the walk over the history panicked"));
    }
}
