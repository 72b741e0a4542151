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
