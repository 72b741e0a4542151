//! `aur mem import`: an exported index takes the place of the one that is there.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};

use aurora_confined::{Refusal, open_regular, refusal_of};
use aurora_project::user;
use aurora_storage::{Arrival, Environment, Workers};
use clap::{Args, ValueEnum};

use crate::commands::mem::export::{contents, write_commit};
use crate::context::args::{OwnerArg, ReportFormat};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::{opened, place};
use crate::output::{json, sanitize, time};

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

/// Make an exported index that of a directory, or read entries into a memory
#[derive(Debug, Args)]
#[command(after_help = IMPORT_EXAMPLES)]
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

/// Verifies the artefact, puts it into place and says what came.
pub(crate) fn run(args: &ImportArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let project = program.project(place::for_search(args.root.as_deref())?);
    let (mut input, name): (Box<dyn Read>, &Path) = match args.file.as_path() {
        dash if dash == Path::new("-") => (Box::new(std::io::stdin().lock()), Path::new("standard input")),
        file => (Box::new(BufReader::new(open(file)?)), file),
    };
    let shown = project.root().display().to_string();
    let (known, workers) = (&user::trust().known, Workers::default());
    let arrival = Arrival { name, root: &shown, now: time::now(), known, workers };
    let imported = Environment::import(&project.directory(), &mut input, arrival).map_err(opened::failure)?;
    project.record().map_err(opened::failure)?;
    if !imported.complete {
        terminal.warn("the index is not complete: the run that made it was stopped before it had seen every file, could not read all of them, or lacks results of stages");
    }
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &imported)?,
        ReportFormat::Text => {
            writeln!(out, "Imported {} into {}", contents(&imported), sanitize::line(&shown))?;
            write_commit(&mut out, &imported)?;
        }
    }
    Ok(out.flush()?)
}

/// Opens a regular file that the user has named. Pipes and devices are refused, because opening or reading one may wait without
/// end.
pub(crate) fn open(path: &Path) -> Outcome<File> {
    open_regular(path).map_err(|error| {
        let shown = path.display();
        match refusal_of(&error) {
            Some(Refusal::NotRegular) if path.is_dir() => Failure::new(format!("{shown} is a directory"))
                .with_help("give the file that `aur mem export` has written"),
            Some(Refusal::NotRegular) => Failure::new(format!("cannot open {shown}: {error}"))
                .with_help("`-` reads standard input, which may be a pipe"),
            _ => Failure::new(format!("cannot open {shown}: {error}")),
        }
    })
}
