//! Constants and variables are found by name, like functions and types.

use crate::fixture::Fixture;
use crate::run;

/// The file and the name of the first result.
fn first(fixture: &Fixture, query: &str) -> (String, String) {
    let found = run(fixture, &["mem", "search", query, "--limit", "1", "--no-record", "--format", "json"]);
    assert_eq!(found.code, Some(0), "{found:?}");
    let json: serde_json::Value = serde_json::from_str(&found.out).expect("JSON was asked for");
    let text = |key: &str| json["results"][0][key].as_str().unwrap_or_default().to_owned();
    (text("file"), text("name"))
}

/// A repository in which, for every constant, a file that only uses the constant contains its name more often than the
/// file that defines it.
fn fixture() -> Fixture {
    let fixture = Fixture::git();
    let defining = [
        ("src/zz/limits.py", "TIMEOUT_SECONDS = 30\n\n\ndef wait():\n    pass\n"),
        ("src/zz/async.ts", "export const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;\n"),
        ("src/zz/errors.go", "package zz\n\nimport \"errors\"\n\nvar (\n\tErrGone = errors.New(\"it went\")\n)\n"),
        ("src/zz/Limits.java", "class Limits {\n  static final int MOST_ROWS = 3;\n  void check() { run(); }\n}\n"),
        ("src/zz/limits.rs", "pub const LARGEST_PAGE: usize = 4096;\nstatic SHARED_POOL: Pool = Pool::new();\n"),
    ];
    for (path, text) in defining {
        fixture.write(path, text);
    }
    let names = ["TIMEOUT_SECONDS", "AsyncFunction", "ErrGone", "MOST_ROWS", "LARGEST_PAGE", "SHARED_POOL"];
    for name in names {
        fixture.write(&format!("src/a_{name}.py"), format!("def use_{name}():\n    return {name} + {name}.{name}\n"));
    }
    fixture.write("docs/reference/limits.md", "# LARGEST_PAGE\n\nHow large a page may be.\n\n# timeout_seconds\n\nHow long.\n");
    fixture.write("src/zz/clash.py", "retry_policy = make()\n");
    fixture.write("src/zz/policy.py", "def retry_policy():\n    retry_policy = 3\n    return None\n");
    fixture.commit("first");
    let indexed = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!((indexed.code, indexed.out.as_str()), (Some(0), ""), "{indexed:?}");
    fixture
}

#[test]
fn a_constant_ranks_above_its_mentions_and_below_a_function_of_the_same_name() {
    let fixture = fixture();
    for (query, file) in [
        ("TIMEOUT_SECONDS", "src/zz/limits.py"),
        ("limits.TIMEOUT_SECONDS", "src/zz/limits.py"),
        ("AsyncFunction", "src/zz/async.ts"),
        ("ErrGone", "src/zz/errors.go"),
        ("Limits.MOST_ROWS", "src/zz/Limits.java"),
        ("LARGEST_PAGE", "src/zz/limits.rs"),
        ("`shared_pool`", "src/zz/limits.rs"),
        ("retry_policy", "src/zz/policy.py"),
    ] {
        assert_eq!(first(&fixture, query).0, file, "{query}");
    }
    assert_eq!(first(&fixture, "retry_policy").1, "retry_policy");
}
