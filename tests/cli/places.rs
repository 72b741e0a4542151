//! Paths, languages and types in the various forms in which users write them.

use std::path::Path;

use serde_json::Value;

use crate::fixture::{Fixture, Run};
use crate::{indexed, run};

/// Runs a search in a directory and returns the files and names of its results.
fn listed(fixture: &Fixture, directory: &Path, arguments: &[&str]) -> Vec<String> {
    let mut command = fixture.command();
    command.current_dir(directory).args(["mem", "search", "--format", "json", "--no-record"]).args(arguments);
    let found = Run::from_command(&mut command);
    assert_eq!(found.code, Some(0), "{arguments:?}: {found:?}");
    let answer: Value = found.json();
    let results = answer["results"].as_array().expect("the value is a list");
    results.iter().map(|hit| format!("{} {}", hit["file"], hit["name"]).replace('"', "")).collect()
}

#[test]
fn a_path_is_relative_to_the_working_directory_or_the_root() {
    let fixture = indexed();
    let (root, below) = (fixture.root().to_owned(), fixture.path("src/auth"));
    let expected = listed(&fixture, &root, &["--path", "src/auth/manager.py"]);
    assert!(!expected.is_empty());
    let absolute = fixture.path("src/auth/manager.py");
    let absolute = absolute.to_str().expect("the path is UTF-8");
    for path in [
        absolute,
        "./src/auth/manager.py",
        "src/http/../auth/manager.py",
        "src/auth/manager.py/",
        "/src/auth",
        r"src\auth\manager.py",
    ] {
        assert_eq!(listed(&fixture, &root, &["--path", path]), expected, "{path}");
        assert_eq!(listed(&fixture, &root, &["--where", &format!("path={path}")]), expected, "{path}");
    }
    for path in [absolute, "manager.py", "./manager.py", ".", "../auth", "../../src/auth/*.py", "src/auth/manager.py"] {
        assert_eq!(listed(&fixture, &below, &["--path", path]), expected, "{path}");
    }
    for path in ["/etc/passwd", "../../elsewhere.py"] {
        let refused = run(&fixture, &["mem", "search", "manager", "--path", path]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.err.contains("is outside of"), "{refused:?}");
        for arguments in
            [&["mem", "why", path][..], &["mem", "blame", path], &["mem", "graph", "--callers", &format!("{path}:1")]]
        {
            let refused = run(&fixture, arguments);
            assert!(refused.code == Some(2) && refused.err.contains("is not below"), "{arguments:?}: {refused:?}");
        }
    }
    for path in [absolute, "./src/auth/manager.py", "src/http/../auth/manager.py"] {
        for arguments in
            [&["mem", "why", path][..], &["mem", "blame", path], &["mem", "graph", "--callers", &format!("{path}:7")]]
        {
            assert_eq!(run(&fixture, arguments).code, Some(0), "{arguments:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_path_through_a_link_to_the_root_is_found() {
    let fixture = indexed();
    let link = fixture.home().join("link");
    std::os::unix::fs::symlink(fixture.root(), &link).expect("the link can be created");
    let path = link.join("src/auth/manager.py");
    let path = path.to_str().expect("the path is UTF-8");
    let expected = listed(&fixture, fixture.root(), &["--path", "src/auth/manager.py"]);
    assert_eq!(listed(&fixture, fixture.root(), &["--path", path]), expected);
    assert_eq!(run(&fixture, &["mem", "blame", path]).code, Some(0));
}

#[test]
fn languages_and_types_have_several_names() {
    let fixture = indexed();
    let list = |arguments: &[&str]| listed(&fixture, fixture.root(), arguments);
    for (names, expected) in [
        (&["py", "PY", ".py", "python3", "Python", "python,python"][..], "python"),
        (&["golang", "Go"], "go"),
        (&["js", "jsx", "node", "ecmascript"], "javascript"),
        (&["md", "mdx"], "markdown"),
    ] {
        for name in names {
            assert_eq!(list(&["--lang", name]), list(&["--lang", expected]), "{name}");
            let condition = format!("language={name}");
            assert!(name.contains(',') || list(&["--where", &condition]) == list(&["--lang", expected]), "{name}");
        }
    }
    assert!(!list(&["--lang", "py"]).is_empty());
    for name in ["def", "fn", "func", "functions"] {
        assert_eq!(list(&["--type", name]), list(&["--type", "function"]), "{name}");
        assert_eq!(list(&["--where", &format!("type={name}")]), list(&["--type", "function"]), "{name}");
    }
    for name in ["rs", "c++", "c#", "ts", "tsx", "rb", "sh", "yml", "cs"] {
        assert_eq!(list(&["--lang", name]), [""; 0], "{name}");
    }
    for (arguments, expected_message) in [
        (["--lang", "pyhton"], "did you mean `python`?"),
        (["--lang", "klingon"], "indexed languages: "),
        (["--where", "language=pyhton"], "did you mean `python`?"),
        (["--where", "type=functoin"], "did you mean `function`?"),
    ] {
        let refused = run(&fixture, &[&["mem", "search", "manager"], &arguments[..]].concat());
        assert!(refused.code == Some(2) && refused.err.contains(expected_message), "{arguments:?}: {refused:?}");
    }
}

#[test]
fn each_filter_lists_results_without_a_query() {
    let fixture = indexed();
    for arguments in [
        ["--path", "manager.py"],
        ["--lang", "python"],
        ["--type", "class"],
        ["--where", "type=class"],
        ["--where", "path=src/**"],
        ["--grep", "UserManager"],
        ["--fixed", "UserManager"],
        ["--source", "code"],
    ] {
        assert!(!listed(&fixture, fixture.root(), &arguments).is_empty(), "{arguments:?}");
    }
    assert_eq!(
        run(&fixture, &["mem", "add", "note", "-m", "The staging database is reset every Sunday"]).code,
        Some(0)
    );
    let notes = listed(&fixture, fixture.root(), &["--scope", "project"]);
    assert_eq!((notes.len(), run(&fixture, &["mem", "search"]).code), (1, Some(2)), "{notes:?}");
}
