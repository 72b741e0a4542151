//! `aur logs maintain`: compresses old logs and removes expired ones.

use std::io::{self, Write};

use aurora_logs::{Action, LogDirectory, MaintenanceOptions, MaintenanceReport};
use serde::Serialize;

use crate::commands::logs::place;
use crate::context::{Outcome, Program, ReportFormat};
use crate::output::{sanitize, units};

/// A file and the action that a dry run reports for it.
#[derive(Serialize)]
struct PlannedAction {
    action: Action,
    file: String,
}

/// The output of `--format json`.
#[derive(Serialize)]
struct PrintedReport<'r> {
    dry_run: bool,
    #[serde(flatten)]
    report: &'r MaintenanceReport,
    /// Every file that would be changed. Empty unless this is a dry run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    actions: &'r Vec<PlannedAction>,
}

/// Maintains the logs. In a dry run, only prints what would be done.
pub(super) fn run(is_rehearsal: bool, format: ReportFormat, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let settings = place::settings()?;
    let mut actions = Vec::new();
    let report = match LogDirectory::open(&settings.path)? {
        None => MaintenanceReport { complete: true, ..MaintenanceReport::default() },
        Some(logs) => {
            let options =
                MaintenanceOptions { now: aurora_clock::now(), is_rehearsal, deadline: None, spares_recent: false };
            let mut note = |action, file: &str| {
                if is_rehearsal {
                    actions.push(PlannedAction { action, file: file.to_owned() });
                }
            };
            let report = logs.maintain(settings.policy, options, &mut note)?;
            if !is_rehearsal {
                logs.note_maintenance()?;
            }
            report
        }
    };
    let printed = PrintedReport { dry_run: is_rehearsal, report: &report, actions: &actions };
    terminal.print(format, &printed, |out| write_text(out, &report, &actions, is_rehearsal))?;
    for problem in &report.unread {
        place::warn_unread(problem, terminal);
    }
    place::outcome(report.unread.len() as u64, 1, String::new)
}

fn write_text(
    out: &mut impl Write,
    report: &MaintenanceReport,
    actions: &[PlannedAction],
    is_rehearsal: bool,
) -> io::Result<()> {
    for PlannedAction { action, file } in actions {
        let what = match action {
            Action::Compress => "compress",
            Action::Remove | Action::RemoveCopy | Action::RemoveUnfinished => "remove",
        };
        let why = match action {
            Action::Compress | Action::Remove => "",
            Action::RemoveCopy => "  (a duplicate of an existing log)",
            Action::RemoveUnfinished => "  (unfinished)",
        };
        writeln!(out, "would {what:8}  {}{why}", sanitize::line(file))?;
    }
    let MaintenanceReport { compressed, removed, kept, copies_removed, unfinished_removed, .. } = report;
    let (compress, remove) = if is_rehearsal { ("Would compress", "remove") } else { ("Compressed", "removed") };
    let sizes = match is_rehearsal || *compressed == 0 {
        true => String::new(),
        false => format!(" ({} to {})", units::bytes(report.bytes_before), units::bytes(report.bytes_after)),
    };
    let logs = units::counted(*compressed, "log");
    writeln!(out, "{compress} {logs}{sizes}, {remove} {}, {} unchanged", units::count(*removed), units::count(*kept))?;
    let left = copies_removed + unfinished_removed;
    if left > 0 {
        let files = units::counted(left, "file");
        writeln!(out, "{} {files} of an interrupted process", if is_rehearsal { "Would remove" } else { "Removed" })?;
    }
    Ok(())
}
