//! System clocks that are wrong now or were wrong earlier.

use crate::fixture::{CACHE, Fixture, Run};

const NOW: &str = "2026-02-01T00:00:00Z";
/// Times before the Unix epoch, before every commit, long after every commit, and beyond the range of 32 bits.
const OTHERS: [&str; 4] =
    ["1960-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2100-01-01T00:00:00Z", "9000-01-01T00:00:00Z"];

fn at(fixture: &Fixture, time: &str, arguments: &[&str]) -> Run {
    Run::from_command(fixture.command().env("AURORA_TEST_NOW", time).args(arguments))
}

#[test]
fn searches_and_memory_work_with_jumping_clocks() {
    let fixture = Fixture::git();
    fixture.write("src/cache.py", CACHE).commit("first");
    let found = |time: &str| {
        let run = at(&fixture, time, &["mem", "search", "evict_oldest", "--format", "json"]);
        assert_eq!(run.code, Some(0), "{time}: {run:?}");
        let results = run.json()["results"].as_array().cloned().unwrap_or_default();
        for result in &results {
            // A number that is not finite would be null in JSON.
            assert!(result["score"].is_number(), "{time}: {result}");
        }
        let ids = results.iter().map(|result| result["id"].as_str().expect("the value is a string").to_owned());
        ids.collect::<Vec<_>>()
    };
    let add = |time: &str, text: &str| {
        let run = at(&fixture, time, &["mem", "add", "note", "-m", text, "--scope", "user"]);
        assert_eq!(run.code, Some(0), "{time}: {run:?}");
    };
    add(NOW, "The first note about evict_oldest");
    let before = found(NOW);
    assert!(before.len() >= 2, "{before:?}");
    for time in OTHERS {
        // The commands below, and those of the later iterations, also read this entry.
        add(time, &format!("A note of {time}"));
        for arguments in
            [&["mem", "index", "--force"][..], &["mem", "feedback", "good", "src/cache.py:9"], &["mem", "list"]]
        {
            let run = at(&fixture, time, arguments);
            assert_eq!(run.code, Some(0), "{time} {arguments:?}: {run:?}");
        }
        assert!(found(time).contains(&before[0]), "{time}");
        assert!(found(NOW).contains(&before[0]), "after {time}");
    }
    assert_eq!(at(&fixture, NOW, &["mem", "verify"]).code, Some(0));
}

#[test]
fn a_prune_that_deletes_everything_warns_about_the_clock() {
    let fixture = Fixture::git();
    fixture.write_for_user("config.toml", "[memory.policy.mine]\ncondition = 'age_days >= 0'\nlifespan = '30_days'\n");
    let added = at(&fixture, NOW, &["mem", "add", "note", "-m", "A note", "--scope", "user"]);
    assert_eq!(added.code, Some(0), "{added:?}");
    let now = at(&fixture, NOW, &["mem", "prune", "--memory", "user"]);
    assert!(now.out.contains("0 deleted, 1 kept") && !now.err.contains("clock"), "{now:?}");
    let later = at(&fixture, "2100-01-01T00:00:00Z", &["mem", "prune", "--memory", "user"]);
    assert!(later.out.contains("1 deleted, 0 kept") && later.err.contains("check the system clock"), "{later:?}");
    let undone = at(&fixture, NOW, &["mem", "undo", "note:a-note"]);
    assert_eq!(undone.code, Some(0), "{undone:?}");
}
