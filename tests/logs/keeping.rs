//! `aur logs maintain`, and the maintenance that `aur log write` performs.

use crate::fixture::{Fixture, Run};
use crate::{OAUTH, days_ago, files, path, put_log, write};

fn some_logs() -> Fixture {
    let fixture = Fixture::plain();
    for (name, days) in [("today", 0), ("week", 7), ("older", 8), ("kept", 90), ("gone", 91), ("long-gone", 400)] {
        put_log(&fixture, name, days, format!("{name} {}\n", "text ".repeat(200)));
    }
    fixture
}

fn names(fixture: &Fixture) -> Vec<String> {
    let days = |days: i64| format!("-{}", days_ago(days));
    let short = |file: &String| {
        let name = file.rsplit('/').next().unwrap_or(file).to_owned();
        [0, 7, 8, 90, 91, 400].iter().fold(name, |name, ago| name.replace(&days(*ago), ""))
    };
    let mut names: Vec<_> = files(fixture).iter().map(short).collect();
    names.sort();
    names
}

#[test]
fn old_logs_are_compressed_and_older_ones_removed() {
    let fixture = some_logs();
    let dry = fixture.aur(&["logs", "maintain", "--dry-run"]);
    assert_eq!((dry.code, names(&fixture).len()), (Some(0), 6), "{dry:?}");
    let actions = dry.out.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "));
    let mut actions: Vec<_> = actions.collect();
    actions.sort();
    assert_eq!(
        actions,
        ["Would compress", "would compress", "would compress", "would remove", "would remove"],
        "{dry:?}"
    );
    assert!(dry.out.ends_with("Would compress 2 logs, remove 2, 2 unchanged\n"), "{dry:?}");
    let json = fixture.aur(&["logs", "maintain", "--dry-run", "--format", "json"]).json();
    assert_eq!(
        (&json["dry_run"], &json["compressed"], json["actions"].as_array().map(Vec::len)),
        (&true.into(), &2.into(), Some(4))
    );

    let run = fixture.aur(&["logs", "maintain"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.out.starts_with("Compressed 2 logs (") && run.out.contains("removed 2, 2 unchanged"), "{run:?}");
    assert_eq!(names(&fixture), ["kept.md.gz", "older.md.gz", "today.md", "week.md"]);
    let json = fixture.aur(&["logs", "maintain", "--format", "json"]).json();
    assert_eq!(
        (&json["compressed"], &json["removed"], &json["kept"], &json["complete"]),
        (&0.into(), &0.into(), &4.into(), &true.into())
    );
    assert_eq!(fixture.aur(&["logs", "search", "older"]).code, Some(0));
}

#[test]
fn writing_a_log_maintains_the_logs_once_a_day() {
    let fixture = some_logs();
    let run = crate::feed(&fixture, &["log", "write"], OAUTH);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.contains("2 logs older than 90 days were removed"), "{run:?}");
    assert!(run.err.contains("2 logs older than 7 days were compressed"), "{run:?}");
    // The log that was just written is kept, regardless of its date.
    assert!(path(&fixture, "2025/12/oauth-authentication-2025-12-13.md").exists());
    put_log(&fixture, "older", 9, "text");
    write(&fixture, OAUTH);
    assert!(files(&fixture).iter().any(|file| file.ends_with(&format!("older-{}.md", days_ago(9)))));
    // Pretend that the last maintenance was a day ago.
    let stamp =
        std::fs::File::options().append(true).open(path(&fixture, ".maintained")).expect("the file can be opened");
    stamp
        .set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(25 * 3_600))
        .expect("the modification time can be set");
    write(&fixture, OAUTH);
    assert!(files(&fixture).iter().any(|file| file.ends_with(&format!("older-{}.md.gz", days_ago(9)))));
}

#[test]
fn a_jumping_clock_removes_no_log_without_a_request() {
    let fixture = some_logs();
    write(&fixture, OAUTH);
    let kept = files(&fixture);
    let at = |time: &str, arguments: &[&str]| {
        let mut command = fixture.command();
        let text = std::fs::File::open(path(&fixture, &kept[0])).expect("the file can be opened");
        Run::from_command(command.args(arguments).env("AURORA_TEST_NOW", time).stdin(text))
    };
    for time in ["2100-01-01T00:00:00Z", "1960-01-01T00:00:00Z", "2100-06-01T00:00:00Z"] {
        let run = at(time, &["log", "write", "--query", "retry"]);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert_eq!(
            run.err.contains("if the clock is right, `aur logs maintain` maintains them"),
            time.starts_with("21"),
            "{run:?}"
        );
        assert!(kept.iter().all(|file| path(&fixture, file).exists()), "{time}: {:?}", files(&fixture));
    }
    let run = at("2100-06-01T00:00:00Z", &["logs", "maintain"]);
    assert!(run.code == Some(0) && run.out.contains("removed"), "{run:?}");
    assert!(kept.iter().all(|file| !path(&fixture, file).exists()), "{:?}", files(&fixture));
}

#[test]
fn the_configuration_sets_the_ages_of_compression_and_removal() {
    let fixture = some_logs();
    fixture.write_for_user("config.toml", "[logs]\nretention_days = 0\ncompress_after_days = 0\n");
    let run = fixture.aur(&["logs", "maintain"]);
    assert_eq!(names(&fixture).len(), 6, "{run:?}");
    assert_eq!(run.out, "Compressed 0 logs, removed 0, 6 unchanged\n");
    fixture.write_for_user("config.toml", "[logs]\nretention_days = 7\ncompress_after_days = 6\n");
    fixture.aur(&["logs", "maintain"]);
    assert_eq!(names(&fixture), ["today.md", "week.md.gz"]);
    // With an invalid configuration, nothing is removed.
    fixture.write_for_user("config.toml", "[logs]\nretention_days = 1.5\n");
    assert_eq!(fixture.aur(&["logs", "maintain"]).code, Some(2));
    assert_eq!(names(&fixture), ["today.md", "week.md.gz"]);
}

#[test]
fn an_unreadable_log_is_named_and_kept() {
    let fixture = some_logs();
    let older = put_log(&fixture, "older", 8, "text");
    fixture.write_for_user(&format!("logs/conversations/{older}.gz"), "no gzip");
    let run = fixture.aur(&["logs", "maintain"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(
        run.err.contains(&format!("cannot read {older}")) && run.err.contains("1 log could not be read"),
        "{run:?}"
    );
    assert!(run.out.starts_with("Compressed 1 log ("), "{run:?}");
    assert!(path(&fixture, &older).exists());
}
