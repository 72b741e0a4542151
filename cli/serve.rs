//! `aur serve`: answers over HTTP.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use aurora_live::{LiveProject, Upkeep};
use aurora_project::user;
use aurora_serve::{Listen, LogStyle, ServeError, ServeOptions, Stop, Token};

use crate::args_serve::{LogFormat, ServeArgs};
use crate::failure::{Failure, Outcome};
use crate::output::sanitize;
use crate::program::Program;
use crate::{interrupt, place};

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, program: &Program) -> Outcome {
    let roots = if args.root.is_empty() {
        vec![place::for_search(None)?]
    } else {
        args.root.iter().map(|root| place::for_search(Some(root))).collect::<Outcome<_>>()?
    };
    let projects: Vec<_> = roots.into_iter().map(|root| kept(root, args, program)).collect();
    let options = ServeOptions {
        listen: args.socket.clone().map_or(Listen::Tcp(args.listen), Listen::Unix),
        token: args.token_file.as_deref().map(Token::read).transpose().map_err(failure)?,
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
        read_only: args.read_only,
        knowledge: args.knowledge.clone().or_else(user::knowledge),
        log_queries: args.log_queries,
        ..ServeOptions::new(projects)
    };
    match args.log {
        LogFormat::Text => aurora_serve::log(LogStyle::Text { colours: program.terminal.err.is_enabled() }),
        LogFormat::Json => aurora_serve::log(LogStyle::Json),
        LogFormat::Off => {}
    }
    let stop = Stop::new();
    let stopped = stop.clone();
    interrupt::stops(move || stopped.stop());
    let mut told = Ok(());
    aurora_serve::serve(options, &stop, |address| {
        let mut out = program.terminal.stdout();
        told = writeln!(out, "Listening on {address}").and_then(|()| out.flush());
    })
    .map_err(failure)?;
    Ok(told?)
}

/// A project whose index the server keeps fresh. One that is missing is built only where the root is a project: a home directory
/// is indexed only by a command.
fn kept(root: PathBuf, args: &ServeArgs, program: &Program) -> Arc<LiveProject> {
    let upkeep = match place::is_project(&root) {
        _ if args.read_only => Upkeep::ReadOnly,
        true => Upkeep::Build,
        false => Upkeep::Update,
    };
    let project = program.project(root);
    if upkeep != Upkeep::Build && !project.has_index() {
        let shown = sanitize::line(&project.root().display().to_string());
        program.terminal.warn(&format!("{shown} has no index yet; `aur mem index {shown}` builds it"));
    }
    Arc::new(LiveProject::new(project, upkeep))
}

fn failure(error: ServeError) -> Failure {
    let help = match &error {
        ServeError::Exposed(_) => "give `--token-file FILE`, or listen on 127.0.0.1",
        ServeError::SameName(_) => "give roots whose last directories have different names",
        _ => return Failure::from_error(&error),
    };
    Failure::from_error(&error).with_help(help)
}
