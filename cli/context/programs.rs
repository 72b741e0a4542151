//! Checks that the user has allowed the programs of stages.

use aurora_project::{StageProgram, refused_programs, untrusted_stages, without_programs};
use aurora_stages::index::IndexOptions;
use clap::ValueEnum;

use crate::context::{Failure, Outcome, Terminal};
use crate::output::sanitize;

/// The action of an index run for programs that the user has not allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Untrusted {
    /// Do nothing and exit with 2
    #[default]
    Fail,
    /// Skip these stages: rows with unchanged text keep their values, which are marked as stale
    Keep,
    /// Remove these stages and their columns from the index, and exit with 1
    Skip,
}

/// The purpose of running stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Index,
    DryRun,
}

/// Handles the stages whose programs are not allowed, as `untrusted` specifies: fails, or returns the options of a run
/// that does not run these stages.
pub(crate) fn allowed(
    options: IndexOptions,
    untrusted: Untrusted,
    purpose: Purpose,
    terminal: &Terminal,
) -> Outcome<IndexOptions> {
    if untrusted == Untrusted::Keep && purpose == Purpose::Index {
        let untrusted = untrusted_stages(&options)?;
        return Ok(IndexOptions { untrusted, ..options });
    }
    let refused = refused_programs(&options)?;
    if refused.is_empty() {
        return Ok(options);
    }
    let (goes_on, stopped, without) = match purpose {
        Purpose::Index => {
            ("the index is built", "nothing was indexed", "`--untrusted keep` indexes without running it")
        }
        Purpose::DryRun => ("the pipeline runs", "nothing was run", "`--untrusted skip` leaves it out"),
    };
    if untrusted != Untrusted::Fail {
        for program in &refused {
            terminal.warn(&format!(
                "{goes_on} without stage `{0}`: its program is not allowed; `aur plugin trust {0}` shows it",
                program.stage
            ));
        }
        let options = without_programs(options, &refused)?;
        let is_dependant = |stage: &&String| refused.iter().all(|program| program.stage != **stage);
        for stage in options.left_out.iter().filter(is_dependant) {
            terminal.warn(&format!("{goes_on} without stage `{stage}`: it reads a column of a stage that is left out"));
        }
        return Ok(options);
    }
    let shown: Vec<String> = refused.iter().map(describe).collect();
    let commands: Vec<String> = refused.iter().map(|program| format!("`aur plugin trust {}`", program.stage)).collect();
    Err(Failure::new(format!(
        "you have not allowed these programs in this repository; {stopped}\n{}",
        shown.join("\n")
    ))
    .with_help(format!("{} allows it; {without}", commands.join(" and "))))
}

/// Describes a program on several lines.
pub(crate) fn describe(program: &StageProgram) -> String {
    let quoted =
        |part: &String| if part.contains([' ', '\t', '\n', '"', '\'']) { format!("{part:?}") } else { part.clone() };
    let command: Vec<String> = program.spec.command.iter().map(quoted).collect();
    let line = |label: &str, text: &str| format!("  {label:<7}  {}", sanitize::line(text));
    let mut lines = vec![line("stage", &program.stage), line("command", &command.join(" "))];
    lines.extend(program.identity.files.iter().map(|file| line("file", &file.path)));
    lines.extend(program.identity.modules.iter().map(|file| line("imports", &file.path)));
    lines.extend(program.not_covered().iter().map(|loaded| line("without", loaded)));
    if !program.spec.environment.is_empty() {
        lines.push(line("gets", &program.spec.environment.join(", ")));
    }
    if !program.spec.config.is_empty() {
        lines.push(line("config", &serde_json::Value::Object(program.spec.config.clone()).to_string()));
    }
    lines.push(line("digest", &program.identity.hex()));
    lines.extend(program.changes.iter().map(|change| line("changed", change)));
    lines.join("\n")
}
