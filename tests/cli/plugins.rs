//! `aur plugin`, and the programs that a project's pipeline runs.

use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;

use crate::fixture::{Fixture, Run};
use crate::{command, run, settings};

/// Creates a project with a stage, using `aur plugin new`.
fn project() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write("src/pay/charge.py", "def charge(card):\n    return card\n");
    fixture.write("web/charge.js", "function charge(page) { return page }\n");
    let made = run(&fixture, &["plugin", "new", "area", "--lang", "python"]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""), "{made:?}");
    fixture
}

/// Replaces digests in a text by the word DIGEST.
fn without_digest(text: &str) -> String {
    let is_digest = |word: &str| word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = |line: &str| {
        line.split(' ').map(|word| if is_digest(word) { "DIGEST" } else { word }).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(words).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_new_stage_runs_after_it_is_trusted_and_its_column_can_filter() {
    let fixture = project();
    let refused = run(&fixture, &["mem", "index"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(!fixture.path(".aurora/index").exists(), "nothing is indexed");
    settings(&fixture).bind(|| {
        assert_snapshot!(without_digest(&refused.err), @r"
        Error: you have not allowed these programs in this repository; nothing was indexed
          stage    area
          command  python3 .aurora/plugins/area.py
          file     .aurora/plugins/area.py
          digest   DIGEST
          Help: `aur plugin trust area` allows it; `--untrusted keep` indexes without running it
        ");
        assert_snapshot!(without_digest(&run(&fixture, &["plugin", "list"]).out), @"area  process  chunk.area  not allowed, DIGEST");
        let trusted = run(&fixture, &["plugin", "trust", "area", "--yes"]);
        assert_eq!((trusted.code, trusted.err.as_str()), (Some(0), ""), "{trusted:?}");
        assert_snapshot!(without_digest(&trusted.out), @r"
          stage    area
          command  python3 .aurora/plugins/area.py
          file     .aurora/plugins/area.py
          digest   DIGEST
        Allowed everywhere until the program changes
        ");
    });
    let indexed = run(&fixture, &["mem", "index", "--quiet"]);
    assert_eq!((indexed.code, indexed.err.as_str()), (Some(0), ""), "{indexed:?}");
    let found = run(&fixture, &["mem", "charge", "--where", "area=src", "--format", "json"]).json();
    let results = found["results"].as_array().expect("the value is a list");
    assert_eq!(results.len(), 1, "{found}");
    assert_eq!((&results[0]["file"], &results[0]["metadata"]["area"]), (&"src/pay/charge.py".into(), &"src".into()));
    assert!(run(&fixture, &["plugin", "list"]).out.contains("allowed"));
}

#[test]
fn a_changed_program_is_no_longer_trusted() {
    let fixture = project();
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    fixture.write(".aurora/plugins/area.py", "import os\nos.system('true')\n");
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(2));
    let skipped = run(&fixture, &["mem", "index", "--untrusted", "skip", "--format", "json"]);
    assert_eq!(skipped.code, Some(1), "{skipped:?}");
    assert!(skipped.err.contains("without stage `area`"), "{}", skipped.err);
    assert!(
        skipped.json()["report"]["stages"]
            .as_array()
            .expect("the value is a list")
            .iter()
            .all(|stage| stage["name"] != "area")
    );
    let found = run(&fixture, &["mem", "charge", "--where", "area=src"]);
    assert_eq!((found.code, found.out.as_str()), (Some(0), ""));
    assert!(found.err.contains("No column 'area' in this index"), "{}", found.err);
}

#[test]
fn a_search_notes_that_a_program_has_changed_since_the_last_run() {
    let fixture = project();
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    let program = std::fs::read_to_string(fixture.path(".aurora/plugins/area.py")).expect("the file can be read");
    let is_stale = |extra: &[&str]| {
        let found = run(&fixture, &[&["mem", "charge", "--where", "area=src"][..], extra].concat());
        assert_eq!(found.code, Some(0), "{found:?}");
        found.err.contains("Column `area` has stale values, because the program of stage `area`")
    };
    assert!(!is_stale(&[]));
    fixture.write(".aurora/plugins/area.py", format!("# A comment.\n{program}"));
    assert!(is_stale(&[]), "the program was edited");
    assert!(!is_stale(&["--no-refresh"]), "the search reads only the index");
    std::fs::remove_file(fixture.path(".aurora/plugins/area.py")).expect("the file can be removed");
    assert!(is_stale(&[]), "the program was deleted");
    fixture.write(".aurora/plugins/area.py", program);
    assert!(!is_stale(&[]), "the program has been restored");
}

/// Returns a copy of a project's files in another directory, like a clone.
fn clone_of(fixture: &Fixture) -> Fixture {
    let copied = Fixture::plain();
    for file in [".aurora/pipeline.toml", ".aurora/plugins/area.py", "src/pay/charge.py"] {
        copied.write(file, std::fs::read_to_string(fixture.path(file)).expect("the file can be read"));
    }
    copied
}

/// Runs `aur` in a clone, with the home directory of `fixture`.
fn run_in(clone: &Fixture, fixture: &Fixture, arguments: &[&str]) -> Run {
    Run::from_command(command(fixture).current_dir(clone.root()).args(arguments))
}

#[test]
fn trust_holds_in_every_clone_and_can_be_revoked() {
    let fixture = project();
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    let clone = clone_of(&fixture);
    assert_eq!(run(&clone, &["mem", "index"]).code, Some(2), "the consent is not part of the repository");
    let indexed = run_in(&clone, &fixture, &["mem", "index", "--quiet"]);
    assert_eq!((indexed.code, indexed.err.as_str()), (Some(0), ""), "{indexed:?}");
    let pipeline = std::fs::read_to_string(clone.path(".aurora/pipeline.toml")).expect("the file can be read");
    for (line, expected) in [
        ("config = { depth = 2 }", "changed  config.depth is new: 2"),
        ("env = [\"TOKEN\"]", "changed  the variable TOKEN is new"),
        ("inputs = [\"CODEOWNERS\"]", "changed  the input CODEOWNERS is new"),
    ] {
        clone.write(".aurora/pipeline.toml", format!("{pipeline}{line}\n"));
        let refused = run_in(&clone, &fixture, &["mem", "index"]);
        assert!(refused.code == Some(2) && refused.err.contains(expected), "{refused:?}");
    }
    clone.write(".aurora/pipeline.toml", pipeline.replace("area.py\"", "area.py\", \"--deep\""));
    let refused = run_in(&clone, &fixture, &["mem", "index"]);
    assert!(refused.err.contains("changed  the command is `python3 .aurora/plugins/area.py --deep`"), "{refused:?}");
    clone.write(".aurora/pipeline.toml", &pipeline).write(".aurora/plugins/area.py", "import teams\n");
    clone.write(".aurora/plugins/teams.py", "");
    let refused = run_in(&clone, &fixture, &["mem", "index"]);
    for expected in ["changed  file .aurora/plugins/area.py has changed", "imports  .aurora/plugins/teams.py"] {
        assert!(refused.code == Some(2) && refused.err.contains(expected), "{refused:?}");
    }
    let listed = run_in(&clone, &fixture, &["plugin", "list", "--format", "json"]).json();
    let stage = &listed["stages"][0];
    assert_eq!((&stage["name"], &stage["state"]), (&"area".into(), &"not-allowed".into()), "{listed}");
    assert_eq!(stage["changes"].as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(stage["imports"][0]["path"], ".aurora/plugins/teams.py");
    let revoked = run(&fixture, &["plugin", "trust", "area", "--revoke"]);
    assert_eq!(revoked.out, "Revoked 1 permission of stage area\n");
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(2));
}

#[test]
fn a_list_of_digests_allows_only_listed_programs() {
    let fixture = project();
    let listed = run(&fixture, &["plugin", "list", "--digests"]);
    assert!(listed.code == Some(0) && listed.out.ends_with("  area\n"), "{listed:?}");
    let json = run(&fixture, &["plugin", "list", "--format", "json"]).json();
    assert_eq!(json["stages"][0]["digest"].as_str(), listed.out.split(' ').next());
    let file = fixture.home().join("allowed");
    std::fs::write(&file, format!("# reviewed\n{}", listed.out)).expect("the file can be written");
    let trust = |file: &std::path::Path, more: &[&str]| {
        run(&fixture, &[&["plugin", "trust", "--digest", file.to_str().expect("the path is UTF-8")], more].concat())
    };
    fixture.write("allowed", &listed.out);
    let inside = trust(&fixture.path("allowed"), &["--yes"]);
    assert!(inside.code == Some(2) && inside.err.contains("is in the checkout"), "{inside:?}");
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(2));
    let allowed = trust(&file, &[]);
    assert!(allowed.code == Some(0) && allowed.out.starts_with("Allowed: "), "{allowed:?}");
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    // If a pull request changes the program, the list does not contain the new digest. Digests of earlier versions in
    // the list do not allow the new version to run.
    fixture.write(".aurora/plugins/area.py", "open('ran', 'w')\n");
    for more in [&["area"][..], &["--yes"], &[]] {
        let refused = trust(&file, more);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.err.contains("file .aurora/plugins/area.py has changed"), "{refused:?}");
    }
    assert_eq!(run(&fixture, &["mem", "index"]).code, Some(2));
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    assert_eq!(trust(&file, &[]).code, Some(2), "the program is allowed but not listed");
    std::fs::write(&file, "area\n").expect("the file can be written");
    assert!(trust(&file, &[]).err.contains("allowed:1 does not begin with a digest"));
    assert!(!fixture.path("ran").exists());
}

#[test]
fn every_command_reports_files_that_a_digest_may_not_cover() {
    let fixture = project();
    let text = "import sys\nsys.path += [PLACE]\nimport helper\nopen(\"tools/rules\")\n";
    fixture.write(".aurora/plugins/area.py", text).write("vendor/helper.py", "").write("tools/rules", "");
    let module =
        "the module helper, which was not found where the program looks for it; vendor/helper.py has that name";
    let file = "the file tools/rules, which .aurora/plugins/area.py names";
    let listed = run(&fixture, &["plugin", "list", "--format", "json"]);
    let refused = run(&fixture, &["mem", "index"]);
    let trusted = run(&fixture, &["plugin", "trust", "area", "--yes"]);
    for expected in [module, file] {
        assert!(listed.out.contains(expected), "{listed:?}");
        assert!(refused.err.contains(&format!("without  {expected}")), "{refused:?}");
        assert!(trusted.out.contains(&format!("without  {expected}")), "{trusted:?}");
    }
}

#[test]
fn a_listed_digest_that_covers_no_file_of_the_project_is_refused() {
    let fixture = Fixture::plain();
    let pipeline = |more: &str| {
        format!(
            "extends = \"default\"\n\n[stage.owner]\nuse = \"process\"\ncommand = [\"sh\", \"-c\", \"cd tools && exec python3 real.py\"]\nreads = [\"file.path\"]\nwrites = {{ owner = \"string\" }}\n{more}"
        )
    };
    fixture.write("tools/real.py", "").write(".aurora/pipeline.toml", pipeline(""));
    let file = fixture.home().join("allowed");
    let trust = || {
        std::fs::write(&file, run(&fixture, &["plugin", "list", "--digests"]).out).expect("the file can be written");
        run(&fixture, &["plugin", "trust", "--digest", file.to_str().expect("the path is UTF-8")])
    };
    let refused = trust();
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
    for expected in
        ["cover no file of the project", "without  files that the command names after `cd`", "in `files` of the stage"]
    {
        assert!(refused.err.contains(expected), "{refused:?}");
    }
    let confirmed = run(&fixture, &["plugin", "trust", "owner", "--yes"]);
    assert!(confirmed.code == Some(0) && confirmed.err.contains("no file of the project belongs"), "{confirmed:?}");
    fixture.write(".aurora/pipeline.toml", pipeline("files = [\"tools/real.py\"]\n"));
    assert_eq!(trust().code, Some(0));
}

#[test]
fn all_missing_files_of_a_program_are_reported() {
    let fixture = Fixture::plain();
    let stage = |name: &str| {
        format!(
            "[stage.{name}]\nuse = \"process\"\ncommand = [\"python3\", \"{name}.py\"]\nreads = [\"file.path\"]\nwrites = {{ {name} = \"string\" }}\nfiles = [\"{name}.a\", \"{name}.b\"]\n"
        )
    };
    fixture.write(".aurora/pipeline.toml", format!("extends = \"default\"\n\n{}\n{}", stage("one"), stage("two")));
    for arguments in
        [&["mem", "index"][..], &["plugin", "list"], &["plugin", "trust", "one"], &["plugin", "test", "two"]]
    {
        let refused = run(&fixture, arguments);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        for file in ["one.py", "one.a", "one.b", "two.py", "two.a", "two.b"] {
            assert!(refused.err.contains(&format!("there is no file `{file}`")), "{file}: {}", refused.err);
        }
        assert!(refused.err.ends_with("Error: the pipeline has 6 errors\n"), "{}", refused.err);
    }
}

#[test]
fn a_source_of_documents_is_trusted_by_its_digest() {
    let fixture = Fixture::plain();
    let text =
        "extends = \"default\"\n\n[stage.tickets]\nuse = \"documents\"\ncommand = [\"python3\", \"tickets.py\"]\n";
    fixture.write(".aurora/pipeline.toml", text).write("tickets.py", "print('never')\n");
    let listed = run(&fixture, &["plugin", "list", "--digests"]);
    let file = fixture.home().join("allowed");
    std::fs::write(&file, &listed.out).expect("the file can be written");
    let trust = ["plugin", "trust", "--digest", file.to_str().expect("the path is UTF-8")];
    assert_eq!(run(&fixture, &trust).code, Some(0), "{listed:?}");
    assert!(run(&fixture, &["plugin", "list"]).out.contains("allowed, "));
    fixture.write(".aurora/pipeline.toml", format!("{text}config = {{ project = \"B\" }}\n"));
    let refused = run(&fixture, &trust);
    assert!(refused.code == Some(2) && refused.err.contains("config.project is new: \"B\""), "{refused:?}");
}

#[test]
fn a_search_does_not_run_untrusted_programs() {
    let fixture = project();
    fixture.write(".aurora/plugins/area.py", "open('ran', 'w')\n");
    let found = run(&fixture, &["mem", "charge"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    assert!(found.out.contains("charge.py") && found.err.contains("stage `area` was not run"), "{found:?}");
    for arguments in
        [&["pipeline", "check"][..], &["pipeline", "graph"], &["pipeline", "show"], &["doctor"], &["plugin", "list"]]
    {
        run(&fixture, arguments);
    }
    assert_eq!(run(&fixture, &["pipeline", "graph", "--why"]).code, Some(2));
    assert!(!fixture.path("ran").exists());
}

#[test]
fn plugin_test_checks_a_program() {
    let fixture = project();
    let refused = run(&fixture, &["plugin", "test", "area"]);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "the program is not trusted yet");
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    let tested = run(&fixture, &["plugin", "test", "area"]);
    assert_eq!(tested.code, Some(0), "{tested:?}");
    assert!(tested.out.lines().filter(|line| line.starts_with("ok ")).count() > 5, "{}", tested.out);
    let command = run(&fixture, &["plugin", "test", "--", "python3", ".aurora/plugins/area.py"]);
    assert_eq!(command.code, Some(0), "{command:?}");
    let failed = run(&fixture, &["plugin", "test", "--", "cat"]);
    assert_eq!(failed.code, Some(1), "{failed:?}");
    assert!(failed.out.contains("failed  it answers the handshake"), "{}", failed.out);
    assert_eq!(run(&fixture, &["plugin", "test", "--writes", "x=text", "--", "cat"]).code, Some(2));
}

#[test]
fn plugin_commands_reject_invalid_arguments() {
    let fixture = project();
    settings(&fixture).bind(|| {
        let refused = |name: &str| {
            let refused = run(&fixture, &["plugin", "new", name]);
            assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
            refused.err
        };
        assert_snapshot!(refused("area"), @r"
        Error: the stage `area` already exists
          Help: choose another name
        ");
        assert_snapshot!(refused("embed"), @r"
        Error: the stage `embed` already exists
          Help: choose another name
        ");
        assert_snapshot!(refused("Owner Team"), @r"
        Error: `Owner Team` cannot be the name of a stage
          Help: a name starts with a lower-case letter, followed by lower-case letters, digits, `_` and `-`, with at most 64 characters
        ");
        assert_snapshot!(refused("domain"), @r"
        error[A0113]: stage `domain` writes column `domain`, which is built-in metadata of documents
         --> [root]/.aurora/pipeline.toml:9:1
        9 | [stage.domain]
          = help: give the column another name
        Error: the pipeline with the new stage has 1 error
        ");
        if cfg!(not(feature = "wasm")) {
            assert_snapshot!(run(&fixture, &["plugin", "new", "other", "--lang", "wasm"]).err, @r"
            Error: this program was built without WebAssembly stages
              Help: build it with `cargo build --release --features wasm`
            ");
        }
        assert_snapshot!(run(&fixture, &["plugin", "trust", "arae"]).err, @r"
        Error: the pipeline has no stage `arae`
          Help: did you mean `area`?
        ");
        assert_snapshot!(run(&fixture, &["plugin", "trust", "embed"]).err, @"Error: stage `embed` runs no program, so there is nothing to allow");
        assert_snapshot!(run(&fixture, &["plugin", "trust", "area"]).err, @r"
        Error: there is no terminal to ask on
          Help: `--yes` allows the program without asking, `--digest FILE` if a file of reviewed digests lists it
        ");
    });
}

#[test]
fn pipeline_graph_explains_the_next_run() {
    let fixture = project();
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    assert!(run(&fixture, &["pipeline", "graph", "--why"]).out.contains("there is no index yet"));
    assert_eq!(run(&fixture, &["mem", "index", "--quiet"]).code, Some(0));
    settings(&fixture).bind(|| {
        assert_snapshot!(run(&fixture, &["pipeline", "graph", "--why"]).out, @r"
        discover           runs on changes in the tree
        incremental-check  runs on changes in the tree
        parse              runs on changes in the tree
        chunk              runs on changes in the tree
        git-signal         runs on changes in the tree
        embed              runs on changes in the tree
        area               runs on changes in the tree
        store              runs on changes in the tree
        bm25               runs on changes in the tree
        ");
        let text = std::fs::read_to_string(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
        fixture.write(".aurora/pipeline.toml", format!("{text}version = \"2\"\n"));
        assert_snapshot!(run(&fixture, &["pipeline", "graph", "--why"]).out, @r"
        discover           runs on changes in the tree
        incremental-check  runs on changes in the tree
        parse              runs on changes in the tree
        chunk              runs on changes in the tree
        git-signal         runs on changes in the tree
        embed              runs on changes in the tree
        area               runs again on all chunks: `version` has changed
        store              runs again on all chunks: it reads columns of `area`
        bm25               runs again on all chunks: it reads columns of `store`
        ");
        fixture.write(".aurora/pipeline.toml", format!("{text}\n[stage.parse]\nmax_symbols = 10\n"));
        assert_snapshot!(run(&fixture, &["pipeline", "graph", "--why"]).out, @r"
        discover           runs again on all files: chunks depend on `parse`, which has changed
        incremental-check  runs again on all files: chunks depend on `parse`, which has changed
        parse              runs again on all files: `max_symbols` has changed
        chunk              runs again on all files: chunks depend on `parse`, which has changed
        git-signal         runs again on all files: chunks depend on `parse`, which has changed
        embed              runs again on all files: chunks depend on `parse`, which has changed
        area               runs again on all files: chunks depend on `parse`, which has changed
        store              runs again on all files: chunks depend on `parse`, which has changed
        bm25               runs again on all files: chunks depend on `parse`, which has changed
        ");
    });
    assert_eq!(run(&fixture, &["mem", "verify"]).code, Some(0), "nothing was changed");
}

#[test]
fn the_error_for_a_missing_webassembly_feature_names_the_remedy() {
    let fixture = Fixture::plain();
    fixture.write("team.toml", "extends = \"default\"\n\n[stage.owner]\nuse = \"wasm\"\n");
    let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
    assert_eq!(checked.code, Some(2), "{checked:?}");
    if cfg!(not(feature = "wasm")) {
        assert!(
            checked.err.contains("unknown stage type `wasm`") && checked.err.contains("--features wasm"),
            "{}",
            checked.err
        );
    }
}

/// Mistakes in the table of a stage that runs a program. The snapshot contains the error message of each mistake.
const MISTAKES: &[&str] = &[
    "writes = { owner = \"string\" }",
    "command = \"python3 owner.py\"\nwrites = { owner = \"string\" }",
    "command = []\nwrites = { owner = \"string\" }",
    "comand = [\"python3\"]\nwrites = { owner = \"string\" }",
    "command = [\"python3\"]",
    "command = [\"python3\"]\nwrites = { owner = \"text\" }",
    "command = [\"python3\"]\nwrites = { owner = \"strin\" }",
    "command = [\"python3\"]\nwrites = [\"owner\"]",
    "command = [\"python3\"]\nwrites = { Owner = \"string\" }",
    "command = [\"python3\"]\nwrites = { \"team.owner\" = \"string\" }",
    "command = [\"python3\"]\nwrites = { owner = \"string\", \"chunk.owner\" = \"string\" }",
    "command = [\"python3\"]\nwrites = { name = \"string\" }",
    "command = [\"python3\"]\nwrites = { owner = { type = \"string\", boost = 0.5 } }",
    "command = [\"python3\"]\nwrites = { churn = { type = \"integer\", terms = 2 } }",
    "command = [\"python3\"]\nwrites = { churn = { type = \"float\", boost = 3.0 } }",
    "command = [\"python3\"]\nwrites = { owner = { type = \"string\", terms = 11 } }",
    "command = [\"python3\"]\nwrites = { owner = { type = \"string\", filtr = true } }",
    "command = [\"python3\"]\nreads = [\"file.pth\"]\nwrites = { owner = \"string\" }",
    "command = [\"python3\"]\nreads = [\"file.path\", \"file.path\"]\nwrites = { owner = \"string\" }",
    "command = [\"python3\"]\nwrites = { owner = \"string\" }\nenv = [\"TOKEN=secret\"]",
    "command = [\"python3\"]\nwrites = { owner = \"string\" }\ntimeout = 0\nworkers = 0\nmemory = \"lots\"",
    "command = [\"python3\"]\nwrites = { \"file.owner\" = \"string\" }\ndrops = \"chunks\"",
    "command = [\"python3\"]\ndrops = \"rows\"",
    "command = [\"python3\"]\nreads = [\"chunk.team\"]\nwrites = { owner = \"string\" }",
    "command = [\"python3\"]\nwrites = { \"chunk.embedding\" = \"vector\" }",
    "command = [\"python3\"]\nwrites = { \"chunk.embedding\" = { type = \"vector\", dimensions = 9000 } }",
    "command = [\"python3\"]\nwrites = { \"chunk.embedding\" = \"strings\" }",
    "command = [\"python3\"]\nwrites = { shape = { type = \"vector\", dimensions = 3 } }",
    "command = [\"python3\"]\nafter = [\"embed\"]\nwrites = { \"chunk.embedding\" = { type = \"vector\", dimensions = 3 } }",
];

#[test]
fn mistakes_are_reported_with_line_cause_and_remedy() {
    let fixture = Fixture::plain();
    let mut output = String::new();
    for mistake in MISTAKES {
        fixture.write("team.toml", format!("extends = \"default\"\n\n[stage.owner]\nuse = \"process\"\n{mistake}\n"));
        let checked = run(&fixture, &["pipeline", "check", "team.toml"]);
        assert_eq!((checked.code, checked.out.as_str()), (Some(2), ""), "{mistake}: {checked:?}");
        output.push_str(&format!("{mistake}\n\n{}\n========\n", checked.err));
    }
    settings(&fixture).bind(|| assert_snapshot!("plugin-mistakes", output));
}

#[test]
fn interrupting_a_changed_program_leaves_the_index_unchanged() {
    let fixture = project();
    let index = |arguments: &[&str]| {
        assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
        run(&fixture, &[&["mem", "index", "--format", "json"], arguments].concat())
    };
    assert_eq!(index(&[]).code, Some(0));
    let digest = || run(&fixture, &["mem", "verify", "--digest"]).out;
    let before = digest();
    let working = std::fs::read_to_string(fixture.path(".aurora/plugins/area.py")).expect("the file can be read");
    let hanging = "import time\nfrom aurora_stage import stage\n\n@stage\ndef area(path):\n    open('hangs', 'w').close()\n    time.sleep(600)\n";
    fixture.write(".aurora/plugins/area.py", hanging);
    assert_eq!(run(&fixture, &["plugin", "trust", "area", "--yes"]).code, Some(0));
    let child = command(&fixture)
        .args(["mem", "index"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    while !fixture.path("hangs").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let ended = child.wait_with_output().expect("the program ends");
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(130), "{out}{err}");
    assert!(out.starts_with("Indexing stopped early; the index is unchanged."), "{out}");
    assert!(err.contains("Interrupted: the index is unchanged"), "{err}");
    assert_eq!(digest(), before);
    fixture.remove("hangs").write(".aurora/plugins/area.py", working);
    let again = index(&[]).json();
    assert_eq!((&again["complete"], digest()), (&true.into(), before));
}
