//! One run of some tests of one program, with a seed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::targets::Target;

/// How long a job may take: each of its tests has limits of its own, far below.
const LONGEST: Duration = Duration::from_secs(30 * 60);

/// Tests of a program that take a seed from the environment.
pub(crate) struct Job {
    target: Target,
    tests: Vec<String>,
    seeds: &'static [&'static str],
    variables: Vec<(&'static str, u64)>,
}

/// How a job has ended.
pub(crate) enum Verdict {
    /// All tests passed.
    Passed,
    /// These failed.
    Failed(Vec<String>),
    /// It had to be ended.
    Hung,
}

/// A job that has ended.
pub(crate) struct Done {
    pub(crate) verdict: Verdict,
    /// How many tests it has run.
    pub(crate) tests: u64,
    /// The file with all that it printed, where something was found.
    pub(crate) log: String,
}

impl Job {
    /// A job of tests by their names; `seeds` are the variables that take the seed.
    pub(crate) fn new(target: &Target, tests: Vec<String>, seeds: &'static [&'static str]) -> Self {
        Self { target: target.clone(), tests, seeds, variables: Vec::new() }
    }

    /// Sets another variable.
    pub(crate) fn with(mut self, variable: &'static str, value: u64) -> Self {
        self.variables.push((variable, value));
        self
    }

    /// What it is called.
    pub(crate) fn name(&self) -> String {
        match self.tests.as_slice() {
            [test] => format!("{} {test}", self.target.name),
            tests => format!("{} ({} tests)", self.target.name, tests.len()),
        }
    }

    fn environment(&self, seed: u64) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.seeds.iter().map(move |variable| (*variable, seed)).chain(self.variables.iter().copied())
    }

    /// The command that repeats it.
    pub(crate) fn repeat(&self, seed: u64) -> String {
        let variables: String = self.environment(seed).map(|(name, value)| format!("{name}={value} ")).collect();
        let Target { package, selection, .. } = &self.target;
        let tests = if self.tests.len() == 1 { format!(" -- --exact {}", self.tests[0]) } else { String::new() };
        format!("{variables}cargo test -p {package} {}{tests}", selection.join(" "))
    }

    /// Runs it to its end.
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
            if begun.elapsed() > LONGEST {
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
                Verdict::Failed(failed(&text).unwrap_or_else(|| vec![format!("{} with {status}", self.name())]))
            }
        };
        if matches!(verdict, Verdict::Passed) {
            fs::remove_file(&log).map_err(wrong)?;
        }
        let tests = text.lines().filter(|line| line.starts_with("test ") && line.contains(" ... ")).count() as u64;
        Ok(Done { verdict, tests, log: log.display().to_string() })
    }
}

/// Names of the tests that a report says have failed.
fn failed(report: &str) -> Option<Vec<String>> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let tests: Vec<String> = lines.map(str::to_owned).collect();
    (!tests.is_empty()).then_some(tests)
}

/// Where a job's output goes, in the directory of build results.
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
    use super::failed;

    #[test]
    fn failed_tests_are_read_from_a_report() {
        let report = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\n\nfailures:\n";
        assert_eq!(failed(report), Some(vec!["a::c".to_owned()]));
        assert_eq!(failed("test a ... ok\n"), None);
    }
}
