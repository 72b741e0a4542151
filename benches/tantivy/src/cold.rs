//! How long does it take to open an index and to answer the first query?
//!
//! Wall time, measured within fresh processes of this program that take turns. The pages of both indexes are in the
//! page cache. Both sides look up the chunk of the best document.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::lab::Lab;
use crate::measure::{Unit, percentile, row, table};
use crate::ours::{Fields, ONE_FIELD};
use crate::peer::Peer;
use crate::queries::draw;
use crate::searching::best;

/// Number of processes of each side.
const PROCESSES: usize = 41;
/// Number of terms of a query, and of requested chunks.
const TERMS: usize = 3;
const TOP: usize = 10;
/// Argument that tells a child process which index it opens.
const OURS: &str = "ours";
const PEER: &str = "peer";
/// Maximum ratio of our time to the peer's.
const BAR: f64 = 0.50;

/// Prints the table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let queries = {
        let snapshot = Environment::open(lab.ours(Fields::One)?, OpenMode::Existing)?.snapshot()?;
        draw(&lab.corpus, &snapshot, TERMS, PROCESSES)?
    };
    let (mut ours, mut peer) = (Vec::new(), Vec::new());
    for query in &queries {
        ours.push(ask(OURS, lab.ours(Fields::One)?, query)?);
        peer.push(ask(PEER, lab.peer()?, query)?);
    }
    table("cold: opening and the first query, wall", "ours", "tantivy");
    row("p50", percentile(&ours, 50), percentile(&peer, 50), Unit::Milliseconds, Some(BAR));
    row("best", percentile(&ours, 0), percentile(&peer, 0), Unit::Milliseconds, None);
    Ok(())
}

/// Starts a process that runs one query.
fn ask(which: &str, directory: &Path, query: &[String]) -> Outcome<Duration> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg(directory).arg("--child").arg(which).args(query).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(Duration::from_nanos(String::from_utf8(output.stdout)?.trim().parse()?))
}

/// The work of such a process: runs the query and prints its duration in nanoseconds.
pub fn child(directory: &Path, arguments: &[String]) -> Outcome<()> {
    let (which, query) = arguments.split_first().ok_or("the child process needs an argument that names the index")?;
    let begun = Instant::now();
    let found = match which.as_str() {
        OURS => {
            let snapshot = Environment::open(directory, OpenMode::Existing)?.snapshot()?;
            best(&snapshot, &ONE_FIELD, query, TOP)?.first().map(|(id, _)| id.0)
        }
        _ => {
            let peer = Peer::open(directory)?;
            let best = peer.best(query, TOP)?;
            best.first().map(|(_, document)| peer.chunk(*document)).transpose()?
        }
    };
    let took = begun.elapsed();
    std::hint::black_box(found.ok_or("nothing was found")?);
    println!("{}", took.as_nanos());
    Ok(())
}
