//! Runs the tests of an area with a seed.

use std::fmt;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use clap::ValueEnum;

use super::properties;
use crate::cargo::{cargo, project};

/// Number of attempts of a test. Each attempt uses the next seed.
pub(crate) const ATTEMPTS: u64 = 25;
/// Number of cases of a property test that does not set the number. The default of proptest is 256.
const CASES: u64 = 2_048;
/// Maximum number of rejected cases. The default of proptest is 1,024, which is meant for 256 cases.
const REJECTS: u64 = 16 * CASES;
/// Value of `AURORA_TEST_KILLS`, the number of times that a test kills a process.
const KILLS: u64 = 10;
/// Names of the tests that kill a process.
const KILLING: [&str; 2] =
    ["a_kill_at_any_moment_leaves_the_old_index_or_the_new_one", "a_kill_at_any_moment_loses_no_acknowledged_write"];
/// Maximum duration of a round. The time limits of the tests are far lower.
const MAX_TIME: Duration = Duration::from_secs(60 * 60);

/// Areas to explore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Area {
    /// Property tests of all crates, and kills at random moments
    Properties,
    /// Random damage to files of an index and the files next to it
    Corruption,
    /// Mutated pages of an index that keep their structure
    Pages,
    /// Mutated artefacts with valid checksums
    Artefacts,
    /// Pipelines and configurations of real keys with random values
    Config,
}

/// Compiles all tests of the workspace.
pub(crate) fn build() -> Result<(), String> {
    cargo(&["test", "--workspace", "--locked", "--no-run"])
}

impl Area {
    /// Returns cargo's arguments that select test programs, and parts of the names of their tests.
    fn selection(self) -> Result<(&'static [&'static str], Vec<String>), String> {
        const HOSTILE: &[&str] = &["-p", "aurora", "--test", "hostile"];
        let (programs, tests): (&[&str], &[&str]) = match self {
            Self::Properties => {
                let killing = KILLING.map(str::to_owned);
                return Ok((&["--workspace", "--tests"], properties::tests()?.into_iter().chain(killing).collect()));
            }
            Self::Corruption => (HOSTILE, &["random_damage", "forged_checksums"]),
            Self::Pages => (
                &["-p", "aurora", "-p", "aurora-storage", "--test", "damage", "--test", "storage"],
                &["changed_structure"],
            ),
            Self::Artefacts => (HOSTILE, &["mutated_artefacts"]),
            Self::Config => (HOSTILE, &["mutated_configurations"]),
        };
        Ok((programs, tests.iter().map(|test| (*test).to_owned()).collect()))
    }

    /// Returns the variables that the tests read.
    fn variables(self, seed: u64) -> Vec<(&'static str, u64)> {
        match self {
            Self::Properties => vec![
                ("PROPTEST_RNG_SEED", seed),
                ("PROPTEST_CASES", CASES),
                ("PROPTEST_MAX_GLOBAL_REJECTS", REJECTS),
                ("AURORA_TEST_SEED", seed),
                ("AURORA_TEST_KILLS", KILLS),
            ],
            _ => vec![("AURORA_SEED", seed), ("AURORA_CORRUPTIONS", ATTEMPTS)],
        }
    }

    /// Returns advice on how to turn a finding into a permanent test.
    pub(crate) fn advice(self) -> &'static str {
        match self {
            Self::Properties => {
                "commit the line that was added to a `proptest-regressions` file, together with the fix"
            }
            _ => "add a separate test for the error, together with the fix",
        }
    }
}

/// One round of the tests of an area.
pub(crate) struct Run {
    pub(crate) area: Area,
    pub(crate) seed: u64,
    /// The file with the output of the tests. The file is kept if a test fails.
    pub(crate) log: PathBuf,
}

/// Result of a round.
pub(crate) enum Verdict {
    /// All tests passed.
    Passed,
    /// Names of the failed tests.
    Failed(Vec<String>),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::Failed(tests) => write!(f, "FAILED: {}", tests.join(", ")),
        }
    }
}

impl Run {
    pub(crate) fn new(area: Area, seed: u64) -> Self {
        let build = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| project().join("target"), PathBuf::from);
        Self { area, seed, log: build.join("explore").join(format!("{area:?}-{seed}.log")) }
    }

    /// Runs the tests until they end.
    pub(crate) fn finish(&self) -> Result<Verdict, String> {
        let wrong = |error: std::io::Error| format!("{:?}: {error}", self.area);
        let (programs, tests) = self.area.selection()?;
        fs::create_dir_all(self.log.parent().unwrap_or(&self.log)).map_err(wrong)?;
        let output = File::create(&self.log).map_err(wrong)?;
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["test", "--locked", "--no-fail-fast"]).args(programs).arg("--").args(tests);
        command.envs(self.area.variables(self.seed).into_iter().map(|(name, value)| (name, value.to_string())));
        command.stdout(output.try_clone().map_err(wrong)?).stderr(output);
        let mut child = command.spawn().map_err(wrong)?;
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().map_err(wrong)? {
                break Some(status);
            }
            if begun.elapsed() > MAX_TIME {
                child.kill().and_then(|()| child.wait()).map_err(wrong)?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let report = String::from_utf8_lossy(&fs::read(&self.log).map_err(wrong)?).into_owned();
        Ok(match status {
            Some(status) if status.success() => {
                fs::remove_file(&self.log).map_err(wrong)?;
                Verdict::Passed
            }
            Some(status) => {
                Verdict::Failed(failed_tests(&report).unwrap_or_else(|| vec![format!("a test, with {status}")]))
            }
            None => Verdict::Failed(vec!["a test that did not end".to_owned()]),
        })
    }

    /// Returns the command that repeats failed tests.
    pub(crate) fn repeat(&self, tests: &[String]) -> String {
        let variables = self.area.variables(self.seed).into_iter();
        let variables: String = variables.map(|(name, value)| format!("{name}={value} ")).collect();
        let programs = self.area.selection().map_or("--workspace".to_owned(), |(programs, _)| programs.join(" "));
        format!("{variables}cargo test {programs} -- {}", tests.join(" "))
    }
}

/// Returns the names of the failed tests in a report of the test harness, or `None` if no test failed.
fn failed_tests(report: &str) -> Option<Vec<String>> {
    let lines = report.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let tests: Vec<String> = lines.map(str::to_owned).collect();
    (!tests.is_empty()).then_some(tests)
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
