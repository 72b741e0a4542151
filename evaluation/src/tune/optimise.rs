//! Runs the tuning: cross-validation over folds, then a final ascent over all questions.

use aurora_query::{Parameter, SearchConfig};

use crate::engine::Engine;
use crate::golden::{self, Question};
use crate::interval::{self, Estimate};
use crate::metrics::Metric;
use crate::tune::error::TuneError;
use crate::tune::racing::{ScoreCache, TrainingObjective, balanced, strata};
use crate::tune::report::{Comparison, ParameterChange, TuneReport, TunedSet};
use crate::tune::space::{Direction, Space};
use crate::tune::{ascent, folds};

/// Options of a tuning run.
#[derive(Debug, Clone)]
pub struct TuneOptions {
    /// Configuration to start from and to compare with.
    pub start: SearchConfig,
    /// Metric to raise.
    pub metric: Metric,
    /// Number of folds, at least 2.
    pub folds: usize,
    /// Number of passes over all numbers; steps halve from one pass to the next.
    pub rounds: u32,
    /// Cost, in questions, of moving a number away from the start by the size of its first step. A move with a cost of
    /// 1 must gain as much as one more perfectly answered question. The cost grows with the square of the distance. 0
    /// turns the cost off.
    pub regularisation: f64,
    /// Prefixes of the keys that may change, with or without `search.`; if empty, all numbers may change.
    pub keys: Vec<String>,
    /// Maximum number of searches, divided equally among the ascents.
    pub budget: Option<u64>,
}

/// Learns from `questions`, and finally measures the learned numbers on `held_out`. Each question comes with the index
/// of its engine. `progress` receives messages about the progress. The result depends only on the arguments.
///
/// # Errors
/// Fails if there are too few questions, if a key is unknown, or if an index cannot be read.
pub fn tune(
    engines: &[Engine],
    questions: &[(usize, Question)],
    held_out: &[(usize, Question)],
    options: &TuneOptions,
    progress: &dyn Fn(&str),
) -> Result<TuneReport, TuneError> {
    let mut space = Space::new(&options.keys)?;
    let mut cache = ScoreCache::new(engines, questions, options.metric);
    let asked = cache.questions();
    let least = options.folds * 2;
    if asked.len() < least {
        let (questions, metric, folds) = (asked.len(), options.metric, options.folds);
        return Err(TuneError::TooFew { questions, metric, folds, least });
    }
    let assigned = folds::assign(&asked, options.folds);
    let share = options.budget.map(|budget| budget / (options.folds as u64 + 1));
    let start = &options.start;
    let before = cache.scores(start, asked.len())?.to_vec();
    let inert = inert(&space, start, &mut cache)?;
    space.numbers.retain(|number| !inert.contains(&number.key));
    progress(&format!("{} of the numbers affect an answer", space.numbers.len()));
    let mut after = vec![0.0; asked.len()];
    let mut of_folds = Vec::new();
    for fold in 0..options.folds {
        let seen: Vec<bool> = assigned.iter().map(|of| *of != fold).collect();
        let learned = climb(options, &space, &mut TrainingObjective::new(&mut cache, seen, share))?;
        for (at, score) in cache.scores(&learned, asked.len())?.iter().enumerate() {
            if assigned[at] == fold {
                after[at] = *score;
            }
        }
        progress(&format!("fold {} of {}: {} searches so far", fold + 1, options.folds, cache.searches));
        of_folds.push(learned);
    }
    let config = climb(options, &space, &mut TrainingObjective::new(&mut cache, vec![true; asked.len()], share))?;
    let trained = cache.scores(&config, asked.len())?.to_vec();
    let sets = cache.sets().to_vec();
    let searches = cache.searches;
    Ok(TuneReport {
        metric: options.metric,
        golden: digest(&asked),
        folds: options.folds,
        rounds: options.rounds,
        regularisation: options.regularisation,
        searches,
        cross_validated: compare(&before, &after, &sets, &vec![true; asked.len()]),
        sets: by_set(&asked, &before, &after, &sets),
        trained: compare(&before, &trained, &sets, &vec![true; asked.len()]),
        held_out: compare_held_out(engines, held_out, options, &config)?,
        changes: changes(&space, start, &config, &of_folds),
        config,
    })
}

fn climb(
    options: &TuneOptions,
    space: &Space,
    objective: &mut TrainingObjective<'_, '_>,
) -> Result<SearchConfig, TuneError> {
    // One unit of the option is the score of one question, but the objective is a mean over all questions.
    let regularisation = options.regularisation / objective.questions() as f64;
    ascent::climb(space, &options.start, options.rounds, regularisation, objective)
}

/// Returns the keys of the numbers whose first step up or down changes no score in the first racing round. Examples are
/// numbers of a fusion method that is not in use, and numbers of rules for files that do not occur.
fn inert(space: &Space, start: &SearchConfig, cache: &mut ScoreCache<'_>) -> Result<Vec<&'static str>, TuneError> {
    let mut inert = Vec::new();
    for (at, number) in space.numbers.iter().enumerate() {
        let mut moves = false;
        for direction in [Direction::Up, Direction::Down] {
            if let Some(moved) = space.step(start, at, direction, 0) {
                moves = moves || !cache.agree(start, &moved)?;
            }
        }
        if !moves {
            inert.push(number.key);
        }
    }
    Ok(inert)
}

fn compare(before: &[f64], after: &[f64], sets: &[usize], counts: &[bool]) -> Comparison {
    let gains: Vec<f64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    let none = Estimate { mean: 0.0, low: 0.0, high: 0.0 };
    Comparison {
        questions: counts.iter().filter(|counts| **counts).count(),
        before: balanced(before, sets, counts).0,
        after: balanced(after, sets, counts).0,
        difference: interval::bootstrap(&strata(&gains, sets, counts)).unwrap_or(none),
    }
}

fn by_set(asked: &[&Question], before: &[f64], after: &[f64], sets: &[usize]) -> Vec<TunedSet> {
    let mut numbers: Vec<(usize, &str)> = sets.iter().copied().zip(asked.iter().map(|q| q.set.as_str())).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let one = |(number, name): (usize, &str)| {
        let counts: Vec<bool> = sets.iter().map(|set| *set == number).collect();
        TunedSet { set: name.to_owned(), comparison: compare(before, after, sets, &counts) }
    };
    numbers.into_iter().map(one).collect()
}

fn compare_held_out(
    engines: &[Engine],
    held_out: &[(usize, Question)],
    options: &TuneOptions,
    config: &SearchConfig,
) -> Result<Option<Comparison>, TuneError> {
    let mut cache = ScoreCache::new(engines, held_out, options.metric);
    let count = cache.questions().len();
    if count == 0 {
        return Ok(None);
    }
    let before = cache.scores(&options.start, count)?.to_vec();
    let after = cache.scores(config, count)?.to_vec();
    Ok(Some(compare(&before, &after, cache.sets(), &vec![true; count])))
}

fn changes(
    space: &Space,
    start: &SearchConfig,
    config: &SearchConfig,
    of_folds: &[SearchConfig],
) -> Vec<ParameterChange> {
    let keys = Parameter::numbers().filter(|number| {
        // A share changes with the other shares of its table, even if it is not tuned itself.
        let walked = |other: &&Parameter| {
            other.key == number.key || (other.share_of().is_some() && other.share_of() == number.share_of())
        };
        space.numbers.iter().any(walked)
    });
    keys.filter_map(|number| {
        let (before, after) = (number.number(start), number.number(config));
        let same = |fold: &&SearchConfig| (number.number(fold) - before) * (after - before) > 0.0;
        let folds_agree = of_folds.iter().filter(same).count();
        (before != after).then_some(ParameterChange { key: number.key, before, after, folds_agree })
    })
    .collect()
}

/// Returns the first 16 hexadecimal digits of the BLAKE3 hash of the questions, independent of their order.
fn digest(questions: &[&Question]) -> String {
    let mut lines: Vec<String> = questions.iter().map(|question| golden::to_jsonl(&[(*question).clone()])).collect();
    lines.sort_unstable();
    blake3::hash(lines.concat().as_bytes()).to_hex()[..16].to_owned()
}
