//! `aur mem merge`: combines the parts of an index that several machines have built.

use std::io::Write;
use std::path::PathBuf;

use aurora_project::user;
use aurora_storage::{Environment, ImportContext, Workers};
use clap::Args;

use crate::commands::mem::import::open;
use crate::context::{Outcome, Program, ReportFormat, args};
use crate::output::{sanitize, units};

/// Default of --memory in bytes.
const MEMORY: u64 = 512 << 20;

/// Combine the parts of an index that `aur mem index --shard` has written
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem index --shard 1/4 --output 1.part    on the first of four machines
  aur mem merge *.part                         on one machine, with all four files
  aur mem merge *.part && aur mem index        and then update it to the current tree

The parts may be given in any order. They must be all parts of the same tree, each exactly once,
made by the same pipeline and version. Every part is verified completely before the existing index
is replaced in one step. The index is the same as if one machine had built it.")]
pub(crate) struct MergeArgs {
    /// Files written by `aur mem index --shard`
    #[arg(required = true, value_name = "PART")]
    pub(crate) parts: Vec<PathBuf>,

    /// Directory that receives the index [default: the nearest enclosing directory with an index, or the top of the
    /// work tree]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Maximum memory for data in flight, such as 512MiB or 2GiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = args::parse_size)]
    pub(crate) memory: Option<u64>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Verifies the parts, replaces the index, and prints a summary.
pub(crate) fn run(args: &MergeArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let project = program.find(args.root.as_deref())?;
    let parts = args.parts.iter().map(|path| Ok((path.clone(), open(path)?))).collect::<Outcome<Vec<_>>>()?;
    let shown = project.root().display().to_string();
    let (known, workers) = (&user::trust().known, Workers::default());
    let context =
        ImportContext { name: project.root(), root: &shown, now: aurora_clock::now_seconds(), known, workers };
    let memory = usize::try_from(args.memory.unwrap_or(MEMORY)).unwrap_or(usize::MAX);
    let merged = Environment::merge(&project.directory(), parts, memory, context)?;
    project.record()?;
    if !merged.complete {
        terminal
            .warn("the index is incomplete: a run that built a part could not read every file, or lacks stage results");
    }
    terminal.print(args.format, &merged, |out| {
        let (shards, files) = (units::counted(merged.shards.into(), "part"), units::counted(merged.files, "file"));
        let (chunks, vectors) =
            (units::counted(merged.chunks.into(), "chunk"), units::counted(merged.vectors, "vector"));
        writeln!(out, "Merged {shards} with {files}, {chunks} and {vectors} into {}", sanitize::line(&shown))?;
        match &merged.head_commit {
            Some(commit) => writeln!(out, "  Commit:  {}", sanitize::line(commit)),
            None => Ok(()),
        }
    })
}
