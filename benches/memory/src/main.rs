//! How long does it take until a new memory entry is durable, and until a search finds it among a million others?
//!
//! The corpus is generated: conversation turns and knowledge articles, whose words follow Zipf's law. The baseline is
//! SQLite with FTS5, which stores the same columns with the same durability: `synchronous = FULL` and one transaction
//! per entry, once with a write-ahead log and once with the default journal. As in `aur`, its queries join words with
//! `OR`. They filter by session and scope, which are columns of the full-text index, because this is the fastest way.
//! SQLite has no vectors, so its searches are compared with `--mode sparse`.
//!
//!     cargo xtask bench memory [--turns 1000000] [--adds 1000] [--searches 300] [--directory DIR] [--only product,wal,journal]

mod corpus;
mod measure;
mod ours;
mod process;
mod report;
mod sqlite;
mod words;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use clap::{Parser, ValueEnum};

use measure::Figures;

#[derive(Debug, Clone, Parser)]
struct Options {
    /// Number of conversation turns; a tenth as many knowledge articles are added
    #[arg(long, default_value_t = 1_000_000)]
    turns: usize,

    /// Number of sessions that the turns are spread over
    #[arg(long, default_value_t = 2_000)]
    sessions: usize,

    /// Number of turns that are added one by one
    #[arg(long, default_value_t = 1_000)]
    adds: usize,

    /// Number of searches of each kind
    #[arg(long, default_value_t = 300)]
    searches: usize,

    /// Number of processes that add one turn each
    #[arg(long, default_value_t = 200)]
    processes: usize,

    /// Directory for the memory and the databases; should be on a disk, not in memory [default: a temporary directory]
    #[arg(long, overrides_with = "directory")]
    directory: Option<PathBuf>,

    /// The program that adds turns in separate processes
    #[arg(long)]
    program: Option<PathBuf>,

    /// Run only these of the compared systems
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Side>,

    /// Reuse the data that an earlier run left in the directory
    #[arg(long)]
    reuse: bool,

    /// Run one of the compared systems in this process and print its measurements as JSON
    #[arg(long, value_enum, hide = true)]
    side: Option<Side>,

    /// Add one turn to the database of this system and exit
    #[arg(long, value_enum, hide = true)]
    add_one: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Side {
    /// `aur`
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
        (_, Some(side)) => sqlite::add_one(&options, side),
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

/// Runs each of the compared systems in a separate process, one after the other, and prints the measurements.
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
            .arg(side.to_possible_value().expect("every side has a name on the command line").get_name());
        command.arg("--directory").arg(&directory);
        // The user directory of `aur`.
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
        Side::Wal | Side::Journal => sqlite::run(options, side)?,
    };
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}
