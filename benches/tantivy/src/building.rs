//! How much processor time do terms and postings take, from the terms of chunks to the commit?
//!
//! Our index ends as one segment. The peer is measured with its merge policy, and after merging everything into one
//! segment. Our second thread counts the terms, and the first does the rest. The peer has a number of indexing threads,
//! and one that hands them documents. See [`crate::ours`] for what our time includes.

use crate::Outcome;
use crate::lab::Lab;
use crate::measure::{Cost, Unit, cost, row, table};
use crate::ours::{self, Fields};
use crate::peer::{self, Beside};

/// Maximum ratio of our processor time to the peer's.
const BAR: f64 = 0.50;

/// Prints the table.
pub fn run(lab: &Lab) -> Outcome<()> {
    table("build: terms and postings", "ours", "tantivy");
    for threads in [1, 2] {
        let (mut ours, mut built, mut merged) = (Cost::MAX, Cost::MAX, Cost::MAX);
        for _ in 0..lab.rounds {
            let directory = lab.scratch("built")?;
            ours = ours.min(ours::build(&directory, &lab.corpus, Fields::One, threads)?);
            let directory = lab.scratch("built-peer")?;
            let took = peer::build(&directory, &lab.corpus, threads, Beside::Nothing)?;
            let (done, more) = cost(|| peer::merge(&directory));
            done?;
            built = built.min(took);
            merged = merged.min(Cost { cpu: took.cpu + more.cpu, wall: took.wall + more.wall });
        }
        let say = |what: &str, peer: Cost| {
            let name = format!("{threads} thread(s), {what}");
            row(&name, ours.cpu.as_secs_f64(), peer.cpu.as_secs_f64(), Unit::Seconds, Some(BAR));
            row(&format!("{name}, wall"), ours.wall.as_secs_f64(), peer.wall.as_secs_f64(), Unit::Seconds, None);
        };
        say("as its policy merges", built);
        say("merged to one segment", merged);
    }
    Ok(())
}
