//! `aur init` changes only what it shows, and takes it back.

use serde_json::Value;

use crate::fixture::Fixture;

fn read(fixture: &Fixture, path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture.path(path)).expect("a file")).expect("JSON")
}

#[test]
fn what_is_written_is_shown_and_can_be_removed() {
    let fixture = Fixture::git();
    fixture.write(".vscode/mcp.json", "{\n  \"servers\": {\"other\": {\"command\": \"x\"}}\n}\n");
    let shown = fixture.aur(&["init", "claude-code", "vscode"]);
    assert_eq!(shown.code, Some(2), "nobody agrees: {shown:?}");
    assert!(shown.out.contains(".mcp.json") && shown.out.contains("+ "), "{shown:?}");
    assert!(shown.err.contains("--yes"), "{shown:?}");
    assert!(!fixture.path(".mcp.json").exists());

    let written = fixture.aur(&["init", "claude-code", "vscode", "--yes"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    let servers = &read(&fixture, ".mcp.json")["mcpServers"];
    assert_eq!(servers["aurora"]["args"], serde_json::json!(["mcp"]));
    let servers = &read(&fixture, ".vscode/mcp.json")["servers"];
    assert_eq!((&servers["other"]["command"], &servers["aurora"]["type"]), (&"x".into(), &"stdio".into()));
    let again = fixture.aur(&["init", "claude-code", "vscode", "--yes"]);
    assert!(again.code == Some(0) && again.err.contains("there already"), "{again:?}");

    let removed = fixture.aur(&["init", "claude-code", "vscode", "--remove", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!fixture.path(".mcp.json").exists(), "a file that held nothing else goes");
    assert_eq!(read(&fixture, ".vscode/mcp.json")["servers"].as_object().map(|servers| servers.len()), Some(1));
}

#[test]
fn clients_in_use_are_found_and_strangers_files_are_not_followed() {
    let fixture = Fixture::git();
    let none = fixture.aur(&["init", "--yes"]);
    assert!(none.code == Some(2) && none.err.contains("claude-code"), "{none:?}");
    let unknown = fixture.aur(&["init", "notepad", "--yes"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("notepad"), "{unknown:?}");

    fixture.write(".cursor/rules", "").write_for_user("codex-was-here", "");
    std::fs::create_dir_all(fixture.home().join(".codex")).expect("created");
    let written = fixture.aur(&["init", "--yes"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(fixture.path(".cursor/mcp.json").exists());
    let codex = std::fs::read_to_string(fixture.home().join(".codex/config.toml")).expect("a file");
    assert!(codex.contains("[mcp_servers.aurora]"), "{codex}");

    // A repository cannot lead the program elsewhere.
    let elsewhere = fixture.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("created");
    std::os::unix::fs::symlink(&elsewhere, fixture.path(".zed")).expect("linked");
    let refused = fixture.aur(&["init", "zed", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(std::fs::read_dir(&elsewhere).expect("a directory").next().is_none());
    fixture.write("opencode.json", "[1, 2]");
    let refused = fixture.aur(&["init", "opencode", "--yes"]);
    assert!(refused.code == Some(2) && refused.err.contains("by hand"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(fixture.path("opencode.json")).expect("a file"), "[1, 2]");
}
