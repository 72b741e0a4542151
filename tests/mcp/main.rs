//! `aur mcp` and `aur init`, as agents use them.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod client;
mod durability;
mod init;
mod memory;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use client::Client;
use fixture::{CACHE, Fixture};

fn project() -> Fixture {
    let fixture = Fixture::git();
    fixture
        .write(".gitignore", ".aurora/\n")
        .write("src/cache.py", CACHE)
        .write("notes ä/read me.md", "# Zebras\n\nThey graze.\n");
    fixture.commit("first");
    fixture
}

/// Calls a tool repeatedly until the index is complete, and returns the last answer.
fn complete_answer(client: &mut Client, tool: &str, arguments: &Value) -> String {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let (text, is_error) = client.call(tool, arguments.clone());
        assert!(!is_error, "{tool} {arguments}: {text}");
        if !text.starts_with("The index is being built") && !text.starts_with("The index is not complete") {
            return text;
        }
        assert!(Instant::now() < end, "{text}");
    }
}

#[test]
fn every_tool_answers_in_a_project_that_had_no_index() {
    let fixture = project();
    let mut client = Client::start(&fixture, &[]);
    let tools = client.request("tools/list", json!({}));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .expect("the value is a list")
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["search", "read", "grep", "graph", "history", "status", "recall", "remember", "outcome"]);
    let search = complete_answer(&mut client, "search", &json!({"query": "remove the oldest page"}));
    assert!(search.starts_with("src/cache.py:") && search.contains("def evict_oldest"), "{search}");
    for (tool, arguments, expected) in [
        ("read", json!({"place": "src/cache.py:12-14"}), "src/cache.py:12-14 of 14 lines\n12  def drop_page(pages):"),
        ("read", json!({"place": "src/cache.py", "budget": 60}), "further lines: read src/cache.py:"),
        ("read", json!({"place": "notes ä/read me.md"}), "They graze."),
        ("grep", json!({"pattern": "def \\w+_page"}), "src/cache.py:12: def drop_page(pages):\n"),
        ("grep", json!({"pattern": "pages[1:]", "fixed": true}), "src/cache.py:14:     return pages[1:]\n"),
        ("grep", json!({"pattern": "no such text"}), "No line matches."),
        ("graph", json!({"name": "drop_page"}), "evict_oldest"),
        ("graph", json!({"name": "evict_oldest", "relation": "callees"}), "drop_page"),
        ("history", json!({"place": "src/cache.py:1-3"}), "1-3  "),
        ("status", json!({}), "2 files"),
        ("search", json!({"query": "graze", "path": "notes*/**", "lang": ["markdown"]}), "notes ä/read me.md:"),
        ("search", json!({"where": "generated=none", "lang": "md"}), "notes ä/read me.md:"),
        ("search", json!({"path": "src/cache.py"}), "src/cache.py:"),
        ("search", json!({"type": "def"}), "src/cache.py:"),
        ("search", json!({"where": "language=md"}), "notes ä/read me.md:"),
        ("grep", json!({"pattern": "page", "where": "type!=class", "lang": "PY"}), "src/cache.py:12"),
        ("read", json!({"place": "./src/../src/cache.py:12"}), "def drop_page"),
        ("read", json!({"place": fixture.path("src/cache.py")}), "1-14 of 14 lines"),
        ("history", json!({"place": fixture.path("src/cache.py")}), "lines by author"),
        ("graph", json!({"name": format!("{}:12", fixture.path("src/cache.py").display())}), "evict_oldest"),
        ("grep", json!({"pattern": "def drop", "path": fixture.path("src")}), "src/cache.py:12"),
        ("grep", json!({"pattern": "page", "where": ["file.generated=none"]}), "src/cache.py:"),
    ] {
        let text = complete_answer(&mut client, tool, &arguments);
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
}

#[test]
fn texts_in_other_encodings_are_decoded() {
    let fixture = project();
    let wide: Vec<u8> = "\u{feff}# Stra\u{df}e\r\nnext = 1\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    fixture.write("src/latin.py", b"# A fa\xe7ade.\ndef show():\n    return 'caf\xe9'\n").write("src/wide.ps1", wide);
    let mut client = Client::start(&fixture, &[]);
    complete_answer(&mut client, "search", &json!({"query": "page"}));
    for (tool, arguments, expected) in [
        ("read", json!({"place": "src/latin.py:3"}), "3      return 'caf\u{e9}'"),
        ("read", json!({"place": "src/wide.ps1:1-2"}), "1  # Stra\u{df}e"),
        ("grep", json!({"pattern": "fa.ade"}), "src/latin.py:1: # A fa\u{e7}ade."),
    ] {
        let text = complete_answer(&mut client, tool, &arguments);
        assert!(text.contains(expected), "{tool} {arguments}: {text}");
    }
}

#[test]
fn errors_tell_the_agent_how_to_correct_the_call() {
    let fixture = project();
    let mut client = Client::start(&fixture, &[]);
    complete_answer(&mut client, "search", &json!({"query": "page"}));
    for (tool, arguments, expected) in [
        ("search", json!({}), "query"),
        ("search", json!({"query": " "}), "empty"),
        ("search", json!({"query": "x", "type": "poem"}), "poem"),
        ("search", json!({"where": "generated in [true"}), "`[` has no `]`"),
        ("grep", json!({"pattern": "page", "where": "owner"}), "Invalid condition"),
        ("read", json!({"place": "../../etc/passwd"}), "is not below"),
        ("read", json!({"place": "/etc/passwd"}), "is not below"),
        ("graph", json!({"name": "/etc/passwd:3"}), "is not below"),
        ("search", json!({"query": "page", "path": "/etc/passwd"}), "is outside of"),
        ("grep", json!({"pattern": "page", "path": "../x"}), "is outside of"),
        ("search", json!({"query": "page", "lang": "pyhton"}), "did you mean `python`?"),
        (
            "grep",
            json!({"pattern": "page", "lang": "cobol"}),
            "Unknown language 'cobol'; indexed languages: markdown, python",
        ),
        ("grep", json!({"pattern": "page", "where": "language=cobol"}), "Unknown language 'cobol'"),
        ("read", json!({"place": "src/cache.py:90-99"}), "14 lines"),
        ("grep", json!({"pattern": "("}), "("),
        ("graph", json!({"name": "evict_newest"}), "evict_oldest"),
        ("history", json!({"place": "gone.py"}), "not in the index"),
        ("search", json!({"query": "page", "root": "elsewhere"}), "root"),
    ] {
        let (text, is_error) = client.call(tool, arguments.clone());
        assert!(is_error && text.contains(expected), "{tool} {arguments}: {text}");
    }
    let unknown = client.answer("tools/call", json!({"name": "shell", "arguments": {}}));
    assert!(unknown["error"]["message"].as_str().is_some_and(|text| text.contains("shell")), "{unknown}");
    let missing = client.answer("resources/read", json!({"uri": "file:///etc/passwd"}));
    assert!(missing["error"].is_object(), "{missing}");
}

/// Returns the texts in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn a_tool_only_recommends_its_own_arguments() {
    let fixture = project();
    for number in 0..1_100 {
        fixture.write(&format!("many/f{number}.py"), format!("def f{number}():\n    return 'crowd'\n"));
    }
    let mut client = Client::start(&fixture, &[]);
    complete_answer(&mut client, "search", &json!({"query": "page"}));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["tools"].as_array().expect("the value is a list");
    let arguments = |tool: &Value| -> BTreeSet<String> {
        tool["inputSchema"]["properties"].as_object().expect("the value is an object").keys().cloned().collect()
    };
    let all: BTreeSet<String> =
        tools.iter().flat_map(arguments).chain(["limit", "mode", "group", "type"].map(String::from)).collect();
    for (tool, call) in [
        ("search", json!({})),
        ("search", json!({"query": "x", "type": "poem"})),
        ("search", json!({"query": "x", "lang": "poem"})),
        ("search", json!({"query": "x", "path": "["})),
        ("search", json!({"query": "x", "path": "/nowhere/x"})),
        ("search", json!({"query": "x", "where": "owner"})),
        ("search", json!({"query": "x", "where": "type>3"})),
        ("search", json!({"query": "x", "where": "lang=poem"})),
        ("search", json!({"query": "page", "budget": 20})),
        ("search", json!({"type": "def"})),
        ("search", json!({"query": "x", "limit": 3})),
        ("search", json!({"query": "x", "root": "y"})),
        ("grep", json!({})),
        ("grep", json!({"pattern": "crowd"})),
        ("grep", json!({"pattern": "crowd", "budget": 100})),
        ("grep", json!({"pattern": "("})),
        ("grep", json!({"pattern": "x", "type": "function"})),
        ("grep", json!({"pattern": "x", "where": "type=poem"})),
        ("grep", json!({"pattern": "x", "lang": "poem"})),
        ("grep", json!({"pattern": "x", "path": "/nowhere/x"})),
        ("grep", json!({"pattern": "\\w{1000}{1000}"})),
        ("read", json!({"place": "gone.py"})),
        ("read", json!({"place": "/nowhere"})),
        ("read", json!({"place": "src/cache.py", "budget": 40})),
        ("read", json!({"place": "src/cache.py:900"})),
        ("graph", json!({"name": "gone"})),
        ("graph", json!({"name": "src/cache.py:900"})),
        ("graph", json!({"name": "drop_page", "relation": "friends"})),
        ("graph", json!({"name": "drop_page", "depth": 99})),
        ("history", json!({"place": "gone.py"})),
        ("history", json!({"place": "many/f1.py"})),
        ("status", json!({"budget": 1})),
    ] {
        let (text, _) = client.call(tool, call.clone());
        let schema = tools.iter().find(|known| known["name"] == tool).expect("the tool is listed");
        let has = arguments(schema);
        // The answer may repeat arguments of the call.
        let given = |word: &str| call.get(word).is_some();
        let foreign = quoted(&text).filter(|word| all.contains(*word) && !has.contains(*word) && !given(word));
        assert_eq!(foreign.collect::<Vec<_>>(), [""; 0], "{tool} {call}: {text}");
        let options = text.split('`').step_by(2).any(|plain| plain.contains(" --") || plain.contains("the limit"));
        let commands = quoted(&text).all(|quoted| !quoted.starts_with("--"));
        assert!(!options && commands, "{tool} {call}: {text}");
    }
}

#[test]
fn notes_reach_the_agent() {
    let fixture = project();
    let mut client = Client::start(&fixture, &[]);
    for (tool, arguments, expected) in [
        (
            "search",
            json!({"query": "quizzxx wombatyy"}),
            "Note: No keyword matches found, falling back to semantic search",
        ),
        ("search", json!({"query": "drop_pagee"}), "searched for drop_page"),
        ("search", json!({"query": "page", "lang": "golang"}), "Note: No chunk is written in go"),
        ("grep", json!({"pattern": "page", "lang": "rs"}), "Note: No chunk is written in rust"),
        ("search", json!({"query": "page", "budget": 20}), "none fits into the budget"),
    ] {
        let answer = complete_answer(&mut client, tool, &arguments);
        assert!(answer.contains(expected), "{tool} {arguments}: {answer}");
    }
    let answer = complete_answer(&mut client, "search", &json!({"query": "page", "path": "nowhere/**"}));
    assert!(answer.contains("No indexed file matches") && !answer.contains("keyword"), "{answer}");
}

/// Returns invalid requests, each with the id and the code of the error that must answer it.
fn malformed() -> Vec<(Vec<u8>, Value, i32)> {
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    let calls = [
        (json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": []}), json!(7), -32602),
        (json!({"jsonrpc": "2.0", "id": "a", "method": "resources/read", "params": {}}), json!("a"), -32602),
        (json!({"jsonrpc": "1.0", "id": 7, "method": "ping"}), json!(7), -32600),
        (json!({"jsonrpc": "2.0", "id": 7}), json!(7), -32600),
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), json!(null), -32600),
        (json!({"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}), json!(null), -32600),
        (json!([{"jsonrpc": "2.0", "id": 7, "method": "ping"}]), json!(null), -32600),
        (json!([]), json!(null), -32600),
        (json!("ping"), json!(null), -32600),
    ];
    let texts: [&[u8]; 6] = [
        b"{\"jsonrpc\": \"2.0\", \"id\": 7, \"method\": \"ping\"",
        b"GET / HTTP/1.1",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}",
        b"\0\0\0",
        deep.as_bytes(),
        b"{} {}",
    ];
    let texts = texts.map(|text| (text.to_vec(), json!(null), -32700));
    calls.map(|(call, id, code)| (call.to_string().into_bytes(), id, code)).into_iter().chain(texts).collect()
}

#[test]
fn invalid_messages_are_answered_and_the_server_continues() {
    let fixture = project();
    let mut client = Client::connect(&fixture, &[]);
    for is_begun in [false, true] {
        if is_begun {
            client.begin();
        }
        for (text, id, code) in malformed() {
            client.send_line(&text);
            let answer = client.next();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{answer}");
            assert!(answer.as_object().is_some_and(|answer| answer.contains_key("id")), "{answer}");
        }
        client.send_line(&vec![b'a'; 5 << 20]);
        assert_eq!(client.next()["error"]["code"], -32600);
        // The server does not answer any of these messages.
        for text in [
            "",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}"#,
        ] {
            client.send_line(text.as_bytes());
        }
        client.request("ping", json!({}));
    }
    let unknown = client.answer("no/such", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    // The end of the input also ends the last line.
    let last = client.send_last(b"{");
    assert_eq!(last["error"]["code"], -32700, "{last}");
}

#[test]
fn http_answers_invalid_messages_in_json() {
    let fixture = project();
    let server = client::HttpServer::start(&fixture);
    for (text, id, code) in malformed() {
        let answer = server.post_body(&text);
        let (head, body) = answer.split_once("\r\n\r\n").expect("the response has a body");
        assert!(head.starts_with("HTTP/1.1 400") && head.contains("application/json"), "{answer}");
        let body: Value = serde_json::from_str(body).expect("the text is JSON");
        assert_eq!((&body["id"], &body["error"]["code"]), (&id, &json!(code)), "{body}");
    }
    let large = server.post_body(&vec![b' '; (256 << 10) + 1]);
    assert!(large.starts_with("HTTP/1.1 413"), "{large}");
    let ping = server.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}));
    assert!(ping.contains("\"search\""), "{ping}");
}

#[test]
fn no_answer_exceeds_its_budget() {
    let fixture = project();
    let words: String = (0..40_000).map(|number| format!("page{number} ")).collect();
    fixture
        .write("src/text.py", "def page_of_text():\n    return drop_page([])\n")
        .write("long.txt", format!("{words}\nA page.\n"))
        .write("spaces.txt", format!("A page{}.\n", " ".repeat(200_000)))
        .write(&format!("{}/page.md", ["deep"; 40].join("/")), "# Page\n\nA page.\n")
        .commit("more");
    let mut client = Client::start(&fixture, &[]);
    complete_answer(&mut client, "search", &json!({"query": "page_of_text"}));
    let long = "page ".repeat(3_000);
    let calls = [
        ("search", json!({"query": "page"})),
        ("search", json!({"query": "page_of_textt", "lang": "cobol"})),
        ("search", json!({"query": "page", "path": format!("{long}/**")})),
        ("read", json!({"place": "long.txt"})),
        ("read", json!({"place": "long.txt:1"})),
        ("read", json!({"place": "spaces.txt"})),
        ("read", json!({"place": "src/cache.py"})),
        ("read", json!({"place": long})),
        ("grep", json!({"pattern": "page"})),
        ("grep", json!({"pattern": "page|def", "path": "src/**"})),
        ("grep", json!({"pattern": format!("({long}")})),
        ("graph", json!({"name": "drop_page"})),
        ("graph", json!({"name": long})),
        ("history", json!({"place": "long.txt"})),
        ("history", json!({"place": "src/cache.py:1-9"})),
        ("status", json!({})),
    ];
    let mut seed = 7_u64;
    for round in 0..20 {
        for (tool, arguments) in &calls {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let budget = (seed >> 33) as usize % 20_usize.saturating_mul(1 << (round % 8));
            let mut arguments = arguments.clone();
            arguments["budget"] = json!(budget);
            let (text, is_error) = client.call(tool, arguments.clone());
            let tokens = aurora_query::estimate_tokens(&text);
            let is_refused = is_error && text.starts_with("`budget` is too small");
            assert_eq!(is_refused, budget < 20, "{tool} {arguments}: {text}");
            assert!(is_refused || tokens <= budget, "{tokens} tokens for {tool} {arguments}: {text}");
        }
    }
    let listed = client.request("resources/list", json!({}));
    let resources = listed["resources"].as_array().expect("the value is a list");
    let long = resources.iter().find(|resource| resource["name"] == "long.txt").expect("the resource is listed");
    let refused = client.answer("resources/read", json!({"uri": long["uri"]}));
    assert!(
        refused["error"]["message"].as_str().is_some_and(|text| text.contains("50000")),
        "large resources are refused"
    );
    let refused = client.answer("tools/call", json!({"name": "page ".repeat(9_000), "arguments": {}}));
    assert!(refused.to_string().len() < 500, "an unknown tool: {refused}");
    let refused = client.answer(&"page/".repeat(9_000), json!({}));
    assert!(refused.to_string().len() < 500, "an unknown method: {refused}");
    let root = fixture.root().file_name().expect("the path has a file name").to_string_lossy().into_owned();
    let uri = format!("aurora://{root}/chunk/long.txt:{}", "page".repeat(9_000));
    let refused = client.answer("resources/read", json!({"uri": uri}));
    assert!(refused.to_string().len() < 500, "an unknown resource: {refused}");
}

#[test]
fn files_and_chunks_are_resources() {
    let fixture = project();
    let mut client = Client::start(&fixture, &[]);
    complete_answer(&mut client, "search", &json!({"query": "page"}));
    let listed = client.request("resources/list", json!({}));
    let resources = listed["resources"].as_array().expect("the value is a list");
    assert_eq!(resources.len(), 2, "{listed}");
    for resource in resources {
        let read = client.request("resources/read", json!({"uri": resource["uri"]}));
        let text = read["contents"][0]["text"].as_str().expect("the value is a string");
        let file = fixture.path(resource["name"].as_str().expect("the value is a string"));
        assert_eq!(text, std::fs::read_to_string(file).expect("the file can be read"));
    }
    let templates = client.request("resources/templates/list", json!({}));
    assert_eq!(templates["resourceTemplates"].as_array().map(Vec::len), Some(2));
    let root = fixture.root().file_name().expect("the path has a file name").to_string_lossy().into_owned();
    let chunk = client.request("resources/read", json!({"uri": format!("aurora://{root}/chunk/src/cache.py:13")}));
    assert!(chunk["contents"][0]["text"].as_str().is_some_and(|text| text.starts_with("def drop_page")), "{chunk}");
}

#[test]
fn the_first_call_reports_progress() {
    let fixture = Fixture::git();
    for file in 0..3_000 {
        fixture.write(&format!("many/f{file}.py"), CACHE.replace("drop_page", &format!("drop_page_{file}")));
    }
    fixture.commit("many");
    let mut client = Client::start(&fixture, &[]);
    let (text, is_error) = client.call_with_progress("search", json!({"query": "drop_page_2999"}));
    assert!(!is_error, "{text}");
    assert!(client.progress.iter().all(|progress| progress["progress"].is_number()), "{:?}", client.progress);
    let text = complete_answer(&mut client, "search", &json!({"query": "drop_page_2999"}));
    assert!(text.contains("drop_page_2999"), "{text}");
}

#[test]
fn several_roots_can_be_searched_and_a_read_only_server_writes_nothing() {
    let (one, other) = (project(), Fixture::git());
    other.write("herd.py", "def count_zebras(herd):\n    return len(herd)\n").commit("first");
    let other_root = other.root().display().to_string();
    let mut client = Client::start(&one, &["--root", &one.root().display().to_string(), "--root", &other_root]);
    let name = other.root().file_name().expect("the path has a file name").to_string_lossy().into_owned();
    let found = complete_answer(&mut client, "search", &json!({"query": "count_zebras", "root": name}));
    assert!(found.starts_with("herd.py:"), "{found}");
    // Without a root name, all roots are searched. If a path begins with the name of a root, only this root is meant.
    let found = complete_answer(&mut client, "search", &json!({"query": "count_zebras"}));
    assert!(found.starts_with(&format!("{name}/herd.py:")), "{found}");
    let read = complete_answer(&mut client, "read", &json!({"place": format!("{name}/herd.py:1")}));
    assert!(read.starts_with(&format!("In {name}:\nherd.py:1-1")), "{read}");
    let graph = complete_answer(&mut client, "graph", &json!({"name": "count_zebras"}));
    assert!(graph.starts_with(&format!("In {name}:\n")), "{graph}");
    let lines = complete_answer(&mut client, "grep", &json!({"pattern": "def count_"}));
    assert!(lines.contains(&format!("{name}/herd.py:1: def count_zebras")), "{lines}");
    assert_eq!(complete_answer(&mut client, "status", &json!({})).matches("root ").count(), 2);
    drop(client);
    let fresh = project();
    let mut reader = Client::start(&fresh, &["--read-only"]);
    let (text, _) = reader.call("search", json!({"query": "page"}));
    assert!(text.contains("has no index"), "{text}");
    assert!(!fresh.path(".aurora").exists());
}

#[test]
fn the_same_tools_are_served_over_http() {
    let fixture = project();
    let server = client::HttpServer::start(&fixture);
    let initialize = server.post(&client::initialize());
    assert!(initialize.contains("\"serverInfo\""), "{initialize}");
    let call =
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "status", "arguments": {}}});
    let end = Instant::now() + Duration::from_secs(60);
    while !server.post(&call).contains("2 files") {
        assert!(Instant::now() < end, "{}", server.post(&call));
    }
    let stranger = server.send(&call, "evil.example.org");
    assert!(stranger.starts_with("HTTP/1.1 421"), "{stranger}");
}
