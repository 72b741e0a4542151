//! Threads for the tensor library.

use std::sync::Mutex;

/// Pools of one thread each, lent to one call at a time: the tensor library takes as many threads as the pool that it is
/// called in has, and callers that each use one core beat one that uses all.
#[derive(Default)]
pub(super) struct SingleThreads {
    idle: Mutex<Vec<rayon::ThreadPool>>,
}

impl SingleThreads {
    /// Does `work` with one thread for the tensor library.
    pub(super) fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let lent = self.idle.lock().ok().and_then(|mut idle| idle.pop());
        let pool = lent.or_else(|| rayon::ThreadPoolBuilder::new().num_threads(1).build().ok());
        let Some(pool) = pool else { return work() };
        let result = pool.install(work);
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(pool);
        }
        result
    }
}
