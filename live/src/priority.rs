//! The priority of index runs.

/// Lowers the priority of this thread and of the threads that it starts, so that searches run first. Works only on
/// systems with thread priorities: on Linux, each thread has a nice value, which its child threads inherit.
pub(crate) fn yield_to_searches() {
    // The thread pool of searches inherits the priority of the thread that first uses it, which must not be this
    // thread. So create the pool now.
    let _ = rayon::current_num_threads();
    // On failure the run still works, and searches wait longer.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// With this nice value a thread gets a third of the time of a normal thread if both compete, and all idle time.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NICE: i32 = 5;
