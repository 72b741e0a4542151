//! Attributes the files of random histories and compares the results with git, line by line.

use rayon::prelude::*;

use super::fixture::Repo;
use super::generator::{NAMES, Random, repository, seeds};

const SEEDS: u64 = 12;
const COMMITS: usize = 45;

#[test]
fn generated_histories_are_attributed_as_in_git() {
    let mut of_files = 0;
    for seed in 1..=seeds(SEEDS) {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let repo = repository(&mut random, COMMITS);
        if seed % 3 == 0 {
            ignore_some(&repo, &mut random);
        }
        println!("seed {seed}");
        repo.check();
        of_files += check_file_histories(&repo);
    }
    assert!(of_files > 50, "{of_files}");
}

/// Compares the commits that touched each file with the commits that git lists.
fn check_file_histories(repo: &Repo) -> usize {
    let (_, index) = repo.open();
    let mut found = 0;
    // In git, a path that was a directory in some commits also matches the files in it.
    for path in NAMES.into_iter().filter(|&path| path != "z") {
        let Some(history) = index.file_history(path) else { continue };
        // Git counts a change of mode as a change, and aurora-history does not.
        let raw = repo.git(&["log", "--full-history", "-m", "--raw", "--format=", "HEAD", "--", path]);
        let modes = |line: &str| (line[1..7].to_owned(), line[8..14].to_owned());
        let is_file = |mode: &str| mode == "000000" || mode == "100644";
        if !raw.lines().map(modes).all(|(old, new)| is_file(&old) && is_file(&new)) {
            continue;
        }
        let listed = repo.git(&["log", "--format=%at %H", "HEAD", "--", path]);
        let mut times: Vec<i64> = listed.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
        times.sort_unstable_by(|left, right| right.cmp(left));
        assert_eq!(history.commit_times, times, "{path}");
        assert_eq!(history.commits as usize, times.len(), "{path}");
        assert!(history.newest.is_some_and(|newest| listed.contains(&newest.id.to_string())), "{path}");
        found += times.len();
    }
    found
}

/// Makes blame ignore about every fourth commit.
fn ignore_some(repo: &Repo, random: &mut Random) {
    let commits = repo.git(&["rev-list", "HEAD"]);
    let ignored: Vec<&str> = commits.lines().filter(|_| random.one_in(4)).collect();
    repo.write(".git/ignored", ignored.join("\n"));
    repo.git(&["config", "blame.ignoreRevsFile", ".git/ignored"]);
}

#[test]
fn attribution_does_not_depend_on_the_number_of_threads() {
    let repo = repository(&mut Random(0x5EED), 600);
    let attribute = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (history, index) = repo.open();
            let of = |path: &&str| (index.latest(path), index.event_count(path), history.blame(&index, path));
            NAMES.par_iter().map(of).collect::<Vec<_>>()
        })
    };
    let serial = attribute(1);
    assert!(serial.iter().any(|(_, events, _)| *events > 40));
    assert_eq!(serial, attribute(4));
}
