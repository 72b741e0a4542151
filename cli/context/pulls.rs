//! Pulls an index from a remote, and updates it.

use aurora_history::nearest_ancestor;
use aurora_project::{has_sources, user};
use aurora_remote::{Listed, PullContext, Pulled, RemoteError};
use aurora_stages::index::stored_terms;
use aurora_storage::{FORMAT_VERSION, ImportContext, Workers};

use crate::context::remotes::{Opened, failure, transfer};
use crate::context::{Failure, Outcome, PROGRAM, Program, indexing};
use crate::output::progress::TransferProgress;
use crate::output::sanitize;

/// Description of the data that an interrupted pull leaves behind.
const KEPT: &str = "downloaded parts are kept, and the index is unchanged";

/// Options of a pull.
#[derive(Default)]
pub(crate) struct PullOptions<'a> {
    /// Commit whose index is pulled, instead of HEAD's nearest ancestor.
    pub(crate) commit: Option<&'a str>,
    /// Whether an index of the same commit or a later one is replaced.
    pub(crate) force: bool,
    pub(crate) is_quiet: bool,
}

/// Downloads an index and replaces the index of the project. Returns `None` if the existing index is at least as new.
pub(crate) fn pull(opened: &Opened, options: &PullOptions<'_>, program: &Program) -> Outcome<Option<(Listed, Pulled)>> {
    let progress = TransferProgress::new("Pulling", program.shows_progress(options.is_quiet));
    progress.show_step("reading the manifests");
    let pulled = transfer(&opened.remote, &progress, KEPT, || {
        let manifests = opened.remote.manifests().map_err(failure)?;
        let Selection::Pull(chosen) = select(options, opened, &manifests)? else { return Ok(None) };
        let known = user::trust().known;
        let (root, name) =
            (opened.project.root().display().to_string(), format!("manifest {}", chosen.manifest.sequence));
        let import = ImportContext {
            name: name.as_ref(),
            root: &root,
            now: aurora_clock::now_seconds(),
            known: &known,
            workers: Workers::default(),
        };
        let show = |bytes, total| match bytes >= total {
            true => progress.show_step("checking and importing the index"),
            false => progress.show_bytes(bytes, total, bytes),
        };
        let directory = opened.project.directory();
        let context =
            PullContext { directory: &directory, program: PROGRAM, import, terms: &stored_terms, progress: &show };
        let pulled = opened.remote.pull(chosen, context).map_err(failure)?;
        opened.project.record()?;
        Ok(Some((chosen.clone(), pulled)))
    })?;
    if pulled.as_ref().is_some_and(|(chosen, _)| !chosen.manifest.complete) {
        program.terminal.warn(
            "the index is incomplete: the run that built it was stopped early, could not read every file, or lacks stage \
             results",
        );
    }
    Ok(pulled)
}

/// Brings a pulled index up to the working tree, if there is one.
pub(crate) fn update(opened: &Opened, is_quiet: bool, program: &Program) -> Outcome {
    match has_sources(opened.project.root()) {
        true => indexing::run_for_search(opened.project.root(), is_quiet, program),
        false => Ok(()),
    }
}

/// The manifest to pull.
enum Selection<'m> {
    Pull(&'m Listed),
    /// The existing index is at least as new.
    Current,
}

/// Selects the newest accepted manifest of the nearest ancestor of HEAD, or of the given commit.
fn select<'m>(options: &PullOptions<'_>, opened: &Opened, manifests: &'m [Listed]) -> Outcome<Selection<'m>> {
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
    if let Some(commit) = options.commit {
        let is_wanted = |listed: &&&Listed| commit.len() >= 7 && commit_of(listed).starts_with(commit);
        let found = usable.iter().find(is_wanted);
        return found.map(|listed| Selection::Pull(listed)).ok_or_else(|| {
            Failure::new(format!("the remote has no accepted index of commit {}", commit.escape_debug()))
                .with_help(format!("`aur remote list {}` lists the commits", opened.name))
        });
    }
    let own = opened.project.snapshot().ok().filter(|_| !options.force);
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
            .with_help(format!("`aur remote list {}` lists the commits, and --commit selects one", opened.name))),
    }
}

fn commit_of(listed: &Listed) -> &str {
    listed.manifest.commit.as_deref().unwrap_or_default()
}
