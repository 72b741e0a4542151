//! Repositories inside other repositories, and ignore files that the git configuration names.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::fixture::{Fixture, Run, git};

/// Indexes the fixture and returns the indexed paths.
fn indexed(fixture: &Fixture) -> BTreeSet<String> {
    let run = fixture.aur(&["mem", "index"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let found = fixture.aur(&["mem", "search", "--path", "*.py", "--limit", "1000", "--format", "json", "--no-record"]);
    let answer: Value = found.json();
    let file = |hit: &Value| hit["file"].as_str().expect("the value is a string").to_owned();
    answer["results"].as_array().expect("the value is a list").iter().map(file).collect()
}

fn paths(paths: &[&str]) -> BTreeSet<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

const TEXT: &str = "def one():\n    return 1\n";

#[test]
fn a_linked_work_tree_is_not_indexed_with_the_outer_one() {
    let fixture = Fixture::git();
    fixture.write("a.py", TEXT).write("lib/b.py", TEXT).commit("one");
    fixture.run_git(&["worktree", "add", "--quiet", "-b", "other", ".agents/worktrees/x"]);
    fixture.run_git(&["worktree", "add", "--quiet", "-b", "third", "wt"]);
    let clone = fixture.path("clone");
    fixture.run_git(&["clone", "--quiet", ".", clone.to_str().expect("the path is UTF-8")]);
    assert_eq!(indexed(&fixture), paths(&["a.py", "lib/b.py", "clone/a.py", "clone/lib/b.py"]));
    for path in ["wt", "wt/a.py", ".agents/worktrees/x/lib/b.py"] {
        let why = fixture.aur(&["mem", "why", path]);
        assert!(why.code == Some(1) && why.out.contains("git work tree of another branch"), "{path}: {why:?}");
    }
    let skipped = fixture.aur(&["mem", "stats", "--skipped"]);
    assert!(skipped.out.contains("git work tree of another branch") && skipped.out.contains("wt"), "{skipped:?}");
    // Each work tree can be indexed as a separate project.
    assert_eq!(fixture.aur(&["mem", "index", "wt"]).code, Some(0));
    let own =
        fixture.aur(&["mem", "search", "--root", "wt", "--path", "*.py", "--format", "json", "--no-record"]).json();
    assert_eq!(own["results"].as_array().map(Vec::len), Some(2), "{own}");
    // Remove the metadata of the work tree from its repository.
    std::fs::remove_dir_all(fixture.path(".git/worktrees/wt")).expect("the directory can be removed");
    assert!(!indexed(&fixture).contains("wt/a.py"));
    // A directory that is no longer a work tree belongs to the outer repository.
    fixture.remove("wt/.git");
    assert!(indexed(&fixture).contains("wt/a.py"));
}

#[test]
fn work_trees_next_to_a_bare_repository_are_indexed_together() {
    let fixture = Fixture::plain();
    let source = Fixture::git();
    source.write("a.py", TEXT).commit("one");
    let from = source.root().to_str().expect("the path is UTF-8").to_owned();
    assert!(
        git(fixture.root())
            .args(["clone", "--quiet", "--bare", &from, ".bare"])
            .status()
            .expect("the command runs")
            .success()
    );
    fixture.write(".git", "gitdir: ./.bare\n");
    assert!(
        git(fixture.root()).args(["worktree", "add", "--quiet", "main"]).status().expect("the command runs").success()
    );
    assert_eq!(indexed(&fixture), paths(&["main/a.py"]));
}

/// Returns the files that git ignores in the environment of the fixture.
fn ignored_by_git(fixture: &Fixture, files: &[&str]) -> BTreeSet<String> {
    let mut command = git(fixture.root());
    command.env("HOME", fixture.home()).args(["check-ignore", "--no-index"]).args(files);
    let found = Run::from_command(&mut command);
    found.out.lines().map(str::to_owned).collect()
}

const FILES: [&str; 7] = ["a.py", "b.py", "c.py", "d.py", "sub/a.py", "sub/c.py", "sub/e.py"];

#[test]
fn the_ignore_file_in_the_git_configuration_is_applied() {
    let local = |fixture: &Fixture, text: &str| {
        let config = std::fs::read_to_string(fixture.path(".git/config")).expect("the file can be read");
        fixture.write(".git/config", format!("{config}{text}"));
    };
    let user = |fixture: &Fixture, name: &str, text: &str| {
        let path = fixture.home().join(name);
        std::fs::create_dir_all(path.parent().expect("the path has a parent")).expect("the directory can be created");
        std::fs::write(path, text).expect("the file can be written");
    };
    type Setting<'a> = &'a dyn Fn(&Fixture);
    let cases: [(&str, Setting<'_>); 9] = [
        ("local", &|fixture| local(fixture, "[core]\n\texcludesFile = .git/mine\n")),
        ("local in the home directory", &|fixture| {
            user(fixture, "mine", "/a.py\nsub/c.py\n");
            local(fixture, "[core]\n\texcludesFile = ~/mine\n");
        }),
        ("included", &|fixture| {
            fixture.write(".git/more", "[core]\n\texcludesfile = .git/mine\n");
            local(fixture, "[include]\n\tpath = more\n");
        }),
        ("local before the user's", &|fixture| {
            user(fixture, "other", "b.py\n");
            user(fixture, ".gitconfig", "[core]\n\texcludesFile = ~/other\n");
            local(fixture, "[core]\n\texcludesFile = .git/mine\n");
        }),
        ("the user's", &|fixture| {
            user(fixture, "other", "b.py\n/sub/a.py\n");
            user(fixture, ".gitconfig", "[core]\n\texcludesFile = ~/other\n");
        }),
        ("included by the user's", &|fixture| {
            user(fixture, "other", "b.py\n");
            user(fixture, "more", "[core]\n\texcludesFile = ~/other\n");
            user(fixture, ".gitconfig", "[include]\n\tpath = ~/more\n");
        }),
        ("included for this directory", &|fixture| {
            user(fixture, "other", "b.py\n");
            user(fixture, "more", "[core]\n\texcludesFile = ~/other\n");
            let place = fixture.root().canonicalize().expect("the path exists");
            user(fixture, ".gitconfig", &format!("[includeIf \"gitdir:{}/\"]\n\tpath = ~/more\n", place.display()));
        }),
        ("the default", &|fixture| user(fixture, ".config/git/ignore", "c.py\n!sub/c.py\n")),
        ("none", &|fixture| {
            user(fixture, ".config/git/ignore", "c.py\n");
            local(fixture, "[core]\n\texcludesFile =\n");
        }),
    ];
    for (case, set) in cases {
        let fixture = Fixture::git();
        FILES.iter().for_each(|path| _ = fixture.write(path, TEXT));
        fixture.write(".git/mine", "/a.py\nsub/e.py\nd.py\n");
        set(&fixture);
        let ignored = ignored_by_git(&fixture, &FILES);
        assert_eq!(ignored.is_empty(), case == "none", "{case}");
        let expected: BTreeSet<String> =
            FILES.map(str::to_owned).into_iter().filter(|path| !ignored.contains(path)).collect();
        assert_eq!(indexed(&fixture), expected, "{case}");
        // The same rules apply if only a subdirectory of the repository is indexed.
        let below = Run::from_command(fixture.command().args(["mem", "index", "sub", "--format", "json"]));
        let expected = expected.iter().filter(|path| path.starts_with("sub/")).count();
        assert_eq!(below.json()["files"]["indexed"], Value::from(expected), "{case}: {below:?}");
    }
}

#[test]
fn an_inner_repository_has_its_own_ignore_file() {
    let fixture = Fixture::git();
    fixture.write("a.py", TEXT).write("b.py", TEXT).write("mine", "a.py\n").write("other", "b.py\n");
    fixture.run_git(&["config", "core.excludesFile", "mine"]);
    let inner: &Path = &fixture.path("inner");
    std::fs::create_dir(inner).expect("the directory can be created");
    assert!(git(inner).args(["init", "--quiet"]).status().expect("the command runs").success());
    assert!(git(inner).args(["config", "core.excludesFile", "../other"]).status().expect("the command runs").success());
    fixture.write("inner/a.py", TEXT).write("inner/b.py", TEXT);
    assert_eq!(indexed(&fixture), paths(&["b.py", "inner/a.py"]));
}
