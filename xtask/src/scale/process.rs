//! Runs a process on some processors and measures its cost.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

use super::processors::pin;

/// Output of a process, and its wall time and processor time in seconds.
pub(super) struct Finished {
    pub(super) output: String,
    pub(super) wall: f64,
    pub(super) processor: f64,
}

/// Runs a command on some processors until it ends.
pub(super) fn run(command: &mut Command, processors: &[usize], input: &str) -> Result<Finished, String> {
    let program = command.get_program().to_owned();
    let failed = |error: std::io::Error| format!("{}: {error}", program.display());
    pin(processors)?;
    let used = processor_time()?;
    let begun = Instant::now();
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(failed)?;
    let pipe = child.stdin.take();
    let finished = std::thread::scope(|scope| {
        // If the process ends early, its own message is reported instead of the broken pipe.
        scope.spawn(|| pipe.map(|mut pipe| pipe.write_all(input.as_bytes())));
        child.wait_with_output()
    });
    let wall = begun.elapsed().as_secs_f64();
    let finished = finished.map_err(failed)?;
    if !finished.status.success() {
        let reason = String::from_utf8_lossy(&finished.stderr);
        return Err(format!("{command:?} ended with {}: {}", finished.status, reason.trim()));
    }
    let processor = processor_time()?.saturating_sub(used).as_secs_f64();
    Ok(Finished { output: String::from_utf8_lossy(&finished.stdout).into_owned(), wall, processor })
}

/// Returns the processor time of all child processes that have ended and that this process has waited for.
fn processor_time() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| format!("getrusage: {error}"))?;
    let time = |time: TimeVal| Duration::new(time.tv_sec().unsigned_abs(), 1_000 * time.tv_usec() as u32);
    Ok(time(usage.user_time()) + time(usage.system_time()))
}
