//! `aur log append`: adds a section to a log.

use std::io::Write as _;
use std::path::PathBuf;

use aurora_logs::{AddedText, additions};
use clap::Args;
use jiff::Timestamp;

use crate::commands::logs::input::Input;
use crate::commands::logs::place;
use crate::context::{Failure, Outcome, Program, ReportFormat};
use crate::output::{json, sanitize};

/// Add a section to a log
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur log append aurora-20251213-143215-abc123 more.json
  echo '{\"response\": \"Done.\"}' | aur log append oauth-authentication-2025-12-13
  aur log append oauth-authentication-2025-12-13 --section Review review.md

The existing content of the log does not change. The JSON has at least one of `phases`,
`interactions`, `response` and `summary`, in the format of `aur log write`.")]
pub(crate) struct LogAppendArgs {
    /// Name of the log, or id of its interaction
    #[arg(value_name = "ID")]
    pub(crate) log: String,

    /// JSON file, or Markdown file with --section; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// Heading of a new section; the file is then Markdown and stored unchanged
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Option<String>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Appends to the log, and prints the path of the log and the line of the addition.
pub(super) fn run(args: &LogAppendArgs, program: &Program) -> Outcome {
    let (logs, log) = place::find(&args.log, &program.terminal)?;
    let mut input = Input::open(args.file.as_deref(), &program.terminal)?;
    let text = match &args.section {
        Some(section) => AddedText::Markdown { section, body: &mut *input.reader },
        None => {
            let (name, bytes) = input.read_json()?;
            AddedText::Sections(
                additions(&name, &bytes)
                    .map_err(|mistakes| Failure::findings(&name, &mistakes).with_nothing_written())?,
            )
        }
    };
    let now = aurora_clock::now();
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let appended = logs.append(&log, text, now).map_err(|error| match error {
        aurora_logs::LogError::SectionName => Failure::from_error(&error).with_help("--section sets the name"),
        error => error.into(),
    })?;
    program.terminal.write(|out| match args.format {
        ReportFormat::Json => json::write_line(out, &appended),
        ReportFormat::Text => {
            writeln!(out, "{}:{}", sanitize::line(&appended.path.display().to_string()), appended.line)
        }
    })
}
