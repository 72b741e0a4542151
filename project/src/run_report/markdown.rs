//! The report as Markdown, for the summary of a job.

use std::fmt::Write as _;
use std::time::Duration;

use super::escape::markdown;
use super::report::{IndexReport, ReportStatus};
use crate::units;

/// Maximum number of rows of a table and of messages. The other formats have all.
const MAX_ROWS: usize = 25;

/// Formats a report.
pub(super) fn text(report: &IndexReport) -> String {
    let run = &report.run;
    let mut out = format!("## {}\n\n", report.title());
    let commit = run.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {}", markdown(commit)));
    let took = units::duration(Duration::from_millis(run.elapsed_ms));
    let _ = writeln!(out, "{}{commit}, {} (took {took})\n", markdown(&report.root), crate::stamp(run.ended));
    if let Some(error) = &report.error {
        let _ = writeln!(out, "**Error:** {}\n", markdown(error));
    }
    for violation in report.violations() {
        let _ = writeln!(out, "- ❌ {}", markdown(violation));
    }
    if report.violations().next().is_some() {
        out.push('\n');
    }
    if report.error.is_none() {
        let (files, chunks) = (units::counted(run.files, "file"), units::counted(run.chunks, "chunk"));
        let _ = writeln!(
            out,
            "The index has {files}, {chunks} and {}. The run indexed {}, kept {} and removed {}.\n",
            units::bytes(run.index_bytes),
            units::counted(run.indexed, "file"),
            units::count(run.unchanged),
            units::count(run.deleted)
        );
    }
    push_checks(&mut out, report);
    push_changes(&mut out, report);
    push_skipped(&mut out, report);
    push_messages(&mut out, "Errors", &report.errors);
    push_messages(&mut out, "Warnings", &report.warnings);
    out
}

fn push_checks(out: &mut String, report: &IndexReport) {
    if report.checks.is_empty() {
        return;
    }
    out.push_str("| requirement | required | measured | |\n|---|---|---|---|\n");
    for check in &report.checks {
        let mark = match (&check.violation, &check.measured) {
            (Some(_), _) => "❌",
            (None, None) => "not measured",
            (None, Some(_)) => "✅",
        };
        let measured = check.measured.as_deref().map_or_else(String::new, markdown);
        let _ = writeln!(out, "| {} | {} | {measured} | {mark} |", markdown(&check.name), markdown(&check.required));
    }
    out.push('\n');
}

fn push_changes(out: &mut String, report: &IndexReport) {
    let Some(previous) = report.previous else {
        if report.status != ReportStatus::Failed {
            out.push_str("There is no earlier run to compare with.\n\n");
        }
        return;
    };
    let changed = report.changes.iter().filter(|change| change.before != change.now);
    let rows: Vec<_> = changed.take(MAX_ROWS).collect();
    let _ = writeln!(out, "Changes since the run of {}:\n", crate::stamp(previous));
    out.push_str("| | before | now | difference |\n|---|--:|--:|--:|\n");
    for change in rows {
        let (before, now) = (change.before_text(), change.now_text());
        let _ = writeln!(out, "| {} | {before} | {now} | {} |", markdown(&change.name), change.difference());
    }
    out.push('\n');
}

fn push_skipped(out: &mut String, report: &IndexReport) {
    if report.skipped.is_empty() {
        return;
    }
    out.push_str("<details><summary>Skipped files</summary>\n\n| reason | files | examples |\n|---|--:|---|\n");
    for skipped in report.skipped.iter().take(MAX_ROWS) {
        let examples: Vec<String> = skipped.examples.iter().take(3).map(|path| markdown(path)).collect();
        let (reason, count) = (markdown(&skipped.reason), units::count(skipped.count));
        let _ = writeln!(out, "| {reason} | {count} | {} |", examples.join(", "));
    }
    out.push_str("\n</details>\n\n");
}

fn push_messages(out: &mut String, title: &str, messages: &[String]) {
    if messages.is_empty() {
        return;
    }
    let _ = writeln!(out, "<details><summary>{title}: {}</summary>\n", messages.len());
    for message in messages.iter().take(MAX_ROWS) {
        let _ = writeln!(out, "- {}", markdown(message));
    }
    out.push_str("\n</details>\n\n");
}
