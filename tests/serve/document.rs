//! Answers of the server conform to the OpenAPI document.

use serde_json::{Value, json};

use crate::client::{Answer, Server};
use crate::indexed;

/// Returns the path in the document that matches the path of a request. Each part of the returned path either equals
/// the part of the request, or is a variable.
fn route_of<'d>(document: &'d Value, path: &str) -> &'d str {
    let path = path.split('?').next().expect("the URL has a path");
    let fits = |route: &str| {
        let equal = |(part, asked): (&str, &str)| part == asked || part.starts_with('{');
        route.split('/').count() == path.split('/').count() && route.split('/').zip(path.split('/')).all(equal)
    };
    let mut routes: Vec<&String> = document["paths"].as_object().expect("the value is an object").keys().collect();
    routes.sort_by_key(|route| *route != path);
    routes.into_iter().find(|route| fits(route)).unwrap_or_else(|| panic!("no route for {path}"))
}

/// Calls `visit` with every reference in a document.
fn references(value: &Value, visit: &mut impl FnMut(&str)) {
    match value {
        Value::Object(object) => object.iter().for_each(|(key, value)| match value.as_str() {
            Some(name) if key == "$ref" => visit(name),
            _ => references(value, visit),
        }),
        Value::Array(values) => values.iter().for_each(|value| references(value, visit)),
        _ => {}
    }
}

/// Checks an answer against the schema in the document for the path, method and status.
pub(crate) fn check(document: &Value, method: &str, path: &str, answer: &Answer) {
    let route = route_of(document, path);
    let operation = &document["paths"][route][method.to_lowercase()];
    let response = &operation["responses"][answer.status.to_string()];
    assert!(response.is_object(), "{method} {route} has no status {}: {answer:?}", answer.status);
    let Some(schema) = response["content"]["application/json"].get("schema") else {
        assert!(response["content"].is_object() || answer.body.is_empty(), "{method} {route}: {answer:?}");
        return;
    };
    let mut schema = schema.clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is valid");
    let errors: Vec<String> =
        validator.iter_errors(&answer.json()).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{method} {path}: {errors:#?}\n{}", answer.body);
}

#[test]
fn every_answer_conforms_to_the_document() {
    let fixture = indexed();
    let server = Server::start(&fixture, &[]);
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let found = |body: Value| ("POST", "/api/v1/search", Some(body));
    let requests = [
        found(json!({"query": "remove the oldest page", "content": true})),
        found(json!({"query": "page", "group": "file", "mode": "sparse"})),
        found(json!({"fixed": "page"})),
        found(json!({"query": "page", "budget": 100})),
        found(json!({"query": "page", "facets": true, "highlight": true})),
        found(json!({"query": "page", "memory": true})),
        found(json!({"query": ""})),
        found(json!({"query": "x", "root": "y"})),
        (
            "POST",
            "/api/v1/search/batch",
            Some(json!({"queries": [{"query": "page"}, {"query": "page", "budget": 9}, {}]})),
        ),
        ("POST", "/api/v1/search/batch", Some(json!({"queries": []}))),
        ("GET", "/api/v1/chunk?id=src/cache.py:7", None),
        ("GET", "/api/v1/chunk?id=gone", None),
        ("GET", "/api/v1/file?path=src/cache.py", None),
        ("GET", "/api/v1/file?path=src/cache.py&highlight=true", None),
        ("GET", "/api/v1/file?path=gone", None),
        ("GET", "/api/v1/graph?name=drop_page&relation=callers", None),
        ("GET", "/api/v1/graph?name=evict_oldest", None),
        ("GET", "/api/v1/graph?name=gone", None),
        ("GET", "/api/v1/graph/impact?name=drop_page", None),
        ("GET", "/api/v1/graph/impact?name=gone", None),
        ("GET", "/api/v1/graph/impact?diff=HEAD", None),
        ("GET", "/api/v1/graph/unused", None),
        ("GET", "/api/v1/graph/unused?path=src&min_confidence=0", None),
        ("GET", "/api/v1/graph/imports?name=src/cache.py", None),
        ("GET", "/api/v1/graph/imports?name=gone", None),
        ("GET", "/api/v1/blame?path=src/cache.py", None),
        ("GET", "/api/v1/blame?path=gone", None),
        ("GET", "/api/v1/stats", None),
        ("GET", "/api/v1/tree", None),
        ("GET", "/api/v1/tree?path=src&depth=0", None),
        ("GET", "/api/v1/tree?path=gone", None),
        ("GET", "/api/v1/tree?depth=9", None),
        ("GET", "/api/v1/omissions", None),
        ("GET", "/api/v1/omissions?root=gone", None),
        ("GET", "/api/v1/roots", None),
        ("POST", "/api/v1/feedback", Some(json!({"verdict": "helpful", "ids": ["src/cache.py:7"]}))),
        ("POST", "/api/v1/feedback", Some(json!({"verdict": "helpful", "ids": ["gone"]}))),
        ("GET", "/api/v1/index", None),
        ("GET", "/api/v1/index?root=gone", None),
        ("POST", "/api/v1/index", Some(json!({"force": true}))),
        ("GET", "/api/v1/runs", None),
        ("POST", "/api/v1/sessions", Some(json!({}))),
        ("GET", "/api/v1/sessions", None),
        ("POST", "/api/v1/sessions/1/articles", Some(json!({"title": "t", "url": "u", "content": "zebras graze"}))),
        ("POST", "/api/v1/sessions/1/articles", Some(json!({"title": "t"}))),
        ("POST", "/api/v1/sessions/7/articles", Some(json!({"content": "zebras"}))),
        ("GET", "/api/v1/sessions/1/articles", None),
        ("GET", "/api/v1/sessions/7/articles", None),
        ("POST", "/api/v1/sessions/1/search", Some(json!({"query": "zebras"}))),
        (
            "POST",
            "/api/v1/sessions/1/search",
            Some(json!({"query": "zebras", "search_mode": "sparse", "include_content": false})),
        ),
        ("POST", "/api/v1/sessions/1/search", Some(json!({"query": ""}))),
        (
            "POST",
            "/api/v1/sessions/1/search/batch",
            Some(json!({"queries": [{"query": "zebras"}, {"query": "", "top_k": 3}]})),
        ),
        ("POST", "/api/v1/sessions/1/search/batch", Some(json!({"queries": []}))),
        ("GET", "/api/v1/sessions/1/search/stats", None),
        ("GET", "/api/v1/sessions/7/search/stats", None),
        ("POST", "/api/v1/memory/sessions", Some(json!({}))),
        ("POST", "/api/v1/memory/recall", Some(json!({"query": "page"}))),
        ("POST", "/api/v1/memory/remember", Some(json!({"kind": "note", "content": "x"}))),
        ("POST", "/api/v1/memory/outcome", Some(json!({"session": "s", "result": "success"}))),
        ("GET", "/healthz", None),
        ("GET", "/readyz", None),
        ("GET", "/metrics", None),
    ];
    for (method, path, body) in &requests {
        let answer = match body {
            Some(body) => server.post(path, body),
            None => server.get(path),
        };
        check(&document, method, path, &answer);
    }
    let deletions = [
        "/api/v1/index",
        "/api/v1/sessions/1/articles/1",
        "/api/v1/sessions/1/articles/1",
        "/api/v1/sessions/1",
        "/api/v1/sessions/1",
        "/api/v1/sessions/one",
    ];
    for path in deletions {
        check(&document, "DELETE", path, &server.request("DELETE", path, &[], ""));
    }
    // Every operation in the document was requested, except for the stream of events, which never ends.
    let asked: Vec<(&str, &str)> = requests
        .iter()
        .map(|(method, path, _)| (*method, *path))
        .chain(deletions.map(|path| ("DELETE", path)))
        .collect();
    references(&document, &mut |name| {
        let known = name.strip_prefix("#").and_then(|pointer| document.pointer(pointer));
        assert!(known.is_some(), "{name} does not exist");
    });
    let responses = |operation: &Value| operation["responses"].as_object().expect("the value is an object").clone();
    for (route, operations) in document["paths"].as_object().expect("the value is an object") {
        for method in operations.as_object().expect("the value is an object").keys() {
            let is_asked =
                |(other, path): &(&str, &str)| other.to_lowercase() == *method && route_of(&document, path) == route;
            let is_stream = route == "/api/v1/index/events";
            assert!(is_stream || asked.iter().any(is_asked), "{method} {route} was not requested");
            let undescribed =
                |(_, response): (String, Value)| response["description"].as_str().is_none_or(str::is_empty);
            assert!(
                !responses(&operations[method]).into_iter().any(undescribed),
                "{method} {route} has a response without a description"
            );
        }
    }
}
