//! `aur mem stats`: prints statistics of the index.

pub(super) mod failed;
pub(super) mod skipped;

use std::io::Write;
use std::path::PathBuf;

use aurora_project::{ContentsReport, contents};
use clap::Args;

use crate::context::args::ReportFormat;
use crate::context::failure::Outcome;
use crate::context::opened;
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::output::style::Role;
use crate::output::{fields, json, sanitize, units, width};

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

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Prints the statistics of the published generation.
pub(crate) fn run(args: &StatsArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let (project, snapshot) = opened::open(args.root.as_deref(), program)?;
    let stats = contents(&project, &snapshot).map_err(opened::failure)?;
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &stats)?,
        ReportFormat::Text => write_text(&mut out, &stats, terminal)?,
    }
    Ok(out.flush()?)
}

/// Free space is shown if it exceeds both this fraction of the tables and this number of bytes. The latest transactions
/// always leave some free space.
const FREE_SHARE: u64 = 8;
const MIN_FREE_BYTES: u64 = 1 << 20;

fn write_text(out: &mut impl Write, stats: &ContentsReport, terminal: &Terminal) -> std::io::Result<()> {
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
