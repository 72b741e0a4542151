//! Logs, the record of searches and its report, the list of settings, and index runs without git.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{command, indexed, repository, run};

fn log_file(fixture: &Fixture) -> PathBuf {
    fixture.user_directory().join("logs/aurora.log")
}

#[test]
fn verbosity_overrides_the_environment_which_overrides_the_configuration() {
    let fixture = indexed();
    let err = |arguments: &[&str], variable: Option<&str>| {
        let mut command = command(&fixture);
        command.args(["mem", "search", "hash_password", "--format", "json", "--no-record"]).args(arguments);
        let run = Run::from_command(command.envs(variable.map(|value| ("RUST_LOG", value))));
        assert_eq!(run.json()["results"][0]["name"], "hash_password", "{run:?}");
        run.err
    };
    assert_eq!(err(&[], None), "");
    let info = err(&["-v"], None);
    assert!(info.contains("searched") && !info.contains("phase of the search"), "{info}");
    assert!(err(&["-vv"], None).contains("phase of the search"));
    assert!(err(&[], Some("aurora=debug")).contains("phase of the search"));
    assert!(!err(&["-v"], Some("debug")).contains("phase of the search"));
    fixture.write_for_user("config.toml", "[log]\nlevel = \"info\"\n");
    assert!(err(&[], None).contains("searched"));
    assert_eq!(err(&[], Some("error")), "");
    let json = err(&["-v", "--log-format", "json"], None);
    assert!(json.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|event| event["level"].is_string())));
    assert_eq!(err(&["-vv", "--log-format", "off"], None), "");
    assert!(!log_file(&fixture).exists());
}

#[test]
fn texts_of_queries_are_logged_only_if_the_configuration_says_so() {
    let fixture = indexed();
    let secret = concat!("AKIA", "Z7Q4M2XW9TRB5KLN");
    let search = |variable: Option<&str>| {
        let mut command = command(&fixture);
        command.args(["-vv", "mem", "search", "unmistakable", secret]);
        Run::from_command(command.envs(variable.map(|value| ("RUST_LOG", value)))).err
    };
    fixture.write_for_user("config.toml", "[log]\nfile = \"on\"\n");
    // Notes for the user may contain words of the query; the log does not.
    let logged =
        |err: &str| err.lines().filter(|line| !line.starts_with("Note:")).any(|line| line.contains("unmistakable"));
    assert!(!logged(&search(None)) && !logged(&search(Some("trace"))));
    let log = fs::read_to_string(log_file(&fixture)).unwrap();
    assert!(log.contains("searched") && !log.contains("unmistakable"), "{log}");
    fixture.write_for_user("config.toml", "[log]\nfile = \"on\"\nqueries = true\n");
    assert!(logged(&search(None)));
    let log = fs::read_to_string(log_file(&fixture)).unwrap();
    assert!(log.contains("query=\"unmistakable AKIA") && !log.contains(secret), "{log}");
}

#[cfg(unix)]
#[test]
fn the_log_file_is_private_bounded_and_no_link() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = indexed();
    fixture.write_for_user("config.toml", "[log]\nfile = \"on\"\nsize = \"64KiB\"\nold_files = 1\n");
    let file = log_file(&fixture);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "x".repeat(65_000) + "\n").unwrap();
    let mut running = Vec::new();
    for _ in 0..6 {
        running.push(command(&fixture).args(["-vv", "mem", "search", "hash", "password"]).output());
    }
    assert!(running.into_iter().all(|output| output.is_ok_and(|output| output.status.success())));
    let log = fs::read_to_string(&file).unwrap();
    assert!(log.len() <= 64 << 10 && log.lines().all(|line| line.starts_with('[')), "{log}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(file.with_extension("log.1").exists() && !file.with_extension("log.2").exists());
    let canary = fixture.home().join("canary");
    fs::write(&canary, "").unwrap();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&canary, &file).unwrap();
    let found = run(&fixture, &["-v", "mem", "search", "hash_password"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.err.matches("Warning: cannot write the log").count() == 1, "{found:?}");
    assert_eq!(fs::read_to_string(&canary).unwrap(), "");
}

#[test]
fn an_invalid_table_of_the_log_stops_no_command() {
    let fixture = indexed();
    fixture.write_for_user("config.toml", "[log]\nlevle = \"info\"\nsize = 3\n");
    let found = run(&fixture, &["mem", "search", "hash_password", "--format", "json"]);
    assert_eq!((found.code, found.json()["results"][0]["name"].as_str()), (Some(0), Some("hash_password")));
    assert!(found.err.contains("unknown key `log.levle`") && found.err.contains("did you mean `level`"), "{found:?}");
    assert!(found.err.contains("`log.size` must be a size from"), "{found:?}");
    assert_eq!(run(&fixture, &["config", "show"]).code, Some(2));
}

#[test]
fn settings_are_shown_with_their_sources() {
    let fixture = indexed();
    fixture.write_for_user(
        "config.toml",
        "[search]\nrefresh = 5\n[search.bm25]\nk1 = 1.5\n[limits]\nworkers = 9\n[log]\nqueries = true\n[memory.decay]\nturn = 0.5\n",
    );
    fixture.write(".aurora/config.toml", "[search]\nbm25.k1 = 1.7\n[search.boost]\nowner = 0.5\n");
    let mut command = command(&fixture);
    command
        .args(["config", "show", "--format", "json"])
        .env("AURORA_SEARCH_BM25_B", "0.5")
        .env_remove("AURORA_SEARCH_REFRESH");
    let shown = Run::from_command(&mut command).json();
    let setting = |key: &str| {
        let all = shown.as_array().unwrap();
        let found = all.iter().find(|setting| setting["key"] == key).unwrap_or_else(|| panic!("no {key}"));
        let place = match found["source"].as_str().unwrap() {
            "file" => {
                let file = found["file"].as_str().unwrap();
                let owner = if file.starts_with(fixture.home().to_str().unwrap()) { "user" } else { "project" };
                format!("{owner}:{}", found["line"])
            }
            "environment" => found["variable"].as_str().unwrap().to_owned(),
            source => source.to_owned(),
        };
        format!("{} {place}", found["value"].as_str().unwrap())
    };
    assert_eq!(setting("search.refresh"), "5 user:2");
    assert_eq!(setting("search.bm25.k1"), "1.7 project:2");
    assert_eq!(setting("search.bm25.b"), "0.5 AURORA_SEARCH_BM25_B");
    assert_eq!(setting("search.boost.owner"), "0.5 project:4");
    assert_eq!(setting("limits.workers"), "9 user:6");
    assert_eq!(setting("limits.memory"), "\"8GiB\" built-in");
    assert_eq!(setting("logs.retention_days"), "90 built-in");
    assert_eq!(setting("log.queries"), "true user:8");
    assert_eq!(setting("usage.enabled"), "true built-in");
    assert_eq!(setting("memory.decay.turn"), "0.5 user:10");
    assert_eq!(setting("memory.policies.enabled"), "true built-in");
    let some = run(&fixture, &["config", "show", "-v", "log.level", "usage.q"]);
    assert_eq!(some.out, "log.level      \"info\"  -v\nusage.queries  false   built-in\n");
    assert_eq!(run(&fixture, &["config", "show", "serach"]).code, Some(2));
}

#[test]
fn configurations_in_other_formats_cause_a_warning() {
    let fixture = indexed();
    fixture.write_for_user("config.yml", "search: {}\n").write(".aurora/config.json", "{}");
    let found = run(&fixture, &["mem", "search", "hash_password", "--format", "json"]);
    assert_eq!(found.code, Some(0));
    for name in ["config.yml", "config.json"] {
        let warnings = found.err.lines().filter(|line| line.starts_with("Warning:") && line.contains(name));
        assert_eq!(warnings.count(), 1, "{found:?}");
    }
    assert!(run(&fixture, &["doctor"]).out.contains("config.yml is not read"));
}

#[test]
fn searches_and_verdicts_are_reported() {
    let fixture = indexed();
    let report = |arguments: &[&str]| run(&fixture, &[&["report", "--format", "json"], arguments].concat()).json();
    assert_eq!(report(&[])["searches"], 0);
    run(&fixture, &["mem", "search", "hash_password"]);
    run(&fixture, &["mem", "search", "hash_password", "--mode", "sparse"]);
    run(&fixture, &["mem", "search", "hash_password", "--lang", "rust"]);
    run(&fixture, &["mem", "search", "not recorded", "--no-record"]);
    run(&fixture, &["mem", "feedback", "bad", "src/auth/manager.py:1"]);
    run(&fixture, &["mem", "add", "note", "-m", "Tokens expire after an hour."]);
    let found = report(&[]);
    assert_eq!((found["searches"].as_u64(), found["without_close_result"].as_u64()), (Some(3), Some(1)), "{found}");
    assert!(found["latency_ms"]["p50"].as_f64() > Some(0.0), "{found}");
    assert_eq!(found["by_mode"]["sparse"]["searches"], 1);
    assert_eq!(found["by_interface"]["cli"]["searches"], 3);
    assert_eq!(found["feedback"], serde_json::json!({"good": 0, "bad": 1}));
    assert_eq!(found["memory"]["project"]["added"], 1, "{found}");
    assert_eq!(found["days"].as_array().map(Vec::len), Some(1));
    let record = fs::read_to_string(fixture.user_directory().join("usage/usage.jsonl")).unwrap();
    assert!(!record.contains("hash_password") && record.lines().count() == 4, "{record}");
    assert_eq!(report(&["--since", "2999-01-01"])["searches"], 0);
    assert_eq!(report(&["--all-roots"])["searches"], 3);
    let text = run(&fixture, &["report"]);
    assert!(text.out.contains("33.3 % without a close result"), "{text:?}");
    let page = run(&fixture, &["report", "--format", "html"]).out;
    assert!(page.starts_with("<!doctype html>") && page.contains("33.3 %") && !page.contains("src="), "{page}");
}

#[test]
fn the_record_of_searches_can_be_turned_off_and_never_fails_a_search() {
    let fixture = indexed();
    fixture.write_for_user("config.toml", "[usage]\nenabled = false\n");
    run(&fixture, &["mem", "search", "hash_password"]);
    let usage = fixture.user_directory().join("usage");
    assert!(!usage.exists());
    fixture.write_for_user("config.toml", "[usage]\nqueries = true\n");
    let secret = concat!("AKIA", "Z7Q4M2XW9TRB5KLN");
    run(&fixture, &["mem", "search", secret, "--lang", "rust"]);
    let record = fs::read_to_string(usage.join("usage.jsonl")).unwrap();
    assert!(record.contains("\"query\":\"AKIA____") && !record.contains(secret), "{record}");
    // Lines that are not records are skipped.
    fs::write(usage.join("usage.jsonl"), format!("{{\n\u{0}\n{record}")).unwrap();
    let report = run(&fixture, &["report", "--format", "json"]).json();
    assert_eq!(report["queries_without_close_result"][0][1], 1, "{report}");
    fs::remove_dir_all(&usage).unwrap();
    fs::write(&usage, "not a directory").unwrap();
    let found = run(&fixture, &["mem", "search", "hash_password"]);
    assert_eq!((found.code, found.err.as_str()), (Some(0), ""), "{found:?}");
}

#[test]
fn a_search_rebuilds_a_damaged_index_of_its_own() {
    let fixture = indexed();
    let ask = |extra: &[&str]| {
        run(&fixture, &[&["mem", "search", "hash_password", "--format", "json", "--no-record"], extra].concat())
    };
    let data = fixture.path(".aurora/index/data.mdb");
    let undamaged = fs::read(&data).unwrap();
    // Activations depend on the time of the search.
    let found_ids = |run: &Run| {
        let found = run.json();
        let results = found["results"].as_array().unwrap();
        results.iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let expected = found_ids(&ask(&[]));
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 3] = [
        ("truncated", |data| data.truncate(data.len() / 3)),
        ("overwritten", |data| data[3 * 4_096..].fill(0xa5)),
        ("another version", |data| {
            // The name of the format is followed by its version.
            let is_format = |at: &usize| data[*at..].starts_with(b"aurora") && data[at + 7..at + 10] == [0; 3];
            let places: Vec<usize> = (0..data.len() - 10).filter(is_format).collect();
            assert!(!places.is_empty());
            places.into_iter().for_each(|at| data[at + 6] = 99);
        }),
    ];
    for (kind, damage) in damages {
        let mut bytes = undamaged.clone();
        damage(&mut bytes);
        fs::write(&data, &bytes).unwrap();
        for refusing in ["--no-index", "--no-refresh"] {
            let refused = ask(&[refusing]);
            assert_eq!(refused.code, Some(2), "{kind}: {refused:?}");
            assert_eq!(fs::read(&data).unwrap(), bytes, "{kind}");
        }
        let found = ask(&[]);
        assert_eq!(found.code, Some(0), "{kind}: {found:?}");
        assert!(found.err.contains("Warning: the index of") && found.err.contains("rebuilt"), "{kind}: {found:?}");
        assert_eq!(found_ids(&found), expected, "{kind}");
        assert!(fixture.path(".aurora/index.unusable").exists());
        assert_eq!(ask(&[]).err, "", "{kind}");
    }
}

#[test]
fn a_search_does_not_rebuild_a_damaged_index_of_somebody_else() {
    let fixture = indexed();
    let data = fixture.path(".aurora/index/data.mdb");
    let mut bytes = fs::read(&data).unwrap();
    bytes.truncate(bytes.len() / 3);
    fs::write(&data, &bytes).unwrap();
    fs::remove_dir_all(fixture.user_directory().join("state/indexes")).unwrap();
    let found = run(&fixture, &["mem", "search", "hash_password"]);
    assert_eq!(found.code, Some(2), "{found:?}");
    assert_eq!(fs::read(&data).unwrap(), bytes);
}

#[test]
fn an_index_without_git_equals_the_index_of_a_tree_without_a_repository() {
    let fixture = repository();
    let digest = || run(&fixture, &["mem", "verify", "--digest"]).out;
    let index = |extra: &[&str]| {
        let done = run(&fixture, &[&["mem", "index", "-q"], extra].concat());
        assert_eq!(done.code, Some(0), "{done:?}");
        digest()
    };
    let commits = || {
        let found = run(&fixture, &["mem", "search", "hash_password", "--format", "json", "--no-record"]).json();
        found["results"][0]["git"]["commits"].clone()
    };
    let with_git = index(&["--force"]);
    assert_eq!(commits(), 1);
    let fresh = index(&["--force", "--no-git"]);
    assert_ne!(fresh, with_git);
    assert_eq!(commits(), Value::Null);
    assert_eq!(index(&[]), with_git);
    assert_eq!(index(&["--no-git"]), fresh);
    // An update before a search does not use git either.
    fixture.write("src/http/retry.go", "package http\n\n// Renamed waits.\nfunc Renamed() {}\n");
    let mut search = command(&fixture);
    search.args(["mem", "search", "Renamed", "--format", "json"]).env("AURORA_SEARCH_REFRESH", "60000");
    let found = Run::from_command(&mut search).json();
    assert_eq!(
        (found["results"][0]["name"].as_str(), &found["results"][0]["git"]["commits"]),
        (Some("Renamed"), &Value::Null)
    );
    let updated = digest();
    assert_eq!(index(&["--no-git"]), updated);
    assert_eq!(index(&["--force", "--no-git"]), updated);
}
