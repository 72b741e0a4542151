//! `aur plugin test`: tests whether a program conforms to the stage protocol.

use serde::Deserialize;
use std::io::Write;
use std::path::PathBuf;

use aurora_pipeline::{DynamicType, Plan, StageConfig};
use aurora_plugins::conformance::{Conformance, check};
use aurora_plugins::process::{HelperDirectory, Process};
use aurora_project::plan_programs;
use aurora_stages::index::{self as indexing, IndexOptions};
use clap::Args;

use crate::context::{Failure, Outcome, Program, Terminal, place};
use crate::output::{Role, sanitize, units};

/// Test whether a program conforms to the stage protocol
#[derive(Debug, Args)]
#[command(after_help = "\
The program runs in the current directory, on generated rows. Exits with 1 if a check fails.

Examples:
  aur plugin test owner                               test the program of a stage of this project
  aur plugin test -- python3 tools/owner.py           test any command with the default columns
  aur plugin test --reads chunk.text --writes todos=integer -- ./count-todos")]
pub(crate) struct TestPluginArgs {
    /// Stage of the project's pipeline, or command with its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,

    /// Column that the command reads; may be given more than once
    #[arg(long, value_name = "COLUMN", default_value = "file.path")]
    pub(crate) reads: Vec<String>,

    /// Column that the command writes, with its type; may be given more than once
    #[arg(long, value_name = "COLUMN=TYPE", default_value = "value=string", value_parser = parse_column)]
    pub(crate) writes: Vec<(String, String)>,
}

fn parse_column(text: &str) -> Result<(String, String), String> {
    let (name, kind) = text.split_once('=').ok_or("a column and its type are written as `owner=string`")?;
    Ok((name.to_owned(), kind.to_owned()))
}

/// Runs the program on generated rows, and prints the results of the checks.
pub(crate) fn run(args: &TestPluginArgs, program: &Program) -> Outcome {
    let root = place::for_search(None)?;
    let options = program.options(&root)?;
    let from_pipeline = match args.command.as_slice() {
        [name] => {
            let plan = indexing::plan(&options)?;
            stage_config(&plan, name, &options)?
        }
        _ => None,
    };
    let (config, root) = match from_pipeline {
        Some(config) => (config, root),
        None => command_config(args, program)?,
    };
    let kinds = |name: &str| {
        let known = program.registry.columns().find(|column| column.name == name);
        known.map_or(DynamicType::String, |column| column.value)
    };
    let helper = options.services.get::<HelperDirectory>();
    let report = check(&config, &root, helper.as_deref(), &kinds);
    write_report(&report, &program.terminal)?;
    let failed = report.checks.iter().filter(|check| !check.passed).count();
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::Short(format!("{} failed", units::counted(failed as u64, "check"))))
}

/// Returns the configuration of a stage of the pipeline. Fails if the program of the stage is not allowed.
fn stage_config(plan: &Plan, name: &str, options: &IndexOptions) -> Outcome<Option<Process>> {
    let Some(stage) = plan.stages().iter().find(|stage| stage.name() == name && stage.type_name() == Process::TYPE)
    else {
        return Ok(None);
    };
    let programs = plan_programs(plan, options)?;
    if programs.iter().any(|known| known.stage == name && !known.is_allowed) {
        return Err(Failure::new(format!("the program of stage `{name}` is not allowed to run"))
            .with_help(format!("`aur plugin trust {name}` shows it and allows it")));
    }
    let config = Process::deserialize(stage.config().clone());
    config.map(Some).map_err(|error| Failure::new(format!("stage `{name}`: {error}")))
}

/// Returns the configuration for a command given by the user, and its working directory.
fn command_config(args: &TestPluginArgs, program: &Program) -> Outcome<(Process, PathBuf)> {
    let directory = place::for_index(None)?;
    let quoted = |texts: &[String]| texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
    let writes = args.writes.iter().map(|(name, kind)| format!("{name:?} = {kind:?}"));
    let text = format!(
        "command = [{}]\nreads = [{}]\nwrites = {{ {} }}\n",
        quoted(&args.command),
        quoted(&args.reads),
        writes.collect::<Vec<_>>().join(", ")
    );
    let wrong = |found| Failure::findings("the command", &found);
    program.registry.configure(Process::TYPE, &text).map_err(wrong)?;
    let config = toml::from_str(&text).map_err(|error| Failure::new(error.to_string()))?;
    Ok((config, directory))
}

fn write_report(report: &Conformance, terminal: &Terminal) -> Outcome {
    terminal.write(|out| {
        for check in &report.checks {
            let (role, verdict) = if check.passed { (Role::Good, "ok") } else { (Role::Error, "failed") };
            let verdict = terminal.out.paint(role, &format!("{verdict:<6}"));
            let colon = if check.detail.is_empty() { "" } else { ": " };
            writeln!(out, "{verdict}  {}{colon}{}", check.name, sanitize::line(&check.detail))?;
        }
        let Some(throughput) = report.throughput else { return Ok(()) };
        let bytes = units::bytes(throughput.bytes as u64);
        writeln!(out, "\n{} rows and {bytes} in a second", units::count(throughput.rows as u64))
    })
}
