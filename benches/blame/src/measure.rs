//! Measures processor time, wall time and the peak of anonymous memory.

use std::fs::read_to_string;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Clock ticks per second in `/proc`; a constant of the Linux ABI.
const TICKS: u64 = 100;
/// Interval at which the memory of the process is read.
const MEMORY_PERIOD: Duration = Duration::from_millis(5);

/// Cost of a piece of work.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Processor time, user and system.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
}

impl Cost {
    /// Returns the processor time multiplied by `factor`, in seconds.
    pub fn scaled_cpu_seconds(self, factor: f64) -> f64 {
        self.cpu.as_secs_f64() * factor
    }
}

/// Runs `work` and measures its cost. The processor time includes all threads of this process.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    measured(|| clock(ClockId::ProcessCPUTime), work)
}

/// Runs `work` and measures the cost on this thread.
pub fn thread_cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    measured(|| clock(ClockId::ThreadCPUTime), work)
}

/// Runs `work`, which runs other programs, and measures the processor time of these programs.
pub fn children_cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    measured(children_cpu, work)
}

fn measured<T>(cpu: impl Fn() -> Duration, work: impl FnOnce() -> T) -> (T, Cost) {
    let (cpu_begun, begun) = (cpu(), Instant::now());
    let made = work();
    (made, Cost { cpu: cpu() - cpu_begun, wall: begun.elapsed() })
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the processor time of all child processes that have ended.
fn children_cpu() -> Duration {
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may contain spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

/// Runs `work` and returns the peak of the process's anonymous memory in bytes. File mappings do not count.
pub fn anonymous_peak<T: Send>(work: impl FnOnce() -> T + Send) -> (T, u64) {
    let (peak, done) = (AtomicU64::new(0), AtomicBool::new(false));
    let made = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(anonymous_bytes(), Ordering::Relaxed);
                std::thread::sleep(MEMORY_PERIOD);
            }
        });
        let made = work();
        done.store(true, Ordering::Relaxed);
        made
    });
    (made, peak.into_inner())
}

fn anonymous_bytes() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kibibytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kibibytes.unwrap_or(0) * 1024
}

/// Returns the load average of the last minute. If it exceeds the number of threads, wall times are not meaningful.
pub fn load() -> String {
    read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}
