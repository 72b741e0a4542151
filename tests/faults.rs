//! Bad input and failing systems: each leads to a clear message, loses no data, and causes no panic or crash.

mod fixture;

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixture::{Fixture, Run, hermetic};

const GOOD: &str = "def keep_me(value):\n    \"\"\"Stays findable whatever lies beside it.\"\"\"\n    return value\n";

fn with_good_file() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write("good.py", GOOD);
    fixture
}

/// Indexes the fixture, asserts that a search still finds the good file, and returns the summary.
fn index_and_find_good(fixture: &Fixture) -> serde_json::Value {
    let run = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(!run.err.contains("panicked"), "{run:?}");
    finds_good(fixture);
    run.json()
}

fn finds_good(fixture: &Fixture) {
    let run = fixture.aur(&["mem", "search", "keep_me", "--format", "json", "--no-record"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.json()["results"][0]["file"], "good.py", "{run:?}");
}

fn skipped(summary: &serde_json::Value, reason: &str) -> u64 {
    summary["files"]["skipped"][reason]["count"].as_u64().unwrap_or(0)
}

#[test]
fn invalid_utf8_is_indexed_with_a_warning() {
    let fixture = with_good_file();
    fixture.write("faulty.py", b"# caf\xc3\xa9, na\xc3\xafve\ndef faulty_one():\n    return '\xff'\n");
    let summary = index_and_find_good(&fixture);
    assert!(summary["warnings"].to_string().contains("not valid UTF-8"), "{summary}");
    let run = fixture.aur(&["mem", "search", "faulty_one", "--format", "json"]);
    assert_eq!(run.json()["results"][0]["name"], "faulty_one");
}

#[test]
fn a_file_of_200_megabytes_is_skipped_without_reading_it() {
    let fixture = with_good_file();
    File::create(fixture.path("huge.py"))
        .and_then(|file| file.set_len(200 << 20))
        .expect("the sparse file can be created");
    assert_eq!(skipped(&index_and_find_good(&fixture), "larger than max_file_size"), 1);
}

#[test]
fn a_minified_bundle_an_empty_file_and_a_binary_are_skipped() {
    let fixture = with_good_file();
    fixture.write("app.js", "var a=function(){return 1};".repeat(2_000));
    fixture.write("jquery.min.js", "var a=1;").write("empty.py", "").write("blob.py", b"\x7fELF\0\0\0");
    let summary = index_and_find_good(&fixture);
    assert_eq!(skipped(&summary, "minified or bundled"), 2, "{summary}");
    assert_eq!(skipped(&summary, "empty file"), 1, "{summary}");
    assert_eq!(skipped(&summary, "binary"), 1, "{summary}");
}

#[test]
fn the_valid_part_of_a_file_with_syntax_errors_is_indexed() {
    let fixture = with_good_file();
    fixture.write("broken.py", "def whole():\n    return 1\n\ndef broken(:\n    return ((\n\nclass After:\n    pass\n");
    let summary = index_and_find_good(&fixture);
    assert!(summary["warnings"].to_string().contains("syntax errors"), "{summary}");
    let run = fixture.aur(&["mem", "search", "whole", "--format", "json"]);
    assert_eq!(run.json()["results"][0]["file"], "broken.py", "{run:?}");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    let fixture = with_good_file();
    fixture.write("deep.py", format!("x = {}{}\n", "(\n".repeat(50_000), ")\n".repeat(50_000)));
    fixture.write("deep.js", "{\n".repeat(50_000));
    index_and_find_good(&fixture);
}

#[test]
#[cfg(unix)]
fn symbolic_links_are_skipped_even_in_loops() {
    let fixture = with_good_file();
    fs::create_dir(fixture.path("sub")).expect("the directory can be created");
    std::os::unix::fs::symlink("..", fixture.path("sub/up")).expect("the link can be created");
    std::os::unix::fs::symlink("self", fixture.path("self")).expect("the link can be created");
    assert_eq!(skipped(&index_and_find_good(&fixture), "symbolic link"), 2);
}

/// Runs the program. If the superuser runs the tests, runs the program as an ordinary user, because permissions do not
/// restrict the superuser.
#[cfg(unix)]
fn as_nobody(fixture: &Fixture, arguments: &[&str]) -> Run {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let mut command = fixture.command();
    if fs::metadata(fixture.root()).expect("the metadata can be read").uid() == 0 {
        for directory in [fixture.root(), fixture.home()] {
            fs::set_permissions(directory, fs::Permissions::from_mode(0o777)).expect("permissions can be set");
        }
        command.uid(65_534).gid(65_534);
    }
    Run::from_command(command.args(arguments))
}

#[test]
#[cfg(unix)]
fn an_unreadable_file_is_an_error_in_the_report() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = with_good_file();
    fixture.write("closed.py", "def closed(): pass\n").write("shut/inside.py", "def inside(): pass\n");
    fs::set_permissions(fixture.path("closed.py"), fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    fs::set_permissions(fixture.path("shut"), fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    let run = as_nobody(&fixture, &["mem", "index", "--format", "json"]);
    fs::set_permissions(fixture.path("shut"), fs::Permissions::from_mode(0o755)).expect("permissions can be set");
    assert_eq!(run.code, Some(1), "{run:?}");
    let errors = run.json()["errors"].to_string();
    assert!(errors.contains("closed.py") && errors.contains("shut"), "{run:?}");
    let strict = ["mem", "index", "--min-coverage", "100", "--format", "json"];
    let run = as_nobody(&fixture, &strict);
    assert_eq!(run.code, Some(1), "{run:?}");
}

#[test]
#[cfg(unix)]
fn a_read_only_index_can_be_searched_but_not_written() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = with_good_file();
    let run = as_nobody(&fixture, &["mem", "index"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture.write("more.py", "def more(): pass\n");
    for entry in walk(&fixture.path(".aurora")) {
        let mode = if entry.is_dir() { 0o555 } else { 0o444 };
        fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).expect("permissions can be set");
    }
    let index = as_nobody(&fixture, &["mem", "index"]);
    let search = as_nobody(&fixture, &["mem", "search", "keep_me", "--format", "json"]);
    for entry in walk(&fixture.path(".aurora")) {
        let mode = if entry.is_dir() { 0o777 } else { 0o666 };
        fs::set_permissions(&entry, fs::Permissions::from_mode(mode)).expect("permissions can be set");
    }
    assert_eq!(index.code, Some(2), "{index:?}");
    assert!(index.err.contains("cannot be written"), "{index:?}");
    assert_eq!(search.code, Some(0), "{search:?}");
    assert_eq!(search.json()["results"][0]["file"], "good.py");
}

#[test]
#[cfg(unix)]
fn an_unreadable_index_is_named_in_the_error() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = with_good_file();
    let run = as_nobody(&fixture, &["mem", "index"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let data = fixture.path(".aurora/index/data.mdb");
    let before = fs::read(&data).expect("the file can be read");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    let commands: [&[&str]; 7] = [
        &["mem", "search", "keep_me"],
        &["mem", "stats"],
        &["mem", "verify"],
        &["mem", "export", "out.aur"],
        &["mem", "compact"],
        &["mem", "index"],
        &["mem", "index", "--force"],
    ];
    for arguments in commands {
        let run = as_nobody(&fixture, arguments);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{arguments:?}: {run:?}");
        assert!(run.err.contains("data.mdb") && run.err.contains("permissions"), "{arguments:?}: {run:?}");
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o600)).expect("permissions can be set");
    assert!(fs::read(&data).expect("the file can be read") == before);
    finds_good(&fixture);
}

/// Returns a directory and everything below it, parents first.
fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = vec![directory.to_owned()];
    for entry in fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn unusual_roots_are_indexed_or_refused() {
    let fixture = with_good_file();
    let summary = index_and_find_good(&fixture);
    assert_eq!(summary["errors"].as_array().map(Vec::len), Some(0));

    fixture.run_git(&["init", "--quiet", "--bare", "bare.git"]);
    let run = fixture.aur(&["mem", "index", "bare.git"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("without a work tree"), "{run:?}");

    for root in ["good.py", "nowhere"] {
        let run = fixture.aur(&["mem", "index", root]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.contains(root), "{run:?}");
    }
}

#[test]
fn a_broken_repository_is_indexed_without_history() {
    let fixture = Fixture::git();
    fixture.write("good.py", GOOD).commit("first");
    fs::write(fixture.path(".git/HEAD"), "nonsense").expect("the file can be written");
    index_and_find_good(&fixture);
    fs::remove_dir_all(fixture.path(".git/objects")).expect("the directory can be removed");
    index_and_find_good(&fixture);
}

#[test]
fn a_shallow_clone_has_a_partial_history() {
    let origin = Fixture::git();
    origin.write("good.py", GOOD).commit("first");
    origin.write("good.py", format!("{GOOD}\n\ndef second():\n    pass\n")).commit("second");
    let clone = Fixture::plain();
    let url = format!("file://{}", origin.root().display());
    clone.run_git(&["clone", "--quiet", "--depth=1", &url, "."]);
    let summary = index_and_find_good(&clone);
    assert!(summary["warnings"].to_string().contains("shallow clone"), "{summary}");
    let run = clone.aur(&["mem", "search", "keep_me", "--format", "json"]);
    assert_eq!(run.json()["results"][0]["git"]["commits"], 1, "{run:?}");
}

#[test]
fn a_directory_removed_during_the_walk_is_no_failure() {
    let fixture = with_good_file();
    for number in 0..400 {
        fixture.write(&format!("gone/d{}/m{number}.py", number % 20), format!("def f{number}(): return {number}\n"));
    }
    let child = fixture
        .command()
        .args(["mem", "index", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let child = child.expect("the program starts");
    for directory in 0..20 {
        fs::remove_dir_all(fixture.path(&format!("gone/d{directory}"))).expect("the directory can be removed");
    }
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    index_and_find_good(&fixture);
    let run = fixture.aur(&["mem", "search", "f7", "--format", "json", "--mode", "sparse"]);
    assert!(!run.out.contains("gone/"), "{run:?}");
}

/// Creates a tree that takes so long to index that a test can act during the run.
fn large() -> Fixture {
    let fixture = with_good_file();
    for number in 0..1_500 {
        let functions: String =
            (0..12).map(|f| format!("def work_{number}_{f}(a, b):\n    return a + b * {f}\n\n")).collect();
        fixture.write(&format!("m{}/f{number}.py", number % 30), functions);
    }
    fixture
}

/// Waits until the run in progress holds the writer's lock.
fn wait_for_writer(fixture: &Fixture) {
    let lock = fixture.path(".aurora/writer.lock");
    let begun = Instant::now();
    while fs::read_to_string(&lock).map_or(true, |text| text.trim().is_empty()) {
        assert!(begun.elapsed() < Duration::from_secs(60), "the writer has not taken the lock");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_second_writer_waits_and_names_the_first() {
    let fixture = large();
    let mut first = fixture
        .command()
        .args(["mem", "index"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    wait_for_writer(&fixture);
    let second = fixture.aur(&["mem", "index"]);
    let done = first.wait().expect("the first writer ends");
    assert_eq!(done.code(), Some(0));
    assert_eq!(second.code, Some(0), "{second:?}");
    assert!(second.err.contains(&format!("waiting for process {}", first.id())), "{second:?}");
    finds_good(&fixture);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_leaves_the_old_index() {
    let fixture = large();
    let small = fixture.path("small");
    fs::create_dir(&small).expect("the directory can be created");
    // Mounts a file system of two megabytes that only this shell sees.
    let script = "mount -t tmpfs -o size=2m tmpfs small && cp good.py small/ && \"$AUR\" mem index small && \
                  cp -r m0 m1 m2 m3 m4 m5 m6 small/ && { \"$AUR\" mem index small; echo \"code $?\"; \
                  \"$AUR\" mem search keep_me --root small --format json --no-record; }";
    let mut shell = fixture.command();
    let program = shell.get_program().to_owned();
    shell = Command::new("unshare");
    hermetic(&mut shell, fixture.home());
    shell.current_dir(fixture.root()).env("AUR", program).args(["--mount", "sh", "-c", script]);
    let Ok(output) = shell.output() else { return eprintln!("skipped: no `unshare` here") };
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if err.contains("unshare") || err.contains("mount:") {
        return eprintln!("skipped: no right to mount: {err}");
    }
    assert!(out.contains("code 2"), "{out}\n{err}");
    assert!(err.contains("no space left") && !err.contains("Bus error"), "{out}\n{err}");
    assert!(out.contains("\"good.py\""), "{out}\n{err}");
}

#[test]
#[cfg(unix)]
fn an_interrupt_publishes_finished_work() {
    let fixture = large();
    let child = fixture
        .command()
        .args(["mem", "index"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    wait_for_writer(&fixture);
    std::thread::sleep(Duration::from_millis(100));
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    let output = child.wait_with_output().expect("the program ends");
    assert!(interrupt.is_ok_and(|status| status.success()));
    assert!(matches!(output.status.code(), Some(0 | 130)), "{output:?}");
    index_and_find_good(&fixture);
    let run = fixture.aur(&["mem", "search", "work_1499_11", "--format", "json"]);
    assert_eq!(run.json()["results"][0]["file"], "m29/f1499.py", "{run:?}");
}
