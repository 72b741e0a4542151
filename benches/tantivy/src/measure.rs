//! Measures times, and prints tables of ratios.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Cost of a piece of work.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Processor time of all threads of the process.
    pub cpu: Duration,
    /// Wall time.
    pub wall: Duration,
}

impl Cost {
    /// A cost that is greater than any measured cost.
    pub const MAX: Self = Self { cpu: Duration::MAX, wall: Duration::MAX };

    /// Returns the minimum of both processor times and of both wall times.
    pub fn min(self, other: Self) -> Self {
        Self { cpu: self.cpu.min(other.cpu), wall: self.wall.min(other.wall) }
    }
}

/// Runs `work` and measures its cost.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let watch = Watch::start();
    let made = work();
    (made, watch.read())
}

/// A running measurement.
pub struct Watch {
    cpu: Duration,
    wall: Instant,
}

impl Watch {
    /// Starts a measurement.
    pub fn start() -> Self {
        Self { cpu: clock(ClockId::ProcessCPUTime), wall: Instant::now() }
    }

    /// Returns the cost since the start.
    pub fn read(&self) -> Cost {
        Cost { cpu: clock(ClockId::ProcessCPUTime) - self.cpu, wall: self.wall.elapsed() }
    }
}

/// Runs `work` and measures its processor time on this thread.
pub fn thread_cost<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = clock(ClockId::ThreadCPUTime);
    let made = work();
    (made, clock(ClockId::ThreadCPUTime) - begun)
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns the mean of the times, in seconds.
pub fn mean(times: &[Duration]) -> f64 {
    times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64
}

/// Returns the percentile `share` of the times.
pub fn percentile(times: &[Duration], share: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get((times.len().saturating_sub(1) * share + 50) / 100).map_or(0.0, Duration::as_secs_f64)
}

/// Unit and format of the numbers of a row.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Seconds, shown as milliseconds.
    Milliseconds,
    /// Seconds, shown as microseconds.
    Microseconds,
    /// Bytes, shown as megabytes.
    Megabytes,
    /// Bytes per second, shown as megabytes per second. More is better.
    MegabytesPerSecond,
}

impl Unit {
    fn show(self, value: f64) -> String {
        match self {
            Self::Seconds => format!("{value:.2} s"),
            Self::Milliseconds => format!("{:.2} ms", value * 1e3),
            Self::Microseconds => format!("{:.1} µs", value * 1e6),
            Self::Megabytes => format!("{:.1} MB", value / 1e6),
            Self::MegabytesPerSecond => format!("{:.0} MB/s", value / 1e6),
        }
    }
}

/// Prints the title and the head of a table.
pub fn table(title: &str, ours: &str, other: &str) {
    println!("\n{title}");
    println!("  {:<46} {ours:>11} {other:>11} {:>7}  bar", "", "ratio");
}

/// Prints a row: both values, their ratio, and the maximum ratio.
pub fn row(what: &str, ours: f64, other: f64, unit: Unit, bar: Option<f64>) {
    let ratio = ours / other;
    let bar = match bar {
        None => String::new(),
        Some(bar) if ratio <= bar => format!("≤ {bar:.2}"),
        Some(bar) => format!("≤ {bar:.2} MISSED"),
    };
    println!("  {what:<46} {:>11} {:>11} {ratio:>7.2}  {bar}", unit.show(ours), unit.show(other));
}
