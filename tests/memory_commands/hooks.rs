//! The hooks that agents run for prompts and at the end of sessions.

use serde_json::{Value, json};

use crate::{Fixture, piped};

fn hook(fixture: &Fixture, client: &str, input: &str) -> String {
    let run = piped(fixture, &["mem", "recall", "--passive", "--hook", client], input);
    assert!(run.code == Some(0) && run.err.is_empty(), "{client}: {run:?}");
    run.out
}

#[test]
fn a_prompt_hook_adds_context_in_the_format_of_the_client() {
    let fixture = Fixture::git();
    let text = "The staging database of the billing service is reset on every Sunday";
    assert_eq!(fixture.aur(&["mem", "add", "note", "-m", text]).code, Some(0));
    let prompt = json!({"session_id": "s", "prompt": "When is the staging database reset?", "cwd": "/"}).to_string();
    for (client, path) in [
        ("claude-code", "/hookSpecificOutput/additionalContext"),
        ("codex", "/hookSpecificOutput/additionalContext"),
        ("gemini", "/hookSpecificOutput/additionalContext"),
        ("cursor", "/additional_context"),
    ] {
        let out: Value = serde_json::from_str(&hook(&fixture, client, &prompt)).expect("the output is JSON");
        let context = out.pointer(path).and_then(Value::as_str).unwrap_or_default();
        assert!(context.contains(text) && context.contains("[note:the-staging"), "{client}: {out}");
    }
    // The hook builds no index, and records no use.
    assert!(!fixture.path(".aurora/index").exists());
    let id = "note:the-staging-database-of-the-billing-service-is-reset-on-every";
    assert_eq!(fixture.aur(&["mem", "show", id, "--format", "json"]).json()["access_count"], 0);
    for input in [
        r#"{"prompt": "zebra xylophone"}"#,
        r#"{"prompt": "/clear"}"#,
        r#"{"prompt": ""}"#,
        r#"{"prompt": ["reset"]}"#,
        "{}",
        "[1, 2",
        "",
        &"[".repeat(1 << 20),
        &format!(r#"{{"prompt": "{}"}}"#, "x".repeat(5 << 20)),
    ] {
        assert_eq!(hook(&fixture, "claude-code", input), "", "{:.60}", input);
    }
}

#[test]
fn a_hook_at_the_end_of_a_session_writes_its_log() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    let lines = [
        json!({"type": "user", "timestamp": "2026-01-01T10:00:00Z", "message": {"role": "user", "content": "How is the staging database reset?"}}),
        json!({"type": "assistant", "timestamp": "2026-01-01T10:00:05Z", "message": {"role": "assistant",
            "content": [{"type": "text", "text": format!("By a job with the key {token}.")}]}}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fixture.write("transcript.jsonl", lines.join("\n"));
    let end = |transcript: &str| {
        let input = json!({"session_id": "s-1", "transcript_path": transcript, "reason": "exit"}).to_string();
        let run = piped(&fixture, &["log", "write", "--hook", "claude-code"], &input);
        assert!(run.code == Some(0) && run.out.is_empty() && run.err.is_empty(), "{run:?}");
    };
    let logs = || fixture.aur(&["logs", "list", "--format", "json"]).json();
    end("/nowhere/transcript.jsonl");
    end("transcript.jsonl");
    end("/dev/zero");
    end(fixture.root().to_str().expect("the path is UTF-8"));
    assert_eq!(logs().as_array().map_or(0, Vec::len), 0);
    end(fixture.path("transcript.jsonl").to_str().expect("the path is UTF-8"));
    let listed = logs();
    assert_eq!(listed[0]["query"], "How is the staging database reset?", "{listed}");
    let log = fixture.aur(&["logs", "view", "staging"]).out;
    for part in ["By a job with the key", "s-1", "exit", "5.000 seconds"] {
        assert!(log.contains(part), "{part}: {log}");
    }
    assert!(!log.contains(&token[4..]), "{log}");
    // The session is continued, and ends again.
    let more = json!({"type": "user", "message": {"role": "user", "content": "And who pays for it?"}}).to_string();
    let answer = json!({"type": "assistant", "message": {"role": "assistant", "content": "Finance."}}).to_string();
    fixture.write("transcript.jsonl", [lines.join("\n"), more, answer].join("\n"));
    end(fixture.path("transcript.jsonl").to_str().expect("the path is UTF-8"));
    assert_eq!(logs().as_array().map_or(0, Vec::len), 1);
    assert!(fixture.aur(&["logs", "view", "session-s-1"]).out.contains("Finance."));
    // A log to which something was appended is kept.
    let added = piped(&fixture, &["log", "append", "session-s-1", "--section", "Note"], "Paid in May.\n");
    assert_eq!(added.code, Some(0), "{added:?}");
    end(fixture.path("transcript.jsonl").to_str().expect("the path is UTF-8"));
    assert_eq!(logs().as_array().map_or(0, Vec::len), 2);
}
