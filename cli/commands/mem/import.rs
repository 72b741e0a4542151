//! `aur mem import`: replaces the index with an exported one.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use aurora_confined::{Refusal, open_regular, refusal_of};
use aurora_memory::Owner;
use aurora_project::user;
use aurora_storage::{Environment, ImportContext, StorageError, Workers};
use clap::{Args, ValueEnum};

use crate::commands::mem::export::{contents, write_commit};
use crate::context::{Failure, Outcome, Program, ReportFormat};
use crate::output::sanitize;

/// The format of the entries to import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SourceFormatArg {
    /// Lines of JSON: an exported memory, or documents in the format of `aur mem schema`
    Jsonl,
    /// A directory of Markdown and text files, each of which becomes a note
    Markdown,
}

/// Arguments for importing entries into a memory.
#[derive(Debug, Args)]
pub(crate) struct TransferArgs {
    /// Import entries of memory in this format instead of an index
    #[arg(long, value_name = "SOURCE", value_enum)]
    pub(crate) from: Option<SourceFormatArg>,

    /// Memory to import into [default: the project's inside a project, else the user's]
    #[arg(long, value_name = "OWNER", value_enum, requires = "from")]
    pub(crate) memory: Option<Owner>,

    /// Show what would be imported without storing anything
    #[arg(long, requires = "from")]
    pub(crate) dry_run: bool,
}

/// Import an exported index into a directory, or entries into a memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem import nightly.aur && aur mem index   last night's index, updated to the current tree
  aur mem import nightly.aur --root /srv/app    also for a directory without sources
  aur mem import --from jsonl memory.jsonl --memory user
  aur mem import --from markdown docs/decisions --dry-run

The artefact is verified completely before the existing index is replaced in one step. Running
searches continue with the old index. The access history and feedback are kept.

With --from, entries are added to a memory, from lines of JSON or a directory of Markdown. Of two
documents with the same id, the one edited later is kept. A second import changes nothing. Exits
with 1 if an entry could not be imported. --verbose also lists entries that are not stored or are
altered.")]
pub(crate) struct ImportArgs {
    /// File written by `aur mem export`, or the input for --from; `-` is standard input
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) transfer: TransferArgs,

    /// Directory that receives the index [default: the nearest enclosing directory with an index, or the top of the
    /// work tree]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Verifies the artefact, replaces the index, and prints a summary.
pub(crate) fn run(args: &ImportArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let project = program.find(args.root.as_deref())?;
    let (mut input, name): (Box<dyn Read>, &Path) = match args.file.as_path() {
        dash if dash == Path::new("-") => (Box::new(std::io::stdin().lock()), Path::new("standard input")),
        file => (Box::new(BufReader::new(open(file)?)), file),
    };
    let shown = project.root().display().to_string();
    let (known, workers) = (&user::trust().known, Workers::default());
    let context = ImportContext { name, root: &shown, now: aurora_clock::now_seconds(), known, workers };
    let imported = Environment::import(&project.directory(), &mut input, context).map_err(|error| match error {
        StorageError::Shards(_) => Failure::from(error).with_help("combine all parts with `aur mem merge`"),
        error => error.into(),
    })?;
    project.record()?;
    if !imported.complete {
        terminal.warn("the index is incomplete: the run that built it was stopped early, could not read every file, or lacks stage results");
    }
    terminal.print(args.format, &imported, |out| {
        writeln!(out, "Imported {} into {}", contents(&imported), sanitize::line(&shown))?;
        write_commit(out, &imported)
    })
}

/// Opens a regular file given by the user. Pipes and devices are refused, because opening or reading them may block
/// forever.
pub(crate) fn open(path: &Path) -> Outcome<File> {
    open_regular(path).map_err(|error| {
        let shown = path.display();
        match refusal_of(&error) {
            Some(Refusal::NotRegular) if path.is_dir() => {
                Failure::new(format!("{shown} is a directory")).with_help("give a file written by `aur mem export`")
            }
            Some(Refusal::NotRegular) => Failure::new(format!("cannot open {shown}: {error}"))
                .with_help("`-` reads standard input, which may be a pipe"),
            _ => Failure::new(format!("cannot open {shown}: {error}")),
        }
    })
}
