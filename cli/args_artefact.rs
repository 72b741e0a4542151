//! Arguments of the commands that carry an index to other machines and make it small.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::args_memory::OwnerArg;
use crate::args_transfer::TransferArgs;
use crate::values::ReportFormat;

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  aur mem export nightly.aur                 everything that a search needs, in one file
  aur mem export - | ssh build aur mem import -
  aur mem export nightly.aur --format json   its manifest: commit, counts, a checksum of every part
  aur mem export --memory user memory.jsonl  the entries of a memory instead, one in each line
  aur mem export --memory project | jq .entry

The same tree, configuration and program give the same bytes, however the index came about.
A FILE that is there is replaced as a whole, at the end.";

pub(crate) const IMPORT_EXAMPLES: &str = "\
Examples:
  aur mem import nightly.aur && aur mem index   last night's index, then what has changed since
  aur mem import nightly.aur --root /srv/app    search it there, with or without the sources
  aur mem import --from jsonl memory.jsonl --memory user
  aur mem import --from markdown docs/decisions --dry-run

Everything is verified before anything is replaced, and the index that was there is replaced in
one step: searches that are running go on with the old one. What was shown and said of results
stays.

With --from, entries are added to a memory: lines of JSON, or a directory of Markdown. Of two
documents with one id, the one that was edited later stays. A second import changes nothing. Exits
with 1 when something could not be imported.";

pub(crate) const COMPACT_EXAMPLES: &str = "\
Examples:
  aur mem compact                  one segment, no room taken by what was deleted
  aur mem compact --format json

Index runs reuse the room of what was deleted, but do not give it back. Results stay the same,
searches that are running go on, and an index that has nothing to gain is left alone.";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Where to write; `-` is standard output [default for a memory: `-`]
    #[arg(required_unless_present = "memory")]
    pub(crate) file: Option<PathBuf>,

    /// A memory instead of the index: its entries as lines of JSON
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<OwnerArg>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print what was exported
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// What `aur mem export` has written, or what --from names; `-` is standard input
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) transfer: TransferArgs,

    /// The directory that gets the index [default: the nearest one above with an index, or the top of the work tree]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print what was imported
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    /// A memory instead of the index: removed entries and earlier versions cannot be restored then
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<OwnerArg>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) const TRUST_NOTE: &str = "\
Examples:
  aur mem trust-index              the index; or what else was not made by you, if that is one store
  aur mem trust-index tags         the tags that came with a repository

An index that your own runs did not make can answer with code that does not exist, so that no command
uses it unasked. The same holds for tags, access histories and memories. This command checks that a
store is sound, not that it tells the truth. It accepts one store at a time, and names it.
AURORA_TRUST_INDEX=1 accepts every store, for caches of CI systems and shared indexes.";

/// Stores that another user may have made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// The index, in .aurora/index
    Index,
    /// Tags that were given to chunks, in .aurora/annotations
    Tags,
    /// The access history, in .aurora/access
    Access,
    /// The project's memory, in .aurora/memory
    Memory,
    /// The user's memory, in ~/.aurora/memory
    UserMemory,
}

/// `aur mem trust-index`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The store that is accepted [default: the index, or the only store that was not made by you]
    #[arg(value_name = "STORE", value_enum)]
    pub(crate) store: Option<StoreArg>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}
