//! Compares configurations by racing (Maron and Moore, "Hoeffding races", 1993; Birattari et al., "A racing algorithm
//! for configuring metaheuristics", 2002). A candidate is compared with the incumbent on growing shares of the
//! questions, and rejected as soon as it is unlikely to win. Scores are cached, so that no search runs twice.

use aurora_query::{Parameter, QueryError, SearchConfig};
use rustc_hash::FxHashMap;

use crate::engine::Engine;
use crate::golden::Question;
use crate::metrics::Metric;
use crate::random::hash;
use crate::tune::ascent::Objective;
use crate::tune::error::TuneError;

/// Shares of the questions in the rounds of a race.
const RACING_ROUNDS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// Caches the scores of configurations on the questions. The questions of all sets are interleaved, so that every
/// prefix of the list contains all sets in proportion.
pub(crate) struct ScoreCache<'q> {
    engines: &'q [Engine],
    questions: Vec<(usize, &'q Question)>,
    sets: Vec<usize>,
    metric: Metric,
    scores: FxHashMap<Vec<u64>, Vec<f64>>,
    /// Number of searches that have run.
    pub(crate) searches: u64,
}

impl<'q> ScoreCache<'q> {
    /// Creates an empty cache for questions, each with the index of its engine. Questions to which `metric` does not
    /// apply are skipped.
    pub(crate) fn new(engines: &'q [Engine], questions: &'q [(usize, Question)], metric: Metric) -> Self {
        let mut by_set: FxHashMap<&str, Vec<(u64, usize)>> = FxHashMap::default();
        for (at, (_, question)) in questions.iter().enumerate() {
            if metric != Metric::Topics || !question.topics.is_empty() {
                by_set.entry(&question.set).or_default().push((hash(1, &[&question.set, &question.id]), at));
            }
        }
        let mut names: Vec<&str> = by_set.keys().copied().collect();
        names.sort_unstable();
        let mut order = Vec::new();
        for (number, name) in names.iter().enumerate() {
            let mut members = by_set.get_mut(name).map(std::mem::take).unwrap_or_default();
            members.sort_unstable();
            let count = members.len() as f64;
            order.extend(
                members.iter().enumerate().map(|(at, (_, member))| ((at as f64 + 0.5) / count, number, *member)),
            );
        }
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Self {
            engines,
            questions: order.iter().map(|(_, _, at)| (questions[*at].0, &questions[*at].1)).collect(),
            sets: order.iter().map(|(_, set, _)| *set).collect(),
            metric,
            scores: FxHashMap::default(),
            searches: 0,
        }
    }

    /// Returns the questions in the order of the cache.
    pub(crate) fn questions(&self) -> Vec<&'q Question> {
        self.questions.iter().map(|(_, question)| *question).collect()
    }

    /// Returns the index of the set of every question.
    pub(crate) fn sets(&self) -> &[usize] {
        &self.sets
    }

    /// Returns `true` if two configurations have the same scores in the first round of a race.
    pub(crate) fn agree(&mut self, a: &SearchConfig, b: &SearchConfig) -> Result<bool, TuneError> {
        let count = round_size(RACING_ROUNDS[0], self.questions.len());
        let scores = self.scores(a, count)?[..count].to_vec();
        Ok(self.scores(b, count)?[..count] == scores)
    }

    /// Returns the scores of a configuration on at least the first `count` questions.
    pub(crate) fn scores(&mut self, config: &SearchConfig, count: usize) -> Result<&[f64], TuneError> {
        let key: Vec<u64> = Parameter::numbers().map(|number| number.number(config).to_bits()).collect();
        let known = self.scores.entry(key).or_default();
        let from = known.len();
        if from < count {
            let fresh = search(self.engines, &self.questions[from..count], config, self.metric)?;
            self.searches += fresh.len() as u64;
            known.extend(fresh);
        }
        Ok(known)
    }
}

fn round_size(share: f64, all: usize) -> usize {
    ((all as f64 * share).ceil() as usize).min(all)
}

/// Searches for `questions` with `config`, and returns their scores in the same order.
fn search(
    engines: &[Engine],
    questions: &[(usize, &Question)],
    config: &SearchConfig,
    metric: Metric,
) -> Result<Vec<f64>, QueryError> {
    let mut scores = vec![0.0; questions.len()];
    for (number, engine) in engines.iter().enumerate() {
        let mine: Vec<usize> = (0..questions.len()).filter(|at| questions[*at].0 == number).collect();
        let asked: Vec<&Question> = mine.iter().map(|at| questions[*at].1).collect();
        for (at, measured) in mine.into_iter().zip(engine.measure(config, &asked)?) {
            scores[at] = measured.value(metric).unwrap_or(0.0);
        }
    }
    Ok(scores)
}

/// Averages the values of the questions that `counts` selects, first within each set and then over the sets. Returns
/// this mean and its standard error.
pub(crate) fn balanced(values: &[f64], sets: &[usize], counts: &[bool]) -> (f64, f64) {
    let groups = strata(values, sets, counts);
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    if groups.is_empty() {
        return (0.0, 0.0);
    }
    let (mut sum, mut variance) = (0.0, 0.0);
    for group in &groups {
        let n = group.len() as f64;
        let mean = group.iter().sum::<f64>() / n;
        sum += mean;
        variance += group.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n * n);
    }
    let count = groups.len() as f64;
    (sum / count, variance.sqrt() / count)
}

/// Returns the values of the questions that `counts` selects, grouped by set.
pub(crate) fn strata(values: &[f64], sets: &[usize], counts: &[bool]) -> Vec<Vec<f64>> {
    let mut groups = vec![Vec::new(); sets.iter().max().map_or(0, |last| last + 1)];
    for ((value, set), counts) in values.iter().zip(sets).zip(counts) {
        if *counts {
            groups[*set].push(*value);
        }
    }
    groups
}

/// The objective of one ascent: the scores of the training questions, within a budget of searches.
pub(crate) struct TrainingObjective<'b, 'q> {
    cache: &'b mut ScoreCache<'q>,
    seen: Vec<bool>,
    /// Value of [`ScoreCache::searches`] at which the ascent stops.
    until: u64,
}

impl<'b, 'q> TrainingObjective<'b, 'q> {
    /// Creates an objective for the questions that `seen` selects, with at most `budget` further searches.
    pub(crate) fn new(cache: &'b mut ScoreCache<'q>, seen: Vec<bool>, budget: Option<u64>) -> Self {
        let until = budget.map_or(u64::MAX, |budget| cache.searches.saturating_add(budget));
        Self { cache, seen, until }
    }

    /// Returns the number of training questions, at least 1.
    pub(crate) fn questions(&self) -> usize {
        self.seen.iter().filter(|seen| **seen).count().max(1)
    }

    /// Returns the paired differences of two configurations on the first `count` questions.
    fn differences(&mut self, a: &SearchConfig, b: &SearchConfig, count: usize) -> Result<Vec<f64>, TuneError> {
        let theirs = self.cache.scores(a, count)?[..count].to_vec();
        let ours = &self.cache.scores(b, count)?[..count];
        Ok(ours.iter().zip(&theirs).map(|(ours, theirs)| ours - theirs).collect())
    }
}

impl Objective for TrainingObjective<'_, '_> {
    fn improves(
        &mut self,
        incumbent: &SearchConfig,
        candidate: &SearchConfig,
        cost: f64,
        min_gain: f64,
    ) -> Result<bool, TuneError> {
        let (mut gain, mut error) = (0.0, 0.0);
        for round in RACING_ROUNDS {
            let count = round_size(round, self.seen.len());
            let differences = self.differences(incumbent, candidate, count)?;
            (gain, error) = balanced(&differences, &self.cache.sets[..count], &self.seen[..count]);
            gain -= cost;
            // The configurations do not differ, or the remaining questions are unlikely to bring the required gain.
            if differences.iter().all(|difference| *difference == 0.0) || gain + 2.0 * error < min_gain {
                return Ok(false);
            }
        }
        // A gain below its standard error may well be noise.
        Ok(gain > min_gain.max(error))
    }

    fn is_exhausted(&self) -> bool {
        self.cache.searches >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_equal_weight_regardless_of_their_size() {
        let values = [1.0, 1.0, 1.0, 0.0, 9.0];
        let sets = [0, 0, 0, 1, 1];
        let (mean, error) = balanced(&values, &sets, &[true, true, true, true, false]);
        assert_eq!((mean, error), (0.5, 0.0));
        assert_eq!(strata(&values, &sets, &[true; 5]), [vec![1.0; 3], vec![0.0, 9.0]]);
        assert_eq!(balanced(&[], &[], &[]), (0.0, 0.0));
    }
}
