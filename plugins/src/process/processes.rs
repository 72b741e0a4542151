//! System calls for processes: setting limits, and killing a process with all its descendants.

use std::process::Child;

#[cfg(target_os = "linux")]
use super::command::COOKIE;

/// Limits the memory for the data of a process, in bytes.
#[cfg(target_os = "linux")]
pub(super) fn limit_memory(child: &Child, bytes: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    if let Some(pid) = pid(child).and_then(Pid::from_raw) {
        // If the limit cannot be set, the process has already ended. This is detected elsewhere.
        let _ = prlimit(Some(pid), Resource::Data, limit(bytes));
        let _ = prlimit(Some(pid), Resource::Core, limit(0));
    }
}

/// Does nothing, because this system has no such limit.
#[cfg(not(target_os = "linux"))]
pub(super) fn limit_memory(_child: &Child, _bytes: u64) {}

/// Preferred capacity of a pipe, in bytes. Linux allows every user at most this capacity by default.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Enlarges a pipe so that it can hold whole messages. Then one side can write a message while the other side is busy.
#[cfg(target_os = "linux")]
pub(super) fn enlarge(pipe: impl std::os::fd::AsFd) {
    // If the pipe cannot be enlarged, the exchange is only slower.
    let _ = rustix::pipe::fcntl_setpipe_size(pipe, PIPE_BYTES);
}

/// Does nothing, because pipes on this system have a fixed size.
#[cfg(not(target_os = "linux"))]
pub(super) fn enlarge<T>(_pipe: &T) {}

/// Describes how a process has ended; `None` if it is running. Does not reap the process, so that its id is not reused
/// before [`end`] is called.
#[cfg(target_os = "linux")]
pub(super) fn end_of(child: &mut Child) -> Option<String> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    let id = WaitId::Pid(pid(child).and_then(Pid::from_raw)?);
    let status = waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT).ok().flatten()?;
    let signal = status.terminating_signal().map(|signal| format!("signal {signal}"));
    signal.or_else(|| status.exit_status().map(|code| format!("exit code {code}")))
}

/// Describes how a process has ended; `None` if it is running.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_of(child: &mut Child) -> Option<String> {
    let status = child.try_wait().ok().flatten()?;
    Some(status.code().map_or_else(|| "no exit code".to_owned(), |code| format!("exit code {code}")))
}

/// Kills a process and its process group, and reaps the process.
pub(super) fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = pid(child).and_then(rustix::process::Pid::from_raw) {
        // This fails if all processes of the group have ended.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Maximum number of searches for processes that have left the process group of a stage. Another search is needed
/// because a process may start a new one during a search.
#[cfg(target_os = "linux")]
const MAX_SEARCHES: usize = 20;

/// Kills every process that has the given cookie in its environment, including processes that have left the process
/// group of the stage.
#[cfg(target_os = "linux")]
pub(super) fn kill_by_cookie(cookie: &str) {
    for _ in 0..MAX_SEARCHES {
        if !kill_found(cookie) {
            return;
        }
        // The environment of a killed process can still be read for a moment, so the next search would find it again.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Searches once for processes that have the given cookie in their environment, and kills them. Returns whether there
/// were any.
#[cfg(target_os = "linux")]
fn kill_found(cookie: &str) -> bool {
    use rustix::process::{Pid, Signal, kill_process};

    let wanted = format!("{COOKIE}={cookie}");
    #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    let mut is_found = false;
    for process in processes.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        #[allow(clippy::disallowed_methods, reason = "/proc is the kernel's")]
        let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
        if environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
            && let Some(pid) = Pid::from_raw(pid)
        {
            let _ = kill_process(pid, Signal::KILL);
            is_found = true;
        }
    }
    is_found
}

/// Does nothing, because this system does not allow reading the environment of other processes.
#[cfg(not(target_os = "linux"))]
pub(super) fn kill_by_cookie(_cookie: &str) {}

#[cfg(unix)]
fn pid(child: &Child) -> Option<i32> {
    i32::try_from(child.id()).ok()
}
