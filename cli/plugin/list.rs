//! `aur plugin list`: the custom stages of a project.

use std::io::Write;

use aurora_project::programs_of_plan;
use aurora_stages::index as indexing;

use crate::args_plugin::RootArgs;
use crate::failure::Outcome;
use crate::output::{sanitize, width};
use crate::program::Program;
use crate::{findings, place};

/// Prints a line for each stage that is not built in.
pub(crate) fn run(args: &RootArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let options = program.project(root).options()?;
    let plan = indexing::plan(&options).map_err(|error| findings::failure(error, &program.terminal))?;
    let programs = programs_of_plan(&plan, &options)?;
    let built_in = aurora_stages::registry();
    let custom = plan.stages().iter().filter(|stage| built_in.stage_types().all(|name| name != stage.type_name()));
    let mut rows: Vec<[String; 4]> = Vec::new();
    for stage in custom {
        let written: Vec<&str> = stage.access().written().map(|column| column.name()).collect();
        let state = match programs.iter().find(|known| known.stage == stage.name()) {
            Some(known) if known.is_allowed => format!("allowed, {}", &known.identity.hex()[..16]),
            Some(known) => format!("not allowed, {}", &known.identity.hex()[..16]),
            None => "runs without asking".to_owned(),
        };
        rows.push([stage.name().to_owned(), stage.type_name().to_owned(), written.join(", "), state]);
    }
    let mut out = program.terminal.stdout();
    if rows.is_empty() {
        writeln!(out, "The pipeline has no custom stage; `aur plugin new NAME` writes one")?;
    }
    let widest = |at: usize| rows.iter().map(|row| width::of(&row[at])).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    for row in &rows {
        for (text, widest) in row.iter().zip(widths) {
            write!(out, "{}  ", width::pad(&sanitize::line(text), widest))?;
        }
        writeln!(out, "{}", row[3])?;
    }
    Ok(out.flush()?)
}
