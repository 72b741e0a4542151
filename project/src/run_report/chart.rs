//! Charts of the last runs, as SVG.

use std::fmt::Write as _;

use aurora_stages::index::RunRecord;

use super::changes::ChangeUnit;
use super::escape::html;

/// Size of a chart in its units, and the margin around the line.
const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 90.0;
const MARGIN: f64 = 8.0;

/// A value that is drawn for each run.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) unit: ChangeUnit,
    /// A value for each run, oldest first; `None` for a run without it.
    pub(super) values: Vec<Option<f64>>,
}

/// Returns the series that have a value in at least one run.
pub(super) fn series(runs: &[RunRecord]) -> Vec<Series> {
    let mut all = Vec::new();
    let mut add = |name: String, unit, value: &dyn Fn(&RunRecord) -> Option<f64>| {
        let values: Vec<_> = runs.iter().map(|run| if run.error.is_some() { None } else { value(run) }).collect();
        if values.iter().any(Option::is_some) {
            all.push(Series { name, unit, values });
        }
    };
    // Records of earlier versions do not have these numbers.
    let known = |run: &RunRecord, value: u64| run.good.map(|_| value as f64);
    add("Duration".to_owned(), ChangeUnit::Milliseconds, &|run| Some(run.elapsed_ms as f64));
    add("Files in the index".to_owned(), ChangeUnit::Count, &|run| known(run, run.files));
    add("Chunks".to_owned(), ChangeUnit::Count, &|run| Some(run.chunks as f64));
    add("Chunks changed by the run".to_owned(), ChangeUnit::Count, &|run| Some(run.changed_chunks as f64));
    add("Index size".to_owned(), ChangeUnit::Bytes, &|run| known(run, run.index_bytes));
    add("Coverage".to_owned(), ChangeUnit::Share, &|run| run.coverage);
    add("Files skipped".to_owned(), ChangeUnit::Count, &|run| Some(run.skipped as f64));
    add("Errors".to_owned(), ChangeUnit::Count, &|run| Some(run.errors as f64));
    add("Peak memory".to_owned(), ChangeUnit::Bytes, &|run| run.peak_memory_bytes.map(|bytes| bytes as f64));
    let mut names: Vec<&str> = Vec::new();
    for quality in runs.iter().flat_map(|run| &run.quality) {
        if !names.contains(&quality.name.as_str()) {
            names.push(&quality.name);
        }
    }
    for name in names {
        let mean = |run: &RunRecord| run.quality.iter().find(|quality| quality.name == name).map(|found| found.mean);
        add(format!("Quality {name}"), ChangeUnit::Metric, &mean);
    }
    all
}

/// Draws a series. Runs with violations are marked; a run without a value leaves a gap.
pub(super) fn figure(series: &Series, runs: &[RunRecord]) -> String {
    let present: Vec<f64> = series.values.iter().flatten().copied().collect();
    let (low, high) =
        present.iter().fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
    let last = series.values.iter().rev().flatten().next().copied().unwrap_or(0.0);
    let (name, format) = (html(&series.name), |value| html(&series.unit.format(value)));
    let label = format!("{name}: from {} to {}, now {}", format(low), format(high), format(last));
    let mut out = format!(
        "<figure><figcaption>{name} <b>{}</b></figcaption>\n\
         <svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{label}\">\n",
        format(last)
    );
    let step = (WIDTH - 2.0 * MARGIN) / (series.values.len().max(2) - 1) as f64;
    let x = |at: usize| MARGIN + at as f64 * step;
    let y = |value: f64| match high - low {
        // A constant is drawn in the middle.
        range if range <= 0.0 => HEIGHT / 2.0,
        range => MARGIN + (high - value) / range * (HEIGHT - 2.0 * MARGIN),
    };
    let mut line = String::new();
    let mut is_drawing = false;
    for (at, value) in series.values.iter().enumerate() {
        if let Some(value) = value {
            let _ = write!(line, "{}{:.1} {:.1}", if is_drawing { "L" } else { "M" }, x(at), y(*value));
        }
        is_drawing = value.is_some();
    }
    let _ = writeln!(out, "<path class=\"line\" d=\"{line}\"/>");
    for (at, (value, run)) in series.values.iter().zip(runs).enumerate() {
        let Some(value) = value else { continue };
        let (class, radius) = if run.good == Some(false) { ("dot bad", 3.5) } else { ("dot", 2.0) };
        let _ = writeln!(
            out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>{}: {}</title></circle>",
            x(at),
            y(*value),
            crate::stamp(run.ended),
            format(*value)
        );
    }
    let range = if high > low { format!("{} – {}", format(low), format(high)) } else { "constant".to_owned() };
    let _ = writeln!(out, "</svg><p class=\"faint\">{range}</p></figure>");
    out
}
