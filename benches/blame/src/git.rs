//! A baseline: `git blame`, one process per file, several at a time, as `xargs -P` runs it.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::measure::{Cost, children_cost};

/// The commit of each line, as 40 or 64 hexadecimal digits; `None` if git failed.
pub type Lines = Option<Vec<Box<[u8]>>>;

/// The output of git for each file, in the order of the files.
pub struct Answers {
    pub lines: Vec<Lines>,
    pub cost: Cost,
    /// Standard error of the mean time per file, relative to the mean.
    pub spread: f64,
}

/// Access to the objects of a repository, together with a commit-graph that has changed-path filters. The commit-graph
/// is in a separate directory, because the bench never writes to the repository.
pub struct WithGraph {
    directory: tempfile::TempDir,
    objects: PathBuf,
    pub cost: Cost,
}

impl WithGraph {
    /// Writes the commit-graph.
    pub fn write(root: &Path) -> Result<Self, String> {
        let mut ask = Command::new("git");
        ask.arg("-C").arg(root).args(["rev-parse", "--path-format=absolute", "--git-path", "objects"]);
        let objects = ask.output().map_err(|error| format!("git: {error}"))?.stdout;
        let objects = PathBuf::from(OsStr::from_bytes(objects.trim_ascii()));
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut graph = Self { directory, objects, cost: Cost::default() };
        let mut write = graph.git(root);
        write.args(["commit-graph", "write", "--stdin-commits", "--changed-paths", "--no-progress"]);
        let (written, cost) = children_cost(|| -> std::io::Result<bool> {
            let mut child = write.stdin(Stdio::piped()).spawn()?;
            if let Some(mut input) = child.stdin.take() {
                input.write_all(&head(root)?)?;
            }
            Ok(child.wait()?.success())
        });
        graph.cost = cost;
        match written {
            Ok(true) => Ok(graph),
            Ok(false) => Err("git commit-graph write failed".into()),
            Err(error) => Err(format!("git: {error}")),
        }
    }

    /// Returns the directory with the commit-graph, for readers other than git.
    pub fn info(&self) -> PathBuf {
        self.directory.path().join("info")
    }

    /// Returns a git command on the repository at `root`, with the commit-graph.
    pub fn git(&self, root: &Path) -> Command {
        let mut git = Command::new("git");
        git.arg("-C").arg(root).env("GIT_OBJECT_DIRECTORY", self.directory.path());
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted(&self.objects));
        git
    }
}

/// Returns a git command on the repository at `root` that ignores any commit-graph.
pub fn without_graph(root: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["-c", "core.commitGraph=false"]);
    git
}

/// Runs `git blame` on each of `paths`, `processes` at a time.
pub fn blame(git: impl Fn() -> Command + Sync, paths: &[Vec<u8>], processes: usize) -> Answers {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new((vec![None; paths.len()], Vec::with_capacity(paths.len())));
    let work = || {
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(position) else { break };
            let begun = Instant::now();
            let lines = ask(git(), path);
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.0[position] = lines;
            answers.1.push(begun.elapsed());
        }
    };
    let ((), cost) = children_cost(|| {
        std::thread::scope(|scope| {
            for _ in 0..processes {
                scope.spawn(work);
            }
        });
    });
    let (lines, walls) = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    Answers { lines, cost, spread: spread(&walls) }
}

fn ask(mut git: Command, path: &[u8]) -> Lines {
    git.args(["blame", "--line-porcelain", "HEAD", "--"]).arg(OsStr::from_bytes(path));
    let output = git.env("GIT_NO_LAZY_FETCH", "1").stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| parse(&output.stdout))
}

/// Returns the commit of each line: the first word of the first header line in git's output for the line.
fn parse(porcelain: &[u8]) -> Vec<Box<[u8]>> {
    let mut lines = Vec::new();
    let mut is_first = true;
    for line in porcelain.split(|&byte| byte == b'\n') {
        if is_first && !line.is_empty() {
            lines.push(line.split(|&byte| byte == b' ').next().unwrap_or_default().into());
        }
        is_first = line.first() == Some(&b'\t');
    }
    lines
}

fn head(root: &Path) -> std::io::Result<Vec<u8>> {
    Ok(Command::new("git").arg("-C").arg(root).args(["rev-parse", "HEAD"]).output()?.stdout)
}

/// Quotes a path for an environment variable that git splits at colons.
fn quoted(path: &Path) -> OsString {
    let mut quoted = OsString::from("\"");
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'"' | b'\\') {
            quoted.push("\\");
        }
        quoted.push(OsStr::from_bytes(std::slice::from_ref(byte)));
    }
    quoted.push("\"");
    quoted
}

fn spread(times: &[Duration]) -> f64 {
    let count = times.len().max(2) as f64;
    let mean = times.iter().map(Duration::as_secs_f64).sum::<f64>() / count;
    let squares: f64 = times.iter().map(|time| (time.as_secs_f64() - mean).powi(2)).sum();
    (squares / (count - 1.0) / count).sqrt() / mean.max(f64::MIN_POSITIVE)
}
