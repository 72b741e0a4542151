//! `aur mem`: commands for an index and for memory.

mod add;
mod audit;
mod blame;
mod browse;
mod compact;
mod edit;
mod eval;
pub(crate) mod export;
mod feedback;
mod graph;
mod import;
mod import_entries;
mod index;
mod link;
mod list;
mod merge;
mod mine;
mod policies;
mod prune;
mod rebuild_bm25;
mod recall;
mod remove;
mod roots;
mod schema;
pub(crate) mod search;
mod shard;
mod show;
mod stats;
mod tag;
mod trust_index;
mod tune;
mod turn;
mod undo;
mod verify;
mod why;

use clap::Subcommand;

use crate::context::{Outcome, Program};

/// Index a directory, search it, and manage memory
#[derive(Debug, Subcommand)]
#[command(after_help = "\
If the first word is not a command, it starts a query: `aur mem parse config` searches for
\"parse config\".

Examples:
  aur mem index .
  aur mem \"retry with backoff\" --type function --lang python
  aur mem search UserManager --show-scores
  aur mem stats")]
pub(crate) enum MemCommand {
    Index(index::IndexArgs),
    Search(Box<search::SearchArgs>),
    Browse(browse::BrowseArgs),
    Graph(graph::GraphArgs),
    Feedback(feedback::FeedbackArgs),
    Add(add::AddArgs),
    Edit(edit::EditArgs),
    Remove(remove::RemoveArgs),
    Show(show::ShowArgs),
    List(list::ListArgs),
    Tag(tag::TagArgs),
    Link(link::LinkArgs),
    Undo(undo::UndoArgs),
    /// Append turns of conversations to memory
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Turn(turn::TurnCommand),
    Recall(Box<recall::RecallArgs>),
    Prune(prune::PruneArgs),
    Audit(audit::AuditArgs),
    Policies(policies::PoliciesArgs),
    Schema(schema::SchemaArgs),
    Stats(stats::StatsArgs),
    Why(why::WhyArgs),
    Roots(roots::RootsArgs),
    Blame(blame::BlameArgs),
    #[command(name = "rebuild-bm25")]
    RebuildBm25(rebuild_bm25::RebuildArgs),
    Verify(verify::VerifyArgs),
    Export(export::ExportArgs),
    Import(import::ImportArgs),
    Merge(merge::MergeArgs),
    #[command(name = "trust-index")]
    TrustIndex(trust_index::TrustArgs),
    Compact(compact::CompactArgs),
    Eval(Box<eval::EvalArgs>),
    Tune(tune::TuneArgs),
}

impl MemCommand {
    pub(super) fn run(&self, program: &Program) -> Outcome {
        match self {
            Self::Index(args) => index::run(args, program),
            Self::Search(args) => search::run(args, program),
            Self::Browse(args) => browse::run(args, program),
            Self::Graph(args) => graph::run(args, program),
            Self::Feedback(args) => feedback::run(args, program),
            Self::Add(args) => add::run(args, program),
            Self::Edit(args) => edit::run(args, program),
            Self::Remove(args) => remove::run(args, program),
            Self::Show(args) => show::run(args, program),
            Self::List(args) => list::run(args, program),
            Self::Tag(args) => tag::run(args, program),
            Self::Link(args) => link::run(args, program),
            Self::Undo(args) => undo::run(args, program),
            Self::Turn(args) => turn::run(args, program),
            Self::Recall(args) => recall::run(args, program),
            Self::Prune(args) => prune::run(args, program),
            Self::Audit(args) => audit::run(args, program),
            Self::Policies(args) => policies::run(args, program),
            Self::Schema(args) => schema::run(args, program),
            Self::Stats(args) => stats::run(args, program),
            Self::Why(args) => why::run(args, program),
            Self::Roots(args) => roots::run(args, program),
            Self::Blame(args) => blame::run(args, program),
            Self::RebuildBm25(args) => rebuild_bm25::run(args, program),
            Self::Verify(args) => verify::run(args, program),
            Self::Export(args) => export::run(args, program),
            Self::Import(args) => match args.transfer.from {
                Some(from) => import_entries::run(args, from, program),
                None => import::run(args, program),
            },
            Self::Merge(args) => merge::run(args, program),
            Self::TrustIndex(args) => trust_index::run(args, program),
            Self::Compact(args) => compact::run(args, program),
            Self::Eval(args) => eval::run(args, program),
            Self::Tune(args) => tune::run(args, program),
        }
    }
}
