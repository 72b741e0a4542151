//! The processor time of a run, and the share of it that more cores would not shorten.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{RunReport, StageReport};

/// Interval between two samples of the threads' states.
const INTERVAL: Duration = Duration::from_millis(10);
/// Maximum size of the line of a thread in `/proc`, in bytes.
const MAX_STAT_BYTES: u64 = 4096;
/// Name of the sampling thread, and the maximum length in bytes of a thread name in Linux.
const SAMPLER: &str = "aurora-sampler";
const MAX_NAME_BYTES: usize = 15;

/// Measures a run from the creation of this value on.
pub(super) struct ProcessorTime {
    begun: Duration,
    sampler: Option<(Sender<()>, JoinHandle<Alone>)>,
}

/// Wall-clock time in which a thread was the only runnable one, by the name of the thread.
type Alone = BTreeMap<String, Duration>;

impl ProcessorTime {
    /// Starts the clock and, if the system reports the states of threads, a thread that samples them.
    pub(super) fn start() -> Self {
        let (stop, stopped) = channel();
        let sample = move || {
            let (mut alone, mut last) = (Alone::new(), Instant::now());
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(INTERVAL) {
                let elapsed = last.elapsed();
                last += elapsed;
                if let Some(name) = only_runnable() {
                    *alone.entry(name).or_default() += elapsed;
                }
            }
            alone
        };
        let thread =
            Path::new("/proc/self/task").is_dir().then(|| Builder::new().name(SAMPLER.to_owned()).spawn(sample));
        Self { begun: process_cpu_time(), sampler: thread.and_then(Result::ok).map(|thread| (stop, thread)) }
    }

    /// Ends the measurement. Returns the processor time of this process in seconds, and the serial share of it, from 0
    /// to 1. The serial share consists of the processor time of stages with one worker, and the time in which another
    /// thread was the only runnable one.
    pub(super) fn finish(self, report: &RunReport) -> (Option<f64>, Option<f64>) {
        let cpu = process_cpu_time().saturating_sub(self.begun);
        let alone = self.sampler.and_then(|(stop, thread)| {
            drop(stop);
            thread.join().ok()
        });
        let serial = alone.filter(|_| !cpu.is_zero()).map(|alone| serial_time(report, &alone));
        let share = serial.map(|serial| (serial.as_secs_f64() / cpu.as_secs_f64()).min(1.0));
        (Some(cpu.as_secs_f64()).filter(|seconds| *seconds > 0.0), share)
    }
}

/// Returns the processor time of stages with one worker, plus the time in which another thread was the only runnable
/// one.
fn serial_time(report: &RunReport, alone: &Alone) -> Duration {
    let single = || report.stages.iter().filter(|stage| stage.single_worker);
    let is_of = |stage: &StageReport, name: &str| {
        format!("aurora-{}", stage.name).bytes().take(MAX_NAME_BYTES).eq(name.bytes())
    };
    let others = alone.iter().filter(|(name, _)| !single().any(|stage| is_of(stage, name)));
    single().map(|stage| stage.cpu).chain(others.map(|(_, time)| *time)).sum()
}

/// Returns the name of the only runnable thread of this process, except this one. Returns `None` if there are no or
/// several such threads.
fn only_runnable() -> Option<String> {
    let mut only = None;
    #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
    let threads = fs::read_dir("/proc/self/task").ok()?;
    for entry in threads.flatten() {
        // A thread that has ended in the meantime is not runnable.
        let Ok(line) = read_regular_to_string(&entry.path().join("stat"), MAX_STAT_BYTES) else { continue };
        // The format is `ID (NAME) STATE …`, where the name may contain any characters.
        let (head, rest) = line.rsplit_once(')')?;
        let name = head.split_once('(')?.1;
        if rest.trim_start().starts_with('R') && name != SAMPLER && only.replace(name.to_owned()).is_some() {
            return None;
        }
    }
    only
}

/// Returns the processor time of this process since its start, or zero if the system does not report it.
#[cfg(unix)]
fn process_cpu_time() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime).try_into().unwrap_or_default()
}

#[cfg(not(unix))]
fn process_cpu_time() -> Duration {
    Duration::ZERO
}
