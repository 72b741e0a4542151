//! Compares a run with the requirements of a job.

use std::time::Duration;

use aurora_pipeline::Outcome;
use aurora_stages::index::{IndexSummary, RunRecord, Unreadable};

use super::check::Check;
use super::report::StopReason;
use super::thresholds::RunThresholds;
use crate::units;

/// Minimum processor time in seconds of a run whose serial share is checked. The share of a run that indexes only a few
/// files can be 100 %.
const MIN_CPU_SECONDS: f64 = 10.0;

/// Checks a run for completeness and compares it with `thresholds`. `last_good` is the run to compare with, and
/// `left_out` are the stages that the user has removed because their programs are not allowed. A run that was stopped is
/// not compared with thresholds, because its index is not complete.
pub fn checks(
    thresholds: &RunThresholds,
    summary: &IndexSummary,
    stopped: Option<StopReason>,
    left_out: &[String],
    last_good: Option<&RunRecord>,
) -> Vec<Check> {
    let mut all = vec![completion(summary, stopped), readability(summary.unreadable)];
    all.extend(custom_stages(thresholds, summary, left_out));
    let record = RunRecord::from_summary(summary);
    let limits = limits(thresholds, summary, &record).into_iter().chain(comparisons(thresholds, &record, last_good));
    all.extend(limits.map(|check| match stopped {
        Some(_) => Check::not_measured(check.name, check.required),
        None => check,
    }));
    all
}

fn completion(summary: &IndexSummary, stopped: Option<StopReason>) -> Check {
    let kept = if summary.published { "finished work is kept" } else { "the index is unchanged" };
    let measured = if summary.report.outcome == Outcome::Completed { "completed" } else { "stopped" };
    let check = Check::met("completion", "the run completes", measured);
    match stopped {
        None => check,
        Some(StopReason::Deadline) => check.violated_if(true, || {
            format!("the deadline stopped the run before it was complete: {kept}; run the command again to continue")
        }),
        Some(StopReason::Interrupt) => {
            check.violated_if(true, || format!("a signal stopped the run: {kept}; run the command again to continue"))
        }
    }
}

fn readability(Unreadable { entries, kept_files }: Unreadable) -> Check {
    let check = Check::met("unreadable", "every file can be read", format!("{entries} unreadable"));
    check.violated_if(entries > 0, || {
        let could_not = match entries {
            1 => "1 file or directory".to_owned(),
            _ => units::count(entries) + " files or directories",
        };
        let kept = match kept_files {
            0 => "they are not in the index".to_owned(),
            files => format!("their old content stays in the index ({})", units::counted(files, "file")),
        };
        format!("{could_not} could not be read: {kept}; the next run tries again")
    })
}

/// Checks the thresholds of custom stages, which the run itself has compared, and the stages that were left out.
fn custom_stages(thresholds: &RunThresholds, summary: &IndexSummary, left_out: &[String]) -> Vec<Check> {
    let mut required: Vec<String> = Vec::new();
    for column in &thresholds.columns {
        required.extend(column.min_values.map(|least| format!("{}: values ≥ {least} %", column.name)));
        required.extend(column.max_failed_rows.map(|most| format!("{}: failed rows ≤ {most}", column.name)));
    }
    let required = if required.is_empty() { "the thresholds of the pipeline".to_owned() } else { required.join(", ") };
    let measured: Vec<String> = summary
        .columns
        .iter()
        .map(|column| {
            let percent = (column.percent() * 100.0).floor() / 100.0;
            format!("{}: {percent} % values, {} failed rows", column.name, column.failed)
        })
        .collect();
    let measured = if measured.is_empty() { "no custom columns".to_owned() } else { measured.join(", ") };
    let check = Check::met("custom stages", required, measured);
    let left_out = (!left_out.is_empty()).then(|| {
        let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let removed = match summary.removed_columns.as_slice() {
            [] => String::new(),
            columns => format!("; removed from the index with all values: {}", quoted(columns)),
        };
        format!("stages were left out because a program is not allowed: {}{removed}", quoted(left_out))
    });
    let violations: Vec<String> = summary.violations.iter().cloned().chain(left_out).collect();
    if violations.is_empty() {
        return vec![check];
    }
    violations.into_iter().map(|violation| check.clone().violated_if(true, || violation)).collect()
}

/// Checks the thresholds that need only the run itself.
fn limits(thresholds: &RunThresholds, summary: &IndexSummary, record: &RunRecord) -> Vec<Check> {
    let mut all = Vec::new();
    if let Some(least) = thresholds.min_coverage {
        // Round down, so that a share below the threshold is not displayed as equal to the threshold.
        let percent = (summary.coverage * 10_000.0).floor() / 100.0;
        let check = Check::met("min_coverage", format!("at least {least} %"), format!("{percent:.2} %"));
        all.push(check.violated_if(summary.coverage * 100.0 < least, || {
            format!(
                "coverage is {percent:.2}%, below the required {least}%: files could not be indexed, or rows of a custom \
                 stage have no result"
            )
        }));
    }
    if let Some(most) = thresholds.max_duration {
        let took = Duration::from_millis(record.elapsed_ms);
        let (most_text, took_text) = (units::duration(most), units::duration(took));
        let check = Check::met("max_duration", format!("at most {most_text}"), &took_text);
        all.push(check.violated_if(took > most, || format!("the run took {took_text}, longer than {most_text}")));
    }
    if let Some(most) = thresholds.max_index_size {
        let (most_text, size) = (units::bytes(most), units::bytes(record.index_bytes));
        let check = Check::met("max_index_size", format!("at most {most_text}"), &size);
        all.push(
            check.violated_if(record.index_bytes > most, || format!("the index has {size}, more than {most_text}")),
        );
    }
    if let Some(most) = thresholds.max_errors {
        let errors = summary.report.errors.total();
        let check = Check::met("max_errors", format!("at most {most}"), errors.to_string());
        all.push(check.violated_if(errors > most, || {
            format!("{} could not be processed, more than {most}", units::counted(errors, "file"))
        }));
    }
    all.extend(thresholds.max_serial_share.map(|most| serial_share(most, record)));
    all
}

fn serial_share(most: f64, record: &RunRecord) -> Check {
    let (name, required) = ("max_serial_share", format!("at most {most} %"));
    let has_work = record.cpu_seconds.is_some_and(|seconds| seconds >= MIN_CPU_SECONDS);
    match record.serial_cpu_share.filter(|_| has_work).map(|share| share * 100.0) {
        None => Check::not_measured(name, required),
        Some(percent) => Check::met(name, required, format!("{percent:.1} %")).violated_if(percent > most, || {
            format!("{percent:.1}% of the processor time is serial, more than {most}%")
        }),
    }
}

/// The measure of growth in bytes. The size of the index file would not do: it depends on the free pages that earlier
/// runs have left.
const TABLE_SIZE: &str = "size of the tables";

/// Checks the thresholds that compare a run with the last good run.
fn comparisons(thresholds: &RunThresholds, now: &RunRecord, last_good: Option<&RunRecord>) -> Vec<Check> {
    let mut all = Vec::new();
    let percent = |before: u64, now: u64| (now as f64 - before as f64) / before as f64 * 100.0;
    let mut add = |name: &str, what: &str, most: f64, grows: bool, value: fn(&RunRecord) -> u64| {
        let required = format!("at most {most} %");
        let name = format!("{name}: {what}");
        // The size of the tables is 0 in records of earlier versions.
        let Some(good) = last_good.filter(|good| value(good) > 0) else {
            all.push(Check::not_measured(name, required));
            return;
        };
        let change = percent(value(good), value(now)) * if grows { 1.0 } else { -1.0 };
        let check = Check::met(name, required, format!("{:.1} %", if change > 0.0 { change } else { 0.0 }));
        all.push(check.violated_if(change > most, || {
            let verb = if grows { "grew" } else { "shrank" };
            let number = |value: u64| if what == TABLE_SIZE { units::bytes(value) } else { units::count(value) };
            let (before, after) = (number(value(good)), number(value(now)));
            format!(
                "{what} {verb} by {change:.1}% since the last good run, from {before} to {after}; {most}% is allowed"
            )
        }));
    };
    if let Some(most) = thresholds.max_growth {
        add("max_growth", TABLE_SIZE, most, true, |run| run.table_bytes);
        add("max_growth", "number of chunks", most, true, |run| run.chunks);
    }
    if let Some(most) = thresholds.max_loss {
        add("max_loss", "number of files", most, false, |run| run.files);
        add("max_loss", "number of chunks", most, false, |run| run.chunks);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_serial_share_of_a_short_run_is_not_measured() {
        let record = |cpu_seconds, share| RunRecord {
            cpu_seconds: Some(cpu_seconds),
            serial_cpu_share: Some(share),
            ..RunRecord::default()
        };
        let violation = |record: &RunRecord| serial_share(5.0, record).violation;
        let expected = "5.1% of the processor time is serial, more than 5%".to_owned();
        assert_eq!(violation(&record(60.0, 0.051)), Some(expected));
        assert_eq!(violation(&record(60.0, 0.05)), None);
        let short = serial_share(5.0, &record(1.0, 1.0));
        assert_eq!((short.measured, short.violation), (None, None));
    }
}
