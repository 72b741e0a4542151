//! `cargo xtask`: development tasks of the repository.

mod cargo;
mod exact;
mod explore;
mod finding;
mod markers;
mod memory_quality;
mod run;
#[cfg(target_os = "linux")]
mod scale;
mod servers;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Development tasks of the Aurora repository")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Checks formatting, lints, documentation and dependencies, like CI.
    Lint,
    /// Runs lints, then every test.
    Ci,
    /// Checks licences, duplicate versions and sources of dependencies with cargo-deny.
    Deny(tools::DenyOptions),
    /// Runs tests of unsafe code under Miri, which needs a nightly toolchain.
    Miri,
    /// Runs the fuzz targets, which need a nightly toolchain and cargo-fuzz.
    Fuzz(tools::FuzzOptions),
    /// Runs randomised tests with fresh seeds until the time is over.
    ///
    /// These are property tests, damage to indexes, mutated pages and artefacts, and random configurations. Each seed
    /// is printed. A finding is printed with the command that repeats it, and makes the exit code 1.
    Explore(explore::Options),
    /// Simulates a team's day with custom stages: edits while servers run, failing services, clones, restored caches.
    /// Fails if a value is lost silently.
    TeamDay {
        /// Path of `aur`; by default a release build.
        #[arg(long, value_name = "AUR")]
        program: Option<PathBuf>,
        /// Git repositories, which are cloned first; by default a small repository is created.
        repositories: Vec<PathBuf>,
    },
    /// Measures how well memories find the turns of conversations that answer questions, compared with SQLite's
    /// full-text search.
    MemoryQuality {
        /// The directory `locomo10_v2` of LoCoMo. docs/internals/memory-measurements.md says where to get it.
        directory: PathBuf,
        /// Options such as `--questions 200`, `--only 26,30,41` and `--misses 10`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measures the program and a baseline in the same run. Needs a release build and real input.
    Bench {
        #[command(subcommand)]
        bench: Bench,
    },
}

#[derive(Subcommand)]
enum Bench {
    /// Ranks of the right answers to everyday questions about repositories, for one or two versions of `aur`.
    Everyday {
        /// Checked-out repositories, then options such as `--aur PROGRAM` (twice to compare), `--misses` and `--out
        /// FILE`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Share of names with a single definition whose definition ranks first in a search.
    Exact(exact::Options),
    /// Blame of a whole repository compared with git blame and the blame of gix, which is compiled only for this bench.
    Blame {
        /// A repository, then options such as `--files 150`, `--seed 1`, `--all` and `--threads 2`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Resolved calls and base types compared with those of a compiler or type checker.
    Graph {
        /// Directory with an index.
        root: PathBuf,
        /// Relations of the same tree, as the programs in benches/graph print them.
        edges: PathBuf,
        /// Number of wrong and missing relations of each kind to print.
        #[arg(long, default_value_t = 0)]
        show: usize,
    },
    /// Definitions that the parser finds, compared with Universal Ctags, which must be installed as `ctags`.
    Definitions {
        /// Directories with sources.
        #[arg(required = true)]
        roots: Vec<PathBuf>,
        /// Number of tags of each kind to print for which the parser finds no definition.
        #[arg(long, default_value_t = 0)]
        misses: usize,
        /// Compare only files of this language.
        #[arg(long)]
        language: Option<String>,
    },
    /// Ranks of identifiers that only one file contains, for one or two versions of `aur`.
    Identifiers {
        /// Checked-out repositories, then options such as `--aur PROGRAM` (twice to compare), `--sample 200` and
        /// `--misses`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Processor time of indexing compared with a bare loop that reads and parses every file.
    Index {
        /// Directory to index; an existing index is replaced.
        root: PathBuf,
        /// Number of runs of the index and of the bare loop.
        #[arg(long, default_value_t = 3)]
        rounds: usize,
    },
    /// Searches in sessions of knowledge articles, compared with a service of FastAPI, chromadb and rank-bm25, which
    /// pip installs below `target`.
    Knowledge {
        /// Options such as `--documents 5000` and `--questions 300`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Adding and searching memory entries among a million others, compared with SQLite with FTS5, which is compiled
    /// only for this bench.
    Memory {
        /// Options such as `--turns 100000`, `--directory DIR` and `--only product,wal`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Rows passed through a stage that is an external program, compared with the same bytes passed through `cat`.
    Process {
        /// Directory whose files are the rows; by default the rows are generated.
        root: Option<PathBuf>,
    },
    /// Queries on an open index compared with exhaustive evaluation.
    Query {
        /// Directory with an index.
        root: PathBuf,
    },
    /// Index runs, a bare parse loop and searches on 1, 2, 4, … cores. Needs no cargo if --program is given.
    #[cfg(target_os = "linux")]
    Scale(scale::Options),
    /// Searches over HTTP while files change, compared with searches while no file changes.
    Serve {
        /// Directory to search, and options such as `--minutes 10` and `--rate 200`.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        arguments: Vec<String>,
    },
    /// Bytes that each commit adds to a remote, compared with whole artefacts, patches and content-defined chunks.
    Transfer {
        /// Git repositories, and options such as `--commits 100`, `--peers-every 5` and `--out FILE`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Storage and keyword search compared with tantivy, which is compiled only for this bench.
    Tantivy {
        /// Directory with an index, then options such as `--only build,query` and `--chunks 100000`.
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

fn main() -> ExitCode {
    let done = match Arguments::parse().task {
        Task::Lint => run::lint(),
        Task::Ci => run::lint().and_then(|()| run::test()),
        Task::Deny(options) => tools::deny(&options),
        Task::Miri => tools::miri(),
        Task::Fuzz(options) => tools::fuzz(&options),
        Task::Explore(options) => explore::run(&options),
        Task::TeamDay { program, repositories } => servers::team_day(program, &repositories),
        Task::MemoryQuality { directory, arguments } => memory_quality::run(&directory, &arguments),
        Task::Bench { bench: Bench::Everyday { arguments } } => finding::run("everyday", &arguments),
        Task::Bench { bench: Bench::Exact(options) } => exact::run(&options),
        Task::Bench { bench: Bench::Graph { root, edges, show } } => {
            run::bench("aurora", "graph", &[root, edges], &[show.to_string()])
        }
        Task::Bench { bench: Bench::Definitions { roots, misses, language } } => {
            let language = language.into_iter().flat_map(|language| ["--language".to_owned(), language]);
            let options: Vec<String> =
                ["--misses".to_owned(), misses.to_string()].into_iter().chain(language).collect();
            run::bench("aurora-languages", "definitions", &roots, &options)
        }
        Task::Bench { bench: Bench::Identifiers { arguments } } => finding::run("identifiers", &arguments),
        Task::Bench { bench: Bench::Index { root, rounds } } => {
            run::bench("aurora", "index", &[root], &[rounds.to_string()])
        }
        Task::Bench { bench: Bench::Knowledge { arguments } } => servers::with_libraries("knowledge", &arguments),
        Task::Bench { bench: Bench::Transfer { arguments } } => servers::with_libraries("transfer", &arguments),
        Task::Bench { bench: Bench::Memory { arguments } } => servers::build().and_then(|target| {
            let program = ["--program".to_owned(), servers::program(&target).to_string_lossy().into_owned()];
            run::bench_outside("benches/memory", &[&program, &arguments[..]].concat())
        }),
        #[cfg(target_os = "linux")]
        Task::Bench { bench: Bench::Scale(options) } => scale::run(&options),
        Task::Bench { bench: Bench::Serve { arguments } } => servers::serve(&arguments),
        Task::Bench { bench: Bench::Process { root } } => run::bench("aurora-plugins", "process", root.as_slice(), &[]),
        Task::Bench { bench: Bench::Query { root } } => run::bench("aurora", "query", &[root], &[]),
        Task::Bench { bench: Bench::Blame { arguments } } => run::bench_outside("benches/blame", &arguments),
        Task::Bench { bench: Bench::Tantivy { arguments } } => run::bench_outside("benches/tantivy", &arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}
