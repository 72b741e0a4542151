//! `aur mem tune`: learns ranking weights from questions with known answers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_analysis::Reranker;
use aurora_evaluation::golden::Question;
use aurora_evaluation::interval::Estimate;
use aurora_evaluation::metrics::Metric;
use aurora_evaluation::tune::{RememberedScores, TuneError, TuneOptions, TuneReport, config_file, tune};
use aurora_query::Mode;
use aurora_storage::ProjectDirectory;
use clap::Args;

use crate::context::{Failure, IndexReportArgs, Outcome, Program, args, golden, place, rerankers};
use crate::output::evaluation;

/// Learn the weights of the ranking from questions with known answers
#[derive(Debug, Args)]
#[command(after_help = "\
Tuning tries every number of the configuration, and estimates the gain of the learned values by
cross-validation. Nothing is written unless the gain is significant, and the written file has no
effect until it is copied to .aurora/config.toml.

Examples:
  aur mem eval mine && aur mem tune
  aur mem tune --golden questions.jsonl --keys rules,bm25 --metric mrr@10
  aur mem eval --config .aurora/tuned.toml --against default")]
pub(crate) struct TuneArgs {
    /// File of questions, or mined directory [default: .aurora/eval]
    #[arg(long, value_name = "FILE|DIR")]
    pub(crate) golden: Vec<PathBuf>,

    /// Number of folds of the cross-validation
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = args::whole_number(2..=20))]
    pub(crate) folds: usize,

    /// Tune only numbers whose keys start with one of these prefixes, such as `rules` or `bm25.fields`
    #[arg(long, value_name = "PREFIXES", value_delimiter = ',')]
    pub(crate) keys: Vec<String>,

    /// Metric to maximise; each set has the same weight
    #[arg(long, value_name = "METRIC", default_value = "ndcg@10")]
    pub(crate) metric: Metric,

    /// Start from this configuration file, or from `default` [default: the current configuration]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// File to write the learned configuration to [default: .aurora/tuned.toml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,

    /// Number of passes over all numbers; steps halve in each pass
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) rounds: u32,

    /// Cost of moving a number by its first step, in questions: a higher cost keeps the result nearer to the start
    ///
    /// A move is kept if its gain exceeds its cost. The cost grows with the square of the distance; 0 turns it off.
    #[arg(long, value_name = "QUESTIONS", default_value_t = 0.5, value_parser = args::parse_regularisation)]
    pub(crate) regularisation: f64,

    /// Stop after about this many searches
    #[arg(long, value_name = "SEARCHES")]
    pub(crate) budget: Option<u64>,

    /// Signals that rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Write the configuration even if the gain is not significant
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Learns weights, prints the gain, and writes the configuration if the gain is significant.
pub(crate) fn run(args: &TuneArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.index.root.as_deref())?;
    let mode = args.mode.unwrap_or_default();
    let batches = golden::gather(&args.golden, &root)?;
    let start = golden::config(args.config.as_deref(), &root, program)?;
    let rerankers = rerankers::for_configs([&start], mode, &program.terminal).into_iter().map(|(name, reranker)| {
        let remembered = reranker.map(|reranker| Arc::new(RememberedScores::new(reranker)) as Arc<dyn Reranker>);
        (name, remembered)
    });
    let rerankers = rerankers.collect();
    let open = |root: &Path, mined: bool| golden::engine(root, mined, mode, &rerankers, program);
    let engines = golden::engines(&batches, &open)?;
    let mut questions: Vec<(usize, Question)> = Vec::new();
    let mut held_out = Vec::new();
    for (engine, batch) in batches.iter().enumerate() {
        let asked = batch.questions.iter().map(|question| (engine, question.clone()));
        if batch.held_out { held_out.extend(asked) } else { questions.extend(asked) }
    }
    let options = TuneOptions {
        start,
        metric: args.metric,
        folds: args.folds,
        rounds: args.rounds,
        regularisation: args.regularisation,
        keys: args.keys.clone(),
        budget: args.budget,
    };
    let report = tune(&engines, &questions, &held_out, &options, &|message| program.terminal.note(message));
    let report = report.map_err(|error| match error {
        TuneError::Query(error) => Failure::from(error),
        other => other.into(),
    })?;
    program
        .terminal
        .print(args.index.format, &report, |out| evaluation::write_tuning(out, &report, program.terminal.out))?;
    if !report.is_gain() && !args.force {
        return Err(Failure::Short(unsure(&report)));
    }
    let project = ProjectDirectory::in_root(&root);
    let file = args.out.clone().unwrap_or_else(|| project.path_of(ProjectDirectory::TUNED_CONFIG));
    let written = match &args.out {
        Some(file) => write_named(file, &config_file(&report)),
        None => project
            .create()
            .and_then(|directory| directory.write(ProjectDirectory::TUNED_CONFIG, config_file(&report).as_bytes())),
    };
    written.map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    let config = ProjectDirectory::in_root(&root).path_of(ProjectDirectory::CONFIG);
    let (file, config) = (file.display(), config.display());
    program.terminal.note(&format!("written to {file}; to use it, copy its tables to {config}"));
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the user named the file")]
fn write_named(file: &Path, text: &str) -> io::Result<()> {
    std::fs::write(file, text)
}

fn unsure(report: &TuneReport) -> String {
    let difference = report.cross_validated.difference;
    let why = match report.held_out {
        _ if report.changes.is_empty() => "no other weights answer these questions significantly better".to_owned(),
        Some(held_out) if difference.is_gain() => {
            format!("the held-out questions are answered worse ({:+.4})", held_out.difference.mean)
        }
        _ => {
            let Estimate { low, high, .. } = difference;
            format!("the gain is not significant: in cross-validation, it lies between {low:+.4} and {high:+.4}")
        }
    };
    format!("{why}; nothing was written (--force writes anyway)")
}
