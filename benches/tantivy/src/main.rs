//! Are storage and keyword search as fast as in the best search engine, and does the index need as little space?
//!
//! Corpus: whole files of source code from an index that `aur mem index` has built, in an order that depends only on
//! their paths. Baseline: tantivy, in the same process, on the same terms. The text is analysed once, and both indexes
//! get the terms from memory one by one, so that no time includes tokenisation. Runs of both alternate, and the minimum
//! of several runs counts. The output is the ratio of our value to tantivy's, and the maximum ratio that is acceptable.
//! Times are processor times unless stated otherwise.
//!
//! `cargo xtask bench tantivy DIR [--only build,query] [--chunks N] [--copies 10]`

mod append;
mod building;
mod cold;
mod corpus;
mod fields;
mod lab;
mod lmdb;
mod measure;
mod ours;
mod queries;
mod searching;
mod size;
mod tantivy_index;
mod update;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::corpus::Corpus;
use crate::lab::Lab;

/// Result of the parts of the bench.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Compares storage and keyword search with tantivy")]
struct Arguments {
    /// Directory with an index.
    root: PathBuf,
    /// Parts to run; all by default.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Number of chunks.
    #[arg(long, default_value_t = 300_000)]
    chunks: usize,
    /// Number of copies of the chunks. Each copy omits a different selection of three tenths of the terms.
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Number of runs of a build, an update or an append.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Open an index and run one query, given by its terms. `cold` starts processes with this option.
    #[arg(long, hide = true, num_args = 1..)]
    child: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Time from the terms of chunks to a committed segment.
    Build,
    /// Size of dictionary, postings and lengths on disk.
    Size,
    /// Latency of queries of 1 to 10 terms.
    Query,
    /// Six fields compared with one, both in our indexes.
    Fields,
    /// Time to open an index and answer the first query, in a fresh process.
    Cold,
    /// Time to replace the chunks of some files.
    Update,
    /// Time to write chunk records, compared with a bare LMDB transaction.
    Append,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done =
        if arguments.child.is_empty() { run(&arguments) } else { cold::child(&arguments.root, &arguments.child) };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Outcome<()> {
    let corpus = Corpus::read(&arguments.root, arguments.chunks, arguments.copies)?;
    println!("{corpus}");
    let lab = Lab::new(corpus, arguments.rounds)?;
    for part in Part::value_variants() {
        if !arguments.only.is_empty() && !arguments.only.contains(part) {
            continue;
        }
        match part {
            Part::Build => building::run(&lab)?,
            Part::Size => size::run(&lab)?,
            Part::Query => searching::run(&lab)?,
            Part::Fields => fields::run(&lab)?,
            Part::Cold => cold::run(&lab)?,
            Part::Update => update::run(&lab)?,
            Part::Append => append::run(&lab, &arguments.root)?,
        }
    }
    Ok(())
}
