//! Measures wall time, processor time and memory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::time::{ClockId, clock_gettime};

/// Measurements of one of the compared systems, by name. Names sort in the order of the output.
pub(crate) type Figures = BTreeMap<String, f64>;

/// Wall times and processor times of an operation that is repeated, in milliseconds.
#[derive(Default)]
pub(crate) struct Times {
    wall: Vec<f64>,
    processor: Vec<f64>,
}

impl Times {
    /// Measures one run of `work` in this process.
    pub(crate) fn measure<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (begun, processor) = (Instant::now(), processor());
        let done = work();
        self.add(begun.elapsed(), self::processor() - processor);
        done
    }

    pub(crate) fn add(&mut self, wall: Duration, processor: Duration) {
        self.wall.push(wall.as_secs_f64() * 1e3);
        self.processor.push(processor.as_secs_f64() * 1e3);
    }

    /// Adds the median and the 99th percentile of both times to `figures`.
    pub(crate) fn note(mut self, figures: &mut Figures, name: &str) {
        for (what, times) in [("wall", &mut self.wall), ("cpu", &mut self.processor)] {
            times.sort_by(f64::total_cmp);
            for (quantile, share) in [("p50", 0.5), ("p99", 0.99)] {
                let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
                if let Some(time) = times.get(index) {
                    figures.insert(format!("{name}, {what} {quantile} ms"), *time);
                }
            }
        }
    }
}

/// Returns the current time in Unix seconds.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| now.as_secs() as i64)
}

/// Returns the processor time of all threads of this process.
fn processor() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Runs `work` and returns its wall time in seconds.
pub(crate) fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begun = Instant::now();
    let done = work();
    (done, begun.elapsed().as_secs_f64())
}

/// Adds the memory of this process in MiB: private memory, and pages of mapped files, which the system may drop.
pub(crate) fn memory(figures: &mut Figures, name: &str) {
    for (what, label) in [("RssAnon:", "own"), ("RssFile:", "mapped")] {
        figures.extend(status(what).map(|value| (format!("{name} {label} MiB"), value)));
    }
}

/// Runs `work` and returns the peak of private memory of this process in MiB.
pub(crate) fn peak_memory<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let sampler = scope.spawn(|| {
            let mut peak = 0.0_f64;
            while !is_done.load(Ordering::Relaxed) {
                peak = peak.max(status("RssAnon:").unwrap_or_default());
                std::thread::sleep(Duration::from_millis(10));
            }
            peak
        });
        let done = work();
        is_done.store(true, Ordering::Relaxed);
        (done, sampler.join().unwrap_or_default())
    })
}

/// Returns a field of this process's `/proc` status, in MiB.
fn status(field: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(field))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}

/// Returns the size of all files below a path, in MiB.
pub(crate) fn mebibytes(path: &Path) -> f64 {
    let Ok(found) = path.symlink_metadata() else { return 0.0 };
    if !found.is_dir() {
        return found.len() as f64 / f64::from(1 << 20);
    }
    fs::read_dir(path).into_iter().flatten().flatten().map(|entry| mebibytes(&entry.path())).sum()
}

/// Describes the load of the machine.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!("load {}", load.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
}
