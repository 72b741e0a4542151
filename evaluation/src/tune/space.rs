//! The search space of tuning: the numbers of a configuration, and the steps that change them.

use aurora_query::{Parameter, SearchConfig};
use aurora_suggest::nearest;

/// Size of the first step of a number that is not whole and whose range has an upper end, as a share of the range.
const FIRST_SHARE: f64 = 0.2;
/// Size of the first step of a number whose range has no upper end, and of a whole number whose range is wider than
/// [`MAX_UNIT_STEP_VALUES`], as a share of the current value.
const FIRST_FACTOR: f64 = 0.5;
/// Minimum size of the first step of a number that is not whole and whose range has no upper end.
const MIN_STEP: f64 = 0.1;
/// If the range of a whole number is at most this wide, its first step is 1. For wider ranges, the first step is a
/// share of the value ([`FIRST_FACTOR`]).
const MAX_UNIT_STEP_VALUES: f64 = 20.0;
/// Scale for rounding values to four decimals, as a person would write them.
const DECIMALS: f64 = 1e4;

/// Direction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Down,
    Up,
}

/// The numbers that tuning may change.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    pub(crate) numbers: Vec<&'static Parameter>,
}

/// The error of a prefix that matches no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no number of the configuration begins with `{given}`{help}")]
pub struct UnknownKeys {
    given: String,
    help: String,
}

impl Space {
    /// Selects the numbers whose keys begin with one of `prefixes`, with or without `search.`, or all numbers if there
    /// are no prefixes.
    pub(crate) fn new(prefixes: &[String]) -> Result<Self, UnknownKeys> {
        let all: Vec<&'static Parameter> = Parameter::numbers().collect();
        let begins = |key: &str, prefix: &str| {
            key.starts_with(prefix) || key.strip_prefix("search.").is_some_and(|key| key.starts_with(prefix))
        };
        for given in prefixes {
            if !all.iter().any(|number| begins(number.key, given)) {
                let short = |key: &'static str| key.strip_prefix("search.").unwrap_or(key);
                let tables = all.iter().filter_map(|number| short(number.key).rsplit_once('.')).map(|(table, _)| table);
                let known = all.iter().flat_map(|number| [number.key, short(number.key)]).chain(tables);
                let help = nearest(given, known).map_or_else(String::new, |key| format!("; did you mean `{key}`?"));
                return Err(UnknownKeys { given: given.clone(), help });
            }
        }
        let wanted =
            |number: &&Parameter| prefixes.is_empty() || prefixes.iter().any(|prefix| begins(number.key, prefix));
        Ok(Self { numbers: all.into_iter().filter(wanted).collect() })
    }

    /// Returns the configuration after one step of a number. Steps halve with every `round`. Returns `None` at the end
    /// of the range.
    pub(crate) fn step(
        &self,
        config: &SearchConfig,
        at: usize,
        direction: Direction,
        round: u32,
    ) -> Option<SearchConfig> {
        let number = self.numbers[at];
        let value = number.number(config);
        let (low, high) = (*number.range.start(), *number.range.end());
        let shrunk = 0.5_f64.powi(round as i32);
        let step = first_step(number, value) * shrunk;
        let step = if number.is_whole() { step.max(1.0) } else { step };
        let next = match direction {
            Direction::Down => value - step,
            Direction::Up => value + step,
        };
        let next = next.clamp(low, high);
        let next = if number.is_whole() { next.round() } else { (next * DECIMALS).round() / DECIMALS };
        if next == value || !number.range.contains(&next) {
            return None;
        }
        let mut stepped = config.clone();
        match number.share_of() {
            Some(table) => share(&mut stepped, number, table, next)?,
            None => number.set(&mut stepped, &next.to_string()).ok()?,
        }
        Some(stepped)
    }
}

impl Space {
    /// Returns the sum of the squared distances of all numbers. The unit of each distance is the size of the first step
    /// of the number.
    pub(crate) fn distance(&self, from: &SearchConfig, to: &SearchConfig) -> f64 {
        let of_number = |number: &&Parameter| {
            let (from, to) = (number.number(from), number.number(to));
            ((to - from) / first_step(number, from)).powi(2)
        };
        self.numbers.iter().map(of_number).sum()
    }
}

/// Returns the size of the first step from a value of a number.
fn first_step(number: &Parameter, value: f64) -> f64 {
    let (low, high) = (*number.range.start(), *number.range.end());
    match (number.is_whole(), high.is_finite()) {
        (true, _) if high - low <= MAX_UNIT_STEP_VALUES => 1.0,
        (true, _) => (value * FIRST_FACTOR).max(1.0),
        (false, true) => (high - low) * FIRST_SHARE,
        (false, false) => (value * FIRST_FACTOR).max(MIN_STEP),
    }
}

/// Sets one share of a table, and scales the other shares so that all shares still sum to 1.
fn share(config: &mut SearchConfig, number: &Parameter, table: &str, value: f64) -> Option<()> {
    let of_table = Parameter::numbers().filter(|other| other.share_of() == Some(table) && other.key != number.key);
    let others: Vec<&Parameter> = of_table.collect();
    let before: Vec<f64> = others.iter().map(|other| other.number(config)).collect();
    let (sum, rest) = (before.iter().sum::<f64>(), 1.0 - value);
    let mut left = rest;
    for (at, (other, old)) in others.iter().zip(&before).enumerate() {
        let is_last = at + 1 == others.len();
        let scaled = if sum > 0.0 { old / sum * rest } else { rest / others.len() as f64 };
        let new = if is_last { left } else { (scaled * DECIMALS).round() / DECIMALS };
        let new = (new.max(0.0) * DECIMALS).round() / DECIMALS;
        left -= new;
        other.set(config, &new.to_string()).ok()?;
    }
    number.set(config, &value.to_string()).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn prefixes_choose_numbers() {
        let some = Space::new(&["rules".to_owned(), "search.bm25.k1".to_owned()]).expect("keys");
        assert!(
            some.numbers.iter().all(|number| number.key.starts_with("search.rules.") || number.key == "search.bm25.k1")
        );
        assert!(some.numbers.iter().any(|number| number.key == "search.bm25.k1"));
        let error = Space::new(&["ruels".to_owned()]).expect_err("the key does not exist").to_string();
        assert_eq!(error, "no number of the configuration begins with `ruels`; did you mean `rules`?");
    }

    proptest! {
        #[test]
        fn every_walk_stays_valid(steps in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), 0..4_u32), 1..60)) {
            let space = Space::new(&[]).expect("all keys");
            let mut config = SearchConfig::default();
            for (at, up, round) in steps {
                let direction = if up { Direction::Up } else { Direction::Down };
                if let Some(next) = space.step(&config, at.index(space.numbers.len()), direction, round) {
                    prop_assert_ne!(&next, &config);
                    config = next;
                }
            }
            let mut sums: std::collections::BTreeMap<&str, f64> = Default::default();
            for number in &space.numbers {
                let value = number.number(&config);
                prop_assert!(number.range.contains(&value), "{} = {}", number.key, value);
                if let Some(table) = number.share_of() {
                    *sums.entry(table).or_default() += value;
                }
            }
            prop_assert!(sums.values().all(|sum| (sum - 1.0).abs() < 1e-4), "{:?}", sums);
        }
    }
}
