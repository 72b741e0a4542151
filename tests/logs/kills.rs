//! A process that dies at any moment leaves every log either complete or missing, and the next run cleans up.
//!
//! `AURORA_TEST_KILLS` sets the number of kills.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::Fixture;
use crate::{days_ago, files, interaction, path, put_log};

/// Number of kills, unless `AURORA_TEST_KILLS` overrides it. They are spread evenly over the duration of a run.
const KILLS: u32 = 24;

fn kills() -> u32 {
    std::env::var("AURORA_TEST_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(KILLS)
}

fn start(fixture: &Fixture, arguments: &[&str]) -> Child {
    let mut command = fixture.command();
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Runs a command without killing it, and returns the duration.
fn duration(fixture: &Fixture, arguments: &[&str]) -> Duration {
    let begin = Instant::now();
    start(fixture, arguments).wait().expect("the program ends");
    begin.elapsed()
}

/// Returns all logs by name, with their content and the number of their files. A log has two files if it exists both
/// compressed and uncompressed.
fn logs(fixture: &Fixture) -> BTreeMap<String, (String, u32)> {
    let mut logs = BTreeMap::new();
    for file in files(fixture) {
        let mut text = String::new();
        let bytes = std::fs::read(path(fixture, &file)).expect("the file can be read");
        let name = match file.strip_suffix(".md.gz") {
            Some(name) => {
                flate2::read::MultiGzDecoder::new(&*bytes)
                    .read_to_string(&mut text)
                    .expect("the compressed file is complete");
                name
            }
            None => {
                let Some(name) = file.strip_suffix(".md") else { continue };
                text = String::from_utf8(bytes).expect("the text is UTF-8");
                name
            }
        };
        let entry = logs.entry(name.to_owned()).or_insert_with(|| (text.clone(), 0));
        assert_eq!(entry.0, text, "{file} has two contents");
        entry.1 += 1;
    }
    logs
}

#[test]
fn killed_maintenance_loses_nothing() {
    let fixture = Fixture::plain();
    let mut expected = BTreeMap::new();
    let mut fill = |fixture: &Fixture, round: u32| {
        for number in 0..120 {
            let text = format!("## Phase 1: A\nround {round} log {number}\n{}", "some text\n".repeat(number * 20));
            let file = put_log(fixture, &format!("log{round}x{number}"), 10, &text);
            expected.insert(file.strip_suffix(".md").expect("the file is a log").to_owned(), text);
        }
        expected.clone()
    };
    fill(&fixture, 0);
    let whole = duration(&fixture, &["logs", "maintain"]);
    let (mut interrupted, kills) = (0, kills());
    for round in 1..=kills {
        let expected = fill(&fixture, round);
        let mut child = start(&fixture, &["logs", "maintain"]);
        std::thread::sleep(whole * round / kills);
        child.kill().expect("the process can be killed");
        child.wait().expect("the program ends");
        let left = logs(&fixture);
        assert_eq!(left.len(), expected.len(), "round {round}");
        assert!(left.iter().all(|(name, (text, _))| expected[name] == *text), "round {round}");
        interrupted += u32::from(files(&fixture).iter().any(|file| file.ends_with(".md")));
        // A log is listed once, even if it exists both compressed and uncompressed.
        let list = fixture.aur(&["logs", "--date", &days_ago(10).to_string(), "--format", "jsonl"]);
        assert_eq!((list.code, list.out.lines().count()), (Some(0), expected.len()), "round {round}");
        if round % 4 == 0 {
            let run = fixture.aur(&["logs", "maintain"]);
            assert_eq!(run.code, Some(0), "{run:?}");
            let settled = files(&fixture);
            assert!(settled.iter().all(|file| file.ends_with(".md.gz")), "{settled:?}");
            assert_eq!(settled.len(), expected.len());
        }
    }
    assert!(interrupted > 0, "no kill came in time");
}

#[test]
fn killed_writers_leave_complete_logs_or_none() {
    let fixture = Fixture::plain();
    let text = "line of the log\n".repeat(200_000);
    let mut json: serde_json::Value =
        serde_json::from_str(&interaction("killed writer", "2025-12-13T14:32:15Z")).expect("the text is JSON");
    json["response"] = text.clone().into();
    fixture.write("interaction.json", json.to_string());
    let arguments = ["log", "write", "interaction.json"];
    fixture.write_for_user("config.toml", "[logs]\nretention_days = 0\ncompress_after_days = 0\n");
    let whole = duration(&fixture, &arguments);
    let kills = kills();
    for round in 1..=kills {
        let mut child = start(&fixture, &arguments);
        std::thread::sleep(whole * round / kills);
        child.kill().expect("the process can be killed");
        child.wait().expect("the program ends");
        for (name, (content, _)) in logs(&fixture) {
            assert!(content.contains(&text) && content.ends_with("---\n"), "{name} is not complete");
        }
    }
    let run = fixture.aur(&["logs", "maintain"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(files(&fixture).iter().all(|file| file.ends_with(".md")), "{:?}", files(&fixture));
}

#[test]
fn killed_additions_are_complete_or_missing() {
    let fixture = Fixture::plain();
    let below = put_log(&fixture, "killed", 10, "## Phase 1: A\ntext\n");
    fixture.write("more.md", "line of the addition\n".repeat(100_000));
    let arguments = ["log", "append", "killed", "more.md", "--section", "More"];
    let whole = duration(&fixture, &arguments);
    let kills = kills();
    let content = || logs(&fixture).into_values().next().expect("there is one log").0;
    let mut before = content();
    for round in 1..=kills {
        if round % 3 == 0 {
            // The next addition has to change a compressed log.
            assert_eq!(fixture.aur(&["logs", "maintain"]).code, Some(0));
        }
        let mut child = start(&fixture, &arguments);
        std::thread::sleep(whole * round / kills);
        child.kill().expect("the process can be killed");
        child.wait().expect("the program ends");
        // A killed addition may leave a compressed copy with the beginning of the log. Maintenance removes this copy.
        let _ = fixture.aur(&["logs", "maintain"]);
        let after = content();
        assert!(
            after == before
                || after.starts_with(&before)
                    && after.matches("### More").count() == before.matches("### More").count() + 1
        );
        assert_eq!(after.matches("line of the addition").count() % 100_000, 0);
        before = after;
    }
    assert!(files(&fixture).len() == 1, "{:?} {below}", files(&fixture));
}
