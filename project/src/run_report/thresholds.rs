//! The file of thresholds of a job.

use std::path::Path;
use std::time::Duration;

use aurora_diagnostics::document::{Document, Entry, Node, Reader, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, code};
use aurora_evaluation::metrics::Metric;
use aurora_pipeline::parse_bytes;
use aurora_suggest::did_you_mean;

use super::quality::QualityThreshold;
use crate::units::parse_duration;

/// Names of the keys of the file.
const KEYS: [&str; 9] = [
    "min_coverage",
    "max_duration",
    "max_index_size",
    "max_growth",
    "max_loss",
    "max_errors",
    "max_serial_share",
    "column",
    "quality",
];
const COLUMN_KEYS: [&str; 2] = ["min_values", "max_failed_rows"];
const QUALITY_KEYS: [&str; 5] = ["golden", "set", "metric", "minimum", "max_drop"];

const PERCENTAGE: &str = "must be a percentage from 0 to 100";
const COUNT: &str = "must be a whole number of at least 0";
const DURATION: &str = "must be a duration such as \"45m\", \"90s\" or \"1h30m\"";
const SIZE: &str = "must be a size such as \"512MiB\" or \"2GiB\"";
const SCORE: &str = "must be a number from 0 to 1";
const METRIC: &str = "must be the name of a metric, such as \"ndcg@10\"";

/// The requirements that a job makes on an index run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunThresholds {
    /// Minimum coverage in percent.
    pub min_coverage: Option<f64>,
    /// Maximum wall-clock time of the run.
    pub max_duration: Option<Duration>,
    /// Maximum size of the index on disk in bytes.
    pub max_index_size: Option<u64>,
    /// Maximum growth of the index size and of the number of chunks since the last good run, in percent.
    pub max_growth: Option<f64>,
    /// Maximum loss of files and of chunks since the last good run, in percent.
    pub max_loss: Option<f64>,
    /// Maximum number of files that could not be processed.
    pub max_errors: Option<u64>,
    /// Maximum share of the processor time that is serial, in percent.
    pub max_serial_share: Option<f64>,
    /// Requirements on custom columns.
    pub columns: Vec<ColumnThreshold>,
    /// Requirements on search quality.
    pub quality: Vec<QualityThreshold>,
}

/// Requirements on the column of a custom stage.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnThreshold {
    /// Name of the column without its table.
    pub name: String,
    /// Minimum percentage of the chunks that have a value.
    pub min_values: Option<f64>,
    /// Maximum number of rows on which the stage of the column may fail.
    pub max_failed_rows: Option<u64>,
}

impl RunThresholds {
    /// Reads a file of thresholds. `name` is the name of the file in messages, and `directory` is the directory to which
    /// golden files are relative. `columns` are the custom columns of the pipeline.
    ///
    /// # Errors
    /// Returns all mistakes at once, in the order of the file.
    pub fn read(name: &str, text: &str, directory: &Path, columns: &[&str]) -> Result<Self, Diagnostics> {
        let document = Document::from_toml(name, text)?;
        let mut reader = Reader::new(&document);
        let mut found = Self::default();
        for entry in document.root.entries() {
            let key = entry.key.as_ref();
            match key {
                "min_coverage" => found.min_coverage = reader.number(entry, key, 0.0..=100.0, PERCENTAGE),
                "max_duration" => found.max_duration = reader.parsed(entry, key, DURATION, parse_duration, |_| None),
                "max_index_size" => found.max_index_size = reader.parsed(entry, key, SIZE, parse_bytes, |_| None),
                "max_growth" => {
                    let rule = "must be a percentage of at least 0";
                    found.max_growth = reader.number(entry, key, 0.0..=1e9, rule);
                }
                "max_loss" => found.max_loss = reader.number(entry, key, 0.0..=100.0, PERCENTAGE),
                "max_errors" => found.max_errors = count(&mut reader, entry, key),
                "max_serial_share" => found.max_serial_share = reader.number(entry, key, 0.0..=100.0, PERCENTAGE),
                "column" => found.columns = read_columns(&mut reader, entry, columns),
                "quality" => match &entry.node.value {
                    Value::List(items) => {
                        found.quality =
                            items.iter().filter_map(|item| read_quality(&mut reader, item, directory)).collect();
                    }
                    _ => {
                        let _: Option<()> = reader.wrong(entry, key, "must be written as `[[quality]]`", None);
                    }
                },
                _ => reader.unknown(entry, key, &KEYS, None),
            }
        }
        let mut mistakes = reader.mistakes;
        mistakes.sort(|_| 0);
        if mistakes.is_empty() { Ok(found) } else { Err(mistakes) }
    }
}

fn count<'d, 't>(reader: &mut Reader<'d, 't>, entry: &'d Entry<'t>, key: &str) -> Option<u64> {
    entry.node.number().or_else(|| reader.wrong(entry, key, COUNT, None))
}

fn read_columns<'d, 't>(reader: &mut Reader<'d, 't>, table: &'d Entry<'t>, known: &[&str]) -> Vec<ColumnThreshold> {
    let mut columns = Vec::new();
    for column in reader.table(table, "column").unwrap_or_default() {
        let name = column.key.as_ref();
        if !known.contains(&name) {
            let help = did_you_mean(name, known.iter().copied());
            let message = format!("no stage of the pipeline writes a column `{name}`");
            reader.refuse(column, message, help);
        }
        let mut read = ColumnThreshold { name: name.to_owned(), min_values: None, max_failed_rows: None };
        for entry in reader.table(column, &format!("column.{name}")).unwrap_or_default() {
            let key = format!("column.{name}.{}", entry.key);
            match entry.key.as_ref() {
                "min_values" => read.min_values = reader.number(entry, &key, 0.0..=100.0, PERCENTAGE),
                "max_failed_rows" => read.max_failed_rows = count(reader, entry, &key),
                _ => reader.unknown(entry, &key, &COLUMN_KEYS, None),
            }
        }
        columns.push(read);
    }
    columns
}

/// Reads a table of `[[quality]]`. Returns `None` if a required key is missing or wrong.
fn read_quality<'d, 't>(
    reader: &mut Reader<'d, 't>,
    table: &'d Node<'t>,
    directory: &Path,
) -> Option<QualityThreshold> {
    let (mut golden, mut set, mut metric, mut minimum, mut max_drop) = (None, None, None, None, None);
    let before = reader.mistakes.iter().count();
    for entry in table.entries() {
        let key = format!("quality.{}", entry.key);
        match entry.key.as_ref() {
            "golden" => golden = reader.text(entry, &key, "must be the path of a file of questions"),
            "set" => set = reader.text(entry, &key, "must be the name of a set of questions"),
            "metric" => metric = reader.parsed(entry, &key, METRIC, |text| text.parse().ok(), suggest_metric),
            "minimum" => minimum = reader.number(entry, &key, 0.0..=1.0, SCORE),
            "max_drop" => max_drop = reader.number(entry, &key, 0.0..=1.0, SCORE),
            _ => reader.unknown(entry, &key, &QUALITY_KEYS, None),
        }
    }
    if reader.mistakes.iter().count() > before {
        return None;
    }
    let missing = match (golden, metric, minimum.or(max_drop)) {
        (None, ..) => "`quality.golden` is missing",
        (_, None, _) => "`quality.metric` is missing",
        (.., None) => "`quality.minimum` or `quality.max_drop` is required",
        (Some(golden), Some(metric), Some(_)) => {
            let set = set.map(str::to_owned);
            return Some(QualityThreshold::new(golden, directory, set, metric, minimum, max_drop));
        }
    };
    let location = reader.document.location(table.span.clone());
    reader.mistakes.push(Diagnostic::error(code::MISSING_KEY, Some(location), missing));
    None
}

fn suggest_metric(text: &str) -> Option<String> {
    let names = Metric::ALL.map(|metric| metric.title().to_lowercase());
    did_you_mean(text, names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RunThresholds, Diagnostics> {
        RunThresholds::read("ci.toml", text, Path::new("/ci"), &["owner", "risk"])
    }

    #[test]
    fn all_keys_are_read() {
        let text = "min_coverage = 99.5\nmax_duration = \"1h30m\"\nmax_index_size = \"2GiB\"\nmax_growth = 20\n\
                    max_loss = 10\nmax_errors = 3\nmax_serial_share = 5\n[column.owner]\nmin_values = 95\n\
                    max_failed_rows = 2\n[[quality]]\ngolden = \"q.jsonl\"\nset = \"exact\"\nmetric = \"ndcg@10\"\n\
                    minimum = 0.6\nmax_drop = 0.02\n";
        let read = read(text).unwrap();
        assert_eq!((read.min_coverage, read.max_duration), (Some(99.5), Some(Duration::from_secs(5_400))));
        assert_eq!((read.max_index_size, read.max_growth, read.max_loss), (Some(2 << 30), Some(20.0), Some(10.0)));
        assert_eq!((read.max_errors, read.max_serial_share), (Some(3), Some(5.0)));
        let owner = ColumnThreshold { name: "owner".to_owned(), min_values: Some(95.0), max_failed_rows: Some(2) };
        assert_eq!(read.columns, [owner]);
        let quality = &read.quality[0];
        assert_eq!((quality.golden.as_path(), quality.metric), (Path::new("/ci/q.jsonl"), Metric::Ndcg));
        assert_eq!((quality.minimum, quality.max_drop), (Some(0.6), Some(0.02)));
        assert_eq!(read.quality[0].name, "q.jsonl exact nDCG@10");
        assert_eq!(self::read("").unwrap(), RunThresholds::default());
    }

    #[test]
    fn all_mistakes_are_reported_with_their_places() {
        let text = "min_coverage = 101\nmax_duration = 45\nmax_index_size = \"big\"\nmax_growth = -1\nmax_errors = 1.5\n\
                    min_covrage = 3\n[column.ownr]\nmin_values = \"all\"\nmost = 3\n[[quality]]\ngolden = \"q\"\n\
                    metric = \"ndgc@10\"\n[[quality]]\ngolden = \"q\"\nmetric = \"mrr@10\"\n";
        let mistakes = read(text).unwrap_err();
        let shown: Vec<String> = mistakes
            .iter()
            .map(|mistake| {
                let location = mistake.location.as_ref().and_then(|place| place.location()).expect("a location");
                format!("{}:{} {}", location.line, location.column, mistake.message)
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn text_that_is_not_toml_is_refused() {
        assert!(read("min_coverage = \n").unwrap_err().has_errors());
        assert!(read("quality = 3\ncolumn = 4\n").unwrap_err().iter().count() == 2);
    }
}
