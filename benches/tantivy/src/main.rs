//! Are storage and keyword search as fast and as small as the best search engine?
//!
//! Corpus: chunks of source code from an index that `aur mem index` has made, whole files of it, drawn in an order that
//! depends on their paths alone. Peer: tantivy, in the same process, on the same terms: they are analysed once, and both
//! sides are given them from memory, one by one, so that neither pays for cutting text. Runs alternate, the best of
//! several counts, and what is printed is ours / the peer's with the bar beside it. Processor time, where not said
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

/// What the parts of the bench may fail with.
type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[derive(Parser)]
#[command(about = "Storage and keyword search against tantivy")]
struct Arguments {
    /// Directory with an index.
    root: PathBuf,
    /// Parts to run; all when not given.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Chunks to take.
    #[arg(long, default_value_t = 300_000)]
    chunks: usize,
    /// How many times the chunks come, each time without other three tenths of their terms.
    #[arg(long, default_value_t = 1)]
    copies: u32,
    /// Times that a build, an update or an append runs.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Opens an index and asks one query, given by its terms: what `cold` starts.
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
    /// Six fields against one, both ours.
    Fields,
    /// Opening and the first query, in a fresh process.
    Cold,
    /// Replacing the chunks of some files.
    Update,
    /// Chunk records against a bare LMDB transaction.
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
