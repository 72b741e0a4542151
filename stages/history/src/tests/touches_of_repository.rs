//! Measures touch counts of a real repository, whose path is in the environment variable `AURORA_HISTORY_REPOSITORY`:
//! do the counts agree with `git log -L`, and how much time do they add to blame?
//!
//! Run with `cargo test -p aurora-history --lib touches_of_repository -- --ignored --nocapture`.

use std::ops::Range;
use std::sync::OnceLock;
use std::time::Instant;

use super::fixture::Repo;
use super::generator::Random;
use crate::{EventIndex, History};

/// The default number of ranges to compare with git. `AURORA_HISTORY_RANGES` overrides it.
const RANGES: usize = 40;
/// Minimum number of lines of a randomly chosen file.
const MIN_LINES: u32 = 20;

fn repository() -> Repo {
    let root = std::env::var_os("AURORA_HISTORY_REPOSITORY").expect("AURORA_HISTORY_REPOSITORY names a repository");
    Repo::existing(root.into())
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

/// Chooses a random file and a random range of its lines.
fn draw(random: &mut Random, files: &[String], history: &History, index: &EventIndex) -> (String, Range<u32>) {
    loop {
        let path = &files[random.below(files.len())];
        let lines = history.blame(index, path).map_or(0, |blame| blame.line_count());
        if lines >= MIN_LINES {
            let len = 1 + random.below(60.min(lines as usize));
            let start = random.below(lines as usize - len + 1) as u32;
            return (path.clone(), start..start + len as u32);
        }
    }
}

#[test]
#[ignore = "needs a repository with a long history"]
fn touches_of_random_ranges_are_counted_as_in_git() {
    let repo = repository();
    let mut random = Random(0x000A_0707_A000 + number("AURORA_HISTORY_SEED", 1) as u64);
    let files = repo.files();
    let (history, index) = repo.open();
    let ranges = number("AURORA_HISTORY_RANGES", RANGES);
    let (mut compared, mut equal, mut farthest) = (0, 0, 0);
    while compared < ranges {
        let (path, range) = draw(&mut random, &files, &history, &index);
        let found = history.touch_counts(&index, &path, std::slice::from_ref(&range), None).unwrap()[0];
        // Git fails if an object is missing, as in a partial clone without its remote.
        let Some(expected) = repo.try_git_touches(&path, &range).map(|commits| commits.len() as u32) else { continue };
        compared += 1;
        if found == expected {
            equal += 1;
        } else {
            println!("{path} {}..{}: {found}, but git says {expected}", range.start, range.end);
        }
        farthest = farthest.max(found.abs_diff(expected));
    }
    println!("{equal} of {ranges} counts are equal, the others differ by at most {farthest}");
    assert!(equal * 10 >= ranges * 9 && farthest <= 1);
}

/// Returns the CPU time of the thread in seconds, or the elapsed time on systems that do not report CPU time.
fn clock() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let of_thread = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = of_thread.and_then(|times| times.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed().as_secs_f64(), |time| time / 1e9)
}

/// Splits a file of `lines` lines twice: into ranges of 40 lines, and into ranges of 200 lines.
fn windows(lines: u32) -> Vec<Range<u32>> {
    let cut = |size: u32| (0..lines.div_ceil(size)).map(move |at| at * size..((at + 1) * size).min(lines));
    cut(40).chain(cut(200)).collect()
}

#[test]
#[ignore = "needs a repository with a long history"]
fn measures_the_cost_of_touches_on_top_of_blame() {
    let repo = repository();
    let files = repo.files();
    // Measure blame alone and blame with touches alternately, file by file, so that both run under the same load. Each
    // measurement has separate caches in memory.
    let ((first, index), (second, _), (third, _)) = (repo.open(), repo.open(), repo.open());
    let (mut blame_time, mut both_time, mut ranges) = (0.0, 0.0, 0);
    for (at, path) in files.iter().enumerate() {
        let Ok(blame) = first.blame(&index, path) else { continue };
        let windows = windows(blame.line_count());
        ranges += windows.len();
        let mut both = || {
            let start = clock();
            let found = second.attribute(&index, &|_, _| None, path, None, &windows).unwrap();
            assert_eq!(found.blame.committed.blame, blame, "{path}");
            both_time += clock() - start;
        };
        if at % 2 == 0 {
            both();
        }
        let start = clock();
        assert_eq!(third.blame(&index, path).unwrap(), blame, "{path}");
        blame_time += clock() - start;
        if at % 2 == 1 {
            both();
        }
    }
    println!("{} files, {ranges} ranges: blame {blame_time:.2} s, with touches {both_time:.2} s", files.len());
    println!("touches add {:.2} times the time of blame", both_time / blame_time - 1.0);
}
