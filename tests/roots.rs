//! Searches in several roots, the list of known roots, and work trees that start from the index of a sibling, tested
//! with the whole program.

mod fixture;

use fixture::{CACHE, Fixture, RETRY, Run};
use serde_json::Value;
use tempfile::TempDir;

/// Creates two indexed projects in one directory.
fn projects() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write("app/cache.py", CACHE).write("app/setup.py", "");
    fixture.write("lib/http/retry.go", RETRY).write("lib/cache.py", CACHE).write("lib/go.mod", "module lib\n");
    for root in ["app", "lib"] {
        assert_eq!(fixture.aur(&["mem", "index", "--quiet", root]).code, Some(0));
    }
    fixture
}

fn results(run: &Run) -> Vec<(String, String)> {
    let rows = run.json()["results"].as_array().expect("the value is a list").clone();
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    rows.iter().map(|row| (text(&row["root"]), text(&row["file"]))).collect()
}

fn pair(root: &str, file: &str) -> (String, String) {
    (root.to_owned(), file.to_owned())
}

#[test]
fn several_roots_are_searched_together_and_known_roots_by_name() {
    let fixture = projects();
    let search = |arguments: &[&str]| {
        fixture.aur(&[&["mem", "search", "RetryWithBackoff", "--format", "json"][..], arguments].concat())
    };
    let both = search(&["--root", "app", "--root", "lib", "--root", "./lib"]);
    assert_eq!(results(&both)[0], pair("lib", "http/retry.go"), "{both:?}");
    let roots = both.json()["roots"].clone();
    assert_eq!((roots.as_array().map(Vec::len), &roots[1]["name"]), (Some(2), &"lib".into()), "{roots}");
    assert_eq!(both.json()["index"], Value::Null);

    let known = fixture.aur(&["mem", "roots", "--format", "json"]).json();
    let names: Vec<&str> =
        known.as_array().expect("the value is a list").iter().filter_map(|root| root["name"].as_str()).collect();
    assert_eq!(names, ["app", "lib"], "{known}");
    assert!(known[1]["chunks"].as_u64() > Some(1) && known[1]["files"] == 3, "{known}");
    assert!(fixture.aur(&["mem", "roots"]).out.contains("3 files"));

    // From an unrelated directory, a root can be searched by name.
    let away = TempDir::new().expect("a temporary directory can be created");
    let mut command = fixture.command();
    command.current_dir(away.path()).args(["mem", "search", "RetryWithBackoff", "--format", "json", "--root", "lib"]);
    assert_eq!(results(&Run::from_command(&mut command))[0], pair("-", "http/retry.go"));
    assert_eq!(results(&search(&["--all-roots"]))[0], pair("lib", "http/retry.go"));

    // A chunk that occurs in both roots is shown once.
    let copies = fixture.aur(&["mem", "search", "evict_oldest", "--all-roots", "--format", "json"]).json();
    let first = &copies["results"][0];
    assert_eq!((&first["root"], &first["copies"]["places"][0]), (&"app".into(), &"lib/cache.py:7".into()), "{first}");
    let table = fixture.aur(&["mem", "search", "RetryWithBackoff", "--all-roots"]);
    assert!(table.out.contains("lib/http/retry.go:3"), "{table:?}");
    let packed = fixture.aur(&["mem", "search", "RetryWithBackoff", "--all-roots", "--budget", "400"]);
    assert!(packed.out.starts_with("lib/http/retry.go:1-6 RetryWithBackoff"), "{packed:?}");
}

#[test]
fn errors_of_roots_are_reported() {
    let fixture = projects();
    let search = |arguments: &[&str]| fixture.aur(&[&["mem", "search", "retry"][..], arguments].concat());
    let unknown = search(&["--root", "app", "--root", "nowhere"]);
    assert!(unknown.code == Some(2) && unknown.err.contains("no such directory: nowhere"), "{unknown:?}");
    assert_eq!(search(&["--all-roots", "--root", "app"]).code, Some(2));
    // If a root cannot be opened, the other roots are searched nevertheless, but the exit code changes.
    fixture.write("app/.aurora/index/data.mdb", "no index");
    let some = search(&["--all-roots", "--no-refresh"]);
    assert_eq!(some.code, Some(1), "{some:?}");
    assert!(some.out.contains("http/retry.go") && some.err.contains("1 root not searched"), "{some:?}");
    let none = Fixture::plain();
    let nothing = none.aur(&["mem", "search", "retry", "--all-roots"]);
    assert!(nothing.code == Some(2) && nothing.err.contains("there are no known indexes"), "{nothing:?}");
}

#[test]
fn errors_of_all_roots_are_reported_if_none_can_be_searched() {
    let fixture = projects();
    let note = fixture.aur(&["mem", "add", "note", "-m", "retry on Sunday", "--scope", "user"]);
    assert_eq!(note.code, Some(0), "{note:?}");
    let indexes = ["app/.aurora/index/data.mdb", "lib/.aurora/index/data.mdb"];
    for index in indexes {
        fixture.write(index, "no index");
    }
    let run = fixture.aur(&["mem", "search", "retry", "--all-roots", "--no-refresh"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:?}");
    assert!(indexes.iter().all(|index| run.err.contains(index)), "{run:?}");
}

#[test]
fn roots_without_an_index_are_pruned() {
    let fixture = projects();
    let records = || std::fs::read_dir(fixture.user_directory().join("state/indexes")).map_or(0, Iterator::count);
    let prune = |arguments: &[&str]| {
        let run = fixture.aur(&[&["mem", "roots", "--prune", "--format", "json"][..], arguments].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
        run.json()["removed"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(prune(&[]), 0);
    std::fs::remove_dir_all(fixture.path("app/.aurora")).expect("the directory can be removed");
    let before = records();
    assert_eq!((prune(&["--dry-run"]), records()), (1, before));
    let run = fixture.aur(&["mem", "roots", "--prune"]);
    assert!(run.code == Some(0) && run.out.contains("app\n1 root removed"), "{run:?}");
    assert_eq!((prune(&[]), records()), (0, before - 1));
    // The other index is still trusted.
    assert_eq!(fixture.aur(&["mem", "search", "RetryWithBackoff", "--root", "lib", "--no-refresh"]).code, Some(0));
    assert_eq!(fixture.aur(&["mem", "roots", "--dry-run"]).code, Some(2));
}

/// Indexes a directory and returns the summary.
fn indexed(fixture: &Fixture, root: &str, more: &[&str]) -> Value {
    let run = fixture.aur(&[&["mem", "index", "--format", "json", root][..], more].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    run.json()
}

fn digest(fixture: &Fixture, root: &str) -> String {
    let run = fixture.aur(&["mem", "verify", "--digest", "--root", root]);
    assert_eq!(run.code, Some(0), "{run:?}");
    run.out
}

#[test]
fn a_work_tree_starts_from_the_index_of_its_sibling() {
    let main = Fixture::git();
    for number in 0..40 {
        main.write(&format!("src/file_{number}.py"), format!("def count_{number}(things):\n    return len(things)\n"));
    }
    main.write("src/cache.py", CACHE).write("gone.py", "def gone():\n    pass\n").commit("first");
    indexed(&main, ".", &[]);
    let outside = TempDir::new().expect("a temporary directory can be created");
    let tree = outside.path().join("tree");
    let tree = tree.to_str().expect("the path is UTF-8");
    main.run_git(&["worktree", "add", "--quiet", "-b", "other", tree]);
    std::fs::write(outside.path().join("tree/src/retry.go"), RETRY).expect("the file can be written");
    std::fs::remove_file(outside.path().join("tree/gone.py")).expect("the file can be removed");

    let begun = indexed(&main, tree, &[]);
    let canonical = main.root().canonicalize().expect("the path exists");
    assert_eq!(begun["adopted"], canonical.to_str().expect("the path is UTF-8"), "{begun}");
    let counts = |summary: &Value| ["indexed", "unchanged", "deleted"].map(|name| summary["files"][name].as_u64());
    assert_eq!(counts(&begun), [Some(1), Some(41), Some(1)], "{}", begun["files"]);
    assert_eq!(begun["complete"], true);
    let adopted = digest(&main, tree);
    let again = indexed(&main, tree, &[]);
    assert_eq!((&again["nothing_changed"], &again["adopted"]), (&true.into(), &Value::Null));
    let fresh = indexed(&main, tree, &["--force"]);
    assert_eq!(fresh["files"]["indexed"], 42);
    assert_eq!(digest(&main, tree), adopted);

    // Without changes in the work tree, the result is complete as well.
    std::fs::remove_dir_all(outside.path().join("tree/.aurora")).expect("the directory can be removed");
    let same = outside.path().join("same");
    let same = same.to_str().expect("the path is UTF-8");
    main.run_git(&["worktree", "add", "--quiet", "-b", "same", same]);
    let unchanged = indexed(&main, same, &[]);
    assert_eq!((&unchanged["complete"], &unchanged["files"]["indexed"]), (&true.into(), &0.into()), "{unchanged}");
    assert_eq!(digest(&main, same), digest(&main, "."));
}

#[test]
fn the_index_of_another_repository_is_not_adopted() {
    let (main, stranger) = (Fixture::git(), Fixture::git());
    main.write("src/cache.py", CACHE).commit("first");
    stranger.write("src/cache.py", CACHE).commit("first");
    indexed(&main, ".", &[]);
    // The repository `stranger` falsely lists the directory of `main` as one of its work trees.
    let claimed = stranger.path(".git/worktrees/claimed");
    std::fs::create_dir_all(&claimed).expect("the directory can be created");
    for (name, content) in [
        ("gitdir", format!("{}/.git\n", main.root().display())),
        ("commondir", "../..\n".to_owned()),
        ("HEAD", "ref: refs/heads/main\n".to_owned()),
    ] {
        std::fs::write(claimed.join(name), content).expect("the file can be written");
    }
    let root = stranger.root().to_str().expect("the path is UTF-8");
    assert_eq!(indexed(&main, root, &[])["adopted"], Value::Null);
}
