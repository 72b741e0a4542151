//! The nearest of several commits in the history of HEAD.

use crate::nearest_ancestor;

use super::fixture::{Repo, url};

/// Merges `other` into the current branch, and returns the id of the merge.
fn merge(repo: &Repo, other: &str) -> String {
    repo.git(&["merge", "-q", "--no-ff", "--no-commit", other]);
    repo.commit("merge")
}

fn nearest(repo: &Repo, candidates: &[&str]) -> Option<String> {
    nearest_ancestor(&repo.root, candidates).expect("the history can be read")
}

fn loose_object(repo: &Repo, id: &str) -> std::path::PathBuf {
    repo.root.join(".git/objects").join(&id[..2]).join(&id[2..])
}

#[test]
fn the_latest_candidate_is_nearest_after_criss_cross_merges() {
    let repo = Repo::new();
    let base = repo.commit_file("base", "1");
    let left = repo.commit_file("left", "1");
    repo.git(&["checkout", "-q", "-b", "right", &base]);
    let right = repo.commit_file("right", "1");
    // Each branch merges the first commit of the other one, so that the merges have two merge bases.
    let merged_right = merge(&repo, &left);
    repo.git(&["checkout", "-q", "main"]);
    let merged_left = merge(&repo, &right);
    repo.git(&["checkout", "-q", "-b", "unmerged", &base]);
    let unmerged = repo.commit_file("unmerged", "1");
    repo.git(&["checkout", "-q", "main"]);
    assert_eq!(nearest(&repo, &[&merged_right, &left]), Some(left.clone()), "the other merge is not an ancestor yet");
    let head = merge(&repo, &merged_right);
    for (candidates, expected) in [
        (vec![&base, &left, &right, &merged_left, &merged_right, &head], Some(&head)),
        (vec![&merged_left, &merged_right], Some(&merged_left)),
        (vec![&base, &left, &merged_right], Some(&merged_right)),
        (vec![&left, &right], Some(&right)),
        (vec![&left, &base, &unmerged], Some(&left)),
        (vec![&base], Some(&base)),
        (vec![&unmerged], None),
        (vec![], None),
    ] {
        let candidates: Vec<&str> = candidates.into_iter().map(String::as_str).collect();
        assert_eq!(nearest(&repo, &candidates).as_ref(), expected, "{candidates:?}");
    }
    repo.git(&["checkout", "-q", "--detach", &left]);
    assert_eq!(nearest(&repo, &[&right, &base]), Some(base), "HEAD is detached");
}

#[test]
fn unknown_candidates_are_ignored_and_missing_commits_are_an_error() {
    let repo = Repo::new();
    assert_eq!(nearest(&repo, &["0123456789012345678901234567890123456789"]), None, "there is no commit");
    let first = repo.commit_file("file", "1");
    let second = repo.commit_file("file", "2");
    let third = repo.commit_file("file", "3");
    let unknown = "0123456789012345678901234567890123456789";
    assert_eq!(nearest(&repo, &[unknown, &first[..12], "main", "", "../../x", &first]), Some(first.clone()));
    assert_eq!(nearest(&repo, &[unknown, &second[..39]]), None);
    let tree = repo.git(&["rev-parse", "HEAD^{tree}"]);
    assert_eq!(nearest(&repo, &[tree.trim()]), None, "a tree is not a commit");
    std::fs::remove_file(loose_object(&repo, &second)).unwrap();
    assert_eq!(nearest(&repo, &[&first, &third]), Some(third), "the missing commit is not needed");
    assert!(nearest_ancestor(&repo.root, &[&first]).is_err());
}

#[test]
fn the_history_of_a_shallow_clone_ends_at_its_boundary() {
    let repo = Repo::new();
    let commits: Vec<String> = (0..6).map(|text| repo.commit_file("file", text.to_string())).collect();
    let clone = repo.at(repo.root.with_file_name("shallow"));
    repo.git(&["clone", "-q", "--depth", "3", &url(&repo.root), clone.root.to_str().unwrap()]);
    assert_eq!(nearest(&clone, &[&commits[2], &commits[3]]), Some(commits[3].clone()));
    assert_eq!(nearest(&clone, &[&commits[0], &commits[2]]), None);
    clone.git(&["fetch", "-q", "--deepen", "1"]);
    assert_eq!(nearest(&clone, &[&commits[0], &commits[2]]), Some(commits[2].clone()));
    clone.git(&["fetch", "-q", "--unshallow"]);
    assert_eq!(nearest(&clone, &[&commits[0]]), Some(commits[0].clone()));
}

#[test]
fn a_directory_without_a_repository_has_no_ancestors() {
    let directory = tempfile::tempdir().unwrap();
    let nearest = nearest_ancestor(directory.path(), &["0123456789012345678901234567890123456789"]);
    assert_eq!(nearest.unwrap(), None);
}
