//! Changes that the stat data of files does not show: edits with restored times, replaced files, and a repository that
//! appears or disappears.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use aurora_storage::{ChunkId, GitState};

use crate::edits::BODIES;
use crate::fixture::{Fixture, git};
use crate::{answers, digest, run, sizeable, snapshot, update_index};

/// Waiting time after which the times of a changed file are reliable.
const SETTLED: Duration = Duration::from_millis(60);

/// Returns the modification time of a file.
pub(crate) fn modified(path: &Path) -> SystemTime {
    path.metadata().and_then(|found| found.modified()).expect("the modification time is available")
}

pub(crate) fn set_modified(path: &Path, time: SystemTime) {
    let file = File::options().append(true).open(path).expect("the file can be opened");
    file.set_modified(time).expect("the modification time can be set");
}

/// Returns a text of the same length with some letters exchanged.
pub(crate) fn other_words(text: &str) -> String {
    let swapped = |letter| match letter {
        'e' => 'o',
        'o' => 'e',
        other => other,
    };
    text.chars().map(swapped).collect()
}

/// Edits a file. Keeps the size, and restores the modification time.
pub(crate) fn rewrite(path: &Path) {
    let (text, time) = (fs::read_to_string(path).expect("the file can be read"), modified(path));
    fs::write(path, other_words(&text)).expect("the file can be written");
    set_modified(path, time);
}

/// Replaces a file by another file with the same size and modification time.
pub(crate) fn replace(path: &Path) {
    let other = path.with_extension("other");
    fs::write(&other, other_words(&fs::read_to_string(path).expect("the file can be read")))
        .expect("the file can be written");
    set_modified(&other, modified(path));
    fs::rename(other, path).expect("the path can be renamed");
}

/// Creates a repository whose index contains reliable stat data of all files.
fn settled() -> Fixture {
    let fixture = sizeable();
    fixture.commit("all");
    std::thread::sleep(SETTLED);
    run(fixture.root(), 2, false);
    let again = run(fixture.root(), 2, false);
    assert!(again.nothing_changed, "{again:?}");
    fixture
}

/// Asserts that the index equals an index that is built from scratch in the same directory.
fn assert_equals_fresh(fixture: &Fixture, what: &str) {
    let (kept, found) = (digest(fixture.root()), answers(fixture.root()));
    run(fixture.root(), 2, true);
    assert_eq!(kept, digest(fixture.root()), "{what}");
    assert_eq!(found, answers(fixture.root()), "{what}");
}

type Change = (&'static str, fn(&Fixture));

#[test]
fn an_edit_that_keeps_size_and_modification_time_is_found() {
    let edits: [Change; 5] = [
        ("written", |fixture| rewrite(&fixture.path("m0/a0.py"))),
        ("replaced", |fixture| replace(&fixture.path("m0/a0.py"))),
        ("exchanged with another file", |fixture| {
            let (one, other) = (fixture.path("m0/a0.py"), fixture.path("other.py"));
            fs::write(&other, other_words(&fs::read_to_string(&one).expect("the file can be read")))
                .expect("the file can be written");
            set_modified(&other, modified(&one));
            fs::rename(&one, fixture.path("aside")).expect("the path can be renamed");
            fs::rename(&other, &one).expect("the path can be renamed");
            fs::remove_file(fixture.path("aside")).expect("the file can be removed");
        }),
        ("in a directory that was replaced", |fixture| {
            let (one, other) = (fixture.path("m0"), fixture.path("m0-new"));
            fs::create_dir(&other).expect("the directory can be created");
            for entry in fs::read_dir(&one)
                .expect("the directory can be read")
                .map(|entry| entry.expect("the entry can be read"))
            {
                if entry.file_type().expect("the file type is known").is_file() {
                    let copy = other.join(entry.file_name());
                    fs::copy(entry.path(), &copy).expect("the file can be copied");
                    set_modified(&copy, modified(&entry.path()));
                }
            }
            rewrite(&other.join("a0.py"));
            fs::remove_file(one.join("a0.py")).expect("the file can be removed");
            fs::rename(other.join("a0.py"), one.join("a0.py")).expect("the path can be renamed");
            fs::remove_dir_all(other).expect("the directory can be removed");
        }),
        ("committed", |fixture| {
            rewrite(&fixture.path("m0/a0.py"));
            fixture.commit("an edit that keeps its time");
        }),
    ];
    for (what, edit) in edits {
        let fixture = settled();
        let before = digest(fixture.root());
        edit(&fixture);
        assert_eq!(update_index(fixture.root()), 1, "{what}: an update before a search");
        assert_ne!(digest(fixture.root()), before, "{what}");
        run(fixture.root(), 2, false);
        assert_equals_fresh(&fixture, what);

        let fixture = settled();
        edit(&fixture);
        let summary = run(fixture.root(), 2, false);
        assert_eq!(summary.files.indexed, 1, "{what}: a run");
        assert_equals_fresh(&fixture, what);
    }
}

#[test]
fn a_file_replaced_by_an_equal_copy_is_read_but_not_parsed() {
    let fixture = settled();
    let chunks = snapshot(fixture.root()).live().clone();
    // Restored caches, fresh clones and `cp -a` create files with new inodes and new change times.
    let copy = fixture.duplicate();
    for entry in fs::read_dir(fixture.path("m0"))
        .expect("the directory can be read")
        .map(|entry| entry.expect("the entry can be read"))
    {
        if entry.file_type().expect("the file type is known").is_file() {
            let time = modified(&entry.path());
            fs::remove_file(entry.path()).expect("the file can be removed");
            fs::copy(copy.path("m0").join(entry.file_name()), entry.path()).expect("the file can be copied");
            set_modified(&entry.path(), time);
        }
    }
    std::thread::sleep(SETTLED);
    let generation = snapshot(fixture.root()).manifest().generation;
    let summary = run(fixture.root(), 2, false);
    assert_eq!((summary.files.indexed, summary.files.refreshed, summary.changed_chunks), (0, 0, 0), "{summary:?}");
    assert_eq!(summary.generation, generation + 1, "the new stat data is stored");
    assert_eq!(*snapshot(fixture.root()).live(), chunks, "the chunks keep their ids");
    assert_eq!(run(fixture.root(), 2, false).generation, generation + 1, "the next run knows the new stat data");
    assert_equals_fresh(&fixture, "copied");
}

#[test]
fn a_tree_that_is_deleted_and_restored_is_indexed_correctly() {
    let fixture = settled();
    let copy = fixture.duplicate();
    for name in ["m0", "m1", "m2", "m3", "m4", "m5", "m6"] {
        fs::remove_dir_all(fixture.path(name)).expect("the directory can be removed");
    }
    let summary = run(fixture.root(), 2, false);
    assert_eq!((summary.files.deleted, summary.chunks.total), (120, 0), "{summary:?}");
    let fresh = copy.path("m1");
    fs::rename(fresh, fixture.path("m1")).expect("the path can be renamed");
    run(fixture.root(), 2, false);
    assert_equals_fresh(&fixture, "made again");
}

/// Returns the number of chunks of tracked files, of untracked files, and of files outside of a git repository.
fn git_states(root: &Path) -> [usize; 3] {
    let snapshot = snapshot(root);
    let state =
        |id| snapshot.chunk(ChunkId(id)).expect("the index can be read").expect("the chunk is live").git_state();
    [GitState::Tracked, GitState::Untracked, GitState::None]
        .map(|wanted| snapshot.live().iter().filter(|id| state(*id) == wanted).count())
}

/// Returns the path to which the repository of a fixture is moved.
fn moved_repository(fixture: &Fixture) -> std::path::PathBuf {
    fixture.root().with_extension("repository")
}

#[test]
fn changes_of_the_repository_update_the_git_state_of_chunks() {
    let changes: [Change; 12] = [
        ("no change", |_| {}),
        (".git went away", |fixture| fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed")),
        (".git was made again", |fixture| {
            fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed");
            fixture.run_git(&["init", "--quiet"]);
        }),
        (".git was made again and has a commit", |fixture| {
            fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed");
            fixture.run_git(&["init", "--quiet"]).commit("new");
        }),
        (".git is damaged", |fixture| _ = fixture.write(".git/HEAD", "nothing")),
        (".git has become a file", |fixture| {
            fs::rename(fixture.path(".git"), moved_repository(fixture)).expect("the path can be renamed");
            fixture.write(".git", format!("gitdir: {}\n", moved_repository(fixture).display()));
        }),
        (".git leads nowhere", |fixture| {
            fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed");
            fixture.write(".git", "gitdir: /nowhere/at/all\n");
        }),
        ("HEAD is unborn", |fixture| _ = fixture.run_git(&["symbolic-ref", "HEAD", "refs/heads/unborn"])),
        ("a file is no longer tracked", |fixture| {
            fixture.run_git(&["rm", "--quiet", "--cached", "m0/a0.py"]);
            fixture.run_git(&["commit", "--quiet", "--message", "less"]);
        }),
        ("a file is tracked now", |fixture| _ = fixture.commit("more")),
        ("a file is ignored now", |fixture| _ = fixture.write(".gitignore", "a0.py\n")),
        ("a repository within", |fixture| {
            let inner = fixture.path("m1");
            let made = git(&inner).args(["init", "--quiet"]).status().expect("git runs");
            assert!(made.success());
        }),
    ];
    for (what, change) in changes {
        let fixture = sizeable();
        fixture.commit("all").write("untracked.py", BODIES[0]);
        run(fixture.root(), 2, false);
        change(&fixture);
        run(fixture.root(), 2, false);
        assert_equals_fresh(&fixture, what);
        let _ = fs::remove_dir_all(moved_repository(&fixture));
    }
}

#[test]
fn the_git_state_of_chunks_follows_the_repository() {
    let fixture = Fixture::plain();
    fixture.write("a.py", BODIES[0]).write("sub/b.py", BODIES[0]);
    run(fixture.root(), 2, false);
    let count = git_states(fixture.root())[2];
    assert!(count > 0 && git_states(fixture.root()) == [0, 0, count]);
    fixture.run_git(&["init", "--quiet"]);
    run(fixture.root(), 2, false);
    assert_eq!(git_states(fixture.root()), [0, count, 0], "nothing is tracked yet");
    fixture.commit("all");
    run(fixture.root(), 2, false);
    assert_eq!(git_states(fixture.root()), [count, 0, 0]);
    // Now the repository belongs to the subdirectory.
    fs::rename(fixture.path(".git"), fixture.path("sub/.git")).expect("the path can be renamed");
    run(fixture.root(), 2, false);
    assert_eq!(git_states(fixture.root()), [0, 0, count]);
    // The index run has created a new `.git` directory for its records, which must be removed first.
    fs::remove_dir_all(fixture.path(".git")).expect("the directory can be removed");
    fs::rename(fixture.path("sub/.git"), fixture.path(".git")).expect("the path can be renamed");
    run(fixture.root(), 2, false);
    assert_eq!(git_states(fixture.root()), [count, 0, 0]);
}

#[test]
fn moving_a_repository_up_makes_its_files_untracked() {
    let outer = Fixture::git();
    outer.write("sub/a.py", BODIES[0]);
    let root = outer.path("sub");
    let in_sub = |arguments: &[&str]| {
        let identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
        assert!(git(&root).args(identity).args(arguments).status().expect("git runs").success(), "{arguments:?}");
    };
    in_sub(&["init", "--quiet"]);
    in_sub(&["add", "a.py"]);
    in_sub(&["commit", "--quiet", "--message", "all"]);
    run(&root, 2, false);
    let [tracked, ..] = git_states(&root);
    assert!(tracked > 0);
    fs::remove_dir_all(outer.path(".git")).expect("the directory can be removed");
    fs::rename(root.join(".git"), outer.path(".git")).expect("the path can be renamed");
    run(&root, 2, false);
    assert_eq!(git_states(&root), [0, tracked, 0]);
}

#[test]
fn a_shallow_clone_that_is_unshallowed_has_the_whole_history() {
    let origin = sizeable();
    origin.commit("all");
    for round in 0..3 {
        origin.write("m0/a0.py", format!("{}\n\ndef more_{round}():\n    return {round}\n", BODIES[0]));
        origin.commit("more");
    }
    let clone = Fixture::plain();
    let url = format!("file://{}", origin.root().display());
    clone.run_git(&["clone", "--quiet", "--depth", "2", &url, "."]);
    run(clone.root(), 2, false);
    let shallow = digest(clone.root());
    clone.run_git(&["fetch", "--quiet", "--unshallow"]);
    run(clone.root(), 2, false);
    assert_ne!(digest(clone.root()), shallow);
    assert_equals_fresh(&clone, "unshallow");
}
