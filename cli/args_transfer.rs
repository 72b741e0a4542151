//! Arguments of the commands that carry a memory from and to other programs.

use clap::{Args, ValueEnum};

use crate::args_memory::OwnerArg;

/// What is read into a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceFormatArg {
    /// Lines of JSON: an exported memory, or documents as `aur mem schema` describes them
    Jsonl,
    /// A directory of Markdown and text files: a note of each
    Markdown,
}

/// Where entries of memory come from.
#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// Read entries of memory instead, from a file or a directory in this format
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub(crate) from: Option<SourceFormatArg>,

    /// The memory that gets them [default: the project's inside a project, else the user's]
    #[arg(long, value_name = "OWNER", value_enum, requires = "from")]
    pub(crate) memory: Option<OwnerArg>,

    /// Only say what would become of the entries
    #[arg(long, requires = "from")]
    pub(crate) dry_run: bool,

    /// Also list what is not stored and what is altered
    #[arg(long, requires = "from")]
    pub(crate) verbose: bool,
}
