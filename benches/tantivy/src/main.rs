//! Are storage and keyword search as fast and as small as the best search engine?
//!
//! Corpus: chunks of source code from an index that `aur mem index` has built, in whole files, drawn in an order that
//! depends only on their paths. Peer: tantivy, in the same process, on the same terms: the text is analysed once, and
//! both sides get the terms from memory one by one, so that neither pays for tokenisation. Runs alternate, and the best
//! of several counts. The output is the ratio of ours to the peer's, next to its bar. Times are processor times unless
//! stated otherwise.
//! otherwise.
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
mod peer;
mod queries;
mod searching;
mod size;
mod update;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use crate::corpus::Corpus;
use crate::lab::Lab;

/// Result of the parts of the bench.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Storage and keyword search against tantivy")]
struct Arguments {
    /// Directory with an index.
    root: PathBuf,
    /// Parts to run; all by default.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Number of chunks.
    #[arg(long, default_value_t = 300_000)]
    chunks: usize,
    /// Number of copies of the chunks, each without a different three tenths of the terms.
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Number of runs of a build, an update or an append.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Opens an index and runs one query, given by its terms. `cold` starts such processes.
    #[arg(long, hide = true, num_args = 1..)]
    child: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Terms and postings from the terms of chunks to one committed segment.
    Build,
    /// Dictionary, postings and lengths on disk.
    Size,
    /// Latency of queries of 1 to 10 terms.
    Query,
    /// Six fields compared with one, both in our indexes.
    Fields,
    /// Opening and the first query, in a fresh process.
    Cold,
    /// Replacing the chunks of some files.
    Update,
    /// Chunk records compared with a bare LMDB transaction.
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
