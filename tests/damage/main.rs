//! Damage to the files of an index causes no crash and no wrong answer, and messages name a remedy.
//!
//! Each kind of damage is applied to a copy of the same undamaged index. Then every command must give the same answer
//! as before, or an error that names the index. The next run repairs the index and reports the repair.

#[path = "../fixture/mod.rs"]
mod fixture;

mod blames;
mod data;
mod files;
mod logs;
mod mutated;
mod mutation;
mod pages;

use std::fs;

use fixture::{Fixture, Run};
use serde_json::Value;

/// The reaction of `aur mem index` to a kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// The run does nothing, because no answer depends on the damage.
    Harmless,
    /// The run rebuilds the keyword index from the stored chunks.
    Keywords,
    /// The run sets the index aside and builds a new one.
    Anew,
    /// The run builds an index, as if none had existed.
    Missing,
    /// The run may not detect the damage. The errors of other commands recommend `--force`.
    Forced,
    /// The run fails and leaves the repair to the user.
    Blocked,
    /// The run fails, because the file may belong to another program. With `--force`, it sets the file aside.
    Refused,
}

/// An undamaged index.
pub(crate) struct UndamagedIndex {
    fixture: Fixture,
    /// Content of the data file.
    data: Vec<u8>,
    /// The answers of all commands, by command.
    answers: Vec<(String, String)>,
    digest: String,
}

const QUERIES: &[&[&str]] = &[
    &["mem", "search", "read the header of a token"],
    &["mem", "search", "parse_token_7", "--mode", "sparse"],
    &["mem", "search", "retry after a timeout", "--mode", "dense", "--lang", "go"],
];

impl UndamagedIndex {
    pub(crate) fn new() -> Self {
        // Without git, answers do not depend on the time of day.
        let fixture = Fixture::plain();
        for number in 0..90 {
            let (name, text) = match number % 3 {
                0 => ("py", "def parse_token_N(text):\n    \"\"\"Read the header of a token.\"\"\"\n    return N\n"),
                1 => (
                    "go",
                    "package main\n\n// RetryN calls f again after a timeout.\nfunc RetryN(f func()) {\n\tf()\n}\n",
                ),
                _ => ("md", "# Guide N\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n"),
            };
            let text = text.replace('N', &number.to_string());
            fixture.write(&format!("m{}/f{number}.{name}", number % 7), text);
        }
        run_ok(&fixture, &["mem", "index", "-q"]);
        // The second generation creates dead chunks, free pages and a second segment.
        fixture.write("m0/f0.py", "def parse_token_0(text):\n    return text.split()\n");
        run_ok(&fixture, &["mem", "index", "-q"]);
        let data = fs::read(fixture.path(".aurora/index/data.mdb")).expect("the file can be read");
        let digest = run_ok(&fixture, &["mem", "verify", "--digest"]).out;
        let mut undamaged = Self { fixture, data, answers: Vec::new(), digest };
        undamaged.answers =
            undamaged.ask().into_iter().map(|(what, answer)| (what, answer.expect("the index can be read"))).collect();
        undamaged
    }

    /// Removes the directory `.aurora`, and creates it again with only the undamaged data file.
    pub(crate) fn restore(&self) -> &Fixture {
        let path = self.fixture.path(".aurora");
        let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.expect("the index can be removed");
        self.fixture.write(".aurora/index/data.mdb", &self.data);
        &self.fixture
    }

    /// Runs every query and command. The error of an answer is the failed run.
    fn ask(&self) -> Vec<(String, Result<String, Run>)> {
        let artefact = self.fixture.path("damage.aur");
        let mut answers = Vec::new();
        for query in QUERIES {
            // With --no-refresh, the search does not repair the index.
            let run = self.fixture.aur(&[query, &["--format", "json", "--no-record", "--no-refresh"][..]].concat());
            answers.push((query.join(" "), answer(run, |run| results(run.json()))));
        }
        let stats = self.fixture.aur(&["mem", "stats", "--format", "json"]);
        answers.push(("stats".to_owned(), answer(stats, |run| statistics(run.json()))));
        let digest = self.fixture.aur(&["mem", "verify", "--digest"]);
        answers.push(("digest".to_owned(), answer(digest, |run| run.out)));
        let export = self.fixture.aur(&["mem", "export", "damage.aur"]);
        let exported = |_| format!("{:?}", fs::read(&artefact).expect("the file can be read"));
        answers.push(("export".to_owned(), answer(export, exported)));
        if artefact.exists() {
            fs::remove_file(&artefact).expect("the file can be removed");
        }
        answers.extend(self.verify());
        answers
    }

    fn verify(&self) -> Vec<(String, Result<String, Run>)> {
        let verify = self.fixture.aur(&["mem", "verify"]);
        vec![("verify".to_owned(), answer(verify, |run| run.out))]
    }

    /// Checks every answer of a damaged index, and checks that the next run repairs the index.
    pub(crate) fn examine(&self, kind: &str, remedy: Remedy) {
        let mut complaints = Vec::new();
        // If the index is missing, a search would build it.
        let asked = if remedy == Remedy::Missing { self.verify() } else { self.ask() };
        for (what, found) in asked {
            let right = self.answers.iter().find(|(asked, _)| *asked == what).map(|(_, right)| right);
            match found {
                Ok(found) => {
                    let right = right.expect("the undamaged index answers");
                    let same = found.bytes().zip(right.bytes()).take_while(|(a, b)| a == b).count();
                    let near = |text: &str| {
                        String::from_utf8_lossy(&text.as_bytes()[same.saturating_sub(80)..])
                            .chars()
                            .take(240)
                            .collect::<String>()
                    };
                    assert!(&found == right, "{kind}: {what} gives another answer:\n{}\n{}", near(&found), near(right));
                }
                Err(run) => {
                    assert!(matches!(run.code, Some(1 | 2)), "{kind}: {what} exits with another code: {run:?}");
                    assert!(
                        run.err.contains(".aurora") || what == "verify",
                        "{kind}: {what} does not name the index: {run:?}"
                    );
                    assert!(!run.err.contains("panicked"), "{kind}: {what} panics: {run:?}");
                    complaints.push((what, run));
                }
            }
        }
        if std::env::var_os("AURORA_TEST_SHOW").is_some() {
            let said = complaints.first().map_or("", |(_, run)| run.err.trim());
            eprintln!("{kind} ({remedy:?}, {} of {} complain): {said}", complaints.len(), self.answers.len());
        }
        match remedy {
            Remedy::Harmless => assert!(complaints.is_empty(), "{kind}: {complaints:?}"),
            Remedy::Blocked => {}
            _ => assert!(complaints.iter().any(|(what, _)| what == "verify"), "{kind} passes: {complaints:?}"),
        }
        let run = self.fixture.aur(&["mem", "index"]);
        let (expected, says) = match remedy {
            Remedy::Harmless | Remedy::Missing | Remedy::Forced => (0, "Errors: 0"),
            Remedy::Blocked => (2, ".aurora"),
            Remedy::Keywords => (0, "it was rebuilt from the stored chunks"),
            Remedy::Anew => (0, "it was set aside and rebuilt"),
            Remedy::Refused => (2, "--force"),
        };
        assert_eq!(run.code, Some(expected), "{kind}: {run:?}");
        assert!(run.out.contains(says) || run.err.contains(says), "{kind}: {run:?}");
        match remedy {
            Remedy::Blocked => return,
            Remedy::Harmless | Remedy::Missing => assert!(!run.out.contains("it was"), "{kind}: {run:?}"),
            _ => {}
        }
        if matches!(remedy, Remedy::Refused | Remedy::Forced) {
            let advice = complaints.iter().all(|(_, run)| run.err.contains("--force"));
            assert!(advice, "{kind}: {complaints:?}");
            let forced = self.fixture.aur(&["mem", "index", "--force"]);
            assert_eq!(forced.code, Some(0), "{kind}: {forced:?}");
        }
        assert_eq!(run_ok(&self.fixture, &["mem", "verify", "--digest"]).out, self.digest, "{kind}");
        run_ok(&self.fixture, &["mem", "verify"]);
    }
}

/// Returns the answer of a command that succeeds, or else the failed run.
fn answer(run: Run, read: impl Fn(Run) -> String) -> Result<String, Run> {
    if run.code == Some(0) { Ok(read(run)) } else { Err(run) }
}

/// Returns the results, notes and counts of a search, without times.
fn results(mut found: Value) -> String {
    for result in found["results"].as_array_mut().expect("the value is a list") {
        // If the record of a file is damaged, it is unknown whether the file has changed. This does not count as a
        // wrong answer.
        let result = result.as_object_mut().expect("the value is an object");
        let known = (result.remove("changed_since_index"), result.remove("file_state"));
        let (unchanged, unknown) =
            ((Some(false.into()), Some("unchanged".into())), (Some(Value::Null), Some("unknown".into())));
        assert!(known == unchanged || known == unknown, "{known:?}");
    }
    format!("{} {} {}", found["results"], found["notes"], found["stages"])
}

/// Returns statistics without the size of the data file, which varies.
fn statistics(mut stats: Value) -> String {
    stats["index_bytes"].take();
    stats.to_string()
}

/// Runs the program and asserts that it succeeds.
fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}
