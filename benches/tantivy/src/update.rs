//! What does it cost to replace the chunks of some files?
//!
//! Ours: opening the writer, replacing the files, adding their terms, publishing; folding of segments is in it where it
//! falls due. The peer's: deleting by path, adding, committing; opening its writer and the merges that follow are not.
//! Other files in each round. Processor time, the mean and the best of the rounds.

use std::time::Duration;

use aurora_storage::{Environment, OpenMode};

use crate::Outcome;
use crate::corpus::mixed;
use crate::lab::Lab;
use crate::measure::{Unit, cost, mean, percentile, row, table};
use crate::ours::{self, Fields};
use crate::peer::{self, Beside};

/// Files that are replaced together, and the most that ours is to take of the peer's time.
const CLASSES: [(usize, Option<f64>); 4] = [(1, None), (10, Some(0.3)), (100, None), (1000, None)];
/// The most that ten files are to take, in seconds.
const TEN_FILES: f64 = 0.010;
/// Rounds of each class for every round that was asked for.
const ROUNDS: usize = 3;

/// Prints the table.
pub fn run(lab: &Lab) -> Outcome<()> {
    let directory = lab.copy(lab.ours(Fields::One)?, "updated")?;
    let peer_directory = lab.scratch("updated-peer")?;
    peer::build(&peer_directory, &lab.corpus, 1, Beside::Path)?;
    let files: Vec<_> = lab.corpus.files_of(0).collect();
    table("update: replacing files", "ours", "tantivy");
    for (count, bar) in CLASSES {
        let (mut ours, mut peer, mut chunks): (Vec<Duration>, Vec<Duration>, usize) = Default::default();
        for round in 0..ROUNDS * lab.rounds {
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
            peer.push(peer::update(&peer_directory, &lab.corpus, &chosen)?.cpu);
        }
        let name = format!("{count} file(s), {} chunks", chunks / ours.len());
        row(&format!("{name}, mean"), mean(&ours), mean(&peer), Unit::Milliseconds, bar);
        let best = percentile(&ours, 0);
        row(&format!("{name}, best"), best, percentile(&peer, 0), Unit::Milliseconds, None);
        if count == 10 {
            row("  10 files against 10 ms, mean", mean(&ours), TEN_FILES, Unit::Milliseconds, Some(1.0));
        }
    }
    Ok(())
}
