//! What does it cost to replace the chunks of some files?
//!
//! The costs of Aurora and of tantivy each include opening the index and its writer, deleting, adding, committing, and
//! merging segments as necessary. For tantivy, a second cost is also shown: from the first deletion to the commit,
//! without opening and merges. Each round replaces different files. The result is the mean processor time of all
//! rounds.

use std::time::Duration;

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::corpus::mixed;
use crate::lab::Lab;
use crate::measure::{Unit, cost, mean, row, table};
use crate::ours::{self, Fields};
use crate::tantivy_index::{self, ExtraField};

/// Classes of updates: number of files, maximum ratio of our time to tantivy's, and the number by which `--rounds` is
/// multiplied.
const CLASSES: [(usize, Option<f64>, usize); 4] = [(1, None, 20), (10, Some(0.3), 20), (100, None, 3), (1000, None, 3)];
/// Maximum time for ten files, in seconds.
const TEN_FILES: f64 = 0.010;

/// Runs this part and prints its table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let directory = lab.copy(lab.ours(Fields::One)?, "updated")?;
    let tantivy_directory = lab.scratch("updated-tantivy")?;
    tantivy_index::build(&tantivy_directory, &lab.corpus, 1, ExtraField::Path)?;
    let files: Vec<_> = lab.corpus.files_of(0).collect();
    table("update: replacing files", "ours", "tantivy");
    for (count, bar, rounds) in CLASSES {
        let (mut ours, mut tantivy, mut between): (Vec<Duration>, Vec<Duration>, Vec<Duration>) = Default::default();
        let mut chunks = 0;
        for round in 0..rounds * lab.rounds {
            let mut chosen: Vec<usize> = (0..files.len()).collect();
            chosen.sort_unstable_by_key(|&file| mixed((count * 1000 + round) as u64 ^ (file as u64) << 20));
            chosen.truncate(count);
            chosen.sort_unstable();
            let chosen: Vec<_> = chosen.into_iter().map(|file| &files[file]).collect();
            chunks += chosen.iter().map(|file| file.chunks.len()).sum::<usize>();
            let (manifest, took) = cost(|| {
                let environment = Environment::open(&directory, OpenMode::Existing)?;
                ours::update(&environment, &lab.corpus, &chosen)
            });
            manifest?;
            ours.push(took.cpu);
            let (whole, inner) = tantivy_index::update(&tantivy_directory, &lab.corpus, &chosen)?;
            tantivy.push(whole.cpu);
            between.push(inner.cpu);
        }
        let name = format!("{count} file(s), {} chunks", chunks / ours.len());
        row(&name, mean(&ours), mean(&tantivy), Unit::Milliseconds, bar);
        row("  compared with tantivy's commit only", mean(&ours), mean(&between), Unit::Milliseconds, bar);
        if count == 10 {
            row("  compared with 10 ms", mean(&ours), TEN_FILES, Unit::Milliseconds, Some(1.0));
        }
    }
    Ok(())
}
