//! Tests the text of a client's configuration after `aur init` adds its entry, and after the entry is removed.

mod properties;

use std::path::Path;

use crate::commands::init::clients::{CLIENTS, Client};

fn client(name: &str) -> &'static Client {
    CLIENTS.iter().find(|client| client.name == name).expect("the client exists")
}

/// Adds the server's entry to a configuration, with `aur` as the program.
fn add_entry(client: &Client, before: Option<&str>) -> String {
    let fresh = client.with_entry(None, Path::new("/app")).expect("the entry can be added").text;
    let written = client.with_entry(before, Path::new("/app")).expect("the entry can be added").text;
    // In tests, the command is the quoted path of the test program, alone or as the first item of a list. Replace this
    // path with `aur`.
    let key = fresh.split_once("command").expect("the entry has a command").1;
    let path = key.split(['"', '\'']).find(|part| part.contains('/')).expect("the command contains a path");
    written.replace(path, "aur")
}

/// Checks the text after the entry is added to `before`. Also checks that removing the entry restores `before`.
fn check(name: &str, before: &str, expected: &str) {
    let client = client(name);
    let written = add_entry(client, Some(before));
    assert_eq!(written, expected, "{name}: {before}");
    assert_eq!(client.without_entry(&written), Ok(Some(before.to_owned())), "{name}: {written}");
}

#[test]
fn removing_the_entry_removes_a_file_without_other_content() {
    let json = add_entry(client("claude-code"), None);
    insta::assert_snapshot!(json, @r#"
    {
      "mcpServers": {
        "aurora": {
          "command": "aur",
          "args": ["mcp"]
        }
      }
    }
    "#);
    let toml = add_entry(client("codex"), None);
    insta::assert_snapshot!(toml, @r#"
    [mcp_servers.aurora]
    command = "aur"
    args = ["mcp"]
    "#);
    for client in CLIENTS {
        let text = add_entry(client, None);
        assert_eq!(client.without_entry(&text), Ok(None), "{}", client.name);
        assert_eq!(client.without_entry(&text.replace('\n', "\r\n")), Ok(None), "{}", client.name);
    }
}

#[test]
fn existing_empty_objects_and_files_stay() {
    let entry = r#""aurora": {"command": "aur", "args": ["mcp"]}"#;
    let put = |before: &str, expected: &str| check("claude-code", before, &expected.replace("ENTRY", entry));
    put("{}", r#"{"mcpServers": { ENTRY }}"#);
    put("{ }\n", "{\"mcpServers\": { ENTRY } }\n");
    put("{\n}\n", "{\n  \"mcpServers\": { ENTRY }\n}\n");
    put(r#"{"mcpServers":{}}"#, r#"{"mcpServers":{ENTRY}}"#);
    put(r#"{"mcpServers": { } }"#, r#"{"mcpServers": {ENTRY } }"#);
    put("{\n  \"mcpServers\": {\n  }\n}\n", "{\n  \"mcpServers\": {\n    ENTRY\n  }\n}\n");
    let before = "{\n  \"mcpServers\": { // none yet\n  }\n}\n";
    put(before, "{\n  \"mcpServers\": { // none yet\n    ENTRY\n  }\n}\n");
    check(
        "opencode",
        "{\n\t\"mcp\": {},\n}",
        "{\n\t\"mcp\": {\"aurora\": {\"type\": \"local\", \"command\": [\"aur\", \"mcp\"]}},\n}",
    );
    let file = "{\n  \"mcpServers\": {\n    \"aurora\": {\n      \"command\": \"aur\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}";
    put("", file);
    put("\n", &format!("\n{file}"));
    put("\u{feff}", &format!("\u{feff}{file}"));
    check("codex", "", "[mcp_servers.aurora]\ncommand = \"aur\"\nargs = [\"mcp\"]");
    check("codex", "\n", "\n\n[mcp_servers.aurora]\ncommand = \"aur\"\nargs = [\"mcp\"]\n");
    check("codex", "[mcp_servers]\n", "[mcp_servers]\n\n[mcp_servers.aurora]\ncommand = \"aur\"\nargs = [\"mcp\"]\n");
}

#[test]
fn one_line_stays_one_line() {
    check(
        "claude-code",
        r#"{"theme":"x"}"#,
        r#"{"theme":"x", "mcpServers": { "aurora": {"command": "aur", "args": ["mcp"]} }}"#,
    );
    check(
        "claude-code",
        r#"{"mcpServers":{"other":{"command":"x"}}}"#,
        r#"{"mcpServers":{"other":{"command":"x"}, "aurora": {"command": "aur", "args": ["mcp"]}}}"#,
    );
    check(
        "vscode",
        "{\n  \"servers\": {\"other\": {},} // all\n}",
        "{\n  \"servers\": {\"other\": {}, \"aurora\": {\"type\": \"stdio\", \"command\": \"aur\", \
         \"args\": [\"mcp\", \"--root\", \"${workspaceFolder}\"]},} // all\n}",
    );
}

#[test]
fn lines_and_comments_stay_where_they_are() {
    check(
        "zed",
        "// mine\r\n{\r\n\t\"theme\": \"x\", // dark\r\n\t/* last */\r\n}",
        "// mine\r\n{\r\n\t\"theme\": \"x\", // dark\r\n\t\"context_servers\": {\r\n\t\t\"aurora\": {\r\n\t\t\t\"command\": \"aur\",\
         \r\n\t\t\t\"args\": [\"mcp\"]\r\n\t\t}\r\n\t},\r\n\t/* last */\r\n}",
    );
    check(
        "claude-code",
        "{\n    \"mcpServers\": {\n        \"other\": {} // keep\n        // \"none\": {}\n    }\n}\n",
        "{\n    \"mcpServers\": {\n        \"other\": {}, // keep\n        \"aurora\": {\n            \"command\": \"aur\",\n            \
         \"args\": [\"mcp\"]\n        }\n        // \"none\": {}\n    }\n}\n",
    );
}

#[test]
fn toml_keeps_its_line_endings_and_comments() {
    check(
        "codex",
        "# mine\r\nmodel = \"x\"\r\n",
        "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.aurora]\r\ncommand = \"aur\"\r\nargs = [\"mcp\"]\r\n",
    );
    check("codex", "model = \"x\"", "model = \"x\"\n\n[mcp_servers.aurora]\ncommand = \"aur\"\nargs = [\"mcp\"]");
    check("codex", "mcp_servers = { }", "mcp_servers = {aurora = { command = \"aur\", args = [\"mcp\"] } }");
    check(
        "codex",
        "mcp_servers = { other = { command = \"x\" } } # all\n",
        "mcp_servers = { other = { command = \"x\" }, aurora = { command = \"aur\", args = [\"mcp\"] } } # all\n",
    );
}

#[test]
fn removing_an_entry_keeps_its_neighbours() {
    for (name, before, after) in [
        ("claude-code", "{\"mcpServers\": {\"aurora\": {}, \"b\": 1}}", "{\"mcpServers\": { \"b\": 1}}"),
        (
            "claude-code",
            "{\"mcpServers\": {\"a\": 1, \"aurora\": {}, \"b\": 1}}",
            "{\"mcpServers\": {\"a\": 1, \"b\": 1}}",
        ),
        ("claude-code", "{\"mcpServers\": {\"a\": 1 /* , */, \"aurora\": 7}}", "{\"mcpServers\": {\"a\": 1 /* , */}}"),
        (
            "zed",
            "{\"context_servers\": { // c\n\"aurora\": {}, \"b\": 1}}",
            "{\"context_servers\": { // c\n \"b\": 1}}",
        ),
        ("codex", "a = 1\n\n[mcp_servers.aurora]\ncommand = \"x\"\n\n[b]\n", "a = 1\n\n[b]\n"),
        ("codex", "[mcp_servers]\naurora = {} # x\nb = {}\n", "[mcp_servers]\nb = {}\n"),
        ("codex", "mcp_servers.aurora.command = \"x\"\na = 1\n", "a = 1\n"),
        ("codex", "mcp_servers = { aurora = {}, b = {} }\n", "mcp_servers = { b = {} }\n"),
        (
            "codex",
            "[mcp_servers.aurora]\r\ncommand = \"x\"\r\nenv.A = \"\"\"\r\n[b]\"\"\"\r\n\r\n[mcp_servers.aurora.more]\r\na = 1\r\n\r\n# of b\r\n[b]\r\n",
            "\r\n# of b\r\n[b]\r\n",
        ),
    ] {
        assert_eq!(client(name).without_entry(before), Ok(Some(after.to_owned())), "{before}");
    }
}

#[test]
fn invalid_configurations_are_refused() {
    let root = Path::new("/app");
    for text in ["[]", "{", "7", "// none", "{\"mcpServers\": []}", "{\"mcpServers\": {}, \"mcpServers\": {}}"] {
        assert!(client("claude-code").with_entry(Some(text), root).is_err(), "{text}");
    }
    for text in ["= 1", "mcp_servers = 1", "[[mcp_servers]]", "mcp_servers = {\n}"] {
        assert!(client("codex").with_entry(Some(text), root).is_err(), "{text}");
    }
    // There is no entry to remove.
    for (name, text) in
        [("zed", "{\"context_servers\": null}"), ("codex", "mcp_servers = 1"), ("codex", "[[mcp_servers]]")]
    {
        assert_eq!(client(name).without_entry(text), Ok(Some(text.to_owned())), "{text}");
    }
}

#[test]
fn entries_that_aur_init_did_not_write_are_recognised() {
    let root = Path::new("/app");
    let json = |entry: &str| format!("{{\n  \"mcpServers\": {{\n    \"aurora\": {entry} // mine\n  }}\n}}\n");
    for (name, entry, is_foreign) in [
        ("claude-code", r#"{"command": "/old/bin/aur", "args": ["mcp"]}"#, false),
        ("claude-code", r#"{"args": ["mcp"], "command": "aur.exe"}"#, false),
        ("windsurf", r#"{"command": "aur", "args": ["mcp", "--root", "/other"]}"#, false),
        ("cursor", r#"{"command": "aur", "args": ["mcp", "--root", "${workspaceFolder}"]}"#, false),
        ("cursor", r#"{"command": "aur", "args": ["mcp", "--root", "/other"]}"#, true),
        ("claude-code", r#"{"command": "aur", "args": ["mcp", "--root", "/other"]}"#, true),
        ("claude-code", r#"{"command": "aur", "args": ["mcp"], "env": {}}"#, true),
        ("claude-code", r#"{"command": "docker", "args": ["mcp"]}"#, true),
        ("claude-code", r#"{"command": "/opt/minotaur", "args": ["mcp"]}"#, true),
        ("claude-code", "7", true),
    ] {
        let written = client(name).with_entry(Some(&json(entry)), root).expect("the entry can be added");
        assert_eq!(written.replaces_foreign_entry, is_foreign, "{name}: {entry}");
        assert!(written.text.contains("} // mine\n  }\n}\n"), "{}", written.text);
        let again = client(name).with_entry(Some(&written.text), root).expect("the entry can be added");
        assert!(again.text == written.text && !again.replaces_foreign_entry, "{}", again.text);
    }
    for (before, is_foreign, end) in [
        ("[mcp_servers.aurora]\nargs = [\"mcp\"]\ncommand = '/old/aur' # mine\n", false, " # mine\n"),
        (
            "[mcp_servers.aurora]\ncommand = \"aur\"\nargs = [\"mcp\"]\ncwd = \"/\"\n\n[b]\n",
            true,
            "\nargs = [\"mcp\"]\n",
        ),
    ] {
        let written = client("codex").with_entry(Some(before), root).expect("the entry can be added");
        assert!(written.replaces_foreign_entry == is_foreign && written.text.ends_with(end), "{}", written.text);
    }
}

#[test]
fn hooks_are_written_in_the_format_of_each_client() {
    let file = |name: &str| {
        let hooks = client(name).hooks.as_ref().expect("the client has hooks");
        let text = hooks.with_hooks(None, "aur", name).expect("the hooks can be added");
        assert_eq!(hooks.without_hooks(&text, name), Ok(None), "{name}");
        assert_eq!(hooks.without_hooks(&text.replace('\n', "\r\n"), name), Ok(None), "{name}");
        text
    };
    insta::assert_snapshot!(file("claude-code"), @r#"
    {
      "hooks": {
        "UserPromptSubmit": [
          {"hooks": [{"type": "command", "command": "aur mem recall --passive --hook claude-code", "timeout": 5}]}
        ],
        "SessionEnd": [
          {"hooks": [{"type": "command", "command": "aur log write --hook claude-code", "timeout": 30}]}
        ]
      }
    }
    "#);
    insta::assert_snapshot!(file("cursor"), @r#"
    {
      "hooks": {
        "beforeSubmitPrompt": [
          {"command": "aur mem recall --passive --hook cursor", "timeout": 5}
        ],
        "sessionEnd": [
          {"command": "aur log write --hook cursor", "timeout": 30}
        ]
      },
      "version": 1
    }
    "#);
    assert!(file("gemini").contains("\"BeforeAgent\"") && file("gemini").contains("\"timeout\": 5000"));
    assert!(file("codex").contains("aur log write --hook codex"));
}

#[test]
fn hooks_of_others_stay() {
    let hooks = client("claude-code").hooks.as_ref().expect("the client has hooks");
    let before = "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\"hooks\": [{\"type\": \"command\", \
                  \"command\": \"minotaur mem recall --passive --hook claude-code\"}]} // mine\n    ],\n    \"Stop\": []\n  }\n}\n";
    let written = hooks.with_hooks(Some(before), "aur", "claude-code").expect("the hooks can be added");
    assert!(
        written.contains("}]}, // mine\n      {\"hooks\": [{\"type\": \"command\", \"command\": \"aur mem"),
        "{written}"
    );
    assert_eq!(hooks.without_hooks(&written, "claude-code"), Ok(Some(before.to_owned())));
    for text in ["[]", "{\"hooks\": []}", "{\"hooks\": {\"SessionEnd\": {}}}", "{"] {
        assert!(hooks.with_hooks(Some(text), "aur", "claude-code").is_err(), "{text}");
    }
}
