//! Values of command line options that several commands have: formats, modes, counts, sizes, percentages and weights.

use std::str::FromStr;

use aurora_pipeline::MAX_WORKERS;
use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// Keywords, meaning and activation
    Hybrid,
    /// Keywords only
    Sparse,
    /// Meaning only
    Dense,
}

pub(crate) fn parse_jobs(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(jobs @ 1..=MAX_WORKERS) => Ok(jobs),
        _ => Err(format!("expected a whole number from 1 to {MAX_WORKERS}")),
    }
}

pub(crate) fn parse_limit(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(limit @ 1..=10_000) => Ok(limit),
        _ => Err("expected a whole number from 1 to 10000".to_owned()),
    }
}

/// Tokens of context.
pub(crate) fn parse_budget(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(tokens @ 1..=10_000_000) => Ok(tokens),
        _ => Err("expected a number of tokens from 1 to 10000000".to_owned()),
    }
}

/// A score, from 0 to 1.
pub(crate) fn parse_score(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(score),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// The same for the ranking.
pub(crate) fn parse_share(text: &str) -> Result<f32, String> {
    parse_score(text).map(|score| score as f32)
}

pub(crate) fn parse_snippet_lines(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(lines @ 0..=100) => Ok(lines),
        _ => Err("expected a whole number from 0 to 100".to_owned()),
    }
}

pub(crate) fn parse_folds(text: &str) -> Result<usize, String> {
    match text.parse::<usize>() {
        Ok(folds @ 2..=20) => Ok(folds),
        _ => Err("expected a whole number from 2 to 20".to_owned()),
    }
}

pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a percentage from 0 to 100".to_owned()),
    }
}

/// A name with a value, such as `owner=10`.
pub(crate) fn parse_named<T: FromStr>(text: &str) -> Result<(String, T), String> {
    let (name, value) = text.split_once('=').ok_or("a name and its value are written as `owner=10`")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a number that can be used here"))?;
    Ok((name.to_owned(), value))
}

/// A name with a percentage, such as `owner=95`.
pub(crate) fn parse_named_percent(text: &str) -> Result<(String, f64), String> {
    let (name, percent) = text.split_once('=').ok_or("a name and its percentage are written as `owner=95`")?;
    Ok((name.to_owned(), parse_percent(percent)?))
}

pub(crate) fn parse_regularisation(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(cost) if cost.is_finite() && cost >= 0.0 => Ok(cost),
        _ => Err("expected a number of questions from 0 on, such as 0.5".to_owned()),
    }
}

/// Bytes, written as in the `memory` of a pipeline.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    match aurora_pipeline::parse_bytes(text) {
        None | Some(0) => Err("expected a size such as 512MiB or 2GiB".to_owned()),
        Some(bytes) => Ok(bytes),
    }
}

/// Three numbers; whether they make sense together is checked by the configuration, which holds
/// the same weights from files.
pub(crate) fn parse_weights(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse::<f64>())
        .collect::<Result<_, _>>()
        .map_err(|_| "expected three numbers, such as 0.3,0.4,0.3".to_owned())?;
    numbers.try_into().map_err(|_| "expected three numbers: BM25, semantic, activation".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("512MiB"), Ok(512 << 20));
        for text in ["", "MiB", "-1", "1x", "0"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn weights_are_three_numbers() {
        assert_eq!(parse_weights("0.3, 0.4,0.3"), Ok([0.3, 0.4, 0.3]));
        for text in ["", "0.3,0.4", "0.3,0.3,0.3,0.1", "a,b,c"] {
            assert!(parse_weights(text).is_err(), "{text}");
        }
    }
}
