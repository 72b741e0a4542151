//! `aur catalog build`: brings the index of each repository of a catalogue up to date.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use aurora_pipeline::CancelToken;
use aurora_project::{Catalog, CatalogRepository, RepositorySource};
use clap::Args;

use crate::commands::catalog::clone;
use crate::context::catalogs::{self, BuildOutcome, BuildResult, CatalogStore};
use crate::context::{Failure, Outcome, Program, interrupt};
use crate::output::{Role, sanitize, units};

/// Index every repository of a catalogue that has changed
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur catalog build company.toml
  aur catalog build company.toml --jobs 8 --group payments

A repository that fails keeps its last good index, and the other repositories are still indexed. Exit
code 1 means that at least one repository failed; `aur catalog status` lists them.")]
pub(crate) struct BuildCatalogArgs {
    /// The catalogue, a TOML file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Number of repositories that are indexed at the same time [default: `jobs` of the catalogue, or 1]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,

    /// Only repositories of this group; may be given more than once
    #[arg(long, value_name = "GROUP")]
    group: Vec<String>,
}

pub(crate) fn run(args: &BuildCatalogArgs, program: &Program) -> Outcome {
    let catalog = catalogs::load(&args.file)?;
    let mut store = CatalogStore::open(&args.file)?;
    store.create()?;
    let is_wanted =
        |of: &&CatalogRepository| args.group.is_empty() || args.group.iter().any(|group| of.groups.contains(group));
    let wanted: Vec<&CatalogRepository> = catalog.repositories.iter().filter(is_wanted).collect();
    if wanted.is_empty() {
        return Err(Failure::new("no repository of the catalogue is in these groups"));
    }
    let own = std::env::current_exe().map_err(|error| Failure::new(format!("cannot find this program: {error}")))?;
    let cancel = CancelToken::new();
    interrupt::cancels(&cancel, "unfinished repositories keep their last good index");
    let builds = Builds {
        wanted: &wanted,
        store: &store,
        own: &own,
        cancel: &cancel,
        program,
        next: AtomicUsize::new(0),
        results: Mutex::new(previous_results(&store, &catalog)),
    };
    let jobs = args.jobs.map_or(catalog.jobs, NonZeroUsize::get).min(wanted.len());
    let begin = Instant::now();
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| builds.work());
        }
    });
    if cancel.is_cancelled() {
        return Err(Failure::Interrupted("finished repositories are indexed".to_owned()));
    }
    let results = builds.results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let count = |outcome: BuildOutcome| {
        wanted.iter().filter(|of| results.get(&of.name).is_some_and(|result| result.outcome == outcome)).count()
    };
    let (failed, incomplete) = (count(BuildOutcome::Failed), count(BuildOutcome::Incomplete));
    let done = units::counted((wanted.len() - failed) as u64, "repository");
    program.terminal.line(&format!("{done} up to date in {}", units::duration(begin.elapsed())))?;
    match (failed, incomplete) {
        (0, 0) => Ok(()),
        (0, _) => Err(Failure::Short(format!("{incomplete} with something to report"))),
        _ => Err(Failure::Short(format!("{} failed", units::counted(failed as u64, "repository")))),
    }
}

/// Returns the results of the repositories that the catalogue still lists.
fn previous_results(store: &CatalogStore, catalog: &Catalog) -> BTreeMap<String, BuildResult> {
    let mut results = store.results();
    results.retain(|name, _| catalog.repositories.iter().any(|of| of.name == *name));
    results
}

/// Index runs of several repositories.
struct Builds<'a> {
    wanted: &'a [&'a CatalogRepository],
    store: &'a CatalogStore,
    /// The path of this program, which runs once for each repository.
    own: &'a Path,
    cancel: &'a CancelToken,
    program: &'a Program,
    /// Index of the next repository.
    next: AtomicUsize,
    results: Mutex<BTreeMap<String, BuildResult>>,
}

impl Builds<'_> {
    /// Indexes repositories until all are done.
    fn work(&self) {
        while let Some(of) = self.wanted.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            if self.cancel.is_cancelled() {
                return;
            }
            let begin = Instant::now();
            let mut result = self.build(of);
            if self.cancel.is_cancelled() {
                return;
            }
            result.seconds = begin.elapsed().as_secs_f64();
            result.finished = aurora_clock::now_seconds();
            self.finish(of, result);
        }
    }

    /// Brings one repository up to date.
    fn build(&self, of: &CatalogRepository) -> BuildResult {
        let result = |outcome, commit, message| BuildResult { outcome, finished: 0, seconds: 0.0, commit, message };
        let failed = |commit, message| result(BuildOutcome::Failed, commit, Some(message));
        let root = self.store.root(of);
        let mut commit = None;
        if let RepositorySource::Remote { url, branch } = &of.source {
            if let Err(error) = self.store.create_clone(&of.name) {
                return failed(None, format!("cannot create {}: {error}", root.display()));
            }
            match clone::update(url, branch.as_deref(), &root, self.cancel) {
                Ok(found) => commit = Some(found),
                Err(message) => return failed(None, message),
            }
            let known = self.results.lock().unwrap_or_else(PoisonError::into_inner).get(&of.name).cloned();
            let is_same = |result: &BuildResult| result.outcome == BuildOutcome::Indexed && result.commit == commit;
            let has_index = || self.program.project(root.clone()).snapshot().is_ok();
            if let Some(known) = known.filter(is_same).filter(|_| has_index()) {
                return known;
            }
        }
        let mut command = Command::new(self.own);
        command.args(["mem", "index", "--format", "json", "--color", "never", "--"]).arg(&root);
        match clone::output(&mut command, self.cancel) {
            Err(error) => failed(commit, format!("cannot start the index run: {error}")),
            Ok(ended) => {
                let message = || clone::message(&ended, "the index run");
                match ended.code {
                    Some(0) => result(BuildOutcome::Indexed, commit, None),
                    Some(1) => result(BuildOutcome::Incomplete, commit, Some(message())),
                    _ => failed(commit, message()),
                }
            }
        }
    }

    /// Prints and stores the result of a repository.
    fn finish(&self, of: &CatalogRepository, result: BuildResult) {
        let terminal = &self.program.terminal;
        let name = terminal.out.paint(Role::Path, &of.name);
        let text = match (&result.outcome, &result.message) {
            (BuildOutcome::Failed, Some(message)) => format!("failed: {}", sanitize::line(message)),
            (_, Some(message)) => format!("indexed, with something to report: {}", sanitize::line(message)),
            _ => "up to date".to_owned(),
        };
        let time = units::duration(Duration::try_from_secs_f64(result.seconds).unwrap_or_default());
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = terminal.line(&format!("{name}  {text} ({time})"));
        results.insert(of.name.clone(), result);
        if let Err(error) = self.store.write(&results) {
            terminal.warn(&format!("the results cannot be stored: {error}"));
        }
    }
}
