//! Answers of the server equal the output of the command line.

use serde_json::{Value, json};

use crate::client::Server;
use crate::fixture::Fixture;
use crate::indexed;

/// Returns the output of `aur mem search --format json` without fields that differ between calls.
fn searched(fixture: &Fixture, arguments: &[&str]) -> Value {
    let all = [&["mem", "search", "--format", "json", "--no-record"], arguments].concat();
    timeless(fixture.aur(&all).json())
}

/// Asserts that two answers are equal. Numbers may differ slightly, because the activation depends on the time of the
/// search in seconds.
fn assert_same(left: &Value, right: &Value, place: &str) {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64().unwrap_or(f64::NAN), right.as_f64().unwrap_or(f64::NAN));
            assert!((left - right).abs() < 1e-3, "{place}: {left} and {right}");
        }
        (Value::Array(left), Value::Array(right)) => {
            assert_eq!(left.len(), right.len(), "{place}: {left:?} and {right:?}");
            left.iter().zip(right).enumerate().for_each(|(at, (l, r))| assert_same(l, r, &format!("{place}[{at}]")));
        }
        (Value::Object(left), Value::Object(right)) => {
            assert!(left.keys().eq(right.keys()), "{place}: {left:?} and {right:?}");
            left.iter().for_each(|(key, value)| assert_same(value, &right[key], &format!("{place}.{key}")));
        }
        _ => assert_eq!(left, right, "{place}"),
    }
}

fn timeless(mut answer: Value) -> Value {
    answer.as_object_mut().expect("the value is an object").remove("took_ms").expect("the answer has a time");
    answer.as_object_mut().expect("the value is an object").remove("phases");
    answer["index"].as_object_mut().expect("the value is an object").remove("age_seconds");
    answer
}

#[test]
fn a_search_equals_the_output_of_the_command_line() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let cases: [(Value, &[&str]); 12] = [
        (json!({"query": "remove the oldest page"}), &["remove the oldest page"]),
        (json!({"query": "page", "limit": 1, "mode": "sparse"}), &["page", "--limit", "1", "--mode", "sparse"]),
        (
            json!({"query": "page", "type": "method,function", "lang": ["python"], "path": "src/**"}),
            &["page", "--type", "method,function", "--lang", "python", "--path", "src/**"],
        ),
        (json!({"query": "page", "grep": "pages\\[", "snippets": 1}), &["page", "--grep", "pages\\[", "--snippets=1"]),
        (json!({"fixed": "growing pause", "content": true}), &["--fixed", "growing pause", "--show-content"]),
        (json!({"query": "page", "budget": 60}), &["page", "--budget", "60"]),
        (json!({"lang": "python"}), &["--lang", "python"]),
        (json!({"lang": "PY"}), &["--lang", ".py"]),
        (json!({"path": "src/cache.py"}), &["--path", "./src/../src/cache.py"]),
        (json!({"type": "def"}), &["--type", "fn"]),
        (json!({"where": "language=py"}), &["--where", "lang in py"]),
        (
            json!({"where": ["generated=none"], "type": "function"}),
            &["--where", "generated=none", "--type", "function"],
        ),
    ];
    for (mut body, arguments) in cases {
        body["record"] = false.into();
        let answer = server.post("/api/v1/search", &body);
        assert_eq!(answer.status, 200, "{answer:?}");
        let answer = timeless(answer.json());
        assert!(answer["results"].get(0).is_some() || answer["blocks"].get(0).is_some(), "{answer}");
        assert_same(&answer, &searched(&fixture, arguments), &body.to_string());
    }
}

#[test]
fn a_batch_answers_each_search_and_reports_failed_searches() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let queries = json!({"queries": [
        {"query": "page", "record": false},
        {"query": " "},
        {"query": "page", "root": "elsewhere"},
        {"query": "retry", "limit": 1, "record": false},
    ]});
    let answer = server.post("/api/v1/search/batch", &queries).json();
    let answers = answer["answers"].as_array().expect("the value is a list");
    assert_eq!(answers.len(), 4);
    assert_same(&timeless(answers[0].clone()), &searched(&fixture, &["page"]), "the first of the batch");
    assert!(answers[1]["error"].as_str().is_some_and(|text| text.contains("empty")), "{answer}");
    assert!(answers[2]["error"].as_str().is_some_and(|text| text.contains("elsewhere")), "{answer}");
    assert_eq!(answers[3]["results"][0]["name"], "RetryWithBackoff");
    for (body, status) in [(json!({"queries": []}), 422), (json!({"queries": vec![json!({"query": "x"}); 101]}), 422)] {
        assert_eq!(server.post("/api/v1/search/batch", &body).status, status);
    }
}

#[test]
fn chunks_files_and_relations_are_served() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let chunk = server.get("/api/v1/chunk?id=src/cache.py:7").json();
    assert_eq!(
        (&chunk["qualified_name"], &chunk["line_start"]),
        (&"PageCache.evict_oldest".into(), &7.into()),
        "{chunk}"
    );
    assert!(chunk["content"].as_str().is_some_and(|text| text.contains("return drop_page(pages)")), "{chunk}");
    let id = chunk["id"].as_str().expect("the value is a string");
    assert_eq!(server.get(&format!("/api/v1/chunk?id={id}")).json(), chunk);

    let file = server.get("/api/v1/file?path=src/cache.py").json();
    assert_eq!((&file["content"], &file["file_state"]), (&crate::CACHE.into(), &"unchanged".into()), "{file}");
    assert!(file["chunks"].as_array().is_some_and(|chunks| chunks.iter().any(|chunk| chunk["id"] == id)), "{file}");

    let graph = server.get("/api/v1/graph?name=drop_page&relation=callers").json();
    assert_eq!(graph["root"]["children"][0]["name"], "PageCache.evict_oldest", "{graph}");
    let blame = server.get("/api/v1/blame?path=http/retry.go").json();
    let by_command = fixture.aur(&["mem", "blame", "http/retry.go", "--format", "json"]).json();
    assert_eq!(blame, by_command);
    let stats = server.get("/api/v1/stats").json();
    assert_eq!(
        (&stats["files"], &stats["complete"]),
        (&fixture.aur(&["mem", "stats", "--format", "json"]).json()["files"], &true.into())
    );
}

#[test]
fn secrets_of_a_file_are_masked() {
    let fixture = indexed();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    fixture.write("deploy.py", format!("TOKEN = \"{secret}\"\n\n\ndef deploy():\n    return TOKEN\n"));
    fixture.aur(&["mem", "index", "--quiet"]);
    let server = Server::start(&fixture, &[]);
    for path in ["/api/v1/file?path=deploy.py", "/api/v1/chunk?id=deploy.py:1"] {
        let answer = server.get(path);
        assert!(answer.status == 200 && answer.body.contains("TOKEN") && !answer.body.contains(&secret), "{answer:?}");
    }
}

#[test]
fn feedback_counts_in_later_searches_unless_the_server_is_read_only() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let verdict = json!({"verdict": "good", "ids": ["src/cache.py:12", "src/cache.py:13"]});
    let answer = server.post("/api/v1/feedback", &verdict).json();
    assert_eq!(answer["chunks"].as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer["chunks"][0]["feedback"]["good"], 1);
    let unknown = server.post("/api/v1/feedback", &json!({"verdict": "good", "ids": ["src/cache.py:12", "gone.py:1"]}));
    assert_eq!(unknown.status, 404, "{unknown:?}");
    let found = server.post("/api/v1/search", &json!({"query": "drop_page"})).json();
    assert_eq!(found["results"][0]["access"]["feedback"]["good"], 1, "{found}");
    drop(server);

    let server = Server::start(&fixture, &["--read-only"]);
    assert_eq!(server.post("/api/v1/feedback", &verdict).status, 403);
    let shown = |server: &Server| {
        server.post("/api/v1/search", &json!({"query": "drop_page"})).json()["results"][0]["access"]["count"].clone()
    };
    assert_eq!(shown(&server), shown(&server));
}

#[test]
fn each_kind_of_error_has_its_own_status() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let json = ["content-type: application/json"];
    for (method, path, body, status, message) in [
        ("POST", "/api/v1/search", "{", 400, "EOF"),
        ("POST", "/api/v1/search", "{}", 422, "empty"),
        ("POST", "/api/v1/search", r#"{"query": 7}"#, 422, "query"),
        ("POST", "/api/v1/search", r#"{"query": "x", "limits": 3}"#, 422, "limits"),
        ("POST", "/api/v1/search", r#"{"query": "x", "limit": 0}"#, 422, "1 to 1000"),
        ("POST", "/api/v1/search", r#"{"query": "x", "mode": "fuzzy"}"#, 422, "hybrid"),
        ("POST", "/api/v1/search", r#"{"query": "x", "type": "metod"}"#, 422, "method"),
        ("POST", "/api/v1/search", r#"{"query": "x", "grep": "("}"#, 422, "("),
        ("POST", "/api/v1/search", r#"{"query": "x", "root": "y"}"#, 404, "no root"),
        ("GET", "/api/v1/search", "", 405, "GET"),
        ("GET", "/api/v1/chunk", "", 422, "id"),
        ("GET", "/api/v1/chunk?id=src/cach.py:7", "", 404, "did you mean"),
        ("GET", "/api/v1/chunk?id=src/cache.py:999", "", 404, "999"),
        ("GET", "/api/v1/file?path=../../../etc/passwd", "", 404, "is not below"),
        ("GET", "/api/v1/file?path=/etc/passwd", "", 404, "is not below"),
        ("GET", "/api/v1/blame?path=/etc/passwd", "", 404, "is not below"),
        ("GET", "/api/v1/chunk?id=/etc/passwd:1", "", 404, "is not below"),
        ("POST", "/api/v1/search", r#"{"query": "x", "lang": "pyhton"}"#, 422, "did you mean `python`?"),
        ("POST", "/api/v1/search", r#"{"lang": "klingon"}"#, 422, "Unknown language"),
        ("POST", "/api/v1/search", r#"{"path": "/etc/passwd"}"#, 422, "is outside of"),
        ("POST", "/api/v1/search", r#"{"where": "type=metod"}"#, 422, "method"),
        ("GET", "/api/v1/file?path=.git/config", "", 404, "not in the index"),
        ("GET", "/api/v1/graph?name=dropp_page", "", 404, "drop_page"),
        ("GET", "/api/v1/graph?name=drop_page&depth=1000", "", 422, "depth"),
        ("GET", "/api/v1/blame?path=gone.py", "", 404, "gone.py"),
        ("GET", "/api/v2/search", "", 404, "openapi.json"),
    ] {
        let answer = server.request(method, path, &json, body);
        assert_eq!(answer.status, status, "{method} {path} {body}: {answer:?}");
        assert!(answer.json().to_string().contains(message), "{method} {path} {body}: {answer:?}");
    }
    // HTML forms can send this content type, but they cannot send JSON.
    let form = server.request("POST", "/api/v1/search", &["content-type: text/plain"], r#"{"query": "x"}"#);
    assert_eq!(form.status, 415, "{form:?}");
}

#[test]
fn a_new_generation_is_served_without_a_restart() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let ask = || server.post("/api/v1/search", &json!({"query": "compact_segments", "record": false})).json();
    assert_ne!(ask()["results"][0]["name"], "compact_segments");
    fixture.write("src/merge.py", "def compact_segments(segments):\n    return segments\n");
    fixture.aur(&["mem", "index", "--quiet"]);
    let begun = std::time::Instant::now();
    while ask()["results"][0]["name"] != "compact_segments" {
        assert!(begun.elapsed().as_secs() < 60, "the server uses the new generation");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    // After the index is rebuilt, its data file is a new file.
    fixture.aur(&["mem", "index", "--quiet", "--force"]);
    assert_eq!(ask()["results"][0]["name"], "compact_segments");
}

#[test]
fn several_roots_are_served_by_name() {
    let (first, second) = (indexed(), Fixture::plain());
    second.write("lib/queue.py", "def enqueue_job(job):\n    return job\n").write("setup.py", "");
    second.aur(&["mem", "index", "--quiet"]);
    let trusted = [first.user_directory(), second.user_directory()];
    // The second index was built by another user, so it must be trusted first.
    let root = second.root().to_str().expect("the path is UTF-8");
    assert_eq!(first.aur(&["mem", "trust-index", "--root", root]).code, Some(0), "{trusted:?}");
    let server = Server::start(&first, &["--root", ".", "--root", root]);
    let name = second.root().file_name().and_then(|name| name.to_str()).expect("the name is UTF-8");
    let roots = server.get("/api/v1/roots").json();
    assert_eq!((&roots[1]["name"], &roots[1]["indexed"]), (&name.into(), &true.into()), "{roots}");
    let ask = |root: Option<&str>| {
        let mut body = json!({"query": "enqueue_job"});
        if let Some(root) = root {
            body["root"] = root.into();
        }
        server.post("/api/v1/search", &body).json()["results"][0]["name"].clone()
    };
    assert_eq!(ask(Some(name)), "enqueue_job");
    // Without a root name, all roots are searched together, and results name their root.
    assert_eq!(ask(None), "enqueue_job");
    let all = server.post("/api/v1/search", &json!({"query": "enqueue_job", "facets": true})).json();
    assert_eq!((&all["results"][0]["root"], &all["roots"][1]["name"]), (&name.into(), &name.into()), "{all}");
    assert_eq!(all["facets"]["roots"].as_array().map(Vec::len), Some(2), "{all}");
    let first_name = roots[0]["name"].clone();
    let one = server.post("/api/v1/search", &json!({"query": "enqueue_job", "root": [first_name]})).json();
    assert_ne!(one["results"][0]["name"], "enqueue_job");
    let unknown = server.post("/api/v1/search", &json!({"query": "enqueue_job", "root": ["nowhere"]}));
    assert_eq!(unknown.status, 404);
}

#[test]
fn health_readiness_and_metrics_are_served() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    assert_eq!(server.get("/healthz").json(), json!({"status": "ok"}));
    assert_eq!(server.get("/readyz").json(), json!({"status": "ok"}));
    server.post("/api/v1/search", &json!({"query": "page"}));
    let uses = |figures: &str, cache: &str, result: &str| -> u64 {
        let labels = format!(r#",cache="{cache}",result="{result}"}} "#);
        let line = figures.lines().find(|line| line.starts_with("aurora_cache_uses_total{") && line.contains(&labels));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or_else(|| panic!("{labels} in {figures}"))
    };
    let figures = server.get("/metrics");
    assert_eq!((uses(&figures.body, "generation", "miss"), uses(&figures.body, "texts", "miss") > 0), (1, true));
    let before = figures.body.clone();
    server.post("/api/v1/search", &json!({"query": "page", "record": false}));
    let after = server.get("/metrics").body;
    for (cache, result, is_used) in
        [("generation", "hit", true), ("generation", "miss", false), ("texts", "hit", true), ("texts", "miss", false)]
    {
        let (before, after) = (uses(&before, cache, result), uses(&after, cache, result));
        assert_eq!(after > before, is_used, "{cache} {result}: {before}, then {after}");
    }
    assert!(figures.head.contains("openmetrics-text"), "{figures:?}");
    let name = fixture.root().file_name().and_then(|name| name.to_str()).expect("the name is UTF-8");
    for line in [
        r#"aurora_requests_total{method="POST",route="/api/v1/search",status="200"} 1"#.to_owned(),
        format!(r#"aurora_index_files{{root="{name}"}} {}"#, server.get("/api/v1/stats").json()["files"]),
        r#"aurora_search_duration_seconds_count{interface="http",mode="hybrid"} 1"#.to_owned(),
        r#"aurora_search_phase_duration_seconds_count{phase="rank",mode="hybrid"} 1"#.to_owned(),
        "aurora_search_results_count 1".to_owned(),
        "aurora_searches_without_close_result_total 0".to_owned(),
        "aurora_searches_without_vectors_total 0".to_owned(),
        "# EOF".to_owned(),
    ] {
        assert!(figures.body.contains(&line), "{line} in {}", figures.body);
    }
    let usage = fixture.user_directory().join("usage/usage.jsonl");
    let record = std::fs::read_to_string(&usage).expect("the search is recorded");
    assert!(record.lines().count() == 1 && record.contains(r#""via":"http""#) && !record.contains("page"), "{record}");
    let log = std::fs::read_to_string(fixture.user_directory().join("logs/aurora.log")).expect("the log is written");
    assert!(log.contains(r#"route="/api/v1/search""#) && !log.contains(r#"query="page""#), "{log}");
    let server = Server::start(&fixture, &["--read-only"]);
    server.post("/api/v1/search", &json!({"query": "page"}));
    assert_eq!(std::fs::read_to_string(&usage).ok(), Some(record));

    let plain = Fixture::plain();
    let server = Server::start(&plain, &["--root", "."]);
    assert_eq!((server.get("/healthz").status, server.get("/readyz").status), (200, 503));
    let answer = server.post("/api/v1/search", &json!({"query": "page"}));
    assert!(answer.status == 503 && answer.body.contains("aur mem index"), "{answer:?}");
}
