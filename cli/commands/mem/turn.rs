//! `aur mem turn add`: appends a turn to a session.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aurora_memory::{NewTurn, Owner, Scope};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::commands::mem::add::root_of;
use crate::context::{Outcome, Program, ReportFormat, document, memories};
use crate::output::sanitize;

#[derive(Debug, Subcommand)]
pub(crate) enum TurnCommand {
    Add(TurnArgs),
}

/// Append a turn of one speaker to a session
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem turn add --session s42 --speaker user \"How are tokens refreshed?\"
  aur mem turn add --session s42 --speaker assistant - < answer.txt
  aur mem turn add --session s42 --speaker user --reply-to turn:s42:2 \"And when they expire?\"")]
pub(crate) struct TurnArgs {
    /// Session of the turn
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,

    /// Name of the speaker
    #[arg(long, value_name = "NAME")]
    pub(crate) speaker: String,

    /// Text of the turn; `-` is standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,

    /// Id of the turn that this turn replies to
    #[arg(long, value_name = "ID")]
    pub(crate) reply_to: Option<String>,

    /// Time of the turn, such as 2026-01-31T12:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<jiff::Timestamp>,

    /// Scope of the turn: session, project, user or global
    #[arg(long, value_name = "SCOPE", value_enum, default_value_t = Scope::Session)]
    pub(crate) scope: Scope,

    /// Project directory for the scope `project` [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(command: &TurnCommand, program: &Program) -> Outcome {
    let TurnCommand::Add(args) = command;
    let now = aurora_clock::now_seconds();
    let text = match args.text.as_str() {
        "-" => document::read(Path::new("-"))?.text,
        text => text.to_owned(),
    };
    let turn = NewTurn {
        session: &args.session,
        speaker: &args.speaker,
        text: text.trim_end(),
        reply_to: args.reply_to.as_deref(),
        time: args.time.map_or(now, jiff::Timestamp::as_second),
    };
    let owner = Owner::for_scope(args.scope);
    // Turns are stored in the user's memory unless their scope is the project, so other scopes need no project
    // directory.
    let root = if args.scope == Scope::Project { memories::project(args.root.as_deref())? } else { None };
    let memory = memories::create(owner, &root_of(owner, root)?)?;
    let id = memory.add_turn(&turn, args.scope, now)?;
    program.terminal.print(args.format, &json!({ "id": id }), |out| writeln!(out, "{}", sanitize::line(&id)))
}
