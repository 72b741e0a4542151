//! `aur log write`: the log of one interaction.

use std::io::Write as _;
use std::time::Duration;

use aurora_logs::{LogDirectory, LogText, MaintenanceReport, Settings, interaction};

use super::input::{self, Input};
use super::place;
use crate::args_logs::LogWriteArgs;
use crate::failure::Outcome;
use crate::output::{json, sanitize, time, units};
use crate::program::Program;
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Longest time of daily maintenance. Who writes a log waits for it.
const MAINTENANCE: Duration = Duration::from_secs(5);

/// Writes the log, prints where it is, and looks after old ones once a day.
pub(super) fn run(args: &LogWriteArgs, program: &Program) -> Outcome {
    let settings = place::settings(program)?;
    let mut input = Input::open(args.file.as_deref(), &program.terminal)?;
    let text = match &args.query {
        Some(query) => {
            LogText::Markdown { query: query.clone(), id: args.id.clone(), time: args.timestamp, body: &mut input }
        }
        None => {
            let (name, bytes) = input.json()?;
            LogText::Interaction(interaction(&bytes).map_err(|mistakes| input::mistakes(&name, &mistakes))?)
        }
    };
    let logs = LogDirectory::create(&settings.path).map_err(place::failure)?;
    let written = logs.write(text, settings.keyword_count).map_err(place::failure)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_line(&mut out, &written)?,
        ReportFormat::Text => writeln!(out, "{}", sanitize::line(&written.path.display().to_string()))?,
    }
    out.flush()?;
    look_after(&logs, &settings, &program.terminal);
    Ok(())
}

/// Daily maintenance. The log is written, so that nothing here makes the command fail.
fn look_after(logs: &LogDirectory, settings: &Settings, terminal: &Terminal) {
    match logs.maintain_daily(settings.policy, aurora_clock::now(), MAINTENANCE) {
        Ok(None) => {}
        Ok(Some(report)) => tell(&report, settings, terminal),
        Err(error) => terminal.warn(&format!("old logs were not looked after: {}", aurora_project::chain(&error))),
    }
}

fn tell(report: &MaintenanceReport, settings: &Settings, terminal: &Terminal) {
    if let Some(last) = report.withheld_since {
        terminal.warn(&format!(
            "old logs were not looked after, since that was last done more than {} days ago, on {}; if the clock is right, `aur logs \
             maintain` does it",
            settings.policy.retention_days,
            time::date(last.as_second())
        ));
        return;
    }
    let MaintenanceReport { compressed, removed, unread, complete, .. } = report;
    if *removed > 0 {
        let (logs, days) = (units::counted(*removed, "log"), settings.policy.retention_days);
        terminal.note(&format!("{logs} older than {days} days {} removed", if *removed == 1 { "was" } else { "were" }));
    }
    if *compressed > 0 {
        let (logs, days) = (units::counted(*compressed, "log"), settings.policy.compress_after_days);
        terminal.note(&format!(
            "{logs} older than {days} days {} compressed",
            if *compressed == 1 { "was" } else { "were" }
        ));
    }
    if !unread.is_empty() {
        let files = units::counted(unread.len() as u64, "file");
        terminal.warn(&format!("{files} could not be read and stay as they are; `aur logs maintain` names them"));
    }
    if !complete {
        terminal.note("not all old logs have been looked after; `aur logs maintain` does the rest");
    }
}
