//! How much processor time does the index need to turn the terms of chunks into committed postings?
//!
//! Our index ends as one segment. Tantivy is measured with its merge policy, and again after merging everything into
//! one segment. With two threads, our second thread counts the terms, and the first does all other work. Tantivy has
//! the same number of indexing threads, and one more that hands them documents. See [`crate::ours`] for what our time
//! includes.

use crate::Outcome;
use crate::lab::Lab;
use crate::measure::{Cost, Unit, cost, row, table};
use crate::ours::{self, Fields};
use crate::tantivy_index::{self, ExtraField};

/// Maximum ratio of our processor time to tantivy's.
const BAR: f64 = 0.50;

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    table("build: terms and postings", "ours", "tantivy");
    for threads in [1, 2] {
        let (mut ours, mut built, mut merged) = (Cost::MAX, Cost::MAX, Cost::MAX);
        for _ in 0..lab.rounds {
            let directory = lab.scratch("built")?;
            ours = ours.min(ours::build(&directory, &lab.corpus, Fields::One, threads)?);
            let directory = lab.scratch("built-tantivy")?;
            let took = tantivy_index::build(&directory, &lab.corpus, threads, ExtraField::Nothing)?;
            let (done, more) = cost(|| tantivy_index::merge(&directory));
            done?;
            built = built.min(took);
            merged = merged.min(Cost { cpu: took.cpu + more.cpu, wall: took.wall + more.wall });
        }
        let print_rows = |what: &str, tantivy: Cost| {
            let name = format!("{threads} thread(s), {what}");
            row(&name, ours.cpu.as_secs_f64(), tantivy.cpu.as_secs_f64(), Unit::Seconds, Some(BAR));
            row(&format!("{name}, wall"), ours.wall.as_secs_f64(), tantivy.wall.as_secs_f64(), Unit::Seconds, None);
        };
        print_rows("as its policy merges", built);
        print_rows("merged to one segment", merged);
    }
    Ok(())
}
