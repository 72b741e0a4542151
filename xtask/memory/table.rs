//! Prints means, paired differences and their confidence intervals as rows of Markdown tables.

use aurora_evaluation::interval::{Estimate, bootstrap};
use aurora_evaluation::metrics::{Measured, Metric};

/// The measured metrics, in the order of the columns.
pub(crate) const METRICS: [Metric; 5] =
    [Metric::Recall5, Metric::Recall10, Metric::Mrr, Metric::Precision5, Metric::Ndcg];

/// Prints the head of a table: the columns that describe a row, the number of questions, and the metrics.
pub(crate) fn print_head(named: &[&str]) {
    let names = named.iter().copied().chain(["questions"]).chain(METRICS.map(Metric::title));
    let names: Vec<&str> = names.collect();
    println!("\n| {} |\n|{}", names.join(" | "), "---|".repeat(names.len()));
}

/// Prints the means, with margins, of the questions for whose index `counts` returns true.
pub(crate) fn print_means(named: &str, measured: &[Measured], counts: impl Fn(usize) -> bool) {
    let values = |metric: Metric| -> Vec<f64> {
        let counted = measured.iter().enumerate().filter(|(index, _)| counts(*index));
        counted.filter_map(|(_, measured)| measured.value(metric)).collect()
    };
    let cells = METRICS.map(|metric| bootstrap(&[values(metric)]).map_or_else(|| "—".to_owned(), mean));
    println!("{named}| {} | {} |", (0..measured.len()).filter(|index| counts(*index)).count(), cells.join(" | "));
}

/// Prints the paired differences between `measured` and `other` for the questions for whose index `counts` returns
/// true.
pub(crate) fn print_differences(
    named: &str,
    measured: &[Measured],
    other: &[Measured],
    counts: impl Fn(usize) -> bool,
) {
    let values = |metric: Metric| -> Vec<f64> {
        let pairs = measured.iter().zip(other).enumerate().filter(|(index, _)| counts(*index));
        pairs.filter_map(|(_, (a, b))| Some(a.value(metric)? - b.value(metric)?)).collect()
    };
    let cells = METRICS.map(|metric| bootstrap(&[values(metric)]).map_or_else(|| "—".to_owned(), difference));
    println!("{named}| {} | {} |", (0..measured.len()).filter(|index| counts(*index)).count(), cells.join(" | "));
}

fn mean(estimate: Estimate) -> String {
    format!("{} ± {}", without_zero(format!("{:.3}", estimate.mean)), without_zero(format!("{:.3}", estimate.margin())))
}

/// Formats a difference with the bounds of its interval, which may be asymmetric.
fn difference(estimate: Estimate) -> String {
    let [mean, low, high] =
        [estimate.mean, estimate.low, estimate.high].map(|value| without_zero(format!("{value:+.3}")));
    format!("{mean} ({low} to {high})")
}

fn without_zero(number: String) -> String {
    let sign = number.chars().next().filter(|c| matches!(c, '+' | '-'));
    let digits = number.trim_start_matches(['+', '-']);
    let digits = digits.strip_prefix('0').unwrap_or(digits);
    match sign {
        Some('-') => format!("−{digits}"),
        Some(sign) => format!("{sign}{digits}"),
        None => digits.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted() {
        let estimate = Estimate { mean: 0.5004, low: 0.4, high: 0.6 };
        assert_eq!(mean(estimate), ".500 ± .100");
        let estimate = Estimate { mean: -0.02, low: -0.0301, high: 1.0 };
        assert_eq!(difference(estimate), "−.020 (−.030 to +1.000)");
    }
}
