//! Clocks, and the peak of anonymous memory.

use std::fs::read_to_string;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Clock ticks a second in `/proc`; a constant of Linux' interface.
const TICKS: u64 = 100;
/// How often the memory of the process is looked at.
const MEMORY_PERIOD: Duration = Duration::from_millis(5);

/// What something took.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    /// Processor time, user and system.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
}

impl Cost {
    /// So many times as much processor time, as seconds.
    pub fn cpu_times(self, factor: f64) -> f64 {
        self.cpu.as_secs_f64() * factor
    }
}

/// Does something with the threads of this process, and says what it took.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    measured(|| clock(ClockId::ProcessCPUTime), work)
}

/// Does something on this thread alone, and says what it took.
pub fn thread_cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    measured(|| clock(ClockId::ThreadCPUTime), work)
}

/// Runs other programs and waits for them; says what they took, not what this process did.
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

/// Processor time of all programs that were started by this process and have ended.
fn children_cpu() -> Duration {
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: u64 = fields.skip(13).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1000 / TICKS)
}

/// Does something, and returns the most anonymous memory in bytes that the process had meanwhile; file mappings do not count.
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

/// How many processes wanted to run during the last minute; wall times mean little where it is more than the threads.
pub fn load() -> String {
    read_to_string("/proc/loadavg").unwrap_or_default().split(' ').next().unwrap_or_default().to_owned()
}
