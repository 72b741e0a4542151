//! `aur mem list`: lists entries, filtered and sorted.

use std::io::Write;

use aurora_memory::{EntryReport, ListFilter, ListOrder, MemoryError};
use clap::Args;

use crate::context::{Memories, MemoryArgs, Outcome, Program, ReportFormat, Terminal, args};
use crate::output::{Role, sanitize, units, width};

/// List the entries of memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem list                                  the entries changed last
  aur mem list --kind reasoning --pattern       proven patterns
  aur mem list --tag security --sort accesses   the most used entries
  aur mem list --state archived                 the entries that `aur mem prune` would delete")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: ListFilter,

    /// Sort order
    #[arg(long, value_name = "ORDER", value_enum, default_value_t = ListOrder::Edited)]
    pub(crate) sort: ListOrder,

    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,

    /// Maximum number of entries [default: 20; all with --format json]
    #[arg(long, short = 'n', value_name = "N", value_parser = args::parse_limit)]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Default limit of the table.
const DEFAULT_LIMIT: usize = 20;
/// Maximum width of a title in columns.
const MAX_TITLE_COLUMNS: usize = 60;

/// Prints the entries that pass the filters.
pub(crate) fn run(args: &ListArgs, program: &Program) -> Outcome {
    let mut memories = Memories::open(&args.memories, program)?;
    memories.warn_unusable(program)?;
    let now = aurora_clock::now_seconds();
    let mut reports: Vec<EntryReport> = Vec::new();
    for memory in memories.iter() {
        let keep = |report| -> Result<(), MemoryError> {
            reports.push(report);
            Ok(())
        };
        memory.for_each(&args.filter, (&memories.rules, &memories.config), now, keep)?;
    }
    args.sort.sort(&mut reports);
    if args.reverse {
        reports.reverse();
    }
    let found = reports.len();
    let shown = args.limit.or((args.format == ReportFormat::Text).then_some(DEFAULT_LIMIT));
    reports.truncate(shown.unwrap_or(usize::MAX));
    program.terminal.print(args.format, &reports, |out| write_table(out, &reports, &program.terminal))?;
    if args.format == ReportFormat::Text {
        match found - reports.len() {
            0 if found == 0 => program.terminal.note("no entries"),
            0 => {}
            more => program.terminal.note(&format!("{} more; --limit shows them", units::count(more as u64))),
        }
    }
    Ok(())
}

fn write_table(out: &mut impl Write, reports: &[EntryReport], terminal: &Terminal) -> std::io::Result<()> {
    if reports.is_empty() {
        return Ok(());
    }
    let rows: Vec<[String; 6]> = reports.iter().map(row).collect();
    let headings = ["ID", "Scope", "Score", "Used", "Changed", "Title"].map(str::to_owned);
    let widths: Vec<usize> = (0..headings.len())
        .map(|column| rows.iter().chain([&headings]).map(|row| width::measure(&row[column])).max().unwrap_or(0))
        .collect();
    let line = |row: &[String; 6]| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &columns)| width::pad(cell, columns)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &line(&headings)))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(row)))
}

fn row(report: &EntryReport) -> [String; 6] {
    let EntryReport { entry, facts } = report;
    let score = entry.score().map_or_else(|| "-".to_owned(), |score| format!("{score:.2}"));
    let scope = match &facts.session {
        Some(session) => format!("{} {session}", facts.scope),
        None => facts.scope.to_string(),
    };
    [
        sanitize::line(entry.id()),
        sanitize::line(&scope),
        score,
        units::count(facts.access_count),
        units::date(facts.edited_at),
        width::elide_end(&sanitize::line(&entry.title()), MAX_TITLE_COLUMNS),
    ]
}
