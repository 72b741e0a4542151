//! Measures the processor time of a run and its serial share, which more cores would not shorten.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{RunReport, StageReport};

/// Interval between two samples of the thread states.
const INTERVAL: Duration = Duration::from_millis(10);
/// Maximum size of the `stat` file of a thread in `/proc`, in bytes.
const MAX_STAT_BYTES: u64 = 4096;
/// Name of the sampling thread.
const SAMPLER: &str = "aurora-sampler";
/// Maximum length of a thread name in Linux, in bytes.
const MAX_NAME_BYTES: usize = 15;

/// A measurement of a run, which starts when the value is created.
pub(super) struct ProcessorTime {
    begun: Duration,
    sampler: Option<(Sender<()>, JoinHandle<Alone>)>,
}

/// Wall-clock time during which a thread was the only runnable thread, by thread name.
type Alone = BTreeMap<String, Duration>;

impl ProcessorTime {
    /// Starts the measurement. If the system reports the states of threads, also starts a thread that samples them.
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

    /// Ends the measurement. Returns the processor time of this process in seconds, and its serial share from 0 to 1.
    /// Serial time is the processor time of stages with one worker, plus the time during which the only runnable thread
    /// was not a worker of such a stage.
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

/// Returns the processor time of stages with one worker, plus the time during which the only runnable thread was not a
/// worker of such a stage.
fn serial_time(report: &RunReport, alone: &Alone) -> Duration {
    let single = || report.stages.iter().filter(|stage| stage.single_worker);
    let is_of = |stage: &StageReport, name: &str| {
        format!("aurora-{}", stage.name).bytes().take(MAX_NAME_BYTES).eq(name.bytes())
    };
    let others = alone.iter().filter(|(name, _)| !single().any(|stage| is_of(stage, name)));
    single().map(|stage| stage.cpu).chain(others.map(|(_, time)| *time)).sum()
}

/// Returns the name of the only runnable thread of this process, ignoring the sampling thread. Returns `None` if no
/// thread or more than one thread is runnable.
fn only_runnable() -> Option<String> {
    let mut only = None;
    #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
    let threads = fs::read_dir("/proc/self/task").ok()?;
    for entry in threads.flatten() {
        // If the file cannot be read, the thread has ended.
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
