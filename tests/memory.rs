//! Searches find the user's conversation logs and the project's reasoning patterns in addition to code.

mod fixture;

use fixture::Fixture;

const LOG: &str = "# Conversation: login\nDate: 2025-12-15\n\n## Phase 1: Assessment\nThe query asks how OAuth tokens are renewed.\n\n## Phase 2: Retrieval\nFound the refresh endpoint.\n";

fn pattern(score: f64) -> String {
    format!(
        r#"{{"id": "reas:auth", "type": "reasoning", "content": {{"pattern": "token renewal", "query": "renew an expired token",
        "subgoals": [], "execution_order": [], "tools_used": [], "success_score": {score}}}}}"#
    )
}

#[test]
fn conversations_and_patterns_are_indexed() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "def login():\n    return 1\n");
    fixture.write_for_user("logs/conversations/2025/12/oauth-2025-12-15.md", LOG);
    fixture.write(".aurora/reasoning/auth.json", pattern(0.9)).write(".aurora/reasoning/failed.json", pattern(0.2));

    let run = fixture.aur(&["mem", "index", "--format", "json"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let summary = run.json();
    assert_eq!((&summary["chunks"]["knowledge"], &summary["chunks"]["reasoning"]), (&2.into(), &1.into()), "{summary}");
    assert!(summary["warnings"].to_string().contains("below 0.5 are not stored"), "{summary}");

    let found =
        fixture.aur(&["mem", "search", "how are oauth tokens renewed", "--type", "knowledge", "--format", "json"]);
    let first = found.json()["results"][0].clone();
    assert_eq!((&first["type"], &first["name"]), (&"knowledge".into(), &"Assessment".into()), "{found:?}");
    let table = fixture.aur(&["mem", "search", "oauth", "--type", "knowledge"]).out;
    assert!(table.contains("know") && table.contains("2025-12-15"), "{table}");

    let again = fixture.aur(&["mem", "index", "--format", "json"]).json();
    assert_eq!(again["nothing_changed"], true, "{again}");
}

#[test]
fn missing_logs_are_mentioned_only_if_their_directory_exists() {
    let fixture = Fixture::plain();
    fixture.write("auth.py", "def login():\n    return 1\n");
    let silent = fixture.aur(&["mem", "index", "--format", "json"]);
    assert!(!silent.out.contains("conversation logs"), "{silent:?}");
    fixture.write_for_user("logs/README", "");
    let run = fixture.aur(&["mem", "index", "--format", "json"]);
    assert!(run.out.contains("No conversation logs found"), "{run:?}");
}
