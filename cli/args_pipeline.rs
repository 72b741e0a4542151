//! Arguments of the commands that check, draw, print and try pipelines.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::args_plugin::Untrusted;

#[derive(Debug, Subcommand)]
pub(crate) enum PipelineCommand {
    /// Check a pipeline: every error and warning at once, with file and line
    #[command(after_help = PIPELINE_EXAMPLES)]
    Check(PipelineArgs),
    /// Draw the stages and the columns that flow between them
    #[command(after_help = PIPELINE_EXAMPLES)]
    Graph {
        #[command(flatten)]
        pipeline: PipelineArgs,
        /// Text for people, or DOT for Graphviz
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GraphFormat::Text)]
        format: GraphFormat,
        /// Say what the next run will do again, and why
        #[arg(long, conflicts_with = "format")]
        why: bool,
    },
    /// Print the whole pipeline as TOML, with everything it extends filled in
    #[command(after_help = PIPELINE_EXAMPLES)]
    Show(PipelineArgs),
    /// Show what files become after each stage, without writing an index
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunArgs),
    /// Print a JSON Schema of pipeline files, for editors
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
}

const PIPELINE_EXAMPLES: &str = "\
Without FILE or NAME it is the pipeline that `aur mem index` would follow here: .aurora/pipeline.toml
where there is one, else `default`.

Examples:
  aur pipeline check .aurora/pipeline.toml
  aur pipeline graph nightly --format dot | dot -Tsvg > pipeline.svg
  aur pipeline show lexical";

const RUN_EXAMPLES: &str = "\
The stages run as in `aur mem index`, programs included, and every file counts as new. Sinks, which
write the index, are left out. A document of a stage of the type `documents` is given as
@STAGE/PATH. Exits with 1 when a stage could not process a row.

Examples:
  aur pipeline run --dry src/auth.py
  aur pipeline run --dry src/auth.py --only owner     what the stage `owner` does
  aur pipeline run --dry --pipeline team.toml src/*.py --format jsonl";

const SCHEMA_EXAMPLES: &str = "\
The schema (draft 2020-12) lists every key with its type, default and meaning. Editors that use
Taplo find it by the comment `#:schema ./pipeline.schema.json` in the first line of the pipeline.

Example:
  aur pipeline schema > .aurora/pipeline.schema.json";

#[derive(Debug, Args)]
pub(crate) struct PipelineArgs {
    /// A pipeline file, or the name of one that ships with aur
    #[arg(value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Files of the project
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Write nothing: required, because `aur mem index` is the command that writes
    #[arg(long)]
    pub(crate) dry: bool,

    /// A pipeline file, or the name of one that ships with aur [default: the one that `aur mem index` would follow here]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,

    /// Run and show only this stage, and run what it depends on; may be given more than once
    #[arg(long, value_name = "STAGE")]
    pub(crate) only: Vec<String>,

    /// What to do about stages whose programs you have not allowed: `aur plugin trust` allows them
    #[arg(long, value_name = "ACTION", value_enum, default_value_t = Untrusted::Fail)]
    pub(crate) untrusted: Untrusted,

    /// The directory of the project [default: the nearest one above with an index, or the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TraceFormat::Text)]
    pub(crate) format: TraceFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// For people
    Text,
    /// One JSON object a file, indented
    Json,
    /// One JSON object a line
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Text,
    Dot,
}
