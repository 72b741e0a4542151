//! A job: one run of some tests of a test program with a seed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::targets::Target;

/// Maximum duration of a job. The tests have much lower limits of their own.
const MAX_JOB_TIME: Duration = Duration::from_secs(30 * 60);

/// Some tests of a test program that read their seed from an environment variable.
pub(crate) struct Job {
    target: Target,
    tests: Vec<String>,
    seeds: &'static [&'static str],
    variables: Vec<(&'static str, u64)>,
}

/// Result of a job.
pub(crate) enum Verdict {
    /// All tests passed.
    Passed,
    /// Names of the failed tests.
    Failed(Vec<String>),
    /// The job exceeded the time limit and was killed.
    Hung,
}

/// A completed job.
pub(crate) struct Done {
    pub(crate) verdict: Verdict,
    /// Number of tests that have run.
    pub(crate) tests: u64,
    /// Path of the file with the output, if there is a finding.
    pub(crate) log: String,
}

impl Job {
    /// Creates a job that runs tests by name. `seeds` are the environment variables that receive the seed.
    pub(crate) fn new(target: &Target, tests: Vec<String>, seeds: &'static [&'static str]) -> Self {
        Self { target: target.clone(), tests, seeds, variables: Vec::new() }
    }

    /// Sets another environment variable.
    pub(crate) fn with(mut self, variable: &'static str, value: u64) -> Self {
        self.variables.push((variable, value));
        self
    }

    /// Name of the job in the output.
    pub(crate) fn name(&self) -> String {
        match self.tests.as_slice() {
            [test] => format!("{} {test}", self.target.name),
            tests => format!("{} ({} tests)", self.target.name, tests.len()),
        }
    }

    fn environment(&self, seed: u64) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.seeds.iter().map(move |variable| (*variable, seed)).chain(self.variables.iter().copied())
    }

    /// Returns the command that repeats the job.
    pub(crate) fn repeat(&self, seed: u64) -> String {
        let variables: String = self.environment(seed).map(|(name, value)| format!("{name}={value} ")).collect();
        let Target { package, selection, .. } = &self.target;
        let tests = if self.tests.len() == 1 { format!(" -- --exact {}", self.tests[0]) } else { String::new() };
        format!("{variables}cargo test -p {package} {}{tests}", selection.join(" "))
    }

    /// Runs the job until it ends or exceeds the time limit.
    pub(crate) fn run(&self, seed: u64) -> Result<Done, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", self.name());
        let log = log_file(&self.target.name, seed).map_err(wrong)?;
        let output = File::create(&log).map_err(wrong)?;
        let mut command = Command::new(&self.target.program);
        command.current_dir(&self.target.directory).arg("--exact").args(&self.tests);
        command.envs(self.environment(seed).map(|(name, value)| (name, value.to_string())));
        command.stdout(output.try_clone().map_err(wrong)?).stderr(output);
        let mut child = command.spawn().map_err(wrong)?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(wrong)? {
                break Some(status);
            }
            if begun.elapsed() > MAX_JOB_TIME {
                child.kill().and_then(|()| child.wait()).map_err(wrong)?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let text = String::from_utf8_lossy(&fs::read(&log).map_err(wrong)?).into_owned();
        let verdict = match status {
            None => Verdict::Hung,
            Some(status) if status.success() => Verdict::Passed,
            Some(status) => {
                Verdict::Failed(failed_tests(&text).unwrap_or_else(|| vec![format!("{} with {status}", self.name())]))
            }
        };
        if matches!(verdict, Verdict::Passed) {
            fs::remove_file(&log).map_err(wrong)?;
        }
        let tests = text.lines().filter(|line| line.starts_with("test ") && line.contains(" ... ")).count() as u64;
        Ok(Done { verdict, tests, log: log.display().to_string() })
    }
}

/// Returns the names of the failed tests in the output of the test harness.
fn failed_tests(report: &str) -> Option<Vec<String>> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let tests: Vec<String> = lines.map(str::to_owned).collect();
    (!tests.is_empty()).then_some(tests)
}

/// Returns the path for the output of a job, in cargo's target directory.
fn log_file(target: &str, seed: u64) -> std::io::Result<PathBuf> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let build = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project.join("target"), PathBuf::from);
    let directory = build.join("explore");
    fs::create_dir_all(&directory)?;
    Ok((0..)
        .map(|n| directory.join(format!("{target}-{seed}-{n}.log")))
        .find(|path| !path.exists())
        .unwrap_or(directory))
}

#[cfg(test)]
mod tests {
    use super::failed_tests;

    #[test]
    fn failed_tests_are_read_from_a_report() {
        let report = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n";
        assert_eq!(failed_tests(report), Some(vec!["a::c".to_owned()]));
        assert_eq!(failed_tests("test a ... ok\n"), None);
    }
}
