//! `aur serve`, as its clients use it: answers, statuses, rejected requests, and behaviour under load and at
//! termination.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod answers;
mod attacks;
mod catalog;
mod client;
mod contents;
mod document;
mod faults;
mod fresh;
mod knowledge;
mod memory;
mod strangers;

use fixture::{CACHE, Fixture, RETRY};

/// Creates a small indexed repository.
fn indexed() -> Fixture {
    let fixture = Fixture::git();
    fixture.write(".gitignore", ".aurora/\n").write("src/cache.py", CACHE).write("http/retry.go", RETRY);
    // The files are aged so that the first run of a server has nothing to store, because tests compare generations.
    fixture.age(".gitignore").age("src/cache.py").age("http/retry.go").commit("first");
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    fixture
}
