//! `aur mem graph`: trees of resolved relations as text and JSON.

use crate::fixture::Fixture;
use crate::{run, settings};

const STORE: &str = "from shop.till import Till, rounded


class Base:
    def close(self):
        print('closed')


class Store(Base):
    def __init__(self, till: Till):
        self.till = till

    def sell(self, price):
        self.till.add(price)
        self.log.write(price)
        return rounded(price)

    def close(self):
        super().close()


def main():
    Store(Till()).sell(1)
";

const TILL: &str = "class Till:
    def add(self, amount):
        return self.count(rounded(amount))

    def count(self, amount):
        return self.add(amount)


def rounded(amount):
    return int(amount)


def add(amount):
    return rounded(amount)
";

fn shop() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write("shop/store.py", STORE).write("shop/till.py", TILL);
    let indexed = run(&fixture, &["mem", "index", "-q", "--pipeline", "lexical"]);
    assert_eq!(indexed.code, Some(0), "{indexed:?}");
    fixture
}

#[test]
fn relations_are_shown_as_a_tree() {
    let fixture = shop();
    let mut shown = String::new();
    for arguments in [
        &["Store.sell", "--callees", "--depth", "3"][..],
        &["rounded", "--callers", "--depth", "2"],
        &["Base", "--implementers"],
        &["shop/store.py:5", "--implementers"],
        &["code:shop/store.py:Store.close", "--callees"],
        &["Till", "--callers"],
        &["Store", "--callers"],
        &["rounded", "--impact"],
        &["--unused", "--min-confidence", "0"],
        &["--imports", "shop/store.py"],
        &["--imported-by", "shop.till"],
    ] {
        let found = run(&fixture, &[&["mem", "graph"], arguments].concat());
        assert_eq!(found.code, Some(0), "{found:?}");
        shown += &format!("$ aur mem graph {}\n{}{}\n", arguments.join(" "), found.out, found.err);
    }
    settings(&fixture).bind(|| insta::assert_snapshot!("graph-text", shown));
}

#[test]
fn relations_are_available_as_json() {
    let fixture = shop();
    let found = run(&fixture, &["mem", "graph", "Till.add", "--callees", "--depth", "2", "--format", "json"]);
    settings(&fixture).bind(|| insta::assert_snapshot!("graph-json", found.out));
}

#[test]
fn an_ambiguous_or_unknown_name_is_refused() {
    let fixture = shop();
    let graph = |name: &str| run(&fixture, &["mem", "graph", name, "--callers"]);
    let several = graph("close");
    assert_eq!((several.code, several.out.as_str()), (Some(2), ""));
    for expected in
        ["2 definitions are called close", "code:shop/store.py:Base.close", "code:shop/store.py:Store.close"]
    {
        assert!(several.err.contains(expected), "{}", several.err);
    }
    let unknown = graph("roundde");
    assert_eq!(unknown.code, Some(2));
    assert!(
        unknown.err.contains("no definition is called roundde") && unknown.err.contains("did you mean rounded?"),
        "{}",
        unknown.err
    );
    assert!(run(&fixture, &["mem", "graph", "rounded"]).err.contains("--callers"));
    let refused = run(&fixture, &["mem", "graph", "rounded", "--callers", "--min-confidence", "2"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
}

#[test]
fn the_impact_of_changed_lines_lists_the_tests_to_run() {
    let fixture = Fixture::git();
    fixture
        .write("shop/store.py", STORE)
        .write("shop/till.py", TILL)
        .write("tests/test_store.py", "from shop.store import main\n\n\ndef test_main():\n    main()\n");
    fixture.write("logo.bin", b"\0\0\0".as_slice()).commit("Add a shop");
    let index = || {
        let indexed = run(&fixture, &["mem", "index", "-q", "--pipeline", "lexical"]);
        assert_eq!(indexed.code, Some(0), "{indexed:?}");
    };
    let graph = |diff: &str| {
        let found = run(&fixture, &["mem", "graph", diff, "--impact", "--format", "json"]);
        assert_eq!(found.code, Some(0), "{found:?}");
        found.json()
    };
    let names = |report: &serde_json::Value, list: &str| -> Vec<String> {
        let list = report[list].as_array().expect("the report has a list");
        list.iter()
            .map(|one| format!("{} {}", one["name"].as_str().unwrap_or("?"), one["change"].as_str().unwrap_or("")))
            .collect()
    };
    index();
    assert_eq!(graph("--diff")["files"], serde_json::json!([]));
    let changed =
        TILL.replace("return int(amount)", "return round(amount)").replace("def add(amount):", "def plus(amount):");
    fixture.write("shop/till.py", changed).write("logo.bin", b"\0\0\x01".as_slice());
    fixture.write("notes.py", "def note():\n    return 1\n");
    index();
    let report = graph("--diff");
    let mut changed = names(&report, "changed");
    changed.sort();
    assert_eq!(changed, ["add removed", "note added", "plus added", "rounded changed"]);
    assert_eq!(report["test_files"], serde_json::json!(["tests/test_store.py"]));
    assert_eq!(report["files"].as_array().map(Vec::len), Some(3));
    fixture.remove("notes.py").run_git(&["mv", "shop/till.py", "shop/desk.py"]).commit("Rename the till");
    index();
    let report = graph("--diff=HEAD~1..");
    assert_eq!(report["range"], "HEAD~1..");
    let renamed = report["files"].as_array().expect("files").iter().find(|file| file["change"] == "renamed");
    assert_eq!(renamed.expect("the file was renamed")["renamed_from"], "shop/till.py");
    let unknown = run(&fixture, &["mem", "graph", "--diff=nowhere..", "--impact"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.err.contains("`nowhere` does not name a commit"), "{}", unknown.err);
}

#[test]
fn changes_need_a_repository_and_an_impact() {
    let fixture = shop();
    let plain = run(&fixture, &["mem", "graph", "--diff", "--impact"]);
    assert_eq!(plain.code, Some(2));
    assert!(plain.err.contains("is not in a git repository"), "{}", plain.err);
    assert_eq!(run(&fixture, &["mem", "graph", "--diff"]).code, Some(2));
    assert_eq!(run(&fixture, &["mem", "graph", "rounded", "--unused"]).code, Some(2));
}
