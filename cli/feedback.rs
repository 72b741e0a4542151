//! `aur mem feedback`: stores verdicts on results for later searches.

use std::io::Write;

use aurora_project::{Names, ProjectError, judge};
use aurora_storage::{AccessLog, Verdict};

use crate::args::{FeedbackArgs, VerdictArg};
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{json, sanitize, time};
use crate::program::Program;
use crate::values::ReportFormat;
use crate::{findings, place};

/// Records the verdict on every chunk that is named, or on none of them.
pub(crate) fn run(args: &FeedbackArgs, program: &Program) -> Outcome {
    let OpenedIndex { project, snapshot } = opened::open(args.root.as_deref(), program)?;
    let settings = project.settings(Vec::new()).map_err(|error| findings::project(error, &program.terminal))?;
    let here = place::here();
    let names = Names { snapshot: &snapshot, root: project.root(), from: here.as_deref() };
    let mut keys = Vec::new();
    for id in &args.ids {
        let (_, key) = names.chunk(id).map_err(nothing_recorded)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let verdict = match (args.verdict, args.partial) {
        (VerdictArg::Good, false) => Verdict::Good,
        (VerdictArg::Good, true) => Verdict::Helpful,
        (VerdictArg::Bad, true) => Verdict::Unhelpful,
        (VerdictArg::Bad, false) => Verdict::Bad,
    };
    let log = AccessLog::open(&project.directory()).map_err(opened::failure)?;
    let report = judge(&log, &settings.activation.learning, verdict, &keys, time::now()).map_err(opened::failure)?;
    if let Some(reason) = log.begun_anew() {
        program
            .terminal
            .warn(&format!("the access history could not be used ({reason}); it was set aside and begun anew"));
    }
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &report)?,
        ReportFormat::Text => {
            for chunk in &report.chunks {
                writeln!(out, "{}: activation {:+.2} by feedback", sanitize::line(&chunk.id), chunk.learned)?;
            }
        }
    }
    Ok(out.flush()?)
}

/// An unknown chunk among those that were named.
fn nothing_recorded(error: ProjectError) -> Failure {
    let help = error.help().unwrap_or_default();
    Failure::new(format!("{error}, nothing was recorded")).with_help(help)
}
