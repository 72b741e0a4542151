//! The arguments of `aur mem search`.

use clap::{Args, ValueEnum};

use crate::args_filter::FilterArgs;
use crate::args_memory::SearchedMemory;
use crate::args_roots::SearchedRoots;
use crate::values::{ModeArg, parse_budget, parse_limit, parse_snippet_lines, parse_weights};

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Identifier, keywords or sentence to search for; optional if a filter is given
    #[arg(value_name = "QUERY", required_unless_present_any = ["stdin", "grep", "fixed", "types", "lang", "path", "where_", "source", "scope"], conflicts_with = "stdin")]
    pub(crate) query: Vec<String>,

    /// Show at most this many results [default: 10; with --budget 100]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// What takes a place in the list: every chunk, or every file with its best chunks
    ///
    /// [default: file for tables, else chunk]
    #[arg(long, value_name = "GROUP", value_enum)]
    pub(crate) group: Option<GroupArg>,

    /// Which signals rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// How the signals are put together
    #[arg(long, value_name = "FUSION", value_enum)]
    pub(crate) fusion: Option<FusionArg>,

    /// Weights of BM25, semantic and activation; they must sum to 1
    #[arg(long, value_name = "B,S,A", value_parser = parse_weights)]
    pub(crate) weights: Option<[f64; 3]>,

    /// The model that reads the best results once more: its name, or `off` (`search.rerank`)
    #[arg(long, value_name = "NAME")]
    pub(crate) rerank: Option<String>,

    /// Explain the score of every result
    #[arg(long)]
    pub(crate) show_scores: bool,

    /// Print the text of every result
    #[arg(long)]
    pub(crate) show_content: bool,

    /// Print the metadata of every result: the values of its columns
    #[arg(long)]
    pub(crate) show_fields: bool,

    /// Show the lines of every result that match best, at most this many
    ///
    /// [default: 2 on a terminal of at least 60 columns, 3 with --grep or --fixed, else 0]
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true, default_missing_value = "3", value_parser = parse_snippet_lines)]
    pub(crate) snippets: Option<usize>,

    /// Print the text of the best results, as much as fits into this many tokens
    ///
    /// Results of one file that overlap or touch are joined; one that does not fit is cut, or the next is taken. Tokens
    /// are estimated, rather too high: docs/searching.md tells how.
    #[arg(long, value_name = "TOKENS", value_parser = parse_budget, conflicts_with_all = ["show_scores", "show_content", "show_fields", "snippets"])]
    pub(crate) budget: Option<usize>,

    /// The table without its git columns
    #[arg(long)]
    pub(crate) legacy: bool,

    /// How to print the results
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ResultFormat::Table)]
    pub(crate) format: ResultFormat,

    /// Read one query a line from standard input
    #[arg(long)]
    pub(crate) stdin: bool,

    #[command(flatten)]
    pub(crate) roots: SearchedRoots,

    #[command(flatten)]
    pub(crate) memory: SearchedMemory,

    /// Do not remember which results were shown
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Fail instead of building an index where there is none
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Answer from the index as it is; otherwise, a quick update comes first (`search.refresh`)
    #[arg(long)]
    pub(crate) no_refresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupArg {
    /// Every file once, with its best chunks
    File,
    /// Every chunk on its own
    Chunk,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FusionArg {
    /// Weighted sum of the normalised scores
    Weighted,
    /// Reciprocal rank fusion
    Rrf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResultFormat {
    /// For people
    Table,
    /// One JSON object, indented
    Json,
    /// One JSON object a line
    Jsonl,
}
