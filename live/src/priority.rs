//! The priority of index runs.

/// Lowers the priority of this thread and of the threads that it starts, so that searches run first. Has an effect only
/// on Linux and Android, where each thread has its own nice value, which child threads inherit.
pub(crate) fn yield_to_searches() {
    // Searches use the global thread pool, whose threads inherit the priority of the thread that creates the pool.
    // Create the pool before lowering the priority.
    let _ = rayon::current_num_threads();
    // If this fails, the run competes with searches at normal priority.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// Nice value of index runs. A thread with this value gets about a third of the CPU time of a competing normal thread,
/// and all CPU time that would otherwise be idle.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NICE: i32 = 5;
