//! Malformed documents and policies. All errors are reported with line and cause, and nothing is stored.

use crate::{Fixture, piped};

#[test]
fn malformed_documents_are_refused_with_line_and_cause() {
    let fixture = Fixture::git();
    let refused = |kind: &str, text: &str, expected: &[&str]| {
        let run = piped(&fixture, &["mem", "add", kind, "-"], text);
        assert_eq!(run.code, Some(2), "{text}: {run:?}");
        for part in expected {
            assert!(run.err.contains(part), "{text}: no {part} in {}", run.err);
        }
    };
    refused("knowledge", "{", &["standard input:1", "A0301"]);
    refused("knowledge", "[]", &["standard input:1"]);
    refused("knowledge", "{\n\"content\": {}\n}", &["standard input:2"]);
    refused("knowledge", "{\n\"content\": {\"topic\": \"a\"},\n\"contant\": 1\n}", &["standard input:3", "contant"]);
    refused("reasoning", "{\"content\": {\"pattern\": \"a\"}}", &["success_score"]);
    refused(
        "reasoning",
        "{\"content\": {\"pattern\": \"a\",\n\"success_score\": 92}}",
        &["standard input:2", "from 0 to 1, not 92"],
    );
    refused("reasoning", "{\"content\": {\"success_score\": 0.9}}", &["pattern"]);
    refused("reasoning", "{\"id\": \"know:a\", \"content\": {\"success_score\": 0.9}}", &["reas:"]);
    refused("knowledge", "{\"content\": {\"topic\": 7}}", &["content.topic"]);
    refused("knowledge", "{\"content\": {\"topic\": \"a\", \"facts\": [{\"id\": \"F1\"}]}}", &["content.facts[0]"]);
    refused(
        "knowledge",
        "{\"content\": {\"topic\": \"a\"}, \"metadata\": {\"acquired\": \"yesterday\"}}",
        &["metadata.acquired"],
    );
    refused(
        "knowledge",
        "{\"content\": {\"topic\": \"a\"}, \"governance\": {\"lifespan_policy\": \"never\"}}",
        &["lifespan_policy"],
    );
    refused(
        "knowledge",
        "{\"content\": {\"topic\": \"a\"}, \"governance\": {\"retention_rules\": [\n{\"if\": \"scor > 1\", \"then\": \"retain_indefinitely\"}]}}",
        &["standard input:2", "scor"],
    );
    refused(
        "knowledge",
        "{\"content\": {\"topic\": \"a\"}, \"governance\": {\"retention_rules\": [{\"if\": \"score > 1\", \"then\": \"keep\"}]}}",
        &["keep"],
    );
    refused(
        "knowledge",
        "{\"content\": {\"topic\": \"a\"}, \"conversation_log_reference\": {\"line_range\": [9, 3]}}",
        &["line_range"],
    );
    refused("note", "{\"content\": {\"text\": \"\"}}", &["content.text"]);
    refused("note", "", &["standard input"]);
    refused("note", "---\ntags: [a\n---\ntext\n", &["standard input:2"]);
    // All errors of a document are reported at once.
    refused(
        "knowledge",
        "{\n\"content\": {\"topic\": 7,\n\"confidence\": 2},\n\"extra\": 1\n}",
        &["standard input:2", "standard input:3", "standard input:4", "has 3 errors"],
    );
    let listed = fixture.aur(&["mem", "list", "--format", "json"]);
    assert_eq!(listed.out.trim(), "[]", "{listed:?}");
}

#[test]
fn malformed_policies_are_refused_with_line_and_cause() {
    let fixture = Fixture::git();
    assert_eq!(fixture.aur(&["mem", "add", "note", "-m", "Sunday"]).code, Some(0));
    for (policy, expected) in [
        ("condition = 'score >'\nlifespan = '1_days'", "config.toml:2"),
        ("condition = 'scor > 1'\nlifespan = '1_days'", "scor"),
        ("condition = 'domain > 3'\nlifespan = '1_days'", "domain"),
        ("condition = 'contains_tag(3)'\nlifespan = '1_days'", "contains_tag"),
        ("condition = '(score > 0.5'\nlifespan = '1_days'", "config.toml:2"),
        ("condition = 'score > 0.5'\nlifespan = 'for ever'", "config.toml:3"),
        ("condition = 'score > 0.5'\nlifespan = '0_days'", "config.toml:3"),
        ("condition = 'score > 0.5'\nlifespan = '1_days'\ndecay = 'linear'", "config.toml:4"),
        ("condition = 'score > 0.5'\nlifespan = '1_days'\nescalate = 'x'", "escalate"),
        ("condition = 'score > 0.5'", "lifespan"),
    ] {
        fixture.write(".aurora/config.toml", format!("[memory.policy.mine]\n{policy}\n"));
        let run = fixture.aur(&["mem", "prune"]);
        assert_eq!(run.code, Some(2), "{policy}: {run:?}");
        assert!(
            run.err.contains(expected) && run.err.contains("config.toml"),
            "{policy}: no {expected} in {}",
            run.err
        );
    }
    fixture.write(".aurora/config.toml", "");
    assert_eq!(fixture.aur(&["mem", "prune"]).out, "0 deleted, 1 kept\n");
}
