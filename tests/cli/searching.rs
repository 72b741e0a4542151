//! The output of `aur mem search` for human readers.

use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::fixture::{Fixture, Run};
use crate::{command, indexed, repository, run, settings};

#[test]
fn results_are_shown_as_a_table() {
    let fixture = indexed();
    settings(&fixture).bind(|| {
        let found = run(&fixture, &["mem", "search", "UserManager", "--limit", "1"]);
        assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{found:?}");
        assert_snapshot!(found.out, @r"
        File                  | Type  | Name        | Lines | Score | Commits | Last Modified
        src/auth/manager.py:4 | class | UserManager | 4-11  | [.sss] | 2       | [time] ago
              4 │ class UserManager:
                also here: UserManager.authenticate_user 7-11
        ");
        let found = run(&fixture, &["mem", "search", "UserManager", "--limit", "1", "--legacy"]);
        assert_snapshot!(found.out, @r"
        File                  | Type  | Name        | Lines | Score
        src/auth/manager.py:4 | class | UserManager | 4-11  | [.sss]
              4 │ class UserManager:
                also here: UserManager.authenticate_user 7-11
        ");
        let found = run(&fixture, &["mem", "search", "untrackedHelper", "--limit", "1"]);
        assert_snapshot!(found.out, @r"
        File         | Type     | Name            | Lines | Score | Commits       | Last Modified
        scratch.js:1 | function | untrackedHelper | 1-3   | [.sss] | - (untracked) | - (untracked)
              1 │ export function untrackedHelper(value) {
        ");
    });
}

#[test]
fn scores_and_content_are_shown_in_boxes() {
    let fixture = indexed();
    let arguments =
        ["mem", "search", "hash_password", "--limit", "1", "--show-scores", "--show-content", "--no-record"];
    let found = run(&fixture, &arguments);
    assert_eq!(found.code, Some(0), "{found:?}");
    let widths: Vec<usize> = found
        .out
        .lines()
        .filter(|line| line.starts_with(['┌', '│', '└']))
        .map(|line| line.chars().map(|c| if c == '⭐' { 2 } else { 1 }).sum())
        .collect();
    assert!(widths.len() >= 6 && widths.iter().all(|width| *width == 100), "{}", found.out);
    for part in [
        "Final Score:",
        "BM25:",
        "Semantic:",
        "Activation:",
        "⭐ (exact keyword match on \"hash_password\")",
        "Git: 1 commit",
    ] {
        assert!(found.out.contains(part), "{part} in {}", found.out);
    }
    assert!(found.out.contains("│     return password[::-1]"), "{}", found.out);
    let legacy = run(&fixture, &["mem", "search", "hash_password", "--show-scores", "--legacy"]);
    assert!(legacy.out.contains("BM25:") && !legacy.out.contains("Last Modified"), "{}", legacy.out);
}

#[test]
fn short_forms_equal_the_long_form() {
    let fixture = indexed();
    let long = run(&fixture, &["mem", "search", "hash", "password", "--no-record"]);
    for short in [&["mem", "hash", "password"][..], &["m", "hash password"], &["mem", "--limit", "10", "hash password"]]
    {
        let arguments: Vec<&str> = short.iter().copied().chain(["--no-record"]).collect();
        let found = run(&fixture, &arguments);
        assert_eq!((found.code, &found.out), (Some(0), &long.out), "{short:?}");
    }
}

#[test]
fn a_misspelt_command_is_searched_for_and_the_command_suggested() {
    let fixture = indexed();
    let tip = "Tip: searched for \"evla\"; did you mean the command `aur mem eval`?\n";
    let table = run(&fixture, &["mem", "evla"]);
    assert_eq!(table.code, Some(0));
    assert!(table.err.starts_with(tip) && !table.out.contains("Tip"), "{table:?}");
    for asked in [&["mem", "evla", "--format", "json"][..], &["mem", "search", "evla"], &["mem", "evaluation"]] {
        let found = run(&fixture, asked);
        assert_eq!(found.code, Some(0));
        assert!(!found.err.contains("did you mean") && !found.out.contains("did you mean"), "{asked:?}: {found:?}");
    }
}

#[test]
fn filters_restrict_the_results() {
    let fixture = indexed();
    let files = |arguments: &[&str]| -> Vec<String> {
        let arguments: Vec<&str> = ["mem", "search", "user password retry timeout", "--format", "json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let found = run(&fixture, &arguments);
        assert_eq!(found.code, Some(0), "{found:?}");
        let results = found.json()["results"].as_array().expect("the value is a list").clone();
        results
            .iter()
            .map(|hit| {
                format!("{} {}", hit["type"].as_str().unwrap_or_default(), hit["file"].as_str().unwrap_or_default())
            })
            .collect()
    };
    let all = files(&[]);
    assert!(all.len() >= 4, "{all:?}");
    let methods = files(&["--type", "Method"]);
    assert!(!methods.is_empty() && methods.iter().all(|hit| hit.starts_with("method ")), "{methods:?}");
    let go = files(&["--lang", "go"]);
    assert!(!go.is_empty() && go.iter().all(|hit| hit.ends_with(".go")), "{go:?}");
    let below = files(&["--path", "src/auth/**"]);
    assert!(!below.is_empty() && below.iter().all(|hit| hit.contains(" src/auth/")), "{below:?}");
    assert!(files(&["--where", "owner=nobody"]).is_empty());
}

#[test]
fn copies_are_listed_below_the_best_copy() {
    let fixture = Fixture::plain();
    let job = |queue: &str| {
        format!(
            "def retry_failed_jobs(store, now):\n    renewed = []\n    for job in store.failed_jobs(before=now):\n        \
             if job.attempts >= store.most_attempts:\n            store.bury(job, reason=\"too many attempts\")\n            \
             continue\n        job.attempts += 1\n        job.wait = store.first_wait * 2 ** job.attempts\n        \
             renewed.append(store.{queue}(job, after=now + job.wait))\n    return renewed\n"
        )
    };
    fixture.write("Makefile", "");
    for (path, queue) in [("v1/jobs.py", "push"), ("v2/jobs.py", "push"), ("v3/jobs.py", "enqueue")] {
        fixture.write(path, job(queue));
    }
    let ask = |extra: &[&str]| {
        let arguments = ["mem", "search", "retrying of jobs that failed", "--no-record"];
        run(&fixture, &[&arguments, extra].concat())
    };
    let found: serde_json::Value = serde_json::from_str(&ask(&["--format", "json"]).out).expect("the text is JSON");
    let results = found["results"].as_array().expect("the value is a list");
    assert_eq!((results.len(), &results[0]["copies"]["count"]), (1, &2.into()), "{found}");
    let places: Vec<&str> = results[0]["copies"]["places"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .filter_map(|place| place.as_str())
        .collect();
    assert!(places.len() == 2 && places.iter().all(|place| place.ends_with("/jobs.py:1")), "{found}");
    let listed = places.join(", ");
    assert!(ask(&[]).out.ends_with(&format!("        also in {listed}\n")), "{}", ask(&[]).out);
    assert!(ask(&["--show-scores"]).out.contains(&format!("│ Copies: {listed} ")));
    assert!(!ask(&["--snippets=0"]).out.contains("also in"));
}

#[test]
fn tables_rank_files_and_json_ranks_chunks() {
    let fixture = indexed();
    let files = |arguments: &[&str]| {
        let found = run(&fixture, &[&["mem", "search", "user password", "--format", "json"], arguments].concat());
        let found: serde_json::Value = serde_json::from_str(&found.out).expect("the text is JSON");
        let hits = found["results"].as_array().expect("the value is a list").clone();
        let rows: usize = hits.iter().map(|hit| hit["rows"].as_array().map_or(0, Vec::len)).sum();
        let files: Vec<String> =
            hits.iter().map(|hit| hit["file"].as_str().expect("the value is a string").to_owned()).collect();
        let distinct: BTreeSet<&String> = files.iter().collect();
        (files.len(), distinct.len(), rows)
    };
    let (chunks, of_chunks, none) = files(&[]);
    assert!(chunks > of_chunks && none == 0, "{chunks} {of_chunks}");
    let (places, distinct, rows) = files(&["--group", "file"]);
    assert!(places == distinct && rows > 0, "{places} {distinct} {rows}");
    assert_eq!(files(&["--group", "chunk"]), (chunks, of_chunks, 0));
    let table = run(&fixture, &["mem", "search", "user password"]).out;
    assert!(table.contains("also here: "), "{table}");
    assert!(!run(&fixture, &["mem", "search", "user password", "--group", "chunk"]).out.contains("also here: "));
}

#[test]
fn a_search_without_results_succeeds() {
    let fixture = indexed();
    let found = run(&fixture, &["mem", "search", "zyzzyva", "--mode", "sparse"]);
    assert_eq!((found.code, found.out.as_str()), (Some(0), ""), "{found:?}");
    assert!(found.err.contains("no results for \"zyzzyva\""), "{}", found.err);
}

#[test]
fn a_search_without_an_index_builds_one() {
    let fixture = repository();
    let found = run(&fixture, &["mem", "search", "RetryWithBackoff", "--limit", "1"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.err.contains("no index yet; indexing"), "{}", found.err);
    assert!(found.out.contains("retry.go"), "{}", found.out);
    let again = run(&fixture, &["mem", "search", "RetryWithBackoff", "--limit", "1"]);
    assert_eq!(again.err, "");
}

#[test]
fn a_search_below_the_root_uses_its_index() {
    let fixture = indexed();
    let mut below = command(&fixture);
    let found = Run::from_command(below.current_dir(fixture.path("src/auth")).args([
        "mem",
        "RetryWithBackoff",
        "--limit",
        "1",
    ]));
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.out.contains("src/http/retry.go"), "{}", found.out);
    assert!(!fixture.path("src/auth/.aurora").exists());
}

#[test]
fn shown_results_are_recorded_unless_disabled() {
    let fixture = indexed();
    let count = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["mem", "search", "hash_password", "--limit", "1", "--format", "json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        run(&fixture, &arguments).json()["results"][0]["access"]["count"].clone()
    };
    assert_eq!(count(&["--no-record"]), 0);
    assert_eq!(count(&[]), 0);
    assert_eq!(count(&["--no-record"]), 1);
    assert_eq!(count(&["--no-record"]), 1);
}

#[cfg(unix)]
#[test]
fn control_characters_of_a_repository_do_not_reach_the_terminal() {
    let fixture = Fixture::plain();
    fixture.write("Makefile", "");
    fixture.write("evil\x1b]0;owned\x07.py", "def evil_function():\n    return '\x1b[31mred\u{9b}2J'\n");
    let arguments = ["mem", "search", "evil_function", "--show-scores", "--show-content"];
    for extra in [&[][..], &["--format", "json"], &["--format", "jsonl"]] {
        let arguments: Vec<&str> = arguments.iter().chain(extra).copied().collect();
        let found = run(&fixture, &arguments);
        assert_eq!(found.code, Some(0), "{found:?}");
        assert!(found.out.contains("evil_function"), "{}", found.out);
        for text in [&found.out, &found.err] {
            assert!(!text.replace('\n', "").contains(char::is_control), "{text:?}");
        }
    }
}

/// The header `lock.h` has a shorter path than the definitions. Without the rule for definitions, the shorter path
/// would favour the header.
#[test]
fn a_definition_ranks_above_its_declaration() {
    let fixture = indexed();
    fixture.write(
        "lock.h",
        "class Lock {\n public:\n  void GetSharedLock(int key) const;\n};\nint lock_shared_page(int page);\n",
    );
    fixture.write(
        "src/core/lock.cc",
        "#include \"lock.h\"\n\nvoid Lock::GetSharedLock(int key) const {\n  take(key);\n}\n",
    );
    fixture.write("src/core/page.c", "int lock_shared_page(int page) {\n  return page;\n}\n");
    run(&fixture, &["mem", "index"]);
    for (name, file) in [("GetSharedLock", "src/core/lock.cc"), ("lock_shared_page", "src/core/page.c")] {
        let found = run(&fixture, &["mem", "search", name, "--format", "json"]).json();
        let files: Vec<_> = (0..2).map(|at| found["results"][at]["file"].as_str()).collect();
        assert_eq!(files, [Some(file), Some("lock.h")], "{name}: {found}");
    }
}
