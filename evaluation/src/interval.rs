//! Computes 95 % confidence intervals of means and of paired differences.

use serde::Serialize;

use crate::random::Random;

/// Number of resamples of a bootstrap.
const RESAMPLES: usize = 2_000;
/// Seed of the bootstrap. It is fixed, so that the same values give the same interval.
const SEED: u64 = 0x5EED;

/// A mean and the interval that contains the true mean with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// Returns half the width of the interval, which is printed after `±`.
    pub fn margin(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Returns `true` if the whole interval is above 0.
    pub fn is_gain(&self) -> bool {
        self.low > 0.0
    }
}

/// Computes the mean of independent `values` with Student's t-interval. A single value gives no estimate of the
/// variance, so its interval is infinite. Returns `None` for no values.
pub fn mean(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let margin = match values.len() {
        1 => f64::INFINITY,
        count => t_quantile(count - 1) * (squares / (n - 1.0) / n).sqrt(),
    };
    Some(Estimate { mean, low: mean - margin, high: mean + margin })
}

/// Computes the mean of each stratum (group of values), and returns the mean of these means. Therefore, all strata have
/// the same weight, independent of their size. The interval is a percentile bootstrap (Efron and Tibshirani, "An
/// Introduction to the Bootstrap", 1993) from 2,000 deterministic resamples within each stratum. If the values are
/// paired differences, this is a paired test. Returns `None` for no values.
pub fn bootstrap(strata: &[Vec<f64>]) -> Option<Estimate> {
    let strata: Vec<&Vec<f64>> = strata.iter().filter(|stratum| !stratum.is_empty()).collect();
    if strata.is_empty() {
        return None;
    }
    let count = strata.len() as f64;
    let average = |stratum: &[f64]| stratum.iter().sum::<f64>() / stratum.len() as f64;
    let mean = strata.iter().map(|stratum| average(stratum)).sum::<f64>() / count;
    let mut random = Random::new(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let resampled = strata.iter().map(|stratum| {
                let drawn = (0..stratum.len()).map(|_| stratum[random.below(stratum.len())]);
                drawn.sum::<f64>() / stratum.len() as f64
            });
            resampled.sum::<f64>() / count
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((RESAMPLES - 1) as f64 * share).round() as usize];
    Some(Estimate { mean, low: at(0.025), high: at(0.975) })
}

/// Computes the 97.5 % quantile of Student's t distribution with `freedom` degrees of freedom. For 1 and 2 degrees of
/// freedom, it returns tabulated values. Otherwise it uses the expansion around the normal quantile (Abramowitz and
/// Stegun, "Handbook of Mathematical Functions", 26.7.5), with an error below 0.005.
fn t_quantile(freedom: usize) -> f64 {
    const Z: f64 = 1.959_963_984_540_054;
    match freedom {
        0 => f64::INFINITY,
        1 => 12.706_204_736,
        2 => 4.302_652_730,
        _ => {
            let v = freedom as f64;
            let terms = [
                (Z.powi(3) + Z) / 4.0,
                (5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z) / 96.0,
                (3.0 * Z.powi(7) + 19.0 * Z.powi(5) + 17.0 * Z.powi(3) - 15.0 * Z) / 384.0,
                (79.0 * Z.powi(9) + 776.0 * Z.powi(7) + 1_482.0 * Z.powi(5) - 1_920.0 * Z.powi(3) - 945.0 * Z)
                    / 92_160.0,
            ];
            Z + terms.iter().zip(1..).map(|(term, power)| term / v.powi(power)).sum::<f64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        for (freedom, expected) in
            [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (1_000, 1.962)]
        {
            assert!((t_quantile(freedom) - expected).abs() < 0.006, "{freedom}: {}", t_quantile(freedom));
        }
    }

    #[test]
    fn the_interval_matches_a_textbook_sample() {
        let estimate = mean(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).expect("values");
        assert_eq!(estimate.mean, 5.0);
        // s = 2.138, t(7) = 2.365, 2.365 · 2.138 / √8 = 1.788
        assert!((estimate.margin() - 1.788).abs() < 0.003, "{estimate:?}");
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[0.5]).map(|estimate| estimate.high), Some(f64::INFINITY));
    }

    #[test]
    fn strata_have_equal_weight() {
        let estimate = bootstrap(&[vec![1.0; 90], vec![0.0; 10], Vec::new()]).expect("values");
        assert_eq!((estimate.mean, estimate.low, estimate.high), (0.5, 0.5, 0.5));
        assert_eq!(bootstrap(&[Vec::new()]), None);
    }

    #[test]
    fn noise_is_not_a_gain_but_a_steady_gain_is() {
        let noise: Vec<f64> = (0..100).map(|at| if at % 2 == 0 { 0.3 } else { -0.29 }).collect();
        assert!(!bootstrap(&[noise]).expect("values").is_gain());
        let gain: Vec<f64> = (0..100).map(|at| if at % 10 == 0 { -0.1 } else { 0.1 }).collect();
        assert!(bootstrap(&[gain]).expect("values").is_gain());
    }

    proptest! {
        #[test]
        fn intervals_contain_their_mean_and_are_deterministic(values in prop::collection::vec(-1.0..1.0_f64, 2..60)) {
            let t = mean(&values).expect("values");
            prop_assert!(t.low <= t.mean && t.mean <= t.high);
            let strata = [values];
            let b = bootstrap(&strata).expect("values");
            prop_assert!(b.low <= b.high && b.low <= b.mean + 1e-9 && b.high >= b.mean - 1e-9);
            prop_assert_eq!(bootstrap(&strata), Some(b));
            // Both methods estimate the same variance.
            prop_assert!(b.margin() <= t.margin() * 1.5 + 1e-9);
        }
    }
}
