//! `aur mem export`: writes the index to one file.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use aurora_memory::{Memory, MemoryError, Owner};
use aurora_storage::{ArtefactManifest, Snapshot, Workers};
use clap::Args;
use serde_json::json;

use crate::context::{Failure, IndexReportArgs, Outcome, PROGRAM, Program, Terminal, memories, place};
use crate::output::{json, sanitize, units};

/// Write the index or a memory to one file, for other machines
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem export nightly.aur                 everything that a search needs
  aur mem export - | ssh build aur mem import -
  aur mem export nightly.aur --format json   print the manifest: commit, counts, checksums
  aur mem export --memory user memory.jsonl  the entries of a memory, one per line
  aur mem export --memory project | jq .entry

The same tree, configuration and program produce the same bytes, no matter how the index was built.
An existing FILE is replaced in one step at the end.")]
pub(crate) struct ExportArgs {
    /// File to write; `-` is standard output [default for a memory: `-`]
    #[arg(required_unless_present = "memory")]
    pub(crate) file: Option<PathBuf>,

    /// Export a memory instead of the index, as lines of JSON
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Writes the artefact and prints a summary of its content.
pub(crate) fn run(args: &ExportArgs, program: &Program) -> Outcome {
    if let Some(owner) = args.memory {
        return export_memory(args, owner, program);
    }
    let terminal = &program.terminal;
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    let file = match args.file.as_deref() {
        Some(file) if file != Path::new("-") => file,
        _ => return to_stdout(&snapshot, terminal),
    };
    check_target(file, project.root())?;
    let manifest = snapshot.export(file, PROGRAM, Workers::default())?;
    if !manifest.complete {
        terminal.warn("the index is incomplete: the last run was stopped early, could not read every file, or lacks stage results");
    }
    terminal.print(args.index.format, &manifest, |out| {
        let size = file.metadata().map_or(manifest.compressed(), |metadata| metadata.len());
        let (size, index) = (units::bytes(size), units::bytes(project.index_bytes()));
        let file = sanitize::line(&file.display().to_string());
        writeln!(out, "Exported {} to {file}", contents(&manifest))?;
        writeln!(out, "  Size:    {size} (the index: {index})")?;
        write_commit(out, &manifest)
    })
}

/// Checks that the output file is not a symbolic link with which the repository could redirect the output.
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

fn to_stdout(snapshot: &Snapshot, terminal: &Terminal) -> Outcome {
    if std::io::stdout().is_terminal() {
        return Err(Failure::new("refusing to write an exported index to a terminal")
            .with_help("give a FILE, or pipe the output"));
    }
    let mut out = terminal.stdout();
    let manifest = snapshot.export_to(&mut out, Path::new("standard output"), PROGRAM, Workers::default())?;
    out.flush()?;
    terminal.note(&format!("exported {}", contents(&manifest)));
    Ok(())
}

/// Describes the content of an artefact in words.
pub(crate) fn contents(manifest: &ArtefactManifest) -> String {
    let (files, chunks) = (units::counted(manifest.files, "file"), units::counted(manifest.chunks.into(), "chunk"));
    format!("{files}, {chunks} and {}", units::counted(manifest.vectors, "vector"))
}

/// Writes the line with the commit of an artefact.
pub(crate) fn write_commit(out: &mut impl Write, manifest: &ArtefactManifest) -> std::io::Result<()> {
    match &manifest.head_commit {
        Some(commit) => writeln!(out, "  Commit:  {}", sanitize::line(commit)),
        None => Ok(()),
    }
}

/// Writes the entries of a memory as lines of JSON to a file or to standard output.
fn export_memory(args: &ExportArgs, owner: Owner, program: &Program) -> Outcome {
    let root = place::for_search(args.index.root.as_deref())?;
    let memory = memories::owned(owner, &root)?;
    let file = match args.file.as_deref() {
        Some(file) if file != Path::new("-") => file,
        _ => return entries_to_stdout(&memory, &program.terminal),
    };
    check_target(file, &root)?;
    let entries = memory.export_to(file)?;
    program.terminal.print(args.index.format, &json!({ "entries": entries }), |out| {
        let file = sanitize::line(&file.display().to_string());
        writeln!(out, "Exported {} to {file}", units::counted(entries, "entry"))
    })
}

fn entries_to_stdout(memory: &Memory, terminal: &Terminal) -> Outcome {
    let mut out = terminal.stdout();
    let name = Path::new("standard output");
    let exported = memory.export(&mut json::SafeJson::new(&mut out), name);
    let entries = exported.map_err(|error| match error {
        MemoryError::Io { source, .. } => Failure::from(source),
        error => error.into(),
    })?;
    out.flush()?;
    terminal.note(&format!("exported {}", units::counted(entries, "entry")));
    Ok(())
}
