//! Tests that attributing a new HEAD with the caches of earlier walks gives the same result as a walk of the whole
//! history.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::fixture::{Repo, lines};
use super::generator::{NAMES, Random, repository, seeds};
use crate::{CachedAttribution, EventIndex, EventKey, FileAttribution, History, Mask, Options, WorkingCopy};

const SEEDS: u64 = 6;
const COMMITS: usize = 60;

/// The attributions that a run stores for the next run, by path and key.
pub(super) type Stored = HashMap<(&'static str, EventKey), Arc<FileAttribution>>;

/// Attributes all files at HEAD with the stored attributions, and returns the number of commits that had to be
/// compared.
pub(super) fn increment(history: &History, stored: &Stored) -> (Stored, usize) {
    let compared = AtomicUsize::new(0);
    let count = |done: usize, _: usize| _ = compared.fetch_max(done, Ordering::Relaxed);
    let index = history.index_events(&AtomicBool::new(false), &count).unwrap();
    let known = |path: &[u8], key: &EventKey| {
        let path = NAMES.iter().find(|name| name.as_bytes() == path)?;
        stored.get(&(*path, *key)).cloned()
    };
    (at_head(history, &index, &known), compared.into_inner())
}

/// Returns the attribution of every file at HEAD, with the touch counts of some ranges of lines.
fn at_head(history: &History, index: &EventIndex, known: &CachedAttribution<'_>) -> Stored {
    let attribute = |path: &'static str, key: EventKey| {
        let text = std::process::Command::new("git")
            .current_dir(history.root())
            .args(["show", &format!("HEAD:{path}")])
            .output()
            .unwrap()
            .stdout;
        let text = String::from_utf8(text).unwrap();
        let ranges = [0..5, 0..u32::MAX, 3..12, 12..20, 20..40];
        let found = history.attribute(index, known, path, Some(WorkingCopy::utf_8(&text)), &ranges).unwrap();
        assert_eq!(found.touches, history.touch_counts(index, path, &ranges, None).unwrap(), "{path}");
        ((path, key), Arc::new(found.blame.committed))
    };
    NAMES.iter().filter_map(|&path| Some(attribute(path, index.latest(path)?))).collect()
}

pub(super) fn everything(repo: &Repo) -> Stored {
    let (history, index) = repo.open();
    at_head(&history, &index, &|_, _| None)
}

#[test]
fn increments_are_equal_to_a_walk_of_the_whole_history() {
    for seed in 1..=seeds(SEEDS) {
        let mut random = Random(seed.wrapping_mul(0xA24B_AED4_963E_E407));
        let repo = repository(&mut random, COMMITS);
        let commits = repo.git(&["rev-list", "--topo-order", "--reverse", "main"]);
        let commits: Vec<&str> = commits.lines().collect();
        let (mut stored, mut seen) = (Stored::new(), 0);
        for step in 0..12 {
            // HEAD moves mostly forward, as after a pull, and sometimes back or to another branch, as after a reset or
            // a switch.
            let to = if random.one_in(3) { random.below(commits.len()) } else { (step + 1) * commits.len() / 12 - 1 };
            repo.git(&["update-ref", "refs/heads/main", commits[to]]);
            let history = repo.history(repo.caches());
            let (now, compared) = increment(&history, &stored);
            history.save_diff_cache();
            assert!(now == everything(&repo), "seed {seed}, step {step}: {}", commits[to]);
            // Attributions under other keys stay valid.
            stored.extend(now);
            seen += compared;
        }
        assert!(seen <= commits.len(), "{seen} of {} commits were compared", commits.len());
    }
}

#[test]
fn a_damaged_cached_walk_is_computed_again() {
    let repo = Repo::new();
    repo.commit_file("file", "one\n");
    let last = repo.commit_file("file", "one\ntwo\n");
    let history = repo.history(repo.caches());
    let walk = repo.root.join(".git").join("walk");
    let compared = || increment(&history, &Stored::new()).1;
    assert_eq!(compared(), 2);
    assert_eq!(compared(), 0);
    let whole = std::fs::read(&walk).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&walk, damaged).unwrap();
        assert_eq!(compared(), 2, "byte {at}");
        std::fs::write(&walk, &whole[..at]).unwrap();
        assert_eq!(compared(), 2, "cut at {at}");
    }
    assert_eq!(std::fs::read(&walk).unwrap(), whole);
    // The boundary of a shallow clone changes the parents of commits.
    repo.write(".git/shallow", format!("{last}\n"));
    assert_eq!(increment(&repo.history(repo.caches()), &Stored::new()).1, 1);
}

#[test]
fn segments_before_a_damaged_segment_are_still_used() {
    let repo = Repo::new();
    let walk = repo.root.join(".git").join("walk");
    let compared = || increment(&repo.history(repo.caches()), &Stored::new()).1;
    repo.commit_file("a.rs", "one\n");
    assert_eq!(compared(), 1);
    let first = std::fs::metadata(&walk).unwrap().len() as usize;
    repo.commit_file("a.rs", "one\ntwo\n");
    repo.commit_file("b.rs", "three\n");
    assert_eq!(compared(), 2);
    let whole = std::fs::read(&walk).unwrap();
    for at in first..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x40;
        std::fs::write(&walk, damaged).unwrap();
        assert_eq!(compared(), 2, "byte {at}");
        assert_eq!(std::fs::read(&walk).unwrap(), whole, "byte {at} is repaired");
        std::fs::write(&walk, &whole[..at]).unwrap();
        assert_eq!((compared(), compared()), (2, 0), "cut at {at}");
    }
}

#[test]
fn a_walk_cache_that_cannot_be_written_does_not_change_the_result() {
    let repo = Repo::new();
    repo.commit_file("a.rs", "one\n");
    let (found, compared) = increment(&repo.history(repo.unwritable_caches()), &Stored::new());
    assert_eq!((found.len(), compared), (1, 1));
}

#[test]
fn paths_with_secrets_are_followed_and_are_masked_in_caches() {
    let repo = Repo::new();
    // After masking, both names are equal. The first file is moved and then renamed; the second file is moved and
    // renamed in one commit.
    repo.commit_file("keys/token-aaaa.txt", lines("first", 20));
    repo.commit_file("keys/token-bbbb.txt", lines("second", 20));
    repo.git(&["mv", "keys/token-aaaa.txt", "token-aaaa.txt"]);
    repo.commit("move");
    repo.git(&["mv", "token-aaaa.txt", "first.txt"]);
    repo.git(&["mv", "keys/token-bbbb.txt", "second.txt"]);
    repo.commit("rename");
    repo.commit_file("token-aaaa/in.txt", lines("third", 20));
    repo.git(&["mv", "token-aaaa/in.txt", "in.txt"]);
    repo.commit("move");
    let apply = |text: String| text.replace("token-aaaa", "token-____").replace("token-bbbb", "token-____");
    for (version, compared) in [(1, 6), (1, 0), (2, 6)] {
        let history = repo.history(Options { mask: Some(Mask { apply, version }), ..repo.caches() });
        let count = AtomicUsize::new(0);
        let index =
            history.index_events(&AtomicBool::new(false), &|done, _| _ = count.fetch_max(done, Ordering::Relaxed));
        assert_eq!(count.into_inner(), compared, "version {version}");
        for path in ["first.txt", "second.txt", "in.txt"] {
            assert_eq!(history.blame(index.as_ref().unwrap(), path).unwrap(), repo.blame(path), "{path}");
        }
        history.save_diff_cache();
        for cache in ["walk", "comparisons"] {
            let stored = std::fs::read(repo.root.join(".git").join(cache)).unwrap();
            let holds = |part: &[u8]| stored.windows(part.len()).any(|window| window == part);
            assert!(!holds(b"token-aaaa") && !holds(b"token-bbbb"), "{cache}");
            assert!(holds(b"token-____"), "{cache}");
        }
    }
}
