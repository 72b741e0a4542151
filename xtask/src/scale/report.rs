//! Prints medians as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};

/// Measured values of one round, by their keys in the JSON report.
pub(super) type Sample = BTreeMap<&'static str, f64>;

/// A column of a table: the key of its values, the heading, and the number of decimals.
type Column = (&'static str, &'static str, usize);

const INDEX: [Column; 8] = [
    ("cores", "cores", 0),
    ("wall_seconds", "wall s", 2),
    ("speed_up", "speed-up", 2),
    ("efficiency", "efficiency", 2),
    ("processor_seconds", "CPU s", 2),
    ("program_processor_seconds", "reported CPU s", 2),
    ("serial_cpu_share", "serial share", 3),
    ("peak_mib", "peak MiB", 0),
];
const BARE: [Column; 6] = [
    ("cores", "cores", 0),
    ("bare_wall_seconds", "wall s", 2),
    ("bare_speed_up", "speed-up", 2),
    ("bare_efficiency", "efficiency", 2),
    ("bare_processor_seconds", "CPU s", 2),
    ("processor_ratio", "index / bare CPU", 2),
];
const SEARCH: [Column; 4] = [
    ("cores", "cores", 0),
    ("search_seconds", "wall s", 3),
    ("search_speed_up", "speed-up", 2),
    ("search_efficiency", "efficiency", 2),
];
const LANGUAGES: [Column; 4] = [
    ("language", "language", 0),
    ("processor_seconds", "index CPU s", 2),
    ("bare_processor_seconds", "bare CPU s", 2),
    ("processor_ratio", "index / bare CPU", 2),
];
/// For each time: its key, and the keys of its speed-up and efficiency relative to the smallest number of cores.
const SPEED_UPS: [(&str, &str, &str); 3] = [
    ("wall_seconds", "speed_up", "efficiency"),
    ("bare_wall_seconds", "bare_speed_up", "bare_efficiency"),
    ("search_seconds", "search_speed_up", "search_efficiency"),
];

pub(super) struct Report(Value);

impl Report {
    /// Creates a report from samples by number of cores and by language.
    pub(super) fn new(
        mut head: Value,
        (cores, by_cores): (&[usize], &[Vec<Sample>]),
        (languages, by_language): (&[&str], &[Vec<Sample>]),
    ) -> Self {
        let mut rows: Vec<Sample> = by_cores.iter().map(|samples| medians(samples)).collect();
        let fewest = rows[0].clone();
        for (row, count) in rows.iter_mut().zip(cores) {
            row.insert("cores", *count as f64);
            for (time, speed_up, efficiency) in SPEED_UPS {
                let Some(seconds) = row.get(time) else { continue };
                let times = fewest[time] / seconds;
                row.insert(speed_up, times);
                row.insert(efficiency, times * cores[0] as f64 / *count as f64);
            }
        }
        head["cores"] = json!(rows);
        head["languages"] = json!(by_language.iter().map(|samples| medians(samples)).collect::<Vec<_>>());
        for (row, language) in head["languages"].as_array_mut().into_iter().flatten().zip(languages) {
            row["language"] = json!(language);
        }
        Self(head)
    }

    pub(super) fn to_json(&self) -> &Value {
        &self.0
    }

    pub(super) fn to_text(&self) -> String {
        let head = |key: &str| &self.0[key];
        let digests = if head("equal_digests") == true { "equal" } else { "different" };
        let corpus = format!("{} files, {} bytes, copies: {}", head("files"), head("bytes"), head("copies"));
        let machine = format!("{} processors on {} physical cores", head("processors"), head("physical_cores"));
        let (rounds, load) = (head("rounds"), head("load_average"));
        let mut text = format!(
            "{corpus}\n{machine}, load average before the measurement: {load}\n\
             medians of {rounds} rounds, digests of the indexes: {digests}\n"
        );
        let has = |key: &str| head("cores")[0].get(key).is_some();
        text += &table("Index", &self.0["cores"], &INDEX);
        if has("bare_wall_seconds") {
            text += &table("Bare parse loop", &self.0["cores"], &BARE);
            text += &table("Each language alone, on the largest number of cores", &self.0["languages"], &LANGUAGES);
        }
        text + &table(&format!("{} keyword queries", head("queries")), &self.0["cores"], &SEARCH)
    }
}

/// Returns the median of each measurement over all samples.
fn medians(samples: &[Sample]) -> Sample {
    let mut values: BTreeMap<&'static str, Vec<f64>> = BTreeMap::new();
    for (name, value) in samples.iter().flatten() {
        values.entry(name).or_default().push(*value);
    }
    values.into_iter().map(|(name, values)| (name, median(values))).collect()
}

/// Returns the middle value, or the mean of the two middle values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

fn table(title: &str, rows: &Value, columns: &[Column]) -> String {
    let mut text = format!("\n{title}\n");
    let mut line = |cells: &mut dyn Iterator<Item = String>| {
        for (cell, (_, heading, _)) in cells.zip(columns) {
            let width = heading.len().max(10) + 2;
            let _ = write!(text, "{cell:>width$}");
        }
        text.push('\n');
    };
    line(&mut columns.iter().map(|(_, heading, _)| (*heading).to_owned()));
    for row in rows.as_array().into_iter().flatten() {
        line(&mut columns.iter().map(|(name, _, decimals)| match &row[*name] {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            number => format!("{:.decimals$}", number.as_f64().unwrap_or(f64::NAN)),
        }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{INDEX, Sample, medians, table};
    use serde_json::json;

    #[test]
    fn medians_are_taken_per_measurement() {
        let samples = [3.0, 1.0, 2.0].map(|wall| Sample::from([("wall_seconds", wall)]));
        assert_eq!(medians(&samples)["wall_seconds"], 2.0);
        assert_eq!(medians(&samples[..2])["wall_seconds"], 2.0);
    }

    #[test]
    fn a_missing_value_is_shown_as_a_dash() {
        let text = table("Index", &json!([{ "cores": 2.0, "wall_seconds": 1.5 }]), &INDEX[..3]);
        assert_eq!(text, "\nIndex\n       cores      wall s    speed-up\n           2        1.50           -\n");
    }
}
