//! A run of the program with limits of time and memory.

use std::fs::File;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Maximum time of a run, unless `AURORA_TEST_TIME_LIMIT` sets another number of seconds. No run needs nearly as much,
/// even on a slow machine.
const MAX_TIME: Duration = Duration::from_secs(90);
/// Maximum memory of a run in bytes, unless `AURORA_TEST_MEMORY_LIMIT` sets another number of MiB. No attack needs a
/// tenth of it.
const MAX_MEMORY_BYTES: u64 = 1 << 30;
/// Interval between two checks of a process.
const CHECK_INTERVAL: Duration = Duration::from_millis(4);

/// Limits of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Wall time.
    pub(crate) time: Duration,
    /// Resident memory in bytes.
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

/// The number that an environment variable contains.
pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Result of a run.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The arguments.
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
    /// Observed processor time of all threads, or zero if the system does not report it.
    pub(crate) processor_time: Duration,
    /// Maximum observed resident memory in bytes.
    pub(crate) peak: u64,
}

impl Outcome {
    /// The fault of a run that crashed, hung or exceeded a limit, whatever its command was.
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

    /// Standard output as JSON, or null if it is not JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_default()
    }

    /// A short description of the run.
    pub(crate) fn summary(&self) -> String {
        let start = |text: &str| text.trim().chars().take(300).collect::<String>().replace('\n', " | ");
        let Self { command, code, lasted, peak, .. } = self;
        let (out, err) = (start(&self.out), start(&self.err));
        format!("`{command}` exit {code:?} after {lasted:.1?}, {} MiB; out: {out}; err: {err}", peak >> 20)
    }
}

/// A running process with limits.
pub(crate) struct Running {
    child: Child,
    begun: Instant,
    limits: Limits,
    streams: TempDir,
    command: String,
}

/// Starts a command. Its output goes to files, so that nobody has to read it while the command runs.
pub(crate) fn start(command: &mut Command, limits: Limits) -> Running {
    let streams = TempDir::new().expect("a temporary directory");
    let file = |name: &str| File::create(streams.path().join(name)).expect("a file can be made");
    command.stdout(file("out")).stderr(file("err"));
    let shown = command.get_args().map(|argument| argument.to_string_lossy().chars().take(80).collect::<String>());
    let shown = shown.collect::<Vec<_>>().join(" ");
    // The group includes processes that the program starts, so that all can be killed together.
    command.process_group(0);
    let begun = Instant::now();
    let child = command.spawn().expect("the program starts");
    Running { child, begun, limits, streams, command: shown }
}

impl Running {
    /// Id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processor time of all threads so far, or zero if the system does not report it.
    pub(crate) fn processor_time(&self) -> Duration {
        processor_time(self.child.id())
    }

    /// Whether the process is still running.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("a process can be asked").is_none()
    }

    /// Waits until the process ends, and kills it if it exceeds a limit.
    pub(crate) fn wait(mut self) -> Outcome {
        let (mut peak, mut spent, mut stopped) = (0, Duration::ZERO, None);
        let status = loop {
            spent = spent.max(processor_time(self.child.id()));
            if let Some(status) = self.child.try_wait().expect("a process can be asked") {
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
            let bytes = std::fs::read(self.streams.path().join(name)).expect("what was printed");
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

/// Maximum resident memory that a process has had, or zero if the system does not report it.
fn resident(process: u32) -> u64 {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/status")) else { return 0 };
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok()).map_or(0, |kibibytes| kibibytes << 10)
}

/// Processor time of a process, or zero if the system does not report it: the 14th and 15th field of
/// `proc_pid_stat(5)`, in hundredths of a second.
fn processor_time(process: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field, a name in parentheses, may contain spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
