//! Runs `custom-aur` from the command line with its own stage.

use std::fs;
use std::path::Path;
use std::process::Command;

fn aur(root: &Path, home: &Path, arguments: &[&str]) -> serde_json::Value {
    let program = Command::new(env!("CARGO_BIN_EXE_custom-aur"))
        .args(arguments)
        .current_dir(root)
        .env("AURORA_HOME", home)
        .output()
        .expect("the program starts");
    assert!(program.status.success(), "{}", String::from_utf8_lossy(&program.stderr));
    serde_json::from_slice(&program.stdout).expect("JSON")
}

#[test]
fn a_stage_that_is_compiled_in_fills_a_column() {
    let (root, home) =
        (tempfile::tempdir().expect("a temporary directory"), tempfile::tempdir().expect("a temporary directory"));
    let write = |path: &str, text: &str| fs::write(root.path().join(path), text).expect("written");
    fs::create_dir(root.path().join(".aurora")).expect("the directory is created");
    write(".aurora/pipeline.toml", "extends = \"default\"\n\n[stage.todos]\nwords = [\"TODO\", \"FIXME\"]\n");
    write("a.py", "def pay(card):\n    # TODO: check; FIXME: log\n    return card\n");
    write("b.py", "def refund(card):\n    return card\n");
    aur(root.path(), home.path(), &["mem", "index", "--format", "json"]);
    let found = aur(root.path(), home.path(), &["mem", "search", "card", "--where", "todos>1", "--format", "json"]);
    let results = found["results"].as_array().expect("a list");
    assert_eq!(results.len(), 1, "{found}");
    assert_eq!((&results[0]["name"], &results[0]["metadata"]["todos"]), (&"pay".into(), &2.into()));
}

/// The guide contains the files of this example, so that readers can copy them into a new crate.
#[test]
fn the_guide_shows_the_files_of_this_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("readable");
    let guide = read("../../../docs/guides/rust-stages.md");
    for file in ["src/main.rs", "src/todos.rs"] {
        assert!(guide.contains(&read(file)), "docs/guides/rust-stages.md does not contain {file}");
    }
}
