//! Runs the program with limits of time and memory.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Maximum time of a run, unless `AURORA_TEST_TIME_LIMIT` sets another number of seconds. Runs need much less time,
/// even on a slow machine.
const MAX_TIME: Duration = Duration::from_secs(90);
/// Maximum memory of a run in bytes, unless `AURORA_TEST_MEMORY_LIMIT` sets another number of MiB. Runs need less than
/// a tenth of this limit.
const MAX_MEMORY_BYTES: u64 = 1 << 30;
/// Interval at which the limits of a process are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(4);

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum wall time.
    pub(crate) time: Duration,
    /// Maximum resident memory in bytes.
    pub(crate) memory: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: number("AURORA_TEST_TIME_LIMIT").map_or(MAX_TIME, Duration::from_secs),
            memory: number("AURORA_TEST_MEMORY_LIMIT").map_or(MAX_MEMORY_BYTES, |mebibytes| mebibytes << 20),
        }
    }
}

/// Returns the number that an environment variable contains.
pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The arguments of the command.
    pub(crate) command: String,
    /// The exit code, or `None` if a signal ended the run.
    pub(crate) code: Option<i32>,
    signal: Option<i32>,
    /// Reason why the test stopped the run.
    stopped: Option<String>,
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
    /// Wall time.
    pub(crate) lasted: Duration,
    /// Processor time of all threads when it was last observed, or zero if the system does not report it.
    pub(crate) processor_time: Duration,
    /// Maximum observed resident memory in bytes.
    pub(crate) peak: u64,
}

impl Outcome {
    /// Returns a description of the fault if the run crashed, panicked, hung or exceeded a limit. No attack may cause
    /// such a fault.
    pub(crate) fn fault(&self) -> Option<String> {
        if let Some(reason) = &self.stopped {
            return Some(reason.clone());
        }
        if let Some(signal) = self.signal {
            return Some(format!("died of signal {signal}"));
        }
        if !matches!(self.code, Some(0..=2)) {
            return Some(format!("exit code {:?}", self.code));
        }
        let shows = |what: &str| self.err.contains(what) || self.out.contains(what);
        ["panicked at", "stack backtrace", "RUST_BACKTRACE"]
            .into_iter()
            .find(|what| shows(what))
            .map(|what| format!("shows `{what}`"))
    }

    /// Returns standard output as JSON, or null if it is not JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// Returns a short description of the run.
    pub(crate) fn summary(&self) -> String {
        let start = |text: &str| text.trim().chars().take(300).collect::<String>().replace('\n', " | ");
        let Self { command, code, lasted, peak, .. } = self;
        let (out, err) = (start(&self.out), start(&self.err));
        format!("`{command}` exit {code:?} after {lasted:.1?}, {} MiB; out: {out}; err: {err}", peak >> 20)
    }
}

/// A running process whose limits are checked.
pub(crate) struct Running {
    child: Child,
    begun: Instant,
    limits: Limits,
    streams: TempDir,
    command: String,
}

/// Starts a command. The output goes to files, so that it need not be read while the command runs.
pub(crate) fn start(command: &mut Command, limits: Limits) -> Running {
    let streams = TempDir::new().expect("a temporary directory can be created");
    let file = |name: &str| File::create(streams.path().join(name)).expect("the file can be created");
    command.stdout(file("out")).stderr(file("err"));
    let shown = command.get_args().map(|argument| argument.to_string_lossy().chars().take(80).collect::<String>());
    let shown = shown.collect::<Vec<_>>().join(" ");
    // A new process group includes the processes that the program starts, so that all can be killed together.
    command.process_group(0);
    let begun = Instant::now();
    let child = command.spawn().expect("the program starts");
    Running { child, begun, limits, streams, command: shown }
}

impl Running {
    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the processor time of all threads so far, or zero if the system does not report it.
    pub(crate) fn processor_time(&self) -> Duration {
        processor_time(self.child.id())
    }

    /// Whether the process is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("the status of the process is available").is_none()
    }

    /// Waits until the process ends, and kills it if it exceeds a limit.
    pub(crate) fn wait(mut self) -> Outcome {
        let (mut peak, mut spent, mut stopped) = (0, Duration::ZERO, None);
        let status = loop {
            spent = spent.max(processor_time(self.child.id()));
            if let Some(status) = self.child.try_wait().expect("the status of the process is available") {
                break status;
            }
            peak = peak.max(resident(self.child.id()));
            if self.begun.elapsed() > self.limits.time {
                stopped = Some(format!("still running after {:?}", self.limits.time));
            } else if peak > self.limits.memory {
                stopped = Some(format!("takes more than {} MiB", self.limits.memory >> 20));
            }
            if stopped.is_some() {
                let group = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.child.id())]).status();
                assert!(group.is_ok_and(|status| status.success()), "a process can be killed");
                break self.child.wait().expect("a killed process ends");
            }
            std::thread::sleep(CHECK_INTERVAL);
        };
        let read = |name: &str| {
            let bytes = std::fs::read(self.streams.path().join(name)).expect("the file can be read");
            String::from_utf8_lossy(&bytes).into_owned()
        };
        Outcome {
            code: status.code(),
            signal: status.signal(),
            stopped,
            out: read("out"),
            err: read("err"),
            lasted: self.begun.elapsed(),
            processor_time: spent,
            peak,
            command: self.command,
        }
    }
}

/// Returns the maximum resident memory of a process so far, or zero if the system does not report it.
fn resident(process: u32) -> u64 {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return 0 };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}

/// Returns the processor time of a process, or zero if the system does not report it. It is the sum of the 14th and
/// 15th field of `proc_pid_stat(5)`, in hundredths of a second.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field is a name in parentheses, which may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
