//! `aur logs search`: searches log sections for words or a regular expression.

use std::io::{self, Write};

use aurora_logs::{LogDirectory, Pattern, SearchHit, UnreadLog};
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
    let logs = place::logs()?;
    let files = logs.as_ref().map(|logs| logs.files(days)).transpose()?;
    let mut found = FoundSections {
        rows: Rows::new(terminal.stdout(), args.format == LogFormat::Json),
        format: args.format,
        paint: terminal.out,
        left: args.limit.unwrap_or(usize::MAX),
        count: 0,
        failed: None,
    };
    let mut problems = 0;
    for file in files.into_iter().flatten() {
        if found.is_over() {
            break;
        }
        let searched = file.and_then(|log| match &logs {
            Some(logs) => found.search(logs, &pattern, &log),
            None => Ok(()),
        });
        if let Err(problem) = searched {
            place::warn_unread(&problem, terminal);
            problems += 1;
        }
    }
    if let Some(error) = found.failed {
        return Err(error.into());
    }
    found.rows.finish()?;
    place::outcome(problems, found.count, || "nothing was found".to_owned())
}

/// Prints the results of a search and counts them.
struct FoundSections<W> {
    rows: Rows<W>,
    format: LogFormat,
    paint: Painter,
    /// Remaining number of results to print.
    left: usize,
    count: u64,
    failed: Option<io::Error>,
}

impl<W: Write> FoundSections<W> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.failed.is_some()
    }

    fn search(&mut self, logs: &LogDirectory, pattern: &Pattern, log: &aurora_logs::LogFile) -> Result<(), UnreadLog> {
        let mut take = |hit: SearchHit| {
            self.left -= 1;
            self.count += 1;
            let printed = match self.format {
                LogFormat::Text => self.rows.text(|out| write_text(out, &hit, self.paint)),
                LogFormat::Json | LogFormat::Jsonl => self.rows.push(&hit),
            };
            self.failed = printed.err();
            !self.is_over()
        };
        match logs.search(log, pattern, &mut take) {
            // The log was removed in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(UnreadLog { file: log.path(), cause: error.to_string() }),
            Ok(()) => Ok(()),
        }
    }
}

/// Writes file, lines, section and id on one line, and the best matching lines below.
fn write_text(out: &mut impl Write, hit: &SearchHit, paint: Painter) -> io::Result<()> {
    let SearchHit { file, line_start, line_end, .. } = hit;
    let place = paint.paint(Role::Path, &format!("{}:{line_start}-{line_end}", sanitize::line(file)));
    let section = hit.name.as_deref().map(|name| format!("  {}", paint.paint(Role::Heading, &sanitize::line(name))));
    let id = hit.id.as_deref().map(|id| format!("  {}", paint.paint(Role::Faint, &sanitize::line(id))));
    writeln!(out, "{place}{}{}", section.unwrap_or_default(), id.unwrap_or_default())?;
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
