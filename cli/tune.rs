//! `aur mem tune`: weights learned from questions with known answers.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use aurora_analysis::Reranker;
use aurora_evaluation::golden::Question;
use aurora_evaluation::tune::{RememberedScores, TuneError, TuneOptions, TuneReport, config_file, tune};
use aurora_storage::ProjectDirectory;

use crate::args_eval::TuneArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{evaluation, json};
use crate::program::Program;
use crate::values::ReportFormat;
use crate::{golden, place, rerankers, search};

/// Learns, prints the gain, and writes the configuration if the gain is significant.
pub(crate) fn run(args: &TuneArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let mode = search::mode(args.mode);
    let batches = golden::gather(&args.golden, &root)?;
    let start = golden::config(args.config.as_deref(), &root, program)?;
    let rerankers = rerankers::of_configs([&start], mode, &program.terminal).into_iter().map(|(name, reranker)| {
        let remembered = reranker.map(|reranker| Arc::new(RememberedScores::of(reranker)) as Arc<dyn Reranker>);
        (name, remembered)
    });
    let rerankers = rerankers.collect();
    let mut roots: Vec<&Path> = Vec::new();
    let mut engines = Vec::new();
    let mut questions: Vec<(usize, Question)> = Vec::new();
    let mut held_out = Vec::new();
    for batch in &batches {
        let engine = match roots.iter().position(|root| *root == batch.root) {
            Some(engine) => engine,
            None => {
                roots.push(&batch.root);
                engines.push(golden::engine(&batch.root, batch.mined, mode, &rerankers, program)?);
                engines.len() - 1
            }
        };
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
    let report = tune(&engines, &questions, &held_out, &options, &|message| program.terminal.note(message)).map_err(
        |error| match error {
            TuneError::Query(error) => Failure::from_error(&error),
            other => Failure::from_error(&other),
        },
    )?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &report)?,
        ReportFormat::Text => evaluation::write_tuning(&mut out, &report, program.terminal.out)?,
    }
    out.flush()?;
    if !report.is_gain() && !args.force {
        return Err(Failure::Short(unsure(&report)));
    }
    let project = ProjectDirectory::of(&root);
    let file = args.out.clone().unwrap_or_else(|| project.path_of(ProjectDirectory::TUNED_CONFIG));
    let written = match &args.out {
        Some(file) => write_named(file, &config_file(&report)),
        None => project
            .create()
            .and_then(|home| home.write(ProjectDirectory::TUNED_CONFIG, config_file(&report).as_bytes())),
    };
    written.map_err(|error| Failure::new(format!("cannot write {}: {error}", file.display())))?;
    program.terminal.note(&format!(
        "written to {}; to use it, copy its tables to {}",
        file.display(),
        place::project_config(&root).display()
    ));
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the user has named it")]
fn write_named(file: &Path, text: &str) -> io::Result<()> {
    std::fs::write(file, text)
}

fn unsure(report: &TuneReport) -> String {
    let difference = report.cross_validated.difference;
    let why = match report.held_out {
        _ if report.changes.is_empty() => "no other weights answer these questions surely better".to_owned(),
        Some(held_out) if difference.is_gain() => {
            format!("the questions held out are answered worse ({:+.4})", held_out.difference.mean)
        }
        _ => format!(
            "the gain is not sure: cross-validated, it lies between {:+.4} and {:+.4}",
            difference.low, difference.high
        ),
    };
    format!("{why}; nothing is written (--force writes all the same)")
}
