//! The report as OpenMetrics text, for a push gateway or a collector of text files.

use std::fmt;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

use super::escape::plain;
use super::report::{IndexReport, ReportStatus};

type Labels = Vec<(&'static str, String)>;

/// Formats a report. The metrics of a run that failed are only its result and its times.
///
/// # Errors
/// Returns an error only if writing to a string fails, which does not happen.
pub(super) fn text(report: &IndexReport) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("aurora_index");
    let mut set = |name: &str, help: &str, unit: Option<Unit>, values: Vec<(Labels, f64)>| {
        let family = Family::<Labels, Gauge<f64, AtomicU64>>::default();
        for (labels, value) in values {
            family.get_or_create(&labels).set(value);
        }
        match unit {
            Some(unit) => registry.register_with_unit(name, help, unit, family),
            None => registry.register(name, help, family),
        }
    };
    let one = |value: f64| vec![(Labels::new(), value)];
    let flag = |is_set: bool| one(if is_set { 1.0 } else { 0.0 });
    let run = &report.run;
    let status = match report.status {
        ReportStatus::Good => "good",
        ReportStatus::Violations => "violations",
        ReportStatus::Stopped => "stopped",
        ReportStatus::Failed => "failed",
    };
    let commit = plain(run.commit.as_deref().unwrap_or_default());
    let labels = vec![("root", plain(&report.root)), ("commit", commit), ("status", status.to_owned())];
    set("run_result", "The root, the commit and the result of the run", None, vec![(labels, 1.0)]);
    set("run_good", "Whether the run is complete and violates no requirement", None, flag(run.is_good()));
    set("run_complete", "Whether the index is complete", None, flag(report.complete));
    set("run_end_timestamp", "End of the run in Unix time", Some(Unit::Seconds), one(run.ended as f64));
    set("run_duration", "Wall-clock time of the run", Some(Unit::Seconds), one(run.elapsed_ms as f64 / 1e3));
    if report.error.is_none() {
        let files = [("indexed", run.indexed), ("unchanged", run.unchanged), ("deleted", run.deleted)];
        let files = files.map(|(state, count)| (vec![("state", state.to_owned())], count as f64));
        set("run_files", "Files that the run processed", None, files.into());
        set("files", "Files in the index", None, one(run.files as f64));
        set("chunks", "Chunks in the index", None, one(run.chunks as f64));
        set("size", "Size of the index on disk", Some(Unit::Bytes), one(run.index_bytes as f64));
        set("coverage", "Share of what should be indexed", Some(Unit::Ratios), one(run.coverage.unwrap_or(0.0)));
        set("errors", "Different reasons why files could not be indexed", None, one(run.errors as f64));
        set("warnings", "Different warnings", None, one(run.warnings as f64));
        set("masked_secrets", "Secrets masked in the files that the run read", None, one(run.secrets as f64));
        let optional = |value: Option<f64>| value.map(one).unwrap_or_default();
        set("run_cpu", "Processor time of the run", Some(Unit::Seconds), optional(run.cpu_seconds));
        let help = "Share of the processor time that more cores would not shorten";
        set("run_serial_cpu", help, Some(Unit::Ratios), optional(run.serial_cpu_share));
        let memory = run.peak_memory_bytes.map(|bytes| bytes as f64);
        set("run_peak_memory", "Peak resident set size", Some(Unit::Bytes), optional(memory));
        let skipped = report.skipped.iter();
        let skipped = skipped.map(|skipped| (vec![("reason", plain(&skipped.reason))], skipped.count as f64));
        set("skipped_files", "Files and directories that are not indexed", None, skipped.collect());
        let stages = run.stages.iter().map(|stage| (vec![("stage", plain(&stage.name))], stage.busy_ms / 1e3));
        let help = "Time that the workers of a stage were busy";
        set("stage_busy", help, Some(Unit::Seconds), stages.collect());
        let columns = report.columns.iter();
        let columns = columns.map(|column| (vec![("column", plain(&column.name))], column.percent() / 100.0));
        set("column_values", "Share of the chunks with a value", Some(Unit::Ratios), columns.collect());
        let quality = run.quality.iter().map(|quality| (vec![("name", plain(&quality.name))], quality.mean));
        set("quality", "Mean of a metric of search quality", None, quality.collect());
    }
    let violated = report.checks.iter().map(|check| {
        let is_violated = check.violation.is_some();
        (vec![("check", plain(&check.name))], if is_violated { 1.0 } else { 0.0 })
    });
    set("check_violated", "Whether a requirement is violated", None, violated.collect());
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}
