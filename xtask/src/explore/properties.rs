//! Finds the randomised tests in the source code, so that no list has to be maintained.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;

use super::job::Job;
use super::targets::Target;

/// Number of cases of a test that does not set the number itself. The default of proptest is 256.
const CASES: u64 = 2_048;
/// Maximum number of rejected cases. The default of proptest is 1,024, which is intended for 256 cases.
const REJECTS: u64 = 16 * CASES;
/// Number of kills in a job.
const KILLS: u64 = 10;
/// Names of the tests that kill processes at random moments.
const KILLING: [&str; 2] =
    ["a_kill_at_any_moment_leaves_the_old_index_or_the_new_one", "a_kill_at_any_moment_loses_no_acknowledged_write"];

/// Returns the jobs for all property tests. Tests that set their number of cases get separate jobs.
pub(crate) fn jobs(targets: &[Target]) -> Result<Vec<Job>, String> {
    let mut jobs = Vec::new();
    for target in targets {
        let known = drawn_below(&target.directory);
        let mut by_configuration: BTreeMap<bool, Vec<String>> = BTreeMap::new();
        for test in target.tests()? {
            let name = test.rsplit("::").next().unwrap_or(&test);
            if KILLING.contains(&name) {
                jobs.push(Job::new(target, vec![test], &["AURORA_TEST_SEED"]).with("AURORA_TEST_KILLS", KILLS));
            } else if let Some(&configured) = known.get(name) {
                by_configuration.entry(configured).or_default().push(test);
            }
        }
        for (configured, tests) in by_configuration {
            let job = Job::new(target, tests, &["PROPTEST_RNG_SEED"]);
            let job = job.with("PROPTEST_MAX_GLOBAL_REJECTS", REJECTS);
            jobs.push(if configured { job } else { job.with("PROPTEST_CASES", CASES) });
        }
    }
    Ok(jobs)
}

/// Returns the property tests in the source files of a package, and for each whether it sets its number of cases.
fn drawn_below(package: &Path) -> BTreeMap<String, bool> {
    let mut found = BTreeMap::new();
    let mut open = vec![package.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_build = name == "target" || name.as_encoded_bytes().starts_with(b".");
            if path.is_dir() && !is_build {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.extend(drawn_in(&fs::read_to_string(path).unwrap_or_default()));
            }
        }
    }
    found
}

/// Returns the property tests in a source file, and for each whether it sets its number of cases.
fn drawn_in(source: &str) -> Vec<(String, bool)> {
    let heads = Regex::new(r"(?s)^.{0,200}?\bfn (\w+)\(([^{]*?)\)\s*(?:->[^{]*)?\{").expect("a valid pattern");
    let mut found = Vec::new();
    // The configuration, if any, is after the last `proptest!` before a test.
    let mut configured = false;
    for (number, piece) in source.split("#[test]").enumerate() {
        if number > 0
            && let Some(head) = heads.captures(piece)
        {
            let is_drawn = head[2].contains(" in ") || head[2].contains(": ");
            let by_hand = piece.split("\n}").next().is_some_and(|body| body.contains("TestRunner::new"));
            if is_drawn || by_hand {
                found.push((head[1].to_owned(), configured || by_hand));
            }
        }
        if let Some(at) = piece.rfind("proptest! {") {
            configured = piece[at..].contains("proptest_config");
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::drawn_in;

    #[test]
    fn tests_that_draw_are_found_with_their_configuration() {
        let source = "
            #[test]
            fn plain() { let a: u32 = 1; for b in 0..a {} }
            proptest! {
                #[test]
                fn drawn(a in 0..3u32) {}
                #[test]
                #[cfg(unix)]
                fn drawn_from_two(
                    a in prop::collection::vec(any::<u8>(), 0..9),
                    b in \"[a-z]*\",
                ) { check(a); }
            }
            proptest! {
                #![proptest_config(ProptestConfig::with_cases(8))]
                #[test]
                fn few(a: u8) {}
            }
            #[test]
            fn by_hand() { TestRunner::new(config).run(); }";
        let found = drawn_in(source);
        let expected = [("drawn", false), ("drawn_from_two", false), ("few", true), ("by_hand", true)];
        assert_eq!(found, expected.map(|(name, configured)| (name.to_owned(), configured)));
    }
}
