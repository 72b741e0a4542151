//! Indexes that several runs build in parts. The merged index equals the index of a single run.

mod fixture;

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use fixture::{Fixture, Run};

const BODIES: [(&str, &str); 6] = [
    (
        "py",
        "import os\n\n\ndef parse_N(text):\n    \"\"\"Read the header N.\"\"\"\n    return text.split(os.sep)\n\n\nclass CacheN:\n    def evict(self, key):\n        return parse_N(key)\n",
    ),
    (
        "go",
        "package main\n\n// RetryN calls f again after a timeout.\nfunc RetryN(f func() error) error {\n\treturn f()\n}\n",
    ),
    ("js", "export function renderN(page) {\n  return page.body + N\n}\n\nexport const widthN = 80\n"),
    ("rs", "/// Counts the words of line N.\npub fn count_N(line: &str) -> usize {\n    line.split(' ').count()\n}\n"),
    ("md", "# Guide N\n\nRead this first.\n\n## Retry\n\nWhat happens after a timeout.\n"),
    ("json", "{ \"name\": \"service-N\", \"port\": 80N }\n"),
];
const FILES: usize = 66;

/// Creates a repository in several languages with commits, renames, a secret, a syntax error, a binary file, an empty
/// file, and long paths that share a prefix.
fn repository() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n*.part\n*.aur\n");
    for number in 0..FILES {
        let (extension, body) = BODIES[number % 6];
        let body = body.replace('N', &number.to_string()).repeat(1 + number % 4 * usize::from(extension == "md"));
        fixture.write(&format!("m{}/f{number}.{extension}", number % 7), body);
        if number % 16 == 0 {
            fixture.commit("more");
        }
    }
    fixture.write("a/broken.py", "def broken(:\n    pass\n\n\ndef whole():\n    pass\n");
    fixture.write("a/key.py", "token = 'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'\n");
    fixture.write("z/binary.py", b"\0\x01\x02def f(): pass\n").write("z/empty.py", "");
    let deep = ["x".repeat(200), "y".repeat(200), "z".repeat(60)].join("/");
    for name in ["one", "two", "three", "four"] {
        fixture.write(&format!("{deep}/{name}.py"), format!("def deep_{name}():\n    return 1\n"));
    }
    fixture.commit("all").run_git(&["mv", "m1/f1.go", "m2/moved.go"]).commit("move");
    let text = fs::read_to_string(fixture.path("m0/f0.py")).expect("the file can be read");
    fixture.write("m0/f0.py", text.replace("Read", "Parse")).commit("edit");
    fixture.write("m3/uncommitted.py", "def later():\n    pass\n");
    fixture
}

fn run_ok(fixture: &Fixture, arguments: &[&str]) -> Run {
    let run = fixture.aur(arguments);
    assert_eq!(run.code, Some(0), "{arguments:?}: {run:?}");
    run
}

/// Returns the bytes of the exported index, and its digest. The index must be undamaged.
fn exported(fixture: &Fixture) -> (Vec<u8>, String) {
    run_ok(fixture, &["mem", "verify"]);
    run_ok(fixture, &["mem", "export", "index.aur"]);
    let bytes = fs::read(fixture.path("index.aur")).expect("the file can be read");
    (bytes, run_ok(fixture, &["mem", "verify", "--digest"]).out)
}

/// Indexes all shards of a tree, and returns the paths of their files.
fn shards(fixture: &Fixture, count: usize) -> Vec<String> {
    let paths = (1..=count).map(|number| {
        let (shard, part) = (format!("{number}/{count}"), format!("{number}-{count}.part"));
        run_ok(fixture, &["mem", "index", "-q", "--shard", &shard, "--output", &part]);
        fixture.path(&part).to_str().expect("the path is UTF-8").to_owned()
    });
    paths.collect()
}

fn merge(fixture: &Fixture, parts: &[String]) -> Run {
    let mut arguments = vec!["mem", "merge", "--root", "."];
    arguments.extend(parts.iter().map(String::as_str));
    fixture.aur(&arguments)
}

#[test]
fn merged_shards_equal_a_single_run() {
    let single = repository();
    run_ok(&single, &["mem", "index", "-q"]);
    let expected = exported(&single);
    for count in [1, 4, 16] {
        let worker = single.duplicate();
        let mut parts = shards(&worker, count);
        assert!(!worker.path(".aurora/index").exists(), "a shard does not write the index of the project");
        parts.rotate_left(count / 3);
        parts.swap(0, count / 2);
        let merged = single.duplicate();
        let run = merge(&merged, &parts);
        assert_eq!(run.code, Some(0), "{run:?}");
        assert!(exported(&merged) == expected, "{count} shards");

        // The next run changes nothing.
        let run = run_ok(&merged, &["mem", "index", "--format", "json"]).json();
        assert_eq!((&run["changed_chunks"], &run["files"]["indexed"]), (&0.into(), &0.into()), "{run}");
        assert!(exported(&merged) == expected, "{count} shards, after a run");
    }
}

#[test]
fn a_run_after_a_merge_equals_a_fresh_run() {
    let fixture = repository();
    let parts = shards(&fixture, 3);
    assert_eq!(merge(&fixture, &parts).code, Some(0));
    fixture.write("m0/f0.py", "def other():\n    return 0\n").write("new.go", "package main\n\nfunc New() {}\n");
    fixture.remove("m2/f2.js").run_git(&["mv", "m3/f3.rs", "m4/f3.rs"]).commit("next");
    run_ok(&fixture, &["mem", "index", "-q"]);
    let fresh = fixture.duplicate();
    run_ok(&fresh, &["mem", "index", "-q"]);
    assert!(exported(&fixture) == exported(&fresh));
}

#[test]
fn shards_without_files_are_merged() {
    let single = Fixture::plain();
    single.write("a.py", "def a():\n    pass\n").write("b/c.go", "package b\n\nfunc C() {}\n");
    run_ok(&single, &["mem", "index", "-q"]);
    let merged = single.duplicate();
    let parts = shards(&merged, 9);
    assert_eq!(merge(&merged, &parts).code, Some(0));
    assert!(exported(&merged) == exported(&single));

    let empty = Fixture::plain();
    run_ok(&empty, &["mem", "index", "-q"]);
    let merged = empty.duplicate();
    let parts = shards(&merged, 2);
    assert_eq!(merge(&merged, &parts).code, Some(0));
    assert!(exported(&merged) == exported(&empty));
}

#[test]
fn shards_of_different_indexes_are_refused() {
    let fixture = repository();
    let parts = shards(&fixture, 3);
    let target = fixture.duplicate();
    target.write("good.py", "def keep_me(): pass\n");
    run_ok(&target, &["mem", "index", "-q"]);
    let before = exported(&target);
    let refused = |parts: &[&str], message: &str| {
        let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
        let run = merge(&target, &parts);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{message}: {run:?}");
        assert!(run.err.contains(message), "{message}: {run:?}");
        assert!(exported(&target) == before, "{message}");
        assert!(!target.path(".aurora/tmp").exists(), "{message}");
    };
    let [one, two, three] = [0, 1, 2].map(|at| parts[at].as_str());
    refused(&[one, three], "shard 2 of 3 is missing");
    refused(&[three], "2 of 3 shards are missing: 1, 2");
    refused(&[one, two, three, two], "are both shard 2");
    refused(&[one, "nowhere.part"], "cannot open nowhere.part");

    let bytes = fs::read(two).expect("the file can be read");
    let damaged = fixture.path("damaged.part");
    let damaged_path = damaged.to_str().expect("the path is UTF-8");
    let mut changed = bytes.clone();
    let at = bytes.len() - 40;
    changed[at] ^= 4;
    for (content, message) in [
        (&changed[..], "damaged in its terms"),
        (&bytes[..bytes.len() / 2], "it ends too early"),
        (&bytes[..30], "it ends too early"),
        (b"", "it is empty"),
    ] {
        fs::write(&damaged, content).expect("the file can be written");
        refused(&[one, damaged_path, three], message);
    }
    let mut other_version = bytes.clone();
    other_version[8] += 1;
    fs::write(&damaged, other_version).expect("the file can be written");
    refused(&[one, damaged_path, three], "has artefact version");

    let made_by = |arguments: &[&str], message: &str| {
        let output = ["--shard", "2/3", "--output", damaged_path];
        run_ok(&fixture, &[&["mem", "index", "-q"][..], arguments, &output].concat());
        refused(&[one, damaged_path, three], message);
    };
    made_by(&["--pipeline", "lexical"], "different pipelines");
    made_by(&["--no-git"], "but");
    // The size of the file stays the same.
    let text = fs::read_to_string(fixture.path("m3/uncommitted.py")).expect("the file can be read");
    fixture.write("m3/uncommitted.py", text.replace("later", "sober"));
    made_by(&[], "trees with different files");
    fixture.write("m3/uncommitted.py", text).commit("another commit");
    made_by(&[], "was made from");
    run_ok(&fixture, &["mem", "index", "-q", "--shard", "2/4", "--output", damaged_path]);
    refused(&[one, damaged_path, three], "is one of 3 shards, but");

    run_ok(&fixture, &["mem", "index", "-q"]);
    run_ok(&fixture, &["mem", "export", damaged_path]);
    refused(&[damaged_path], "is a whole index and not a shard");
    let run = target.aur(&["mem", "import", one]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.err.contains("is only shard 1 of 3") && run.err.contains("aur mem merge"), "{run:?}");
}

#[test]
fn wrong_arguments_are_refused_before_any_work() {
    let fixture = Fixture::plain();
    fixture.write("a.py", "def a():\n    pass\n");
    for shard in ["0/4", "5/4", "4", "1/0", "a/b", "1/1000000", "-1/4"] {
        let shard = format!("--shard={shard}");
        let run = fixture.aur(&["mem", "index", &shard, "--output", "a.part"]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains("the number of a part"), "{run:?}");
    }
    for arguments in [&["--shard", "1/4"][..], &["--output", "a.part"], &["--shard", "1/4", "--output", "no/a.part"]] {
        let run = fixture.aur(&[&["mem", "index"], arguments].concat());
        assert_eq!(run.code, Some(2), "{run:?}");
    }
    assert!(!fixture.path(".aurora").exists() && !fixture.path("a.part").exists());
}

fn assert_same_merge(fixture: &Fixture, parts: &[String], expected: &(Vec<u8>, String)) {
    let merged = fixture.duplicate();
    assert_eq!(merge(&merged, parts).code, Some(0));
    assert!(exported(&merged) == *expected);
}

#[test]
fn shards_share_the_walk_over_the_history() {
    let fixture = repository();
    let single = fixture.duplicate();
    run_ok(&single, &["mem", "index", "-q"]);
    let history = fixture.home().join("history");
    let path = history.to_str().expect("the path is UTF-8");
    // All shards run at the same time.
    let runs: Vec<_> = (1..=4)
        .map(|number| {
            let mut command = fixture.command();
            let (shard, part) = (format!("{number}/4"), format!("{number}.part"));
            command.args(["mem", "index", "-q", "--shard", &shard, "--output", &part, "--history", path]);
            command.spawn().expect("the program starts")
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().expect("the program ends").success());
    }
    let parts = [4, 2, 1, 3].map(|number| fixture.path(&format!("{number}.part")).display().to_string());
    assert_same_merge(&fixture, &parts, &exported(&single));

    // The file has the walk: the next run appends nothing. A damaged file is written again.
    let bytes = fs::read(&history).expect("the file can be read");
    let again = ["mem", "index", "-q", "--shard", "1/4", "--output", "1.part", "--history", path];
    run_ok(&fixture, &again);
    assert!(fs::read(&history).expect("the file can be read") == bytes);
    fs::write(&history, &bytes[..bytes.len() / 2]).expect("the file can be written");
    run_ok(&fixture, &again);
    assert!(fs::read(&history).expect("the file can be read") == bytes);
    assert_same_merge(&fixture, &parts, &exported(&single));

    let home = fixture.home().to_str().expect("the path is UTF-8");
    for (path, message) in
        [("history", "is in the directory to index"), ("no/directory/history", "cannot use"), (home, "is a directory")]
    {
        let run = fixture.aur(&["mem", "index", "--shard", "1/4", "--output", "1.part", "--history", path]);
        assert_eq!(run.code, Some(2), "{run:?}");
        assert!(run.err.contains(message), "{run:?}");
    }
    assert_eq!(fixture.aur(&["mem", "index", "--history", path]).code, Some(2));
}

#[test]
fn a_killed_shard_leaves_no_file_and_can_be_repeated() {
    let fixture = repository();
    let parts = shards(&fixture, 2);
    let single = fixture.duplicate();
    run_ok(&single, &["mem", "index", "-q"]);
    let expected = exported(&single);
    let arguments = ["mem", "index", "-q", "--shard", "1/2", "--output", "again.part"];
    for wait in [1, 20, 60, 120, 240] {
        let mut command = fixture.command();
        // A killed run leaves its temporary index.
        command.env("TMPDIR", fixture.home());
        let mut shard =
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(wait));
        shard.kill().expect("the shard can be killed");
        shard.wait().expect("the program ends");
        if fixture.path("again.part").exists() {
            assert_same_merge(&fixture, &["again.part".to_owned(), parts[1].clone()], &expected);
            fixture.remove("again.part");
        }
    }
    // A killed run can also leave an unfinished file in the tree.
    fixture.write(".aurora-export-0", "");
    run_ok(&fixture, &arguments);
    assert_same_merge(&fixture, &["again.part".to_owned(), parts[1].clone()], &expected);
}

#[test]
fn a_killed_merge_leaves_the_old_index_or_the_new_one() {
    let fixture = repository();
    let parts = shards(&fixture, 4);
    let expected = fixture.duplicate();
    run_ok(&expected, &["mem", "index", "-q"]);
    let new = exported(&expected).1;
    let target = Fixture::plain();
    target.write("good.py", "def keep_me(): pass\n");
    run_ok(&target, &["mem", "index", "-q"]);
    let old = exported(&target).1;
    for wait in [1, 10, 40, 160, 320] {
        let mut command = target.command();
        command.args(["mem", "merge", "--root", "."]).args(&parts).stdout(Stdio::null()).stderr(Stdio::null());
        let mut merge = command.spawn().expect("the program starts");
        std::thread::sleep(Duration::from_millis(wait));
        merge.kill().expect("the merge can be killed");
        merge.wait().expect("the program ends");
        let now = exported(&target).1;
        assert!(now == old || now == new, "after {wait} ms");
    }
    assert_eq!(merge(&target, &parts).code, Some(0));
    assert_eq!(exported(&target).1, new);
    assert!(!target.path(".aurora/tmp").exists());
}
