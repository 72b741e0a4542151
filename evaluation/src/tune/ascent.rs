//! Coordinate ascent: each number in turn takes steps up or down as long as they improve the objective.

use aurora_query::SearchConfig;

use crate::tune::error::TuneError;
use crate::tune::space::{Direction, Space};

/// Maximum number of steps in one direction. Then the ascent continues with the next number.
const MAX_STEPS: usize = 3;
/// Minimum gain of a step. A smaller gain is considered noise.
const MIN_GAIN: f64 = 2e-4;

/// Compares configurations during an ascent.
pub(crate) trait Objective {
    /// Returns `true` if `candidate` is better than `incumbent`, by more than `min_gain` and by more than chance.
    /// `cost` is subtracted from the gain of `candidate`.
    fn improves(
        &mut self,
        incumbent: &SearchConfig,
        candidate: &SearchConfig,
        cost: f64,
        min_gain: f64,
    ) -> Result<bool, TuneError>;

    /// Returns `true` if the budget is spent.
    fn is_exhausted(&self) -> bool;
}

/// Improves `start` in at most `rounds` rounds. A round visits every number once, and steps shrink from round to round.
///
/// `regularisation` is the cost, in units of the objective, of moving a number away from the start by the size of its
/// first step. The cost grows with the square of the distance (ridge regression), so that numbers with little evidence
/// stay unchanged.
pub(crate) fn climb(
    space: &Space,
    start: &SearchConfig,
    rounds: u32,
    regularisation: f64,
    objective: &mut dyn Objective,
) -> Result<SearchConfig, TuneError> {
    let mut best = start.clone();
    let distance = |config: &SearchConfig| space.distance(start, config);
    for round in 0..rounds {
        for at in 0..space.numbers.len() {
            for direction in [Direction::Up, Direction::Down] {
                let mut moved = false;
                for _ in 0..MAX_STEPS {
                    if objective.is_exhausted() {
                        return Ok(best);
                    }
                    let Some(candidate) = space.step(&best, at, direction, round) else { break };
                    let cost = regularisation * (distance(&candidate) - distance(&best));
                    if !objective.improves(&best, &candidate, cost, MIN_GAIN)? {
                        break;
                    }
                    (best, moved) = (candidate, true);
                }
                if moved {
                    break;
                }
            }
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use aurora_query::Parameter;

    use super::*;

    /// A paraboloid with its maximum at known values of two numbers.
    struct Paraboloid {
        asked: usize,
    }

    impl Paraboloid {
        fn at(config: &SearchConfig) -> f64 {
            let number = |key: &str| Parameter::find(key).expect("a number").number(config);
            1.0 - (number("search.bm25.k1") - 0.9).powi(2) - (number("search.bm25.b") - 0.4).powi(2)
        }
    }

    impl Objective for Paraboloid {
        fn improves(
            &mut self,
            incumbent: &SearchConfig,
            candidate: &SearchConfig,
            cost: f64,
            min_gain: f64,
        ) -> Result<bool, TuneError> {
            self.asked += 1;
            Ok(Self::at(candidate) - Self::at(incumbent) - cost > min_gain)
        }

        fn is_exhausted(&self) -> bool {
            self.asked >= 500
        }
    }

    #[test]
    fn the_maximum_is_found_and_other_numbers_stay() {
        let space = Space::new(&[]).expect("all keys");
        let start = SearchConfig::default();
        let best = climb(&space, &start, 4, 0.0, &mut Paraboloid { asked: 0 }).expect("no error");
        assert!(Paraboloid::at(&best) > 0.98, "{best:?}");
        for number in &space.numbers {
            if !["search.bm25.k1", "search.bm25.b"].contains(&number.key) {
                assert_eq!(number.number(&best), number.number(&start), "{}", number.key);
            }
        }
    }

    #[test]
    fn a_higher_cost_of_steps_keeps_the_result_nearer_to_the_start() {
        let space = Space::new(&["bm25".to_owned()]).expect("keys");
        let start = SearchConfig::default();
        let climb = |cost| climb(&space, &start, 4, cost, &mut Paraboloid { asked: 0 }).expect("no error");
        let distances = [0.0, 0.05, 0.1, 10.0].map(|cost| space.distance(&start, &climb(cost)));
        assert!(distances.is_sorted_by(|nearer, farther| nearer > farther), "{distances:?}");
        assert_eq!(distances[3], 0.0);
    }
}
