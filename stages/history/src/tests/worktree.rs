//! Tests of the attribution of files in the working tree, and of summaries of ranges of lines.

use super::fixture::{Repo, assert_same, lines};
use crate::{NOT_COMMITTED, WorkingCopy};

/// Writes `text` to the work tree and compares the attribution with `git blame` of the work tree.
fn check_worktree(repo: &Repo, path: &str, text: &str) {
    check_copy(repo, path, WorkingCopy::utf_8(text));
}

/// Writes the file to the work tree and compares the result with `git blame`. Returns the touch count of the whole
/// file.
fn check_copy(repo: &Repo, path: &str, copy: WorkingCopy<'_>) -> u32 {
    repo.write(path, copy.bytes);
    let (history, index) = repo.open();
    let ranges = [0..2, 0..u32::MAX, 40..60];
    let found = history.attribute(&index, &|_, _| None, path, Some(copy), &ranges).unwrap();
    let mut expected = repo.git_blame_worktree(path);
    // In UTF-16LE, git counts the zero byte that follows the last `\n` byte as a further line.
    expected.truncate(copy.text.lines().count());
    assert_same(&found.blame.worktree(), &expected, path);
    // The stored attribution gives the same result without a walk.
    let key = index.latest(path).unwrap();
    let carried = history.carry_over(&found.blame.committed, &key, copy, &ranges).unwrap();
    let touches = found.touches[1];
    assert_eq!(carried, Some(found));
    touches
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
fn carriage_returns_added_by_a_checkout_are_not_a_change() {
    let repo = Repo::new();
    repo.commit_file("file", lines("base", 20));
    repo.git(&["config", "core.autocrlf", "true"]);
    let text = lines("base", 20).replace("base 7\n", "seven\n").replace('\n', "\r\n");
    check_worktree(&repo, "file", &text);
    let (history, index) = repo.open();
    let blame =
        history.attribute(&index, &|_, _| None, "file", Some(WorkingCopy::utf_8(&text)), &[]).unwrap().blame.worktree();
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
fn attribution_equals_git_blame_in_any_encoding() {
    fn latin_1(text: &str) -> Vec<u8> {
        text.chars().map(|c| c as u8).collect()
    }
    fn utf_16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
    }
    let encodings: [fn(&str) -> Vec<u8>; 3] =
        [latin_1, |text| utf_16(text, u16::to_le_bytes), |text| utf_16(text, u16::to_be_bytes)];
    for (encode, newline) in encodings.into_iter().zip([&b"\n"[..], b"\n\0", b"\0\n"]) {
        let repo = Repo::new();
        let first = lines("caf\u{e9}", 40);
        let second = first.replace("\u{e9} 7\n", "\u{e9} seven\n");
        repo.commit_file("file", encode(&first));
        repo.commit_file("file", encode(&second));
        let edited = second.replace("\u{e9} 20\n", "\u{e9} twenty\nand \u{ea}\n").replace("\u{e9} 30\n", "");
        for text in [second.as_str(), &edited, second.trim_end()] {
            assert_eq!(check_copy(&repo, "file", WorkingCopy { bytes: &encode(text), text, newline }), 2);
        }
    }
}

#[test]
fn line_feed_bytes_within_utf_16_characters_do_not_end_a_line() {
    let repo = Repo::new();
    let encode = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let first = "one\n\u{a15}\u{a0a}\u{10a}\nthree\n";
    let second = first.replace("three", "four");
    repo.commit_file("file", encode(first));
    repo.commit_file("file", encode(&second));
    let (history, index) = repo.open();
    let copy = WorkingCopy { bytes: &encode(&second), text: &second, newline: b"\n\0" };
    let ranges = [0..1, 1..2, 2..3, 0..2];
    let found = history.attribute(&index, &|_, _| None, "file", Some(copy), &ranges).unwrap();
    assert_eq!(found.touches, [1, 1, 2, 1]);
    let blame = found.blame.worktree();
    assert_eq!(blame.line_count(), 3);
    assert_eq!(blame.commit_of(0), blame.commit_of(1));
    assert_eq!(blame.commit_of(2).map(|commit| &commit.id), history.head());
}

#[test]
fn a_checkout_in_another_encoding_is_unchanged() {
    let repo = Repo::new();
    repo.write(".gitattributes", "file working-tree-encoding=UTF-16LE-BOM\n");
    let text = lines("caf\u{e9}", 20);
    let encode =
        |text: &str| -> Vec<u8> { format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect() };
    repo.commit_file("file", encode(&text));
    assert!(repo.git(&["show", "HEAD:file"]).starts_with("caf\u{e9} 0\n"));
    for text in [text.as_str(), &text.replace(" 7\n", " seven\n"), &text.replace('\n', "\r\n")] {
        let copy = WorkingCopy { bytes: &encode(text), text, newline: b"\n\0" };
        if text.contains('\r') {
            repo.git(&["config", "core.autocrlf", "true"]);
        }
        check_copy(&repo, "file", copy);
    }
}

#[test]
fn a_byte_order_mark_is_part_of_the_content() {
    let repo = Repo::new();
    let text = lines("base", 20);
    let marked = format!("\u{feff}{text}");
    repo.commit_file("file", &text);
    check_copy(&repo, "file", WorkingCopy { bytes: marked.as_bytes(), text: &text, newline: b"\n" });
    repo.commit_file("file", &marked);
    check_copy(&repo, "file", WorkingCopy { bytes: marked.as_bytes(), text: &text, newline: b"\n" });
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
    let blame =
        history.attribute(&index, &|_, _| None, "file", Some(WorkingCopy::utf_8(&text)), &[]).unwrap().blame.worktree();
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
