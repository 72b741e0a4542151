//! `aur mem index --shard`: indexes one part of a directory and writes the result to a file.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use aurora_stages::index::{self as indexing, IndexOptions, IndexSummary, ShardNumber};
use aurora_storage::{MAX_SHARDS, ProjectDirectory};
use clap::Args;

use crate::commands::mem::export::{check_target, contents, write_commit};
use crate::context::{Failure, Outcome, PROGRAM, Program, interrupt};
use crate::output::{progress, sanitize, units};

/// Arguments for indexing a part of a directory.
#[derive(Debug, Args)]
pub(crate) struct ShardArgs {
    /// Index only this part of the directory, such as 2/8, and write it to --output for `aur mem merge`
    #[arg(
        long,
        value_name = "I/N",
        value_parser = parse_shard,
        requires = "output",
        conflicts_with_all = ["force", "require_index", "report", "thresholds", "deadline"]
    )]
    pub(crate) shard: Option<ShardNumber>,

    /// File in which the parts share the walk over the git history; created if it is missing
    #[arg(long, value_name = "FILE", requires = "shard")]
    pub(crate) history: Option<PathBuf>,

    /// File for the index of the part; an existing file is replaced at the end
    #[arg(long, value_name = "PART", requires = "shard")]
    pub(crate) output: Option<PathBuf>,
}

/// Parses the number of a shard and the number of all shards.
fn parse_shard(text: &str) -> Result<ShardNumber, String> {
    let numbers = || {
        let (number, count) = text.split_once('/')?;
        let (number, count): (u32, NonZeroU32) = (number.parse().ok()?, count.parse().ok()?);
        let is_valid = (1..=MAX_SHARDS).contains(&count.get()) && (1..=count.get()).contains(&number);
        is_valid.then_some(ShardNumber { number, count })
    };
    numbers().ok_or_else(|| {
        format!("expected the number of a part and the number of parts, from 1/1 to {MAX_SHARDS}/{MAX_SHARDS}")
    })
}

/// Checks, before any work, that the output file can be written.
pub(crate) fn check_output(target: &Path, root: &Path) -> Outcome {
    check_target(target, root)?;
    let shown = target.display();
    let directory = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if target == Path::new("-") || target.is_dir() || target.file_name().is_none() {
        return Err(Failure::new(format!("{shown} is not a file")).with_help("give the path of a file to write"));
    }
    match directory.is_dir() {
        true => Ok(()),
        false => Err(Failure::new(format!("cannot write {shown}: {} is not a directory", directory.display()))),
    }
}

/// Checks that the file with the shared history is not indexed, because the parts would then be of different trees.
pub(crate) fn check_history(file: &Path, root: &Path) -> Outcome {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let inside = parent.canonicalize().ok().and_then(|parent| Some(parent.strip_prefix(root).ok()?.to_owned()));
    match inside {
        Some(inside) if !inside.starts_with(ProjectDirectory::NAME) => {
            let failure = Failure::new(format!("{} is in the directory to index", file.display()));
            Err(failure.with_help("give a path outside of it, or below .aurora"))
        }
        _ => Ok(()),
    }
}

/// Indexes a part of the root, and writes it to a file. Ctrl-C cancels the run, and nothing is written.
pub(crate) fn build(
    shard: ShardNumber,
    target: &Path,
    history: Option<&Path>,
    options: &IndexOptions,
    progress: &progress::IndexProgress,
    program: &Program,
    prints: bool,
) -> Outcome<IndexSummary> {
    interrupt::cancels(&options.cancel, "finishing the batches in flight");
    let result = indexing::run_shard(options, shard, target, history, PROGRAM, progress);
    interrupt::ends(|| {});
    progress.clear();
    let (summary, manifest) = result?;
    let Some(manifest) = manifest else {
        return Err(Failure::Interrupted(format!("{} was not written; run the command again", target.display())));
    };
    if prints {
        let bytes = target.metadata().map_or(manifest.compressed(), |metadata| metadata.len());
        let (bytes, target) = (units::bytes(bytes), sanitize::line(&target.display().to_string()));
        program.terminal.write(|out| {
            let (number, count) = (shard.number, shard.count);
            writeln!(out, "Indexed shard {number} of {count}: {} in {target}", contents(&manifest))?;
            writeln!(out, "  Size:    {bytes}")?;
            write_commit(out, &manifest)
        })?;
    }
    Ok(summary)
}
