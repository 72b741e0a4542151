//! `aur mem index`: brings the index of a directory up to date.

use std::io::{BufRead, IsTerminal, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use aurora_pipeline::PlannedStage;
use aurora_project::Project;
use aurora_stages::index::{self as indexing, IndexError, IndexOptions, IndexSummary, Unreadable};
use aurora_storage::{Environment, OpenMode, ProjectDirectory, StorageError};
use aurora_suggest::did_you_mean;

use crate::args::IndexArgs;
use crate::args_plugin::Untrusted;
use crate::failure::{Failure, Outcome};
use crate::output::progress::IndexProgress;
use crate::output::{json, sanitize, summary, units};
use crate::program::Program;
use crate::programs::Purpose;
use crate::terminal::Terminal;
use crate::values::ReportFormat;
use crate::{findings, interrupt, memories, place, programs};

/// Runs the pipeline and prints what it did.
pub(crate) fn run(args: &IndexArgs, program: &Program) -> Outcome {
    let root = place::for_index(args.path.as_deref()).map_err(|failure| mistaken_query(failure, args))?;
    let options = IndexOptions {
        pipeline: findings::choice(args.pipeline.as_deref())?,
        force: args.force,
        requires_index: args.require_index,
        jobs: args.jobs,
        memory: args.memory,
        max_failed_rows: args.max_failed_rows.clone(),
        min_columns: args.min_column.iter().map(|(column, least)| (short_name(column).to_owned(), *least)).collect(),
        ..program.project(root).options()?
    };
    check_thresholds(&options, program)?;
    let untrusted = args.untrusted.unwrap_or_else(|| default_for(&options));
    let options = programs::allowed(options, untrusted, Purpose::Index, &program.terminal)?;
    let progress = if args.quiet { IndexProgress::hidden() } else { IndexProgress::shown(program.terminal.live) };
    let summary = build(&options, &progress, program)?;
    record_content(&options, program);
    if args.force {
        memories::mend_indexes(&options.root, &program.terminal);
    }
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_line(&mut out, &summary)?,
        ReportFormat::Text if args.quiet => tell_troubles(&summary, &program.terminal),
        ReportFormat::Text => out.write_all(summary::render(&summary, program.terminal.out).as_bytes())?,
    }
    out.flush()?;
    if options.cancel.is_cancelled() && !summary.complete {
        let kept = if summary.published { "what was finished is kept" } else { "the index is as it was" };
        return Err(Failure::Interrupted(format!("{kept}; run the command again to go on")));
    }
    covered(&summary, args.min_coverage)?;
    readable(&summary)?;
    processed(&summary)?;
    not_left_out(&summary, &options)
}

/// The name of a column without its table, as an index knows it.
fn short_name(column: &str) -> &str {
    ["file.", "chunk."].into_iter().find_map(|table| column.strip_prefix(table)).unwrap_or(column)
}

/// Makes sure that the pipeline has the stages and columns for which thresholds are given.
fn check_thresholds(options: &IndexOptions, program: &Program) -> Outcome {
    if options.max_failed_rows.is_empty() && options.min_columns.is_empty() {
        return Ok(());
    }
    let wrong = |error| findings::failure(error, &program.terminal);
    let plan = indexing::plan(options).map_err(wrong)?;
    let columns = indexing::custom_columns(&plan).map_err(|found| wrong(IndexError::Pipeline(found)))?;
    let custom = plan.stages().iter().filter(|stage| !indexing::is_built_in(stage));
    let stages: Vec<&str> = custom.map(PlannedStage::name).collect();
    let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let unknown = |message: String, name: &str, known: &[&str]| {
        let failure = Failure::new(message);
        match did_you_mean(name, known.iter().copied()) {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    };
    if let Some((name, _)) = options.max_failed_rows.iter().find(|(name, _)| !stages.contains(&name.as_str())) {
        return Err(unknown(format!("the pipeline has no custom stage `{name}`"), name, &stages));
    }
    if let Some((name, _)) = options.min_columns.iter().find(|(name, _)| !columns.contains(&name.as_str())) {
        return Err(unknown(format!("no stage of the pipeline writes a column `{name}`"), name, &columns));
    }
    Ok(())
}

/// The default action for programs that are not allowed: an imported index has values that were made elsewhere, and keeps them
/// until a run leaves no program out.
fn default_for(options: &IndexOptions) -> Untrusted {
    let directory = ProjectDirectory::of(&options.root);
    let snapshot =
        Environment::open(directory.path(), OpenMode::Existing).and_then(|environment| environment.snapshot());
    let is_imported = snapshot.is_ok_and(|snapshot| {
        let manifest = snapshot.manifest();
        manifest.imported || manifest.unfinished.imported
    });
    if is_imported { Untrusted::Keep } else { Untrusted::Fail }
}

/// Records the content of the index, so that a copy of it is trusted that is restored at another place together with the user's
/// directory.
fn record_content(options: &IndexOptions, program: &Program) {
    let home = ProjectDirectory::of(&options.root);
    let Ok(snapshot) = program.project(options.root.clone()).any_snapshot() else { return };
    if let Err(error) = options.trust.known.record_content(home.path(), &snapshot) {
        program.terminal.note(&format!("a copy of this index at another place will not be trusted: {error}"));
    }
}

/// Builds the index of a project that has none, unless `refused`; whether it did.
pub(crate) fn for_search(project: &Project, refused: bool, program: &Program) -> Outcome<bool> {
    if project.has_index() {
        return Ok(false);
    }
    if refused {
        return Err(Failure::new(format!("no index in {}", project.root().display()))
            .with_help("build it with `aur mem index`, or search without --no-index"));
    }
    may_build(project.root(), &program.terminal)?;
    build_for_search(project.root(), program)?;
    Ok(true)
}

/// Entries of a directory that are counted for a question.
const COUNTED_ENTRIES: usize = 10_000;

/// Whether a search may index a root: a project without a question, anything else, such as a home directory, if the user
/// says so on the program.terminal.
pub(crate) fn may_build(root: &Path, terminal: &Terminal) -> Outcome {
    if place::is_project(root) {
        return Ok(());
    }
    let shown = sanitize::line(&root.display().to_string());
    if !terminal.live || !std::io::stdin().is_terminal() {
        return Err(Failure::new(format!("{shown} has no index and is no project, so it is not indexed for a search"))
            .with_help(format!("`aur mem index {shown}` indexes it on purpose")));
    }
    let count = place::entries(root, COUNTED_ENTRIES);
    let more = if count == COUNTED_ENTRIES { " or more" } else { "" };
    let mut err = std::io::stderr().lock();
    let entries = units::counted(count as u64, "entry");
    write!(err, "{shown} is no project. Index it ({entries}{more})? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().take(64).read_line(&mut answer)?;
    if matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::new(format!("{shown} was not indexed")))
}

/// The index of a root that has none, for a search: progress and a closing line on standard
/// error.
pub(crate) fn build_for_search(root: &Path, program: &Program) -> Outcome {
    program.terminal.note(&format!("no index yet, indexing {}", root.display()));
    let options = without_untrusted(root, program)?;
    let summary = build(&options, &IndexProgress::shown(program.terminal.live), program)?;
    tell_troubles(&summary, &program.terminal);
    if options.cancel.is_cancelled() {
        return Err(Failure::Interrupted("the index is not complete; `aur mem index` goes on".to_owned()));
    }
    program.terminal.note(&format!(
        "indexed {} in {} ({})",
        units::counted(summary.files.indexed, "file"),
        units::duration(std::time::Duration::from_millis(summary.elapsed_ms)),
        units::counted(summary.chunks.total, "chunk"),
    ));
    Ok(())
}

/// Updates the index of a root without output.
pub(crate) fn update(root: &Path, program: &Program) -> Outcome {
    run_silently(&without_untrusted(root, program)?, program)
}

/// The same for a copy that mining has made. The logs of the user are no part of it.
pub(crate) fn update_mined(root: &Path, program: &Program) -> Outcome {
    run_silently(&IndexOptions { conversations: None, ..without_untrusted(root, program)? }, program)
}

fn run_silently(options: &IndexOptions, program: &Program) -> Outcome {
    aurora_stages::index::run(options, &IndexProgress::hidden())
        .map_err(|error| findings::failure(error, &program.terminal))?;
    Ok(())
}

/// The options of a run that does not run the stages whose programs are not allowed.
fn without_untrusted(root: &Path, program: &Program) -> Outcome<IndexOptions> {
    let options = program.project(root.to_owned()).options()?;
    programs::allowed(options, Untrusted::Keep, Purpose::Index, &program.terminal)
}

fn build(options: &IndexOptions, progress: &IndexProgress, program: &Program) -> Outcome<IndexSummary> {
    interrupt::cancels(&options.cancel, "what is in flight is being written");
    let summary = run_after_others(options, progress, &program.terminal);
    interrupt::ends(|| {});
    progress.clear();
    summary.map_err(|error| match error {
        IndexError::Storage(StorageError::Locked { .. }) if options.cancel.is_cancelled() => {
            Failure::Interrupted("the index is as it was".to_owned())
        }
        error => findings::failure(error, &program.terminal),
    })
}

/// How long a run waits for another process that writes the index, such as a server that keeps it fresh.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// Time between two tries.
const RETRY: Duration = Duration::from_millis(100);

/// Runs the pipeline when no other process writes the index.
fn run_after_others(
    options: &IndexOptions,
    progress: &IndexProgress,
    terminal: &Terminal,
) -> Result<IndexSummary, IndexError> {
    let begun = Instant::now();
    let mut is_told = false;
    loop {
        let done = aurora_stages::index::run(options, progress);
        match &done {
            Err(IndexError::Storage(StorageError::Locked { pid, .. }))
                if begun.elapsed() < LONGEST_WAIT && !options.cancel.is_cancelled() =>
            {
                if !std::mem::replace(&mut is_told, true) {
                    let holder = pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"));
                    terminal.note(&format!("waiting for {holder}, which writes the index"));
                }
                std::thread::sleep(RETRY);
            }
            _ => return done,
        }
    }
}

fn tell_troubles(summary: &IndexSummary, terminal: &Terminal) {
    for message in summary.errors.iter().chain(&summary.warnings) {
        terminal.warn(message);
    }
}

fn covered(summary: &IndexSummary, least: Option<f64>) -> Outcome {
    match least {
        Some(least) if summary.coverage * 100.0 < least => Err(Failure::Short(format!(
            "coverage is {:.2}%, less than the {least}% asked for: files could not be indexed, or rows of a custom stage have no \
             result",
            (summary.coverage * 10_000.0).floor() / 100.0
        ))),
        _ => Ok(()),
    }
}

/// Files that could not be read give the run exit code 1.
fn readable(summary: &IndexSummary) -> Outcome {
    let Unreadable { entries, kept_files } = summary.unreadable;
    if entries == 0 {
        return Ok(());
    }
    let could_not =
        if entries == 1 { "1 file or directory".to_owned() } else { units::count(entries) + " files or directories" };
    let kept = match kept_files {
        0 => "the index knows nothing of them".to_owned(),
        files => format!("what the index knows of them was kept ({})", units::counted(files, "file")),
    };
    Err(Failure::Short(format!("{could_not} could not be read: {kept}, and the next run tries again")))
}

/// Failed rows and columns with too few values give the run exit code 1.
fn processed(summary: &IndexSummary) -> Outcome {
    if summary.violations.is_empty() { Ok(()) } else { Err(Failure::Short(summary.violations.join("; "))) }
}

/// Stages that were left out give the run exit code 1.
fn not_left_out(summary: &IndexSummary, options: &IndexOptions) -> Outcome {
    if options.left_out.is_empty() {
        return Ok(());
    }
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let removed = match summary.removed_columns.as_slice() {
        [] => String::new(),
        columns => format!("; removed from the index with all values: {}", quoted(columns)),
    };
    Err(Failure::Short(format!(
        "left out, because a program is not allowed: stage {}{removed}",
        quoted(&options.left_out)
    )))
}

/// `aur mem index of files` is more likely a query than a directory.
fn mistaken_query(failure: Failure, args: &IndexArgs) -> Failure {
    match &args.path {
        Some(path) if !path.exists() => {
            failure.with_help(format!("to search for these words: aur mem search \"index {}\"", path.display()))
        }
        _ => failure,
    }
}
