//! `aur init` writes only the changes that it shows, and can remove them again.

#[allow(dead_code, reason = "these tests need only a part of the terminal")]
#[path = "../browse/tty.rs"]
mod tty;

use serde_json::Value;

use crate::fixture::Fixture;
use tty::Tty;

fn read(fixture: &Fixture, path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(fixture.path(path)).expect("the file can be read"))
        .expect("the text is JSON")
}

#[test]
fn written_configuration_is_shown_first_and_can_be_removed() {
    let fixture = Fixture::git();
    fixture.write(".vscode/mcp.json", "{\n  \"servers\": {\"other\": {\"command\": \"x\"}}\n}\n");
    let shown = fixture.aur(&["init", "claude-code", "vscode"]);
    assert_eq!(shown.code, Some(2), "nobody confirms the changes: {shown:?}");
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
    assert!(again.code == Some(0) && again.err.contains("already there"), "{again:?}");

    let removed = fixture.aur(&["init", "claude-code", "vscode", "--remove", "--yes"]);
    assert_eq!(removed.code, Some(0), "{removed:?}");
    assert!(!fixture.path(".mcp.json").exists(), "a file without other entries is removed");
    assert_eq!(read(&fixture, ".vscode/mcp.json")["servers"].as_object().map(|servers| servers.len()), Some(1));
}

#[test]
fn clients_in_use_are_found_and_links_are_not_followed() {
    let fixture = Fixture::git();
    let none = fixture.aur(&["init", "--yes"]);
    assert!(none.code == Some(2) && none.err.contains("claude-code"), "{none:?}");
    let unknown = fixture.aur(&["init", "notepad", "--yes"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("notepad"), "{unknown:?}");

    fixture.write(".cursor/rules", "").write_for_user("codex-was-here", "");
    std::fs::create_dir_all(fixture.home().join(".codex")).expect("the directory can be created");
    let written = fixture.aur(&["init", "--yes"]);
    assert_eq!(written.code, Some(0), "{written:?}");
    assert!(fixture.path(".cursor/mcp.json").exists());
    let codex = std::fs::read_to_string(fixture.home().join(".codex/config.toml")).expect("the file can be read");
    assert!(codex.contains("[mcp_servers.aurora]"), "{codex}");

    // The program does not follow a link in the repository.
    let elsewhere = fixture.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("the directory can be created");
    std::os::unix::fs::symlink(&elsewhere, fixture.path(".zed")).expect("the link can be created");
    let refused = fixture.aur(&["init", "zed", "--yes"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(std::fs::read_dir(&elsewhere).expect("the directory can be read").next().is_none());
    fixture.write("opencode.json", "[1, 2]");
    let refused = fixture.aur(&["init", "opencode", "--yes"]);
    assert!(refused.code == Some(2) && refused.err.contains("by hand"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(fixture.path("opencode.json")).expect("the file can be read"), "[1, 2]");
}

#[test]
fn removing_the_entry_restores_the_same_bytes() {
    let fixture = Fixture::git();
    let codex = fixture.home().join(".codex/config.toml");
    std::fs::create_dir_all(codex.parent().expect("the path has a parent")).expect("the directory can be created");
    let clients = ["claude-code", "codex", "cursor", "gemini", "opencode", "vscode", "zed"];
    let run = |more: &[&str]| {
        let run = fixture.aur(&[&["init", "--yes"], more, &clients].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    };
    let files = [
        (fixture.path(".mcp.json"), "{\n  \"mcpServers\": { // none yet\n  }\n}\n"),
        (codex, "# mine\r\nmodel = \"x\"\r\n"),
        (fixture.path(".cursor/mcp.json"), "{}"),
        (fixture.path(".gemini/settings.json"), "{\"theme\":\"x\"}"),
        (fixture.path("opencode.json"), "{\n  \"mcp\": {},\n}"),
        (fixture.path(".vscode/mcp.json"), "{\"servers\":{\"other\":{\"command\":\"x\"}}}"),
        (fixture.path(".zed/settings.json"), ""),
    ];
    for (path, text) in &files {
        std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory can be created");
        std::fs::write(path, text).expect("the file can be written");
    }
    let secret = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&files[0].0, secret).expect("permissions can be set");
    run(&[]);
    let read = |path: &std::path::Path| std::fs::read_to_string(path).expect("the file can be read");
    let written: Vec<String> = files.iter().map(|(path, _)| read(path)).collect();
    assert!(written.iter().all(|text| text.contains("aurora")), "{written:?}");
    assert!(!written[1].replace("\r\n", "").contains('\n'), "{:?}", written[1]);
    run(&[]);
    run(&["--remove"]);
    for (path, text) in &files {
        assert_eq!(read(path), *text, "{}", path.display());
    }
    let mode = std::fs::metadata(&files[0].0).expect("the metadata can be read").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
}

#[test]
fn hooks_and_instructions_are_added_once_and_removed_to_the_byte() {
    let fixture = Fixture::git();
    let run = |arguments: &[&str]| {
        let run = fixture.aur(&[&["init", "--yes"], arguments].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        run
    };
    let files = [
        (".claude/settings.json", "{\"hooks\": {\"SessionEnd\": []}, \"theme\": \"x\"}"),
        (".cursor/hooks.json", "{\n  \"version\": 1\n}"),
        (".gemini/settings.json", "{\"theme\":\"x\"}"),
        ("AGENTS.md", "# Rules\r\n\r\nBe brief.\r\n"),
    ];
    for (path, text) in files {
        fixture.write(path, text);
    }
    let read = |path: &str| std::fs::read_to_string(fixture.path(path)).expect("the file can be read");
    let texts = || files.map(|(path, _)| read(path));
    let shown = fixture.aur(&["init", "--hooks", "--instructions"]);
    assert!(shown.code == Some(2) && shown.out.contains("+ {\"hooks\""), "{shown:?}");
    assert!(shown.out.contains("AGENTS.md (Instructions for agents)"), "{shown:?}");
    run(&["--hooks", "--instructions"]);
    let written = texts();
    assert!(written[..3].iter().all(|text| text.contains("mem recall --passive --hook")), "{written:?}");
    assert!(written[3].contains("aur mem search") && !written[3].replace("\r\n", "").contains('\n'), "{written:?}");
    assert!(run(&["--hooks", "--instructions"]).err.contains("already there"));
    assert_eq!(texts(), written);
    run(&["gemini"]);
    assert_eq!(read(".gemini/settings.json").matches("aurora").count(), 1);
    // The removal restores the file in which two parts were added, too.
    run(&["--remove"]);
    assert_eq!(texts(), files.map(|(_, text)| text.to_owned()));
    let unsupported = fixture.aur(&["init", "zed", "--hooks", "--yes"]);
    assert!(unsupported.code == Some(2) && unsupported.err.contains("clients with hooks"), "{unsupported:?}");
}

#[test]
fn a_customised_entry_is_replaced_only_after_confirmation() {
    let fixture = Fixture::git();
    let own =
        "{\"mcpServers\": {\"aurora\": {\"command\": \"/opt/aur\", \"args\": [\"mcp\"], \"env\": {\"A\": \"b\"}}}}\n";
    fixture.write(".mcp.json", own);
    let file = || std::fs::read_to_string(fixture.path(".mcp.json")).expect("the file can be read");
    for arguments in [&["init", "claude-code", "zed", "--yes"][..], &["init", "claude-code"]] {
        let refused = fixture.aur(arguments);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.out.contains("replaces an entry `aurora`") && refused.out.contains("/opt/aur"), "{refused:?}");
        assert!(refused.err.contains("`aur init claude-code --remove`"), "{refused:?}");
        assert!(file() == own && !fixture.path(".zed").exists());
    }
    let asked = Tty::start(with_arguments(&fixture, &["init", "claude-code"]), 100, 30);
    asked.shows("Write this and replace the existing entry? [y/N]").types("n\r");
    assert!(asked.wait_for_exit().0 == 2 && file() == own);
    let asked = Tty::start(with_arguments(&fixture, &["init", "claude-code", "--remove"]), 100, 30);
    asked.shows("Remove this? [y/N]").types("y\r");
    assert_eq!(asked.wait_for_exit().0, 0);
    assert_eq!(file(), "{\"mcpServers\": {}}\n");

    // If the entry was written by an installation in another directory, it does not count as the user's own entry.
    fixture.write(".mcp.json", "{\"mcpServers\": {\"aurora\": {\"command\": \"/old/aur\", \"args\": [\"mcp\"]}}}\n");
    let written = fixture.aur(&["init", "claude-code", "--yes"]);
    assert!(written.code == Some(0) && !file().contains("/old/aur"), "{written:?}");
}

fn with_arguments(fixture: &Fixture, arguments: &[&str]) -> std::process::Command {
    let mut command = fixture.command();
    command.args(arguments);
    command
}

#[test]
fn missing_directories_are_created() {
    for name in ["claude-code", "claude-desktop", "codex", "cursor", "gemini", "opencode", "vscode", "windsurf", "zed"]
    {
        let fixture = Fixture::git();
        let written = fixture.aur(&["init", name, "--yes"]);
        assert_eq!(written.code, Some(0), "{written:?}");
        let removed = fixture.aur(&["init", name, "--remove", "--yes"]);
        assert!(removed.code == Some(0) && removed.err.contains("removed from"), "{removed:?}");
    }
}
