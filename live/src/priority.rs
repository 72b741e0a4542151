//! The priority of index runs.

/// Has searches go before the work of this thread and of the threads that it starts, where the system knows such a thing: on
/// Linux, each thread has a nice value, which those that it starts begin with.
pub(crate) fn yield_to_searches() {
    // The pool that all searches share begins with the priority of the thread that uses it first: not this one.
    let _ = rayon::current_num_threads();
    // Without it, a run is as good, and searches wait longer.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::setpriority_process(None, NICE);
}

/// With this nice value a thread gets a third of the time that one without it gets, where both want it, and all that nobody else
/// wants.
#[cfg(any(target_os = "linux", target_os = "android"))]
const NICE: i32 = 5;
