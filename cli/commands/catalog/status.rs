//! `aur catalog status`: lists the repositories of a catalogue and their indexes.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;

use aurora_project::{CatalogRepository, RepositorySource, chain, stamp};
use aurora_query::explain::relative_time;
use clap::Args;
use serde::Serialize;

use crate::context::catalogs::{self, BuildOutcome, BuildResult, CatalogStore};
use crate::context::{Failure, Outcome, Program, ReportFormat};
use crate::output::{Role, sanitize, units};

/// List the repositories of a catalogue, with the state of each index
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur catalog status company.toml
  aur catalog status company.toml --format json

Exit code 1 means that the last run of a repository failed, or that a repository has no index.")]
pub(crate) struct CatalogStatusArgs {
    /// The catalogue, a TOML file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    format: ReportFormat,
}

/// A repository and its index.
#[derive(Debug, Serialize)]
struct RepositoryStatus {
    name: String,
    /// The indexed directory.
    path: String,
    /// The URL of a remote repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<String>,
    groups: BTreeSet<String>,
    owners: BTreeSet<String>,
    /// The published generation; `None` if there is no index, or if it cannot be opened.
    index: Option<IndexStatus>,
    /// The reason why the index cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// The result of the last index run.
    last: Option<BuildResult>,
}

#[derive(Debug, Serialize)]
struct IndexStatus {
    files: u64,
    chunks: u64,
    /// The commit that was checked out during the index run.
    commit: Option<String>,
    /// Whether the run has finished.
    complete: bool,
    /// Time of publication.
    updated: String,
    age_seconds: i64,
}

impl RepositoryStatus {
    /// Whether the repository has an index, and its last run did not fail.
    fn is_good(&self) -> bool {
        self.index.is_some() && self.last.as_ref().is_none_or(|last| last.outcome != BuildOutcome::Failed)
    }

    fn describe(&self, now: i64) -> String {
        let index = match (&self.index, &self.error) {
            (Some(index), _) => format!(
                "{}, {}, updated {}",
                units::counted(index.files, "file"),
                units::counted(index.chunks, "chunk"),
                relative_time(now - index.age_seconds, now)
            ),
            (None, Some(error)) => sanitize::line(error),
            (None, None) => "no index".to_owned(),
        };
        let failed = self.last.as_ref().filter(|last| last.outcome == BuildOutcome::Failed);
        match failed {
            Some(last) => {
                let reason = last.message.as_deref().unwrap_or_default();
                format!(
                    "{index}; the last run failed {}: {}",
                    relative_time(last.finished, now),
                    sanitize::line(reason)
                )
            }
            None => index,
        }
    }
}

pub(crate) fn run(args: &CatalogStatusArgs, program: &Program) -> Outcome {
    let (catalog, store) = (catalogs::load(&args.file)?, CatalogStore::open(&args.file)?);
    let (now, mut results) = (aurora_clock::now_seconds(), store.results());
    let status = |of: CatalogRepository| {
        let root = store.root(&of);
        let project = program.project(root.clone());
        let (index, error) = match project.snapshot() {
            _ if !project.has_index() => (None, None),
            Err(error) => (None, Some(chain(&error))),
            Ok(snapshot) => {
                let manifest = snapshot.manifest();
                let index = IndexStatus {
                    files: manifest.file_count,
                    chunks: manifest.chunk_count,
                    commit: manifest.head_commit.clone(),
                    complete: manifest.complete,
                    updated: stamp(manifest.updated),
                    age_seconds: (now - manifest.updated).max(0),
                };
                (Some(index), None)
            }
        };
        let (url, branch) = match of.source {
            RepositorySource::Directory(_) => (None, None),
            RepositorySource::Remote { url, branch } => (Some(url), branch),
        };
        let (last, path) = (results.remove(&of.name), root.display().to_string());
        RepositoryStatus { name: of.name, path, url, branch, groups: of.groups, owners: of.owners, index, error, last }
    };
    let found: Vec<RepositoryStatus> = catalog.repositories.into_iter().map(status).collect();
    let terminal = &program.terminal;
    terminal.print(args.format, &found, |out| {
        found.iter().try_for_each(|of| {
            let name = terminal.out.paint(Role::Path, &of.name);
            let groups = Vec::from_iter(&of.groups).into_iter().map(|group| sanitize::line(group)).collect::<Vec<_>>();
            writeln!(out, "{name}  {}\n    {}", groups.join(", "), of.describe(now))
        })
    })?;
    match found.iter().filter(|of| !of.is_good()).count() {
        0 => Ok(()),
        count => Err(Failure::Short(format!("{} without a good index", units::counted(count as u64, "repository")))),
    }
}
