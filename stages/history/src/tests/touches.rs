//! Compares touch counts with `git log -L`, first on small histories, one for each rule, and then on random histories.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

use super::fixture::{Repo, lines};
use super::generator::{Random, repository_without_links, seeds};
use crate::{AttributedFile, EventIndex, EventKey, History, Options, WorkingCopy};

const SEEDS: u64 = 10;
const COMMITS: usize = 45;
const RANGES: usize = 4;

/// Compares the touch counts of `ranges` with git, and returns the counts.
fn check(repo: &Repo, path: &str, ranges: &[Range<u32>]) -> Vec<u32> {
    let (history, index) = repo.open();
    let counts = history.touch_counts(&index, path, ranges, None).unwrap();
    let expected: Vec<u32> = ranges.iter().map(|range| repo.git_touches(path, range).len() as u32).collect();
    assert_eq!(counts, expected, "{path} in {}", repo.root.display());
    let found = history.attribute(&index, &|_, _| None, path, None, ranges).unwrap();
    assert_eq!((found.blame.committed.blame, found.touches), (history.blame(&index, path).unwrap(), expected));
    counts
}

fn replaced(text: &str, line: &str, by: &str) -> String {
    let changed = text.replace(&format!("{line}\n"), by);
    assert_ne!(changed, text);
    changed
}

#[test]
fn counts_commits_without_remaining_lines() {
    let repo = Repo::new();
    let text = lines("base", 12);
    repo.commit_file("file", &text);
    repo.commit_file("file", replaced(&text, "base 4", "first\n"));
    repo.commit_file("file", replaced(&text, "base 4", "second\n"));
    repo.commit_file("file", replaced(&text, "base 4", "base 4\n# end\n"));
    repo.commit_file("file", &text);
    assert_eq!(check(&repo, "file", &[4..5, 3..6, 0..4, 5..12, 0..12]), [4, 5, 1, 1, 5]);
}

#[test]
fn follows_a_rename_and_counts_it_only_if_lines_change() {
    let repo = Repo::new();
    repo.commit_file("old/name.rs", lines("alpha", 20));
    repo.git(&["mv", "old/name.rs", "name.rs"]);
    repo.write("name.rs", replaced(&lines("alpha", 20), "alpha 3", "beta\n"));
    repo.commit("rename");
    repo.git(&["mv", "name.rs", "again.rs"]);
    repo.commit("rename once more");
    assert_eq!(check(&repo, "again.rs", &[0..3, 0..4, 4..20]), [1, 2, 1]);
}

#[test]
fn a_range_ends_where_its_lines_were_added() {
    let repo = Repo::new();
    let text = lines("base", 10);
    repo.commit_file("file", &text);
    repo.commit_file("file", replaced(&text, "base 2", "two\n"));
    let longer = replaced(&text, "base 2", "two\n") + &lines("new", 4);
    repo.commit_file("file", &longer);
    repo.commit_file("file", replaced(&longer, "new 1", "one\n"));
    assert_eq!(check(&repo, "file", &[10..14, 11..12, 12..14, 8..12, 2..3]), [2, 2, 1, 3, 2]);
}

#[test]
fn removed_lines_touch_a_range_only_if_they_are_inside_it() {
    let repo = Repo::new();
    let text = lines("base", 12);
    repo.commit_file("file", &text);
    repo.commit_file("file", replaced(&text, "base 5", ""));
    assert_eq!(check(&repo, "file", &[0..5, 5..11, 4..6, 4..5, 5..6]), [1, 1, 2, 1, 1]);
    repo.commit_file("file", replaced(&replaced(&text, "base 5", ""), "base 0", ""));
    repo.commit_file("file", replaced(&replaced(&replaced(&text, "base 5", ""), "base 0", ""), "base 11", ""));
    assert_eq!(check(&repo, "file", &[0..9, 0..1, 8..9, 3..4, 3..5]), [2, 1, 1, 1, 2]);
}

#[test]
fn changes_slide_down_between_equal_lines() {
    let repo = Repo::new();
    let function = |name: &str| format!("fn {name}() {{\n    work();\n}}\n\n");
    repo.commit_file("file.rs", function("first") + &function("last"));
    repo.commit_file("file.rs", function("first") + &function("middle") + &function("last"));
    let ranges: Vec<Range<u32>> = (0..12).map(|line| line..line + 1).collect();
    check(&repo, "file.rs", &ranges);
    check(&repo, "file.rs", &[0..3, 4..7, 8..11, 3..8]);
}

/// Creates a file on two branches that are not merged yet. Line 5 was changed on one branch, and line 25 on the other
/// branch.
fn branches() -> Repo {
    let repo = Repo::new();
    let text = lines("base", 30);
    repo.commit_file("file", &text);
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit_file("file", replaced(&text, "base 5", "side\n"));
    repo.git(&["checkout", "-q", "main"]);
    repo.commit_file("file", replaced(&text, "base 25", "main\n"));
    repo
}

#[test]
fn a_range_follows_the_first_parent_without_a_difference() {
    let repo = branches();
    repo.git(&["merge", "-q", "side", "-m", "merge"]);
    assert_eq!(check(&repo, "file", &[0..10, 20..30, 10..20, 0..30]), [2, 2, 1, 4]);
    let other = branches();
    other.git(&["merge", "-q", "-s", "ours", "side", "-m", "take ours"]);
    assert_eq!(check(&other, "file", &[0..10, 20..30, 0..30]), [1, 2, 2]);
}

#[test]
fn a_merge_that_differs_from_all_parents_counts() {
    let repo = branches();
    repo.git(&["merge", "-q", "--no-commit", "side"]);
    let text = replaced(&replaced(&lines("base", 30), "base 5", "side\n"), "base 15", "evil\n");
    repo.write("file", text);
    repo.commit("merge, and change lines 15 and 25");
    assert_eq!(check(&repo, "file", &[0..10, 14..17, 20..30, 0..30, 10..15]), [2, 2, 1, 4, 1]);
}

#[test]
fn the_same_change_on_two_branches_counts_twice() {
    let repo = Repo::new();
    let text = lines("base", 30);
    repo.commit_file("file", &text);
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit_file("file", replaced(&text, "base 5", "both\n"));
    repo.git(&["checkout", "-q", "main"]);
    repo.commit_file("file", replaced(&text, "base 5", "both\n"));
    repo.git(&["merge", "-q", "--no-commit", "side"]);
    repo.write("file", replaced(&text, "base 5", "neither\n"));
    repo.commit("merge");
    assert_eq!(check(&repo, "file", &[5..6, 0..30, 6..30]), [4, 4, 1]);
}

#[test]
fn counts_in_a_changed_working_tree_equal_the_counts_after_a_commit() {
    let repo = Repo::new();
    let text = lines("base", 20);
    repo.commit_file("file", &text);
    repo.commit_file("file", replaced(&text, "base 12", "twelve\n"));
    let changed = replaced(&text, "base 12", "twelve\n").replace("base 3\n", "three\nand a half\n") + "last\n";
    let ranges = [0..3, 2..6, 12..15, 14..20, 20..22, 21..22, 30..40];
    let (history, index) = repo.open();
    let AttributedFile { blame, touches: counts } =
        history.attribute(&index, &|_, _| None, "file", Some(WorkingCopy::utf_8(&changed)), &ranges).unwrap();
    assert_eq!(blame.committed.blame, history.blame(&index, "file").unwrap());
    repo.commit_file("file", &changed);
    let after = check(&repo, "file", &ranges[..6]);
    let is_changed = [0, 1, 0, 0, 1, 1];
    let expected: Vec<u32> = after.iter().zip(is_changed).map(|(count, changed)| count - changed).chain([0]).collect();
    assert_eq!(counts, expected);
}

/// Git compares the file with the target of the link, as if the target were a line of the file.
#[test]
fn a_range_ends_where_a_symbolic_link_became_a_file() {
    let repo = Repo::new();
    let link = |target: &str| {
        std::os::unix::fs::symlink(target, repo.root.join("file")).unwrap();
        repo.commit("link");
        std::fs::remove_file(repo.root.join("file")).unwrap();
    };
    link("first");
    link("second");
    let file = repo.commit_file("file", lines("base", 3));
    let (history, index) = repo.open();
    let all = 0..3;
    assert_eq!(repo.git_touches("file", &all)[0], file);
    assert_eq!(repo.git_touches("file", &all).len(), 3);
    assert_eq!(history.touch_counts(&index, "file", &[all], None).unwrap(), [1]);
}

/// Returns random ranges of lines of the files at HEAD. Some ranges contain other ranges.
fn random_ranges(repo: &Repo, random: &mut Random) -> Vec<(String, Vec<Range<u32>>)> {
    let (history, index) = repo.open();
    let ranges = |path: String| {
        let lines = history.blame(&index, &path).unwrap().line_count();
        let mut ranges = Vec::new();
        while lines > 0 && ranges.len() < RANGES {
            let start = random.below(lines as usize) as u32;
            let end = start + 1 + random.below((lines - start) as usize) as u32;
            ranges.push(start..end);
            ranges.push(start + random.below((end - start) as usize) as u32..end);
        }
        (path, ranges)
    };
    repo.files().into_iter().map(ranges).collect()
}

fn random_history(seed: u64) -> (Repo, Random) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (repository_without_links(&mut random, COMMITS), random)
}

/// Counts may differ from git in two cases, both after a merge that split a range:
/// - If branches have the file under different names, git follows both names. An older merge that differs in one of the
///   names then also passes the other name to all of its parents. This crate follows each path separately.
/// - Git before 2.52 misses a change that begins right after one part of a range and reaches into the next part.
#[test]
fn touches_of_generated_histories_are_counted_as_in_git() {
    let (mut equal, mut all) = (0, 0);
    for seed in 101..=100 + seeds(SEEDS) {
        let (repo, mut random) = random_history(seed);
        let (history, index) = repo.open();
        for (path, ranges) in random_ranges(&repo, &mut random) {
            let counts = history.touch_counts(&index, &path, &ranges, None).unwrap();
            let found = history.attribute(&index, &|_, _| None, &path, None, &ranges).unwrap();
            assert_eq!(
                (&found.blame.committed.blame, &found.touches),
                (&history.blame(&index, &path).unwrap(), &counts)
            );
            for (range, count) in ranges.iter().zip(counts) {
                let expected = repo.git_touches(&path, range);
                if expected.len() != count as usize {
                    println!("seed {seed}, {path} {range:?}: {count}, but git says {}", expected.len());
                }
                equal += u32::from(expected.len() == count as usize);
                all += 1;
            }
        }
    }
    println!("{equal} of {all} counts are equal");
    assert!(equal * 100 >= all * 99, "{equal} of {all}");
}

/// A cache that contains about half of all counts, for any commit of a repository.
struct Oracle<'a> {
    repo: &'a Repo,
    opened: RefCell<BTreeMap<EventKey, (History, EventIndex)>>,
    hits: Cell<u32>,
}

impl Oracle<'_> {
    fn count(&self, path: &[u8], key: &EventKey, range: &Range<u32>) -> Option<u32> {
        let bytes = key.to_bytes();
        if (u32::from(bytes[0]) + range.start + range.end).is_multiple_of(2) {
            return None;
        }
        self.hits.set(self.hits.get() + 1);
        let mut opened = self.opened.borrow_mut();
        let (history, index) = opened.entry(*key).or_insert_with(|| {
            let commit: String = bytes[..20].iter().map(|byte| format!("{byte:02x}")).collect();
            self.repo.git(&["update-ref", "--no-deref", "HEAD", &commit]);
            self.repo.open()
        });
        assert_eq!(index.latest(path), Some(*key));
        Some(history.touch_counts(index, path, std::slice::from_ref(range), None).unwrap()[0])
    }
}

#[test]
fn cached_counts_do_not_change_the_result() {
    let mut hits = 0;
    for seed in 201..=200 + seeds(2 * SEEDS) {
        let (repo, mut random) = random_history(seed);
        let files = random_ranges(&repo, &mut random);
        let (history, index) = repo.open();
        let oracle = Oracle { repo: &repo, opened: RefCell::default(), hits: Cell::new(0) };
        let known = |path: &[u8], key: &EventKey, range: &Range<u32>| oracle.count(path, key, range);
        for (path, ranges) in files {
            let counts = history.touch_counts(&index, &path, &ranges, None).unwrap();
            assert_eq!(history.touch_counts(&index, &path, &ranges, Some(&known)).unwrap(), counts, "{path}");
        }
        hits += oracle.hits.get();
    }
    assert!(hits > 200, "{hits}");
}

#[test]
fn cached_counts_are_looked_up_by_the_path_below_the_opened_directory() {
    let repo = Repo::new();
    let text = lines("base", 20);
    repo.commit_file("outside", &text);
    std::fs::create_dir(repo.root.join("sub")).unwrap();
    repo.git(&["mv", "outside", "sub/file"]);
    repo.write("sub/file", replaced(&text, "base 4", "four\n"));
    repo.commit("move");
    repo.commit_file("sub/file", replaced(&text, "base 4", "five\n"));
    let history = History::open(&repo.root.join("sub"), Options::default()).unwrap().unwrap();
    let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).unwrap();
    let asked = RefCell::new(Vec::new());
    let ask = |path: &[u8], _: &EventKey, range: &Range<u32>| {
        asked.borrow_mut().push((String::from_utf8_lossy(path).into_owned(), range.clone()));
        (*range == (1..4)).then_some(70)
    };
    assert_eq!(history.touch_counts(&index, "file", &[4..6, 1..4], Some(&ask)).unwrap(), [3, 70]);
    let file = String::from("file");
    assert_eq!(asked.into_inner(), [(file.clone(), 4..6), (file.clone(), 1..4), (file, 4..6)]);
}

#[test]
fn counts_do_not_depend_on_the_number_of_threads() {
    let mut random = Random(0x70C4);
    let repo = repository_without_links(&mut random, 400);
    let files = random_ranges(&repo, &mut random);
    let count = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (history, index) = repo.open();
            let of = |(path, ranges): &(String, Vec<Range<u32>>)| {
                history.attribute(&index, &|_, _| None, path, None, ranges).unwrap().touches
            };
            files.par_iter().map(of).collect::<Vec<_>>()
        })
    };
    let serial = count(1);
    assert!(serial.iter().flatten().any(|&count| count > 10));
    assert_eq!(serial, count(4));
}
