//! `aur mem browse` on a pseudo-terminal, tested by what a user sees and types.
#![cfg(unix)]

#[path = "../fixture/mod.rs"]
mod fixture;

mod editing;
mod endings;
mod hostile;
mod index;
mod looking;
mod tty;

use fixture::{CACHE, Fixture, RETRY};
use tty::Tty;

/// Creates a small indexed repository.
fn indexed() -> Fixture {
    let fixture = Fixture::plain();
    fixture.write("src/cache.py", CACHE).write("http/retry.go", RETRY);
    index(&fixture);
    fixture
}

fn index(fixture: &Fixture) {
    let run = fixture.aur(&["mem", "index", "--quiet"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

/// Starts `aur mem browse` with some arguments, on a terminal of the given size.
fn browse(fixture: &Fixture, arguments: &[&str], (columns, rows): (u16, u16)) -> Tty {
    let mut command = fixture.command();
    command.args(["mem", "browse"]).args(arguments);
    Tty::start(command, columns, rows)
}

const WIDE: (u16, u16) = (100, 24);

mod keys {
    pub(crate) const ENTER: &str = "\r";
    pub(crate) const ESCAPE: &str = "\x1b";
    pub(crate) const TAB: &str = "\t";
    pub(crate) const DOWN: &str = "\x1b[B";
    pub(crate) const F1: &str = "\x1bOP";
    pub(crate) const CTRL_C: &str = "\x03";
    pub(crate) const CTRL_F: &str = "\x06";
    pub(crate) const CTRL_U: &str = "\x15";
    pub(crate) const CTRL_Y: &str = "\x19";
    pub(crate) const CTRL_Z: &str = "\x1a";
}
