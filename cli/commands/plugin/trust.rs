//! `aur plugin trust`: allows the program of a stage to run.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use aurora_plugins::trust::{Consent, DigestList};
use aurora_project::{StageProgram, plan_programs, user};
use aurora_stages::index::{self as indexing, IndexOptions};
use aurora_suggest::did_you_mean;
use clap::Args;

use crate::context::{Failure, Outcome, Program, RootArgs, Terminal, place, programs};
use crate::output::{sanitize, units};

/// Show the program of a stage, and allow it to run
#[derive(Debug, Args)]
#[command(after_help = "\
A program runs with your rights. You allow a digest of its command, its files in the repository, the
modules that they import, its configuration, and the names of its inputs and environment variables.
If one of them changes, the program must be allowed again. If they are the same in another clone or
work tree, it is already allowed there. The record is stored in your user directory.

Examples:
  aur plugin trust owner                     show the program and its changes, and ask
  aur plugin trust owner --yes               allow any version, for scripts that trust the checkout
  aur plugin list --digests > ~/allowed      write the digests after a review
  aur plugin trust --digest ~/allowed        allow the listed programs of all stages, for CI
  aur plugin trust owner --revoke            revoke the permission")]
pub(crate) struct TrustPluginArgs {
    /// Name of the stage [default with --digest: all stages]
    #[arg(value_name = "NAME", required_unless_present = "digest")]
    pub(crate) name: Option<String>,

    /// Allow only programs whose digests this file lists; the file must be outside the checkout
    ///
    /// Each line begins with a digest, as printed by `aur plugin list --digests`. Lines that begin with `#` are
    /// comments.
    #[arg(long, value_name = "FILE", conflicts_with = "revoke")]
    pub(crate) digest: Option<PathBuf>,

    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,

    /// Revoke the permission of this stage
    #[arg(long, conflicts_with = "yes")]
    pub(crate) revoke: bool,

    #[command(flatten)]
    pub(crate) root: RootArgs,
}

/// Shows the program, asks the user, and records the answer.
pub(crate) fn run(args: &TrustPluginArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.root.as_deref())?;
    let options = program.options(&root)?;
    if args.revoke {
        return revoke(args, &root, &options, program);
    }
    let plan = indexing::plan(&options)?;
    let programs = plan_programs(&plan, &options)?;
    let named = |name: &String| {
        programs
            .iter()
            .find(|known| known.stage == *name)
            .ok_or_else(|| unknown(name, &plan, programs.iter().map(|known| known.stage.as_str())))
    };
    match (&args.digest, &args.name) {
        (Some(file), name) => {
            let list = DigestList::read(file, &root)?;
            let requested: Vec<&StageProgram> = match name {
                Some(name) => vec![named(name)?],
                None => programs.iter().filter(|known| !known.spec.is_confined).collect(),
            };
            allow_listed(&requested, &list, file, &root, program)
        }
        (None, Some(name)) => ask(named(name)?, args.yes, &root, program),
        (None, None) => Err(Failure::new("no stage is named").with_help("`aur plugin list` shows the stages")),
    }
}

/// Revokes the permissions of a stage.
fn revoke(args: &TrustPluginArgs, root: &Path, options: &IndexOptions, program: &Program) -> Outcome {
    let name = args.name.as_deref().unwrap_or_default();
    // A pipeline with errors has no plan, but its permissions can still be revoked.
    let programs = indexing::plan(options).ok().and_then(|plan| plan_programs(&plan, options).ok());
    let current = programs.iter().flatten().find(|known| known.stage == name).map(|known| &known.identity);
    let count = user::consents().revoke(root, name, current)?;
    program.terminal.line(&format!(
        "Revoked {} of stage {}",
        units::counted(count as u64, "permission"),
        sanitize::line(name)
    ))
}

/// Allows the requested programs whose digests the file lists. Fails if the file lacks the digest of a
/// requested program. Also fails if the digest of a program that is not confined covers no file of the project, because
/// changes to the program would go unnoticed.
fn allow_listed(
    requested: &[&StageProgram],
    list: &DigestList,
    file: &Path,
    root: &Path,
    program: &Program,
) -> Outcome {
    let mut out = program.terminal.stdout();
    let (listed, others): (Vec<_>, Vec<_>) =
        requested.iter().copied().partition(|known| list.contains(&known.identity.hex()));
    let (listed, without_files): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|known| known.spec.is_confined || known.identity.has_files());
    for known in listed {
        if !known.spec.is_confined {
            grant(known, root)?;
        }
        writeln!(out, "Allowed: {}  {}", known.identity.hex(), sanitize::line(&known.stage))?;
    }
    if requested.is_empty() {
        writeln!(out, "The pipeline has no stage that runs a program")?;
    }
    out.flush()?;
    let shown = |found: Vec<&StageProgram>| found.into_iter().map(programs::describe).collect::<Vec<_>>().join("\n");
    if others.is_empty() && without_files.is_empty() {
        return Ok(());
    }
    if others.is_empty() {
        let message =
            "the digests of these programs cover no file of the project, so changes of the programs would go unnoticed";
        return Err(Failure::new(format!("{message}\n{}", shown(without_files)))
            .with_help("list the files of the program in `files` of the stage, and review the digest again"));
    }
    let file = sanitize::line(&file.display().to_string());
    Err(Failure::new(format!("{file} does not list the digests of these programs\n{}", shown(others)))
        .with_help("after a review, add the digest to the file; `aur plugin list --digests` prints its line"))
}

fn ask(found: &StageProgram, is_confirmed: bool, root: &Path, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if found.spec.is_confined {
        let stage = &found.stage;
        return Err(Failure::new(format!("stage `{stage}` runs a confined module, so there is nothing to allow")));
    }
    terminal.line(&programs::describe(found))?;
    if user::consents().has_record(root, &found.identity) {
        return terminal.line("The program is already allowed");
    }
    if !found.identity.has_files() {
        terminal.warn(
            "no file of the project belongs to the program, so changes of the program go unnoticed; list its files in `files`",
        );
    }
    if !is_confirmed && !confirmed(terminal)? {
        return Err(Failure::new("the program was not allowed"));
    }
    grant(found, root)?;
    if found.identity.has_files() {
        return terminal.line("Allowed everywhere until the program changes");
    }
    let root = sanitize::line(&root.display().to_string());
    terminal.line(&format!(
        "Allowed only in {root}: no file of the project belongs to the program, so its digest identifies it only here"
    ))
}

fn grant(found: &StageProgram, root: &Path) -> Outcome {
    let granted = aurora_clock::now_seconds();
    let consent = Consent::new(&found.stage, &found.spec, &found.identity, granted);
    Ok(user::consents().grant(root, consent)?)
}

fn confirmed(terminal: &Terminal) -> Outcome<bool> {
    if !terminal.live || !std::io::stdin().is_terminal() {
        return Err(Failure::new("there is no terminal to ask on").with_help(
            "`--yes` allows the program without asking, `--digest FILE` if a file of reviewed digests lists it",
        ));
    }
    Ok(terminal.confirms("It runs with your rights. Allow it?")?)
}

fn unknown<'a>(name: &str, plan: &aurora_pipeline::Plan, known: impl Iterator<Item = &'a str>) -> Failure {
    if plan.stages().iter().any(|stage| stage.name() == name) {
        return Failure::new(format!("stage `{name}` runs no program, so there is nothing to allow"));
    }
    let known: Vec<&str> = known.collect();
    let help = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
        [] => "the pipeline of this project has no stage that runs a program".to_owned(),
        names => format!("stages that run programs: {}", names.join(", ")),
    });
    Failure::new(format!("the pipeline has no stage `{name}`")).with_help(help)
}
