//! Clocks, and tables of ratios.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What something took.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Processor time of all threads of the process.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
}

impl Cost {
    /// More than anything takes.
    pub const MAX: Self = Self { cpu: Duration::MAX, wall: Duration::MAX };

    /// The best of both.
    pub fn min(self, other: Self) -> Self {
        Self { cpu: self.cpu.min(other.cpu), wall: self.wall.min(other.wall) }
    }
}

/// Does something, and says what it took.
pub fn cost<T>(work: impl FnOnce() -> T) -> (T, Cost) {
    let watch = Watch::start();
    let made = work();
    (made, watch.read())
}

/// Begins to measure now.
pub struct Watch {
    cpu: Duration,
    wall: Instant,
}

impl Watch {
    /// Begins.
    pub fn start() -> Self {
        Self { cpu: clock(ClockId::ProcessCPUTime), wall: Instant::now() }
    }

    /// What went by since.
    pub fn read(&self) -> Cost {
        Cost { cpu: clock(ClockId::ProcessCPUTime) - self.cpu, wall: self.wall.elapsed() }
    }
}

/// Does something, and says what processor time this thread took for it.
pub fn thread_cost<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let begun = clock(ClockId::ThreadCPUTime);
    let made = work();
    (made, clock(ClockId::ThreadCPUTime) - begun)
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// The mean of some times.
pub fn mean(times: &[Duration]) -> f64 {
    times.iter().sum::<Duration>().as_secs_f64() / times.len().max(1) as f64
}

/// The value below which as many hundredths of the times are.
pub fn percentile(times: &[Duration], share: usize) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get((times.len().saturating_sub(1) * share + 50) / 100).map_or(0.0, Duration::as_secs_f64)
}

/// How numbers of a table are shown.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Seconds, shown in thousandths.
    Milliseconds,
    /// Seconds, shown in millionths.
    Microseconds,
    /// Bytes, shown in millions.
    Megabytes,
    /// Bytes each second, shown in millions: here more is better.
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

/// Begins a table.
pub fn table(title: &str, ours: &str, peer: &str) {
    println!("\n{title}");
    println!("  {:<46} {ours:>11} {peer:>11} {:>7}  bar", "", "ratio");
}

/// Prints a row: a value of ours, one of the peer's, what one is of the other, and the most that it is to be.
pub fn row(what: &str, ours: f64, peer: f64, unit: Unit, bar: Option<f64>) {
    let ratio = ours / peer;
    let bar = match bar {
        None => String::new(),
        Some(bar) if ratio <= bar => format!("≤ {bar:.2}"),
        Some(bar) => format!("≤ {bar:.2} MISSED"),
    };
    println!("  {what:<46} {:>11} {:>11} {ratio:>7.2}  {bar}", unit.show(ours), unit.show(peer));
}
