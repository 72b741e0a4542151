//! `aur mem index`: brings the index of a directory up to date.

mod annotations;
mod job;
mod quality;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use aurora_pipeline::{MAX_WORKERS, PlannedStage};
use aurora_project::run_report::{IndexReport, StopReason, checks};
use aurora_stages::index::{self as indexing, Deadline, GitUse, IndexError, IndexOptions, IndexSummary, RunRecord};
use aurora_storage::{Environment, OpenMode, ProjectDirectory};
use aurora_suggest::did_you_mean;
use clap::Args;

use crate::commands::mem::shard::{self, ShardArgs};
use crate::context::indexing::{build, print_problems};
use crate::context::{
    Failure, Outcome, Program, Purpose, ReportFormat, Untrusted, args, configurations, memories, pipeline_choice,
    place, programs,
};
use crate::output::{json, progress, summary};
use job::{Job, JobArgs};

/// Index a directory; unchanged files are not processed again
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem index                           index the current directory
  aur mem index ~/src/app --jobs 4        index another directory with four workers
  aur mem index --pipeline lexical        keywords only, no embeddings
  aur mem index --pipeline ci/nightly.toml --min-coverage 95 --format json
  aur mem index --shard 2/8 --output 2.part
  aur mem index --report report --thresholds ci/thresholds.toml --deadline 45m

The index is written to PATH/.aurora, which git ignores. Ctrl-C stops cleanly: committed work is
kept, and the next run continues from there.")]
pub(crate) struct IndexArgs {
    /// Directory to index [default: the current directory]
    pub(crate) path: Option<PathBuf>,

    /// Pipeline file, or name of a built-in pipeline: default, lexical, nightly
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,

    /// Process every file again, even if it is unchanged
    #[arg(long)]
    pub(crate) force: bool,

    /// Do not use git: attribute no lines to commits, and detect changes by times and content; later updates by searches
    /// and servers do not use git either
    #[arg(long)]
    pub(crate) no_git: bool,

    /// Exit with 2 if there is no index to update, instead of building one
    #[arg(long, conflicts_with = "force")]
    pub(crate) require_index: bool,

    /// Number of worker threads [default: one per core]
    #[arg(long, short = 'j', value_name = "N", value_parser = args::whole_number(1..=MAX_WORKERS))]
    pub(crate) jobs: Option<usize>,

    /// Maximum memory for batches in flight, such as 512MiB or 2GiB
    #[arg(long, value_name = "SIZE", value_parser = args::parse_size)]
    pub(crate) memory: Option<u64>,

    #[command(flatten)]
    pub(crate) job: JobArgs,

    /// Action for stages whose programs you have not allowed with `aur plugin trust` [default: fail; keep for an
    /// imported index]
    #[arg(long, value_name = "ACTION", value_enum)]
    pub(crate) untrusted: Option<Untrusted>,

    /// Exit with 1 only if this stage fails on more rows; may be given more than once
    #[arg(long, value_name = "STAGE=N", value_parser = args::parse_named::<u64>)]
    pub(crate) max_failed_rows: Vec<(String, u64)>,

    /// Exit with 1 if fewer chunks have a value in this column; may be given more than once
    #[arg(long, value_name = "COLUMN=PCT", value_parser = args::parse_named_percent)]
    pub(crate) min_column: Vec<(String, f64)>,

    #[command(flatten)]
    pub(crate) part: ShardArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,

    /// Print neither progress nor the text summary; errors and warnings are still printed
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Runs the pipeline, prints a summary, and writes the report if one is requested.
pub(crate) fn run(args: &IndexArgs, program: &Program) -> Outcome {
    let begun = Instant::now();
    let root = place::for_index(args.path.as_deref()).map_err(|failure| mistaken_query(failure, args))?;
    configurations::warn_ignored(Some(&root), &program.terminal);
    let job = Job::open(&args.job, &root, begun, program)?;
    let finished = index(args, &root, begun, &job, program);
    job.finish(finished, program)
}

/// Runs the pipeline and checks the requirements. Returns the report of a run that has not failed.
fn index(args: &IndexArgs, root: &Path, begun: Instant, job: &Job, program: &Program) -> Outcome<IndexReport> {
    let mut options = IndexOptions {
        pipeline: pipeline_choice::choice(args.pipeline.as_deref())?,
        git: if args.no_git { GitUse::Off } else { GitUse::On },
        force: args.force,
        records: false,
        requires_index: args.require_index,
        jobs: args.jobs,
        memory: args.memory,
        ..program.options(root)?
    };
    let thresholds = job::thresholds(&args.job, &mut options)?;
    let columns = args.min_column.iter().map(|(column, least)| (short_name(column).to_owned(), *least));
    options.max_failed_rows.extend(args.max_failed_rows.iter().cloned());
    options.min_columns.extend(columns);
    check_thresholds(&options)?;
    let part = args.part.shard.zip(args.part.output.as_deref());
    if let Some((_, target)) = part {
        shard::check_output(target, &options.root)?;
        args.part.history.iter().try_for_each(|file| shard::check_history(file, &options.root))?;
    }
    let golden = quality::gather(&thresholds.quality, root)?;
    let untrusted = args.untrusted.unwrap_or_else(|| default_for(&options));
    let options = programs::allowed(options, untrusted, Purpose::Index, &program.terminal)?;
    let progress = if args.quiet {
        progress::IndexProgress::hidden()
    } else {
        progress::IndexProgress::visible(program.shows_progress(false))
    };
    let deadline = args.job.deadline.and_then(|time| begun.checked_add(time));
    let deadline = deadline.map(|at| Deadline::start(&options.cancel, at));
    let is_late = || deadline.as_ref().is_some_and(Deadline::is_reached);
    let is_text = args.format == ReportFormat::Text && !args.quiet;
    let built = match part {
        Some((number, target)) => {
            shard::build(number, target, args.part.history.as_deref(), &options, &progress, program, is_text)
        }
        None => build(&options, &progress, program),
    };
    let mut summary = built.map_err(|failure| match failure {
        Failure::Interrupted(kept) if is_late() => {
            Failure::Short(format!("the deadline was reached while another process was writing the index; {kept}"))
        }
        failure => failure,
    })?;
    if part.is_none() {
        record_content(&options, program);
    }
    if args.force {
        memories::repair_indexes(&options.root, &program.terminal);
    }
    let stopped = (options.cancel.is_cancelled() && !summary.complete)
        .then(|| if is_late() { StopReason::Deadline } else { StopReason::Interrupt });
    let mut record = RunRecord::from_summary(&summary);
    let mut checks = checks(&thresholds, &summary, stopped, &options.left_out, job.history.last_good());
    let measured = match stopped {
        Some(_) => quality::not_measured(&thresholds.quality),
        None => quality::measure(&thresholds.quality, golden, &job.history.good_scores, root, program),
    };
    checks.extend(measured.checks);
    record.quality = measured.quality;
    record.violations = checks.iter().filter_map(|check| check.violation.clone()).collect();
    record.good = Some(record.violations.is_empty());
    if part.is_none() && (job.is_reported() || !summary.nothing_changed) {
        record = indexing::record_run(&options.root, record, measured.scores);
    }
    summary.violations.clone_from(&record.violations);
    print_summary(args, &summary, program)?;
    Ok(IndexReport::from_summary(summary, stopped, record, checks, &job.history))
}

fn print_summary(args: &IndexArgs, summary: &IndexSummary, program: &Program) -> Outcome {
    match args.format {
        ReportFormat::Json => program.terminal.write(|out| json::write_line(out, summary)),
        ReportFormat::Text if args.quiet || args.part.shard.is_some() => {
            print_problems(summary, &program.terminal);
            Ok(())
        }
        ReportFormat::Text => {
            let text = summary::render(summary, program.terminal.out);
            program.terminal.write(|out| out.write_all(text.as_bytes()))
        }
    }
}

/// Removes the table from the name of a column, because the index stores only the rest of the name.
fn short_name(column: &str) -> &str {
    ["file.", "chunk."].into_iter().find_map(|table| column.strip_prefix(table)).unwrap_or(column)
}

/// Checks that the pipeline has the stages and columns for which the user has set thresholds.
fn check_thresholds(options: &IndexOptions) -> Outcome {
    if options.max_failed_rows.is_empty() && options.min_columns.is_empty() {
        return Ok(());
    }
    let plan = indexing::plan(options)?;
    let columns = indexing::custom_columns(&plan).map_err(IndexError::Pipeline)?;
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

/// Returns the default action for programs that are not allowed. An imported index keeps the values that were computed
/// elsewhere, until a run includes all stages.
fn default_for(options: &IndexOptions) -> Untrusted {
    let directory = ProjectDirectory::in_root(&options.root);
    let snapshot =
        Environment::open(directory.path(), OpenMode::Existing).and_then(|environment| environment.snapshot());
    let is_imported = snapshot.is_ok_and(|snapshot| {
        let manifest = snapshot.manifest();
        manifest.imported || manifest.unfinished.imported
    });
    if is_imported { Untrusted::Keep } else { Untrusted::Fail }
}

/// Records the content of the index in the user's directory. A copy of the index in another location is then trusted,
/// as long as the user's directory, or a copy of it, contains the record.
fn record_content(options: &IndexOptions, program: &Program) {
    let directory = ProjectDirectory::in_root(&options.root);
    let Ok(snapshot) = program.project(options.root.clone()).any_snapshot() else { return };
    if let Err(error) = options.trust.known.record_content(directory.path(), &snapshot) {
        program.terminal.note(&format!("a copy of this index in another location will not be trusted: {error}"));
    }
}

/// Adds a hint for input such as `aur mem index of files`, which is more likely a query than a directory.
fn mistaken_query(failure: Failure, args: &IndexArgs) -> Failure {
    match &args.path {
        Some(path) if !path.exists() => {
            failure.with_help(format!("to search for these words: aur mem search \"index {}\"", path.display()))
        }
        _ => failure,
    }
}
