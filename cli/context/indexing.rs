//! Index runs that several commands start.

use std::path::Path;
use std::time::{Duration, Instant};

use aurora_project::{Project, has_sources, user};
use aurora_stages::index::{IndexError, IndexOptions, IndexSummary};
use aurora_storage::{Environment, StorageError};

use crate::context::{Failure, Outcome, Program, Purpose, Terminal, Untrusted, interrupt, programs};
use crate::output::{progress, sanitize, units};

/// Brings the index of a root up to date. Unless `is_quiet` is set, prints progress and a closing line to standard
/// error.
pub(crate) fn run_for_search(root: &Path, is_quiet: bool, program: &Program) -> Outcome {
    let options = without_untrusted(root, program)?;
    let progress = if is_quiet {
        progress::IndexProgress::hidden()
    } else {
        progress::IndexProgress::visible(program.terminal.live)
    };
    let summary = build(&options, &progress, program)?;
    print_problems(&summary, &program.terminal);
    if options.cancel.is_cancelled() {
        return Err(Failure::Interrupted("the index is incomplete; `aur mem index` continues".to_owned()));
    }
    if is_quiet {
        return Ok(());
    }
    let (files, chunks) =
        (units::counted(summary.files.indexed, "file"), units::counted(summary.chunks.total, "chunk"));
    let time = units::duration(Duration::from_millis(summary.elapsed_ms));
    program.terminal.note(&format!("indexed {files} in {time} ({chunks})"));
    Ok(())
}

/// Returns the problem of an index, if a search may rebuild the index: a run of this user has written it, and its
/// sources still exist. A file that may belong to another program is not replaced.
pub(crate) fn repairable(project: &Project, error: &StorageError) -> Option<String> {
    if matches!(error, StorageError::Foreign { .. }) {
        return None;
    }
    let problem = error.unusable_index()?;
    (user::trust().known.has_written_in(&project.directory()) && has_sources(project.root())).then_some(problem)
}

/// Rebuilds a damaged index for a search, and prints a warning. The damaged index is set aside. This process must have
/// closed the index before the call. An index that another process has rebuilt in the meantime is kept.
pub(crate) fn repair(project: &Project, problem: &str, program: &Program) -> Outcome {
    let shown = sanitize::line(&project.root().display().to_string());
    program.terminal.warn(&format!("the index of {shown} cannot be used ({problem}); it is set aside and rebuilt"));
    match Environment::set_aside(&project.directory()) {
        // The other process rebuilds the index; the run waits for it.
        Ok(()) | Err(StorageError::Locked { .. }) => run_for_search(project.root(), false, program),
        Err(error) => Err(error.into()),
    }
}

/// Updates the index of a root without output.
pub(crate) fn update(root: &Path, program: &Program) -> Outcome {
    run_silently(&without_untrusted(root, program)?)
}

/// Updates the index of a copy of an old tree, created by `aur mem eval mine`, without the user's conversation logs.
pub(crate) fn update_mined(root: &Path, program: &Program) -> Outcome {
    run_silently(&IndexOptions { conversations: None, ..without_untrusted(root, program)? })
}

fn run_silently(options: &IndexOptions) -> Outcome {
    aurora_stages::index::run(options, &progress::IndexProgress::hidden())?;
    Ok(())
}

/// Returns the options of a run that skips stages whose programs are not allowed.
fn without_untrusted(root: &Path, program: &Program) -> Outcome<IndexOptions> {
    let options = program.options(root)?;
    programs::allowed(options, Untrusted::Keep, Purpose::Index, &program.terminal)
}

/// Runs the pipeline. Ctrl-C cancels the run.
pub(crate) fn build(
    options: &IndexOptions,
    progress: &progress::IndexProgress,
    program: &Program,
) -> Outcome<IndexSummary> {
    interrupt::cancels(&options.cancel, "writing the batches in flight");
    let summary = run_after_others(options, progress, &program.terminal);
    interrupt::ends(|| {});
    progress.clear();
    if let Ok(summary) = &summary {
        log(summary);
    }
    summary.map_err(|error| match error {
        IndexError::Storage(StorageError::Locked { .. }) if options.cancel.is_cancelled() => {
            Failure::Interrupted("the index is unchanged".to_owned())
        }
        error => error.into(),
    })
}

fn log(summary: &IndexSummary) {
    for stage in &summary.report.stages {
        let (name, batches, busy) = (&stage.name, stage.batches, stage.busy.as_secs_f64() * 1e3);
        tracing::debug!(
            stage = name,
            batches,
            files = stage.files_in,
            chunks = stage.chunks_out,
            busy_ms = busy,
            "stage"
        );
    }
    let IndexSummary { root, generation, published, changed_chunks, elapsed_ms, .. } = summary;
    tracing::info!(root, generation, published, changed_chunks, ms = elapsed_ms, "indexed");
}

/// Maximum waiting time for another process that is writing the index, such as a server that keeps it fresh.
const MAX_WAIT: Duration = Duration::from_secs(600);
/// Interval between two attempts to start a run while another process is writing the index.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// Runs the pipeline as soon as no other process is writing the index.
fn run_after_others(
    options: &IndexOptions,
    progress: &progress::IndexProgress,
    terminal: &Terminal,
) -> Result<IndexSummary, IndexError> {
    let begun = Instant::now();
    let mut has_noted = false;
    loop {
        let done = aurora_stages::index::run(options, progress);
        match &done {
            Err(IndexError::Storage(StorageError::Locked { pid, .. }))
                if begun.elapsed() < MAX_WAIT && !options.cancel.is_cancelled() =>
            {
                if !std::mem::replace(&mut has_noted, true) {
                    let holder = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                    terminal.note(&format!("waiting for {holder}, which is writing the index"));
                }
                std::thread::sleep(RETRY_INTERVAL);
            }
            _ => return done,
        }
    }
}

pub(crate) fn print_problems(summary: &IndexSummary, terminal: &Terminal) {
    for message in summary.errors.iter().chain(&summary.warnings) {
        terminal.warn(message);
    }
}
