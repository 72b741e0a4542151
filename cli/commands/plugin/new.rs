//! `aur plugin new`: a stage that works, to be changed.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_pipeline::PipelineSource;
use aurora_stages::index::MAX_PIPELINE_BYTES;
use aurora_stages::pipelines::EMBEDDED;
use aurora_storage::ProjectDirectory;
use clap::{Args, ValueEnum};

use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::{findings, place};
use crate::output::sanitize;

const NEW_EXAMPLES: &str = "\
Examples:
  aur plugin new owner --lang python     .aurora/plugins/owner.py, a column `owner`
  aur plugin new owner --lang rust       a program in Rust, in .aurora/plugins/owner/
  aur plugin new owner --lang wasm       a WebAssembly module, in .aurora/plugins/owner/

The new stage gives every chunk the first directory of its path. Change the function, then:
  aur plugin trust owner && aur mem index
  aur mem \"anything\" --where owner=src";

/// Write a new stage, and add it to the project's pipeline
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct NewArgs {
    /// Name of the stage and of its column: lower-case letters, digits, `_` and `-`
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// The language of the stage
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = PluginLanguage::Python)]
    pub(crate) lang: PluginLanguage,

    /// The directory of the project [default: the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PluginLanguage {
    Python,
    Rust,
    /// Python, compiled to WebAssembly: a stage that nobody has to trust
    Wasm,
}

/// Longest name of a stage.
const LONGEST_NAME: usize = 64;

/// A file of the new stage: its path in `.aurora/plugins`, and its content.
type NewFile = (String, String);

/// Writes the files of the stage and its table in the pipeline.
pub(crate) fn run(args: &NewArgs, program: &Program) -> Outcome {
    let root = place::for_index(args.root.as_deref())?;
    let name = args.name.as_str();
    check_name(name)?;
    let cannot = |what: &Path, error: io::Error| Failure::new(format!("cannot write {}: {error}", what.display()));
    let project = ProjectDirectory::of(&root);
    let home = project.create().map_err(|error| cannot(project.path(), error))?;
    let plugins = home.create_directory(ProjectDirectory::PLUGINS).map_err(|error| cannot(project.path(), error))?;
    let (files, table) = match args.lang {
        PluginLanguage::Python => python(name),
        PluginLanguage::Rust => rust(name),
        PluginLanguage::Wasm if program.registry.stage_types().all(|known| known != "wasm") => {
            return Err(Failure::new("this program was built without WebAssembly stages")
                .with_help("build it with `cargo build --release --features wasm`"));
        }
        PluginLanguage::Wasm => wasm(name),
    };
    let pipeline_path = project.path_of(ProjectDirectory::PIPELINE);
    let known = match home.read_to_string(ProjectDirectory::PIPELINE, MAX_PIPELINE_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "extends = \"default\"\n".to_owned(),
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", pipeline_path.display()))),
    };
    let text = format!("{}{}\n{table}", known, if known.ends_with('\n') { "" } else { "\n" });
    check_pipeline(name, &known, &text, &pipeline_path, program)?;
    if let Some((path, _)) = files.iter().find(|(path, _)| plugins.contains(path).unwrap_or(true)) {
        return Err(Failure::new(format!("{} exists already", plugins.path().join(path).display()))
            .with_help("choose another name, or remove it"));
    }
    for (path, content) in &files {
        write(&plugins, path, content).map_err(|error| cannot(&plugins.path().join(path), error))?;
    }
    let replaced = home.replace(ProjectDirectory::PIPELINE, |file| file.write_all(text.as_bytes()));
    replaced.map_err(|error| cannot(&pipeline_path, error))?;
    let mut out = program.terminal.stdout();
    for (path, _) in &files {
        writeln!(out, "Written: {}", sanitize::line(&plugins.path().join(path).display().to_string()))?;
    }
    writeln!(out, "Added [stage.{name}] to {}", sanitize::line(&pipeline_path.display().to_string()))?;
    writeln!(out, "\nNext:")?;
    match args.lang {
        PluginLanguage::Python => {}
        PluginLanguage::Rust => {
            writeln!(out, "  cargo build --release --manifest-path .aurora/plugins/{name}/Cargo.toml")?;
        }
        PluginLanguage::Wasm => {
            let directory = format!(".aurora/plugins/{name}");
            writeln!(
                out,
                "  componentize-py --wit-path {directory}/wit --world stage componentize stage --python-path {directory} --output {directory}.wasm"
            )?;
        }
    }
    if args.lang != PluginLanguage::Wasm {
        writeln!(out, "  aur plugin trust {name}")?;
    }
    writeln!(out, "  aur mem index\n  aur mem \"anything\" --where {name}=src")?;
    Ok(out.flush()?)
}

/// A name that is one of a stage, of a column and of a file.
fn check_name(name: &str) -> Outcome {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    let is_name = name.starts_with(|first: char| first.is_ascii_lowercase()) && name.bytes().all(is_inner);
    if is_name && name.len() <= LONGEST_NAME {
        return Ok(());
    }
    Err(Failure::new(format!("`{name}` cannot be the name of a stage")).with_help(format!(
        "a name is a lower-case letter, then lower-case letters, digits, `_` and `-`, at most {LONGEST_NAME} in all"
    )))
}

/// Makes sure that the pipeline is sound with the new stage, and did not have it.
fn check_pipeline(name: &str, known: &str, text: &str, path: &Path, program: &Program) -> Outcome {
    let file = path.display().to_string();
    let load = |text: &str| aurora_pipeline::load(&[PipelineSource { name: &file, text }], &program.registry, EMBEDDED);
    let before = load(known).map_err(|found| findings::report("the pipeline", &found, &program.terminal))?;
    if before.stages().iter().any(|stage| stage.name() == name)
        || program.registry.stage_types().any(|kind| kind == name)
    {
        return Err(Failure::new(format!("there is a stage `{name}` already")).with_help("choose another name"));
    }
    let after =
        load(text).map_err(|found| findings::report("the pipeline with the new stage", &found, &program.terminal))?;
    aurora_stages::index::custom_columns(&after)
        .map(drop)
        .map_err(|found| findings::report("the pipeline with the new stage", &found, &program.terminal))
}

/// Writes a file below a directory, with the directories in between.
fn write(directory: &Directory, path: &str, content: &str) -> io::Result<()> {
    match path.rsplit_once('/') {
        Some((parent, _)) => directory.create_directories(parent)?,
        None => directory.clone(),
    };
    directory.write(path, content.as_bytes())
}

fn python(name: &str) -> (Vec<NewFile>, String) {
    let source = include_str!("templates/stage.py").replace("{name}", name);
    let command = format!("[\"python3\", \".aurora/plugins/{name}.py\"]");
    (vec![(format!("{name}.py"), source)], table(name, &command))
}

fn rust(name: &str) -> (Vec<NewFile>, String) {
    let fill = |template: &str| template.replace("{name}", name);
    let files = vec![
        (format!("{name}/Cargo.toml"), fill(include_str!("templates/Cargo.toml.txt"))),
        (format!("{name}/src/main.rs"), fill(include_str!("templates/main.rs.txt"))),
        (format!("{name}/.gitignore"), "/target\n".to_owned()),
    ];
    (files, table(name, &format!("[\".aurora/plugins/{name}/target/release/{name}\"]")))
}

fn wasm(name: &str) -> (Vec<NewFile>, String) {
    let files = vec![
        (format!("{name}/stage.py"), include_str!("templates/wasm_stage.py").replace("{name}", name)),
        (format!("{name}/wit/stage.wit"), include_str!("../../../plugins/wasm/wit/stage.wit").to_owned()),
    ];
    (files, table_of(name, "wasm", &format!("module = \".aurora/plugins/{name}.wasm\"")))
}

/// The table of a stage that runs a command.
fn table(name: &str, command: &str) -> String {
    table_of(name, "process", &format!("command = {command}"))
}

/// The table of a stage in the pipeline's file. `program` is the line that says what is run.
fn table_of(name: &str, stage_type: &str, program: &str) -> String {
    format!(
        "[stage.{name}]\nuse = \"{stage_type}\"\n{program}\nreads = [\"file.path\"]\nwrites = {{ {name} = \"string\" }}\n"
    )
}
