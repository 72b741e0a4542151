//! An index that was not built by the user's own runs is not used without the user's consent.

mod fixture;

use std::fs;

use fixture::{Fixture, Run};

const REFUSED: &str = "is not trusted";

/// Creates a repository with one function.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write("real.py", "def real_function():\n    return 1\n").commit("real");
    fixture
}

/// Builds an index of other code as another user, and copies it into `fixture`.
fn plant(fixture: &Fixture) {
    let author = Fixture::plain();
    author.write("planted.py", "def planted_function():\n    return 2\n");
    run_ok(&author, &["mem", "index"]);
    copy(&author, fixture);
}

fn copy(from: &Fixture, to: &Fixture) {
    fs::create_dir_all(to.path(".aurora/index")).expect("the directory can be created");
    fs::copy(from.path(".aurora/index/data.mdb"), to.path(".aurora/index/data.mdb")).expect("the file can be copied");
}

fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

fn first(run: &Run) -> String {
    run.json()["results"][0]["file"].to_string()
}

const SEARCH: [&str; 6] = ["mem", "search", "planted_function", "--format", "json", "--no-record"];

#[test]
fn a_foreign_index_is_refused_by_every_command_that_reads_it() {
    let fixture = repository();
    plant(&fixture);
    let commands: [&[&str]; 8] = [
        &SEARCH,
        &["mem", "stats"],
        &["mem", "blame", "planted.py"],
        &["mem", "feedback", "good", "code:planted.py:planted_function"],
        &["mem", "export", "out.aur"],
        &["mem", "compact"],
        &["mem", "rebuild-bm25"],
        &["mem", "eval", "golden.jsonl"],
    ];
    fixture.write("golden.jsonl", "{\"query\": \"planted\", \"relevant\": [{\"path\": \"planted.py\"}]}\n");
    for command in commands {
        let run = fixture.aur(command);
        assert_eq!(run.code, Some(2), "{command:?}: {run:?}");
        assert!(run.err.contains(REFUSED) && run.err.contains("aur mem index"), "{command:?}: {run:?}");
        assert!(!run.out.contains("planted.py"), "{command:?}: {run:?}");
    }
    run_ok(&fixture, &["mem", "verify"]);
    let doctor = fixture.aur(&["doctor"]);
    assert!(doctor.out.contains(REFUSED), "{doctor:?}");
}

#[test]
fn an_index_run_rebuilds_a_foreign_index() {
    let fixture = repository();
    plant(&fixture);
    let run = run_ok(&fixture, &["mem", "index"]);
    assert!(run.out.contains("was set aside and rebuilt"), "{run:?}");
    let found = run_ok(&fixture, &SEARCH);
    assert!(!found.out.contains("planted.py"), "{found:?}");
    let again = run_ok(&fixture, &["mem", "index"]);
    assert!(again.out.contains("Nothing changed") && !again.out.contains("trusted"), "{again:?}");
}

#[test]
fn a_foreign_index_can_be_trusted() {
    let fixture = repository();
    plant(&fixture);
    let found = Run::from_command(fixture.command().args(SEARCH).env("AURORA_TRUST_INDEX", "1"));
    assert_eq!(first(&found), "\"planted.py\"", "{found:?}");
    let refused = Run::from_command(fixture.command().args(SEARCH).env("AURORA_TRUST_INDEX", "0"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    run_ok(&fixture, &["mem", "trust-index"]);
    assert_eq!(first(&run_ok(&fixture, &SEARCH)), "\"planted.py\"");
    // A different index at the same path is not trusted.
    plant(&fixture);
    assert_eq!(fixture.aur(&SEARCH).code, Some(2));
}

#[test]
fn a_damaged_index_cannot_be_trusted() {
    let fixture = repository();
    plant(&fixture);
    let path = fixture.path(".aurora/index/data.mdb");
    let mut bytes = fs::read(&path).expect("the file can be read");
    let at = bytes.windows(16).position(|window| window == b"planted_function").expect("the index contains the name");
    bytes[at] ^= 1;
    fs::write(&path, bytes).expect("the file can be written");
    let run = fixture.aur(&["mem", "trust-index"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("damaged"), "{run:?}");
}

#[test]
fn an_index_tracked_by_git_is_trusted_until_git_writes_it() {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index"]);
    let search = ["mem", "search", "real_function", "--format", "json", "--no-record"];
    fixture.run_git(&["add", "--force", ".aurora/index/data.mdb"]).commit("the index");
    assert_eq!(first(&run_ok(&fixture, &search)), "\"real.py\"");
    // Simulates a pull that changes a committed index: the id is known, but the content is not.
    fs::remove_file(fixture.path(".aurora/index/data.mdb")).expect("the file can be removed");
    fixture.run_git(&["checkout", "--", ".aurora"]);
    let run = fixture.aur(&search);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("git tracks it"), "{run:?}");
    let run = run_ok(&fixture, &["mem", "index"]);
    assert!(run.out.contains("git tracks it"), "{run:?}");
    run_ok(&fixture, &search);
}

#[test]
fn an_index_with_logs_tracked_by_git_is_trusted_after_its_run() {
    let fixture = repository();
    let log = "# Conversation: login\nDate: 2025-12-15\n\n## Phase 1: Assessment\nThe query asks for tokens.\n";
    fixture.write_for_user("logs/conversations/2025/12/login-2025-12-15.md", log);
    run_ok(&fixture, &["mem", "index"]);
    fixture.run_git(&["add", "--force", ".aurora/index/data.mdb"]).commit("the index");
    // The umask determines the permissions of a checked-out index. The run restricts them before it records the index.
    fs::remove_dir_all(fixture.path(".aurora/index")).expect("the directory can be removed");
    fixture.run_git(&["checkout", "--", ".aurora"]);
    run_ok(&fixture, &["mem", "index"]);
    let search = ["mem", "search", "real_function", "--format", "json", "--no-record"];
    assert_eq!(first(&run_ok(&fixture, &search)), "\"real.py\"");
}

#[test]
fn a_committed_memory_is_usable_once_trusted() {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index"]);
    run_ok(&fixture, &["mem", "add", "note", "-m", "walruses sleep in the water"]);
    let search = ["mem", "search", "walruses", "--source", "memory", "--format", "json"];
    run_ok(&fixture, &search);
    fixture.run_git(&["add", "--force", ".aurora"]).commit("everything");
    let clone = Fixture::plain();
    clone.run_git(&["clone", "--quiet", &fixture.root().display().to_string(), "."]);
    run_ok(&clone, &["mem", "index"]);
    run_ok(&clone, &["mem", "trust-index", "memory"]);
    for _ in 0..2 {
        let run = run_ok(&clone, &search);
        assert!(!run.err.contains("left out"), "{run:?}");
        assert_eq!(run.json()["results"].as_array().expect("the value is a list").len(), 1, "{run:?}");
    }
    // Entries in a trusted memory are trusted, and so is the index that is derived from them.
    run_ok(&clone, &["mem", "add", "note", "-m", "seals sleep on the ice"]);
    let run = run_ok(&clone, &["mem", "search", "seals", "--source", "memory", "--format", "json"]);
    assert!(run.out.contains("seals sleep") && !run.err.contains("left out"), "{run:?}");
}

#[test]
fn a_moved_project_keeps_its_index() {
    let fixture = Fixture::plain();
    fixture.write("a/real.py", "def real_function():\n    return 1\n");
    run_ok(&fixture, &["mem", "index", "a"]);
    fs::rename(fixture.path("a"), fixture.path("b")).expect("the path can be renamed");
    let search = ["mem", "search", "real_function", "--root", "b", "--format", "json"];
    assert_eq!(first(&run_ok(&fixture, &search)), "\"real.py\"");
}

#[test]
fn an_index_run_in_a_copy_keeps_the_trust_in_all_other_copies() {
    let fixture = Fixture::plain();
    let added = "def added_function():\n    return 2\n";
    fixture.write("a/real.py", "def real_function():\n    return 1\n");
    run_ok(&fixture, &["mem", "index", "a"]);
    let saved = fs::read(fixture.path("a/.aurora/index/data.mdb")).expect("the file can be read");
    let restore = |place: &str| {
        fixture.write(&format!("{place}/real.py"), "def real_function():\n    return 1\n");
        fixture.write(&format!("{place}/.aurora/index/data.mdb"), &saved);
    };
    for place in ["b", "c"] {
        restore(place);
        fixture.write(&format!("{place}/added.py"), added);
        let run = run_ok(&fixture, &["mem", "index", place, "--require-index"]);
        assert!(!run.out.contains("set aside"), "{place}: {run:?}");
    }
    // The last copy gets the saved index, which is older than the indexes of all other directories.
    fixture.write("a/added.py", added);
    run_ok(&fixture, &["mem", "index", "a"]);
    restore("d");
    for place in ["a", "b", "c", "d"] {
        let search = ["mem", "search", "real_function", "--root", place, "--no-index", "--format", "json"];
        assert_eq!(first(&run_ok(&fixture, &search)), "\"real.py\"", "{place}");
    }
}

#[test]
fn imported_and_compacted_indexes_are_trusted() {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index"]);
    run_ok(&fixture, &["mem", "export", "out.aur"]);
    let other = Fixture::plain();
    let artefact = fixture.path("out.aur").display().to_string();
    run_ok(&other, &["mem", "import", &artefact, "--root", "."]);
    run_ok(&other, &["mem", "search", "real_function"]);
    run_ok(&other, &["mem", "rebuild-bm25"]);
    run_ok(&other, &["mem", "compact"]);
    run_ok(&other, &["mem", "search", "real_function"]);
}

#[test]
fn a_run_that_cannot_record_its_index_reports_it() {
    let fixture = repository();
    fixture.write("file", "");
    let run = Run::from_command(fixture.command().args(["mem", "index"]).env("AURORA_HOME", fixture.path("file")));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.contains("searches will not trust this index"), "{run:?}");
}

/// Copies the records of a user's indexes into another user's directory, and copies an index into another project.
fn restore(from: &Fixture, to: &Fixture) {
    let records = |fixture: &Fixture| fixture.user_directory().join("state/indexes");
    fs::create_dir_all(records(to)).expect("the directory can be created");
    for entry in fs::read_dir(records(from)).expect("the directory can be read") {
        let entry = entry.expect("the entry can be read");
        fs::copy(entry.path(), records(to).join(entry.file_name())).expect("the file can be copied");
    }
    copy(from, to);
}

#[test]
fn an_index_restored_in_another_directory_is_updated() {
    let saved = repository();
    run_ok(&saved, &["mem", "index"]);
    let restored = saved.duplicate();
    restore(&saved, &restored);
    let found = run_ok(&restored, &["mem", "search", "real_function", "--no-index"]);
    assert!(found.out.contains("real.py"), "{found:?}");
    let run = run_ok(&restored, &["mem", "index", "--require-index", "--format", "json"]);
    let summary = run.json();
    assert_eq!((&summary["files"]["indexed"], &summary["files"]["unchanged"]), (&0.into(), &1.into()), "{summary}");
    assert!(!run.out.contains("set aside"), "{run:?}");
}

#[test]
fn a_copied_id_does_not_make_an_index_trusted() {
    let user = repository();
    run_ok(&user, &["mem", "index"]);
    // Another user copies the index and changes its content. The id stays the same.
    let author = Fixture::plain();
    restore(&user, &author);
    author.write("planted.py", "def planted_function():\n    return 2\n");
    run_ok(&author, &["mem", "index"]);
    let id = |fixture: &Fixture| {
        let records = fs::read_dir(fixture.user_directory().join("state/indexes")).expect("the directory can be read");
        records.map(|entry| entry.expect("the entry can be read").file_name()).collect::<Vec<_>>()
    };
    assert_eq!(id(&author), id(&user), "the author's run has kept the id");
    let clone = Fixture::plain();
    restore(&user, &clone);
    copy(&author, &clone);
    // Equal size and modification time must not make an index trusted.
    let (planted, own) = (clone.path(".aurora/index/data.mdb"), user.path(".aurora/index/data.mdb"));
    let own = fs::metadata(own).expect("the metadata can be read");
    let file = fs::File::options().write(true).open(planted).expect("the file can be opened");
    file.set_len(own.len().max(file.metadata().expect("the metadata can be read").len()))
        .expect("the file can be resized");
    file.set_modified(own.modified().expect("the modification time is available"))
        .expect("the modification time can be set");
    let refused = clone.aur(&[&SEARCH[..], &["--no-index"]].concat());
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains(REFUSED), "{refused:?}");
    let required = clone.aur(&["mem", "index", "--require-index"]);
    assert_eq!(required.code, Some(2), "{required:?}");
    let again = run_ok(&clone, &["mem", "index"]);
    assert!(again.out.contains("was set aside and rebuilt"), "{again:?}");
}

#[test]
fn a_run_that_requires_an_index_builds_none() {
    let fixture = repository();
    let none = fixture.aur(&["mem", "index", "--require-index"]);
    assert_eq!(none.code, Some(2), "{none:?}");
    assert!(none.err.contains("no index that this run can update"), "{none:?}");
    assert!(!fixture.path(".aurora/index").exists(), "nothing is written");
    plant(&fixture);
    let before = fs::read(fixture.path(".aurora/index/data.mdb")).expect("the file can be read");
    let unknown = fixture.aur(&["mem", "index", "--require-index"]);
    assert_eq!(unknown.code, Some(2), "{unknown:?}");
    assert!(
        fs::read(fixture.path(".aurora/index/data.mdb")).expect("the file can be read") == before,
        "the index is unchanged"
    );
    run_ok(&fixture, &["mem", "index"]);
    run_ok(&fixture, &["mem", "index", "--require-index"]);
    fixture.write(".aurora/index/data.mdb", "damaged");
    let damaged = fixture.aur(&["mem", "index", "--require-index"]);
    assert_eq!(damaged.code, Some(2), "{damaged:?}");
}
