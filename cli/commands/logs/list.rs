//! `aur logs`: lists logs.

use std::io::{self, Write};

use aurora_logs::{DateRange, LogSummary};

use crate::commands::logs::args::{DaysArgs, LogFormat, ShownArgs};
use crate::commands::logs::place;
use crate::commands::logs::rows::Rows;
use crate::context::{Failure, Outcome, Program, Terminal};
use crate::output::{Role, sanitize, width};

/// Maximum number of logs if neither a limit nor a date option is given.
const DEFAULT_LIMIT: usize = 20;
const INDENT: &str = "    ";

/// Returns the days that the arguments select, or `None` without a date option.
pub(super) fn range(days: &DaysArgs) -> Outcome<Option<DateRange>> {
    let DaysArgs { date, month, from, to } = *days;
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Failure::new(format!("--from {from} is later than --to {to}")));
    }
    let given = DateRange { from, to };
    let given = (given != DateRange::default()).then_some(given);
    Ok(date.map(DateRange::day).or(month.map(DateRange::month)).or(given))
}

/// Lists the logs of the selected days, or the latest logs.
pub(super) fn run(days: Option<DateRange>, show: &ShownArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let logs = place::logs()?;
    let limit = show.limit.unwrap_or(if days.is_some() { usize::MAX } else { DEFAULT_LIMIT });
    let mut rows = Rows::new(terminal.stdout(), show.format == LogFormat::Json);
    let summaries = logs.as_ref().map(|logs| logs.summaries(days.unwrap_or_default())).transpose();
    let (mut shown, mut problems) = (0, 0);
    for summary in summaries?.into_iter().flatten() {
        match summary {
            Err(problem) => {
                place::warn_unread(&problem, terminal);
                problems += 1;
            }
            Ok(_) if shown == limit as u64 => {
                terminal.note(&format!("more logs match; --limit shows more than {limit}"));
                break;
            }
            Ok(summary) => {
                shown += 1;
                match show.format {
                    LogFormat::Text => write_text(&mut rows.out, &summary, terminal)?,
                    LogFormat::Json | LogFormat::Jsonl => rows.push(&summary)?,
                }
            }
        }
    }
    rows.finish()?;
    if problems == 0 && shown == 0 && days.is_none() {
        terminal.note("there are no logs; `aur log write` writes one");
        return Ok(());
    }
    place::outcome(problems, shown, || "there are no logs for these days".to_owned())
}

/// Writes the time, the name and the id on one line, and the query below.
fn write_text(out: &mut impl Write, summary: &LogSummary, terminal: &Terminal) -> io::Result<()> {
    let paint = terminal.out;
    let time = match (summary.time, summary.day) {
        (Some(time), _) => time.strftime("%Y-%m-%d %H:%M").to_string(),
        (None, Some(day)) => day.to_string(),
        (None, None) => "-".to_owned(),
    };
    let file = sanitize::line(&summary.file);
    let name = file.rsplit('/').next().unwrap_or(&file);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let name = paint.paint(Role::Path, name.strip_suffix(".md").unwrap_or(name));
    let id = summary.id.as_deref().map(|id| format!("  {}", paint.paint(Role::Faint, &sanitize::line(id))));
    writeln!(out, "{time:16}  {name}{}", id.unwrap_or_default())?;
    if let Some(query) = &summary.query {
        let room = terminal.columns.map_or(usize::MAX, |columns| columns.saturating_sub(INDENT.len()));
        writeln!(out, "{INDENT}{}", width::elide_end(&sanitize::line(query), room))?;
    }
    Ok(())
}
