//! Temporal decay, which lowers the score of an entry with its age.

use crate::scope::Scope;

/// The kinds of entries that have a decay rate, with their names in a configuration.
pub(crate) const KINDS: [&str; 6] = [TURN, "note", "knowledge", "reasoning", "log", "code"];
const TURN: &str = "turn";

/// Default decay rate of turns, per hour. The half-life is 7.9 years. The decay is only large enough to rank the newer
/// of two equally relevant turns first. A rate of 0.01 hides turns that are several weeks old; see
/// `docs/internals/memory-measurements.md`.
const DEFAULT_TURN_LAMBDA: f64 = 0.00001;

/// Returns the weight `exp(−λ · t)`, from 0 to 1, of an entry whose age `t` is `age_hours`. A negative age counts as 0.
///
/// The half-life is `ln 2 / λ`. It is 693.1 hours for a rate of 0.001 per hour, 69.3 for 0.01, and 6.93 for 0.1.
pub fn temporal_weight(lambda_per_hour: f64, age_hours: f64) -> f64 {
    // The product of a rate of 0 and an infinite age would be NaN.
    if lambda_per_hour == 0.0 { 1.0 } else { (-lambda_per_hour * age_hours.max(0.0)).exp() }
}

/// The decay rates λ, per hour, for every kind and scope.
///
/// The default is 0.00001 for turns in every scope, and 0 for all other kinds. The table `[memory.decay]` sets other
/// rates: `turn = 0.02` sets the rate of turns in every scope, and `turn.session = 0.1` sets it in one scope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayRates {
    /// The rates, indexed by kind and then by scope.
    lambdas: [[f64; Scope::ALL.len()]; KINDS.len()],
}

impl Default for DecayRates {
    fn default() -> Self {
        let mut rates = Self { lambdas: Default::default() };
        rates.set(TURN, Scope::ALL, DEFAULT_TURN_LAMBDA);
        rates
    }
}

impl DecayRates {
    /// Sets the decay rate of a kind in some scopes.
    pub(crate) fn set(&mut self, kind: &str, scopes: &[Scope], lambda: f64) {
        let Some(kind) = KINDS.iter().position(|name| *name == kind) else { return };
        for scope in scopes {
            self.lambdas[kind][*scope as usize] = lambda;
        }
    }

    /// Iterates over the kinds and their rates in the order of [`Scope::ALL`].
    pub fn by_kind(&self) -> impl Iterator<Item = (&'static str, &[f64])> {
        KINDS.into_iter().zip(self.lambdas.iter().map(<[f64; Scope::ALL.len()]>::as_slice))
    }

    /// Returns the decay rate λ, per hour; 0 for an unknown kind.
    pub fn lambda(&self, kind: &str, scope: Scope) -> f64 {
        let kind = KINDS.iter().position(|name| *name == kind);
        kind.map_or(0.0, |kind| self.lambdas[kind][scope as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_lives_match_values_computed_by_hand() {
        let check = |lambda: f64, half_life: f64| {
            let weight = temporal_weight(lambda, half_life);
            assert!((weight - 0.5).abs() < 1e-5, "{lambda} per hour after {half_life} hours: {weight}");
        };
        check(0.001, 693.147);
        check(0.01, 69.3147);
        check(0.1, 6.93147);
    }

    #[test]
    fn weights_match_values_computed_by_hand() {
        let check = |lambda: f64, age: f64, expected: f64| {
            assert!((temporal_weight(lambda, age) - expected).abs() < 1e-9, "{lambda} per hour after {age} hours");
        };
        check(0.01, 0.0, 1.0);
        check(0.01, 1.0, 0.990_049_833_7);
        check(0.01, 168.0, 0.186_373_976_0);
        check(0.1, 24.0, 0.090_717_953_3);
        check(0.01, -5.0, 1.0);
        check(0.0, f64::INFINITY, 1.0);
        check(0.01, f64::INFINITY, 0.0);
        // An entry that is an hour old weighs more than twice as much as an entry that is a week old.
        assert!(temporal_weight(0.01, 1.0) > 2.0 * temporal_weight(0.01, 168.0));
    }

    #[test]
    fn only_turns_decay_by_default() {
        let rates = DecayRates::default();
        for (kind, scope) in KINDS.into_iter().flat_map(|kind| Scope::ALL.iter().map(move |scope| (kind, *scope))) {
            let expected = if kind == TURN { 0.00001 } else { 0.0 };
            assert_eq!(rates.lambda(kind, scope), expected, "{kind} {scope:?}");
        }
    }
}
