//! Arguments of the commands that check, draw and print pipelines.

use clap::{Args, Subcommand, ValueEnum};

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    Text,
    Dot,
}
