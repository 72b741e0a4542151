//! Files that cannot be read are not treated as deleted.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::fixture::{Fixture, Run};

/// Id of an ordinary user, who runs the program if the superuser runs the tests. Permissions do not restrict the
/// superuser.
const NOBODY: u32 = 65_534;

/// A project that belongs to an ordinary user, who also indexes it.
struct Project {
    fixture: Fixture,
    program: PathBuf,
    /// Whether the superuser runs the tests.
    is_root: bool,
}

impl Project {
    fn new() -> Self {
        let fixture = Fixture::git();
        for name in ["open/a", "open/b", "closed/c", "closed/d", "closed/deep/e"] {
            let function = name.replace('/', "_");
            fixture.write(&format!("{name}.py"), format!("def {function}():\n    return \"{function}\"\n"));
        }
        fixture.write(".gitignore", "home/\nbin/\n").commit("one");
        fs::create_dir(fixture.path("bin")).expect("the directory can be created");
        let is_root = fixture.root().metadata().is_ok_and(|found| found.uid() == 0);
        let program = PathBuf::from(env!("CARGO_BIN_EXE_aur"));
        let mut project = Self { fixture, program, is_root };
        // An ordinary user may be unable to enter the directory of the program.
        if project.command(&project.program).arg("--version").output().is_err() {
            let copy = project.fixture.path("bin/aur");
            fs::copy(&project.program, &copy).expect("the file can be copied");
            project.program = copy;
        }
        project.edit(|_| ());
        project
    }

    /// Changes the tree. Afterwards, the user who runs the program owns all files.
    fn edit(&self, edit: impl Fn(&Fixture)) {
        self.set_owner(self.fixture.root(), 0);
        edit(&self.fixture);
        self.set_owner(self.fixture.root(), NOBODY);
    }

    fn set_owner(&self, path: &Path, user: u32) {
        if !self.is_root {
            return;
        }
        lchown(path, Some(user), Some(user)).expect("the owner can be changed");
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            path.read_dir()
                .expect("the directory can be read")
                .flatten()
                .for_each(|entry| self.set_owner(&entry.path(), user));
        }
    }

    fn aur(&self, arguments: &[&str]) -> Run {
        Run::from_command(self.command(&self.program).args(arguments))
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        let home = self.fixture.path("home");
        command.current_dir(self.fixture.root()).env("HOME", &home).env("AURORA_HOME", home.join(".aurora"));
        command.env("NO_COLOR", "1").env("GIT_CONFIG_NOSYSTEM", "1").env("AURORA_SEARCH_REFRESH", "0").env_remove("CI");
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    }

    fn index(&self, arguments: &[&str]) -> (Run, Value) {
        let run = self.aur(&[&["mem", "index", "--format", "json"], arguments].concat());
        let summary = run.json();
        (run, summary)
    }

    fn set_mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.fixture.path(path), Permissions::from_mode(mode)).expect("permissions can be set");
    }

    /// Returns the names of the functions that a search finds.
    fn found_functions(&self) -> Vec<&'static str> {
        let finds = |name: &&str| {
            let run = self.aur(&["mem", "search", name, "--mode", "sparse", "--format", "json"]);
            run.out.contains(&format!("\"name\":\"{name}\"")) || run.out.contains(&format!("\"name\": \"{name}\""))
        };
        ALL.iter().copied().filter(finds).collect()
    }
}

const ALL: &[&str] = &["open_a", "open_b", "closed_c", "closed_d", "closed_deep_e"];

fn counts(summary: &Value) -> (u64, u64, u64) {
    let count = |value: &Value| value.as_u64().expect("the value is a number");
    let unreadable = &summary["unreadable"];
    (count(&unreadable["entries"]), count(&unreadable["kept_files"]), count(&summary["files"]["deleted"]))
}

#[test]
fn an_unreadable_directory_keeps_its_chunks() {
    let project = Project::new();
    assert_eq!(project.index(&[]).0.code, Some(0));
    assert_eq!(project.found_functions(), ALL);
    project.set_mode("closed", 0);
    for arguments in [&[][..], &["--force"]] {
        let (run, summary) = project.index(arguments);
        assert_eq!(run.code, Some(1), "{run:?}");
        assert_eq!(counts(&summary), (1, 3, 0), "{summary}");
        assert_eq!((&summary["complete"], &summary["nothing_changed"]), (&false.into(), &false.into()), "{summary}");
        assert!(summary["errors"][0].as_str().is_some_and(|error| error.contains("closed")), "{summary}");
        assert!(summary["coverage"].as_f64().is_some_and(|share| share < 0.5), "{summary}");
        assert!(run.err.contains("could not be read") && run.err.contains("3 files"), "{run:?}");
        assert_eq!(project.found_functions(), ALL);
    }
    let text = project.aur(&["mem", "index"]);
    assert!(text.out.contains("not everything could be read"), "{text:?}");
    project.set_mode("closed", 0o755);
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, counts(&summary), &summary["complete"]), (Some(0), (0, 0, 0), &true.into()), "{summary}");
    let digest = || project.aur(&["mem", "verify", "--digest"]).out;
    let kept = digest();
    project.index(&["--force"]);
    assert_eq!(digest(), kept);
}

#[test]
fn thresholds_for_coverage_and_errors_are_checked() {
    let project = Project::new();
    assert_eq!(project.index(&[]).0.code, Some(0));
    project.edit(|fixture| {
        fixture.write("home/ci.toml", "min_coverage = 99\nmax_errors = 0\n");
    });
    project.set_mode("closed", 0);
    let run = project.aur(&["mem", "index", "--quiet", "--thresholds", "home/ci.toml"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.err.contains("below the required 99%") && run.err.contains("1 file could not be processed"), "{run:?}");
    project.set_mode("closed", 0o755);
    let run = project.aur(&["mem", "index", "--quiet", "--thresholds", "home/ci.toml"]);
    assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{run:?}");
}

#[test]
fn files_get_the_history_of_a_new_head_once_readable_again() {
    let project = Project::new();
    project.index(&[]);
    project.edit(|fixture| {
        fixture.write("closed/c.py", "def closed_c():\n    return 1\n").commit("two");
        fixture.write("open/b.py", "def open_b():\n    pass\n").commit("three");
    });
    project.set_mode("closed", 0);
    assert_eq!(counts(&project.index(&[]).1), (1, 3, 0));
    project.set_mode("closed", 0o755);
    assert_eq!(project.index(&[]).0.code, Some(0));
    let digest = || project.aur(&["mem", "verify", "--digest"]).out;
    let kept = digest();
    project.index(&["--force"]);
    assert_eq!(digest(), kept);
}

#[test]
fn an_unreadable_file_keeps_its_chunks_and_prevents_reindexing() {
    let project = Project::new();
    project.index(&[]);
    project.edit(|fixture| {
        fixture.write("closed/c.py", "def closed_c():\n    return 'changed'\n");
    });
    project.set_mode("closed/c.py", 0);
    fs::remove_file(project.fixture.path("closed/d.py")).expect("the file can be removed");
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, counts(&summary)), (Some(1), (1, 1, 1)), "{summary}");
    assert_eq!(project.found_functions(), ["open_a", "open_b", "closed_c", "closed_deep_e"]);
    // The new pipeline requires reindexing, but files that cannot be read cannot be indexed again.
    let pipeline = "extends = \"default\"\n[stage.chunk]\nmax_size = 900\n";
    project.edit(|fixture| {
        fixture.write(".aurora/pipeline.toml", pipeline);
    });
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, &summary["complete"]), (Some(1), &false.into()), "{run:?}");
    assert!(summary["warnings"].to_string().contains("left as it was"), "{summary}");
    assert_eq!(project.found_functions(), ["open_a", "open_b", "closed_c", "closed_deep_e"]);
    project.set_mode("closed/c.py", 0o644);
    assert_eq!(project.index(&[]).0.code, Some(0));
}

#[test]
fn unreadable_ignore_rules_keep_the_indexed_files() {
    let project = Project::new();
    project.edit(|fixture| {
        fixture.write("closed/.gitignore", "d.py\n");
    });
    project.index(&[]);
    assert_eq!(project.found_functions(), ["open_a", "open_b", "closed_c", "closed_deep_e"]);
    project.set_mode("closed/.gitignore", 0);
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, counts(&summary)), (Some(1), (1, 2, 0)), "{summary}");
    assert!(summary["errors"][0].as_str().is_some_and(|error| error.contains(".gitignore")), "{summary}");
    assert_eq!(project.found_functions(), ["open_a", "open_b", "closed_c", "closed_deep_e"]);
}

#[test]
fn a_directory_replaced_by_a_link_counts_as_deleted() {
    let project = Project::new();
    project.index(&[]);
    fs::rename(project.fixture.path("closed"), project.fixture.path("bin/closed")).expect("the path can be renamed");
    symlink("bin/closed", project.fixture.path("closed")).expect("the link can be created");
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, counts(&summary)), (Some(0), (0, 0, 3)), "{summary}");
    assert_eq!(project.found_functions(), ["open_a", "open_b"]);
}

#[test]
fn unreadable_reasoning_keeps_its_chunks() {
    let project = Project::new();
    let pattern = r#"{"id": "p1", "content": {"pattern": "retry with backoff", "success_score": 0.9}}"#;
    project.edit(|fixture| {
        fixture.write(".aurora/reasoning/p1.json", pattern);
    });
    let (_, summary) = project.index(&[]);
    let chunks = summary["chunks"]["reasoning"].clone();
    project.set_mode(".aurora/reasoning", 0);
    let (run, summary) = project.index(&[]);
    assert_eq!((run.code, counts(&summary)), (Some(1), (1, 1, 0)), "{summary}");
    assert_eq!((&summary["chunks"]["reasoning"], &chunks), (&chunks, &1.into()));
}

#[test]
fn a_low_limit_of_file_descriptors_loses_no_chunks() {
    let project = Project::new();
    project.index(&[]);
    let limited = |limit: u32, arguments: &str| {
        let mut shell = project.command(Path::new("/bin/sh"));
        Run::from_command(
            shell.args(["-c", &format!("ulimit -n {limit}; exec {} mem index {arguments}", project.program.display())]),
        )
    };
    for arguments in ["", "--force"] {
        let run = limited(8, arguments);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains("file descriptors") && run.err.contains("ulimit -n"), "{run:?}");
        assert_eq!(project.found_functions(), ALL);
    }
    // If only the soft limit is low, the program raises this limit itself.
    let mut shell = project.command(Path::new("/bin/sh"));
    let run = Run::from_command(
        shell.args(["-c", &format!("ulimit -S -n 16; exec {} mem index", project.program.display())]),
    );
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(project.found_functions(), ALL);
}

#[test]
fn searches_work_after_a_first_run_with_unreadable_files() {
    let project = Project::new();
    project.set_mode("closed", 0);
    let run = project.aur(&["mem", "search", "open_a"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("closed") && run.out.contains("open_a"), "{run:?}");
    project.set_mode("closed", 0o755);
    assert_eq!(project.index(&[]).0.code, Some(0));
    assert_eq!(project.found_functions(), ALL);
}

#[test]
fn a_read_only_index_can_be_searched() {
    let project = Project::new();
    project.index(&[]);
    let search = |time: &str| {
        let mut command = project.command(&project.program);
        command.env("AURORA_SEARCH_REFRESH", time).args(["mem", "search", "open_new", "--mode", "sparse"]);
        Run::from_command(command.args(["--format", "json"])).json()
    };
    for file in ["data.mdb", "lock.mdb"] {
        project.set_mode(&format!(".aurora/index/{file}"), 0o444);
    }
    project.edit(|fixture| {
        fixture.write("open/new.py", "def open_new():\n    pass\n");
    });
    let is_found = |found: &Value| found["results"].to_string().contains("open/new.py");
    let found = search("60000");
    assert!(!is_found(&found) && !found["notes"].to_string().contains("index"), "{found}");
    for file in ["data.mdb", "lock.mdb"] {
        project.set_mode(&format!(".aurora/index/{file}"), 0o644);
    }
    assert!(is_found(&search("60000")));
}
