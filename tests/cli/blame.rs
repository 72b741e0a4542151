//! `aur mem blame`, and attribution by line or by file.

use crate::fixture::{Fixture, git};
use crate::{indexed, repository, run};

/// Returns lines of the form `<commit> <line>` from `git blame`.
fn by_git(fixture: &Fixture, path: &str) -> String {
    let output = git(fixture.root()).args(["blame", "--line-porcelain", "--", path]).output().expect("git runs");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("the text is UTF-8");
    let head = |line: &str| {
        let mut fields = line.split(' ');
        let commit =
            fields.next().filter(|commit| commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()))?;
        Some(format!("{commit} {}\n", fields.nth(1)?))
    };
    text.lines().filter(|line| !line.starts_with('\t')).filter_map(head).collect()
}

#[test]
fn blame_equals_git_blame() {
    let fixture = indexed();
    let blamed = run(&fixture, &["mem", "blame", "src/auth/manager.py"]);
    assert_eq!((blamed.code, blamed.err.as_str()), (Some(0), ""));
    assert_eq!(blamed.out, by_git(&fixture, "src/auth/manager.py"));
    assert!(blamed.out.lines().count() > 10);
    // For uncommitted lines, both tools print a commit of zeros. `retry.go` has no uncommitted lines.
    let text = std::fs::read_to_string(fixture.path("src/auth/manager.py")).expect("the file can be read");
    fixture.write("src/auth/manager.py", text.replace("name.strip()", "name.strip().lower()") + "\n# new\n");
    run(&fixture, &["mem", "index", "-q"]);
    for path in ["src/auth/manager.py", "src/http/retry.go"] {
        let blamed = run(&fixture, &["mem", "blame", path]);
        assert_eq!(blamed.out, by_git(&fixture, path));
        assert_eq!(blamed.out.contains("0000000000"), path.ends_with("py"), "{}", blamed.out);
    }
    // After a commit, the output still equals the output of git. The path is now relative to a subdirectory.
    fixture.commit("third");
    run(&fixture, &["mem", "index", "-q"]);
    let below = crate::fixture::Run::from_command(fixture.command().current_dir(fixture.path("src/auth")).args([
        "mem",
        "blame",
        "manager.py",
    ]));
    assert_eq!(below.out, by_git(&fixture, "src/auth/manager.py"));
}

#[test]
fn runs_of_blame_as_json_cover_all_lines() {
    let fixture = indexed();
    let report = run(&fixture, &["mem", "blame", "src/auth/manager.py", "--format", "json"]).json();
    assert_eq!((&report["file"], &report["complete"]), (&"src/auth/manager.py".into(), &true.into()));
    let runs = report["runs"].as_array().expect("the value is a list");
    let mut line = 1;
    for run in runs {
        assert_eq!(run["line"], line);
        assert_eq!(run["author"], "Ada");
        line += run["lines"].as_u64().expect("the value is a number");
    }
    assert_eq!(line as usize - 1, by_git(&fixture, "src/auth/manager.py").lines().count());
}

#[test]
fn blame_explains_why_a_file_has_no_attribution() {
    let fixture = indexed();
    for (path, reason) in [
        ("scratch.js", "it is not in the commit at HEAD"),
        ("logo.png", "is not in the index"),
        ("no/such.py", "is not in the index"),
    ] {
        let blamed = run(&fixture, &["mem", "blame", path]);
        assert_eq!((blamed.code, blamed.out.as_str()), (Some(2), ""), "{path}");
        assert!(blamed.err.contains(reason), "{path}: {}", blamed.err);
    }
    let plain = Fixture::plain();
    plain.write("a.py", "def a():\n    return 1\n");
    run(&plain, &["mem", "index", "-q"]);
    assert!(run(&plain, &["mem", "blame", "a.py"]).err.contains("there is no git repository"));
}

#[test]
fn the_pipeline_can_choose_attribution_of_whole_files() {
    let fixture = repository();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n\n[stage.git-signal]\ntier = \"file\"\n");
    run(&fixture, &["mem", "index", "-q"]);
    let search = || run(&fixture, &["mem", "search", "retry", "--lang", "go", "--format", "json"]).json();
    let git = search()["results"][0]["git"].clone();
    assert_eq!(
        (&git["tier"], &git["commits"], &git["status"]),
        (&"file".into(), &1.into(), &"tracked".into()),
        "{git}"
    );
    let table = run(&fixture, &["mem", "search", "retry", "--lang", "go"]).out;
    assert!(table.contains("1 (file)"), "{table}");
    let blamed = run(&fixture, &["mem", "blame", "src/http/retry.go"]);
    assert!(blamed.code == Some(2) && blamed.err.contains("tier = \"file\""), "{blamed:?}");
    // Both commits changed `manager.py`, so attribution by file counts two commits.
    let manager = || run(&fixture, &["mem", "search", "manager", "--lang", "python", "--format", "json"]).json();
    assert_eq!(manager()["results"][0]["git"]["commits"], 2);
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n");
    run(&fixture, &["mem", "index", "-q"]);
    assert_eq!(search()["results"][0]["git"]["tier"], "line");
    assert_eq!(run(&fixture, &["mem", "blame", "src/http/retry.go"]).out, by_git(&fixture, "src/http/retry.go"));
    let fresh = fixture.duplicate();
    run(&fresh, &["mem", "index", "-q"]);
    let digest = |fixture: &Fixture| run(fixture, &["mem", "verify", "--digest"]).out;
    assert_eq!(digest(&fixture), digest(&fresh));
}

#[test]
fn an_unknown_tier_is_an_error() {
    let fixture = repository();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n\n[stage.git-signal]\ntier = \"lines\"\n");
    let refused = run(&fixture, &["mem", "index"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("lines") && refused.err.contains("line"), "{}", refused.err);
}
