//! The command line as types: what can be asked for, and the help that explains it.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::args_artefact::{CompactArgs, ExportArgs, ImportArgs, TrustArgs};
use crate::args_browse::BrowseArgs;
use crate::args_eval::{EvalArgs, TuneArgs};
use crate::args_graph::GraphArgs;
use crate::args_logs::{LogCommand, LogsArgs};
use crate::args_mcp::{INIT_EXAMPLES, InitArgs, MCP_EXAMPLES, McpArgs};
use crate::args_memory::{
    AddArgs, EditArgs, LinkArgs, ListArgs, MemoryArgs, OwnerArg, PoliciesArgs, PruneArgs, RecallArgs, RemoveArgs,
    SchemaArgs, ShowArgs, TagArgs, TurnCommand, UndoArgs,
};
use crate::args_model::ModelCommand;
use crate::args_pipeline::PipelineCommand;
use crate::args_plugin::{PluginCommand, Untrusted};
use crate::args_roots::RootsArgs;
use crate::args_search::SearchArgs;
use crate::args_serve::ServeArgs;
use crate::values::{
    ReportFormat, parse_jobs, parse_named, parse_named_percent, parse_percent, parse_score, parse_size,
};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Turns a repository into a searchable memory.
#[derive(Debug, Parser)]
#[command(
    name = "aur",
    version,
    styles = STYLES,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  aur mem index                          index the current directory
  aur mem \"how are users authenticated\"  search it (indexes first if need be)
  aur m UserManager --show-scores        the same, shorter, with every score explained
  aur pipeline graph                     what an index run is made of
  aur doctor                             check that everything is in place

Exit codes: 0 done, 1 done but short of what was asked, 2 could not do it."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto, display_order = 900)]
    pub(crate) color: ColorWhen,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Index a directory and search what it holds
    #[command(visible_alias = "m", subcommand_required = true, arg_required_else_help = true, after_help = MEM_EXAMPLES)]
    Mem {
        #[command(subcommand)]
        command: MemCommand,
    },
    /// Look at the pipeline that an index run follows
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Pipeline {
        #[command(subcommand)]
        command: PipelineCommand,
    },
    /// Write, list, test and allow custom stages
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Plugin {
        #[command(subcommand)]
        command: PluginCommand,
    },
    /// Add and list models
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Model {
        #[command(subcommand)]
        command: ModelCommand,
    },
    /// Write the log of an interaction, or add to one
    #[command(subcommand_required = true, arg_required_else_help = true, after_help = crate::args_logs::LOG_EXAMPLES)]
    Log {
        #[command(subcommand)]
        command: LogCommand,
    },
    /// List, search and show the logs of interactions
    #[command(after_help = crate::args_logs::LOGS_EXAMPLES)]
    Logs(LogsArgs),
    /// Answer searches over HTTP
    #[command(after_help = crate::args_serve::SERVE_EXAMPLES)]
    Serve(ServeArgs),
    /// Let agents and editors use the index
    #[command(after_help = INIT_EXAMPLES)]
    Init(InitArgs),
    /// Answer an agent over MCP
    #[command(after_help = MCP_EXAMPLES)]
    Mcp(McpArgs),
    /// Check git, the index, memory, the model, the disk and the configuration
    #[command(after_help = "Exits with 1 when a check fails, with 0 otherwise; warnings do not count.")]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(after_help = "\
Examples:
  aur completions bash > ~/.local/share/bash-completion/completions/aur
  aur completions zsh > ~/.zfunc/_aur
  aur completions fish > ~/.config/fish/completions/aur.fish")]
    Completions {
        /// The shell to write for
        #[arg(value_enum)]
        shell: Shell,
    },
}

const MEM_EXAMPLES: &str = "\
A first word that is no command is a query: `aur mem parse config` searches for \"parse config\".

Examples:
  aur mem index .
  aur mem \"retry with backoff\" --type function --lang python
  aur mem search UserManager --show-scores
  aur mem stats";

#[derive(Debug, Subcommand)]
pub(crate) enum MemCommand {
    /// Index a directory; files that have not changed are not touched
    #[command(after_help = "\
Examples:
  aur mem index                           the current directory
  aur mem index ~/src/app --jobs 4        another one, with four workers
  aur mem index --pipeline lexical        keywords only, no embeddings
  aur mem index --pipeline ci/nightly.toml --min-coverage 95 --format json

The index is written to PATH/.aurora, which git ignores. Ctrl-C stops cleanly: what was
committed stays, and the next run goes on from there.")]
    Index(IndexArgs),
    /// Search the index, building it first where there is none
    #[command(after_help = "\
Examples:
  aur mem search how are sessions refreshed
  aur mem search UserManager --show-scores
  aur mem search \"parse date\" --type function,method --lang go --path 'internal/**'
  aur mem search billing --where owner=payments --where 'churn>5' --format json
  aur mem search \"retry\" --grep 'sleep\\(\\d+\\)'      only what holds a match
  aur mem search --fixed 'os.environ['             no query: listed by path and line
  aur mem search \"how is auth done\" --budget 4000   context for an agent
  printf 'open file\\nclose file\\n' | aur mem search --stdin --format jsonl --limit 5

Types: function, method, class, interface, type, struct, enum, kb, doc, reasoning, knowledge, note, turn;
`code` stands for every chunk of source code.")]
    Search(Box<SearchArgs>),
    /// Search while you type, with the code beside the results
    #[command(after_help = crate::args_browse::BROWSE_EXAMPLES)]
    Browse(BrowseArgs),
    /// Show what a definition calls, what calls it, or what implements it
    #[command(after_help = crate::args_graph::GRAPH_EXAMPLES)]
    Graph(GraphArgs),
    /// Say which results were good and which were not; later searches heed it
    #[command(after_help = "\
Examples:
  aur mem feedback good code:src/auth.py:UserManager.login
  aur mem feedback bad src/auth.py:120 docs/guide.md:14
  aur mem feedback good --partial src/http/retry.go:31
  aur mem feedback --outcome success --session s42     for everything that the session was shown
  aur mem feedback --score 0.6 --session s42 --helpful know:oauth2-providers

An ID is the `id` of `aur mem search --format json`, or a place as the table shows it: PATH:LINE.
Nothing is recorded unless every ID is known. With --partial, for a task that was solved in part,
a verdict counts for less. Verdicts stay when the index is built again, and follow moved files.")]
    Feedback(FeedbackArgs),
    /// Add a reasoning pattern, knowledge or a note to memory
    #[command(after_help = crate::args_memory::ADD_EXAMPLES)]
    Add(AddArgs),
    /// Replace an entry of memory
    Edit(EditArgs),
    /// Remove entries of memory; `undo` restores them
    Remove(RemoveArgs),
    /// Show an entry of memory
    Show(ShowArgs),
    /// List the entries of memory
    #[command(after_help = crate::args_memory::LIST_EXAMPLES)]
    List(ListArgs),
    /// Tag an entry of memory
    Tag(TagArgs),
    /// Link an entry of memory to another one, or to code
    Link(LinkArgs),
    /// Take back the last change of an entry of memory
    Undo(UndoArgs),
    /// Append turns of conversations to memory
    #[command(subcommand_required = true, arg_required_else_help = true)]
    Turn {
        #[command(subcommand)]
        command: TurnCommand,
    },
    /// Recall memory and code for an agent's prompt
    #[command(after_help = crate::args_memory::RECALL_EXAMPLES)]
    Recall(Box<RecallArgs>),
    /// Delete entries of memory whose lifespan is over
    Prune(PruneArgs),
    /// Show the retention policies in force
    #[command(after_help = crate::args_memory::POLICIES_EXAMPLES)]
    Policies(PoliciesArgs),
    /// Print the JSON Schema of a kind of entries
    Schema(SchemaArgs),
    /// Show what the index holds
    #[command(after_help = "\
Examples:
  aur mem stats                     files, chunks, tables, languages
  aur mem stats --skipped           what is not indexed, one line each: PATH: REASON")]
    Stats(StatsArgs),
    /// Explain what each stage does with a file, and whether it is indexed; or why an entry of memory is kept
    #[command(after_help = "\
Examples:
  aur mem why src/auth.py
  aur mem why reas:auth-setup             which retention policies hold for it
  aur mem why build dist/app.js --format json

Exits with 1 when one of them is not indexed. `aur pipeline run --dry` shows the values that each stage writes.")]
    Why(WhyArgs),
    /// List the directories that you have indexed
    #[command(after_help = crate::args_roots::ROOTS_EXAMPLES)]
    Roots(RootsArgs),
    /// Show which commit every line of a file came from, as the index has it
    #[command(after_help = "\
Examples:
  aur mem blame src/auth.py                 one line each: commit, number of the line
  aur mem blame src/auth.py --format json   runs of lines with author and time

The lines are those that were indexed; zeros stand for a line that is not committed yet.
It says what `git blame -l` says, without walking the history.")]
    Blame(BlameArgs),
    /// Build the keyword index again from the stored chunks
    #[command(name = "rebuild-bm25")]
    RebuildBm25(RebuildArgs),
    /// Check every record, posting list and vector of the index, or every record of a memory
    #[command(after_help = "\
Examples:
  aur mem verify              exits with 1 when something is wrong
  aur mem verify --digest     one line that is equal for equal contents, however they were built
  aur mem verify --memory user")]
    Verify(VerifyArgs),
    /// Write the index, or a memory, to one file, for other machines
    #[command(after_help = crate::args_artefact::EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Make an exported index that of a directory, or read entries into a memory
    #[command(after_help = crate::args_artefact::IMPORT_EXAMPLES)]
    Import(ImportArgs),
    /// Accept an index that another user or machine has made
    #[command(name = "trust-index", after_help = crate::args_artefact::TRUST_NOTE)]
    TrustIndex(TrustArgs),
    /// Give back the room that deleted content takes
    #[command(after_help = crate::args_artefact::COMPACT_EXAMPLES)]
    Compact(CompactArgs),
    /// Measure the search on questions with known answers
    #[command(after_help = crate::args_eval::EVAL_EXAMPLES)]
    Eval(Box<EvalArgs>),
    /// Learn the search's weights from questions with known answers
    #[command(after_help = crate::args_eval::TUNE_EXAMPLES)]
    Tune(TuneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// The directory to index [default: the current directory]
    pub(crate) path: Option<PathBuf>,

    /// A pipeline file, or the name of one that ships with aur: default, lexical, nightly
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,

    /// Process every file again, changed or not
    #[arg(long)]
    pub(crate) force: bool,

    /// Exit with 2 if there is no index to bring up to date, instead of building one
    #[arg(long, conflicts_with = "force")]
    pub(crate) require_index: bool,

    /// Number of worker threads [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = parse_jobs)]
    pub(crate) jobs: Option<usize>,

    /// Memory that batches in flight may take, such as 512MiB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory: Option<u64>,

    /// Exit with 1 when the coverage is less: the share of the files that should be indexed and are, or of the rows for which a
    /// custom stage has a result
    #[arg(long, value_name = "PCT", value_parser = parse_percent)]
    pub(crate) min_coverage: Option<f64>,

    /// Action for stages whose programs you have not allowed: `aur plugin trust` allows them [default: fail; keep for an
    /// imported index]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub(crate) untrusted: Option<Untrusted>,

    /// Exit with 1 only if this stage fails on more rows; may be given more than once
    #[arg(long, value_name = "STAGE=N", value_parser = parse_named::<u64>)]
    pub(crate) max_failed_rows: Vec<(String, u64)>,

    /// Exit with 1 when less than this share of the chunks has a value in this column; may be given more than once
    #[arg(long, value_name = "COLUMN=PCT", value_parser = parse_named_percent)]
    pub(crate) min_column: Vec<(String, f64)>,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,

    /// No progress and no text summary; errors and warnings are still shown
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FeedbackArgs {
    /// What is said of the chunks
    #[arg(value_enum, required_unless_present = "session")]
    pub(crate) verdict: Option<VerdictArg>,

    /// Chunks: their ids, or PATH:LINE
    #[arg(value_name = "ID", required_unless_present = "session")]
    pub(crate) ids: Vec<String>,

    /// The task was solved in part: the verdict counts for less
    #[arg(long, conflicts_with = "session")]
    pub(crate) partial: bool,

    /// How the task of a session has ended: counts for everything that its searches have shown
    #[arg(long, value_name = "OUTCOME", value_enum, requires = "session", conflicts_with = "verdict")]
    pub(crate) outcome: Option<OutcomeArg>,

    /// The same as a score: success from 0.8 on, partial from 0.5 on
    #[arg(long, value_name = "SCORE", requires = "session", conflicts_with_all = ["verdict", "outcome"], value_parser = parse_score)]
    pub(crate) score: Option<f64>,

    /// The session: what was searched with --session ID
    #[arg(long, value_name = "ID", conflicts_with = "verdict")]
    pub(crate) session: Option<String>,

    /// With --outcome partial: what helped; the rest did not
    #[arg(long, value_name = "ID", requires = "session")]
    pub(crate) helpful: Vec<String>,

    /// With --outcome partial: what did not help; the rest did
    #[arg(long, value_name = "ID", requires = "session")]
    pub(crate) unhelpful: Vec<String>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutcomeArg {
    /// What was shown gains 0.2
    Success,
    /// What helped gains 0.05, what did not loses 0.05
    Partial,
    /// Reasoning patterns that were shown lose 0.1
    Failure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictArg {
    /// What was looked for, or a help on the way
    Good,
    /// No help, or misleading
    Bad,
}

#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// An indexed file
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// List the files and directories that are not indexed, each with the reason
    #[arg(long)]
    pub(crate) skipped: bool,

    /// List the rows on which custom stages have failed, each with the error
    #[arg(long, conflicts_with = "skipped")]
    pub(crate) failed: bool,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct WhyArgs {
    /// Files and directories of the project, or ids of entries of memory
    #[arg(value_name = "PATH|ID", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) memory: MemoryArgs,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// A memory instead of the index
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<OwnerArg>,

    /// Print only the digest of the contents
    #[arg(long)]
    pub(crate) digest: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The directory to look at [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Format of the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
