//! Clones of remote repositories, made and updated with git.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use aurora_pipeline::CancelToken;
use aurora_project::masked;

use crate::output::sanitize;

/// Time between two checks whether a process has ended or was cancelled.
const POLL: Duration = Duration::from_millis(20);
/// Number of bytes that are kept of each output of a process.
const MAX_OUTPUT_BYTES: usize = 4 << 20;
/// Maximum length of a message about a failure, in characters.
const MAX_MESSAGE: usize = 500;
/// The transports that git may use; others can run any program.
const TRANSPORTS: &str = "https:http:ssh:git:file";

/// The end of a process.
pub(crate) struct Ended {
    /// The exit code; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Clones a repository, or updates its clone in the directory `to`. Returns the commit that is checked out.
///
/// # Errors
/// Returns a message, without secrets. An existing clone is unchanged, except if the last step failed.
pub(crate) fn update(url: &str, branch: Option<&str>, to: &Path, cancel: &CancelToken) -> Result<String, String> {
    let git = |arguments: &[&str]| -> Result<String, String> {
        let mut command = Command::new("git");
        command.arg("-C").arg(to).args(["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never"]);
        command.env("GIT_ALLOW_PROTOCOL", TRANSPORTS).env("GIT_TERMINAL_PROMPT", "0");
        if std::env::var_os("GIT_SSH_COMMAND").is_none() {
            command.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(variable);
        }
        let ended = output(command.args(arguments), cancel).map_err(|error| format!("cannot run git: {error}"))?;
        match ended.code {
            Some(0) => Ok(ended.stdout),
            _ => Err(message(&ended, "git")),
        }
    };
    if !to.join(".git").exists() {
        git(&["init", "--quiet"])?;
    }
    let reference = branch.map_or_else(|| "HEAD".to_owned(), |branch| format!("refs/heads/{branch}"));
    git(&[
        "fetch",
        "--quiet",
        "--force",
        "--no-tags",
        "--no-recurse-submodules",
        "--",
        url,
        &format!("+{reference}:refs/aurora/head"),
    ])?;
    git(&["checkout", "--quiet", "--force", "--detach", "refs/aurora/head"])?;
    // The previous checkout may have left files that the ignore rules of this one do not cover.
    git(&["clean", "--quiet", "--force", "-d", "--exclude=.aurora"])?;
    Ok(git(&["rev-parse", "HEAD"])?.trim().to_owned())
}

/// Returns the last lines of the errors of a process, without secrets and control characters.
pub(crate) fn message(ended: &Ended, program: &str) -> String {
    let text = masked(ended.stderr.clone());
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let text = sanitize::line(&lines[lines.len().saturating_sub(3)..].join("; "));
    let skipped = text.chars().count().saturating_sub(MAX_MESSAGE);
    let text: String = text.chars().skip(skipped).collect();
    match ended.code {
        _ if !text.is_empty() => text,
        Some(code) => format!("{program} ended with exit code {code}"),
        None => format!("{program} was killed"),
    }
}

/// Runs a process to its end and returns its output. If `cancel` is cancelled, kills the process.
pub(crate) fn output(command: &mut Command, cancel: &CancelToken) -> io::Result<Ended> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let stdout = scope.spawn(|| read_limited(stdout));
        let stderr = scope.spawn(|| read_limited(stderr));
        let code = wait(&mut child, cancel);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let stdout = text(stdout.join().unwrap_or_default());
        Ok(Ended { code: code?, stdout, stderr: text(stderr.join().unwrap_or_default()) })
    })
}

fn wait(child: &mut Child, cancel: &CancelToken) -> io::Result<Option<i32>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if cancel.is_cancelled() {
            child.kill()?;
            return Ok(child.wait()?.code());
        }
        thread::sleep(POLL);
    }
}

/// Reads a stream to its end and returns its first bytes.
fn read_limited(stream: Option<impl Read>) -> Vec<u8> {
    let (mut found, mut buffer) = (Vec::new(), [0; 8_192]);
    let Some(mut stream) = stream else { return found };
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        let room = MAX_OUTPUT_BYTES.saturating_sub(found.len());
        found.extend_from_slice(&buffer[..count.min(room)]);
    }
    found
}
