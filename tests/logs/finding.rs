//! `aur logs` and its subcommands `list`, `today`, `search`, `view` and `export`.

use std::io::Write as _;

use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{OAUTH, content, feed, interaction, path, write};

fn some_logs() -> Fixture {
    let fixture = Fixture::plain();
    write(&fixture, OAUTH);
    write(&fixture, &interaction("Fix database migration issue", "2025-12-14T08:00:00Z"));
    write(&fixture, &interaction("Fix database migration again", "2025-12-14T09:00:00Z"));
    write(&fixture, &interaction("Optimize React component rendering", "2025-11-30T08:00:00Z"));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed
        .write_all(b"---\n## Query: 2024-05-01T08:00:00Z | ID: old-1\n\n### Phase 1: A\nthe oauth of old\n")
        .expect("the file can be compressed");
    let packed = packed.finish().expect("the file can be compressed");
    fixture.write_for_user("logs/conversations/2024/05/oauth-old-2024-05-01.md.gz", packed);
    fixture
}

fn names(run: &Run) -> Vec<String> {
    let list = run.json();
    let list = list.as_array().expect("the value is a list").iter();
    list.map(|log| {
        log["file"]
            .as_str()
            .expect("the value is a string")
            .rsplit('/')
            .next()
            .expect("the path has a file name")
            .to_owned()
    })
    .collect()
}

#[test]
fn logs_are_listed() {
    let fixture = some_logs();
    insta::with_settings!({filters => vec![(r"(aurora-\d{8}-\d{6})-[0-9a-f]{6}", "$1-[random]")]}, {
        insta::assert_snapshot!(fixture.aur(&["logs"]).out);
    });
    let all = [
        "database-migration-2025-12-14-2.md",
        "database-migration-2025-12-14.md",
        "oauth-authentication-2025-12-13.md",
        "react-rendering-2025-11-30.md",
        "oauth-old-2024-05-01.md.gz",
    ];
    for (arguments, expected) in [
        (&[][..], &all[..]),
        (&["list"], &all),
        (&["list", "2025"], &all[..4]),
        (&["list", "2025/12"], &all[..3]),
        (&["list", "2025-12/"], &all[..3]),
        (&["--month", "2025-11"], &all[3..4]),
        (&["--date", "2025-12-13"], &all[2..3]),
        (&["list", "--from", "2025-11-30", "--to", "2025-12-13"], &all[2..4]),
        (&["--to", "2024-12-31"], &all[4..]),
        (&["--limit", "2"], &all[..2]),
    ] {
        let run = fixture.aur(&[&["logs"], arguments, &["--format", "json"]].concat());
        assert_eq!(
            (run.code, names(&run)),
            (Some(0), expected.iter().map(|name| (*name).to_owned()).collect()),
            "{arguments:?}"
        );
    }
    let lines = fixture.aur(&["logs", "--format", "jsonl"]).out;
    let first: Value = serde_json::from_str(lines.lines().next().expect("a log is listed")).expect("the text is JSON");
    assert_eq!(
        (lines.lines().count(), &first["time"], &first["query"]),
        (5, &"2025-12-14T09:00:00Z".into(), &"Fix database migration again".into())
    );
    assert_eq!(first["keywords"], serde_json::json!(["database", "migration"]));
    for arguments in [&["list", "2023"][..], &["--date", "2025-12-12"], &["today"]] {
        let run = fixture.aur(&[&["logs"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{arguments:?}: {run:?}");
    }
}

#[test]
fn today_is_the_current_day_in_utc() {
    let fixture = Fixture::plain();
    assert_eq!(fixture.aur(&["logs", "today"]).code, Some(1));
    write(&fixture, r#"{"query": "now", "phases": []}"#);
    let run = fixture.aur(&["logs", "today", "--format", "json"]);
    assert_eq!((run.code, names(&run).len()), (Some(0), 1), "{run:?}");
}

#[test]
fn commands_without_logs_find_nothing_and_create_nothing() {
    let fixture = Fixture::plain();
    let run = fixture.aur(&["logs"]);
    assert_eq!((run.code, run.out.as_str()), (Some(0), ""), "{run:?}");
    assert!(run.err.contains("there are no logs"), "{run:?}");
    assert_eq!(fixture.aur(&["logs", "--format", "json"]).out, "[]\n");
    for arguments in [&["search", "x"][..], &["view", "x"], &["export", "x"], &["list", "2025"]] {
        assert_eq!(fixture.aur(&[&["logs"], arguments].concat()).code, Some(1), "{arguments:?}");
    }
    assert_eq!(fixture.aur(&["logs", "maintain"]).code, Some(0));
    assert!(!fixture.user_directory().join("logs").exists());
}

#[test]
fn only_the_latest_logs_are_listed_unless_days_are_given() {
    let fixture = Fixture::plain();
    for number in 0..25 {
        crate::put_log(&fixture, &format!("log{number}"), 3, "text");
    }
    let run = fixture.aur(&["logs"]);
    assert_eq!(run.out.lines().count(), 20, "{run:?}");
    assert!(run.err.contains("more logs match"), "{run:?}");
    let day = crate::days_ago(3).to_string();
    assert_eq!(fixture.aur(&["logs", "--date", &day]).out.lines().count(), 25);
}

#[test]
fn logs_are_searched() {
    let fixture = some_logs();
    insta::assert_snapshot!(fixture.aur(&["logs", "search", "oauth", "PROVIDER"]).out);
    let run = fixture.aur(&["logs", "search", "oauth", "--format", "json"]);
    let hits = run.json();
    let place = |hit: &Value| {
        let text = |key: &str| hit[key].as_str().unwrap_or("-").to_owned();
        format!(
            "{} {} {} {}-{} {}",
            text("file"),
            text("id"),
            text("section"),
            hit["line_start"],
            hit["line_end"],
            hit["lines"][0]["text"]
        )
    };
    insta::assert_snapshot!(
        hits.as_array().expect("the value is a list").iter().map(place).collect::<Vec<_>>().join("\n")
    );
    assert_eq!((&hits[0]["phase"], &hits[2]["phase"]), (&Value::Null, &1.into()), "{hits}");
    for (arguments, count) in [
        (&["oauth", "--month", "2024-05"][..], 1),
        (&["oauth", "--from", "2025-12-01", "--to", "2025-12-13"], 2),
        (&["oauth", "--limit", "2"], 2),
        (&["--regex", "OAuth\\d"], 2),
        (&["--regex", "(?i)oauth of old$"], 1),
        (&["database migration"], 4),
    ] {
        let run = fixture.aur(&[&["logs", "search"], arguments, &["--format", "jsonl"]].concat());
        assert_eq!((run.code, run.out.lines().count()), (Some(0), count), "{arguments:?}: {run:?}");
    }
    for arguments in [&["saml"][..], &["oauth database"], &["--regex", "^oauth"], &["oauth", "--date", "2025-12-14"]] {
        let run = fixture.aur(&[&["logs", "search"], arguments].concat());
        assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{arguments:?}: {run:?}");
    }
}

#[test]
fn an_unreadable_log_is_named_and_the_others_are_searched() {
    let fixture = some_logs();
    fixture.write_for_user("logs/conversations/2025/12/broken-2025-12-20.md.gz", "no gzip");
    let run = fixture.aur(&["logs", "search", "migration", "--format", "jsonl"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(2), 4), "{run:?}");
    assert!(
        run.err.contains("2025/12/broken-2025-12-20.md.gz") && run.err.contains("1 log could not be read"),
        "{run:?}"
    );
    let run = fixture.aur(&["logs"]);
    assert_eq!((run.code, run.out.lines().count()), (Some(2), 9), "{run:?}");
}

#[test]
fn logs_are_viewed_and_exported() {
    let fixture = some_logs();
    let text = content(&fixture, "2025/12/oauth-authentication-2025-12-13.md");
    for given in [
        "oauth-authentication-2025-12-13",
        "2025/12/oauth-authentication-2025-12-13.md",
        "aurora-20251213-143215-abc123",
        "aurora-20251213",
        "oauth-a",
    ] {
        let run = fixture.aur(&["logs", "view", given]);
        assert_eq!((run.code, &run.out), (Some(0), &text), "{given}: {run:?}");
    }
    let run = fixture.aur(&["logs", "view", "oauth-auth", "--format", "json"]);
    let json = run.json();
    let sections: Vec<_> = json["sections"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|section| section["section"].as_str().unwrap_or("-"))
        .collect();
    assert_eq!(
        sections,
        ["-", "Query", "Phase 1: ASSESS", "Phase 2: DECOMPOSE", "User Interactions", "Response", "Execution Summary"]
    );
    let joined: String = json["sections"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .map(|section| section["text"].as_str().expect("the value is a string"))
        .collect();
    assert_eq!((joined, &json["id"]), (text.clone(), &"aurora-20251213-143215-abc123".into()));
    assert_eq!(fixture.aur(&["logs", "view", "oauth-auth", "--format", "jsonl"]).out.lines().count(), 7);

    let several = fixture.aur(&["logs", "view", "database"]);
    assert_eq!((several.code, several.out.as_str()), (Some(2), ""), "{several:?}");
    for expected in [
        "matches 2 logs",
        "2025/12/database-migration-2025-12-14.md  aurora-20251214-080000-",
        "database-migration-2025-12-14-2.md",
    ] {
        assert!(several.err.contains(expected), "{several:?}");
    }
    assert_eq!(fixture.aur(&["logs", "view", "../../config.toml"]).code, Some(1));

    // A compressed log is decompressed.
    assert!(fixture.aur(&["logs", "export", "old-1"]).out.ends_with("the oauth of old\n"));
    let target = fixture.path("out.md");
    let export = |more: &[&str]| {
        let target = target.to_string_lossy().into_owned();
        fixture.aur(&[&["logs", "export", "oauth-auth", "-o", &target][..], more].concat())
    };
    assert_eq!(export(&[]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&target).expect("the file can be read"), text);
    std::fs::write(&target, "mine").expect("the file can be written");
    let refused = export(&[]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("already exists") && refused.err.contains("--force replaces it"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&target).expect("the file can be read"), "mine");
    assert_eq!(export(&["--force"]).code, Some(0));
    assert_eq!(std::fs::read_to_string(&target).expect("the file can be read"), text);
}

#[cfg(unix)]
#[test]
fn control_characters_never_reach_a_terminal() {
    let fixture = Fixture::plain();
    let json = serde_json::json!({"query": "x", "id": "x-1", "phases": [{"name": "A", "output": 1, "text": "\u{1b}]0;title\u{7} \u{9b}2J \u{202e}"}]});
    feed(&fixture, &["log", "write"], json.to_string());
    let shell = format!("{} logs view x-1; {0} logs export x-1", crate::fixture::program().display());
    let mut command = std::process::Command::new("script");
    crate::fixture::hermetic(&mut command, fixture.home());
    let Ok(output) = command.args(["-qec", &shell, "/dev/null"]).output() else { return };
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.matches("Phase 1: A").count() == 2, "{shown}");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{shown:?}");
}

#[cfg(unix)]
#[test]
fn symbolic_links_are_not_logs() {
    let fixture = some_logs();
    std::fs::write(fixture.home().join("secret.md"), "needle").expect("the file can be written");
    std::os::unix::fs::symlink(fixture.home().join("secret.md"), path(&fixture, "2025/12/needle-2025-12-13.md"))
        .expect("the link can be created");
    assert_eq!(fixture.aur(&["logs", "search", "needle"]).code, Some(1));
    assert_eq!(fixture.aur(&["logs", "view", "needle-2025-12-13"]).code, Some(1));
}

#[test]
fn a_closed_output_pipe_is_no_error() {
    let fixture = Fixture::plain();
    let body = "needle\n## Section\n".repeat(50_000);
    crate::put_log(&fixture, "log", 1, &body);
    for arguments in ["search needle", "view log"] {
        let shell = format!("{} logs {arguments} | head -1", crate::fixture::program().display());
        let mut command = std::process::Command::new("bash");
        crate::fixture::hermetic(&mut command, fixture.home());
        let run = Run::from_command(command.args(["-o", "pipefail", "-c", &shell]));
        assert_eq!((run.code, run.err.as_str(), run.out.lines().count()), (Some(0), "", 1), "{arguments}");
    }
}
