//! Servers keep indexes up to date, and clients control index runs over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Server;
use crate::fixture::Fixture;
use crate::{RETRY, indexed};

/// Repeats `ask` until it returns a value. The time limit of one minute is long enough on a busy machine.
fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < end, "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the files that contain a text.
fn files(server: &Server, text: &str) -> Vec<String> {
    let answer = server.post("/api/v1/search", &json!({"fixed": text, "record": false})).json();
    let results = answer["results"].as_array().cloned().unwrap_or_default();
    results.iter().map(|result| result["file"].as_str().expect("the value is a string").to_owned()).collect()
}

fn is_found(server: &Server, text: &str, file: &str) -> Option<()> {
    files(server, text).iter().any(|found| found == file).then_some(())
}

fn is_lost(server: &Server, text: &str, file: &str) -> Option<()> {
    (!files(server, text).iter().any(|found| found == file)).then_some(())
}

/// Waits until a run whose number is at least `least` has ended, and returns the status of the last run.
fn wait_for_run(server: &Server, least: u64) -> Value {
    eventually("the end of a run", || {
        let status = server.get("/api/v1/index").json();
        let is_over = status["run"].as_u64() >= Some(least) && status["phase"] != "running";
        is_over.then_some(status)
    })
}

#[test]
fn a_directory_that_is_deleted_and_recreated_is_kept_fresh() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    eventually("a new file", || is_found(&server, "count_zebras", "src/zebra.py"));

    // A directory below the root is deleted and created again before the watcher notices the deletion.
    for round in 0..3 {
        std::fs::remove_dir_all(fixture.path("src")).expect("the directory can be removed");
        fixture.write("src/first.py", format!("def first_herd_{round}(herd):\n    return herd\n"));
        eventually("a new directory", || is_found(&server, &format!("first_herd_{round}"), "src/first.py"));
        fixture.write("src/second.py", format!("def second_herd_{round}(herd):\n    return herd\n"));
        eventually("a file in it", || is_found(&server, &format!("second_herd_{round}"), "src/second.py"));
    }
    // Another directory replaces the directory `src`.
    fixture.write("new/third.py", "def third_herd(herd):\n    return herd\n");
    std::fs::rename(fixture.path("src"), fixture.path("old")).expect("the path can be renamed");
    std::fs::rename(fixture.path("new"), fixture.path("src")).expect("the path can be renamed");
    eventually("a renamed directory", || is_found(&server, "third_herd", "src/third.py"));
    for directory in ["src", "old"] {
        fixture.write(&format!("{directory}/fourth.py"), "def fourth_herd(herd):\n    return herd\n");
        eventually("a file in it", || is_found(&server, "fourth_herd", &format!("{directory}/fourth.py")));
    }
}

#[test]
fn a_project_that_is_deleted_and_recreated_is_kept_fresh() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    assert!(!files(&server, "evict_oldest").is_empty());

    // Delete the directory that contains the index.
    std::fs::remove_dir_all(fixture.path(".aurora")).expect("the directory can be removed");
    eventually("a new index", || fixture.path(".aurora/index").is_dir().then_some(()));
    fixture.write("src/fifth.py", "def fifth_herd(herd):\n    return herd\n");
    eventually("a new file", || is_found(&server, "fifth_herd", "src/fifth.py"));

    // Delete the project itself and create it again, either immediately or after its directory was empty for a while,
    // like the mount point of a file system that is not mounted.
    for is_slow in [false, true] {
        std::fs::remove_dir_all(fixture.root()).expect("the directory can be removed");
        if is_slow {
            std::fs::create_dir(fixture.root()).expect("the directory can be created");
            std::thread::sleep(Duration::from_secs(1));
            assert!(!fixture.path(".aurora").exists(), "an empty directory was indexed");
        }
        fixture.write("src/sixth.py", format!("def sixth_herd_{is_slow}(herd):\n    return herd\n"));
        eventually("a new project", || is_found(&server, &format!("sixth_herd_{is_slow}"), "src/sixth.py"));
        fixture.write("src/seventh.py", format!("def seventh_herd_{is_slow}(herd):\n    return herd\n"));
        eventually("a new file", || is_found(&server, &format!("seventh_herd_{is_slow}"), "src/seventh.py"));
    }
}

#[test]
fn a_project_that_replaces_a_served_one_is_kept_fresh() {
    let (served, other) = (indexed(), Fixture::git());
    let server = Server::start(&served, &[]);
    assert!(!files(&server, "evict_oldest").is_empty());
    other.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    let aside = served.home().join("aside");
    std::fs::rename(served.root(), &aside).expect("the path can be renamed");
    std::fs::rename(other.root(), served.root()).expect("the path can be renamed");
    eventually("the other project", || is_found(&server, "count_zebras", "src/zebra.py"));
    served.write("src/okapi.py", "def count_okapis(herd):\n    return len(herd)\n");
    eventually("a new file", || is_found(&server, "count_okapis", "src/okapi.py"));
    assert!(files(&server, "evict_oldest").is_empty());
}

#[test]
fn saved_changes_are_found() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    eventually("a new file", || is_found(&server, "count_zebras", "src/zebra.py"));
    fixture.write("src/zebra.py", "def count_giraffes(herd):\n    return len(herd)\n");
    eventually("a changed file", || is_found(&server, "count_giraffes", "src/zebra.py"));
    assert!(is_lost(&server, "count_zebras", "src/zebra.py").is_some());
    // Directories are created after the watch began, and files are added one by one.
    std::fs::create_dir_all(fixture.path("deep/er")).expect("the directory can be created");
    eventually("a quiet tree", || (wait_for_run(&server, 1)["phase"] == "completed").then_some(()));
    fixture.write("deep/er/okapi.py", "def count_okapis(herd):\n    return len(herd)\n");
    eventually("a file in a new directory", || is_found(&server, "count_okapis", "deep/er/okapi.py"));
    fixture.write("deep/er/still/lion.py", "def count_lions(herd):\n    return len(herd)\n");
    eventually("a file in another new directory", || is_found(&server, "count_lions", "deep/er/still/lion.py"));
    fixture.remove("src/zebra.py");
    eventually("a removed file", || is_lost(&server, "count_giraffes", "src/zebra.py"));
}

#[test]
fn branch_switches_and_commits_are_noticed() {
    let fixture = indexed();
    fixture.run_git(&["checkout", "--quiet", "-b", "other"]);
    for file in 0..200 {
        fixture.write(&format!("many/f{file}.go"), RETRY.replace("RetryWithBackoff", &format!("RetryNumber{file}")));
    }
    fixture.commit("many");
    fixture.run_git(&["checkout", "--quiet", "-"]);
    let server = Server::start(&fixture, &[]);
    wait_for_run(&server, 1);
    fixture.run_git(&["checkout", "--quiet", "other"]);
    eventually("the other branch", || is_found(&server, "RetryNumber199", "many/f199.go"));
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    eventually("a new file", || is_found(&server, "count_zebras", "src/zebra.py"));
    assert_eq!(server.get("/api/v1/blame?path=src/zebra.py").status, 404);
    fixture.commit("zebras");
    eventually("its attribution", || (server.get("/api/v1/blame?path=src/zebra.py").status == 200).then_some(()));
}

#[test]
fn one_server_writes_and_another_follows_and_takes_over() {
    let fixture = indexed();
    let first = Server::start(&fixture, &[]);
    wait_for_run(&first, 1);
    let second = Server::start(&fixture, &[]);
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    for server in [&first, &second] {
        eventually("a new file", || is_found(server, "count_zebras", "src/zebra.py"));
    }
    assert_eq!(second.get("/api/v1/index").json()["run"], 0, "the second server writes nothing");
    drop(first);
    fixture.write("src/okapi.py", "def count_okapis(herd):\n    return len(herd)\n");
    eventually("a file after the first server's death", || is_found(&second, "count_okapis", "src/okapi.py"));
}

#[test]
fn a_project_without_an_index_gets_one() {
    let fixture = Fixture::git();
    fixture.write("http/retry.go", RETRY).commit("first");
    let server = Server::start(&fixture, &[]);
    eventually("an index", || (server.get("/readyz").status == 200).then_some(()));
    assert_eq!(files(&server, "RetryWithBackoff")[0], "http/retry.go");
    assert_eq!(wait_for_run(&server, 1)["phase"], "completed");
}

#[test]
fn a_directory_without_a_project_is_indexed_only_on_request() {
    let fixture = Fixture::plain();
    fixture.write("notes.md", "# Zebras\n\nThey graze.\n");
    let server = Server::start(&fixture, &[]);
    assert_eq!(server.get("/readyz").status, 503);
    let started = server.post("/api/v1/index", &json!({}));
    assert_eq!(started.status, 202, "{started:?}");
    assert_eq!(wait_for_run(&server, 1)["phase"], "completed");
    assert_eq!(files(&server, "They graze"), ["notes.md"]);
    fixture.write("more.md", "# Okapis\n\nThey browse.\n");
    eventually("a new file", || is_found(&server, "They browse", "more.md"));
}

#[test]
fn a_run_reports_its_progress_and_can_be_cancelled() {
    let fixture = Fixture::git();
    for file in 0..3_000 {
        fixture.write(&format!("many/f{file}.go"), RETRY.replace("RetryWithBackoff", &format!("RetryNumber{file}")));
    }
    fixture.commit("many");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let server = Server::start(&fixture, &[]);
    wait_for_run(&server, 1);
    let mut events = server.connect();
    let request = format!("GET /api/v1/index/events HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    events.write_all(request.as_bytes()).expect("the request can be sent");
    let mut states = BufReader::new(events)
        .lines()
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let before = states.next().expect("the first event has the current state");
    assert_eq!(before["phase"], "completed");
    let started = server.post("/api/v1/index", &json!({"force": true}));
    assert_eq!(started.status, 202, "{started:?}");
    let number = started.json()["run"].clone();
    let going = states
        .find(|state| state["run"] == number && state["files_total"].is_u64())
        .expect("an event reports the running run");
    assert_eq!((&going["phase"], &going["reason"]), (&json!("running"), &json!("request")));
    assert_eq!(server.post("/api/v1/index", &json!({})).status, 409);
    assert_eq!(server.request("DELETE", "/api/v1/index", &[], "").status, 202);
    let last = states
        .find(|state| state["run"] == number && state["phase"] != "running")
        .expect("an event reports the end of the run");
    assert_eq!(last["phase"], "cancelled", "{last}");
    assert_eq!(server.request("DELETE", "/api/v1/index", &[], "").status, 404);
    // The next run completes the work that was cancelled.
    assert_eq!(server.post("/api/v1/index", &json!({})).status, 202);
    assert_eq!(wait_for_run(&server, number.as_u64().expect("the value is a number") + 1)["phase"], "completed");
    assert_eq!(files(&server, "RetryNumber2999")[0], "many/f2999.go");
    let runs = server.get("/api/v1/runs").json();
    let runs = runs["runs"].as_array().expect("the value is a list");
    let (whole, stopped) = (runs.last().expect("there was a first run"), &runs[0]);
    assert!(whole["completed"] == true && stopped["completed"] == false, "{runs:?}");
    assert!(whole["stages"].as_array().is_some_and(|stages| stages.len() >= 7), "{whole}");
    assert!(whole["bottleneck"].is_string() && whole["indexed"] == 3_000, "{whole}");
}

#[test]
fn a_read_only_server_writes_nothing() {
    let fixture = indexed();
    let server = Server::start(&fixture, &["--read-only"]);
    assert_eq!(server.post("/api/v1/index", &json!({})).status, 403);
    assert_eq!(server.request("DELETE", "/api/v1/index", &[], "").status, 403);
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    // A read-only server uses generations that other processes publish.
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    eventually("a generation of another process", || is_found(&server, "count_zebras", "src/zebra.py"));
    assert_eq!(server.get("/api/v1/index").json()["run"], 0);
}

#[test]
fn an_index_whose_sources_are_all_gone_is_kept() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    wait_for_run(&server, 1);
    for name in ["src", "http", ".gitignore"] {
        std::fs::rename(fixture.path(name), fixture.home().join(format!("away-{name}")))
            .expect("the path can be renamed");
    }
    std::fs::rename(fixture.path(".git"), fixture.home().join("away-.git")).expect("the path can be renamed");
    let run = server.get("/api/v1/index").json()["run"].clone();
    // Wait long enough for the watcher to notice the change.
    std::thread::sleep(Duration::from_secs(2));
    let last = wait_for_run(&server, run.as_u64().expect("the value is a number"));
    let indexed = server.get("/api/v1/stats").json();
    assert_eq!(indexed["files"], 2, "{last}");
}

#[test]
fn a_comment_in_a_trusted_program_keeps_the_values_of_its_column() {
    let fixture = indexed();
    let program = "from aurora_stage import stage\n\n@stage\ndef area(path):\n    return path.split('/')[0]\n";
    fixture.write("tools/area.py", program).age("tools/area.py").write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n\n[stage.area]\nuse = \"process\"\ncommand = [\"python3\", \"tools/area.py\"]\n\
         reads = [\"file.path\"]\nwrites = { area = \"string\" }\n",
    );
    assert_eq!(fixture.aur(&["plugin", "trust", "area", "--yes"]).code, Some(0));
    let indexed = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    let server = Server::start(&fixture, &[]);
    wait_for_run(&server, 1);
    let answer =
        || server.post("/api/v1/search", &json!({"query": "cache", "where": ["area=src"], "record": false})).json();
    let count = |answer: &Value| answer["results"].as_array().map_or(0, Vec::len);
    let before = count(&answer());
    assert!(before > 0, "{}", answer());
    fixture.write("tools/area.py", format!("# A comment.\n{program}"));
    fixture.write("src/zebra.py", "def count_zebras(herd):\n    return len(herd)\n");
    eventually("a new file", || is_found(&server, "count_zebras", "src/zebra.py"));
    let after = answer();
    assert_eq!(count(&after), before, "{after}");
    assert!(after["notes"].to_string().contains("Column `area` has stale values"), "{after}");
    let shown = server.post("/api/v1/search", &json!({"query": "count_zebras", "record": false})).json();
    let note =
        "Column `area` has stale values, because the program of stage `area` is not allowed, and is not complete";
    assert!(shown["notes"].to_string().contains(note), "a result without a value: {shown}");
    assert_eq!(fixture.aur(&["plugin", "trust", "area", "--yes"]).code, Some(0));
    fixture.write("src/okapi.py", "def count_okapis(herd):\n    return len(herd)\n");
    eventually("a run with the program", || (!answer()["notes"].to_string().contains("area")).then_some(()));
    let found =
        server.post("/api/v1/search", &json!({"query": "zebras", "where": ["area=src"], "record": false})).json();
    assert!(found.to_string().contains("src/zebra.py"), "{found}");
}

/// Creates a project whose program and pipeline are not among the indexed files. The stage is trusted and has run.
fn with_hidden_program(program: &str) -> Fixture {
    let fixture = indexed();
    fixture.write(".aurora/plugins/area.py", program).write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n\n[stage.area]\nuse = \"process\"\ncommand = [\"python3\", \".aurora/plugins/area.py\"]\n\
         reads = [\"file.path\"]\nwrites = { area = \"string\" }\n",
    );
    assert_eq!(fixture.aur(&["plugin", "trust", "area", "--yes"]).code, Some(0));
    let indexed = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    fixture
}

/// Returns the answer to a search with a condition on the column of the stage `area`.
fn in_area(server: &Server, area: &str) -> Value {
    let condition = format!("area={area}");
    server.post("/api/v1/search", &json!({"query": "cache", "where": [condition], "record": false})).json()
}

#[test]
fn an_edited_program_and_renewed_trust_are_noticed_without_other_changes() {
    let program = "from aurora_stage import stage\n\n@stage\ndef area(path):\n    return path.split('/')[0]\n";
    let fixture = with_hidden_program(program);
    let server = Server::start(&fixture, &[]);
    wait_for_run(&server, 1);
    assert!(!in_area(&server, "src").to_string().contains("Column `area`"), "{}", in_area(&server, "src"));
    let is_stale =
        |server: &Server| in_area(server, "src")["notes"].to_string().contains("Column `area` has stale values");
    fixture.write(".aurora/plugins/area.py", program.replace("split('/')[0]", "upper()"));
    eventually("a note about the edited program", || is_stale(&server).then_some(()));
    assert_eq!(fixture.aur(&["plugin", "trust", "area", "--yes"]).code, Some(0));
    let has_value = |answer: &Value| answer["results"].as_array().is_some_and(|results| !results.is_empty());
    eventually("a run with the program", || has_value(&in_area(&server, "SRC/CACHE.PY")).then_some(()));
    assert!(!is_stale(&server));
    std::fs::remove_file(fixture.path(".aurora/plugins/area.py")).expect("the file can be removed");
    eventually("a note about the deleted program", || is_stale(&server).then_some(()));
}

#[test]
fn answers_note_that_an_invalid_pipeline_prevents_updates() {
    let program = "from aurora_stage import stage\n\n@stage\ndef area(path):\n    return path.split('/')[0]\n";
    let fixture = with_hidden_program(program);
    let pipeline = std::fs::read_to_string(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
    let (first, second) = (Server::start(&fixture, &[]), Server::start(&fixture, &[]));
    wait_for_run(&first, 1);
    let is_noted = |server: &Server| {
        let notes = in_area(server, "src")["notes"].to_string();
        notes.contains("The index is not up to date: the pipeline has errors; `aur pipeline check` shows them")
    };
    assert!(!is_noted(&first) && !is_noted(&second));
    fixture.write(".aurora/pipeline.toml", pipeline.replace("file.path", "file.pth"));
    for server in [&first, &second] {
        eventually("a note about the pipeline", || is_noted(server).then_some(()));
    }
    fixture.write(".aurora/pipeline.toml", &pipeline);
    for server in [&first, &second] {
        eventually("an answer without the note", || (!is_noted(server)).then_some(()));
    }
}
