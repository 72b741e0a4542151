//! `aur config show` lists remotes and keys with their sources, without credentials.

use crate::fixture::{Fixture, Run};
use crate::run_ok;

const KEY: &str = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";

#[test]
fn remotes_and_keys_are_shown_with_their_sources() {
    let fixture = Fixture::git();
    fixture.write_for_user(
        "config.toml",
        format!("[remote.nightly]\nurl = \"s3://mine/app\"\n[remotes]\ntrusted_keys = [\"{KEY}\"]\n"),
    );
    fixture.write(
        ".aurora/config.toml",
        "[remote.nightly]\nurl = \"s3://theirs/app\"\n[remote.weekly]\nurl = \"file:///srv/app\"\n",
    );
    let shown = run_ok(&fixture, &["config", "show", "remote", "--format", "json"]).json();
    let rows: Vec<String> = shown
        .as_array()
        .expect("the report is a list")
        .iter()
        .map(|row| {
            let file = row["file"].as_str().unwrap_or_default();
            let owner = if file.starts_with(&*fixture.home().to_string_lossy()) { "user" } else { "project" };
            let source = if row["source"] == "file" { owner } else { row["source"].as_str().unwrap_or_default() };
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            format!("{} = {} ({source} {})", text("key"), text("value"), row["line"])
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n").replace(KEY, "KEY"));
    let mut command = fixture.command();
    command.args(["config", "show", "remotes.signing_key"]).env("AURORA_SIGNING_KEY", "/run/ci.key");
    let run = Run::from_command(&mut command);
    assert_eq!(run.out, "remotes.signing_key  /run/ci.key  AURORA_SIGNING_KEY\n", "{run:?}");
}

#[test]
fn credentials_in_invalid_urls_are_masked() {
    let fixture = Fixture::git();
    fixture.write_for_user("config.toml", "[remotes]\ntrusted_urls = [\"https://example.com?sig=hunter2\"]\n");
    for url in ["https://user:hunter2@example.com/app", "https://hunter2@example.com", "s3://bucket/app?sig=hunter2"] {
        fixture.write(".aurora/config.toml", format!("[remote.nightly]\nurl = \"{url}\"\n"));
        let run = run_ok(&fixture, &["config", "show", "remote"]);
        assert!(run.out.contains("remote.nightly.url") && run.out.contains("________"), "{run:?}");
        assert!(run.err.contains("Warning: "), "{run:?}");
        assert!(!run.out.contains("hunter2") && !run.err.contains("hunter2"), "{run:?}");
    }
}
