//! `aur plugin list`: lists the custom stages of a project.

use std::io::{self, Write};

use aurora_pipeline::PlannedStage;
use aurora_plugins::trust::ProgramFile;
use aurora_project::{StageProgram, plan_programs};
use aurora_stages::index as indexing;
use clap::Args;
use serde_json::{Value, json};

use crate::context::{Outcome, Program, ReportFormat, RootArgs, place};
use crate::output::{json as output, sanitize, width};

/// List the custom stages of the project's pipeline, and whether their programs may run
#[derive(Debug, Args)]
pub(crate) struct ListPluginsArgs {
    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,

    /// Print only the digests of the programs, for `aur plugin trust --digest`
    #[arg(long, conflicts_with = "format")]
    pub(crate) digests: bool,

    #[command(flatten)]
    pub(crate) root: RootArgs,
}

/// Number of hexadecimal digits of a digest in the table.
const SHOWN_DIGITS: usize = 16;

/// A stage whose type is not among the built-in types.
struct CustomStage<'p> {
    planned: &'p PlannedStage,
    /// The program of the stage; `None` if the stage is compiled into `aur`.
    program: Option<&'p StageProgram>,
}

/// Prints the custom stages, or the digests of their programs.
pub(crate) fn run(args: &ListPluginsArgs, program: &Program) -> Outcome {
    let options = program.options(place::for_search(args.root.root.as_deref())?)?;
    let plan = indexing::plan(&options)?;
    let programs = plan_programs(&plan, &options)?;
    let built_in = aurora_stages::registry();
    let custom = plan.stages().iter().filter(|stage| built_in.stage_types().all(|name| name != stage.type_name()));
    let program_of = |stage: &PlannedStage| programs.iter().find(|known| known.stage == stage.name());
    let stages: Vec<_> = custom.map(|planned| CustomStage { planned, program: program_of(planned) }).collect();
    program.terminal.write(|out| {
        if args.digests {
            let mut programs = stages.iter().filter_map(|stage| stage.program);
            programs
                .try_for_each(|program| writeln!(out, "{}  {}", program.identity.hex(), sanitize::line(&program.stage)))
        } else if args.format == ReportFormat::Json {
            let stages: Vec<Value> = stages.iter().map(CustomStage::json).collect();
            output::write_indented(out, &json!({ "stages": stages }))
        } else {
            write_table(out, &stages)
        }
    })
}

fn write_table(out: &mut impl Write, stages: &[CustomStage<'_>]) -> io::Result<()> {
    if stages.is_empty() {
        writeln!(out, "The pipeline has no custom stage; `aur plugin new NAME` creates one")?;
    }
    let rows: Vec<[String; 4]> = stages.iter().map(CustomStage::row).collect();
    let widths = [0, 1, 2].map(|at| width::widest(rows.iter().map(|row| &row[at])));
    for (row, stage) in rows.iter().zip(stages) {
        for (text, widest) in row.iter().zip(widths) {
            write!(out, "{}  ", width::pad(&sanitize::line(text), widest))?;
        }
        writeln!(out, "{}", row[3])?;
        for change in stage.program.into_iter().flat_map(|program| &program.changes) {
            writeln!(out, "    {}", sanitize::line(change))?;
        }
    }
    Ok(())
}

impl CustomStage<'_> {
    fn row(&self) -> [String; 4] {
        let state = match self.program {
            Some(program) => {
                format!("{}, {}", self.state().replace('-', " "), &program.identity.hex()[..SHOWN_DIGITS])
            }
            None => "runs without asking".to_owned(),
        };
        [self.planned.name().to_owned(), self.planned.type_name().to_owned(), self.writes().join(", "), state]
    }

    fn writes(&self) -> Vec<&str> {
        self.planned.access().written().map(|column| column.name()).collect()
    }

    fn state(&self) -> &'static str {
        match self.program {
            None => "compiled-in",
            Some(program) if program.spec.is_confined => "confined",
            Some(program) if program.is_allowed => "allowed",
            Some(_) => "not-allowed",
        }
    }

    fn json(&self) -> Value {
        let mut object = json!({
            "name": self.planned.name(),
            "type": self.planned.type_name(),
            "writes": self.writes(),
            "state": self.state(),
        });
        if let Some(program) = self.program {
            let files = |files: &[ProgramFile]| -> Vec<Value> {
                files.iter().map(|file| json!({"path": file.path, "hash": file.hex()})).collect()
            };
            object["digest"] = program.identity.hex().into();
            object["command"] = json!(program.spec.command);
            object["environment"] = json!(program.spec.environment);
            object["inputs"] = json!(program.spec.inputs);
            object["config"] = json!(program.spec.config);
            object["files"] = files(&program.identity.files).into();
            object["imports"] = files(&program.identity.modules).into();
            object["not_covered"] = json!(program.not_covered());
            object["changes"] = json!(program.changes);
        }
        object
    }
}
