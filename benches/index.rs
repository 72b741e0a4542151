//! How much does an index cost beyond reading and parsing?
//!
//! Corpus: the directory given on the command line. Peer: a bare loop that reads every file which the
//! index holds, and parses it with the same grammar, on one thread. Both sides run in turns, and the
//! best of each is compared, since a busy machine can only make a run slower.
//!
//! `cargo xtask bench index DIR`

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aurora_analysis::ModelDirectory;
use aurora_languages::by_name;
use aurora_pipeline::Silent;
use aurora_stages::index::{self, IndexOptions, PipelineChoice, Trust};
use aurora_storage::{Environment, OpenMode, ProjectDirectory};

const ROUNDS: usize = 3;

fn main() {
    let Some(root) = std::env::args().nth(1).filter(|argument| !argument.starts_with("--")) else {
        return println!("usage: cargo xtask bench index DIR");
    };
    let root = PathBuf::from(root);
    run(&root, "default", None);
    let files = indexed_files(&root);
    let (mut parse, mut serial, mut lexical, mut parallel) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        parse.push(timed(|| bare_parse(&root, &files)));
        lexical.push(timed(|| run(&root, "lexical", Some(1))));
        serial.push(timed(|| run(&root, "default", Some(1))));
        parallel.push(timed(|| run(&root, "default", None)));
    }
    let floor = best(&parse);
    println!("{} files; bare parse loop, one thread: {:.2} s", files.len(), floor.as_secs_f64());
    for (name, times) in [("lexical, one job", lexical), ("default, one job", serial), ("default, all cores", parallel)]
    {
        let time = best(&times);
        println!(
            "{name}: {:.2} s, {:.2} x the bare parse",
            time.as_secs_f64(),
            time.as_secs_f64() / floor.as_secs_f64()
        );
    }
}

fn run(root: &Path, pipeline: &str, jobs: Option<usize>) {
    let options = IndexOptions {
        pipeline: PipelineChoice::Named(pipeline.to_owned()),
        force: true,
        jobs,
        ..IndexOptions::new(root.to_owned(), ModelDirectory::at(root.join("no-models")), Trust::everything())
    };
    index::run(&options, &Silent).expect("an index run");
}

/// Path and format of every indexed file.
fn indexed_files(root: &Path) -> Vec<(PathBuf, String)> {
    let environment = Environment::open(&root.join(ProjectDirectory::NAME), OpenMode::Existing).expect("an index");
    let snapshot = environment.snapshot().expect("a snapshot");
    let records = snapshot.files().map(|record| record.expect("a readable index"));
    records.filter(|record| !record.chunks.is_empty()).map(|record| (root.join(record.path), record.language)).collect()
}

fn bare_parse(root: &Path, files: &[(PathBuf, String)]) {
    let mut parser = tree_sitter::Parser::new();
    for (path, format) in files {
        let Some(language) = by_name(format) else { continue };
        let text = std::fs::read(root.join(path)).expect("a readable file");
        parser.set_language(&(language.grammar)()).expect("a grammar of this version");
        std::hint::black_box(parser.parse(&text, None));
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn best(times: &[Duration]) -> Duration {
    times.iter().copied().min().unwrap_or_default()
}
