//! Command line arguments that several commands share, and the parsers of their values: formats, modes, counts, sizes,
//! percentages and weights.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use aurora_memory::{Owner, Scope};
use aurora_query::{FilterError, FilterSpec, Source};
use clap::{Args, ValueEnum};

/// Selects an index, and the format of a report about it.
#[derive(Debug, Args)]
pub(crate) struct IndexReportArgs {
    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Selects the memories that a command uses.
#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Use only this memory [default: the project's and the user's]
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    /// File of retention policies that override the configured ones
    #[arg(long, value_name = "FILE")]
    pub(crate) lifespan_policies: Option<PathBuf>,
}

/// Scope and project of a new entry.
#[derive(Debug, Args)]
pub(crate) struct PlacementArgs {
    /// Scope of the entry: session, project, user or global [default: project inside a project, else user; session with
    /// --session]
    #[arg(long, value_name = "SCOPE", value_enum)]
    pub(crate) scope: Option<Scope>,

    /// Session of the entry
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

/// Selects the sources of a search, and the visible part of memory.
#[derive(Debug, Args)]
pub(crate) struct SearchedMemory {
    /// Sources of results, separated by commas [default: all]
    #[arg(long, value_name = "SOURCES", value_enum, value_delimiter = ',')]
    pub(crate) source: Vec<Source>,

    /// Scope of memory to search [default: everything except other sessions]
    ///
    /// `session`: entries of --session; `project`: the project's memory; `user`: your memory and all of your sessions;
    /// `global`: everything.
    #[arg(long, value_name = "SCOPE", value_enum)]
    pub(crate) scope: Option<Scope>,

    /// Session of this search: include its turns, and record the shown results for `aur mem feedback --outcome`
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,

    /// Include archived entries of memory
    #[arg(long)]
    pub(crate) archived: bool,
}

#[derive(Args, Debug)]
pub(crate) struct FilterArgs {
    /// Only chunks whose text matches this regular expression; may be given more than once
    ///
    /// The pattern is case-insensitive unless it contains an upper-case letter. A chunk must match every pattern.
    #[arg(long, short = 'g', value_name = "PATTERN")]
    pub(crate) grep: Vec<String>,

    /// Only chunks that contain this literal text; may be given more than once
    #[arg(long, short = 'F', value_name = "TEXT")]
    pub(crate) fixed: Vec<String>,

    /// Only these chunk types, separated by commas
    #[arg(long = "type", short = 't', value_name = "TYPES")]
    pub(crate) types: Vec<String>,

    /// Only these languages, by name or file extension, separated by commas
    #[arg(long, short = 'l', value_name = "LANGUAGES")]
    pub(crate) lang: Vec<String>,

    /// Only files with this path or matching this glob; may be given more than once
    #[arg(long, short = 'p', value_name = "GLOB")]
    pub(crate) path: Vec<String>,

    /// Only chunks whose metadata meets this condition; may be given more than once
    ///
    /// `owner=payments`, `owner!=payments`, `owner in payments,billing`, `owner=none` (chunks without a value); for
    /// numbers also `churn>5`, `churn<=5`, `churn in 1..5`. Quote conditions that contain spaces, < or >. `aur mem
    /// stats` lists the columns of the index.
    #[arg(long = "where", value_name = "CONDITION")]
    pub(crate) where_: Vec<String>,
}

impl FilterArgs {
    /// Builds the search filter from the arguments.
    pub(crate) fn spec(&self) -> Result<FilterSpec, FilterError> {
        let mut filter = FilterSpec {
            types: self.types.clone(),
            languages: self.lang.clone(),
            paths: self.path.clone(),
            from: std::env::current_dir().ok(),
            grep: self.grep.clone(),
            fixed: self.fixed.clone(),
            ..FilterSpec::default()
        };
        for condition in &self.where_ {
            filter.add_condition(condition)?;
        }
        filter.check()?;
        Ok(filter)
    }
}

/// Selects the roots of a search.
#[derive(Debug, Args)]
pub(crate) struct SearchedRoots {
    /// Indexed directory, or its name as listed by `aur mem roots`; give it more than once to search several
    /// directories as one
    ///
    /// [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Search all directories that `aur mem roots` lists
    #[arg(long, conflicts_with = "root")]
    pub(crate) all_roots: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

/// Returns a parser of whole numbers in a range.
pub(crate) fn whole_number(range: RangeInclusive<usize>) -> impl Fn(&str) -> Result<usize, String> + Clone {
    let expected = format!("a whole number from {} to {}", range.start(), range.end());
    move |text| within(text, range.clone(), &expected)
}

pub(crate) fn parse_limit(text: &str) -> Result<usize, String> {
    within(text, 1..=10_000, "a whole number from 1 to 10000")
}

/// Parses a token budget.
pub(crate) fn parse_budget(text: &str) -> Result<usize, String> {
    within(text, 1..=10_000_000, "a number of tokens from 1 to 10000000")
}

/// Parses a score from 0 to 1.
pub(crate) fn parse_score(text: &str) -> Result<f64, String> {
    within(text, 0.0..=1.0, "a number from 0 to 1")
}

/// Parses a score from 0 to 1 in single precision, as the ranking uses it.
pub(crate) fn parse_share(text: &str) -> Result<f32, String> {
    parse_score(text).map(|score| score as f32)
}

pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    within(text.trim_end_matches('%'), 0.0..=100.0, "a percentage from 0 to 100")
}

pub(crate) fn parse_regularisation(text: &str) -> Result<f64, String> {
    within(text, 0.0..=f64::MAX, "a number of questions of at least 0, such as 0.5")
}

/// Parses a number in a range. `expected` describes the range.
pub(crate) fn within<T: FromStr + PartialOrd>(
    text: &str,
    range: RangeInclusive<T>,
    expected: &str,
) -> Result<T, String> {
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| format!("expected {expected}"))
}

/// Parses a name and a number, such as `owner=10`.
pub(crate) fn parse_named<T: FromStr>(text: &str) -> Result<(String, T), String> {
    let (name, value) = text.split_once('=').ok_or("a name and its value are written as `owner=10`")?;
    let value = value.parse().map_err(|_| format!("`{value}` is not a valid number here"))?;
    Ok((name.to_owned(), value))
}

/// Parses a name and a percentage, such as `owner=95`.
pub(crate) fn parse_named_percent(text: &str) -> Result<(String, f64), String> {
    let (name, percent) = text.split_once('=').ok_or("a name and its percentage are written as `owner=95`")?;
    Ok((name.to_owned(), parse_percent(percent)?))
}

/// Parses a number of bytes, in the same format as the key `memory` of a pipeline.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    match aurora_pipeline::parse_bytes(text) {
        None | Some(0) => Err("expected a size such as 512MiB or 2GiB".to_owned()),
        Some(bytes) => Ok(bytes),
    }
}

/// Parses a duration.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    aurora_project::units::parse_duration(text).ok_or_else(|| "expected a duration such as 45m or 1h30m".to_owned())
}

/// Parses three weights. The search configuration checks later whether they are valid, as it does for weights from
/// files.
pub(crate) fn parse_weights(text: &str) -> Result<[f64; 3], String> {
    let numbers: Vec<f64> = text
        .split(',')
        .map(|part| part.trim().parse::<f64>())
        .collect::<Result<_, _>>()
        .map_err(|_| "expected three numbers, such as 0.3,0.4,0.3".to_owned())?;
    numbers.try_into().map_err(|_| "expected three numbers: BM25, semantic, activation".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct RootArgs {
    /// Project directory [default: the nearest enclosing directory with an index, or the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_positive_and_have_known_units() {
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
