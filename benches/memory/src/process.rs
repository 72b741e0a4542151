//! Measures processes that add one turn each.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::measure::Times;

/// Runs a command until it ends, and adds its cost to `times`.
pub(crate) fn measure(times: &mut Times, command: &mut Command) -> Outcome<()> {
    let begun = Instant::now();
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let (status, processor) = wait(child.id())?;
    times.add(begun.elapsed(), processor);
    if status == 0 { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// Waits for a child process, and returns its exit status and its processor time.
fn wait(process: u32) -> Outcome<(i32, Duration)> {
    let mut status = 0;
    // SAFETY: zeroes are a valid value of this structure of numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to values that outlive the call, and only this function waits for the child.
    let waited = unsafe { libc::wait4(process as i32, &mut status, 0, &mut usage) };
    if waited < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    let time = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1_000);
    Ok((status, time(usage.ru_utime) + time(usage.ru_stime)))
}
