//! System calls for processes: limits, and killing a process with all its descendants.

use std::process::Child;

#[cfg(target_os = "linux")]
use super::command::COOKIE;

/// Limits the data of a process, in bytes, if the system supports it.
#[cfg(target_os = "linux")]
pub(super) fn limit_memory(child: &Child, bytes: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = pid(child).and_then(Pid::from_raw) {
        // If the limit cannot be set, the process has already ended, which is detected elsewhere.
        let _ = prlimit(Some(pid), Resource::Data, limit(bytes));
        let _ = prlimit(Some(pid), Resource::Core, limit(0));
    }
}

/// Does nothing: this system has no such limit.
#[cfg(not(target_os = "linux"))]
pub(super) fn limit_memory(_child: &Child, _bytes: u64) {}

/// Preferred capacity of a pipe, in bytes: the maximum that Linux allows every user by default.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Enlarges a pipe to the size of whole messages, so that each side can write a message while the other side works.
#[cfg(target_os = "linux")]
pub(super) fn enlarge(pipe: impl std::os::fd::AsFd) {
    // A pipe that cannot be enlarged is only slower.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// Does nothing: this system has pipes of a fixed size.
#[cfg(not(target_os = "linux"))]
pub(super) fn enlarge<T>(_pipe: &T) {}

/// Describes how a process has ended, if it has. Does not reap the process, so that its id is not reused before
/// [`end`].
#[cfg(target_os = "linux")]
pub(super) fn end_of(child: &mut Child) -> Option<String> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let id = WaitId::Pid(pid(child).and_then(Pid::from_raw)?);
    let status = waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).ok().flatten()?;
    let signal = status.terminating_signal().map(|signal| format!("signal {signal}"));
    signal.or_else(|| status.exit_status().map(|code| format!("exit code {code}")))
}

/// Describes how a process has ended, if it has.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_of(child: &mut Child) -> Option<String> {
    let status = child.try_wait().ok().flatten()?;
    Some(status.code().map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}")))
}

/// Kills a process with its group, and reaps it.
pub(super) fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = pid(child).and_then(rustix::process::Pid::from_raw) {
        // The group no longer exists if all its processes have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Maximum number of searches for processes that have left the process group of a stage. A process may start another
/// one during a search; the next search finds it.
#[cfg(target_os = "linux")]
const MAX_SEARCHES: usize = 20;

/// Kills every process that was started with `cookie` in its environment. These processes have left the process group
/// of the stage.
#[cfg(target_os = "linux")]
pub(super) fn end_marked(cookie: &str) {
    for _ in 0..MAX_SEARCHES {
        if !end_found(cookie) {
            return;
        }
        // A killed process keeps its environment for a moment.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Kills the processes that it finds. Returns whether there were any.
#[cfg(target_os = "linux")]
fn end_found(cookie: &str) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    let mark = format!("{COOKIE}={cookie}");
    #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let mut is_found = false;
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
        let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = kill_process(pid, Signal::KILL);
            is_found = true;
        }
    }
    is_found
}

/// Does nothing: the environment of other processes cannot be read on this system.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_marked(_cookie: &str) {}

#[cfg(unix)]
fn pid(child: &Child) -> Option<i32> {
    i32::try_from(child.id()).ok()
}
