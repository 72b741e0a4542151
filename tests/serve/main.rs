//! `aur serve` as its clients see it: answers, statuses, who is refused, and what happens under load and at the end.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod answers;
mod client;
mod contents;
mod document;
mod faults;
mod fresh;
mod knowledge;
mod strangers;

use fixture::{CACHE, Fixture, RETRY};

/// A small indexed repository.
fn indexed() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n").write("src/cache.py", CACHE).write("http/retry.go", RETRY);
    fixture.commit("first");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}
