//! `aur mem roots`: lists the directories that the user has indexed.

use std::io::Write;
use std::path::Path;

use aurora_project::{chain, indexed_roots, prune_roots, root_names, stamp};
use aurora_query::explain::relative_time;
use clap::Args;
use serde::Serialize;

use crate::context::{Outcome, Program, ReportFormat};
use crate::output::{Role, sanitize, units};

/// List the directories that you have indexed
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem roots                           name, path, file and chunk counts, and age of each index
  aur mem search retry --root app --root lib
  aur mem search retry --all-roots
  aur mem roots --prune --dry-run         directories whose index no longer exists

The name of a root is the name of its directory; equal names are prefixed with the parent directory.")]
pub(crate) struct RootsArgs {
    /// Forget the indexes that no longer exist, and list their directories
    #[arg(long)]
    pub(crate) prune: bool,

    /// With --prune: list the directories without forgetting their indexes
    #[arg(long, requires = "prune")]
    pub(crate) dry_run: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// A directory that the user has indexed.
#[derive(Debug, Serialize)]
struct KnownRoot {
    name: String,
    path: String,
    #[serde(flatten)]
    state: IndexState,
}

/// Statistics of an index, or the error of opening the index.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum IndexState {
    Index {
        files: u64,
        chunks: u64,
        /// Time of publication.
        updated: String,
        #[serde(skip)]
        seconds: i64,
    },
    Unusable {
        error: String,
    },
}

/// The result of `--prune`.
#[derive(Debug, Serialize)]
struct PruneReport {
    dry_run: bool,
    /// Directories whose index no longer exists.
    removed: Vec<String>,
}

pub(crate) fn run(args: &RootsArgs, program: &Program) -> Outcome {
    if args.prune {
        return prune(args, program);
    }
    let paths = indexed_roots();
    let names = root_names(&paths.iter().map(|path| path.as_path()).collect::<Vec<_>>());
    let roots: Vec<KnownRoot> =
        names.into_iter().zip(&paths).map(|(name, path)| open_root(name, path, program)).collect();
    let terminal = &program.terminal;
    if roots.is_empty() && args.format == ReportFormat::Text {
        terminal.note("there are no known indexes; `aur mem index PATH` builds one");
    }
    terminal.print(args.format, &roots, |out| {
        roots.iter().try_for_each(|root| {
            let name = terminal.out.paint(Role::Path, &sanitize::line(&root.name));
            writeln!(out, "{name}  {}\n    {}", sanitize::line(&root.path), describe(&root.state))
        })
    })
}

/// Forgets the indexes that no longer exist.
fn prune(args: &RootsArgs, program: &Program) -> Outcome {
    let removed = prune_roots(args.dry_run)?;
    let report =
        PruneReport { dry_run: args.dry_run, removed: removed.iter().map(|path| path.display().to_string()).collect() };
    program.terminal.print(args.format, &report, |out| {
        report.removed.iter().try_for_each(|path| writeln!(out, "{}", sanitize::line(path)))?;
        let verb = if args.dry_run { "would be removed" } else { "removed" };
        writeln!(out, "{} {verb}", units::counted(report.removed.len() as u64, "root"))
    })
}

fn open_root(name: String, path: &Path, program: &Program) -> KnownRoot {
    let state = match program.project(path.to_owned()).snapshot() {
        Ok(snapshot) => {
            let manifest = snapshot.manifest();
            IndexState::Index {
                files: manifest.file_count,
                chunks: manifest.chunk_count,
                updated: stamp(manifest.updated),
                seconds: manifest.updated,
            }
        }
        Err(error) => IndexState::Unusable { error: chain(&error) },
    };
    KnownRoot { name, path: path.display().to_string(), state }
}

fn describe(state: &IndexState) -> String {
    match state {
        IndexState::Index { files, chunks, seconds, .. } => {
            let (files, chunks) = (units::counted(*files, "file"), units::counted(*chunks, "chunk"));
            format!("{files}, {chunks}, updated {}", relative_time(*seconds, aurora_clock::now_seconds()))
        }
        IndexState::Unusable { error } => sanitize::line(error),
    }
}
