//! `aur mem blame`: the stored attribution of a file, line by line.

use std::io::{self, Write};

use aurora_history::FileBlame;
use aurora_project::{AttributionReport, Names, attribution};

use crate::args::BlameArgs;
use crate::failure::Outcome;
use crate::opened::{self, OpenedIndex};
use crate::output::json;
use crate::place;
use crate::program::Program;
use crate::values::ReportFormat;

/// Prints which commit every line of a file came from, as it was when the file was indexed.
pub(crate) fn run(args: &BlameArgs, program: &Program) -> Outcome {
    let OpenedIndex { project, snapshot } = opened::open(args.root.as_deref(), program)?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let file = names.file(&args.file)?;
    let blame = attribution(&snapshot, &file)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Text => write_lines(&mut out, &blame)?,
        ReportFormat::Json => json::write_indented(&mut out, &AttributionReport::of(&file.path, &blame))?,
    }
    Ok(out.flush()?)
}

/// `<commit> <line>` for every line; like git, zeros stand for a line that is not committed yet.
fn write_lines(out: &mut impl Write, blame: &FileBlame) -> io::Result<()> {
    let digits = blame.commits.first().map_or(40, |commit| 2 * commit.id.as_bytes().len());
    let zeros = "0".repeat(digits);
    for entry in &blame.entries {
        let commit =
            blame.commits.get(entry.commit as usize).map_or_else(|| zeros.clone(), |commit| commit.id.to_string());
        for line in entry.start_line..entry.start_line + entry.len {
            writeln!(out, "{commit} {}", line + 1)?;
        }
    }
    Ok(())
}
