//! Runs a process that checks texts of one language. Grammars are C code, so a text that crashes the process must not
//! affect the check of other texts.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Limits for checking a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Maximum time of a parse. The program checks that the parse ends soon after.
    pub(crate) parse: Duration,
    /// Maximum resident memory of the process in bytes.
    pub(crate) memory: u64,
}

/// Maximum processor time for one text. It is larger than the limit of a parse, because a check has several steps, each
/// with its own limit.
const MAX_PROCESSOR_TIME: Duration = Duration::from_secs(30);
/// Maximum wall time for one text. It matters if the processor time is unknown or does not grow.
const MAX_WAIT: Duration = Duration::from_secs(15 * 60);
/// Interval at which the limits are checked.
const INTERVAL: Duration = Duration::from_millis(20);

/// Result of checking a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The text has no problem.
    Sound,
    /// The text has no problem, but a limit ended the parse.
    Limited(String),
    /// The text has the described problem.
    Wrong(String),
    /// The user interrupted the run.
    Interrupted,
}

/// A checker of texts of one language.
pub(crate) struct Checker<'a> {
    program: &'a Path,
    language: &'a str,
    limits: Limits,
    is_interrupted: &'a dyn Fn() -> bool,
    /// File with the program's standard error.
    errors: PathBuf,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    answers: Receiver<String>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(
        program: &'a Path,
        language: &'a str,
        limits: Limits,
        directory: &Path,
        is_interrupted: &'a dyn Fn() -> bool,
    ) -> Self {
        let errors = directory.join(format!("{language}.errors"));
        Self { program, language, limits, is_interrupted, errors, process: None }
    }

    /// Ends the process, so that the next text does not depend on earlier texts.
    pub(crate) fn restart(&mut self) {
        if let Some(process) = self.process.take() {
            process.end();
        }
    }

    /// Checks one text. Starts a process if none is running.
    pub(crate) fn check(&mut self, text: &str) -> Result<Answer, String> {
        let failed = |error: std::io::Error| format!("checking {}: {error}", self.language);
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.start().map_err(failed)?,
        };
        // A write to a process that has ended fails. The code below detects that the process has ended.
        let _ = write!(process.input, "{}\n{text}", text.len()).and_then(|()| process.input.flush());
        let used = work_of(&process);
        let begun = Instant::now();
        let wrong = loop {
            match process.answers.recv_timeout(INTERVAL) {
                Ok(answer) if peak_memory_of(&process) <= self.limits.memory => {
                    self.process = Some(process);
                    return Ok(answer_of(&answer));
                }
                Err(RecvTimeoutError::Timeout) if (self.is_interrupted)() => {
                    process.end();
                    return Ok(Answer::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let worked = work_of(&process).saturating_sub(used);
                    if worked > MAX_PROCESSOR_TIME || begun.elapsed() > MAX_WAIT {
                        break format!("does not end: {worked:.1?} of processor time used");
                    }
                    if peak_memory_of(&process) <= self.limits.memory {
                        continue;
                    }
                    break format!("takes more than {} MiB of memory", self.limits.memory >> 20);
                }
                Ok(_) => break format!("takes more than {} MiB of memory", self.limits.memory >> 20),
                Err(RecvTimeoutError::Disconnected) => {
                    let status = process.child.wait().map_err(failed)?;
                    break format!("the process ended with {status}: {}", self.last_error());
                }
            }
        };
        process.end();
        Ok(Answer::Wrong(wrong))
    }

    fn start(&self) -> std::io::Result<Process> {
        let mut command = Command::new(self.program);
        command.args(["check", self.language, &self.limits.parse.as_millis().to_string()]);
        // With this setting, glibc fills memory with a pattern when it is allocated and freed, so that reads of invalid
        // memory change the result.
        command.env("MALLOC_PERTURB_", "165");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(File::create(&self.errors)?);
        // Ctrl-C must interrupt only xtask, which then prints the findings.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let missing = || std::io::Error::other("no pipe to the process");
        let (input, output) = (child.stdin.take().ok_or_else(missing)?, child.stdout.take().ok_or_else(missing)?);
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for answer in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Ok(Process { child, input, answers })
    }

    /// Returns the last line of the program's standard error.
    fn last_error(&self) -> String {
        let errors = fs::read(&self.errors).unwrap_or_default();
        let errors = String::from_utf8_lossy(&errors);
        errors.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it printed nothing").trim().to_owned()
    }
}

impl Process {
    fn end(mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Checker<'_> {
    fn drop(&mut self) {
        self.restart();
        // The file is not needed: it is empty, or a finding contains its last line.
        let _ = fs::remove_file(&self.errors);
    }
}

fn answer_of(line: &str) -> Answer {
    match line.split_once(' ') {
        None if line == "sound" => Answer::Sound,
        Some(("limited", limit)) => Answer::Limited(limit.to_owned()),
        Some(("wrong", wrong)) => Answer::Wrong(wrong.to_owned()),
        _ => Answer::Wrong(format!("the program answers `{line}`")),
    }
}

/// Returns the processor time that a process has used so far, or 0 on systems without `/proc`.
fn work_of(process: &Process) -> Duration {
    /// `USER_HZ`, which is the same on all Linux architectures that Rust supports.
    const TICKS_PER_SECOND: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.child.id())).unwrap_or_default();
    // The name may contain spaces. After it, `utime` and `stime` are the 12th and 13th value.
    let values = stat.rsplit_once(')').map_or("", |(_, values)| values).split_whitespace().skip(11).take(2);
    let ticks: u64 = values.filter_map(|value| value.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND)
}

/// Returns the maximum resident memory of a process so far in bytes, or 0 on systems without `/proc`.
fn peak_memory_of(process: &Process) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().map_or(0, |kilobytes| kilobytes << 10)
}

#[cfg(test)]
mod tests {
    use super::{Answer, answer_of};

    #[test]
    fn an_answer_is_one_line() {
        assert_eq!(answer_of("sound"), Answer::Sound);
        assert_eq!(answer_of("limited too slow"), Answer::Limited("too slow".to_owned()));
        assert_eq!(answer_of("wrong a b"), Answer::Wrong("a b".to_owned()));
        assert!(matches!(answer_of("sound it is"), Answer::Wrong(_)));
    }
}
