//! `aur pipeline`: inspects the pipeline of an index run without running it.

pub(crate) mod dry;

use std::io::Write;

use aurora_pipeline::Plan;
use aurora_project::checked_plan;
use aurora_stages::index::{self as indexing, IndexError, IndexOptions, PipelineChoice, RunsOn, StageOutlook};
use aurora_stages::pipelines::EMBEDDED;
use aurora_storage::ProjectDirectory;
use clap::{Args, Subcommand, ValueEnum};

use crate::commands::pipeline::dry::RunArgs;
use crate::context::{Outcome, Program, Purpose, Untrusted, pipeline_choice, place, programs};
use crate::output::{sanitize, units, width};

#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Check a pipeline, and print every error and warning with file and line
    #[command(after_help = PIPELINE_EXAMPLES)]
    Check(PipelineArgs),
    /// Draw the stages and the columns that flow between them
    #[command(after_help = PIPELINE_EXAMPLES)]
    Graph {
        #[command(flatten)]
        pipeline: PipelineArgs,
        /// Output format: text for people, or DOT for Graphviz
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GraphFormat::Text)]
        format: GraphFormat,
        /// Explain which stages the next run will repeat, and why
        #[arg(long, conflicts_with = "format")]
        why: bool,
    },
    /// Print the whole pipeline as TOML, including everything that it extends
    #[command(after_help = PIPELINE_EXAMPLES)]
    Show(PipelineArgs),
    Run(RunArgs),
    /// Print the JSON Schema of pipeline files, for editors
    #[command(after_help = "\
The schema (draft 2020-12) lists every key with its type, default and meaning. Editors that use
Taplo find it through the comment `#:schema ./pipeline.schema.json` in the first line of a pipeline.

Example:
  aur pipeline schema > .aurora/pipeline.schema.json")]
    Schema,
}

const PIPELINE_EXAMPLES: &str = "\
Without FILE or NAME, the command uses the pipeline that `aur mem index` would use here:
.aurora/pipeline.toml if it exists, else `default`.

Examples:
  aur pipeline check .aurora/pipeline.toml
  aur pipeline graph nightly --format dot | dot -Tsvg > pipeline.svg
  aur pipeline show lexical";

#[derive(Debug, Args)]
pub(crate) struct PipelineArgs {
    /// Pipeline file, or name of a built-in pipeline
    #[arg(value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Text,
    Dot,
}

/// Checks, draws, prints or runs a pipeline, or prints the schema of pipeline files.
pub(crate) fn run(command: &PipelineCommand, program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    match command {
        PipelineCommand::Check(args) => {
            let (name, options) = pipeline(args, program)?;
            let plan = report_warnings(checked_plan(&options), program)?;
            let stages = units::counted(plan.stages().len() as u64, "stage");
            let warnings = units::counted(plan.warnings().iter().count() as u64, "warning");
            writeln!(out, "{}: {stages}, no errors, {warnings}", sanitize::line(&name))?;
        }
        PipelineCommand::Graph { pipeline, why: true, .. } => write_outlook(&mut out, pipeline, program)?,
        PipelineCommand::Graph { pipeline, format, .. } => {
            let plan = plan(pipeline, program)?;
            let drawn = match format {
                GraphFormat::Text => plan.graph_text(),
                GraphFormat::Dot => plan.graph_dot(),
            };
            writeln!(out, "{}", sanitize::block(drawn.trim_end()))?;
        }
        PipelineCommand::Show(args) => {
            let plan = plan(args, program)?;
            writeln!(out, "{}", sanitize::block(plan.show().trim_end()))?;
        }
        PipelineCommand::Run(args) => return dry::run(args, program),
        PipelineCommand::Schema => {
            let names: Vec<&str> = EMBEDDED.iter().map(|pipeline| pipeline.name).collect();
            writeln!(out, "{:#}", program.registry.schema(&names))?;
        }
    }
    Ok(out.flush()?)
}

/// Prints which stages the next run will repeat, and why.
fn write_outlook(out: &mut impl Write, args: &PipelineArgs, program: &Program) -> Outcome {
    let (_, options) = pipeline(args, program)?;
    let options = programs::allowed(options, Untrusted::Fail, Purpose::Index, &program.terminal)?;
    let stages = indexing::outlook(&options)?;
    let widest = width::widest(stages.iter().map(|stage| &stage.stage));
    for StageOutlook { stage, runs, reasons } in &stages {
        let runs = match runs {
            RunsOn::Changes => "runs on changes in the tree",
            RunsOn::Unfinished => "runs on changes in the tree and on rows without a result",
            RunsOn::Chunks => "runs again on all chunks",
            RunsOn::Files => "runs again on all files",
        };
        let why = if reasons.is_empty() { String::new() } else { format!(": {}", reasons.join(", ")) };
        writeln!(out, "{}  {}", width::pad(&sanitize::line(stage), widest), sanitize::line(&format!("{runs}{why}")))?;
    }
    Ok(())
}

/// Returns the plan of a pipeline, and prints its warnings.
fn plan(args: &PipelineArgs, program: &Program) -> Outcome<Plan> {
    let (_, options) = pipeline(args, program)?;
    report_warnings(indexing::plan(&options), program)
}

/// Prints the warnings of a plan, and returns the plan.
fn report_warnings(plan: Result<Plan, IndexError>, program: &Program) -> Outcome<Plan> {
    let plan = plan?;
    program.terminal.show(plan.warnings());
    Ok(plan)
}

/// Returns the name of a pipeline, and the options of a run with it.
fn pipeline(args: &PipelineArgs, program: &Program) -> Outcome<(String, IndexOptions)> {
    let root = place::for_search(None)?;
    let choice = pipeline_choice::choice(args.pipeline.as_deref())?;
    let options = IndexOptions { pipeline: choice.clone(), ..program.options(&root)? };
    let name = match choice {
        PipelineChoice::Named(name) | PipelineChoice::Text { name, .. } => name,
        PipelineChoice::File(path) => path.display().to_string(),
        PipelineChoice::Default => {
            let project = ProjectDirectory::in_root(&root).path_of(ProjectDirectory::PIPELINE);
            if project.symlink_metadata().is_ok() { project.display().to_string() } else { "default".to_owned() }
        }
    };
    Ok((name, options))
}
