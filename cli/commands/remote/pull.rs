//! `aur remote pull`: replaces the index with one from a remote, and updates it.

use std::io::Write;

use aurora_history::nearest_ancestor;
use aurora_project::{has_sources, user};
use aurora_remote::{Listed, PullContext, RemoteError};
use aurora_stages::index::stored_terms;
use aurora_storage::{FORMAT_VERSION, ImportContext, Workers};
use clap::Args;
use serde_json::json;

use crate::commands::remote::opened::{Opened, RemoteArgs, failure};
use crate::context::{Failure, Outcome, Program, ReportFormat, indexing};
use crate::output::{sanitize, units};

/// Download an index for the current commit or its nearest ancestor, and update it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote pull nightly                    download, verify, replace the index, and update it
  aur remote pull nightly --allow-unsigned   also accept manifests that no trusted key has signed
  aur remote pull nightly --no-update        the index as it was pushed

Only parts that have changed since the last pull are downloaded, and an interrupted pull continues
when it is repeated. The existing index is replaced in one step, after the new index was verified
completely. Nothing is downloaded if the existing index is of the same commit or a later one.")]
pub(crate) struct PullArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Accept manifests that no trusted key has signed
    #[arg(long)]
    pub(crate) allow_unsigned: bool,

    /// Pull the index of this commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) commit: Option<String>,

    /// Replace the existing index even if it is of the same commit or a later one
    #[arg(long)]
    pub(crate) force: bool,

    /// Do not update the index to the working tree
    #[arg(long)]
    pub(crate) no_update: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &PullArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let opened = args.remote.open(args.allow_unsigned, false, program)?;
    let root = opened.project.root().to_owned();
    let manifests = opened.remote.manifests().map_err(failure)?;
    let chosen = match select(args, &opened, &manifests)? {
        Selection::Pull(chosen) => chosen,
        Selection::Current => {
            terminal.print(args.format, &json!({ "pulled": false }), |out| {
                writeln!(out, "The index is already of the newest matching commit or a later one")
            })?;
            return if args.no_update { Ok(()) } else { update(&opened, program) };
        }
    };
    let shown = root.display().to_string();
    let known = user::trust().known;
    let name = std::path::PathBuf::from(format!("manifest {}", chosen.manifest.sequence));
    let import = ImportContext {
        name: &name,
        root: &shown,
        now: aurora_clock::now_seconds(),
        known: &known,
        workers: Workers::default(),
    };
    let directory = opened.project.directory();
    let context = PullContext { directory: &directory, import, terms: &stored_terms, progress: &|_, _| {} };
    let pulled = opened.remote.pull(chosen, context).map_err(failure)?;
    opened.project.record()?;
    let manifest = &chosen.manifest;
    if !manifest.complete {
        terminal.warn("the index is incomplete: the run that built it was stopped early, could not read every file, or lacks stage results");
    }
    terminal.print(args.format, &json!({ "pulled": true, "manifest": chosen, "transfer": pulled }), |out| {
        let (files, chunks) = (units::counted(manifest.files, "file"), units::counted(manifest.chunks.into(), "chunk"));
        writeln!(out, "Pulled {files} and {chunks} into {}", sanitize::line(&shown))?;
        let (new, all) = (units::bytes(pulled.downloaded_bytes), units::bytes(manifest.bytes));
        let parts = units::counted(pulled.downloaded_parts, "part");
        writeln!(out, "  Downloaded: {new} in {parts} (the index: {all})")?;
        match &manifest.commit {
            Some(commit) => writeln!(out, "  Commit:     {}", sanitize::line(commit)),
            None => Ok(()),
        }
    })?;
    if args.no_update { Ok(()) } else { update(&opened, program) }
}

/// Brings the index up to the working tree, if there is one.
fn update(opened: &Opened, program: &Program) -> Outcome {
    if has_sources(opened.project.root()) { indexing::run_for_search(opened.project.root(), program) } else { Ok(()) }
}

/// The manifest to pull.
enum Selection<'m> {
    Pull(&'m Listed),
    /// The existing index is at least as new.
    Current,
}

/// Selects the newest accepted manifest of the nearest ancestor of HEAD, or of the given commit.
fn select<'m>(args: &PullArgs, opened: &Opened, manifests: &'m [Listed]) -> Outcome<Selection<'m>> {
    if manifests.is_empty() {
        return Err(Failure::new("the remote has no manifest").with_help("`aur remote push` writes one"));
    }
    let accepted: Vec<&Listed> = manifests.iter().filter(|listed| opened.remote.accept(listed).is_ok()).collect();
    if accepted.is_empty() {
        // The newest manifest shows the reason.
        opened.remote.accept(&manifests[0]).map_err(failure)?;
    }
    let usable: Vec<&Listed> =
        accepted.iter().copied().filter(|listed| listed.manifest.index_format == FORMAT_VERSION).collect();
    if let (true, Some(listed)) = (usable.is_empty(), accepted.first()) {
        return Err(failure(RemoteError::Version {
            sequence: listed.manifest.sequence,
            found: listed.manifest.index_format,
            expected: FORMAT_VERSION,
            program: sanitize::line(&listed.manifest.program),
        }));
    }
    if let Some(commit) = &args.commit {
        let is_wanted = |listed: &&&Listed| commit.len() >= 7 && commit_of(listed).starts_with(commit.as_str());
        let found = usable.iter().find(is_wanted);
        return found.map(|listed| Selection::Pull(listed)).ok_or_else(|| {
            Failure::new(format!("the remote has no accepted index of commit {}", commit.escape_debug()))
                .with_help(format!("`aur remote list {}` lists the commits", args.remote.name))
        });
    }
    let own = opened.project.snapshot().ok().filter(|_| !args.force);
    let own = own.and_then(|snapshot| snapshot.manifest().head_commit.clone());
    let mut candidates: Vec<&str> = usable.iter().map(|listed| commit_of(listed)).collect();
    candidates.extend(own.as_deref());
    let nearest = nearest_ancestor(opened.project.root(), &candidates)?;
    match nearest {
        Some(nearest) if own.as_deref() == Some(nearest.as_str()) => Ok(Selection::Current),
        Some(nearest) => {
            let found = usable.iter().find(|listed| commit_of(listed) == nearest);
            found.map(|listed| Selection::Pull(listed)).ok_or_else(|| Failure::new("no manifest matches"))
        }
        None => Err(Failure::new("the remote has no index of the current commit or one of its ancestors")
            .with_help(format!("`aur remote list {}` lists the commits, and --commit selects one", args.remote.name))),
    }
}

fn commit_of(listed: &Listed) -> &str {
    listed.manifest.commit.as_deref().unwrap_or_default()
}
