//! Compares the search quality after a run with a minimum, and with the last good run.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use aurora_evaluation::engine::QuestionResult;
use aurora_evaluation::golden::Question;
use aurora_evaluation::interval;
use aurora_evaluation::metrics::Metric;
use aurora_evaluation::report::{Floor, MissedFloor, by_set, missed_floors};
use aurora_stages::index::{QuestionScores, RunQuality};

use super::check::Check;
use crate::units;

/// A requirement on the search quality after a run.
#[derive(Debug, Clone, PartialEq)]
pub struct QualityThreshold {
    /// The golden file, the set if one is selected, and the metric, such as `golden.jsonl exact nDCG@10`.
    pub name: String,
    /// File or directory of questions.
    pub golden: PathBuf,
    /// The set of questions; `None` for all questions.
    pub set: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// Minimum of the mean, from 0 to 1.
    pub minimum: Option<f64>,
    /// Maximum drop of the mean since the last good run, from 0 to 1.
    pub max_drop: Option<f64>,
}

/// The questions of a golden set with their results.
pub type ScoredQuestions = [(Question, QuestionResult)];

impl QualityThreshold {
    pub(super) fn new(
        golden: &str,
        directory: &Path,
        set: Option<String>,
        metric: Metric,
        minimum: Option<f64>,
        max_drop: Option<f64>,
    ) -> Self {
        let shown_set = set.as_ref().map_or_else(String::new, |set| format!(" {set}"));
        Self {
            name: format!("{golden}{shown_set} {metric}"),
            golden: directory.join(golden),
            set,
            metric,
            minimum,
            max_drop,
        }
    }

    /// Returns the checks of a run whose index was not evaluated, because the run was stopped.
    pub fn not_measured(&self) -> Vec<Check> {
        let minimum = self.minimum.map(|least| Check::not_measured(self.check_name(), required_minimum(least)));
        let drop = self.max_drop.map(|most| Check::not_measured(self.drop_name(), required_drop(most)));
        minimum.into_iter().chain(drop).collect()
    }

    fn check_name(&self) -> String {
        format!("quality {}", self.name)
    }

    fn drop_name(&self) -> String {
        format!("quality {}: drop", self.name)
    }
}

fn required_minimum(least: f64) -> String {
    format!("at least {least:.3}")
}

fn required_drop(most: f64) -> String {
    format!("drops by at most {most:.3}")
}

/// Checks the quality after a run. Returns the checks, and the quality with the score of each question. `questions` are
/// the questions of the threshold with their results, and `good_scores` the scores of the last good run.
///
/// The quality has dropped too far if the mean of the paired differences is below `-max_drop`, and their whole 95 %
/// bootstrap interval is below 0. Only questions that both runs have asked are compared.
pub fn quality_check(
    threshold: &QualityThreshold,
    questions: &ScoredQuestions,
    good_scores: &[QuestionScores],
) -> (Vec<Check>, Option<(RunQuality, QuestionScores)>) {
    let metric = threshold.metric;
    let scores: Vec<(u32, f32)> = questions
        .iter()
        .filter_map(|(question, result)| Some((hash(question), result.measured.value(metric)? as f32)))
        .collect();
    let reports = by_set(questions);
    let estimate = reports.last().and_then(|report| report.value(metric));
    let measured = estimate.map_or_else(|| "no question".to_owned(), |estimate| format!("{:.3}", estimate.mean));
    let mut checks = Vec::new();
    if let Some(minimum) = threshold.minimum {
        let floor = Floor { set: None, metric, minimum };
        // The floor names no set, so no set can be unknown.
        let missed = missed_floors(&[floor], &reports, questions).unwrap_or_default();
        let check = Check::met(threshold.check_name(), required_minimum(minimum), &measured);
        if missed.is_empty() {
            checks.push(check);
        } else {
            let violation = |missed: &MissedFloor| check.clone().violated_if(true, || missed_text(threshold, missed));
            checks.extend(missed.iter().map(violation));
        }
    }
    if let Some(max_drop) = threshold.max_drop {
        checks.push(drop_check(threshold, max_drop, &scores, good_scores));
    }
    let quality = estimate.map(|estimate| RunQuality {
        name: threshold.name.clone(),
        questions: scores.len() as u64,
        mean: estimate.mean,
        low: estimate.low.max(0.0),
        high: estimate.high.min(1.0),
    });
    (checks, quality.map(|quality| (quality, QuestionScores { name: threshold.name.clone(), scores })))
}

fn missed_text(threshold: &QualityThreshold, missed: &MissedFloor) -> String {
    let (name, floor) = (&threshold.name, &missed.floor);
    match missed.value {
        Some(value) => format!("quality {name}: {floor} is required, but the value is {value:.3}"),
        None => format!("quality {name}: {floor} is required, but no question measures it"),
    }
}

fn drop_check(
    threshold: &QualityThreshold,
    max_drop: f64,
    scores: &[(u32, f32)],
    good_scores: &[QuestionScores],
) -> Check {
    let (name, required) = (threshold.drop_name(), required_drop(max_drop));
    let before = good_scores.iter().find(|scores| scores.name == threshold.name);
    let before: HashMap<u32, f32> = before.iter().flat_map(|scores| scores.scores.iter().copied()).collect();
    let gain = |(question, now): &(u32, f32)| Some(f64::from(*now) - f64::from(*before.get(question)?));
    let gains: Vec<f64> = scores.iter().filter_map(gain).collect();
    let Some(change) = interval::bootstrap(std::slice::from_ref(&gains)) else {
        return Check::not_measured(name, required);
    };
    let measured = format!("{:+.3} [{:+.3}, {:+.3}]", change.mean, change.low, change.high);
    let is_violated = -change.mean > max_drop && change.high < 0.0;
    let violation = format!(
        "quality {}: the mean changed by {measured} since the last good run, over {}; a drop of {max_drop:.3} \
         is allowed",
        threshold.name,
        units::counted(gains.len() as u64, "question")
    );
    Check::met(name, required, measured).violated_if(is_violated, || violation)
}

/// Hash of a question (FNV-1a), by which two runs recognise the same question.
fn hash(question: &Question) -> u32 {
    let bytes = [question.set.as_str(), &question.id, &question.query].join("\0");
    bytes.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threshold(max_drop: f64) -> QualityThreshold {
        QualityThreshold::new("q.jsonl", Path::new(""), None, Metric::Mrr, None, Some(max_drop))
    }

    fn scores(values: impl Iterator<Item = f32>) -> Vec<(u32, f32)> {
        (0..).zip(values).collect()
    }

    #[test]
    fn only_a_large_and_significant_drop_is_a_violation() {
        let good = |values: Vec<(u32, f32)>| [QuestionScores { name: threshold(0.0).name, scores: values }];
        let before = good(scores(std::iter::repeat_n(0.8, 50)));
        let worse = scores((0..50).map(|at| if at % 2 == 0 { 0.8 } else { 0.6 }));
        assert!(drop_check(&threshold(0.05), 0.05, &worse, &before).violation.is_some());
        assert!(drop_check(&threshold(0.2), 0.2, &worse, &before).violation.is_none(), "the drop is allowed");
        // One of three questions lost its answer, which may be chance.
        let few = good(scores(std::iter::repeat_n(1.0, 3)));
        let noise = scores([1.0, 1.0, 0.0].into_iter());
        assert!(drop_check(&threshold(0.05), 0.05, &noise, &few).violation.is_none());
        let other = drop_check(&threshold(0.05), 0.05, &noise, &[]);
        assert_eq!((other.measured, other.violation), (None, None), "there is nothing to compare with");
    }
}
