//! Tests of the detection of changed files with the git index.

use std::time::{Duration, SystemTime};

use super::fixture::Repo;
use crate::WorktreeState;

/// Delay after which an entry of the index is no longer racy.
const SETTLED: Duration = Duration::from_millis(80);

/// Sets the modification time of `path` to `age` ago.
fn age(repo: &Repo, path: &str, age: Duration) {
    let file = std::fs::File::options().write(true).open(repo.root.join(path)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn metadata_is_trusted_unless_it_is_racy() {
    let repo = Repo::new();
    for path in ["same", "touched", "rewritten", "gone"] {
        repo.write(path, "text\n");
        age(&repo, path, Duration::from_secs(3_600));
    }
    std::thread::sleep(SETTLED);
    repo.commit("all");
    repo.write("added", "new\n");
    repo.git(&["add", "-N", "added"]);
    age(&repo, "touched", Duration::from_secs(60));
    repo.write("rewritten", "longer text\n");
    std::fs::remove_file(repo.root.join("gone")).unwrap();
    repo.write("untracked", "text\n");
    let (history, _) = repo.open();
    let tracked = history.worktree_index().unwrap();
    let state = |path: &str| tracked.file(path).map(|file| file.state);
    for (path, expected) in [
        ("added", Some(WorktreeState::Unknown)),
        ("gone", Some(WorktreeState::Missing)),
        ("rewritten", Some(WorktreeState::Unknown)),
        ("same", Some(WorktreeState::Unmodified)),
        ("touched", Some(WorktreeState::Unknown)),
        ("untracked", None),
        ("sam", None),
    ] {
        assert_eq!(state(path), expected, "{path}");
    }
    let blob = tracked.file("same").map(|file| file.blob.to_string());
    assert_eq!(blob.as_deref(), Some(repo.git(&["rev-parse", "HEAD:same"]).trim()));
}

#[test]
fn a_file_as_recent_as_the_index_is_not_trusted() {
    let repo = Repo::new();
    repo.write("racy", "text\n");
    let later = SystemTime::now() + Duration::from_secs(3_600);
    std::fs::File::options().write(true).open(repo.root.join("racy")).unwrap().set_modified(later).unwrap();
    repo.commit("racy");
    let racy = repo.open().0.worktree_index().unwrap().file("racy");
    assert_eq!(racy.map(|file| file.state), Some(WorktreeState::Unknown));
}

#[test]
fn an_edit_that_keeps_size_and_modification_time_is_detected() {
    let repo = Repo::new();
    for path in ["edited", "replaced", "same"] {
        repo.write(path, "text\n");
    }
    repo.write("other", "more\n");
    std::thread::sleep(SETTLED);
    repo.commit("all");
    let modified = |path: &str| std::fs::metadata(repo.root.join(path)).unwrap().modified().unwrap();
    let restore = |path: &str, time| {
        let file = std::fs::File::options().write(true).open(repo.root.join(path)).unwrap();
        file.set_modified(time).unwrap();
    };
    let time = modified("edited");
    repo.write("edited", "TEXT\n");
    restore("edited", time);
    restore("other", modified("replaced"));
    std::fs::rename(repo.root.join("other"), repo.root.join("replaced")).unwrap();
    let tracked = repo.open().0.worktree_index().unwrap();
    let state = |path: &str| tracked.file(path).map(|file| file.state);
    assert_eq!(state("same"), Some(WorktreeState::Unmodified));
    assert_eq!((state("edited"), state("replaced")), (Some(WorktreeState::Unknown), Some(WorktreeState::Unknown)));
}

/// Uses version 4 of the index format, in which a path is stored relative to the previous path.
#[test]
fn an_index_with_ever_longer_paths_is_rejected() {
    let repo = Repo::new();
    for file in 0..200 {
        repo.write(&format!("some/directory/{file:03}/{}", "long/".repeat(20) + "file"), "text\n");
    }
    repo.commit("all");
    repo.git(&["update-index", "--index-version", "4"]);
    assert_eq!(repo.open().0.worktree_index().unwrap().len(), 200);

    let mut bytes = b"DIRC\0\0\0\x04\0\0\x03\xe8".to_vec();
    for _ in 0..1_000 {
        bytes.extend([0; 62]);
        // The number of bytes to remove from the previous path, 0.
        bytes.push(0);
        bytes.extend(b"and ten more bytes\0");
    }
    bytes.extend([0; 20]);
    std::fs::write(repo.root.join(".git/index"), bytes).unwrap();
    let error = repo.open().0.worktree_index().unwrap_err().to_string();
    assert!(error.contains("longer than 4096 bytes"), "{error}");
}

#[test]
fn a_false_number_of_index_entries_does_not_allocate_memory() {
    let repo = Repo::new();
    repo.commit_file("file", "text\n");
    std::fs::write(repo.root.join(".git/index"), b"DIRC\0\0\0\x02\xff\xff\xff\xff".repeat(4)).unwrap();
    assert!(repo.open().0.worktree_index().is_err());
}
