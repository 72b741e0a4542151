//! `aur pipeline run --dry`: shows the results of each stage for single files.

use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, EntryKind, Refusal, refusal_of};
use aurora_pipeline::{Plan, StageKind};
use aurora_stages::index::{self as indexing, DryRun, IndexOptions};
use aurora_suggest::did_you_mean;
use clap::{Args, ValueEnum};

use crate::context::{
    Failure, Outcome, Program, Purpose, Terminal, Untrusted, interrupt, pipeline_choice, place, programs,
};
use crate::output::{json, sanitize, trace, units};

/// Show the results of each stage for files, without writing an index
#[derive(Debug, Args)]
#[command(after_help = "\
The stages run as in `aur mem index`, including their programs, and every file counts as new. Sinks,
which write the index, do not run. Give a document of a stage of type `documents` as @STAGE/PATH.
Exits with 1 if a stage could not process a row.

Examples:
  aur pipeline run --dry src/auth.py
  aur pipeline run --dry src/auth.py --only owner     show only the stage `owner`
  aur pipeline run --dry --pipeline team.toml src/*.py --format jsonl")]
pub(crate) struct RunArgs {
    /// Files of the project
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Write nothing; required, because only `aur mem index` writes the index
    #[arg(long)]
    pub(crate) dry: bool,

    /// Pipeline file, or name of a built-in pipeline [default: the pipeline that `aur mem index` would use here]
    #[arg(long, value_name = "FILE|NAME")]
    pub(crate) pipeline: Option<String>,

    /// Run only this stage and its dependencies, and show only this stage; may be given more than once
    #[arg(long, value_name = "STAGE")]
    pub(crate) only: Vec<String>,

    /// Action for stages whose programs you have not allowed with `aur plugin trust`
    #[arg(long, value_name = "ACTION", value_enum, default_value_t = Untrusted::Fail)]
    pub(crate) untrusted: Untrusted,

    /// Project directory [default: the nearest enclosing directory with an index, or the current directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TraceFormat::Text)]
    pub(crate) format: TraceFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TraceFormat {
    /// Text for people
    Text,
    /// One JSON object per file, indented
    Json,
    /// One JSON object per line
    Jsonl,
}

/// Runs the pipeline on each file, and prints the results of the stages.
pub(crate) fn run(args: &RunArgs, program: &Program) -> Outcome {
    if !args.dry {
        return Err(Failure::new("`aur pipeline run` does not write an index and requires --dry")
            .with_help("`aur mem index` runs the pipeline on all files; --dry runs it on single files"));
    }
    let root = place::for_search(args.root.as_deref())?;
    let pipeline = pipeline_choice::choice(args.pipeline.as_deref())?;
    let options = IndexOptions { pipeline, ..program.options(root)? };
    let plan = indexing::plan(&options)?;
    program.terminal.show(plan.warnings());
    args.only.iter().try_for_each(|stage| can_run(stage, &plan))?;
    let paths: Vec<String> =
        args.paths.iter().map(|path| indexed_path(path, &options.root, &plan)).collect::<Outcome<_>>()?;
    let options = programs::allowed(options, args.untrusted, Purpose::DryRun, &program.terminal)?;
    interrupt::cancels(&options.cancel, "nothing is written");
    let mut outcome = Ok(());
    for (number, path) in paths.iter().enumerate() {
        let run = indexing::dry_run(&options, path, &args.only)?;
        interrupt::unless_cancelled(&options.cancel)?;
        if number > 0 && args.format == TraceFormat::Text {
            writeln!(program.terminal.stdout())?;
        }
        write_trace(&run, args, program)?;
        outcome = worse(outcome, check_run(run), &program.terminal);
    }
    outcome
}

/// Checks that a dry run can run the stage.
fn can_run(name: &str, plan: &Plan) -> Outcome {
    let names = plan.stages().iter().map(|stage| stage.name());
    match plan.stages().iter().find(|stage| stage.name() == name) {
        None => {
            let failure = Failure::new(format!("the pipeline has no stage `{name}`"));
            Err(failure.with_help(
                did_you_mean(name, names).unwrap_or_else(|| "`aur pipeline graph` shows all stages".to_owned()),
            ))
        }
        Some(stage) if stage.kind() == StageKind::Sink => {
            Err(Failure::new(format!("stage `{name}` is a sink, which a dry run leaves out")))
        }
        Some(_) => Ok(()),
    }
}

/// Returns the path that the index uses for a file or a document. If `given` is a relative path, it is resolved
/// against the current directory and against the root.
pub(crate) fn indexed_path(given: &Path, root: &Path, plan: &Plan) -> Outcome<String> {
    let shown = given.display();
    let Some(text) = given.to_str() else {
        return Err(Failure::new(format!("the path {shown} is not UTF-8, and such files are not indexed")));
    };
    let tree =
        Directory::open_root(root).map_err(|error| Failure::new(format!("cannot open {}: {error}", root.display())))?;
    for path in place::spellings(root, text).into_iter().rev() {
        match tree.metadata(&path) {
            Ok(found) if found.kind == EntryKind::Directory => {
                return Err(Failure::new(format!("{shown} is a directory"))
                    .with_help("give files; `aur mem index` runs the pipeline on a whole directory"));
            }
            Ok(_) => return Ok(path),
            // Accept a symbolic link, because the dry run reports how the walk treats it.
            Err(error) if refusal_of(&error) == Some(Refusal::SymbolicLink) => return Ok(path),
            Err(_) => {}
        }
    }
    if indexing::suppliers(plan).any(|stage| text.starts_with(&format!("@{stage}/"))) {
        return Ok(text.to_owned());
    }
    if given.symlink_metadata().is_ok() || place::spellings(root, text).is_empty() {
        return Err(Failure::new(format!("{shown} is not below {}", root.display()))
            .with_help("`--root` names the directory of another project"));
    }
    Err(Failure::new(format!("no such file: {shown}")))
}

fn write_trace(run: &DryRun, args: &RunArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let (report, columns) = (trace::TraceReport::new(run, &args.only), terminal.columns);
    terminal.write(|out| match args.format {
        TraceFormat::Text => write!(out, "{}", trace::render(run, &args.only, columns, terminal.out)),
        TraceFormat::Json => json::write_indented(out, &report),
        TraceFormat::Jsonl => json::write_line(out, &report),
    })
}

/// Checks that the pipeline supplies the file, and that every stage could process it.
fn check_run(run: DryRun) -> Outcome {
    let DryRun { path, stages, error } = run;
    if let Some(error) = error {
        return Err(Failure::from_error(&error));
    }
    let is_known = stages.iter().any(|stage| stage.has_file || !stage.dropped.is_empty() || !stage.failed.is_empty());
    if !is_known {
        return Err(Failure::new(format!("no stage of the pipeline supplies the document {path}")));
    }
    let failed: Vec<_> = stages.iter().filter(|stage| !stage.failed.is_empty()).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let rows: u64 = failed.iter().flat_map(|stage| &stage.failed).map(|failed| failed.rows).sum();
    let names: Vec<String> = failed.iter().map(|stage| format!("`{}`", stage.stage)).collect();
    let (names, rows) = (names.join(", "), units::counted(rows, "row"));
    Err(Failure::Short(format!("{names} could not process {rows} of {}", sanitize::line(&path))))
}

/// Returns the outcome with the higher exit code. If both outcomes are failures, prints the other failure.
fn worse(first: Outcome, second: Outcome, terminal: &Terminal) -> Outcome {
    match (first, second) {
        (Err(first @ Failure::Fatal { .. }), Err(second)) => {
            terminal.report(&second);
            Err(first)
        }
        (Err(first), Err(second)) => {
            terminal.report(&first);
            Err(second)
        }
        (Ok(()), outcome) | (outcome, Ok(())) => outcome,
    }
}
