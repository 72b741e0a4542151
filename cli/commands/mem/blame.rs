//! `aur mem blame`: prints the commit of each line of a file, as stored in the index.

use std::io::{self, Write};

use aurora_history::FileBlame;
use aurora_project::{AttributionReport, Names, attribution};
use clap::Args;

use crate::context::{IndexReportArgs, Outcome, Program, place};

/// Show which commit every line of an indexed file came from
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem blame src/auth.py                 the commit and number of each line
  aur mem blame src/auth.py --format json   runs of lines with author and time

The lines are those of the indexed version; zeros stand for a line that is not committed yet.
The commits equal those of `git blame -l`, but the command does not walk the history.")]
pub(crate) struct BlameArgs {
    /// Indexed file
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Prints the commit of every line of a file, as of the indexed version.
pub(crate) fn run(args: &BlameArgs, program: &Program) -> Outcome {
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref(), work: None };
    let file = names.file(&args.file)?;
    let blame = attribution(&snapshot, &file)?;
    program
        .terminal
        .print(args.index.format, &AttributionReport::new(&file.path, &blame), |out| write_lines(out, &blame))
}

/// Writes `<commit> <line>` for every line. As in git, zeros stand for a line that is not committed yet.
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
