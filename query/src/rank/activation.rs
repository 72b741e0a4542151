//! Activation: an estimate of how likely a chunk is needed now, based on its history rather than its words (ACT-R;
//! Anderson and Lebiere, "The Atomic Components of Thought", 1998).
//!
//! Activation = base level + git prior + spreading + context boost − decay, normalised within the candidates of a
//! query. The effect of judgements is added afterwards. Times are Unix seconds. `now` is always an argument, so the
//! same call returns the same number on any day.

use aurora_storage::{AccessRecord, ChunkRecord};

use crate::config::ActivationConfig;
use crate::rank::forgetting::{self, Forgetting};
use crate::rank::fusion::min_max;
use crate::rank::learning;
use crate::rank::uses::days_between;

pub use crate::rank::uses::{DAY, UseHistory, YEAR};

/// Minimum age of a use in days, which limits the contribution of a use that has just happened.
const MIN_DAYS: f64 = 1.0 / 24.0;

/// The parts of an activation. The parts from history are `None` if the chunk has no history.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct ActivationParts {
    /// `ln Σ t^(−d)`, with `t` in days and the decay `d` of the chunk's type.
    pub base_level: Option<f32>,
    /// `0.5^(years since the newest commit)`.
    pub git_prior: Option<f32>,
    /// The effect of disuse, which is subtracted: `0.5 · log10(days since the last use)`, 0 within a day.
    pub decay: Option<f32>,
    /// The way in which the activation of the chunk decays.
    pub forgetting: Forgetting,
    /// Activation that spread from related chunks.
    pub spreading: f32,
    /// Boost for words of the query in the chunk's name.
    pub context: f32,
    /// Effect of judgements, as a share of the range of activation among the candidates.
    pub learning: f32,
}

impl ActivationParts {
    /// Returns the sum of the parts from history, which do not depend on the query; `None` if the chunk has no history.
    pub fn history(&self) -> Option<f32> {
        let base = self.base_level?;
        Some(base + self.git_prior.unwrap_or(0.0) - self.decay.unwrap_or(0.0))
    }

    /// Returns the sum of all parts except judgements. `neutral` replaces a missing history.
    pub fn total(&self, neutral: f32) -> f32 {
        self.history().unwrap_or(neutral) + self.spreading + self.context
    }
}

/// Returns the parts of a chunk's activation at `now` that follow from its stored history. `forgetting` is the kind of
/// forgetting if the rules of a memory determine it, and otherwise `None`.
pub(crate) fn for_chunk(
    config: &ActivationConfig,
    chunk: ChunkRecord<'_>,
    access: Option<&AccessRecord>,
    forgetting: Option<Forgetting>,
    now: i64,
) -> ActivationParts {
    let uses = UseHistory::from_chunk(chunk, access);
    let rate = config.type_decay.of(chunk.chunk_type());
    let way = forgetting.unwrap_or_else(|| forgetting::forgetting_of(config, chunk, &uses, now));
    ActivationParts {
        learning: access.map_or(0.0, |access| config.learning.learned(&access.judgements)),
        ..from_history(config, &uses, (way, rate), now)
    }
}

/// Returns the parts of an activation at `now` that follow from `history`. The third argument is the kind and the rate
/// of forgetting.
pub fn from_history(
    config: &ActivationConfig,
    history: &UseHistory,
    (forgetting, rate): (Forgetting, f32),
    now: i64,
) -> ActivationParts {
    let uses = history.commits.iter().chain(&history.accesses).copied();
    let newest_commit = history.commits.iter().copied().max();
    let d = f64::from(config.decay * rate);
    ActivationParts {
        base_level: base_level(d, uses, now).map(|value| config.base_level * value as f32),
        git_prior: newest_commit.map(|time| config.git_prior * git_prior(time, now) as f32),
        decay: history.last().map(|time| forgetting::decay(config, forgetting, rate, time, now) as f32),
        forgetting,
        ..ActivationParts::default()
    }
}

/// Returns the activations of a query's candidates, normalised to 0..1 and adjusted by judgements, and the value that
/// replaces a missing history.
pub(crate) fn normalised(parts: &[ActivationParts]) -> (Vec<Option<f32>>, f32) {
    let neutral = neutral(parts);
    let totals: Vec<Option<f32>> = parts.iter().map(|parts| Some(parts.total(neutral))).collect();
    let mut values: Vec<f32> = min_max(&totals).into_iter().map(Option::unwrap_or_default).collect();
    learning::apply(&mut values, &parts.iter().map(|parts| parts.learning).collect::<Vec<_>>());
    (values.into_iter().map(Some).collect(), neutral)
}

/// Base-level learning: `ln Σ t_j^(−d)` over the uses, with `t_j` in days and at least an hour. `None` if there is no
/// use.
///
/// ```
/// use aurora_query::activation::base_level;
/// // once a day ago and once four days ago: ln(1 + 1/2)
/// let value = base_level(0.5, [0, 3 * 86_400].into_iter(), 4 * 86_400).unwrap();
/// assert!((value - 1.5f64.ln()).abs() < 1e-12);
/// ```
pub fn base_level(d: f64, uses: impl Iterator<Item = i64>, now: i64) -> Option<f64> {
    let mut times: Vec<i64> = uses.collect();
    if times.is_empty() {
        return None;
    }
    times.sort_unstable(); // the order of the sum does not depend on the order of `uses`
    Some(times.into_iter().map(|time| days_between(time, now).max(MIN_DAYS).powf(-d)).sum::<f64>().ln())
}

/// Prior from version control: halves with every year since the newest commit.
pub fn git_prior(newest_commit: i64, now: i64) -> f64 {
    0.5f64.powf(days_between(newest_commit, now) / YEAR)
}

/// Boost of a chunk whose names contain words of the query. `share` is the share of the query that the names contain.
pub fn context_boost(config: &ActivationConfig, share: f32) -> f32 {
    config.context_boost * share.clamp(0.0, 1.0)
}

/// Returns the value that replaces a missing history: the mean of the known histories, or 0 if no history is known. The
/// values are summed in the given order, so pass a stable order.
pub fn neutral(parts: &[ActivationParts]) -> f32 {
    let (sum, count) = parts
        .iter()
        .filter_map(ActivationParts::history)
        .fold((0.0f64, 0u32), |(sum, count), value| (sum + f64::from(value), count + 1));
    if count == 0 { 0.0 } else { (sum / f64::from(count)) as f32 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::SearchConfig;

    const DAYS: i64 = 86_400;

    #[test]
    fn formulas_by_hand() {
        let now = 1_000 * DAYS;
        // 100 and 25 days ago: 0.1 + 0.2
        let base = base_level(0.5, [now - 100 * DAYS, now - 25 * DAYS].into_iter(), now).expect("two uses");
        assert!((base - 0.3f64.ln()).abs() < 1e-12);
        assert_eq!(base_level(0.5, std::iter::empty(), now), None);
        assert!((git_prior(now - 1461 * DAYS / 2, now) - 0.25).abs() < 1e-12); // two years
        let boost = context_boost(&SearchConfig::default().activation, 0.5);
        assert_eq!(boost, 0.25);
    }

    #[test]
    fn no_history_is_neutral() {
        let config = SearchConfig::default().activation;
        let now = 1_000 * DAYS;
        let parts = |commits: &[i64], accesses: &[i64]| {
            let history =
                UseHistory { commits: commits.to_vec(), accesses: accesses.to_vec(), shown: accesses.len() as u64 };
            from_history(&config, &history, (Forgetting::Logarithmic, 1.0), now)
        };
        let old = parts(&[now - 900 * DAYS], &[]);
        let new = parts(&[now - DAYS], &[now - DAYS]);
        let none = parts(&[], &[]);
        let middle = neutral(&[old, new, none]);
        assert!(old.total(middle) < none.total(middle) && none.total(middle) < new.total(middle));
        assert_eq!(neutral(&[none]), 0.0);
    }

    proptest! {
        #[test]
        fn another_use_never_lowers_the_base_level(times in prop::collection::vec(0i64..1_000_000_000, 1..20), extra in 0i64..1_000_000_000) {
            let now = 1_000_000_000;
            let before = base_level(0.5, times.iter().copied(), now);
            let after = base_level(0.5, times.iter().copied().chain([extra]), now);
            prop_assert!(after > before);
        }

        #[test]
        fn base_level_does_not_depend_on_the_order_of_uses(mut times in prop::collection::vec(0i64..1_000_000_000, 1..20)) {
            let before = base_level(0.5, times.iter().copied(), 1_000_000_000);
            times.reverse();
            prop_assert_eq!(before, base_level(0.5, times.iter().copied(), 1_000_000_000));
        }

        #[test]
        fn time_passing_never_raises_an_activation(times in prop::collection::vec(0i64..1_000_000_000, 1..20), later in 0i64..1_000_000_000) {
            let config = SearchConfig::default().activation;
            let history = UseHistory { commits: times, ..UseHistory::default() };
            let at = |now| from_history(&config, &history, (Forgetting::Logarithmic, 1.0), now).total(0.0);
            prop_assert!(at(1_000_000_000 + later) <= at(1_000_000_000));
        }
    }
}
