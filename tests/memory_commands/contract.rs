//! The interface for other programs: the objects that commands read and print, and their exit codes.

use crate::{Fixture, add_providers, found, piped};

/// A task with score 0.93 is stored as a pattern and logged, while a task with score 0.45 is only logged.
#[test]
fn the_lifecycle_of_a_task() {
    let fixture = Fixture::git();
    fixture.write_for_user("config.toml", "[logs]\nretention_days = 0\n");
    let task = |score: &str| {
        format!(
            r#"{{"id": "reas:oauth-impl-20251213", "type": "reasoning", "content": {{"pattern": "authentication-setup",
            "original_query": "Implement OAuth2 authentication", "complexity": "complex",
            "subgoals": [{{"id": "SG1", "description": "Research OAuth2 providers", "agent": "researcher"}}],
            "success_score": {score}}}, "metadata": {{"timestamp": "2025-12-13T14:33:27Z"}}}}"#
        )
    };
    let log = |time: &str, query: &str| format!(r#"{{"query": "{query}", "timestamp": "{time}", "phases": []}}"#);

    let failed = piped(&fixture, &["mem", "add", "reasoning", "-", "--format", "json"], &task("0.45"));
    assert_eq!(failed.code, Some(1), "{failed:?}");
    let outcome = failed.json();
    assert_eq!((&outcome["stored"], &outcome["is_pattern"]), (&false.into(), &false.into()), "{outcome}");
    assert!(outcome["reason"].as_str().is_some_and(|reason| reason.contains("0.45")), "{outcome}");
    assert_eq!(fixture.aur(&["mem", "show", "reas:oauth-impl-20251213"]).code, Some(2));

    let stored = piped(&fixture, &["mem", "add", "reasoning", "-", "--format", "json"], &task("0.93"));
    let outcome = stored.json();
    assert_eq!(stored.code, Some(0), "{stored:?}");
    assert_eq!(outcome["id"], "reas:oauth-impl-20251213");
    assert_eq!((&outcome["stored"], &outcome["is_pattern"]), (&true.into(), &true.into()), "{outcome}");
    let keys: Vec<&String> = outcome.as_object().expect("the value is an object").keys().collect();
    assert_eq!(keys, ["id", "is_pattern", "reason", "stored"]);

    let first = log("2025-12-13T14:32:15Z", "Implement OAuth2 authentication for our API");
    let later = log("2025-12-20T09:00:00Z", "Improve the OAuth2 implementation");
    for (text, name) in
        [(first, "12/oauth-authentication-2025-12-13.md"), (later, "12/oauth-implementation-2025-12-20.md")]
    {
        let written = piped(&fixture, &["log", "write", "-"], &text);
        assert_eq!(written.code, Some(0), "{written:?}");
        assert!(fixture.user_directory().join("logs/conversations/2025").join(name).is_file(), "{written:?}");
    }
    assert_eq!(
        found(&fixture, &["implement oauth2 authentication", "--source", "memory"]),
        ["reas:oauth-impl-20251213"]
    );
}

#[test]
fn an_entry_is_shown_with_its_history_and_policy() {
    let fixture = Fixture::git();
    add_providers(&fixture);
    let shown = fixture.aur(&["mem", "show", "know:oauth2-providers", "--format", "json"]).json();
    assert_eq!(shown["content"]["topic"], "OAuth2 providers");
    assert_eq!(shown["metadata"]["domain"], "security");
    for key in ["activation", "access_count", "created_at", "last_accessed", "policy"] {
        assert!(!shown[key].is_null(), "{key}: {shown}");
    }
    assert_eq!((&shown["access_count"], &shown["policy"]), (&0.into(), &"security_critical".into()));
    found(&fixture, &["oauth2 providers"]);
    let shown = fixture.aur(&["mem", "show", "know:oauth2-providers", "--format", "json"]).json();
    assert_eq!(shown["access_count"], 1);
}

#[test]
fn a_decision_is_explained_for_the_given_memory_and_policies() {
    let fixture = Fixture::git();
    for scope in ["project", "user"] {
        assert_eq!(fixture.aur(&["mem", "add", "note", "-m", "Sunday", "--scope", scope]).code, Some(0));
    }
    let why = |options: &[&str]| fixture.aur(&[&["mem", "why", "note:sunday"], options].concat());
    let ambiguous = why(&[]);
    assert!(ambiguous.code == Some(2) && ambiguous.err.contains("--memory project"), "{ambiguous:?}");
    let for_user = why(&["--memory", "user"]);
    assert!(for_user.code == Some(0) && !for_user.out.contains("brief"), "{for_user:?}");
    fixture.write("brief.toml", "[memory.policy.brief]\ncondition = \"type == 'note'\"\nlifespan = \"2_days\"\n");
    let brief = why(&["--memory", "user", "--lifespan-policies", "brief.toml"]);
    assert!(brief.code == Some(0) && brief.out.contains("brief") && brief.out.contains("2 days"), "{brief:?}");
}

#[test]
fn results_name_their_source_and_scope() {
    let fixture = Fixture::git();
    fixture.write(
        "src/auth.py",
        "def providers():\n    \"\"\"OAuth2 providers that are configured.\"\"\"\n    return []\n",
    );
    fixture.write_for_user(
        "logs/conversations/2025/12/oauth-2025-12-15.md",
        "# Conversation: providers\nDate: 2025-12-15\n\n## Phase 1: Assessment\nWhich OAuth2 providers are there?\n",
    );
    fixture.commit("Providers");
    add_providers(&fixture);
    let run = fixture.aur(&["mem", "search", "oauth2 providers", "--format", "json"]).json();
    let mut marks: Vec<(String, String)> = Vec::new();
    for hit in run["results"].as_array().expect("the value is a list") {
        let text = |key: &str| hit[key].as_str().unwrap_or_default().to_owned();
        marks.push((text("source"), text("scope")));
    }
    marks.sort();
    let expected = [("code", "project"), ("log", "user"), ("memory", "user")];
    assert_eq!(marks, expected.map(|(source, scope)| (source.to_owned(), scope.to_owned())));
    for (source, id) in [
        ("code", "code:src/auth.py:providers"),
        ("memory", "know:oauth2-providers"),
        ("logs", "know:.aurora/logs/conversations/2025/12/oauth-2025-12-15:phase1"),
    ] {
        assert_eq!(found(&fixture, &["oauth2 providers", "--source", source]), [id]);
    }
}

#[test]
fn changes_are_found_immediately_and_undone_step_by_step() {
    let fixture = Fixture::git();
    let id = "note:the-staging-database-is-reset-on-sunday";
    let added = fixture.aur(&["mem", "add", "note", "-m", "The staging database is reset on Sunday"]);
    assert_eq!(added.out, format!("stored {id} in the project's memory\n"), "{added:?}");
    let search = |words: &str| found(&fixture, &[words, "--source", "memory", "--mode", "sparse"]);
    assert_eq!(search("staging"), [id]);
    assert_eq!(piped(&fixture, &["mem", "edit", id, "-"], "The production database is never reset").code, Some(0));
    assert_eq!((search("staging"), search("production")), (vec![], vec![id.to_owned()]));
    assert_eq!(fixture.aur(&["mem", "tag", id, "operations"]).out, format!("{id}: operations\n"));
    assert_eq!(found(&fixture, &["production", "--where", "tags=operations"]), [id]);
    assert_eq!(fixture.aur(&["mem", "remove", id]).code, Some(0));
    assert_eq!(search("production"), Vec::<String>::new());
    // Undoes the removal, the tag, the edit and the addition, in this order.
    for expected in [&["production"][..], &["production"], &["staging"], &[]] {
        assert_eq!(fixture.aur(&["mem", "undo", id]).code, Some(0));
        for word in ["production", "staging"] {
            assert_eq!(
                search(word).len(),
                usize::from(expected.contains(&word)),
                "{word} after an undo to {expected:?}"
            );
        }
    }
    let nothing = fixture.aur(&["mem", "undo", id]);
    assert_eq!(nothing.code, Some(2));
    assert!(nothing.err.contains("nothing to undo"), "{nothing:?}");
}

#[test]
fn an_equal_text_is_stored_once_and_a_different_one_with_its_id_is_refused() {
    let fixture = Fixture::git();
    let note = r#"{"id": "note:reset", "content": {"text": "Sunday"}}"#;
    let add = |note: &str, options: &[&str]| {
        piped(&fixture, &[&["mem", "add", "note", "-", "--format", "json"], options].concat(), note)
    };
    assert_eq!(add(note, &[]).code, Some(0));
    for note in [note, "Sunday", " sunday\n", r#"{"id": "note:other", "content": {"text": "SUNDAY"}}"#] {
        let again = add(note, &[]);
        let outcome = again.json();
        assert_eq!((again.code, &outcome["id"], &outcome["stored"]), (Some(1), &"note:reset".into(), &false.into()));
        assert!(again.err.contains("The entry note:reset has the same text"), "{again:?}");
    }
    assert_eq!(add(note, &["--scope", "user"]).code, Some(0), "another scope has its own entries");
    let other = piped(&fixture, &["mem", "add", "note", "-"], &note.replace("Sunday", "Monday"));
    assert_eq!(other.code, Some(2));
    assert!(other.err.contains("note:reset already exists"), "{other:?}");
    // If a derived id exists already, a number is appended.
    for expected in ["note:sunday", "note:sunday-2"] {
        let text = format!(r#"{{"content": {{"title": "Sunday", "text": "{expected}"}}}}"#);
        let added = piped(&fixture, &["mem", "add", "note", "-", "--format", "json"], &text).json();
        assert_eq!(added["id"], expected);
    }
}

#[test]
fn secrets_are_masked_in_every_text_of_an_entry_and_refused_in_its_id() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    let note = format!(
        r#"{{"content": {{"title": "Rotate {token} soon", "text": "The key {token}"}},
            "metadata": {{"domain": "{token}", "owner {token}": ["{token}"], "password": "{}"}}, "governance": {{"compliance_tags": ["{token}", "keys"]}}}}"#,
        &token[4..]
    );
    let added = piped(&fixture, &["mem", "add", "note", "-", "--format", "json", "--tag", &token], &note);
    let id = added.json()["id"].as_str().expect("the value is a string").to_owned();
    assert_eq!(id, "note:rotate-ghp-soon");
    let mut outputs = vec![added.out, fixture.aur(&["mem", "show", &id, "--format", "json"]).out];
    outputs.push(fixture.aur(&["mem", "search", "rotate key", "--format", "json"]).out);
    let tagged = fixture.aur(&["mem", "tag", &id, &token]);
    assert_eq!(tagged.code, Some(0), "{tagged:?}");
    outputs.push(tagged.out);
    let linked = fixture.aur(&["mem", "link", &id, &format!("know:{token}"), "--relation", &token]);
    assert_eq!(linked.code, Some(0), "{linked:?}");
    outputs.push(fixture.aur(&["mem", "show", &id, "--format", "json"]).out);
    for output in outputs {
        assert!(output.contains("rotate-ghp-soon") && !output.contains(&token[4..]), "{output}");
        assert!(!output.to_lowercase().contains(&token[4..].to_lowercase()), "{output}");
    }
    let refused = format!(r#"{{"id": "note:{token}", "content": {{"text": "Sunday"}}}}"#);
    let refused = piped(&fixture, &["mem", "add", "note", "-"], &refused);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("must have no secret"), "{refused:?}");
}
