//! Wall time and CPU time.

use std::time::{Duration, Instant};

/// The cost of a run.
#[derive(Clone, Copy)]
pub(crate) struct Measured {
    pub(crate) wall: Duration,
    /// `None` if the system does not report CPU time.
    pub(crate) cpu: Option<Cpu>,
}

/// One side of the comparison: `cat`, or a stage with one encoding.
pub(crate) struct Side<'a> {
    pub(crate) name: &'static str,
    /// Number of concurrent processes.
    pub(crate) count: usize,
    run: Box<dyn Fn() -> Measured + 'a>,
}

impl<'a> Side<'a> {
    pub(crate) fn new(name: &'static str, count: usize, run: impl Fn() -> Measured + 'a) -> Self {
        Self { name, count, run: Box::new(run) }
    }
}

/// CPU time in seconds.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    /// CPU time of this process.
    pub(crate) own: f64,
    /// CPU time of child processes that have ended and were reaped.
    pub(crate) children: f64,
}

pub(crate) fn measured(work: impl FnOnce()) -> Measured {
    let (before, begun) = (cpu(), Instant::now());
    work();
    let wall = begun.elapsed();
    let since =
        |before: Cpu, after: Cpu| Cpu { own: after.own - before.own, children: after.children - before.children };
    Measured { wall, cpu: before.zip(cpu()).map(|(before, after)| since(before, after)) }
}

/// Runs all sides in turn. Returns the fastest run of each side.
pub(crate) fn best_of(rounds: usize, sides: &[Side<'_>]) -> Vec<Measured> {
    let mut best: Vec<Measured> = sides.iter().map(|side| (side.run)()).collect();
    for _ in 1..rounds {
        for (side, best) in sides.iter().zip(&mut best) {
            let measured = (side.run)();
            if measured.wall < best.wall {
                *best = measured;
            }
        }
    }
    best
}

/// Reads the fields 14 to 17 of `/proc/self/stat`, which are in hundredths of a second.
fn cpu() -> Option<Cpu> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks: Vec<f64> = fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse().ok()).collect();
    match ticks[..] {
        [user, system, of_children, system_of_children] => {
            Some(Cpu { own: (user + system) / 100.0, children: (of_children + system_of_children) / 100.0 })
        }
        _ => None,
    }
}
