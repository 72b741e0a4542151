//! Exported indexes: an index is exported on one machine, then imported, searched and updated on another.

mod fixture;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use fixture::{Fixture, Run, hermetic};

const BODIES: &[&str] = &[
    "def parse_token_N(text):\n    \"\"\"Read the header of a token.\"\"\"\n    return text.split()\n\n\nclass CacheN:\n    def evict(self, key):\n        return parse_token_N(key)\n",
    "package main\n\n// RetryN calls f again after a timeout.\nfunc RetryN(f func() error) error {\n\treturn f()\n}\n",
    "# Guide N\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n",
];
const EXTENSIONS: &[&str] = &["py", "go", "md"];
const FILES: usize = 60;

/// A repository with a few languages and commits.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n*.aur\n");
    for number in 0..FILES {
        let body = BODIES[number % 3].replace('N', &number.to_string());
        fixture.write(&format!("m{}/f{number}.{}", number % 7, EXTENSIONS[number % 3]), body);
        if number % 20 == 0 {
            fixture.commit("more");
        }
    }
    fixture.commit("all");
    fixture
}

/// Runs the program and asserts that it succeeds.
fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

/// Exports the index and returns the bytes of the artefact.
fn export(fixture: &Fixture) -> Vec<u8> {
    run_ok(fixture, &["mem", "export", "index.aur"]);
    fs::read(fixture.path("index.aur")).expect("the file can be read")
}

fn digest(fixture: &Fixture) -> String {
    run_ok(fixture, &["mem", "verify"]);
    run_ok(fixture, &["mem", "verify", "--digest"]).out
}

#[test]
fn an_artefact_is_independent_of_threads_and_history() {
    let kept = repository();
    run_ok(&kept, &["mem", "index", "-q", "--jobs", "1"]);
    let serial = export(&kept);
    let parallel = kept.duplicate();
    run_ok(&parallel, &["mem", "index", "-q", "--jobs", "4"]);
    assert!(export(&parallel) == serial);
    // Change files, index them, and restore the files. The exported bytes must not depend on these intermediate runs.
    for round in 0..6 {
        for number in (round..FILES).step_by(11) {
            let path = format!("m{}/f{number}.{}", number % 7, EXTENSIONS[number % 3]);
            let text = fs::read_to_string(kept.path(&path)).expect("the file can be read");
            kept.write(&path, text.replace("timeout", "pause").replace("header", "head"));
        }
        kept.write(&format!("extra{round}.py"), "def extra(): pass\n");
        run_ok(&kept, &["mem", "index", "-q"]);
    }
    assert!(export(&kept) != serial);
    kept.run_git(&["checkout", "--quiet", "--", "."]).run_git(&["clean", "--quiet", "--force"]);
    run_ok(&kept, &["mem", "index", "-q"]);
    assert!(export(&kept) == serial);
    run_ok(&kept, &["mem", "compact"]);
    assert!(export(&kept) == serial);
}

#[test]
fn an_imported_index_answers_without_the_sources() {
    let origin = repository();
    run_ok(&origin, &["mem", "index", "-q"]);
    export(&origin);
    let elsewhere = Fixture::plain();
    let artefact = origin.path("index.aur");
    let import = run_ok(&elsewhere, &["mem", "import", artefact.to_str().expect("the path is UTF-8"), "--root", "."]);
    assert!(import.out.starts_with("Imported 60 files, "), "{import:?}");
    assert_eq!(digest(&elsewhere), digest(&origin));
    let stats = run_ok(&elsewhere, &["mem", "stats", "--format", "json"]).json();
    assert_eq!((&stats["files"], &stats["generation"]), (&60.into(), &1.into()), "{stats}");
    let search = ["mem", "search", "parse_token_30", "--format", "json", "--show-content", "--no-record"];
    let found = run_ok(&elsewhere, &search).json();
    let first = &found["results"][0];
    assert_eq!(first["file"], "m2/f30.py", "{found}");
    assert!(first["content"].as_str().is_some_and(|text| text.contains("return text.split()")), "{first}");
    assert_eq!(first["file_state"], "gone", "{first}");
    let shown = run_ok(&elsewhere, &["mem", "search", "parse_token_30", "--no-record"]);
    assert!(shown.err.contains("the sources are missing") && !shown.err.contains("aur mem index"), "{shown:?}");
    // The ranks and scores are the same as on the exporting machine.
    let scores = |run: &Run| -> Vec<String> {
        let found = run.json();
        let results = found["results"].as_array().expect("the value is a list");
        results.iter().map(|result| format!("{} {}", result["id"], result["score"])).collect()
    };
    let query = ["mem", "search", "read a header after a timeout", "--format", "json", "--no-record"];
    assert_eq!(scores(&run_ok(&elsewhere, &query)), scores(&run_ok(&origin, &query)));
}

#[test]
fn indexing_after_an_import_processes_only_differences() {
    let origin = repository();
    run_ok(&origin, &["mem", "index", "-q"]);
    export(&origin);
    let checkout = origin.duplicate();
    let artefact = origin.path("index.aur");
    run_ok(&checkout, &["mem", "import", artefact.to_str().expect("the path is UTF-8")]);
    let run = run_ok(&checkout, &["mem", "index", "--format", "json"]).json();
    let counts = |run: &serde_json::Value| {
        ["indexed", "unchanged", "refreshed", "deleted"]
            .map(|key| run["files"][key].as_u64().expect("the value is a number"))
    };
    assert_eq!((counts(&run), &run["changed_chunks"]), ([0, 60, 0, 0], &0.into()), "{run}");
    assert_eq!(digest(&checkout), digest(&origin));

    // The other checkout differs from the exported checkout in three files and a commit.
    let further = origin.duplicate();
    further.write("m0/f0.py", BODIES[0].replace('N', "999"));
    further.write("new.py", BODIES[0].replace('N', "1000"));
    further.remove("m1/f1.go").commit("further");
    run_ok(&further, &["mem", "import", artefact.to_str().expect("the path is UTF-8")]);
    let run = run_ok(&further, &["mem", "index", "--format", "json"]).json();
    assert_eq!(counts(&run), [2, 58, 0, 1], "{run}");
    let fresh = further.duplicate();
    run_ok(&fresh, &["mem", "index", "-q"]);
    assert_eq!(digest(&further), digest(&fresh));
    assert!(export(&further) == export(&fresh));
}

#[test]
fn a_damaged_artefact_is_reported_and_changes_nothing() {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index", "-q"]);
    let bytes = export(&fixture);
    let before = digest(&fixture);
    let mut late = bytes.clone();
    let at = bytes.len() - 40;
    late[at] ^= 4;
    let cases: [(&[u8], &str); 4] = [
        (&late, "damaged in its postings"),
        (&bytes[..bytes.len() / 2], "it ends too early"),
        (b"no artefact", "is not an exported index"),
        (b"", "it is empty"),
    ];
    for (damaged, message) in cases {
        fs::write(fixture.path("damaged.aur"), damaged).expect("the file can be written");
        let run = fixture.aur(&["mem", "import", "damaged.aur"]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
        assert!(run.err.contains(message) && run.err.contains("damaged.aur"), "{run:?}");
        assert_eq!(digest(&fixture), before);
    }
    for (missing, message) in [("nowhere.aur", "cannot open"), ("m0", "is a directory")] {
        let run = fixture.aur(&["mem", "import", missing]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(message), "{run:?}");
    }
    let empty = Fixture::plain();
    let run = empty.aur(&["mem", "export", "index.aur", "--root", "."]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("no index") && !empty.path("index.aur").exists(), "{run:?}");
}

#[test]
fn a_killed_import_leaves_the_old_index_or_the_new_one() {
    let origin = repository();
    run_ok(&origin, &["mem", "index", "-q"]);
    export(&origin);
    let new = digest(&origin);
    let fixture = Fixture::plain();
    fixture.write("good.py", "def keep_me(): pass\n");
    run_ok(&fixture, &["mem", "index", "-q"]);
    let old = digest(&fixture);
    let artefact = origin.path("index.aur");
    for wait in [1, 5, 10, 20, 40, 80] {
        let mut import = fixture
            .command()
            .args(["mem", "import", artefact.to_str().expect("the path is UTF-8"), "--root", "."])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        std::thread::sleep(Duration::from_millis(wait));
        import.kill().expect("the import can be killed");
        import.wait().expect("the program ends");
        let now = digest(&fixture);
        assert!(now == old || now == new, "after {wait} ms");
    }
    run_ok(&fixture, &["mem", "import", artefact.to_str().expect("the path is UTF-8"), "--root", "."]);
    assert_eq!(digest(&fixture), new);
    let left: Vec<_> = entries(&fixture.path(".aurora"));
    assert!(!left.iter().any(|name| name.starts_with("index.")), "{left:?}");
}

fn entries(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("the directory can be read");
    entries.map(|entry| entry.expect("the entry can be read").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_running_search_survives_compaction_and_import() {
    let fixture = repository();
    run_ok(&fixture, &["mem", "index", "-q"]);
    let other = export(&fixture);
    for number in (0..FILES).step_by(2) {
        fixture.remove(&format!("m{}/f{number}.{}", number % 7, EXTENSIONS[number % 3]));
    }
    run_ok(&fixture, &["mem", "index", "-q"]);
    let before = digest(&fixture);
    let mut search = fixture
        .command()
        .args(["mem", "search", "--stdin", "--format", "jsonl", "--no-record"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut questions = search.stdin.take().expect("the stream is piped");
    let mut answers = BufReader::new(search.stdout.take().expect("the stream is piped"));
    let mut ask = |what: &str| {
        writeln!(questions, "{what}").expect("the program reads the query");
        let mut line = String::new();
        answers.read_line(&mut line).expect("a line can be read");
        let answer: serde_json::Value = serde_json::from_str(&line).expect("the text is JSON");
        answer["results"][0]["file"].as_str().map(str::to_owned)
    };
    assert_eq!(ask("parse_token_3"), Some("m3/f3.py".to_owned()));
    let compacted = run_ok(&fixture, &["mem", "compact", "--format", "json"]).json();
    assert_eq!(compacted["written"], true, "{compacted}");
    assert!(compacted["after"].as_u64() <= compacted["before"].as_u64(), "{compacted}");
    assert_eq!(digest(&fixture), before);
    assert_eq!(ask("parse_token_9"), Some("m2/f9.py".to_owned()));
    let again = run_ok(&fixture, &["mem", "compact"]);
    assert!(again.out.starts_with("Nothing to do"), "{again:?}");
    fs::write(fixture.path("index.aur"), other).expect("the file can be written");
    run_ok(&fixture, &["mem", "import", "index.aur"]);
    assert_eq!(ask("parse_token_15"), Some("m1/f15.py".to_owned()));
    drop(questions);
    assert!(search.wait().expect("the program ends").success());
    let found = run_ok(&fixture, &["mem", "search", "parse_token_30", "--format", "json", "--no-record"]).json();
    assert_eq!(found["results"][0]["file"], "m2/f30.py", "a new search reads the imported index");
}

#[test]
fn an_index_can_be_piped_from_export_to_import() {
    let origin = repository();
    run_ok(&origin, &["mem", "index", "-q"]);
    let elsewhere = Fixture::plain();
    let program = origin.command().get_program().to_owned();
    let script = "\"$AUR\" mem export - --root \"$FROM\" | \"$AUR\" mem import - --root . --format json";
    if cfg!(unix) {
        let mut shell = Command::new("sh");
        hermetic(&mut shell, origin.home());
        shell.current_dir(elsewhere.root()).args(["-c", script]).env("AUR", program).env("FROM", origin.root());
        let run = Run::from_command(&mut shell);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(run.err.contains("exported 60 files"), "{run:?}");
        assert_eq!(run.json()["parts"][0]["name"], "chunks", "{run:?}");
        assert_eq!(digest(&elsewhere), digest(&origin));
    }
}

#[cfg(unix)]
#[test]
fn importing_from_a_named_pipe_is_refused() {
    let fixture = Fixture::plain();
    let pipe = fixture.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
    for from in [&[][..], &["--from", "jsonl"], &["--from", "markdown"]] {
        let run = fixture.aur(&[&["mem", "import", "pipe", "--root", "."][..], from].concat());
        assert_eq!(run.code, Some(2), "{from:?}: {run:?}");
        assert!(run.err.contains("pipe"), "{from:?}: {run:?}");
    }
}
