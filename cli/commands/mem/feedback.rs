//! `aur mem feedback`: stores verdicts on results and outcomes of tasks for later searches.

use std::io::Write;
use std::path::PathBuf;

use aurora_memory::{Helpfulness, TaskOutcome};
use aurora_memory_schema::Kind;
use aurora_project::{FeedbackReport, Interface, JudgedChunk, Names, Project, ProjectError, UsageLog, judge, user};
use aurora_query::LearningConfig;
use aurora_storage::{AccessLog, Verdict};
use clap::{Args, ValueEnum};

use crate::context::{Failure, IndexReportArgs, Outcome, Program, args, memories, place};
use crate::output::{sanitize, units};

/// Rate results as good or bad, for the ranking of later searches
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem feedback good code:src/auth.py:UserManager.login
  aur mem feedback bad src/auth.py:120 docs/guide.md:14
  aur mem feedback good --partial src/http/retry.go:31
  aur mem feedback --outcome success --session s42     rate everything shown in the session
  aur mem feedback --score 0.6 --session s42 --helpful know:oauth2-providers

An ID is the `id` of `aur mem search --format json`, or PATH:LINE as the table shows it.
Nothing is recorded unless every ID is known. With --partial, for a partially solved task, a verdict
counts less. Verdicts survive a rebuild of the index, and follow moved files.")]
pub(crate) struct FeedbackArgs {
    /// Verdict on the chunks
    #[arg(value_enum, required_unless_present = "session")]
    pub(crate) verdict: Option<VerdictArg>,

    /// Ids of the chunks, or PATH:LINE
    #[arg(value_name = "ID", required_unless_present = "session")]
    pub(crate) ids: Vec<String>,

    /// Reduce the weight of the verdict, because the task was only partially solved
    #[arg(long, conflicts_with = "session")]
    pub(crate) partial: bool,

    /// Outcome of the task of a session, which rates everything that its searches have shown
    #[arg(long, value_name = "OUTCOME", value_enum, requires = "session", conflicts_with = "verdict")]
    pub(crate) outcome: Option<TaskOutcome>,

    /// Outcome as a score: success from 0.8, partial from 0.5
    #[arg(long, value_name = "SCORE", requires = "session", conflicts_with_all = ["verdict", "outcome"], value_parser = args::parse_score)]
    pub(crate) score: Option<f64>,

    /// Session id, as given to searches with --session
    #[arg(long, value_name = "ID", conflicts_with = "verdict")]
    pub(crate) session: Option<String>,

    /// With --outcome partial: chunk that helped; all others did not; may be given more than once
    #[arg(long, value_name = "ID", requires = "session")]
    pub(crate) helpful: Vec<String>,

    /// With --outcome partial: chunk that did not help; all others did; may be given more than once
    #[arg(long, value_name = "ID", requires = "session")]
    pub(crate) unhelpful: Vec<String>,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VerdictArg {
    /// The wanted result, or helpful in finding it
    Good,
    /// Not helpful, or misleading
    Bad,
}

/// Records the verdict on all given chunks, or on no chunk if one of them is unknown. With `--session`, records the
/// outcome of the session's task.
pub(crate) fn run(args: &FeedbackArgs, program: &Program) -> Outcome {
    match (&args.session, args.verdict) {
        (Some(session), _) => outcome(session, args, program),
        (None, Some(verdict)) => verdicts(verdict, args, program),
        (None, None) => Err(Failure::new("no verdict: give a verdict and ids, or --outcome and --session")),
    }
}

fn verdicts(verdict: VerdictArg, args: &FeedbackArgs, program: &Program) -> Outcome {
    let verdict = match (verdict, args.partial) {
        (VerdictArg::Good, false) => Verdict::Good,
        (VerdictArg::Good, true) => Verdict::Helpful,
        (VerdictArg::Bad, true) => Verdict::Unhelpful,
        (VerdictArg::Bad, false) => Verdict::Bad,
    };
    let project = program.find(args.index.root.as_deref())?;
    let learning = learning(&project)?;
    let mut chunks = Vec::new();
    for (directory, keys) in group_by_history(args, &project, program)? {
        let log = AccessLog::open(&directory, &user::trust().known)?;
        let report = judge(&log, &learning, verdict, &keys, aurora_clock::now_seconds())?;
        if let Some(reason) = log.restart_reason() {
            program.terminal.warn(&format!(
                "the access history could not be used ({reason}); it was set aside and a new one was created"
            ));
        }
        chunks.extend(report.chunks);
    }
    let report = FeedbackReport { verdict, chunks };
    if let Some(usage) = UsageLog::open() {
        usage.feedback(Interface::Cli, verdict, report.chunks.len(), project.root(), aurora_clock::now_seconds());
    }
    program.terminal.print(args.index.format, &report, |out| write_chunks(out, &report.chunks))
}

/// Groups the keys of the given chunks and entries by the directory of their access history, in the order of the
/// arguments.
fn group_by_history(args: &FeedbackArgs, project: &Project, program: &Program) -> Outcome<Vec<(PathBuf, Vec<String>)>> {
    let is_entry = |id: &str| Kind::from_id(id).is_some_and(|kind| kind != Kind::Code);
    let mut found: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let mut index = None;
    for id in &args.ids {
        let directory = if is_entry(id) {
            memories::find_history_directory(id, project.root()).map_err(|failure| unknown(&failure.message()))?
        } else {
            None
        };
        let (directory, key) = match directory {
            Some(directory) => (directory, id.clone()),
            None => {
                let (project, snapshot) = match &mut index {
                    Some(opened) => opened,
                    None => index.insert(program.open(args.index.root.as_deref())?),
                };
                let here = place::here();
                let names = Names { snapshot, root: project.root(), from: here.as_deref(), work: None };
                let (_, key) = names.chunk(id).map_err(nothing_recorded)?;
                (project.directory(), key)
            }
        };
        match found.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, keys)) if keys.contains(&key) => {}
            Some((_, keys)) => keys.push(key),
            None => found.push((directory, vec![key])),
        }
    }
    Ok(found)
}

fn outcome(session: &str, args: &FeedbackArgs, program: &Program) -> Outcome {
    let outcome = match (args.outcome, args.score) {
        (Some(outcome), _) => outcome,
        (None, Some(score)) => TaskOutcome::from_score(score),
        (None, None) => {
            return Err(Failure::new("the outcome of the task is missing")
                .with_help("give --outcome success, partial or failure, or --score"));
        }
    };
    let helpfulness = Helpfulness { helpful: args.helpful.clone(), unhelpful: args.unhelpful.clone() };
    if outcome != TaskOutcome::Partial && helpfulness != Helpfulness::default() {
        return Err(Failure::new("--helpful and --unhelpful are only valid for partially solved tasks"));
    }
    let project = program.find(args.index.root.as_deref())?;
    let learning = learning(&project)?;
    let user_memory = memories::user_memory()?;
    let report = user_memory.apply_outcome(session, outcome, &helpfulness, &learning, aurora_clock::now_seconds());
    let report = report?;
    program.terminal.print(args.index.format, &report, |out| {
        write_chunks(out, &report.chunks)?;
        let judged = units::counted(report.chunks.len() as u64, "chunk");
        writeln!(out, "{judged} judged, {} unchanged", units::count(report.unchanged as u64))
    })
}

fn learning(project: &Project) -> Outcome<LearningConfig> {
    Ok(project.settings(Vec::new())?.activation.learning)
}

fn write_chunks(out: &mut impl Write, chunks: &[JudgedChunk]) -> std::io::Result<()> {
    chunks.iter().try_for_each(|chunk| {
        writeln!(out, "{}: activation {:+.2} by feedback", sanitize::line(&chunk.id), chunk.learned)
    })
}

/// Returns the failure for an unknown chunk among the arguments.
fn nothing_recorded(error: ProjectError) -> Failure {
    let help = error.help().unwrap_or_default();
    unknown(&error.to_string()).with_help(help)
}

fn unknown(message: &str) -> Failure {
    Failure::new(format!("{message}; nothing was recorded"))
}
