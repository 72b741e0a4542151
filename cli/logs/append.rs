//! `aur log append`: a section more.

use std::io::Write as _;

use aurora_logs::{AddedText, additions};
use jiff::Timestamp;

use super::input::{self, Input};
use super::{named, place};
use crate::args_logs::LogAppendArgs;
use crate::failure::{Failure, Outcome};
use crate::output::{json, sanitize};
use crate::program::Program;
use crate::values::ReportFormat;

/// Adds to the log and prints where.
pub(super) fn run(args: &LogAppendArgs, program: &Program) -> Outcome {
    let (logs, log) = named::find(&args.log, program)?;
    let mut input = Input::open(args.file.as_deref(), &program.terminal)?;
    let text = match &args.section {
        Some(section) => AddedText::Markdown { section, body: &mut input },
        None => {
            let (name, bytes) = input.json()?;
            AddedText::Sections(additions(&bytes).map_err(|mistakes| input::mistakes(&name, &mistakes))?)
        }
    };
    let now = aurora_clock::now();
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let appended = logs.append(&log, text, now).map_err(|error| match error {
        aurora_logs::LogError::SectionName => Failure::from_error(&error).with_help("--section gives it"),
        error => place::failure(error),
    })?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_line(&mut out, &appended)?,
        ReportFormat::Text => {
            writeln!(out, "{}:{}", sanitize::line(&appended.path.display().to_string()), appended.line)?;
        }
    }
    Ok(out.flush()?)
}
