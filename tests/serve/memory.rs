//! Memory over HTTP: only with a token, and only for sessions that the server has issued.

use serde_json::{Value, json};

use crate::client::{Answer, Server};
use crate::document::check;
use crate::fixture::Fixture;
use crate::indexed;

const TOKEN: &str = "token-of-the-owner";

fn start(fixture: &Fixture, arguments: &[&str]) -> Server {
    fixture.write_for_user("token", TOKEN);
    let file = fixture.user_directory().join("token").display().to_string();
    Server::start(fixture, &[&["--token-file", &file], arguments].concat())
}

fn post(server: &Server, path: &str, body: &Value) -> Answer {
    let token = format!("authorization: Bearer {TOKEN}");
    server.request("POST", path, &["content-type: application/json", &token], &body.to_string())
}

#[test]
fn a_server_without_a_token_says_how_to_enable_memory() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    for path in ["sessions", "recall", "remember", "outcome"] {
        let answer = server.post(&format!("/api/v1/memory/{path}"), &json!({"query": "page"}));
        assert_eq!(answer.status, 403, "{path}: {answer:?}");
        assert!(answer.json()["help"].as_str().is_some_and(|help| help.contains("--token-file")), "{answer:?}");
    }
}

#[test]
fn every_answer_about_memory_conforms_to_the_document() {
    let fixture = indexed();
    let server = start(&fixture, &[]);
    let document = serde_json::to_value(aurora_serve::openapi()).expect("the document is JSON");
    let ask = |path: &str, body: Value, status: u16| {
        let path = format!("/api/v1/memory/{path}");
        let answer = post(&server, &path, &body);
        assert_eq!(answer.status, status, "{path} {body}: {answer:?}");
        check(&document, "POST", &path, &answer);
        answer.json()
    };
    assert_eq!(server.post("/api/v1/memory/recall", &json!({"query": "page"})).status, 401);
    let session = ask("sessions", json!({}), 201)["id"].as_str().expect("the value is a string").to_owned();
    let shared = json!({"kind": "note", "content": "Pages are evicted at night", "tags": ["ops"]});
    let shared = ask("remember", shared, 200);
    assert!(shared["stored"] == true && shared.get("session").is_none(), "{shared}");
    let private = json!({"kind": "note", "content": "The oldest page is private", "session": session});
    assert_eq!(ask("remember", private, 200)["session"], session.as_str());
    let query = json!({"query": "evict the oldest page"});
    let recalled = ask("recall", query.clone(), 200);
    assert!(recalled["session"].as_str().is_some_and(|id| id.starts_with("s-") && id != session), "{recalled}");
    assert!(recalled["notice"].as_str().is_some_and(|notice| notice.contains("data, not instructions")));
    let text = recalled.to_string();
    assert!(text.contains("at night") && text.contains("def evict_oldest") && !text.contains("is private"), "{text}");
    let mut own = query.clone();
    own["session"] = json!(session);
    own["scope"] = json!("session");
    let own_text = ask("recall", own, 200).to_string();
    assert!(own_text.contains("is private") && !own_text.contains("at night"), "{own_text}");
    let judged = ask("outcome", json!({"session": session, "result": "success"}), 200);
    assert!(judged["chunks"].as_array().is_some_and(|chunks| !chunks.is_empty()), "{judged}");

    ask("outcome", json!({"session": session, "result": "success"}), 404);
    ask("outcome", json!({"session": session, "result": "victory"}), 422);
    let unknown = ask("recall", json!({"query": "page", "session": "s1"}), 404);
    assert!(unknown["help"].as_str().is_some_and(|help| help.contains("/api/v1/memory/sessions")), "{unknown}");
    ask("recall", json!({"query": "page", "root": "gone"}), 404);
    ask("recall", json!({"query": " "}), 422);
    ask("recall", json!({"query": "page", "budget": 0}), 422);
    ask("recall", json!({"query": "page", "scope": "everything"}), 422);
    ask("remember", json!({"kind": "turn", "content": "Hello"}), 422);
    ask("remember", json!({"kind": "note", "content": "x".repeat(70_000)}), 422);
    ask("remember", json!({"kind": "note", "content": "x", "session": "s1"}), 404);
    let text = |number: usize| format!("Entry {number} {}", "and more ".repeat(7_000));
    let entry = |number| json!({"kind": "note", "content": text(number), "session": session});
    let remember = |number| post(&server, "/api/v1/memory/remember", &entry(number));
    let limited = (0..140).map(remember).find(|answer| answer.status != 200).expect("the quota is exceeded");
    assert_eq!(limited.status, 429, "{limited:?}");
    check(&document, "POST", "/api/v1/memory/remember", &limited);
}

#[test]
fn a_search_includes_memory_only_on_request_and_with_the_token() {
    let fixture = indexed();
    let server = start(&fixture, &[]);
    let document = serde_json::to_value(aurora_serve::openapi()).expect("the document is JSON");
    let session = post(&server, "/api/v1/memory/sessions", &json!({})).json()["id"].clone();
    for entry in [
        json!({"kind": "note", "content": "Zebra pages are evicted at night"}),
        json!({"kind": "note", "content": "The zebra page is private", "session": session}),
    ] {
        assert_eq!(post(&server, "/api/v1/memory/remember", &entry).status, 200);
    }
    let ask = |more: Value, status: u16| {
        let mut body = json!({"query": "zebra page"});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let answer = post(&server, "/api/v1/search", &body);
        assert_eq!(answer.status, status, "{body}: {answer:?}");
        check(&document, "POST", "/api/v1/search", &answer);
        answer.json()
    };
    let sources = |answer: &Value| -> Vec<Value> {
        answer["results"].as_array().expect("a list").iter().map(|hit| hit["source"].clone()).collect()
    };
    let code = ask(json!({}), 200);
    assert!(!sources(&code).contains(&json!("memory")) && !code.to_string().contains("Memory was searched"), "{code}");
    let both = ask(json!({"memory": true}), 200);
    assert!(sources(&both).contains(&json!("memory")) && sources(&both).contains(&json!("code")), "{both}");
    let text = both.to_string();
    assert!(text.contains("at night") && !text.contains("private") && text.contains("Memory was searched"), "{text}");
    let own = ask(json!({"memory": true, "session": session}), 200).to_string();
    assert!(own.contains("is private") && own.contains("at night"), "{own}");
    let texts = ask(json!({"memory": true, "budget": 500}), 200).to_string();
    assert!(texts.contains("at night") && texts.contains("Memory was searched"), "{texts}");
    ask(json!({"session": session}), 422);
    ask(json!({"memory": true, "session": "s1"}), 404);
    let batch = json!({"queries": [{"query": "zebra page"}, {"query": "zebra page", "memory": true}]});
    let batch = post(&server, "/api/v1/search/batch", &batch).json();
    assert!(!batch["answers"][0].to_string().contains("at night"), "{batch}");
    assert!(batch["answers"][1].to_string().contains("at night"), "{batch}");

    let open = Server::start(&fixture, &[]);
    let refused = open.post("/api/v1/search", &json!({"query": "zebra page", "memory": true}));
    assert_eq!(refused.status, 403, "{refused:?}");
    check(&document, "POST", "/api/v1/search", &refused);
    assert_eq!(open.post("/api/v1/search", &json!({"query": "zebra page"})).status, 200);
}

#[test]
fn operations_on_memory_are_counted_by_result() {
    let fixture = indexed();
    let server = start(&fixture, &[]);
    let ask = |path: &str, body: Value| post(&server, path, &body).json();
    let session = ask("/api/v1/memory/sessions", json!({}))["id"].clone();
    ask(
        "/api/v1/memory/remember",
        json!({"kind": "note", "content": "Pages are evicted at night", "session": session}),
    );
    ask("/api/v1/memory/remember", json!({"kind": "note", "content": "x", "session": "s1"}));
    ask("/api/v1/memory/recall", json!({"query": "evicted pages", "session": session}));
    ask("/api/v1/memory/recall", json!({"query": "evicted pages", "session": "s1"}));
    ask("/api/v1/search", json!({"query": "evicted pages", "memory": true}));
    ask("/api/v1/search", json!({"query": "evicted pages"}));
    ask("/api/v1/memory/outcome", json!({"session": session, "result": "success"}));
    let token = format!("authorization: Bearer {TOKEN}");
    let figures = server.request("GET", "/metrics", &[&token], "").body;
    for (operation, result, count) in [
        ("session", "ok", 1),
        ("remember", "ok", 1),
        ("remember", "refused", 1),
        ("recall", "ok", 1),
        ("recall", "refused", 1),
        ("search", "ok", 1),
        ("outcome", "ok", 1),
    ] {
        let line = format!(r#"aurora_memory_operations_total{{operation="{operation}",result="{result}"}} {count}"#);
        assert!(figures.contains(&line), "{line} in {figures}");
    }
    let line = r#"aurora_memory_operation_duration_seconds_count{operation="recall"} 2"#;
    assert!(figures.contains(line), "{line} in {figures}");
}

#[test]
fn a_read_only_server_only_recalls() {
    let fixture = indexed();
    let server = start(&fixture, &["--read-only"]);
    assert_eq!(post(&server, "/api/v1/memory/recall", &json!({"query": "page"})).status, 200);
    for (path, body) in [
        ("remember", json!({"kind": "note", "content": "x"})),
        ("outcome", json!({"session": "s", "result": "success"})),
    ] {
        assert_eq!(post(&server, &format!("/api/v1/memory/{path}"), &body).status, 403, "{path}");
    }
    assert!(!fixture.path(".aurora/memory").exists() && !fixture.user_directory().join("memory").exists());
}
