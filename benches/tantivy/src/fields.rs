//! What do six weighted fields cost, compared with a single field with the same terms? Both indexes are ours.

use std::time::Duration;

use aurora_query::SearchConfig;
use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::lab::Lab;
use crate::measure::{Cost, Unit, mean, percentile, row, table, thread_cost};
use crate::ours::{self, Fields, ONE_FIELD};
use crate::queries::{CLASSES, draw};
use crate::searching::{PASSES, QUERIES, best};
use crate::size;

/// Maximum ratio of the cost of six fields to the cost of one field.
const BAR: f64 = 1.5;

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    table("fields: BM25F with six fields compared with one", "six", "one");
    let (mut six, mut one) = (Cost::MAX, Cost::MAX);
    for _ in 0..lab.rounds {
        for (fields, best) in [(Fields::Six, &mut six), (Fields::One, &mut one)] {
            let directory = lab.scratch("built")?;
            *best = best.min(ours::build(&directory, &lab.corpus, fields, 1)?);
        }
    }
    row("build, 1 thread", six.cpu.as_secs_f64(), one.cpu.as_secs_f64(), Unit::Seconds, Some(BAR));
    let (six, one) = (lab.ours(Fields::Six)?, lab.ours(Fields::One)?);
    let bytes = (size::bytes(six)? as f64, size::bytes(one)? as f64);
    row("size, bytes of values", bytes.0, bytes.1, Unit::Megabytes, Some(BAR));
    let open = |directory| Environment::open(directory, OpenMode::Existing)?.snapshot();
    let (six, one) = (open(six)?, open(one)?);
    let weighted = SearchConfig::default().bm25;
    for terms in CLASSES {
        let queries = draw(&lab.corpus, &one, terms, QUERIES)?;
        for k in [10, 100] {
            let (mut times, mut one_field) = (vec![Duration::MAX; QUERIES], vec![Duration::MAX; QUERIES]);
            for _ in 0..PASSES {
                for (at, query) in queries.iter().enumerate() {
                    let (found, took) = thread_cost(|| best(&six, &weighted, query, k));
                    found?;
                    times[at] = times[at].min(took);
                    let (found, took) = thread_cost(|| best(&one, &ONE_FIELD, query, k));
                    found?;
                    one_field[at] = one_field[at].min(took);
                }
            }
            let name = |what: &str| format!("{terms} term(s), top {k}, {what}");
            row(&name("mean"), mean(&times), mean(&one_field), Unit::Microseconds, Some(BAR));
            row(&name("p99"), percentile(&times, 99), percentile(&one_field, 99), Unit::Microseconds, None);
        }
    }
    Ok(())
}
