//! Git's own files, replaced by pipes, devices or endless files. An index run neither waits for such a file nor reads
//! it without a limit.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::fixture::Fixture;

/// Time limit of a run. A run takes about a second unless it hangs.
const TIME_LIMIT: Duration = Duration::from_secs(300);
/// Memory limit of a run. A run needs less than a tenth of the limit unless it reads an endless file.
const MEMORY_LIMIT_BYTES: u64 = 2 << 30;

fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write("a.py", "def alpha():\n    return 1\n").write(".gitignore", ".home/\n").commit("one");
    fixture.write("a.py", "def alpha():\n    return 2\n").commit("two");
    fixture
}

/// Indexes the fixture, asserts that the run ends with exit code 0, and returns the summary.
fn index(fixture: &Fixture, case: &str) -> Value {
    let mut child = fixture
        .command()
        .args(["mem", "index", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    let code = loop {
        if let Some(status) = child.try_wait().expect("the status of the process is available") {
            break status.code();
        }
        if begun.elapsed() > TIME_LIMIT {
            child.kill().expect("the process can be killed");
            child.wait().expect("the program ends");
            panic!("{case}: the run does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let mut out = String::new();
    child.stdout.take().expect("the stream is piped").read_to_string(&mut out).expect("the output is UTF-8");
    assert_eq!(code, Some(0), "{case}: {out}");
    let summary: Value = serde_json::from_str(&out).expect("the text is JSON");
    assert!(summary["peak_memory_bytes"].as_u64().is_none_or(|bytes| bytes < MEMORY_LIMIT_BYTES), "{case}: {summary}");
    assert_eq!(summary["chunks"]["code"], 1, "{case}: {summary}");
    summary
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

/// Removes a file, calls `put` to create a replacement, runs `aur mem index`, and returns the warnings.
fn warnings_with(name: &str, put: impl FnOnce(&Path)) -> String {
    let fixture = repository();
    let path = fixture.path(name);
    let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory can be created");
    put(&path);
    index(&fixture, name)["warnings"].to_string()
}

/// Files that gix opens by path. If one of them cannot be read safely, the git history is unavailable.
const REFUSED: &[&str] = &[
    ".git",
    ".git/HEAD",
    ".git/commondir",
    ".git/config",
    ".git/index",
    ".git/objects/info/alternates",
    ".git/objects/pack/pack-1.idx",
    ".git/objects/pack/multi-pack-index",
    ".git/packed-refs",
    ".git/refs/heads/main",
    ".git/shallow",
];

/// Files that are ignored if they cannot be read safely.
const IGNORED: &[&str] = &[".git/info/exclude", ".git/info/grafts", ".gitignore", ".mailmap"];

#[test]
fn devices_and_pipes_in_place_of_gits_files_are_refused() {
    for name in REFUSED {
        for warnings in [
            warnings_with(name, pipe),
            warnings_with(name, |path| symlink("/dev/zero", path).expect("the link can be created")),
        ] {
            assert!(warnings.contains("git history is unavailable"), "{name}: {warnings}");
            assert!(warnings.contains("is not a regular file"), "{name}: {warnings}");
        }
    }
    for name in IGNORED {
        for warnings in [
            warnings_with(name, pipe),
            warnings_with(name, |path| symlink("/dev/zero", path).expect("the link can be created")),
        ] {
            assert!(!warnings.contains("unavailable"), "{name}: {warnings}");
        }
    }
}

#[test]
fn huge_files_and_a_head_that_refers_to_itself_are_refused() {
    let huge = |path: &Path| {
        fs::File::create(path).and_then(|file| file.set_len(1 << 40)).expect("the sparse file can be created")
    };
    for name in [".git/HEAD", ".git/config", ".git/packed-refs", ".git/index", ".git/shallow"] {
        let warnings = warnings_with(name, huge);
        assert!(warnings.contains("unavailable") && warnings.contains("is larger than"), "{name}: {warnings}");
    }
    let warnings = warnings_with(".git/HEAD", |path| {
        fs::write(path, "ref: refs/heads/../../HEAD\n").expect("the file can be written")
    });
    assert!(warnings.contains("unavailable"), "{warnings}");
}

#[test]
fn an_object_that_is_a_pipe_is_reported() {
    let fixture = repository();
    let head = fs::read_to_string(fixture.path(".git/refs/heads/main")).expect("the file can be read");
    let object = fixture.path(&format!(".git/objects/{}/{}", &head[..2], head[2..].trim()));
    fs::remove_file(&object).expect("the file can be removed");
    pipe(&object);
    let warnings = index(&fixture, "object")["warnings"].to_string();
    assert!(warnings.contains("unavailable") && warnings.contains("is not a regular file"), "{warnings}");
    let fixture = repository();
    let output = Command::new("git").current_dir(fixture.root()).args(["rev-parse", "HEAD^{tree}"]).output();
    let tree = String::from_utf8(output.expect("git runs").stdout).expect("the text is UTF-8");
    let object = fixture.path(&format!(".git/objects/{}/{}", &tree[..2], tree[2..].trim()));
    fs::remove_file(&object).expect("the file can be removed");
    pipe(&object);
    let warnings = index(&fixture, "tree")["warnings"].to_string();
    assert!(warnings.contains("is missing or damaged"), "{warnings}");
}

#[test]
fn git_configuration_may_name_only_regular_files() {
    for (name, target) in [("device", "/dev/zero"), ("pipe", "pipe")] {
        let fixture = repository();
        pipe(&fixture.path("pipe"));
        let target = if target == "pipe" { fixture.path("pipe").display().to_string() } else { target.to_owned() };
        let mut config = fs::read_to_string(fixture.path(".git/config")).expect("the file can be read");
        for (section, key) in
            [("include", "path"), ("mailmap", "file"), ("blame", "ignoreRevsFile"), ("core", "excludesFile")]
        {
            config.push_str(&format!("[{section}]\n\t{key} = {target}\n"));
        }
        fixture.write(".git/config", config);
        let warnings = index(&fixture, name)["warnings"].to_string();
        assert!(warnings.contains("blame.ignoreRevsFile") && !warnings.contains("unavailable"), "{warnings}");
        assert!(warnings.contains("configuration includes"), "{warnings}");
    }
    let warnings = warnings_with(".git/config", |path| {
        fs::write(path, "[gitoxide \"core\"]\n\tindexFile = x\n").expect("the file can be written")
    });
    assert!(warnings.contains("unavailable") && warnings.contains("gitoxide"), "{warnings}");
}

#[test]
fn alternates_are_limited() {
    let lines = |count: usize| (0..count).map(|line| format!("../../other-{line}\n")).collect::<String>();
    let alternates = ".git/objects/info/alternates";
    let warnings = warnings_with(alternates, |path| fs::write(path, lines(10_000)).expect("the file can be written"));
    assert!(warnings.contains("unavailable"), "{warnings}");
    let warnings = warnings_with(alternates, |path| fs::write(path, ".\n").expect("the file can be written"));
    assert!(!warnings.contains("panicked"), "{warnings}");
}

#[test]
fn links_within_gits_directory_are_followed() {
    let fixture = repository();
    let elsewhere = fixture.path(".home/git");
    fs::create_dir_all(&elsewhere).expect("the directory can be created");
    for name in ["config", "objects", "refs", "info"] {
        fs::rename(fixture.path(".git").join(name), elsewhere.join(name)).expect("the path can be renamed");
        symlink(elsewhere.join(name), fixture.path(".git").join(name)).expect("the link can be created");
    }
    assert_eq!(index(&fixture, "links")["warnings"], Value::Array(Vec::new()));
    let blame = fixture.aur(&["mem", "blame", "a.py"]);
    assert_eq!(blame.code, Some(0), "{blame:?}");
    fs::rename(fixture.path(".git"), elsewhere.join("whole")).expect("the path can be renamed");
    symlink(elsewhere.join("whole"), fixture.path(".git")).expect("the link can be created");
    assert_eq!(index(&fixture, "a linked directory")["warnings"], Value::Array(Vec::new()));
}
