//! Prints the blame of a file at HEAD: `cargo run -p aurora-history --example blame -- DIRECTORY PATH`.
//!
//! `DIRECTORY` is a directory in a git repository, and `PATH` is relative to `DIRECTORY`.

use std::error::Error;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use aurora_history::{History, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, path] = arguments.as_slice() else { return Err("usage: blame DIRECTORY PATH".into()) };
    let history = History::open(Path::new(directory), Options::default())?.ok_or("there is no git repository")?;
    let index = history.index_events(&AtomicBool::new(false), &|_done, _total| ())?;
    let blame = history.blame(&index, path)?;
    let mut out = std::io::stdout().lock();
    for line in 0..blame.line_count() {
        let commit = blame.commit_of(line).ok_or("a line at HEAD has no commit")?;
        writeln!(out, "{} {:>5} {}", commit.id, line + 1, commit.author.name)?;
    }
    Ok(())
}
