//! `aur mem stats --skipped`: lists files that are not indexed, with the reasons.

use std::io::{self, Write};

use aurora_project::{OmissionReport, omissions};
use aurora_stages::index::NotIndexed;

use crate::commands::mem::stats::StatsArgs;
use crate::context::args::ReportFormat;
use crate::context::failure::Outcome;
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::context::{findings, interrupt, opened};
use crate::output::style::Role;
use crate::output::{json, sanitize, units, width};

/// Prints every file and directory of the current tree that is not indexed.
pub(crate) fn run(args: &StatsArgs, program: &Program) -> Outcome {
    let options = opened::open(args.root.as_deref(), program)?.0.options()?;
    interrupt::cancels(&options.cancel, "nothing is written");
    let report = omissions(&options).map_err(|error| findings::failure(error, &program.terminal))?;
    interrupt::unless_cancelled(&options.cancel)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &report)?,
        ReportFormat::Text => write_text(&mut out, &report, &program.terminal)?,
    }
    Ok(out.flush()?)
}

/// Writes the reasons, most frequent first, and then `PATH: REASON` for every entry.
fn write_text(out: &mut impl Write, report: &OmissionReport, terminal: &Terminal) -> io::Result<()> {
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
