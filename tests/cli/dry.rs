//! `aur pipeline run --dry`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use aurora_storage::{Environment, OpenMode, ProjectDirectory, WriterOptions};
use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, Run};
use crate::{indexed, repository, run, settings};

fn dry(fixture: &Fixture, arguments: &[&str]) -> Run {
    run(fixture, &[&["pipeline", "run", "--dry"], arguments].concat())
}

/// Snapshot settings that replace times and dates.
fn timeless(fixture: &Fixture) -> insta::Settings {
    let mut settings = settings(fixture);
    settings.add_filter(r"\d+(\.\d+)? m?s\)", "[time])");
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "[date]");
    settings
}

/// Program of a stage that drops one chunk, fails on another chunk, and writes a column.
const JUDGE: &str = "\
from aurora_stage import Drop, stage

@stage
def judge(path, name):
    print('looking at', name)
    if name == 'hash_password':
        raise Drop('too short')
    if name == 'UserManager':
        raise ValueError('no classes')
    return 'a \\x1b[31m team\\nof ' + path.split('/')[1]
";

/// Creates a project with a trusted stage that runs [`JUDGE`].
fn project_with_judge() -> Fixture {
    let fixture = repository();
    fixture.write("tools/judge.py", JUDGE);
    fixture.write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n\n[stage.judge]\nuse = \"process\"\ncommand = [\"python3\", \"tools/judge.py\"]\n\
         reads = [\"file.path\", \"chunk.name\"]\nwrites = { team = \"string\" }\ndrops = \"chunks\"\n",
    );
    let trusted = run(&fixture, &["plugin", "trust", "judge", "--yes"]);
    assert_eq!(trusted.code, Some(0), "{trusted:?}");
    fixture
}

/// Returns all files and directories below a directory, with modification times and contents.
fn tree(directory: &Path) -> BTreeMap<PathBuf, (SystemTime, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).expect("the directory can be read") {
        let path = entry.expect("the entry can be read").path();
        let metadata = path.symlink_metadata().expect("the metadata can be read");
        let content = if metadata.is_dir() { Vec::new() } else { std::fs::read(&path).expect("the file can be read") };
        if metadata.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path, (metadata.modified().expect("the modification time is available"), content));
    }
    found
}

#[test]
fn a_dry_run_shows_the_results_of_every_stage() {
    let fixture = repository();
    let shown = dry(&fixture, &["src/auth/manager.py"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{shown:?}");
    timeless(&fixture).bind(|| assert_snapshot!("dry-default", shown.out));
    assert!(!fixture.path(".aurora").exists(), "nothing is written");
}

#[test]
fn a_dry_run_shows_the_values_drops_failures_and_log_of_a_program() {
    let fixture = project_with_judge();
    let shown = dry(&fixture, &["src/auth/manager.py", "--only", "judge"]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    timeless(&fixture).bind(|| {
        assert_snapshot!(shown.out, @r"
        src/auth/manager.py

        judge  (process, 2 chunks, [time])
          type    name                           lines  team
          code    manager.py                     1      a ␛[31m team␊of auth
          method  UserManager.authenticate_user  7–11   a ␛[31m team␊of auth
          left out  class UserManager, lines 4–11: no result
          left out  function hash_password, lines 14–16: too short
          failed    ValueError: no classes (1 row)
          log       looking at manager.py
          log       looking at UserManager
          log       looking at authenticate_user
          log       looking at hash_password
        ");
        assert_snapshot!(shown.err, @"Warning: `judge` could not process 1 row of src/auth/manager.py");
    });
}

#[test]
fn each_file_is_one_json_object() {
    let fixture = project_with_judge();
    let shown = dry(&fixture, &["src/auth/manager.py", "docs/guide.md", "--only", "judge", "--format", "jsonl"]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    let lines: Vec<serde_json::Value> =
        shown.out.lines().map(|line| serde_json::from_str(line).expect("the text is JSON")).collect();
    assert_eq!([&lines[0]["path"], &lines[1]["path"]], ["src/auth/manager.py", "docs/guide.md"]);
    let whole = dry(&fixture, &["src/auth/manager.py", "--format", "json"]).json();
    let stages = whole["stages"].as_array().expect("the value is a list");
    let names: Vec<&str> = stages.iter().filter_map(|stage| stage["stage"].as_str()).collect();
    assert_eq!(names, ["discover", "incremental-check", "parse", "chunk", "judge", "git-signal", "embed"]);
    let mut judge = stages[4].clone();
    assert!(judge["milliseconds"].as_f64().expect("the value is a number") > 0.0);
    judge["milliseconds"] = "[time]".into();
    timeless(&fixture).bind(|| assert_snapshot!("dry-json", format!("{judge:#}")));
    assert_eq!(stages[2]["wrote"]["file.symbols"][0]["name"], "UserManager");
    let vectors = stages[6]["wrote"]["chunk.embedding"].as_object().expect("the value is an object");
    assert!(vectors.values().all(|vector| vector.as_array().is_some_and(|vector| vector.len() == 256)), "{vectors:?}");
    let without = names_of(&dry(&fixture, &["src/auth/manager.py", "--only", "embed", "--format", "json"]));
    assert_eq!(without, ["embed"]);
}

fn names_of(shown: &Run) -> Vec<String> {
    let whole = shown.json();
    let stages = whole["stages"].as_array().expect("the value is a list").clone();
    stages.iter().filter_map(|stage| stage["stage"].as_str().map(str::to_owned)).collect()
}

#[test]
fn the_stage_that_skips_a_file_is_shown() {
    let fixture = repository();
    fixture.write(".gitignore", "generated/\n.aurora/\n");
    fixture.write("generated/a.py", "x = 1\n").write("node_modules/a/b.js", "let x\n").write(".env", "KEY=1\n");
    fixture.write("data.py", [0, 1, 2]).write("empty.py", "").write("vendor/a.py", "x = 1\n");
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.discover]\nmax_file_size = 100\n");
    fixture.write("large.py", "x = 1\n".repeat(100));
    std::os::unix::fs::symlink("data.py", fixture.path("link.py")).expect("the link can be created");
    let mut output = String::new();
    for path in [
        "generated/a.py",
        "node_modules/a/b.js",
        "vendor/a.py",
        ".env",
        "logo.png",
        "large.py",
        "link.py",
        ".git/config",
        ".aurora/pipeline.toml",
        "empty.py",
        "data.py",
    ] {
        let shown = dry(&fixture, &[path]);
        assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{path}: {shown:?}");
        output.push_str(&format!("{}========\n", shown.out));
    }
    timeless(&fixture).bind(|| assert_snapshot!("dry-left-out", output));
}

#[test]
fn the_reason_for_a_dropped_file_is_shown() {
    let fixture = repository();
    fixture.write(
        "tools/sieve.py",
        "from aurora_stage import Drop, stage\n\n@stage\ndef sieve(path):\n    raise Drop('not ours')\n",
    );
    fixture.write(
        "team.toml",
        "extends = \"default\"\n\n[stage.sieve]\nuse = \"process\"\ncommand = [\"python3\", \"tools/sieve.py\"]\n\
         reads = [\"file.path\"]\ndrops = \"files\"\n",
    );
    let refused = dry(&fixture, &["docs/guide.md", "--pipeline", "team.toml"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "the program is not trusted");
    assert!(refused.err.contains("nothing was run") && refused.err.contains("tools/sieve.py"), "{}", refused.err);
    let skipped =
        dry(&fixture, &["docs/guide.md", "--pipeline", "team.toml", "--untrusted", "skip", "--format", "json"]);
    assert_eq!(skipped.code, Some(0), "{skipped:?}");
    assert!(skipped.err.contains("the pipeline runs without stage `sieve`"), "{}", skipped.err);
    assert!(!names_of(&skipped).contains(&"sieve".to_owned()));
    std::fs::create_dir_all(fixture.path(".aurora")).expect("the directory can be created");
    std::fs::copy(fixture.path("team.toml"), fixture.path(".aurora/pipeline.toml")).expect("the file can be copied");
    assert_eq!(run(&fixture, &["plugin", "trust", "sieve", "--yes"]).code, Some(0));
    let shown = dry(&fixture, &["docs/guide.md", "--only", "chunk"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{shown:?}");
    timeless(&fixture).bind(|| {
        assert_snapshot!(shown.out, @r"
    docs/guide.md

    sieve  (process, [time])
      file.skip    stage `sieve`: not ours
      file.status  skipped
      left out  the file: not ours

    The file is not indexed
    ")
    });
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(0));
    for _ in ["after the run", "after a run that reads nothing"] {
        let listed = run(&fixture, &["mem", "stats", "--skipped", "--format", "json"]).json();
        let entries = listed["entries"].as_array().expect("the value is a list");
        let guide =
            entries.iter().find(|entry| entry["path"] == "docs/guide.md").expect("the file is listed as skipped");
        assert_eq!((&guide["stage"], &guide["reason"]), (&json!("sieve"), &json!("not ours")));
        assert_eq!(run(&fixture, &["mem", "index"]).code, Some(0));
    }
}

#[test]
fn a_document_from_a_program_is_shown_by_its_path() {
    let fixture = repository();
    let program = "from aurora_stage import documents\n\n@documents\ndef tickets(state):\n    \
                   for number in range(600):\n        \
                   yield {'path': f'{number}.md', 'text': f'# Ticket {number}\\n\\nIt fails.\\n'}\n";
    fixture.write("tools/tickets.py", program);
    fixture.write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n\n[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tools/tickets.py\"]\n",
    );
    assert_eq!(run(&fixture, &["plugin", "trust", "tickets", "--yes"]).code, Some(0));
    let shown = dry(&fixture, &["@tickets/7.md", "--only", "tickets", "--only", "chunk"]);
    assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{shown:?}");
    timeless(&fixture).bind(|| {
        assert_snapshot!(shown.out, @r"
    @tickets/7.md

    tickets  (documents, [time])
      file.language  markdown
      file.mtime     [date]
      file.path      @tickets/7.md
      file.size      22 bytes

    chunk  (1 chunk, [time])
      type  name      lines  terms
      kb    Ticket 7  1–3    7 terms: 7 ×4, ticket ×3, 7.md, fails, it, md, tickets
    ")
    });
    let missing = dry(&fixture, &["@tickets/600.md"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let file = dry(&fixture, &["docs/guide.md", "--format", "json"]);
    assert!(
        !names_of(&file).contains(&"tickets".to_owned()),
        "a stage that supplies documents is not listed for a file"
    );
}

#[test]
fn a_dry_run_rejects_invalid_arguments() {
    let fixture = repository();
    let other = Fixture::plain();
    other.write("a.py", "x = 1\n");
    let outside = other.path("a.py").display().to_string();
    let mut settings = timeless(&fixture);
    settings.add_filter(&crate::regex_escaped(&outside), "[outside]");
    settings.bind(|| {
        let refused = |arguments: &[&str]| {
            let refused = run(&fixture, &[&["pipeline", "run"], arguments].concat());
            assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
            refused.err
        };
        assert_snapshot!(refused(&["docs/guide.md"]), @r"
        Error: `aur pipeline run` does not write an index and requires --dry
          Help: `aur mem index` runs the pipeline on all files; --dry runs it on single files
        ");
        assert_snapshot!(refused(&["--dry", "docs/gide.md"]), @"Error: no such file: docs/gide.md");
        assert_snapshot!(refused(&["--dry", "docs"]), @r"
        Error: docs is a directory
          Help: give files; `aur mem index` runs the pipeline on a whole directory
        ");
        assert_snapshot!(refused(&["--dry", &outside]), @r"
        Error: [outside] is not below [root]
          Help: `--root` names the directory of another project
        ");
        assert_snapshot!(refused(&["--dry", "@tickets/1.md"]), @"Error: no such file: @tickets/1.md");
        assert_snapshot!(refused(&["--dry", "docs/guide.md", "--only", "embd"]), @r"
        Error: the pipeline has no stage `embd`
          Help: did you mean `embed`?
        ");
        assert_snapshot!(refused(&["--dry", "docs/guide.md", "--only", "store"]), @"Error: stage `store` is a sink, which a dry run leaves out");
        assert!(refused(&["--dry"]).contains("<PATH>"), "a path is required");
    });
}

#[test]
fn a_dry_run_writes_nothing_and_needs_no_write_lock() {
    let fixture = indexed();
    let before = tree(&fixture.path(".aurora"));
    let user = tree(&fixture.user_directory());
    assert_eq!(dry(&fixture, &["src/auth/manager.py", "docs/guide.md"]).code, Some(0));
    assert_eq!(tree(&fixture.path(".aurora")), before);
    assert_eq!(tree(&fixture.user_directory()).keys().collect::<Vec<_>>(), user.keys().collect::<Vec<_>>());
    let directory = fixture.path(ProjectDirectory::NAME);
    let environment = Environment::open(&directory, OpenMode::Existing).expect("the index can be opened");
    let _writer = environment.writer(WriterOptions::default()).expect("no other process is writing");
    assert_eq!(dry(&fixture, &["src/auth/manager.py"]).code, Some(0));
}

#[test]
fn a_path_is_relative_to_the_working_directory_or_the_root() {
    let fixture = repository();
    let mut here = crate::command(&fixture);
    let shown =
        Run::from_command(here.current_dir(fixture.path("src/auth")).args(["pipeline", "run", "--dry", "manager.py"]));
    assert!(shown.out.starts_with("src/auth/manager.py\n"), "{shown:?}");
    let root = fixture.root().display().to_string();
    let mut elsewhere = crate::command(&fixture);
    let arguments = ["pipeline", "run", "--dry", "--root", &root, "docs/guide.md"];
    let shown = Run::from_command(elsewhere.current_dir(fixture.home()).args(arguments));
    assert!(shown.out.starts_with("docs/guide.md\n"), "{shown:?}");
}
