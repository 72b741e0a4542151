//! `aur mem stats --failed`: lists the rows on which custom stages failed, with the errors.

use std::io::{self, Write};

use aurora_stages::index::{FailedRow, failed_rows};

use crate::commands::mem::stats::StatsArgs;
use crate::context::args::ReportFormat;
use crate::context::failure::Outcome;
use crate::context::opened;
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::output::style::Role;
use crate::output::{json, sanitize, units};

/// Prints every failed row of the published generation.
pub(crate) fn run(args: &StatsArgs, program: &Program) -> Outcome {
    let (_, snapshot) = opened::open(args.root.as_deref(), program)?;
    let rows = failed_rows(&snapshot).map_err(opened::failure)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &rows)?,
        ReportFormat::Text => write_text(&mut out, &rows, &program.terminal)?,
    }
    Ok(out.flush()?)
}

fn write_text(out: &mut impl Write, rows: &[FailedRow], terminal: &Terminal) -> io::Result<()> {
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
