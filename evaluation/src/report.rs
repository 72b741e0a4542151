//! Figures of a whole run: by set, against another run, and against floors.

use std::str::FromStr;
use std::time::Duration;

use aurora_suggest::nearest;
use serde::Serialize;

use crate::engine::Asked;
use crate::golden::Question;
use crate::interval::{self, Estimate};
use crate::metrics::Metric;

/// The name of the line that counts all sets.
pub const ALL: &str = "all";

/// A run: every question with what became of it, the questions of a set together.
pub type Run = Vec<(Question, Asked)>;

/// The figures of one set.
#[derive(Debug, Clone, Serialize)]
pub struct SetReport {
    /// Its name, or [`ALL`].
    pub set: String,
    /// How many questions it has.
    pub questions: usize,
    /// How many of them could not be searched for, and count as misses.
    pub refused: usize,
    /// Means over the questions that have the metric, with Student's t-intervals.
    pub metrics: Vec<MetricReport>,
    /// Median time of a search, in milliseconds.
    pub p50_ms: f64,
    /// Time that 99 of 100 searches stay within, in milliseconds.
    pub p99_ms: f64,
}

/// A metric of a set.
#[derive(Debug, Clone, Serialize)]
pub struct MetricReport {
    /// Which.
    pub metric: Metric,
    /// Its mean.
    #[serde(flatten)]
    pub estimate: Estimate,
}

impl SetReport {
    /// The mean of a metric; `None` where no question has it.
    pub fn value(&self, metric: Metric) -> Option<Estimate> {
        self.metrics.iter().find(|report| report.metric == metric).map(|report| report.estimate)
    }
}

/// How one metric of a set differs between two runs of the same questions.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// Name of the set, or [`ALL`].
    pub set: String,
    /// Which metric.
    pub metric: Metric,
    /// Pairs compared.
    pub questions: usize,
    /// Mean in the other run.
    pub other: f64,
    /// Mean of the paired differences, this run less the other, with its bootstrap interval.
    #[serde(flatten)]
    pub difference: Estimate,
    /// Questions that are better in this run.
    pub better: usize,
    /// Questions that are worse in this run.
    pub worse: usize,
}

/// A question without an answer in the first ten.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Miss {
    /// Its set.
    pub set: String,
    /// Its id.
    pub id: String,
    /// What was searched for.
    pub query: String,
    /// The first of the places that were wanted.
    pub wanted: String,
    /// The place of the first answer, beyond ten; `None` where there was none among all that was looked at.
    pub place: Option<usize>,
    /// What came first.
    pub top: Option<String>,
}

/// The names of the sets, in the order of their first question.
pub fn sets(run: &[(Question, Asked)]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (question, _) in run {
        if !names.contains(&question.set.as_str()) {
            names.push(&question.set);
        }
    }
    names
}

/// The figures of every set, and of all of them where there are several.
pub fn by_set(run: &[(Question, Asked)]) -> Vec<SetReport> {
    let names = sets(run);
    let mut reports: Vec<_> =
        names.iter().map(|name| of_set(name, run.iter().filter(|(question, _)| question.set == *name))).collect();
    if names.len() > 1 {
        reports.push(of_set(ALL, run.iter()));
    }
    reports
}

fn of_set<'r>(name: &str, rows: impl Iterator<Item = &'r (Question, Asked)>) -> SetReport {
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

/// How `run` differs from `other`, which asked the same questions in the same order: each of `metrics` for each set, and
/// for all sets, each question weighing the same.
pub fn differences(run: &[(Question, Asked)], other: &[(Question, Asked)], metrics: &[Metric]) -> Vec<Difference> {
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

/// The questions whose answer is not in the first ten, in the order of the run.
pub fn misses(run: &[(Question, Asked)]) -> Vec<Miss> {
    let missed = run.iter().filter(|(_, asked)| asked.measured.first.is_none_or(|place| place > 10));
    missed
        .map(|(question, asked)| Miss {
            set: question.set.clone(),
            id: question.id.clone(),
            query: question.query.clone(),
            wanted: wanted(question),
            place: asked.measured.first,
            top: asked.top.clone(),
        })
        .collect()
}

fn wanted(question: &Question) -> String {
    let Some(answer) = question.relevant.first() else { return String::new() };
    let line = answer.lines.map_or_else(String::new, |(start, _)| format!(":{start}"));
    let name = answer.name.as_ref().map_or_else(String::new, |name| format!(" {name}"));
    let more = match question.relevant.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{}{line}{name}{more}", answer.path)
}

/// What a metric must at least be: `ndcg@10=0.8`, or `exact:mrr@10=.9` for one set.
#[derive(Debug, Clone, PartialEq)]
pub struct Floor {
    /// The set; all questions together unless given.
    pub set: Option<String>,
    /// The metric.
    pub metric: Metric,
    /// Its least mean, 0..1.
    pub least: f64,
}

impl FromStr for Floor {
    type Err = String;

    /// Parses one floor; the message of an error says what was expected.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, least) =
            text.split_once('=').ok_or_else(|| format!("expected METRIC=VALUE, such as ndcg@10=0.8, not `{text}`"))?;
        let (set, metric) = match name.rsplit_once(':') {
            Some((set, metric)) => (Some(set.trim().to_owned()), metric),
            None => (None, name),
        };
        let metric = metric.parse::<Metric>().map_err(|error| error.to_string())?;
        match least.trim().parse::<f64>() {
            Ok(least) if (0.0..=1.0).contains(&least) => Ok(Self { set, metric, least }),
            _ => Err(format!("the floor of {metric} must be a number from 0 to 1, not `{}`", least.trim())),
        }
    }
}

/// A floor that was missed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MissedFloor {
    /// What was asked for, as `exact: MRR@10 ≥ 0.900`.
    pub floor: String,
    /// The mean; `None` where no question has the metric.
    pub value: Option<f64>,
    /// How much is missing.
    pub short_by: f64,
}

/// Which floors the figures miss, and which questions their own floor of recall.
///
/// # Errors
/// A floor for a set that is not there, with what was probably meant.
pub fn missed(floors: &[Floor], reports: &[SetReport], run: &[(Question, Asked)]) -> Result<Vec<MissedFloor>, String> {
    let mut all = Vec::new();
    for floor in floors {
        let name = floor.set.as_deref().unwrap_or_else(|| reports.last().map_or(ALL, |report| &report.set));
        let Some(report) = reports.iter().find(|report| report.set == name) else {
            return Err(unknown_set(name, reports.iter().map(|report| report.set.as_str())));
        };
        let value = report.value(floor.metric).map(|estimate| estimate.mean);
        if value.is_none_or(|value| value < floor.least) {
            let set = floor.set.as_ref().map_or_else(String::new, |set| format!("{set}: "));
            all.push(MissedFloor {
                floor: format!("{set}{} ≥ {:.3}", floor.metric, floor.least),
                value,
                short_by: floor.least - value.unwrap_or(0.0),
            });
        }
    }
    for (question, asked) in run {
        let recall = asked.measured.value(Metric::Recall10).unwrap_or(0.0);
        if let Some(least) = question.min_recall.filter(|least| recall < *least) {
            let floor = format!("{} \"{}\": R@10 ≥ {least:.3}", question.id, question.query);
            all.push(MissedFloor { floor, value: Some(recall), short_by: least - recall });
        }
    }
    Ok(all)
}

/// What to say about a set that is not there.
pub fn unknown_set<'s>(given: &str, known: impl Iterator<Item = &'s str> + Clone) -> String {
    let help = nearest(given, known.clone()).map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"));
    format!("no set `{given}`; sets are {}{help}", known.collect::<Vec<_>>().join(", "))
}
