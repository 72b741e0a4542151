//! `aur mem export`: writes the index to one file.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use aurora_memory::Owner;
use aurora_storage::{ArtefactManifest, Workers};
use clap::Args;

use crate::context::args::ReportFormat;
use crate::context::failure::{Failure, Outcome};
use crate::context::opened;
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::output::{json, sanitize, units};

pub(crate) const EXPORT_EXAMPLES: &str = "\
Examples:
  aur mem export nightly.aur                 everything that a search needs
  aur mem export - | ssh build aur mem import -
  aur mem export nightly.aur --format json   print the manifest: commit, counts, checksums
  aur mem export --memory user memory.jsonl  the entries of a memory, one per line
  aur mem export --memory project | jq .entry

The same tree, configuration and program produce the same bytes, no matter how the index was built.
An existing FILE is replaced in one step at the end.";

/// Write the index or a memory to one file, for other machines
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// File to write; `-` is standard output [default for a memory: `-`]
    #[arg(required_unless_present = "memory")]
    pub(crate) file: Option<PathBuf>,

    /// Export a memory instead of the index, as lines of JSON
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Name and version of this program in artefacts.
const PROGRAM: &str = concat!("aur ", env!("CARGO_PKG_VERSION"));

/// Writes the artefact and prints a summary of its content.
pub(crate) fn run(args: &ExportArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let (project, snapshot) = opened::open(args.root.as_deref(), program)?;
    let file = match args.file.as_deref() {
        None => return to_stdout(&snapshot, terminal),
        Some(dash) if dash == Path::new("-") => return to_stdout(&snapshot, terminal),
        Some(file) => file,
    };
    check_target(file, project.root())?;
    let manifest = snapshot.export(file, PROGRAM, Workers::default()).map_err(opened::failure)?;
    if !manifest.complete {
        terminal.warn("the index is incomplete: the last run was stopped early, could not read every file, or lacks stage results");
    }
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &manifest)?,
        ReportFormat::Text => {
            let size = file.metadata().map_or(manifest.compressed(), |metadata| metadata.len());
            let file = sanitize::line(&file.display().to_string());
            writeln!(out, "Exported {} to {file}", contents(&manifest))?;
            let index = project.index_bytes();
            writeln!(out, "  Size:    {} (the index: {})", units::bytes(size), units::bytes(index))?;
            write_commit(&mut out, &manifest)?;
        }
    }
    Ok(out.flush()?)
}

/// Refuses an output file that a repository may have chosen.
pub(crate) fn check_target(file: &Path, root: &Path) -> Outcome {
    if is_link_within(file, root) {
        return Err(Failure::new(format!("{} is a symbolic link inside the indexed tree", file.display()))
            .with_help("if you mean the target of the link, give its path"));
    }
    Ok(())
}

/// Whether a file is a symbolic link inside the indexed tree, which the repository may have created.
fn is_link_within(file: &Path, root: &Path) -> bool {
    let is_link = file.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let lies_within = || directory.canonicalize().ok()?.strip_prefix(root.canonicalize().ok()?).ok().map(drop);
    is_link && lies_within().is_some()
}

fn to_stdout(snapshot: &aurora_storage::Snapshot, terminal: &Terminal) -> Outcome {
    if std::io::stdout().is_terminal() {
        return Err(Failure::new("refusing to write an exported index to a terminal")
            .with_help("give a FILE, or pipe the output"));
    }
    let mut out = terminal.stdout();
    let manifest = snapshot.export_to(&mut out, Path::new("standard output"), PROGRAM, Workers::default());
    let manifest = manifest.map_err(opened::failure)?;
    out.flush()?;
    terminal.note(&format!("exported {}", contents(&manifest)));
    Ok(())
}

/// Describes the content of an artefact in words.
pub(crate) fn contents(manifest: &ArtefactManifest) -> String {
    format!(
        "{}, {} and {}",
        units::counted(manifest.files, "file"),
        units::counted(u64::from(manifest.chunks), "chunk"),
        units::counted(manifest.vectors, "vector"),
    )
}

/// Writes the line with the commit of an artefact.
pub(crate) fn write_commit(out: &mut impl Write, manifest: &ArtefactManifest) -> std::io::Result<()> {
    match &manifest.head_commit {
        Some(commit) => writeln!(out, "  Commit:  {}", sanitize::line(commit)),
        None => Ok(()),
    }
}
