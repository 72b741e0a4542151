//! Lines of the working tree, and sums over ranges of lines.

use super::fixture::{Repo, assert_same, lines};
use crate::NOT_COMMITTED;

/// Writes `text` to the work tree and compares with `git blame` of the work tree.
fn check_worktree(repo: &Repo, path: &str, text: &str) {
    repo.write(path, text);
    let (history, index) = repo.open();
    let ranges = [0..2, 0..u32::MAX, 40..60];
    let found = history.attribute(&index, &|_, _| None, path, Some(text.as_bytes()), &ranges).unwrap();
    assert_same(&found.blame.worktree(), &repo.git_blame_worktree(path), path);
    // The same from the stored attribution, without a walk.
    let key = index.latest(path).unwrap();
    let carried = history.carry_over(&found.blame.committed, &key, text.as_bytes(), &ranges).unwrap();
    assert_eq!(carried, Some(found));
}

#[test]
fn changed_lines_are_not_committed() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 100));
    repo.commit_file("file", lines("base", 100).replace("base 50\n", "fifty\n"));
    let head = lines("base", 100).replace("base 50\n", "fifty\n");
    check_worktree(&repo, "file", &head);
    check_worktree(&repo, "file", &head.replace("base 3\n", "three\nand more\n").replace("base 70\n", ""));
    check_worktree(&repo, "file", &head.replace("fifty\n", ""));
    check_worktree(&repo, "file", head.trim_end());
    check_worktree(&repo, "file", "");
}

#[test]
fn carriage_returns_of_a_checkout_are_no_change() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 20));
    repo.git(&["config", "core.autocrlf", "true"]);
    let text = lines("base", 20).replace("base 7\n", "seven\n").replace('\n', "\r\n");
    check_worktree(&repo, "file", &text);
    let (history, index) = repo.open();
    let blame = history.attribute(&index, &|_, _| None, "file", Some(text.as_bytes()), &[]).unwrap().blame.worktree();
    assert_eq!(
        blame.entries.iter().filter(|entry| entry.commit == NOT_COMMITTED).map(|entry| entry.len).sum::<u32>(),
        1
    );
}

#[test]
fn committed_carriage_returns_are_content() {
    let repo = Repo::new();
    let text = lines("base", 20).replace('\n', "\r\n");
    repo.commit_file("file", &text);
    repo.commit_file("file", text.replace("base 3\r\n", "three\n"));
    check_worktree(&repo, "file", &text);
    repo.git(&["checkout", "-q", "file"]);
    repo.check();
}

#[test]
fn a_summary_counts_commits_authors_and_uncommitted_lines() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 10));
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write(".mailmap", "Grace <grace@example.com> Ada <none@example.com>\n");
    let newest = repo.commit_file("file", lines("base", 10).replace("base 2\n", "two\n"));
    let (history, index) = repo.open();
    let text = lines("base", 10).replace("base 2\n", "two\n").replace("base 8\n", "eight\nnine\n");
    let blame = history.attribute(&index, &|_, _| None, "file", Some(text.as_bytes()), &[]).unwrap().blame.worktree();
    let all = blame.summary(0..u32::MAX);
    assert_eq!((all.commits, all.uncommitted_lines), (2, 2));
    assert_eq!(all.newest.unwrap().id.to_string(), newest);
    assert_eq!(
        all.authors.iter().map(|(author, lines)| (author.name.as_str(), *lines)).collect::<Vec<_>>(),
        [("Ada", 9)]
    );
    assert_eq!(all.commit_times, [1_700_000_120, 1_700_000_060]);
    assert_eq!(all.first_time, Some(1_700_000_060));
    let few = blame.summary(3..8);
    assert_eq!((few.commits, few.uncommitted_lines, few.authors[0].1), (1, 0, 5));
    let none = blame.summary(8..10);
    assert_eq!((none.commits, none.uncommitted_lines, none.newest), (0, 2, None));
    assert_eq!(blame.summary(50..60), Default::default());
}
