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
