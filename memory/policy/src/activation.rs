//! The loss of activation of an unused entry.

use std::f64::consts::LN_2;

use crate::lifespan::Decay;

/// Number of half-lives after which the exponential part of the loss no longer grows.
const MAX_HALF_LIVES: f64 = 4.0;

/// Parameters of [`activation_loss`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Factor of the logarithmic loss; 0.5 by default.
    pub inactivity: f64,
    /// Days without use after which an entry counts as inactive; 90 by default.
    pub inactive_after: f64,
    /// Half-life in days: the number of additional days without use after which exponential decay has lowered the
    /// activation by `ln 2`; 180 by default. With 0, only the logarithmic loss applies.
    pub half_life: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Self { inactivity: 0.5, inactive_after: 90.0, half_life: 180.0 }
    }
}

/// Returns the loss of activation after `inactive_days` days without use. The loss is at least 0. Activation is a
/// logarithm, so a loss of `ln 2` halves the strength of an entry.
///
/// - With logarithmic decay, the loss is `inactivity · log10(max(1, days))`.
/// - With exponential decay, the loss is the logarithmic loss, plus `ln 2` for each half-life after the first
///   `inactive_after` days, up to four half-lives.
/// - Without decay, the loss is 0.
///
/// The logarithmic loss is the inactivity term of the base-level activation in ACT-R.
pub fn activation_loss(decay: Decay, inactive_days: f64, rates: &Rates) -> f64 {
    // `max` also replaces NaN with 1.
    let logarithmic = rates.inactivity * inactive_days.max(1.0).log10();
    match decay {
        Decay::None => 0.0,
        Decay::Logarithmic => logarithmic,
        Decay::Exponential if rates.half_life > 0.0 => {
            let half_lives = (inactive_days.max(0.0) - rates.inactive_after) / rates.half_life;
            logarithmic + LN_2 * half_lives.clamp(0.0, MAX_HALF_LIVES)
        }
        Decay::Exponential => logarithmic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_match_values_computed_by_hand() {
        let check = |decay, days, expected: f64| {
            let loss = activation_loss(decay, days, &Rates::default());
            assert!((loss - expected).abs() < 1e-9, "{decay} after {days} days: {loss}, not {expected}");
        };
        check(Decay::None, 300.0, 0.0);
        check(Decay::Logarithmic, 0.0, 0.0);
        check(Decay::Logarithmic, 0.5, 0.0);
        check(Decay::Logarithmic, 10.0, 0.5);
        check(Decay::Logarithmic, 100.0, 1.0);
        check(Decay::Logarithmic, 1000.0, 1.5);
        check(Decay::Exponential, 10.0, 0.5);
        // 0.5 · log10(90)
        check(Decay::Exponential, 90.0, 0.977_121_254_7);
        // 0.5 · log10(270) + ln 2
        check(Decay::Exponential, 270.0, 1.908_829_062_7);
        // 0.5 · log10(10000) + 4 · ln 2
        check(Decay::Exponential, 10_000.0, 4.772_588_722_2);
    }

    #[test]
    fn losses_depend_on_rates_and_ignore_invalid_days() {
        let rates = Rates { inactivity: 1.0, inactive_after: 30.0, half_life: 0.0 };
        assert_eq!(activation_loss(Decay::Exponential, 100.0, &rates), 2.0);
        let rates = Rates { half_life: 70.0, ..rates };
        assert!((activation_loss(Decay::Exponential, 100.0, &rates) - (2.0 + LN_2)).abs() < 1e-12);
        for decay in [Decay::Logarithmic, Decay::Exponential, Decay::None] {
            assert_eq!(activation_loss(decay, f64::NAN, &Rates::default()), 0.0);
            assert_eq!(activation_loss(decay, -5.0, &Rates::default()), 0.0);
        }
    }
}
