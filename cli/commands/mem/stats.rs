//! `aur mem stats`: prints statistics of the index.

use std::io::{self, Write};

use aurora_project::{ContentsReport, OmissionReport, contents, omissions};
use aurora_stages::index::{FailedRow, NotIndexed, failed_rows};
use clap::Args;

use crate::context::{IndexReportArgs, Outcome, Program, Terminal, interrupt};
use crate::output::{Role, fields, sanitize, units, width};

/// Show statistics of the index
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem stats                     files, chunks, tables, languages
  aur mem stats --skipped           files that are not indexed, as PATH: REASON")]
pub(crate) struct StatsArgs {
    /// List the files and directories that are not indexed, each with the reason
    #[arg(long)]
    pub(crate) skipped: bool,

    /// List the rows on which custom stages failed, each with the error
    #[arg(long, conflicts_with = "skipped")]
    pub(crate) failed: bool,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Prints the statistics of the published generation.
pub(crate) fn run(args: &StatsArgs, program: &Program) -> Outcome {
    if args.skipped {
        return print_skipped(args, program);
    }
    if args.failed {
        return print_failed(args, program);
    }
    let terminal = &program.terminal;
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    let stats = contents(&project, &snapshot)?;
    terminal.print(args.index.format, &stats, |out| write_text(out, &stats, terminal))
}

/// Free space is shown if it exceeds the size of the tables divided by this number. The latest transactions always
/// leave some free space.
const FREE_SHARE: u64 = 8;
/// Free space up to this number of bytes is never shown.
const MIN_FREE_BYTES: u64 = 1 << 20;

fn write_text(out: &mut impl Write, stats: &ContentsReport, terminal: &Terminal) -> io::Result<()> {
    let heading = |text: &str| terminal.out.paint(Role::Heading, text);
    writeln!(out, "{}", heading(&format!("Index of {}", sanitize::line(&stats.root))))?;
    writeln!(out, "  Files:       {}", units::count(stats.files))?;
    writeln!(out, "  Chunks:      {}", units::count(stats.chunks))?;
    writeln!(out, "  Postings:    {}", units::count(stats.postings))?;
    match &stats.model {
        Some(model) => writeln!(out, "  Embeddings:  {}, {} dimensions", model.id, model.dimensions)?,
        None => writeln!(out, "  Embeddings:  none")?,
    }
    writeln!(out, "  Size:        {}", units::bytes(stats.index_bytes))?;
    writeln!(out, "  Updated:     {} (generation {})", stats.updated, stats.generation)?;
    if let Some(commit) = &stats.head_commit {
        writeln!(out, "  Commit:      {}", sanitize::line(commit))?;
    }
    if !stats.complete {
        let text = "the last run was stopped early, could not read every file, or lacks stage results; `aur mem index` continues";
        writeln!(out, "  {} {text}", terminal.out.paint(Role::Warning, "Incomplete:"))?;
    }
    writeln!(out, "\n{}", heading("Tables"))?;
    let widest = stats.tables.iter().map(|table| table.name.len()).max().unwrap_or(0);
    for table in &stats.tables {
        let name = width::pad(table.name, widest);
        writeln!(out, "  {name}  {:>9}  {:>11} rows", units::bytes(table.bytes), units::count(table.rows))?;
    }
    let tables: u64 = stats.tables.iter().map(|table| table.bytes).sum();
    let free = stats.index_bytes.saturating_sub(tables);
    if free > (tables / FREE_SHARE).max(MIN_FREE_BYTES) {
        let name = width::pad("(free)", widest);
        writeln!(out, "  {name}  {:>9}  reused by later runs; `aur mem compact` frees it", units::bytes(free))?;
    }
    for (title, shares) in [("Types", &stats.types), ("Languages", &stats.languages)] {
        if shares.is_empty() {
            continue;
        }
        writeln!(out, "\n{}", heading(title))?;
        let widest = shares.iter().map(|share| width::measure(&share.name)).max().unwrap_or(0);
        for share in shares {
            let name = width::pad(&sanitize::line(&share.name), widest);
            writeln!(out, "  {name}  {:>9}", units::count(u64::from(share.chunks)))?;
        }
    }
    if !stats.columns.is_empty() {
        writeln!(out, "\n{}", heading("Columns"))?;
    }
    for column in &stats.column_states {
        if let Some(shortfall) = column.shortfall() {
            let name = sanitize::line(&column.name);
            writeln!(out, "  {} {name}: {shortfall}", terminal.out.paint(Role::Warning, "Not up to date:"))?;
        }
    }
    let widest = stats.columns.iter().map(|facet| facet.column.name.len()).max().unwrap_or(0);
    for facet in &stats.columns {
        let [head, values] = fields::facet_lines(facet, widest);
        writeln!(out, "  {head}")?;
        if !values.is_empty() {
            writeln!(out, "  {:widest$}  {values}", "")?;
        }
    }
    Ok(())
}

/// Prints every failed row of the published generation.
fn print_failed(args: &StatsArgs, program: &Program) -> Outcome {
    let (_, snapshot) = program.open(args.index.root.as_deref())?;
    let rows = failed_rows(&snapshot)?;
    program.terminal.print(args.index.format, &rows, |out| write_failed(out, &rows, &program.terminal))
}

fn write_failed(out: &mut impl Write, rows: &[FailedRow], terminal: &Terminal) -> io::Result<()> {
    let title = match rows.len() as u64 {
        0 => "No custom stage has failed on a row".to_owned(),
        count => format!("{} failed; `aur mem index` tries again", units::counted(count, "row")),
    };
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &title))?;
    for row in rows {
        let lines = match (row.line_start, row.line_end) {
            (Some(start), Some(end)) => format!(":{start}-{end}"),
            _ => String::new(),
        };
        let place = terminal.out.paint(Role::Path, &format!("{}{lines}", sanitize::line(&row.path)));
        let error = terminal.out.paint(Role::Error, &sanitize::line(&row.error));
        writeln!(out, "{place}: {}: {error}", sanitize::line(&row.stage))?;
    }
    Ok(())
}

/// Prints every file and directory of the current tree that is not indexed.
fn print_skipped(args: &StatsArgs, program: &Program) -> Outcome {
    let (project, _) = program.open(args.index.root.as_deref())?;
    let options = program.options(project.root())?;
    interrupt::cancels(&options.cancel, "nothing is written");
    let report = omissions(&options)?;
    interrupt::unless_cancelled(&options.cancel)?;
    program.terminal.print(args.index.format, &report, |out| write_skipped(out, &report, &program.terminal))
}

/// Writes the reasons, most frequent first, and then `PATH: REASON` for every entry.
fn write_skipped(out: &mut impl Write, report: &OmissionReport, terminal: &Terminal) -> io::Result<()> {
    let total = units::count(report.total as u64);
    let title = format!("Not indexed in {}: {total} files and directories", sanitize::line(&report.root));
    writeln!(out, "{}", terminal.out.paint(Role::Heading, &title))?;
    let mut reasons: Vec<_> = report.reasons.iter().collect();
    reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), reason.as_str()));
    let counts: Vec<String> = reasons.iter().map(|(_, count)| units::count(**count as u64)).collect();
    let widest = counts.iter().map(|count| width::measure(count)).max().unwrap_or(0);
    for ((reason, _), count) in reasons.iter().zip(&counts) {
        writeln!(out, "  {count:>widest$}  {}", sanitize::line(reason))?;
    }
    if !report.entries.is_empty() {
        writeln!(out)?;
    }
    for NotIndexed { path, reason, failed, .. } in &report.entries {
        let role = if *failed { Role::Error } else { Role::Faint };
        let reason = terminal.out.paint(role, &sanitize::line(reason));
        writeln!(out, "{}: {reason}", terminal.out.paint(Role::Path, &sanitize::line(path)))?;
    }
    Ok(())
}
