//! The command line of `aur model`.

use std::path::PathBuf;

use clap::Subcommand;

use crate::values::ReportFormat;

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Copy a model directory (weights, tokenizer, config) to where aur finds it
    #[command(after_help = "\
Its files say what the model is for: an embedding model makes the vectors of an index, a
cross-encoder reads the best results of a search together with the query.

Examples:
  aur model add ~/Downloads/all-MiniLM-L6-v2 --name minilm
  printf 'extends = \"default\"\\n[stage.embed]\\nmodel = \"minilm\"\\n' > .aurora/pipeline.toml

  aur model add ~/Downloads/ms-marco-MiniLM-L6-v2 --name marco
  aur mem search \"how is auth done\" --rerank marco")]
    Add {
        /// A directory with config.json, tokenizer.json and model.safetensors
        dir: PathBuf,
        /// The name that configurations use [default: the directory's, in lower case]
        #[arg(long)]
        name: Option<String>,
    },
    /// List the models, each with its use
    List {
        /// How to print
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
        format: ReportFormat,
    },
}
