//! The arguments of the commands that write and read memory.

use std::path::PathBuf;

use aurora_memory::Scope;
use clap::{Args, Subcommand, ValueEnum};

use crate::args_roots::SearchedRoots;
use crate::values::{ReportFormat, parse_budget, parse_limit, parse_share};

pub(crate) const ADD_EXAMPLES: &str = "\
Examples:
  aur mem add note -m \"The staging database is reset every Sunday\"
  aur mem add note docs/decision.md --tag architecture
  aur mem add knowledge oauth.json --scope project
  echo '{\"content\": {\"pattern\": \"auth-setup\", \"success_score\": 0.9}}' | aur mem add reasoning - --format json

FILE is a JSON object, for a note also Markdown or plain text; `aur mem schema KIND` prints what is
expected. Of reasoning and knowledge, a score below 0.5 is not stored, one from 0.8 on is a pattern.
Exits with 1 when the entry is not stored.";

pub(crate) const TURN_EXAMPLES: &str = "\
Examples:
  aur mem turn add --session s42 --speaker user \"How are tokens refreshed?\"
  aur mem turn add --session s42 --speaker assistant - < answer.txt
  aur mem turn add --session s42 --speaker user --reply-to turn:s42:2 \"And when they expire?\"";

pub(crate) const LIST_EXAMPLES: &str = "\
Examples:
  aur mem list                                  the entries that changed last
  aur mem list --kind reasoning --pattern       proven patterns
  aur mem list --tag security --sort accesses   what is asked for most
  aur mem list --state archived                 what `aur mem prune` would delete";

/// Whose memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OwnerArg {
    /// The user's, in ~/.aurora/memory
    User,
    /// The project's, in .aurora/memory
    Project,
}

/// The kinds of entries that people write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KindArg {
    Reasoning,
    Knowledge,
    Note,
}

/// The kinds of entries that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnyKindArg {
    Reasoning,
    Knowledge,
    Note,
    Turn,
    Code,
}

/// Where memories are looked for.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// The project [default: the nearest one above the current directory]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Only this memory [default: the project's and the user's]
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<OwnerArg>,

    /// A file of retention policies, over those of the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) lifespan_policies: Option<PathBuf>,
}

/// Where an entry belongs.
#[derive(Debug, Args)]
pub(crate) struct PlacementArgs {
    /// Who may find it [default: project inside a project, else user; with --session session]
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope)]
    pub(crate) scope: Option<Scope>,

    /// The session that it belongs to
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// The project [default: the nearest one above the current directory]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// What it is
    #[arg(value_enum)]
    pub(crate) kind: KindArg,

    /// The file to read; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "message")]
    pub(crate) file: Option<PathBuf>,

    /// The text of a note
    #[arg(long, short, value_name = "TEXT", conflicts_with = "file")]
    pub(crate) message: Option<String>,

    /// A tag; may be given more than once
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    #[command(flatten)]
    pub(crate) placement: PlacementArgs,

    /// How to print what became of it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The file that replaces it; `-` is standard input [default: opens $VISUAL or $EDITOR]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// How to print what became of it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// The entries
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Also show its earlier versions
    #[arg(long)]
    pub(crate) history: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// How to print it
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only these kinds, separated by commas
    #[arg(long, short, value_name = "KINDS", value_enum, value_delimiter = ',')]
    pub(crate) kind: Vec<AnyKindArg>,

    /// Only this scope
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope)]
    pub(crate) scope: Option<Scope>,

    /// Only this session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Only entries with this tag; may be given more than once
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    /// Only this domain
    #[arg(long, value_name = "DOMAIN")]
    pub(crate) domain: Option<String>,

    /// Only entries with at least this score
    #[arg(long, value_name = "SCORE")]
    pub(crate) min_score: Option<f64>,

    /// Only patterns
    #[arg(long)]
    pub(crate) pattern: bool,

    /// Only entries that a policy has flagged
    #[arg(long)]
    pub(crate) escalated: bool,

    /// Only entries in this state [default: active and decayed]
    #[arg(long, value_name = "STATE", value_enum)]
    pub(crate) state: Option<StateArg>,

    /// What to sort by
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = OrderArg::Edited)]
    pub(crate) sort: OrderArg,

    /// The other way round
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Show at most this many entries [default: 20; with --format json all]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// How to print them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StateArg {
    Active,
    Decayed,
    Archived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// When they were changed
    Edited,
    /// When they were added
    Created,
    /// When they were shown
    Accessed,
    /// How often they were shown
    Accesses,
    Score,
    Activation,
    Id,
}

#[derive(Debug, Args)]
pub(crate) struct TagArgs {
    /// The entry; or a chunk of code, by its id or PATH:LINE
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Tags to add
    #[arg(value_name = "TAG", required_unless_present = "remove")]
    pub(crate) tags: Vec<String>,

    /// A tag to remove; may be given more than once
    #[arg(long, short, value_name = "TAG")]
    pub(crate) remove: Vec<String>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// The entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// What it is linked to: another entry, or a chunk of code
    #[arg(value_name = "TARGET")]
    pub(crate) to: String,

    /// How they are related
    #[arg(long, value_name = "NAME", default_value = "related")]
    pub(crate) relation: String,

    /// How strongly, from 0 to 1
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0)]
    pub(crate) weight: f64,

    /// Remove the link instead
    #[arg(long, conflicts_with = "weight")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TurnCommand {
    /// Append what one side has said to a session
    #[command(after_help = TURN_EXAMPLES)]
    Add(TurnArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TurnArgs {
    /// The session
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,

    /// Who has said it
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: String,

    /// What was said; `-` reads it from standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,

    /// The turn that it answers
    #[arg(long, value_name = "ID")]
    pub(crate) reply_to: Option<String>,

    /// When it was said, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<jiff::Timestamp>,

    /// Who may find it: session, project, user or global
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope, default_value = "session")]
    pub(crate) scope: Scope,

    /// The project of a turn in scope `project` [default: the nearest one above the current directory]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print its id
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// How recalled memory is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecallFormat {
    /// Texts for a prompt, each under its ids
    Text,
    /// One JSON object, indented
    Json,
    /// A list of what was found, by activation
    Recall,
}

pub(crate) const RECALL_EXAMPLES: &str = "\
Examples:
  aur mem recall \"how did we solve authentication bugs\" --budget 2000
  aur mem recall \"session timeout\" --session s42 --format json
  aur mem recall --passive \"rotate the signing key\"     few results, or none; remembers nothing
  aur mem recall \"AWS Polly\" --format recall --source memory

Every text stands under the ids that stand for it, to be cited. What was shown counts as used, unless
--read-only or --passive is given.";

#[derive(Debug, Args)]
pub(crate) struct RecallArgs {
    /// What to recall
    #[arg(value_name = "QUERY", required = true)]
    pub(crate) query: Vec<String>,

    /// Maximum number of tokens in the answer
    #[arg(long, value_name = "TOKENS", value_parser = parse_budget, default_value_t = 2000)]
    pub(crate) budget: usize,

    /// At most this many results [default: 100; with --passive or --format recall 10]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    /// Only results with at least this activation, from 0 to 1 [default: 0; with --passive 0.5]
    #[arg(long, value_name = "ACTIVATION", value_parser = parse_share)]
    pub(crate) min_activation: Option<f32>,

    /// Only what is strongly activated, for every prompt: --limit 10 --min-activation 0.5 --read-only
    #[arg(long)]
    pub(crate) passive: bool,

    /// Remember nothing of this
    #[arg(long)]
    pub(crate) read_only: bool,

    #[command(flatten)]
    pub(crate) memory: SearchedMemory,

    #[command(flatten)]
    pub(crate) roots: SearchedRoots,

    /// Fail instead of building an index where there is none
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Answer from the index as it is; otherwise, a quick update comes first
    #[arg(long)]
    pub(crate) no_refresh: bool,

    /// How to print what was recalled
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = RecallFormat::Text)]
    pub(crate) format: RecallFormat,
}

#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Only say what would be deleted
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// How to print the report
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) const POLICIES_EXAMPLES: &str = "\
Examples:
  aur mem policies                                the policies in force, in the order in which they are looked at
  aur mem policies --convert policies.json >> .aurora/config.toml";

#[derive(Debug, Args)]
pub(crate) struct PoliciesArgs {
    /// Print a file of policies in JSON as TOML, for the configuration; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) convert: Option<PathBuf>,

    /// The project [default: the nearest one above the current directory]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// A file of retention policies, in TOML or JSON, over those of the configuration
    #[arg(long, value_name = "FILE")]
    pub(crate) lifespan_policies: Option<PathBuf>,

    /// How to print them
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The kind of entries
    #[arg(value_enum)]
    pub(crate) kind: AnyKindArg,
}

/// What a search sees beside code.
#[derive(Debug, Args)]
pub(crate) struct SearchedMemory {
    /// Where results come from, separated by commas [default: everywhere]
    #[arg(long, value_name = "SOURCES", value_enum, value_delimiter = ',')]
    pub(crate) source: Vec<SourceArg>,

    /// How wide memory is searched [default: everything but other sessions]
    ///
    /// `session`: what belongs to --session; `project`: the project's memory; `user`: your own and all of your sessions;
    /// `global`: everything.
    #[arg(long, value_name = "SCOPE", value_parser = parse_scope)]
    pub(crate) scope: Option<Scope>,

    /// The session of this search: its turns are found, and `aur mem feedback --outcome` knows what was shown
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Also find entries of memory that are archived
    #[arg(long)]
    pub(crate) archived: bool,
}

/// Where a result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceArg {
    /// The files of the project
    Code,
    /// Entries of memory
    Memory,
    /// Conversation logs
    #[value(alias = "log")]
    Logs,
}

pub(crate) fn parse_scope(text: &str) -> Result<Scope, String> {
    text.parse().map_err(|error: aurora_memory::UnknownScope| error.to_string())
}
