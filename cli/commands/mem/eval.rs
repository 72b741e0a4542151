//! `aur mem eval`: measures the quality of search results on questions with known answers.

use std::path::{Path, PathBuf};

use aurora_evaluation::metrics::Metric;
use aurora_evaluation::report::{self, Floor, MissedFloor, Run};
use aurora_query::{Mode, SearchConfig};
use clap::{Args, Subcommand};

use crate::commands::mem::mine::{self, MineArgs};
use crate::context::{Failure, IndexReportArgs, Outcome, Program, golden, place, rerankers};
use crate::output::evaluation;

/// Measure the search on questions with known answers
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
GOLDEN is a file of questions (JSON Lines or YAML) or a directory written by `aur mem eval mine`
[default: .aurora/eval]. The evaluation records no accesses.

Examples:
  aur mem eval mine                                     make golden sets from this repository
  aur mem eval                                          measure on them
  aur mem eval questions.jsonl --misses 20              use your own questions, and list 20 misses
  aur mem eval --config trial.toml --against default    compare two configurations
  aur mem eval questions.jsonl --floor ndcg@10=0.6      exit with 1 below this, for CI

Metrics: ndcg@10, mrr@10, r@1, r@5, r@10, p@5, filemrr, filer@10, topics@10.")]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    Mine(MineArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Files of questions, or mined directories [default: .aurora/eval]
    #[arg(value_name = "GOLDEN")]
    pub(crate) golden: Vec<PathBuf>,

    /// Configuration file to apply to the built-in configuration, or `default` for the built-in configuration alone
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Compare with this configuration file, or with `default`
    #[arg(long, value_name = "FILE", conflicts_with = "against_index")]
    pub(crate) against: Option<PathBuf>,

    /// Compare with the index of this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) against_index: Option<PathBuf>,

    /// Signals that rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Only these sets, separated by commas
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,

    /// Exit with 1 if a metric is below this value: `ndcg@10=0.8`, or `exact:mrr@10=0.9` for one set
    #[arg(long, value_name = "[SET:]METRIC=VALUE", value_delimiter = ',')]
    pub(crate) floor: Vec<Floor>,

    /// Number of questions to list that have no answer in the first ten results
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) misses: usize,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Mines golden sets, or evaluates the search on golden sets and prints the metrics.
pub(crate) fn run(args: &EvalArgs, program: &Program) -> Outcome {
    match &args.command {
        Some(EvalCommand::Mine(args)) => mine::run(args, program),
        None => measure(&args.ask, program),
    }
}

fn measure(args: &AskArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.index.root.as_deref())?;
    let mode = args.mode.unwrap_or_default();
    let mut batches = golden::gather(&args.golden, &root)?;
    golden::keep_sets(&mut batches, &args.sets)?;
    let config = golden::config(args.config.as_deref(), &root, program)?;
    let other = args.against.as_deref().map(|other| golden::config(Some(other), &root, program)).transpose()?;
    let rerankers = rerankers::for_configs([&config].into_iter().chain(&other), mode, &program.terminal);
    let open = |root: &Path, mined: bool| golden::engine(root, mined, mode, &rerankers, program);
    let engines = golden::engines(&batches, &open)?;
    let run = golden::ask(&engines, &batches, &config)?;

    let against = match (&args.against, other, &args.against_index) {
        (Some(name), Some(other), _) => Some((name.as_path(), golden::ask(&engines, &batches, &other)?)),
        (_, _, Some(directory)) => Some((directory.as_path(), ask_another(directory, &batches, &config, &open)?)),
        _ => None,
    };
    let sets = report::by_set(&run);
    let missed = report::missed_floors(&args.floor, &sets, &run).map_err(Failure::new)?;
    let mut misses = report::misses(&run);
    let missing = misses.len();
    misses.truncate(args.misses);
    let evaluation = evaluation::Evaluation {
        sets,
        against: against.map(|(name, other)| evaluation::Against {
            what: name.display().to_string(),
            sets: report::by_set(&other),
            differences: report::differences(&run, &other, &Metric::ALL),
        }),
        missing,
        misses,
        missed_floors: missed.clone(),
    };
    program
        .terminal
        .print(args.index.format, &evaluation, |out| evaluation::write(out, &evaluation, program.terminal.out))?;
    if missed.is_empty() { Ok(()) } else { Err(Failure::Short(missed_floors_message(&missed))) }
}

/// Searches another index with the same questions.
fn ask_another(
    directory: &Path,
    batches: &[golden::QuestionBatch],
    config: &SearchConfig,
    open: &golden::Open<'_>,
) -> Outcome<Run> {
    if batches.iter().any(|batch| batch.mined) {
        return Err(Failure::new(
            "--against-index needs golden files, because mined sets are searched in their own copies",
        ));
    }
    let root = place::for_search(Some(directory))?;
    let engine = open(&root, false)?;
    golden::ask(&vec![engine; batches.len()], batches, config)
}

fn missed_floors_message(missed: &[MissedFloor]) -> String {
    let lines = missed.iter().map(|missed| match missed.value {
        Some(value) => {
            format!("{} is required, but the value is {value:.3} ({:.3} short)", missed.floor, missed.short_by)
        }
        None => format!("{} is required, but no question measures it", missed.floor),
    });
    format!("below the floor:\n  {}", lines.collect::<Vec<_>>().join("\n  "))
}
