//! `aur plugin new`: creates a working stage to start from.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_pipeline::PipelineSource;
use aurora_stages::index::MAX_PIPELINE_BYTES;
use aurora_stages::pipelines::EMBEDDED;
use aurora_storage::ProjectDirectory;
use clap::{Args, ValueEnum};

use crate::context::{Failure, Outcome, Program, place};
use crate::output::sanitize;

/// Create a stage and add it to the project's pipeline
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur plugin new owner --lang python     in .aurora/plugins/owner.py, with a column `owner`
  aur plugin new owner --lang rust       a program in Rust, in .aurora/plugins/owner/
  aur plugin new owner --lang wasm       a WebAssembly module, in .aurora/plugins/owner/

The new stage sets its column to the first directory of the chunk's path. Change the function, then:
  aur plugin trust owner && aur mem index
  aur mem \"anything\" --where owner=src")]
pub(crate) struct NewArgs {
    /// Name of the stage and of its column: lower-case letters, digits, `_` and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// Language of the stage
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = PluginLanguage::Python)]
    pub(crate) lang: PluginLanguage,

    /// Project directory [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginLanguage {
    Python,
    Rust,
    /// Python compiled to WebAssembly: a confined stage that needs no trust
    Wasm,
}

/// Maximum length of a stage name in bytes.
const MAX_NAME_BYTES: usize = 64;

/// A new stage.
struct NewStage {
    /// Paths of the files below `.aurora/plugins`, and their contents.
    files: Vec<(String, String)>,
    /// The table in the pipeline file.
    table: String,
    /// The commands to run before the first index run, one per line.
    next: String,
}

/// Writes the files of the stage, and adds its table to the pipeline.
pub(crate) fn run(args: &NewArgs, program: &Program) -> Outcome {
    let root = place::for_index(args.root.as_deref())?;
    let name = args.name.as_str();
    check_name(name)?;
    let cannot = |what: &Path, error: io::Error| Failure::new(format!("cannot write {}: {error}", what.display()));
    let project = ProjectDirectory::in_root(&root);
    let directory = project.create().map_err(|error| cannot(project.path(), error))?;
    let plugins =
        directory.create_directory(ProjectDirectory::PLUGINS).map_err(|error| cannot(project.path(), error))?;
    let NewStage { files, table, next } = match args.lang {
        PluginLanguage::Python => python(name),
        PluginLanguage::Rust => rust(name),
        PluginLanguage::Wasm if program.registry.stage_types().all(|known| known != "wasm") => {
            return Err(Failure::new("this program was built without WebAssembly stages")
                .with_help("build it with `cargo build --release --features wasm`"));
        }
        PluginLanguage::Wasm => wasm(name),
    };
    let pipeline_path = project.path_of(ProjectDirectory::PIPELINE);
    let known = match directory.read_to_string(ProjectDirectory::PIPELINE, MAX_PIPELINE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "extends = \"default\"\n".to_owned(),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", pipeline_path.display()))),
    };
    let text = format!("{}{}\n{table}", known, if known.ends_with('\n') { "" } else { "\n" });
    check_pipeline(name, &known, &text, &pipeline_path, program)?;
    if let Some((path, _)) = files.iter().find(|(path, _)| plugins.contains(path).unwrap_or(true)) {
        return Err(Failure::new(format!("{} already exists", plugins.path().join(path).display()))
            .with_help("choose another name, or remove it"));
    }
    for (path, content) in &files {
        write(&plugins, path, content).map_err(|error| cannot(&plugins.path().join(path), error))?;
    }
    let replaced = directory.replace(ProjectDirectory::PIPELINE, |file| file.write_all(text.as_bytes()));
    replaced.map_err(|error| cannot(&pipeline_path, error))?;
    program.terminal.write(|out| {
        for (path, _) in &files {
            writeln!(out, "Written: {}", sanitize::line(&plugins.path().join(path).display().to_string()))?;
        }
        writeln!(out, "Added [stage.{name}] to {}", sanitize::line(&pipeline_path.display().to_string()))?;
        writeln!(out, "\nNext:\n{next}  aur mem index\n  aur mem \"anything\" --where {name}=src")
    })
}

/// Checks that a name is valid for a stage, a column and a file.
fn check_name(name: &str) -> Outcome {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_inner);
    if is_name && name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(Failure::new(format!("`{name}` cannot be the name of a stage")).with_help(format!(
        "a name starts with a lower-case letter, followed by lower-case letters, digits, `_` and `-`, with at most {MAX_NAME_BYTES} characters"
    )))
}

/// Checks that the pipeline is valid with the new stage, and that the name is not in use.
fn check_pipeline(name: &str, known: &str, text: &str, path: &Path, program: &Program) -> Outcome {
    let file = path.display().to_string();
    let load = |text: &str| aurora_pipeline::load(&[PipelineSource { name: &file, text }], &program.registry, EMBEDDED);
    let before = load(known).map_err(|found| Failure::findings("the pipeline", &found))?;
    if before.stages().iter().any(|stage| stage.name() == name)
        || program.registry.stage_types().any(|kind| kind == name)
    {
        return Err(Failure::new(format!("the stage `{name}` already exists")).with_help("choose another name"));
    }
    let after = load(text).map_err(|found| Failure::findings("the pipeline with the new stage", &found))?;
    aurora_stages::index::custom_columns(&after)
        .map(drop)
        .map_err(|found| Failure::findings("the pipeline with the new stage", &found))
}

/// Writes a file below a directory, and creates the directories in between.
fn write(directory: &Directory, path: &str, content: &str) -> io::Result<()> {
    match path.rsplit_once('/') {
        Some((parent, _)) => directory.create_directories(parent)?,
        None => directory.clone(),
    };
    directory.write(path, content.as_bytes())
}

fn python(name: &str) -> NewStage {
    let source = include_str!("templates/stage.py").replace("{name}", name);
    NewStage {
        files: vec![(format!("{name}.py"), source)],
        table: table(name, "process", &format!("command = [\"python3\", \".aurora/plugins/{name}.py\"]")),
        next: format!("  aur plugin trust {name}\n"),
    }
}

fn rust(name: &str) -> NewStage {
    let fill = |template: &str| template.replace("{name}", name);
    let build = format!("  cargo build --release --manifest-path .aurora/plugins/{name}/Cargo.toml\n");
    NewStage {
        files: vec![
            (format!("{name}/Cargo.toml"), fill(include_str!("templates/Cargo.toml.txt"))),
            (format!("{name}/src/main.rs"), fill(include_str!("templates/main.rs.txt"))),
            (format!("{name}/.gitignore"), "/target\n".to_owned()),
        ],
        table: table(name, "process", &format!("command = [\".aurora/plugins/{name}/target/release/{name}\"]")),
        next: format!("{build}  aur plugin trust {name}\n"),
    }
}

fn wasm(name: &str) -> NewStage {
    let (source, interface) =
        (include_str!("templates/wasm_stage.py"), include_str!("../../../plugins/wasm/wit/stage.wit"));
    let directory = format!(".aurora/plugins/{name}");
    let world = format!("--wit-path {directory}/wit --world stage");
    NewStage {
        files: vec![
            (format!("{name}/stage.py"), source.replace("{name}", name)),
            (format!("{name}/wit/stage.wit"), interface.to_owned()),
        ],
        table: table(name, "wasm", &format!("module = \"{directory}.wasm\"")),
        next: format!(
            "  componentize-py {world} componentize stage --python-path {directory} --output {directory}.wasm\n"
        ),
    }
}

/// Returns the table of a stage in the pipeline file. `program` is the line that selects the command or module to run.
fn table(name: &str, stage_type: &str, program: &str) -> String {
    format!(
        "[stage.{name}]\nuse = \"{stage_type}\"\n{program}\nreads = [\"file.path\"]\nwrites = {{ {name} = \"string\" }}\n"
    )
}
