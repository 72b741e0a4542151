//! The index as a change detector.

use std::time::{Duration, SystemTime};

use super::super::WorktreeState;
use super::fixture::Repo;

/// Sets the modification time of `path` to `age` ago.
fn age(repo: &Repo, path: &str, age: Duration) {
    let file = std::fs::File::options().write(true).open(repo.root.join(path)).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn only_settled_metadata_is_trusted() {
    let repo = Repo::new();
    for path in ["same", "touched", "rewritten", "gone"] {
        repo.write(path, "text\n");
        age(&repo, path, Duration::from_secs(3_600));
    }
    repo.commit("all");
    repo.write("added", "new\n");
    repo.git(&["add", "-N", "added"]);
    age(&repo, "touched", Duration::from_secs(60));
    repo.write("rewritten", "longer text\n");
    std::fs::remove_file(repo.root.join("gone")).unwrap();
    repo.write("untracked", "text\n");
    let (history, _) = repo.open();
    let files = history.worktree_scan().unwrap();
    let found: Vec<_> = files.iter().map(|file| (file.path.to_string(), file.state)).collect();
    let expected = [
        ("added", WorktreeState::Unknown),
        ("gone", WorktreeState::Missing),
        ("rewritten", WorktreeState::Unknown),
        ("same", WorktreeState::Unmodified),
        ("touched", WorktreeState::Unknown),
    ];
    assert_eq!(found, expected.map(|(path, state)| (path.to_owned(), state)));
    assert_eq!(files[3].blob.to_string(), repo.git(&["rev-parse", "HEAD:same"]).trim());
}

#[test]
fn a_file_as_young_as_the_index_is_not_trusted() {
    let repo = Repo::new();
    repo.write("racy", "text\n");
    let later = SystemTime::now() + Duration::from_secs(3_600);
    std::fs::File::options().write(true).open(repo.root.join("racy")).unwrap().set_modified(later).unwrap();
    repo.commit("racy");
    assert_eq!(repo.open().0.worktree_scan().unwrap()[0].state, WorktreeState::Unknown);
}
