//! Summarises the results of a run: by set, compared with another run, and compared with minimum values (floors).

use std::str::FromStr;
use std::time::Duration;

use aurora_suggest::nearest;
use serde::Serialize;

use crate::engine::QuestionResult;
use crate::golden::Question;
use crate::interval::{self, Estimate};
use crate::metrics::Metric;

/// Name of the row for all sets together.
pub const ALL: &str = "all";

/// A run: every question with its result, grouped by set.
pub type Run = Vec<(Question, QuestionResult)>;

/// The results of one set.
#[derive(Debug, Clone, Serialize)]
pub struct SetReport {
    /// Name of the set, or [`ALL`].
    pub set: String,
    /// Number of questions.
    pub questions: usize,
    /// Number of questions that could not be searched for. They count as misses.
    pub refused: usize,
    /// Means over the questions to which the metric applies, with Student's t-intervals.
    pub metrics: Vec<MetricReport>,
    /// Median time of a search, in milliseconds.
    pub p50_ms: f64,
    /// 99th percentile of the time of a search, in milliseconds.
    pub p99_ms: f64,
}

/// A metric of a set.
#[derive(Debug, Clone, Serialize)]
pub struct MetricReport {
    /// The metric.
    pub metric: Metric,
    /// Mean of the metric, with its interval.
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl SetReport {
    /// Returns the mean of a metric, or `None` if the metric applies to no question.
    pub fn value(&self, metric: Metric) -> Option<Estimate> {
        self.metrics.iter().find(|report| report.metric == metric).map(|report| report.estimate)
    }
}

/// The difference of one metric of a set between two runs of the same questions.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// Name of the set, or [`ALL`].
    pub set: String,
    /// The metric.
    pub metric: Metric,
    /// Number of questions compared.
    pub questions: usize,
    /// Mean in the other run.
    pub other: f64,
    /// Mean of the paired differences, this run minus the other, with its bootstrap interval.
    #[serde(flatten)]
    pub difference: Estimate,
    /// Number of questions that are better in this run.
    pub better: usize,
    /// Number of questions that are worse in this run.
    pub worse: usize,
}

/// A question without an answer among the first ten results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Miss {
    /// Set of the question.
    pub set: String,
    /// Id of the question.
    pub id: String,
    /// The query that was searched for.
    pub query: String,
    /// The first of the expected answers.
    pub wanted: String,
    /// Rank of the first answer, which is greater than ten. `None` if none of the examined results is an answer.
    pub place: Option<usize>,
    /// The first result.
    pub top: Option<String>,
}

/// Returns the names of the sets, in the order of their first question.
pub fn sets(run: &[(Question, QuestionResult)]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (question, _) in run {
        if !names.contains(&question.set.as_str()) {
            names.push(&question.set);
        }
    }
    names
}

/// Returns the results of every set and, if there are several sets, of all sets together.
pub fn by_set(run: &[(Question, QuestionResult)]) -> Vec<SetReport> {
    let names = sets(run);
    let mut reports: Vec<_> =
        names.iter().map(|name| set_report(name, run.iter().filter(|(question, _)| question.set == *name))).collect();
    if names.len() > 1 {
        reports.push(set_report(ALL, run.iter()));
    }
    reports
}

fn set_report<'r>(name: &str, rows: impl Iterator<Item = &'r (Question, QuestionResult)>) -> SetReport {
    let rows: Vec<_> = rows.collect();
    let metrics = Metric::ALL.into_iter().filter_map(|metric| {
        let values: Vec<f64> = rows.iter().filter_map(|(_, asked)| asked.measured.value(metric)).collect();
        Some(MetricReport { metric, estimate: interval::mean(&values)? })
    });
    let mut times: Vec<Duration> = rows.iter().map(|(_, asked)| asked.took).collect();
    times.sort_unstable();
    let percentile = |share: f64| {
        let at = (times.len() as f64 * share).ceil().max(1.0) as usize - 1;
        times.get(at).map_or(0.0, |time| (time.as_secs_f64() * 1e6).round() / 1e3)
    };
    SetReport {
        set: name.to_owned(),
        questions: rows.len(),
        refused: rows.iter().filter(|(_, asked)| asked.refused.is_some()).count(),
        metrics: metrics.collect(),
        p50_ms: percentile(0.5),
        p99_ms: percentile(0.99),
    }
}

/// Compares `run` and `other`, which asked the same questions in the same order. Returns the difference of each of
/// `metrics` for each set and for all sets together. For all sets together, each question has the same weight.
pub fn differences(
    run: &[(Question, QuestionResult)],
    other: &[(Question, QuestionResult)],
    metrics: &[Metric],
) -> Vec<Difference> {
    let mut names: Vec<&str> = sets(run);
    if names.len() > 1 {
        names.push(ALL);
    }
    let mut all = Vec::new();
    for name in names {
        for &metric in metrics {
            let pairs: Vec<(f64, f64)> = run
                .iter()
                .zip(other)
                .filter(|((question, _), _)| name == ALL || question.set == name)
                .filter_map(|((_, a), (_, b))| Some((a.measured.value(metric)?, b.measured.value(metric)?)))
                .collect();
            let gains: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
            let Some(difference) = interval::bootstrap(std::slice::from_ref(&gains)) else { continue };
            all.push(Difference {
                set: name.to_owned(),
                metric,
                questions: pairs.len(),
                other: pairs.iter().map(|(_, b)| b).sum::<f64>() / pairs.len() as f64,
                difference,
                better: gains.iter().filter(|gain| **gain > 0.0).count(),
                worse: gains.iter().filter(|gain| **gain < 0.0).count(),
            });
        }
    }
    all
}

/// Returns the questions without an answer among the first ten results, in the order of the run.
pub fn misses(run: &[(Question, QuestionResult)]) -> Vec<Miss> {
    let missed = run.iter().filter(|(_, asked)| asked.measured.first.is_none_or(|place| place > 10));
    missed
        .map(|(question, asked)| Miss {
            set: question.set.clone(),
            id: question.id.clone(),
            query: question.query.clone(),
            wanted: expected_place(question),
            place: asked.measured.first,
            top: asked.top.clone(),
        })
        .collect()
}

fn expected_place(question: &Question) -> String {
    let Some(answer) = question.relevant.first() else { return String::new() };
    let line = answer.lines.map_or_else(String::new, |(start, _)| format!(":{start}"));
    let name = answer.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    let more = match question.relevant.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{}{line}{name}{more}", answer.path)
}

/// A minimum value of a metric: `ndcg@10=0.8`, or `exact:mrr@10=.9` for one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The set; `None` for all questions together.
    pub set: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// Minimum of the mean, from 0 to 1.
    pub minimum: f64,
}

impl FromStr for Floor {
    type Err = String;

    /// Parses one floor. An error message shows the expected form.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, minimum) =
            text.split_once('=').ok_or_else(|| format!("expected METRIC=VALUE, such as ndcg@10=0.8, not `{text}`"))?;
        let (set, metric) = match name.rsplit_once(':') {
            Some((set, metric)) => (Some(set.trim().to_owned()), metric),
            None => (None, name),
        };
        let metric = metric.parse::<Metric>().map_err(|error| error.to_string())?;
        match minimum.trim().parse::<f64>() {
            Ok(minimum) if (0.0..=1.0).contains(&minimum) => Ok(Self { set, metric, minimum }),
            _ => Err(format!("the floor of {metric} must be a number from 0 to 1, not `{}`", minimum.trim())),
        }
    }
}

/// A floor that was not reached.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissedFloor {
    /// The floor, such as `exact: MRR@10 ≥ 0.900`.
    pub floor: String,
    /// The mean; `None` if the metric applies to no question.
    pub value: Option<f64>,
    /// The floor minus the mean.
    pub short_by: f64,
}

/// Returns the floors that the results do not reach, and the questions whose recall is below their own `min_recall`.
///
/// # Errors
/// Returns a message if a floor names an unknown set. The message suggests a similar name.
pub fn missed_floors(
    floors: &[Floor],
    reports: &[SetReport],
    run: &[(Question, QuestionResult)],
) -> Result<Vec<MissedFloor>, String> {
    let mut all = Vec::new();
    for floor in floors {
        let name = floor.set.as_deref().unwrap_or_else(|| reports.last().map_or(ALL, |report| &report.set));
        let Some(report) = reports.iter().find(|report| report.set == name) else {
            return Err(unknown_set(name, reports.iter().map(|report| report.set.as_str())));
        };
        let value = report.value(floor.metric).map(|estimate| estimate.mean);
        if value.is_none_or(|value| value < floor.minimum) {
            let set = floor.set.as_ref().map_or_else(String::new, |set| format!("{set}: "));
            all.push(MissedFloor {
                floor: format!("{set}{} ≥ {:.3}", floor.metric, floor.minimum),
                value,
                short_by: floor.minimum - value.unwrap_or(0.0),
            });
        }
    }
    for (question, asked) in run {
        let recall = asked.measured.value(Metric::Recall10).unwrap_or(0.0);
        if let Some(minimum) = question.min_recall.filter(|minimum| recall < *minimum) {
            let floor = format!("{} \"{}\": R@10 ≥ {minimum:.3}", question.id, question.query);
            all.push(MissedFloor { floor, value: Some(recall), short_by: minimum - recall });
        }
    }
    Ok(all)
}

/// Returns the error message for an unknown set. It suggests a similar name.
pub fn unknown_set<'s>(given: &str, known: impl Iterator<Item = &'s str> + Clone) -> String {
    let help = nearest(given, known.clone()).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    format!("no set `{given}`; sets are {}{help}", known.collect::<Vec<_>>().join(", "))
}
