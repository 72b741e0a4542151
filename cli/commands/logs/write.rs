//! `aur log write`: writes the log of one interaction.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aurora_confined::open_regular;
use aurora_logs::{LogDirectory, LogText, MaintenanceReport, QueryId, Settings, interaction, read_transcript};
use clap::Args;
use jiff::Timestamp;

use crate::commands::logs::input::Input;
use crate::commands::logs::place;
use crate::context::hook::{self, HookClient, HookInput};
use crate::context::{Failure, Outcome, Program, ReportFormat, Terminal};
use crate::output::{json, sanitize, units};

/// Write the log of one interaction
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur log write interaction.json
  agent | aur log write --format json              prints {\"id\", \"file\", \"path\"}
  aur log write --query \"fix the login\" notes.md   Markdown, stored unchanged

The JSON:
  {\"query\": \"...\", \"id\": \"...\", \"timestamp\": \"2025-12-13T14:32:15Z\",
   \"phases\": [{\"number\": 1, \"name\": \"ASSESS\", \"output\": ANY, \"text\": \"...\"}],
   \"interactions\": [{\"agent\": \"...\", \"user\": \"...\"}, {\"question\": \"...\", \"answer\": \"...\"}],
   \"response\": \"...\",
   \"summary\": {\"duration_ms\": 12785, \"complexity\": \"...\", \"verification_score\": 0.93,
               \"tokens\": 23650, \"cost_usd\": 0.0234}}
`query` and `phases` are required, and so are the `name` and `output` of a phase.

The log is durable when the command ends, and never partly visible. Nothing is masked: the log is a
complete record that only you may read. Once a day, the command compresses and removes old logs
like `aur logs maintain`.")]
pub(crate) struct LogWriteArgs {
    /// JSON file, or Markdown file with --query; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Question of the user; the file is then Markdown and stored unchanged
    #[arg(long, value_name = "TEXT", value_parser = parse_query)]
    pub(crate) query: Option<String>,

    /// Id of the interaction [default: a new one]
    #[arg(long, value_name = "ID", requires = "query", value_parser = QueryId::parse)]
    pub(crate) id: Option<QueryId>,

    /// Start time of the interaction in RFC 3339 format [default: now]
    #[arg(long, value_name = "TIME", requires = "query", value_parser = parse_time)]
    pub(crate) timestamp: Option<Timestamp>,

    /// Run as a hook of this client at the end of a session: read its JSON from standard input, and log the session
    ///
    /// Secrets in the log are masked. Prints nothing, and always exits with 0.
    #[arg(long, value_name = "CLIENT", value_enum, conflicts_with_all = ["file", "query", "format"])]
    pub(crate) hook: Option<HookClient>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    aurora_logs::rfc_3339(text).ok_or_else(|| "expected a time with an offset, such as 2025-12-13T14:32:15Z".to_owned())
}

fn parse_query(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}

/// Maximum duration of the daily maintenance. `aur log write` ends only after the maintenance.
const MAX_MAINTENANCE_TIME: Duration = Duration::from_secs(5);

/// Maximum duration of a hook.
const MAX_HOOK_TIME: Duration = Duration::from_secs(20);

/// Writes the log, prints its path, and maintains old logs once a day.
pub(super) fn run(args: &LogWriteArgs, program: &Program) -> Outcome {
    if args.hook.is_some() {
        return hook::run(MAX_HOOK_TIME, || run_hook(&program.terminal));
    }
    let settings = place::settings()?;
    let mut input = Input::open(args.file.as_deref(), &program.terminal)?;
    let text = match &args.query {
        Some(query) => LogText::Markdown {
            query: query.clone(),
            id: args.id.clone(),
            time: args.timestamp,
            body: &mut *input.reader,
        },
        None => {
            let (name, bytes) = input.read_json()?;
            LogText::Interaction(
                interaction(&name, &bytes)
                    .map_err(|mistakes| Failure::findings(&name, &mistakes).with_nothing_written())?,
            )
        }
    };
    let logs = LogDirectory::create(&settings.path)?;
    let written = logs.write(text, settings.keyword_count)?;
    program.terminal.write(|out| match args.format {
        ReportFormat::Json => json::write_line(out, &written),
        ReportFormat::Text => writeln!(out, "{}", sanitize::line(&written.path.display().to_string())),
    })?;
    maintain_daily(&logs, &settings, &program.terminal);
    Ok(())
}

/// Writes the log of the session that the client describes on standard input. A session without prompts has no log.
fn run_hook(terminal: &Terminal) -> Outcome {
    let input = HookInput::read()?;
    let settings = place::settings()?;
    let Some(transcript) = &input.transcript else { return Ok(()) };
    let log = read_transcript(open_transcript(transcript)?, input.session.as_deref(), input.reason.as_deref());
    let log = log.map_err(|error| Failure::new(format!("cannot read {}: {error}", transcript.display())))?;
    let Some(log) = log else { return Ok(()) };
    let logs = LogDirectory::create(&settings.path)?;
    logs.write(LogText::Session(log), settings.keyword_count)?;
    maintain_daily(&logs, &settings, terminal);
    Ok(())
}

/// Opens a transcript. Its path must be absolute, and its file must be a regular file of the user.
fn open_transcript(path: &Path) -> Outcome<File> {
    let refused = |why: &str| Failure::new(format!("cannot read {}: {why}", path.display()));
    if !path.is_absolute() {
        return Err(refused("the path is not absolute"));
    }
    let file = open_regular(path).map_err(|error| refused(&error.to_string()))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        if file.metadata()?.uid() != rustix::process::geteuid().as_raw() {
            return Err(refused("the file belongs to another user"));
        }
    }
    Ok(file)
}

/// Runs the daily maintenance. The log is already written, so a failure here does not make the command fail.
fn maintain_daily(logs: &LogDirectory, settings: &Settings, terminal: &Terminal) {
    match logs.maintain_daily(settings.policy, aurora_clock::now(), MAX_MAINTENANCE_TIME) {
        Ok(None) => {}
        Ok(Some(report)) => report_maintenance(&report, settings, terminal),
        Err(error) => terminal.warn(&format!("old logs were not maintained: {}", aurora_project::chain(&error))),
    }
}

fn report_maintenance(report: &MaintenanceReport, settings: &Settings, terminal: &Terminal) {
    if let Some(last) = report.withheld_since {
        let (days, day) = (settings.policy.retention_days, units::date(last.as_second()));
        let advice = "if the clock is right, `aur logs maintain` maintains them";
        terminal.warn(&format!(
            "old logs were not maintained, because the last maintenance was more than {days} days ago, on {day}; {advice}"
        ));
        return;
    }
    let MaintenanceReport { compressed, removed, unread, complete, .. } = report;
    let policy = &settings.policy;
    for (count, days, done) in
        [(*removed, policy.retention_days, "removed"), (*compressed, policy.compress_after_days, "compressed")]
    {
        if count > 0 {
            let (logs, were) = (units::counted(count, "log"), if count == 1 { "was" } else { "were" });
            terminal.note(&format!("{logs} older than {days} days {were} {done}"));
        }
    }
    if !unread.is_empty() {
        let files = units::counted(unread.len() as u64, "file");
        terminal.warn(&format!("{files} could not be read and were left unchanged; `aur logs maintain` lists them"));
    }
    if !complete {
        terminal.note("not all old logs have been maintained; `aur logs maintain` maintains the rest");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_with_absolute_paths_are_opened() {
        for path in ["transcript.jsonl", "/dev/null", "/dev/zero", "/proc/self", "/nowhere.jsonl"] {
            assert!(open_transcript(Path::new(path)).is_err(), "{path}");
        }
    }
}
