//! How long does it take until an entry of memory is durable, and until it is found, among a million others?
//!
//! The corpus is generated: turns of conversations and articles of knowledge, whose words follow Zipf's law. The peer
//! is SQLite with FTS5, which stores the same columns with the same durability: `synchronous = FULL` and one
//! transaction for each entry, with a write-ahead log and with the default journal. Its queries join words with `OR`,
//! like the product's, and filter session and scope as columns of the full-text index, which is the fastest way. It has
//! no vectors, so it is compared with `--mode sparse`.
//!
//!     cargo xtask bench memory [--turns 1000000] [--adds 1000] [--searches 300] [--directory DIR] [--only product,wal,journal]

mod corpus;
mod measure;
mod ours;
mod peer;
mod process;
mod report;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::{Parser, ValueEnum};

use measure::Figures;

#[derive(Debug, Clone, Parser)]
struct Options {
    /// Number of turns in memory; there are a tenth as many articles of knowledge in addition
    #[arg(long, default_value_t = 1_000_000)]
    turns: usize,

    /// Number of sessions of the turns
    #[arg(long, default_value_t = 2_000)]
    sessions: usize,

    /// Number of turns that are added one by one
    #[arg(long, default_value_t = 1_000)]
    adds: usize,

    /// Number of searches of each kind
    #[arg(long, default_value_t = 300)]
    searches: usize,

    /// Number of processes that add a turn each
    #[arg(long, default_value_t = 200)]
    processes: usize,

    /// Directory of the memory and the databases, on a disk [default: a temporary directory]
    #[arg(long, overrides_with = "directory")]
    directory: Option<PathBuf>,

    /// The program that adds turns in separate processes
    #[arg(long)]
    program: Option<PathBuf>,

    /// Only these sides
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Side>,

    /// Use the data that an earlier run has left in the directory
    #[arg(long)]
    reuse: bool,

    /// Run one side in this process and print its figures as JSON
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,

    /// Add one turn to the database of a side and exit
    #[arg(long, value_enum, hide = true)]
    add_one: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Side {
    /// The product
    Product,
    /// SQLite with a write-ahead log
    Wal,
    /// SQLite with the default journal
    Journal,
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Wal => "sqlite wal",
            Self::Journal => "sqlite journal",
        }
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let options = Options::parse();
    let done = match (options.side, options.add_one) {
        (_, Some(side)) => peer::add_one(&options, side),
        (Some(side), None) => run_side(&options, side),
        (None, None) => run(options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs each side in a separate process, one after the other, and prints the figures.
fn run(mut options: Options) -> Outcome<()> {
    let temporary = options.directory.is_none().then(tempfile::tempdir).transpose()?;
    let directory = temporary.as_ref().map(|directory| directory.path().to_owned());
    let directory = std::path::absolute(directory.or(options.directory.take()).unwrap_or_default())?;
    std::fs::create_dir_all(&directory)?;
    options.directory = Some(directory.clone());
    println!(
        "{} turns in {} sessions, {} articles; {}",
        options.turns,
        options.sessions,
        options.turns / 10,
        measure::load()
    );
    let all = [Side::Product, Side::Wal, Side::Journal];
    let mut columns = Vec::new();
    for side in all.into_iter().filter(|side| options.only.is_empty() || options.only.contains(side)) {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .args(std::env::args_os().skip(1))
            .arg("--side")
            .arg(side.to_possible_value().expect("shown").get_name());
        command.arg("--directory").arg(&directory);
        // The user directory of the product.
        command.env("AURORA_HOME", home(&directory)).env("HOME", &directory).stdout(Stdio::piped());
        let output = command.spawn()?.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("{}: {}", side.name(), output.status).into());
        }
        let figures: Figures = serde_json::from_slice(&output.stdout)?;
        columns.push((side, figures));
        println!("{} is done; {}", side.name(), measure::load());
    }
    report::print(&columns);
    Ok(())
}

fn home(directory: &Path) -> PathBuf {
    directory.join("home")
}

fn run_side(options: &Options, side: Side) -> Outcome<()> {
    let figures = match side {
        Side::Product => ours::run(options)?,
        Side::Wal | Side::Journal => peer::run(options, side)?,
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}
