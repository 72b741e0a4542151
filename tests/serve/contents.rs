//! Data that the web page needs in addition to search results: facets, tokens of code, contents by directory, and
//! skipped files.

use serde_json::json;

use crate::client::Server;
use crate::indexed;

#[test]
fn facets_are_counted_on_request() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let plain = server.post("/api/v1/search", &json!({"query": "page retry", "record": false})).json();
    assert!(plain.get("facets").is_none() && plain["results"][0]["snippet"][0].get("tokens").is_none(), "{plain}");
    let facets = |body| server.post("/api/v1/search", &body).json()["facets"].clone();
    let all = facets(json!({"query": "page retry", "facets": true, "record": false, "limit": 1}));
    assert_eq!(all["languages"], json!([{"value": "python", "chunks": 4}, {"value": "go", "chunks": 2}]), "{all}");
    assert_eq!(all["directories"], json!([{"value": "src", "chunks": 4}, {"value": "http", "chunks": 2}]), "{all}");
    let narrow = facets(json!({"query": "page retry", "facets": true, "record": false, "lang": "go"}));
    let types = json!([{"value": "code", "chunks": 1}, {"value": "function", "chunks": 1}]);
    assert_eq!((&narrow["chunks"], &narrow["types"]), (&2.into(), &types), "{narrow}");
    let listed = facets(json!({"fixed": "growing pause", "facets": true, "record": false}));
    assert_eq!(listed["languages"], json!([{"value": "go", "chunks": 1}]), "{listed}");
}

#[test]
fn code_is_served_with_tokens() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let body = json!({"query": "evict_oldest", "highlight": true, "record": false, "limit": 1});
    let found = server.post("/api/v1/search", &body).json();
    let lines = found["results"][0]["snippet"].as_array().expect("the value is a list").clone();
    let line = lines
        .iter()
        .find(|line| line["text"].as_str().is_some_and(|text| text.contains("def evict")))
        .expect("the line is shown");
    assert_eq!(line["tokens"], json!([[4, 7, "keyword"], [21, 25, "keyword"]]), "{found}");
    let path = "/api/v1/file?path=src/cache.py";
    assert!(server.get(path).json().get("tokens").is_none());
    let file = server.get(&format!("{path}&highlight=true")).json();
    let tokens = file["tokens"].as_array().expect("the value is a list");
    assert_eq!(tokens.len(), crate::CACHE.lines().count());
    assert_eq!((&tokens[3], &tokens[0]), (&json!([[0, 5, "keyword"]]), &json!([[0, 23, "string"]])), "{file}");
}

#[test]
fn a_file_in_another_encoding_is_shown_decoded() {
    let fixture = indexed();
    fixture.write("src/latin.py", b"# A fa\xe7ade.\ndef show():\n    return 'caf\xe9'\n");
    fixture.aur(&["mem", "index", "--quiet"]);
    let server = Server::start(&fixture, &["--read-only"]);
    let file = server.get("/api/v1/file?path=src/latin.py&highlight=true").json();
    assert_eq!(file["content"], "# A fa\u{e7}ade.\ndef show():\n    return 'caf\u{e9}'\n", "{file}");
    assert_eq!((&file["file_state"], &file["lines"]), (&json!("unchanged"), &json!(3)), "{file}");
    assert_eq!(file["tokens"].as_array().map(Vec::len), Some(3), "{file}");
}

#[test]
fn the_tree_counts_the_contents_of_directories() {
    let fixture = indexed();
    fixture.write("src/deep/er/a.py", "def deepest():\n    return 1\n").write("src/x.bin", [0, 159, 146, 150]);
    fixture.aur(&["mem", "index", "--quiet"]);
    let server = Server::start(&fixture, &["--read-only"]);
    let stats = server.get("/api/v1/stats").json();
    let tree = server.get("/api/v1/tree?depth=1").json();
    let root = &tree["directory"];
    assert_eq!(root["chunks"], stats["chunks"], "{tree}");
    let names: Vec<_> =
        root["directories"].as_array().expect("the value is a list").iter().map(|one| &one["path"]).collect();
    assert_eq!(names, ["http", "src"]);
    assert!(root["directories"][1].get("directories").is_none(), "{tree}");
    let src = server.get("/api/v1/tree?path=src&depth=2").json();
    assert_eq!(src["directory"]["bytes"], root["directories"][1]["bytes"]);
    assert_eq!(src["directory"]["directories"][0]["directories"][0]["path"], "src/deep/er", "{src}");
    assert_eq!(src["files"][0]["path"], "src/cache.py", "{src}");
    assert_eq!(server.get("/api/v1/tree?path=sr").status, 404);
    assert_eq!(server.get("/api/v1/tree?path=src/cache.py").status, 404);
}

#[test]
fn omissions_equal_the_output_of_the_command_line() {
    let fixture = indexed();
    fixture.write("Cargo.lock", "version = 4\n").write("src/x.bin", [0, 159, 146, 150]);
    let server = Server::start(&fixture, &["--read-only"]);
    let answer = server.get("/api/v1/omissions").json();
    assert_eq!(answer, fixture.aur(&["mem", "stats", "--skipped", "--format", "json"]).json());
    assert_eq!(answer["reasons"]["lock file"], 1, "{answer}");
}
