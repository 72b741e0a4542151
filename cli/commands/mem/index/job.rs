//! The report and the requirements of a job.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use aurora_confined::read_regular_to_string;
use aurora_project::run_report::{IndexReport, ReportDirectory, RunThresholds, StopReason};
use aurora_stages::index::{self as indexing, IndexError, IndexOptions, RunHistory};
use clap::Args;

use super::annotations;
use crate::context::{Failure, Outcome, Program, args};
use crate::output::sanitize;

/// Maximum size of a file of thresholds in bytes.
const MAX_THRESHOLDS_BYTES: u64 = 1 << 20;

/// Requirements on the run, and its report.
#[derive(Debug, Args)]
pub(crate) struct JobArgs {
    /// Exit with 1 if the coverage is lower: the share of indexable files that are indexed, or the share of rows for
    /// which a custom stage has a result
    #[arg(long, value_name = "PCT", value_parser = args::parse_percent)]
    pub(crate) min_coverage: Option<f64>,

    /// Write a report of the run to this directory: report.json, report.md, junit.xml, metrics.txt and index.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,

    /// TOML file with requirements on the run; exit with 1 if it violates one
    #[arg(long, value_name = "FILE")]
    pub(crate) thresholds: Option<PathBuf>,

    /// Stop the run cleanly after this time, such as 45m or 1h30m, and exit with 1; the next run continues from there
    #[arg(long, value_name = "TIME", value_parser = args::parse_duration)]
    pub(crate) deadline: Option<Duration>,
}

/// The report and the run history of a job.
pub(super) struct Job<'a> {
    args: &'a JobArgs,
    root: &'a Path,
    begun: Instant,
    report: Option<ReportDirectory>,
    /// The runs before this one. Empty if the index is not trusted.
    pub(super) history: RunHistory,
}

impl<'a> Job<'a> {
    /// Creates the directory of the report, with a report of a run that has not ended. A process that is killed leaves
    /// this report.
    pub(super) fn open(args: &'a JobArgs, root: &'a Path, begun: Instant, program: &Program) -> Outcome<Self> {
        let report = args.report.as_ref().map(|path| ReportDirectory::create(path, root)).transpose();
        let report = report.map_err(|error| unwritten(args, &error))?;
        let mut job = Self { args, root, begun, report, history: RunHistory::default() };
        if job.is_reported() {
            let snapshot = program.project(root.to_owned()).snapshot();
            job.history = snapshot.map(|snapshot| RunHistory::load(root, &snapshot)).unwrap_or_default();
        }
        let error = "the run has not ended: its process was stopped, or it is still running";
        job.write(&IndexReport::from_error(root, error, begun.elapsed(), &job.history))?;
        Ok(job)
    }

    /// Whether the job asks for more than an index, so that its runs are recorded even if they change nothing.
    pub(super) fn is_reported(&self) -> bool {
        let JobArgs { report, thresholds, deadline, min_coverage, .. } = self.args;
        report.is_some() || thresholds.is_some() || deadline.is_some() || min_coverage.is_some()
    }

    /// Writes the report, prints the violations, and returns the outcome of the command.
    pub(super) fn finish(&self, finished: Outcome<IndexReport>, program: &Program) -> Outcome {
        let report = match finished {
            Ok(report) => report,
            Err(failure) => {
                let failed = self.failed(&failure);
                if self.is_reported() {
                    indexing::record_run(self.root, failed.run.clone(), Vec::new());
                }
                self.write(&failed)?;
                annotations::print(&failure.description());
                return Err(failure);
            }
        };
        self.write(&report)?;
        let violations = &report.run.violations;
        if report.stopped == Some(StopReason::Interrupt) {
            let kept = if report.published { "finished work is kept" } else { "the index is unchanged" };
            return Err(Failure::Interrupted(format!("{kept}; run the command again to continue")));
        }
        for violation in violations {
            program.terminal.warn(&annotations::without_commands(violation));
            annotations::print(violation);
        }
        if violations.is_empty() { Ok(()) } else { Err(Failure::Reported) }
    }

    fn failed(&self, failure: &Failure) -> IndexReport {
        let (error, elapsed) = (failure.description(), self.begun.elapsed());
        let stopped = match failure {
            Failure::Interrupted(_) => Some(StopReason::Interrupt),
            // The only failure of this kind is a deadline that is reached before the run begins.
            Failure::Short(_) => Some(StopReason::Deadline),
            _ => None,
        };
        match stopped {
            Some(reason) => IndexReport::from_stop(self.root, reason, &error, elapsed, &self.history),
            None => IndexReport::from_error(self.root, &error, elapsed, &self.history),
        }
    }

    fn write(&self, report: &IndexReport) -> Outcome {
        let written = self.report.as_ref().map_or(Ok(()), |directory| directory.write(report));
        written.map_err(|error| unwritten(self.args, &error))
    }
}

fn unwritten(args: &JobArgs, error: &std::io::Error) -> Failure {
    let path = args.report.as_deref().unwrap_or(Path::new("")).display().to_string();
    Failure::new(format!("cannot write the report to {}: {error}", sanitize::line(&path)))
}

/// Reads the file of thresholds, and adds the thresholds of columns to the options of the run. Other arguments take
/// precedence over the file.
pub(super) fn thresholds(args: &JobArgs, options: &mut IndexOptions) -> Outcome<RunThresholds> {
    let mut thresholds = match &args.thresholds {
        Some(path) => read(path, options)?,
        None => RunThresholds::default(),
    };
    thresholds.min_coverage = args.min_coverage.or(thresholds.min_coverage);
    Ok(thresholds)
}

fn read(path: &Path, options: &mut IndexOptions) -> Outcome<RunThresholds> {
    let name = path.display().to_string();
    let text = read_regular_to_string(path, MAX_THRESHOLDS_BYTES)
        .map_err(|error| Failure::new(format!("cannot read the thresholds in {name}: {error}")))?;
    let plan = indexing::plan(options)?;
    let columns = indexing::custom_columns(&plan).map_err(IndexError::Pipeline)?;
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    let directory = path.parent().unwrap_or(Path::new(""));
    let thresholds = RunThresholds::read(&name, &text, directory, &names)
        .map_err(|found| Failure::findings(&format!("the file {name}"), &found))?;
    for threshold in &thresholds.columns {
        options.min_columns.extend(threshold.min_values.map(|least| (threshold.name.clone(), least)));
        let stage = columns.iter().find(|column| column.name == threshold.name).map(|column| &column.stage);
        options.max_failed_rows.extend(stage.zip(threshold.max_failed_rows).map(|(stage, most)| (stage.clone(), most)));
    }
    Ok(thresholds)
}
