//! The processors of the machine that this process may use.

use std::collections::HashMap;

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// Numbers of the processors. One processor of each physical core comes first.
pub(super) struct Processors {
    numbers: Vec<usize>,
    pub(super) physical_cores: usize,
}

impl Processors {
    /// Determines the processors from the affinity of this process and the limit of its control group.
    pub(super) fn available() -> Result<Self, String> {
        let failed = |error: &dyn std::error::Error| format!("cannot determine the processors: {error}");
        let affinity = sched_getaffinity(Pid::from_raw(0)).map_err(|error| failed(&error))?;
        let limit = std::thread::available_parallelism().map_err(|error| failed(&error))?.get();
        let allowed = (0..CpuSet::count()).filter(|number| affinity.is_set(*number).unwrap_or(false));
        let mut threads_of_core: HashMap<String, usize> = HashMap::new();
        let mut ranked: Vec<(usize, usize)> = allowed
            .map(|number| {
                let path = format!("/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list");
                let core = std::fs::read_to_string(path).unwrap_or_else(|_| number.to_string());
                let threads = threads_of_core.entry(core).or_default();
                *threads += 1;
                (*threads, number)
            })
            .collect();
        ranked.sort_unstable();
        let numbers = ranked.into_iter().map(|(_, number)| number).take(limit).collect();
        Ok(Self { numbers, physical_cores: threads_of_core.len() })
    }

    pub(super) fn all(&self) -> &[usize] {
        &self.numbers
    }

    pub(super) fn first(&self, count: usize) -> &[usize] {
        &self.numbers[..count]
    }
}

/// Pins this thread to some processors. Processes and threads that this thread starts later inherit the affinity.
pub(super) fn pin(processors: &[usize]) -> Result<(), String> {
    let mut set = CpuSet::new();
    let added = processors.iter().try_for_each(|number| set.set(*number));
    let pinned = added.and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
    pinned.map_err(|error| format!("cannot pin to the processors {processors:?}: {error}"))
}
