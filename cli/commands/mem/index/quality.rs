//! Measures the search quality after a run.

use std::path::Path;

use aurora_evaluation::report::Run;
use aurora_project::run_report::{Check, QualityThreshold, quality_check};
use aurora_query::Mode;
use aurora_stages::index::{QuestionScores, RunQuality};

use crate::context::golden::QuestionBatch;
use crate::context::{Outcome, Program, golden, rerankers};

/// The quality after a run.
#[derive(Default)]
pub(super) struct Measured {
    pub(super) checks: Vec<Check>,
    pub(super) quality: Vec<RunQuality>,
    pub(super) scores: Vec<QuestionScores>,
}

/// Reads the questions of each threshold, so that mistakes in them are found before the run.
pub(super) fn gather(thresholds: &[QualityThreshold], root: &Path) -> Outcome<Vec<Vec<QuestionBatch>>> {
    let questions = thresholds.iter().map(|threshold| {
        let mut batches = golden::gather(std::slice::from_ref(&threshold.golden), root)?;
        golden::keep_sets(&mut batches, threshold.set.as_slice())?;
        Ok(batches)
    });
    questions.collect()
}

/// Returns the checks of an index that was not evaluated.
pub(super) fn not_measured(thresholds: &[QualityThreshold]) -> Measured {
    Measured { checks: thresholds.iter().flat_map(QualityThreshold::not_measured).collect(), ..Measured::default() }
}

/// Measures the quality for each threshold. `questions` are the results of [`gather`]. An evaluation that fails is a
/// violation, because the index has already been published.
pub(super) fn measure(
    thresholds: &[QualityThreshold],
    questions: Vec<Vec<QuestionBatch>>,
    good_scores: &[QuestionScores],
    root: &Path,
    program: &Program,
) -> Measured {
    let mut measured = Measured::default();
    let mut last: Option<(&QualityThreshold, Run)> = None;
    for (threshold, batches) in thresholds.iter().zip(questions) {
        let reused =
            last.take().filter(|(other, _)| (&other.golden, &other.set) == (&threshold.golden, &threshold.set));
        let run = match reused {
            Some((_, run)) => Ok(run),
            None => ask(&batches, root, program),
        };
        match run {
            Ok(run) => {
                let (checks, quality) = quality_check(threshold, &run, good_scores);
                measured.checks.extend(checks);
                if let Some((quality, scores)) = quality {
                    measured.quality.push(quality);
                    measured.scores.push(scores);
                }
                last = Some((threshold, run));
            }
            Err(failure) => {
                let error = format!("quality {} cannot be measured: {}", threshold.name, failure.description());
                let failed = threshold.not_measured().into_iter();
                measured.checks.extend(failed.map(|check| Check { violation: Some(error.clone()), ..check }));
            }
        }
    }
    measured
}

fn ask(batches: &[QuestionBatch], root: &Path, program: &Program) -> Outcome<Run> {
    let mode = Mode::default();
    let config = golden::config(None, root, program)?;
    let rerankers = rerankers::for_configs([&config], mode, &program.terminal);
    let open = |root: &Path, mined: bool| golden::engine(root, mined, mode, &rerankers, program);
    let engines = golden::engines(batches, &open)?;
    golden::ask(&engines, batches, &config)
}
