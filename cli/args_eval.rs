//! The command line of `aur mem eval` and `aur mem tune`.

use std::path::PathBuf;

use aurora_evaluation::metrics::Metric;
use aurora_evaluation::report::Floor;
use clap::{Args, Subcommand};

use crate::values::{ModeArg, ReportFormat, parse_folds, parse_percent, parse_regularisation};

pub(crate) const EVAL_EXAMPLES: &str = "\
GOLDEN is a file of questions (JSON Lines or YAML) or a directory that `aur mem eval mine` has
written; without one it is .aurora/eval. No access is recorded.

Examples:
  aur mem eval mine                                     make golden sets from this repository
  aur mem eval                                          measure on them
  aur mem eval questions.jsonl --misses 20              a file of one's own, and what was not found
  aur mem eval --config trial.toml --against default    does it help, and is that sure?
  aur mem eval questions.jsonl --floor ndcg@10=0.6      fail a CI job (exit code 1) below that

Metrics: ndcg@10, mrr@10, r@1, r@5, r@10, p@5, filemrr, filer@10, topics@10.";

pub(crate) const TUNE_EXAMPLES: &str = "\
Every number of the configuration is tried; what the learned ones are worth is told by
cross-validation. Nothing is written unless the gain is real, and what is written changes
nothing until it is copied to .aurora/config.toml.

Examples:
  aur mem eval mine && aur mem tune
  aur mem tune --golden questions.jsonl --keys rules,bm25 --metric mrr@10
  aur mem eval --config .aurora/tuned.toml --against default";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,

    #[command(flatten)]
    pub(crate) ask: AskArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Make golden sets from a repository: names, documentation, commits
    #[command(after_help = "\
Four sets are written: `exact` (names defined once), `docstring` (first sentences of the
documentation of functions, asked of a copy without it), `topics` (the same of files) and `commit`
(subjects of commits and what they changed), each with a part that is held out from tuning. The
copies that they are asked of are indexed in the same directory.

Examples:
  aur mem eval mine
  aur mem eval mine ~/src/app --out /tmp/app-eval --max 400")]
    Mine(MineArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Files of questions, or mined directories [default: .aurora/eval]
    #[arg(value_name = "GOLDEN")]
    pub(crate) golden: Vec<PathBuf>,

    /// Search with this configuration file over the built-in one, or with `default` itself
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Ask again with this configuration file, or with `default`, and show the difference
    #[arg(long, value_name = "FILE", conflicts_with = "against_index")]
    pub(crate) against: Option<PathBuf>,

    /// Ask the index of this directory too, and show the difference
    #[arg(long, value_name = "DIR")]
    pub(crate) against_index: Option<PathBuf>,

    /// Which signals rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// Only these sets, separated by commas
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    pub(crate) sets: Vec<String>,

    /// Exit with 1 below this: `ndcg@10=0.8`, or `exact:mrr@10=0.9` for one set
    #[arg(long, value_name = "[SET:]METRIC=VALUE", value_delimiter = ',')]
    pub(crate) floor: Vec<Floor>,

    /// List this many of the questions without an answer in the first ten
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) misses: usize,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct MineArgs {
    /// The repository [default: the current directory]
    pub(crate) path: Option<PathBuf>,

    /// The directory to write [default: .aurora/eval in the repository]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,

    /// Most questions of a set, held-out ones included
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) max: usize,

    /// Decides which questions are asked
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// How many of a hundred questions are kept from tuning
    #[arg(long, value_name = "PCT", default_value = "30", value_parser = parse_percent)]
    pub(crate) held_out: f64,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// A file of questions, or a mined directory [default: .aurora/eval]
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) golden: Vec<PathBuf>,

    /// Folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = parse_folds)]
    pub(crate) folds: usize,

    /// Only numbers whose keys begin so, separated by commas, such as `rules` or `bm25.fields`
    #[arg(long, value_name = "PREFIXES", value_delimiter = ',')]
    pub(crate) keys: Vec<String>,

    /// What to raise, each set weighing the same
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: Metric,

    /// Start from this configuration file, or from `default` [default: the one that searches use]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// Where to write the learned configuration [default: .aurora/tuned.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Passes over all numbers; steps halve from one to the next
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) rounds: u32,

    /// What it costs to move a number by its first step, in questions: the more, the nearer the result stays to the start
    ///
    /// A move is kept if it gains more than that. The cost grows with the square of the distance; 0 turns it off.
    #[arg(long, value_name = "QUESTIONS", default_value_t = 0.5, value_parser = parse_regularisation)]
    pub(crate) regularisation: f64,

    /// Stop after about this many searches
    #[arg(long, value_name = "SEARCHES")]
    pub(crate) budget: Option<u64>,

    /// Which signals rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// Write the configuration even where the gain is not sure
    #[arg(long)]
    pub(crate) force: bool,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}
