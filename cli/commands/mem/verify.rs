//! `aur mem verify`: checks the whole index, and the indexes of the memories.

use std::io::Write;
use std::path::PathBuf;

use aurora_memory::Owner;
use clap::Args;

use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::{memories, opened};
use crate::output::style::Role;
use crate::output::{sanitize, units};

/// Check every record, posting list and vector of the index, or every record of a memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem verify              exits with 1 if a check fails
  aur mem verify --digest     a digest that depends on the content only
  aur mem verify --memory user")]
pub(crate) struct VerifyArgs {
    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Check a memory instead of the index
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    /// Print only the digest of the content
    #[arg(long)]
    pub(crate) digest: bool,
}

/// Checks everything, or prints the digest of the content.
pub(crate) fn run(args: &VerifyArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let (project, snapshot) = opened::open_any(args.root.as_deref(), program)?;
    let mut out = terminal.stdout();
    if args.digest {
        let digest = snapshot.digest().map_err(opened::failure)?;
        writeln!(out, "{digest}")?;
        return Ok(out.flush()?);
    }
    let report = snapshot.verify();
    writeln!(
        out,
        "Checked {}, {}, {}, {} and {}",
        units::counted(report.files, "file"),
        units::counted(report.chunks, "chunk"),
        units::counted(report.terms, "term"),
        units::counted(report.postings, "posting"),
        units::counted(report.vectors, "vector"),
    )?;
    for problem in &report.problems {
        writeln!(out, "{} {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))?;
    }
    let hidden = report.problem_count.saturating_sub(report.problems.len() as u64);
    if hidden > 0 {
        writeln!(out, "- … and {}", units::counted(hidden, "more problem"))?;
    }
    let of_memories: Vec<String> = memories::openable(project.root())
        .filter_map(|memory| {
            let problem = memory.index_problem()?;
            Some(format!("the index of the memory at {}: {problem}", memory.place().directory().display()))
        })
        .collect();
    for problem in &of_memories {
        writeln!(out, "{} {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))?;
    }
    if report.is_ok() && of_memories.is_empty() {
        writeln!(out, "{}", terminal.out.paint(Role::Good, "No problems found"))?;
    }
    out.flush()?;
    if report.is_ok() {
        return match of_memories.is_empty() {
            true => Ok(()),
            false => Err(Failure::Short(
                "the index of a memory is damaged; `aur mem index --force` rebuilds it from the entries".to_owned(),
            )),
        };
    }
    let (problems, root) = (units::counted(report.problem_count, "problem"), project.root().display());
    Err(Failure::Short(match report.has_only_keyword_problems() {
        true => format!(
            "{problems} in the index of {root}, all in its keywords; `aur mem index` rebuilds the keywords from the stored chunks"
        ),
        false => format!("{problems} in the index of {root}; `aur mem index --force` rebuilds it"),
    }))
}
