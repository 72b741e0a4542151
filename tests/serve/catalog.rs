//! Catalogues: `aur catalog build` and `status`, and servers of their repositories.

use serde_json::{Value, json};

use crate::client::Server;
use crate::document::check;
use crate::fixture::{CACHE, Fixture, RETRY};

/// A catalogue of two directories and a remote repository.
const CATALOG: &str = r#"
jobs = 2

[[repository]]
pattern = "clones/*"
groups = ["core"]
owners = ["ada"]

[[repository]]
url = "file://REMOTE"
name = "web"
groups = ["shop"]
owners = ["grace"]
"#;

/// Creates the repositories and the catalogue.
fn catalog() -> (Fixture, Fixture) {
    let (fixture, remote) = (Fixture::plain(), Fixture::git());
    remote.write("retry.go", RETRY).commit("first");
    fixture
        .write("clones/app/cache.py", CACHE)
        .write("clones/lib/cache.py", CACHE)
        .write("clones/notes.txt", "no repository");
    fixture.write("company.toml", CATALOG.replace("REMOTE", &remote.root().display().to_string()));
    (fixture, remote)
}

/// Returns the status of each repository by name.
fn status(fixture: &Fixture, code: i32) -> Vec<Value> {
    let run = fixture.aur(&["catalog", "status", "company.toml", "--format", "json"]);
    assert_eq!(run.code, Some(code), "{run:?}");
    run.json().as_array().expect("the value is a list").clone()
}

#[test]
fn a_failed_repository_keeps_its_index_and_is_listed() {
    let (fixture, remote) = catalog();
    let missing = status(&fixture, 1);
    let names: Vec<&str> = missing.iter().filter_map(|of| of["name"].as_str()).collect();
    assert_eq!(names, ["app", "lib", "web"]);
    assert!(missing.iter().all(|of| of["index"].is_null() && of["last"].is_null()), "{missing:?}");
    let built = fixture.aur(&["catalog", "build", "company.toml"]);
    assert!(built.code == Some(0) && built.out.contains("3 repositories up to date"), "{built:?}");
    let good = status(&fixture, 0);
    assert_eq!(good[2]["last"]["outcome"], "indexed");
    assert!(good[2]["index"]["chunks"].as_u64() > Some(0) && good[0]["groups"][0] == "core", "{good:?}");

    // A new commit is fetched and indexed; without one, the run is skipped.
    remote.write("more.go", RETRY).commit("second");
    assert_eq!(fixture.aur(&["catalog", "build", "company.toml", "--group", "shop"]).code, Some(0));
    let newer = status(&fixture, 0);
    assert_eq!(newer[2]["index"]["files"].as_u64(), good[2]["index"]["files"].as_u64().map(|files| files + 1));
    assert_eq!(newer[2]["index"]["commit"], newer[2]["last"]["commit"]);
    assert_eq!(fixture.aur(&["catalog", "build", "company.toml"]).code, Some(0));
    assert_eq!(status(&fixture, 0)[2]["index"]["updated"], newer[2]["index"]["updated"]);

    // After the remote repository has vanished, the last good index stays.
    std::fs::rename(remote.root().join(".git"), remote.root().join("moved")).expect("the directory can be renamed");
    let failed = fixture.aur(&["catalog", "build", "company.toml"]);
    assert!(
        failed.code == Some(1) && failed.out.contains("failed: ") && failed.err.contains("1 repository failed"),
        "{failed:?}"
    );
    let kept = status(&fixture, 1);
    assert_eq!(
        (&kept[2]["last"]["outcome"], &kept[2]["index"]["chunks"]),
        (&json!("failed"), &newer[2]["index"]["chunks"])
    );
}

#[test]
fn invalid_catalogues_are_refused_and_dangerous_urls_do_not_run() {
    let fixture = Fixture::plain();
    let touched = fixture.path("touched");
    fixture.write(
        "company.toml",
        format!(
            "[[repository]]\nurl = \"ext::touch {}\"\n[[repository]]\nurl = \"https://ada:hunter2@example.org/a\"\n",
            touched.display()
        ),
    );
    let run = fixture.aur(&["catalog", "build", "company.toml"]);
    assert!(run.code == Some(2) && run.err.contains("`url` must be a URL of https"), "{run:?}");
    assert!(run.err.contains("credential helpers") && !touched.exists(), "{run:?}");
    assert_eq!(fixture.aur(&["catalog", "status", "missing.toml"]).code, Some(2));
    assert_eq!(fixture.aur(&["catalog"]).code, Some(2));
}

#[test]
fn a_server_of_a_catalogue_filters_by_group_and_owner() {
    let (fixture, _remote) = catalog();
    assert_eq!(fixture.aur(&["catalog", "build", "company.toml"]).code, Some(0));
    let server = Server::start(&fixture, &["--catalog", "company.toml"]);
    let document = serde_json::to_value(aurora_serve::openapi()).expect("the document is JSON");
    let search = |body: Value, status: u16| {
        let answer = server.post("/api/v1/search", &body);
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        check(&document, "POST", "/api/v1/search", &answer);
        answer.json()
    };
    let roots = |found: &Value| -> Vec<String> {
        let rows = found["results"].as_array().expect("the value is a list");
        let mut names: Vec<String> = rows.iter().filter_map(|row| Some(row["root"].as_str()?.to_owned())).collect();
        names.sort();
        names.dedup();
        names
    };
    // The metrics of indexes and of their last runs do not require open indexes.
    let metrics = server.get("/metrics").body;
    for line in [
        "aurora_index_run_good{root=\"web\"} 1",
        "aurora_index_failed_rows{root=\"app\"} 0",
        "aurora_index_complete{root=\"lib\"} 1",
        "aurora_index_run_duration_seconds{root=\"web\"} ",
        "aurora_index_age_seconds{root=\"web\"} ",
        "aurora_index_size_bytes{root=\"web\"} ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let all = search(json!({"query": "retry with backoff"}), 200);
    assert_eq!(all["results"][0]["root"], "web", "{all}");
    assert_eq!(roots(&search(json!({"query": "evict", "groups": "core"}), 200)), ["app"]);
    assert_eq!(search(json!({"query": "retry", "owners": ["grace"]}), 200)["results"][0]["file"], "retry.go");
    // A name that no repository has means a group or an owner, also for agents.
    assert_eq!(roots(&search(json!({"query": "evict", "root": ["core", "lib"]}), 200)), ["app"]);
    let agent = |root: &str| {
        let call = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "search", "arguments": {"query": "evict", "root": root}},
        });
        let accepts = ["accept: application/json, text/event-stream", "content-type: application/json"];
        server.request("POST", "/mcp", &accepts, &call.to_string()).body
    };
    assert!(agent("core").contains("app/cache.py:"), "{}", agent("core"));
    assert!(!agent("grace").contains("app/cache.py:"), "{}", agent("grace"));
    assert!(agent("nobody").contains("known names: app, "), "{}", agent("nobody"));
    let none = search(json!({"query": "retry", "groups": "nobody"}), 404);
    assert!(none["help"].as_str().is_some_and(|help| help.contains("core, shop")), "{none}");
    let listed = server.request("GET", "/api/v1/roots", &[], "").json();
    assert_eq!((&listed[2]["name"], &listed[2]["owners"][0]), (&json!("web"), &json!("grace")), "{listed}");
    // Nothing is written for a catalogue.
    assert_eq!(server.post("/api/v1/index", &json!({})).status, 403);
}
