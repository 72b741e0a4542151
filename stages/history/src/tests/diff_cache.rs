//! Tests that records in the diff cache are used only for the versions that they compare, and are ignored if they are
//! damaged or belong to another history.

use std::path::PathBuf;

use super::fixture::{Repo, lines};
use super::increments::{Stored, everything, increment};

/// Creates a history of two files. One of the files was renamed and changed in the same commit.
fn repository() -> Repo {
    let repo = Repo::new();
    let text = lines("line", 40);
    repo.commit_file("x/a.rs", &text);
    for number in [3, 17, 30, 8] {
        repo.commit_file("x/a.rs", changed(&text, number));
        repo.commit_file("b.rs", changed(&text, number + 1));
    }
    repo.git(&["mv", "x/a.rs", "a.rs"]);
    repo.commit_file("a.rs", changed(&text, 21));
    repo
}

/// Replaces one line of `text` with two others.
fn changed(text: &str, line: usize) -> String {
    let changed = text.replacen(&format!("line {line}\n"), "one\nanother\n", 1);
    assert_ne!(changed, text);
    changed
}

fn comparisons(repo: &Repo) -> PathBuf {
    repo.root.join(".git").join("comparisons")
}

/// Attributes all files at HEAD with the caches, and saves the diff cache.
fn attribute(repo: &Repo, stored: &Stored) -> Stored {
    let history = repo.history(repo.caches());
    let (found, _) = increment(&history, stored);
    history.save_diff_cache();
    found
}

/// Prepends lines to each file, so that the ranges differ from the ranges whose touches were counted before.
fn commit_on_top(repo: &Repo, files: &[&str]) {
    for path in files {
        let text = std::fs::read_to_string(repo.root.join(path)).unwrap();
        repo.commit_file(path, format!("first\nsecond\n{text}"));
    }
}

/// Deletes the file contents that are neither in HEAD nor in HEAD~2.
fn delete_old_contents(repo: &Repo) {
    let listing =
        repo.git(&["rev-list", "--objects", "--no-object-names", "--all", "--not", "HEAD~2^{tree}", "HEAD^{tree}"]);
    let mut deleted = 0;
    for id in listing.lines().filter(|id| repo.git(&["cat-file", "-t", id]).trim() == "blob").collect::<Vec<_>>() {
        std::fs::remove_file(repo.root.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
        deleted += 1;
    }
    assert_eq!(deleted, 8);
}

#[test]
fn an_increment_does_not_read_old_versions() {
    let repo = repository();
    let stored = attribute(&repo, &Stored::new());
    commit_on_top(&repo, &["a.rs", "b.rs"]);
    let expected = everything(&repo);
    let touches = || repo.open().0.touch_counts(&repo.open().1, "a.rs", &[0..30, 30..40], None).unwrap();
    let all = touches();
    delete_old_contents(&repo);
    assert!(attribute(&repo, &stored) == expected);
    // Without the cache the result differs.
    assert_ne!(touches(), all);
}

#[test]
fn damaged_records_are_computed_again() {
    let repo = repository();
    let stored = attribute(&repo, &Stored::new());
    let first = std::fs::metadata(comparisons(&repo)).unwrap().len() as usize;
    commit_on_top(&repo, &["a.rs", "b.rs"]);
    let expected = everything(&repo);
    assert!(attribute(&repo, &stored) == expected);
    let whole = std::fs::read(comparisons(&repo)).unwrap();
    assert!(whole.len() > first);
    let mut checked = 0;
    for at in (0..whole.len()).filter(|at| at % 13 == 0 || *at >= first || *at < 50) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x10;
        for damaged in [&flipped, &whole[..at]] {
            std::fs::write(comparisons(&repo), damaged).unwrap();
            assert!(attribute(&repo, &stored) == expected, "byte {at}");
            let repaired = std::fs::read(comparisons(&repo)).unwrap();
            assert!(at < first || repaired == whole, "byte {at} is repaired");
            checked += 1;
        }
    }
    assert!(checked > 100);
    // Segments after the damage are lost; segments appended later are found.
    std::fs::write(comparisons(&repo), &whole[..first - 1]).unwrap();
    attribute(&repo, &Stored::new());
    let repaired = std::fs::read(comparisons(&repo)).unwrap();
    attribute(&repo, &Stored::new());
    assert_eq!(std::fs::read(comparisons(&repo)).unwrap(), repaired);
    delete_old_contents(&repo);
    assert!(attribute(&repo, &stored) == expected);
}

#[test]
fn replaced_content_is_not_looked_up_under_its_old_id() {
    let repo = repository();
    let stored = attribute(&repo, &Stored::new());
    let old = repo.git(&["rev-parse", "HEAD~3:b.rs"]);
    let other = repo.git_with_input(&["hash-object", "-w", "--stdin"], lines("other", 40).as_bytes());
    repo.git(&["replace", old.trim(), other.trim()]);
    let expected = everything(&repo);
    assert!(expected != stored);
    // The stored attributions are invalid too, because the configuration has changed.
    assert!(attribute(&repo, &Stored::new()) == expected);
    repo.git(&["replace", "-d", old.trim()]);
    assert!(attribute(&repo, &Stored::new()) == stored);
}

#[test]
fn a_cache_that_cannot_be_written_does_not_change_the_result() {
    let repo = repository();
    std::fs::create_dir(comparisons(&repo)).unwrap();
    assert!(attribute(&repo, &Stored::new()) == everything(&repo));
    let history = repo.history(repo.unwritable_caches());
    assert!(increment(&history, &Stored::new()).0 == everything(&repo));
    history.save_diff_cache();
}

#[test]
fn a_rename_source_is_not_cached_while_an_object_is_missing() {
    let repo = Repo::new();
    repo.commit_file("x/a.rs", lines("line", 40));
    repo.git(&["mv", "x/a.rs", "a.rs"]);
    repo.commit_file("a.rs", changed(&lines("line", 40), 21));
    commit_on_top(&repo, &["a.rs"]);
    let expected = everything(&repo);
    let old = repo.git(&["rev-parse", "HEAD~2:x/a.rs"]);
    let object = repo.root.join(".git/objects").join(&old[..2]).join(old[2..].trim());
    let content = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    assert!(attribute(&repo, &Stored::new()) != expected);
    std::fs::write(&object, content).unwrap();
    assert!(attribute(&repo, &Stored::new()) == expected);
}
