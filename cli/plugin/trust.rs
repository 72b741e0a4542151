//! `aur plugin trust`: allows the program of a stage.

use std::io::{BufRead, IsTerminal, Read, Write};

use aurora_plugins::trust::Consent;
use aurora_project::{programs_of_plan, user};
use aurora_stages::index as indexing;
use aurora_suggest::did_you_mean;

use crate::args_plugin::TrustPluginArgs;
use crate::failure::{Failure, Outcome};
use crate::output::sanitize;
use crate::program::Program;
use crate::{findings, place, programs};

/// Shows the program, asks, and records the answer.
pub(crate) fn run(args: &TrustPluginArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let root = place::for_search(args.root.root.as_deref())?;
    let options = program.project(root.clone()).options()?;
    let mut out = terminal.stdout();
    if args.revoke {
        let forgotten = user::consents().revoke(&root, &args.name).map_err(|error| Failure::from_error(&error))?;
        writeln!(out, "Forgotten: {forgotten} of stage {}", sanitize::line(&args.name))?;
        return Ok(out.flush()?);
    }
    let plan = indexing::plan(&options).map_err(|error| findings::failure(error, terminal))?;
    let all = programs_of_plan(&plan, &options)?;
    let Some(found) = all.iter().find(|known| known.stage == args.name) else {
        return Err(unknown(&args.name, &plan, all.iter().map(|known| known.stage.as_str())));
    };
    writeln!(out, "{}", programs::described(found))?;
    out.flush()?;
    if found.is_allowed {
        writeln!(out, "It is allowed already")?;
        return Ok(out.flush()?);
    }
    if !args.yes && !confirmed(terminal.live)? {
        return Err(Failure::new("the program was not allowed"));
    }
    let granted = aurora_clock::now_seconds();
    let consent = Consent {
        stage: found.stage.clone(),
        command: found.spec.command.clone(),
        digest: found.identity.hex(),
        granted,
    };
    user::consents().grant(&root, consent).map_err(|error| Failure::from_error(&error))?;
    writeln!(out, "Allowed in {} until it changes", sanitize::line(&root.display().to_string()))?;
    Ok(out.flush()?)
}

fn confirmed(live: bool) -> Outcome<bool> {
    if !live || !std::io::stdin().is_terminal() {
        return Err(
            Failure::new("there is no terminal to ask on").with_help("`--yes` allows the program without asking")
        );
    }
    let mut err = std::io::stderr().lock();
    write!(err, "It runs with your rights. Allow it in this repository? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().take(64).read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
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
