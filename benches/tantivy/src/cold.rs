//! How long does it take to open an index and to answer the first query?
//!
//! Measures wall time within fresh processes of this program; our processes and tantivy's take turns. The pages of both
//! indexes are in the page cache. Both look up the chunk of the best document.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::lab::Lab;
use crate::measure::{Unit, percentile, row, table};
use crate::ours::{Fields, ONE_FIELD};
use crate::queries::draw;
use crate::searching::best;
use crate::tantivy_index::TantivyIndex;

/// Number of processes for each index.
const PROCESSES: usize = 41;
/// Number of terms in a query.
const TERMS: usize = 3;
/// Number of chunks that a query requests.
const TOP: usize = 10;
/// Arguments that tell a child process which index to open.
const OURS: &str = "ours";
const TANTIVY: &str = "tantivy";
/// Maximum ratio of our time to tantivy's.
const BAR: f64 = 0.50;

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let queries = {
        let snapshot = Environment::open(lab.ours(Fields::One)?, OpenMode::Existing)?.snapshot()?;
        draw(&lab.corpus, &snapshot, TERMS, PROCESSES)?
    };
    let (mut ours, mut tantivy) = (Vec::new(), Vec::new());
    for query in &queries {
        ours.push(ask(OURS, lab.ours(Fields::One)?, query)?);
        tantivy.push(ask(TANTIVY, lab.tantivy()?, query)?);
    }
    table("cold: opening and the first query, wall", "ours", "tantivy");
    row("p50", percentile(&ours, 50), percentile(&tantivy, 50), Unit::Milliseconds, Some(BAR));
    row("best", percentile(&ours, 0), percentile(&tantivy, 0), Unit::Milliseconds, None);
    Ok(())
}

/// Starts a process that runs one query, and returns the duration that the process prints.
fn ask(which: &str, directory: &Path, query: &[String]) -> Outcome<Duration> {
    let program = std::env::current_exe()?;
    let output = Command::new(program).arg(directory).arg("--child").arg(which).args(query).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(Duration::from_nanos(String::from_utf8(output.stdout)?.trim().parse()?))
}

/// The work of a child process: runs the query and prints its duration in nanoseconds.
pub fn child(directory: &Path, arguments: &[String]) -> Outcome<()> {
    let (which, query) = arguments.split_first().ok_or("the child process needs an argument that names the index")?;
    let begun = Instant::now();
    let found = match which.as_str() {
        OURS => {
            let snapshot = Environment::open(directory, OpenMode::Existing)?.snapshot()?;
            best(&snapshot, &ONE_FIELD, query, TOP)?.first().map(|(id, _)| id.0)
        }
        _ => {
            let tantivy = TantivyIndex::open(directory)?;
            let best = tantivy.best(query, TOP)?;
            best.first().map(|(_, document)| tantivy.chunk(*document)).transpose()?
        }
    };
    let took = begun.elapsed();
    std::hint::black_box(found.ok_or("nothing was found")?);
    println!("{}", took.as_nanos());
    Ok(())
}
