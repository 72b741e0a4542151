//! `aur logs search`: searches log sections for words or a regular expression.

use std::io::{self, Write};

use aurora_logs::{LogDirectory, LogFile, Pattern, SearchHit, UnreadLog};
use clap::Args;

use crate::commands::logs::args::{DaysArgs, LogFormat};
use crate::commands::logs::rows::Rows;
use crate::commands::logs::{list, place};
use crate::context::{Failure, Outcome, Program, args};
use crate::output::{Painter, Role, sanitize, units};

/// Search the texts of logs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur logs search oauth                        in any case, also inside a word
  aur logs search oauth token                  sections that contain both words
  aur logs search --regex 'timeout after \\d+ ms' --month 2025-12
  aur logs search oauth --format jsonl         {\"file\", \"id\", \"section\", \"line_start\", \"line_end\", \"lines\", ...}

A result is a section of a log, with its best matching lines. A regular expression is matched
against single lines and is case-sensitive unless it begins with (?i).
Exits with 0 if something is found, with 1 if nothing is, and with 2 if a log could not be read.")]
pub(crate) struct LogSearchArgs {
    /// Words to search for; a section must contain all of them
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,

    /// Treat the text as a regular expression
    #[arg(long)]
    pub(crate) regex: bool,

    #[command(flatten)]
    pub(crate) days: DaysArgs,

    /// Maximum number of results [default: all]
    #[arg(long, short = 'n', value_name = "N", value_parser = args::parse_limit)]
    pub(crate) limit: Option<usize>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) format: LogFormat,
}

/// Prints every matching section as soon as it is found.
pub(super) fn run(args: &LogSearchArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let text = args.text.join(" ");
    let pattern = if args.regex { Pattern::regex(&text) } else { Pattern::words(&text) };
    let pattern = pattern.map_err(|error| Failure::new(format!("cannot search for `{text}`: {error}")))?;
    let days = list::range(&args.days)?.unwrap_or_default();
    let limit = args.limit.unwrap_or(usize::MAX) as u64;
    let mut rows = Rows::new(terminal.stdout(), args.format == LogFormat::Json);
    let (mut found, mut problems, mut failed) = (0, 0, None);
    if let Some(logs) = place::logs()? {
        for file in logs.files(days)? {
            if found == limit || failed.is_some() {
                break;
            }
            let mut print = |hit: SearchHit| {
                found += 1;
                let printed = match args.format {
                    LogFormat::Text => write_text(&mut rows.out, &hit, terminal.out),
                    LogFormat::Json | LogFormat::Jsonl => rows.push(&hit),
                };
                failed = printed.err();
                found < limit && failed.is_none()
            };
            if let Err(problem) = file.and_then(|log| search(&logs, &log, &pattern, &mut print)) {
                place::warn_unread(&problem, terminal);
                problems += 1;
            }
        }
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    rows.finish()?;
    place::outcome(problems, found, || "nothing was found".to_owned())
}

/// Searches one log, and passes the results to `print` until it returns false.
fn search(
    logs: &LogDirectory,
    log: &LogFile,
    pattern: &Pattern,
    print: &mut dyn FnMut(SearchHit) -> bool,
) -> Result<(), UnreadLog> {
    match logs.search(log, pattern, print) {
        // The log was removed in the meantime.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(UnreadLog { file: log.path(), cause: error.to_string() }),
        Ok(()) => Ok(()),
    }
}

/// Writes file, lines, section and id on one line, and the best matching lines below.
fn write_text(out: &mut impl Write, hit: &SearchHit, paint: Painter) -> io::Result<()> {
    let SearchHit { file, line_start, line_end, .. } = hit;
    let location = paint.paint(Role::Path, &format!("{}:{line_start}-{line_end}", sanitize::line(file)));
    let section = hit.name.as_deref().map(|name| format!("  {}", paint.paint(Role::Heading, &sanitize::line(name))));
    let id = hit.id.as_deref().map(|id| format!("  {}", paint.paint(Role::Faint, &sanitize::line(id))));
    writeln!(out, "{location}{}{}", section.unwrap_or_default(), id.unwrap_or_default())?;
    for line in &hit.lines {
        let (start, end) = (line.found.start, line.found.end);
        let [before, found, after] =
            [&line.text[..start], &line.text[start..end], &line.text[end..]].map(sanitize::line);
        let found = if found.is_empty() { found } else { paint.paint(Role::Match, &found) };
        writeln!(out, "  {}: {}{found}{after}", line.line, before.trim_start())?;
    }
    let more = hit.matching_lines - hit.lines.len() as u64;
    if more > 0 {
        writeln!(out, "  {}", paint.paint(Role::Faint, &format!("and {}", units::counted(more, "more line"))))?;
    }
    Ok(())
}
