//! Secrets in the files of a project do not reach its index.

use std::path::Path;

use serde_json::Value;

use crate::fixture::Fixture;
use crate::{indexed, run};

/// Secrets, assembled at run time so that scanners do not report this file.
struct Secrets {
    aws_key: String,
    password: String,
    key_line: String,
}

impl Secrets {
    fn new() -> Self {
        let key_line = "Kd8sQx2LmZ4vTn7RbY9cWf1GhJ5pUe3aKd8sQx2LmZ4vTn7RbY9cWf1GhJ5pUe3a";
        Self {
            aws_key: ["AKIA", "Q7RT5ZLK2XWM9VNB"].concat(),
            password: "zq8Xv2mLt5Rk".to_owned(),
            key_line: key_line.to_owned(),
        }
    }

    /// Returns parts of the secrets that must not occur in an index.
    fn parts(&self) -> [&str; 3] {
        [&self.aws_key[4..], &self.password, &self.key_line[..32]]
    }

    fn write(&self, fixture: &Fixture) {
        let Self { aws_key, password, key_line } = self;
        let code = format!(
            "def connect_storage():\n    \"\"\"Open the bucket.\"\"\"\n    client = storage(\"{aws_key}\")\n    \
             return client.open(\"redis://worker:{password}@cache.internal\")\n"
        );
        let kind = ["PRIVATE", " KEY"].concat();
        fixture.write("src/storage.py", code);
        fixture.write(
            "docs/deploy.md",
            format!("# Deploy\n\n    -----BEGIN {kind}-----\n    {key_line}\n    -----END {kind}-----\n"),
        );
        let cell = format!("password = '{password}'\\n");
        fixture.write("try.ipynb", format!("{{\"cells\": [{{\"cell_type\": \"code\", \"source\": [\"{cell}\"]}}]}}"));
        let log = format!("{{\"query\": \"deploy\", \"note\": \"used {aws_key}\"}}\n");
        fixture.write("notes.txt", format!("The log says:\n\n{log}"));
    }
}

#[test]
fn no_secret_reaches_the_index() {
    let (fixture, secrets) = (indexed(), Secrets::new());
    secrets.write(&fixture);
    let summary = run(&fixture, &["mem", "index", "--format", "json"]).json();
    let masked = &summary["secrets"];
    assert_eq!((&masked["count"], &masked["files"]), (&Value::from(5), &Value::from(4)), "{summary}");
    assert_eq!(masked["rules"]["aws-access-key-id"], 2, "{masked}");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("secrets are masked in the index: 4 (docs/deploy.md, "), "{warnings}");
    for part in secrets.parts() {
        assert!(!summary.to_string().contains(part), "the summary has {part}");
        assert_eq!(found_by_pattern(&fixture, part), 0, "{part}");
    }
    let shown = run(&fixture, &["mem", "search", "connect storage bucket", "--format", "json", "--show-content"]).out;
    assert!(shown.contains("AKIA________________") && shown.contains("redis://worker:____________@cache"), "{shown}");
    assert_eq!(run(&fixture, &["mem", "export", "index.aur"]).code, Some(0));
    let traced = run(&fixture, &["pipeline", "run", "--dry", "src/storage.py", "--format", "json"]).out;
    assert!(traced.contains("AKIA________________"), "{traced}");
    for part in secrets.parts() {
        assert!(!shown.contains(part) && !traced.contains(part), "{part}");
        for file in ["index.aur", ".aurora"] {
            assert!(!contains_bytes(&fixture.path(file), part.as_bytes()), "{file} has {part}");
        }
    }
}

#[test]
fn lines_with_masks_keep_their_numbers() {
    let (fixture, secrets) = (indexed(), Secrets::new());
    secrets.write(&fixture);
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    let found = run(&fixture, &["mem", "search", "connect_storage", "--format", "json", "--snippets"]).json();
    let hit = &found["results"][0];
    assert_eq!((&hit["file"], &hit["line_start"], &hit["line_end"]), (&"src/storage.py".into(), &1.into(), &4.into()));
}

#[test]
fn masking_can_be_switched_off() {
    let (fixture, secrets) = (indexed(), Secrets::new());
    secrets.write(&fixture);
    for (redact, expected) in [("true", 0), ("false", 1), ("true", 0)] {
        let pipeline = format!("extends = \"default\"\n\n[stage.incremental-check]\nredact = {redact}\n");
        fixture.write(".aurora/pipeline.toml", pipeline);
        assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
        assert!(found_by_pattern(&fixture, &secrets.password) >= expected, "redact = {redact}");
        assert_eq!(found_by_pattern(&fixture, &secrets.password) > 0, expected > 0, "redact = {redact}");
    }
}

#[test]
fn no_secret_in_a_name_reaches_the_index() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    fixture.write("src/plain.py", "def plain():\n    return 1\n").commit("Add plain");
    fixture.write("src/plain.py", "def plain():\n    return 2\n");
    let author = format!("Anna {token} <{token}@example.org>");
    fixture.run_git(&["commit", "--quiet", "--all", "--author", &author, "--message", "Change"]);
    fixture.write(&format!("old/{token}.py"), "def moved():\n    return 1\n").commit("Add a file");
    fixture.run_git(&["mv", &format!("old/{token}.py"), "src/moved.py"]).commit("Rename it");
    fixture.write(&format!("src/{token}.py"), "def hidden_in_a_file():\n    return 1\n");
    fixture.write(&format!("{token}/inner.py"), "def hidden_in_a_directory():\n    return 1\n");
    for arguments in [&["mem", "index", "--format", "json"][..], &["mem", "index", "--force", "--format", "json"]] {
        let summary = run(&fixture, arguments);
        assert_eq!(summary.code, Some(0), "{summary:?}");
        assert!(!summary.out.contains(&token[4..]) && !summary.err.contains(&token[4..]), "{summary:?}");
        assert!(!contains_bytes(&fixture.path(".aurora"), &token.as_bytes()[4..]), "{arguments:?}");
    }
    let skipped = run(&fixture, &["mem", "index", "--format", "json"]).out;
    assert!(skipped.contains("a secret in its path"), "{skipped}");
    assert_eq!(found_by_pattern(&fixture, "hidden_in_a"), 0);
    let found = run(&fixture, &["mem", "search", "plain", "--format", "json"]).out;
    assert!(found.contains("src/plain.py") && !found.contains(&token[4..]), "{found}");
}

#[test]
fn a_secret_in_the_path_of_a_skipped_file_is_masked() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    let other = token.replace("k3Jd", "w7Hf");
    fixture.write("src/plain.py", "def plain():\n    return 1\n");
    fixture.write(".gitignore", "*.ignored\n");
    fixture.write(&format!("{token}.ignored"), "ignored");
    fixture.write(&format!("{token}.zip"), "by its name");
    fixture.write(&format!("{other}.zip"), "by its name");
    fixture.write(&format!("{token}.py"), [0xff, 0, 1, 0xfe]);
    std::os::unix::fs::symlink("src", fixture.path(&format!("{token}-link"))).expect("the link can be created");
    for arguments in [
        &["mem", "index"][..],
        &["mem", "index", "--format", "json"],
        &["mem", "stats", "--skipped"],
        &["mem", "stats", "--skipped", "--format", "json"],
    ] {
        let shown = run(&fixture, arguments);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        for part in [&token[4..], &other[4..]] {
            assert!(!shown.out.contains(part) && !shown.err.contains(part), "{shown:?}");
        }
    }
    let report = run(&fixture, &["mem", "stats", "--skipped", "--format", "json"]).json();
    let entries = report["entries"].as_array().expect("the value is a list");
    let masked = entries.iter().filter(|entry| entry["path"].as_str().is_some_and(|path| path.starts_with("ghp___")));
    assert_eq!(masked.count(), 5, "{report}");
}

#[test]
fn no_secret_in_the_pipeline_reaches_the_index() {
    let fixture = Fixture::plain();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    fixture.write("src/plain.py", "def plain():\n    return 1\n");
    assert_eq!(run(&fixture, &["plugin", "new", "area", "--lang", "python"]).code, Some(0));
    let pipeline = std::fs::read_to_string(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
    fixture.write(".aurora/pipeline.toml", format!("{pipeline}\n[stage.area.config]\nheader = \"token {token}\"\n"));
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    for _ in 0..2 {
        let summary = run(&fixture, &["mem", "index", "--format", "json"]);
        assert_eq!(summary.code, Some(0), "{summary:?}");
        assert!(!contains_bytes(&fixture.path(".aurora/index"), &token.as_bytes()[4..]));
    }
    for pipeline in [
        format!("extends = \"default\"\n[stage.embed]\nmodel = \"{token}\"\n"),
        format!("{pipeline}\n").replace("[stage.area]", &format!("[stage.{token}]")),
    ] {
        fixture.write(".aurora/pipeline.toml", pipeline);
        let refused = run(&fixture, &["mem", "index"]);
        assert!(refused.code == Some(2) && refused.err.contains("secret"), "{refused:?}");
    }
}

/// The mined questions contain a mask in place of the secret, and an evaluation can use them.
#[test]
fn no_secret_reaches_a_mined_question() {
    let fixture = Fixture::git();
    let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
    let code = format!(
        "def gather_rows(path):\n    \"\"\"Collect overdue parcels with {token} before archival \
         happens.\"\"\"\n    return path\n\n\ndef {token}(path):\n    return path\n"
    );
    fixture.write(".gitignore", ".aurora/\n").write("src/parcels.py", &code).commit("Start with parcels");
    fixture.write("src/parcels.py", code.replacen("return path", "return sorted(path)", 1));
    fixture.commit(&format!("Return parcels of {token} sorted by name"));
    let mined = run(&fixture, &["mem", "eval", "mine", "--held-out", "0"]);
    assert_eq!(mined.code, Some(0), "{mined:?}");
    assert!(!contains_bytes(&fixture.path(".aurora"), &token.as_bytes()[4..]));
    let questions = |set: &str| {
        let text =
            std::fs::read_to_string(fixture.path(&format!(".aurora/eval/{set}.jsonl"))).expect("the file can be read");
        let questions = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("the text is JSON")["query"].to_string());
        questions.collect::<Vec<_>>()
    };
    // The set `exact` has no question for the masked name.
    assert_eq!(questions("exact"), ["\"gather_rows\""]);
    for set in ["docstring", "commit"] {
        let asked = questions(set);
        assert!(asked.len() == 1 && asked[0].contains("ghp_"), "{set}: {asked:?}");
    }
    assert_eq!(run(&fixture, &["mem", "eval"]).code, Some(0));
}

/// Returns the number of chunks that contain a text.
fn found_by_pattern(fixture: &Fixture, text: &str) -> usize {
    let found = run(fixture, &["mem", "search", "--grep", text, "--format", "json"]).json();
    found["results"].as_array().map_or(0, Vec::len)
}

/// Whether a file, or any file below a directory, contains the bytes.
fn contains_bytes(path: &Path, part: &[u8]) -> bool {
    if path.is_dir() {
        return std::fs::read_dir(path)
            .expect("the directory can be read")
            .flatten()
            .any(|entry| contains_bytes(&entry.path(), part));
    }
    std::fs::read(path).expect("the file can be read").windows(part.len()).any(|window| window == part)
}
