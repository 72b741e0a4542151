//! `aur model`: manages the models for pipelines and searches.

use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_analysis::{ModelDirectory, ModelUse, STATIC};
use aurora_project::user;
use clap::Subcommand;
use serde::Serialize;

use crate::context::{Outcome, ReportFormat, Terminal};
use crate::output::{Role, units, width};

#[derive(Debug, Subcommand)]
pub(crate) enum ModelCommand {
    /// Add a model directory (weights, tokenizer, config) to the models of aur
    #[command(after_help = "\
The files determine the use of a model: an embedding model computes the vectors of an index; a
cross-encoder reranks the best results of a search.

Examples:
  aur model add ~/Downloads/all-MiniLM-L6-v2 --name minilm
  printf 'extends = \"default\"\\n[stage.embed]\\nmodel = \"minilm\"\\n' > .aurora/pipeline.toml

  aur model add ~/Downloads/ms-marco-MiniLM-L6-v2 --name marco
  aur mem search \"how is auth done\" --rerank marco")]
    Add {
        /// Directory with config.json, tokenizer.json and model.safetensors
        dir: PathBuf,
        /// Name for configurations [default: the name of the directory, in lower case]
        #[arg(long)]
        name: Option<String>,
    },
    /// List the models and their uses
    List {
        /// Output format
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
        format: ReportFormat,
    },
}

pub(crate) fn run(command: &ModelCommand, terminal: &Terminal) -> Outcome {
    let models = user::models()?;
    match command {
        ModelCommand::Add { dir, name } => add(&models, dir, name.as_deref(), terminal),
        ModelCommand::List { format } => list(&models, *format, terminal),
    }
}

fn add(models: &ModelDirectory, dir: &Path, name: Option<&str>, terminal: &Terminal) -> Outcome {
    let entry = models.add(dir, name)?;
    let bytes = entry.files.iter().map(|file| file.bytes).sum();
    let (name, place) = (&entry.name, models.path().join(&entry.name));
    let (what, how) = match entry.model_use {
        ModelUse::Embedding => {
            (dimensions(entry.dimensions), format!("model = {name:?} below [stage.embed] of a pipeline"))
        }
        ModelUse::Reranking => {
            let how = format!("rerank = {name:?} below [search] of a config.toml, or `--rerank {name}`");
            ("a cross-encoder".to_owned(), how)
        }
    };
    let (shown, bytes, place) = (terminal.out.paint(Role::Heading, name), units::bytes(bytes), place.display());
    terminal.line(&format!("Added {shown}: {what}, {bytes} in {place}\nTo use it: {how}"))
}

fn dimensions(count: usize) -> String {
    format!("{count} dimensions")
}

#[derive(Serialize)]
struct Listed {
    name: String,
    #[serde(rename = "use")]
    model_use: ModelUse,
    id: String,
    dimensions: usize,
    bytes: u64,
    built_in: bool,
}

fn list(models: &ModelDirectory, format: ReportFormat, terminal: &Terminal) -> Outcome {
    let embedder = aurora_analysis::embedder(STATIC, models)?;
    let mut listed = vec![Listed {
        name: STATIC.to_owned(),
        model_use: ModelUse::Embedding,
        id: embedder.id().to_owned(),
        dimensions: embedder.dimensions(),
        bytes: 0,
        built_in: true,
    }];
    listed.extend(models.list()?.into_iter().map(|entry| Listed {
        id: format!("{}@{}", entry.name, entry.digest),
        name: entry.name,
        model_use: entry.model_use,
        dimensions: entry.dimensions,
        bytes: entry.files.iter().map(|file| file.bytes).sum(),
        built_in: false,
    }));
    terminal.print(format, &listed, |out| {
        let widest = width::widest(listed.iter().map(|model| &model.name));
        listed.iter().try_for_each(|model| {
            let place = if model.built_in { "part of aur".to_owned() } else { units::bytes(model.bytes) };
            let what = match model.model_use {
                ModelUse::Embedding => dimensions(model.dimensions),
                ModelUse::Reranking => "cross-encoder".to_owned(),
            };
            writeln!(out, "{}  {:9}  {what:>15}  {place}", width::pad(&model.name, widest), model.model_use)
        })
    })
}
