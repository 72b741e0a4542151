//! `aur mem search --stdin --format jsonl`, the interface for other programs.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::{command, indexed};

const ARGUMENTS: [&str; 7] = ["mem", "search", "--stdin", "--format", "jsonl", "--limit", "3"];

/// Writes the input to the program and returns the answers that it prints.
fn answers(fixture: &Fixture, input: &[u8], extra: &[&str]) -> Vec<Value> {
    let mut child = command(fixture)
        .args(ARGUMENTS)
        .args(extra)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("the stream is piped");
    stdin.write_all(input).expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).expect("the text is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is a JSON object")).collect()
}

#[test]
fn every_line_is_answered_in_order() {
    let fixture = indexed();
    let answers = answers(&fixture, b"UserManager\r\n\nretry\xff backoff\nhash_password", &[]);
    let queries: Vec<&str> = answers.iter().filter_map(|answer| answer["query"].as_str()).collect();
    assert_eq!(queries, ["UserManager", "", "retry\u{fffd} backoff", "hash_password"]);
    assert!(answers[1]["error"].is_string());
    assert_eq!(answers[1]["results"], Value::Array(Vec::new()));
    assert_eq!(answers[3]["results"][0]["name"], "hash_password");
}

#[test]
fn an_answer_has_the_documented_shape() {
    let fixture = indexed();
    for mode in ["hybrid", "sparse", "dense"] {
        let answer = &answers(&fixture, b"authenticate_user\n", &["--mode", mode])[0];
        assert_eq!(answer["mode"], mode);
        assert!(answer["took_ms"].as_f64().is_some_and(|time| time >= 0.0), "{answer}");
        let phases = answer["phases"].as_object().expect("the value is an object");
        assert!(phases.values().all(|time| time.as_f64().is_some_and(|time| time >= 0.0)), "{answer}");
        assert!(phases["rank"].as_f64() > Some(0.0) && phases["present"].as_f64() > Some(0.0), "{answer}");
        assert_eq!(phases["vectors"].as_f64() > Some(0.0), mode != "sparse", "{answer}");
        let results = answer["results"].as_array().expect("the value is a list");
        assert!((1..=3).contains(&results.len()), "{answer}");
        let mut scores = Vec::new();
        for (place, hit) in results.iter().enumerate() {
            assert_eq!(hit["rank"], place + 1);
            for key in ["id", "file", "type", "language", "name", "qualified_name"] {
                assert!(hit[key].is_string(), "{key} in {hit}");
            }
            let lines = hit["line_start"].as_u64().zip(hit["line_end"].as_u64());
            assert!(lines.is_some_and(|(start, end)| 1 <= start && start <= end), "{hit}");
            for key in ["bm25", "activation", "final"] {
                assert!(hit["scores"][key].is_number(), "{key} in {hit}");
            }
            assert!(hit["scores"].get("semantic").is_some(), "{hit}");
            assert_eq!(hit["score"], hit["scores"]["final"]);
            assert!(hit["git"].get("commits").is_some() && hit["git"].get("last_modified").is_some(), "{hit}");
            assert!(hit["git"]["authors"].is_array(), "{hit}");
            assert!(!hit["file"].as_str().unwrap_or_default().contains('\\'));
            scores.push(hit["score"].as_f64().expect("the value is a number"));
        }
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
    let hit = &answers(&fixture, b"authenticate_user\n", &[])[0]["results"][0];
    assert_eq!(hit["id"], "code:src/auth/manager.py:UserManager.authenticate_user");
    assert_eq!(hit["git"]["commits"], 2);
    assert_eq!(hit["git"]["authors"][0], "Ada");
}

#[test]
fn an_answer_is_flushed_before_the_next_query() {
    let fixture = indexed();
    let mut child = command(&fixture)
        .args(ARGUMENTS)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("the stream is piped");
    let mut stdout = BufReader::new(child.stdout.take().expect("the stream is piped"));
    for query in ["UserManager", "RetryWithBackoff"] {
        writeln!(stdin, "{query}").expect("the program reads");
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line can be read");
        let answer: Value = serde_json::from_str(&line).expect("the text is JSON");
        assert_eq!(answer["results"][0]["name"], query);
    }
    drop(stdin);
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}

#[test]
fn one_query_gives_one_object() {
    let fixture = indexed();
    for format in ["json", "jsonl"] {
        let run = crate::run(&fixture, &["mem", "search", "UserManager", "--format", format]);
        assert_eq!(run.json()["results"][0]["name"], "UserManager");
        assert_eq!(run.out.lines().count() == 1, format == "jsonl");
    }
}
