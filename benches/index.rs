//! How much processor time does an index run need in addition to reading and parsing?
//!
//! Corpus: the directory given on the command line. Baseline: a bare loop that reads every indexed file and parses it
//! with the same grammar, on one thread. All runs exclude git's history and take turns. The minimum times are compared,
//! since a busy machine can only make a run slower.
//!
//! `cargo xtask bench index DIR --rounds N`

#[path = "../stages/languages/examples/bare_parse/parse.rs"]
mod bare;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aurora_analysis::ModelDirectory;
use aurora_languages::{Language, by_name};
use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexOptions, PipelineChoice, Trust};
use aurora_storage::{Environment, OpenMode, ProjectDirectory};
use rustix::time::{ClockId, clock_gettime};

/// Names of the runs, and the stages of the default pipeline that each run omits.
const RUNS: [(&str, &[&str]); 3] = [
    ("discover, read, parse, chunk", &["git-signal", "embed", "store", "bm25"]),
    ("lexical", &["git-signal", "embed"]),
    ("default", &["git-signal"]),
];

/// Processor time of all threads, and wall time.
#[derive(Clone, Copy)]
struct Cost {
    cpu: Duration,
    wall: Duration,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let [root, rounds @ ..] = arguments.as_slice() else {
        return println!("usage: cargo xtask bench index DIR --rounds N");
    };
    let root = PathBuf::from(root);
    let rounds = rounds.first().map_or(3, |rounds| rounds.parse().expect("the number of rounds is a number"));
    run(&root, &[]);
    let files = indexed_files(&root);
    let mut floor = Vec::new();
    let mut costs = vec![Vec::new(); RUNS.len()];
    for _ in 0..rounds {
        floor.push(measure(|| bare::parse(&files, 1)));
        for ((_, omitted), costs) in RUNS.iter().zip(&mut costs) {
            costs.push(measure(|| run(&root, omitted)));
        }
    }
    let floor = minimum(&floor);
    println!("{} files, {rounds} rounds; the bare loop takes {:.2} CPU-seconds", files.len(), floor.cpu.as_secs_f64());
    for ((name, _), costs) in RUNS.iter().zip(&costs) {
        let cost = minimum(costs);
        let ratio = cost.cpu.as_secs_f64() / floor.cpu.as_secs_f64();
        let (cpu, wall) = (cost.cpu.as_secs_f64(), cost.wall.as_secs_f64());
        println!("{name:<30} {ratio:>5.2} x  {cpu:>7.2} CPU-seconds  {wall:>7.2} s");
    }
}

/// Builds the index from scratch. An existing index is deleted, because the run would verify it first.
fn run(root: &Path, omitted: &[&str]) {
    let present = ProjectDirectory::in_root(root).path_of(ProjectDirectory::INDEX);
    if present.exists() {
        std::fs::remove_dir_all(&present).expect("the index directory can be removed");
    }
    let options = IndexOptions {
        pipeline: PipelineChoice::Named("default".to_owned()),
        left_out: omitted.iter().map(|stage| (*stage).to_owned()).collect(),
        ..IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), Trust::everything())
    };
    index::run(&options, &Silent).expect("the index run succeeds");
}

/// Returns the path and the language of every indexed file.
fn indexed_files(root: &Path) -> Vec<(PathBuf, Option<&'static Language>)> {
    let environment = Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing)
        .expect("the directory contains an index");
    let snapshot = environment.snapshot().expect("the index can be read");
    let records = snapshot.files().map(|record| record.expect("the index can be read"));
    let indexed = records.filter(|record| !record.chunks.is_empty());
    indexed.map(|record| (root.join(&record.path), by_name(&record.language))).collect()
}

fn measure(work: impl FnOnce()) -> Cost {
    let (cpu_begun, begun) = (cpu(), Instant::now());
    work();
    Cost { cpu: cpu() - cpu_begun, wall: begun.elapsed() }
}

/// Returns the processor time of this process, user and system.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

fn minimum(costs: &[Cost]) -> Cost {
    let cpu = costs.iter().map(|cost| cost.cpu).min().unwrap_or_default();
    Cost { cpu, wall: costs.iter().map(|cost| cost.wall).min().unwrap_or_default() }
}
