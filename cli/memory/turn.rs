//! `aur mem turn add`: appends a turn to a session.

use std::io::Write as _;
use std::path::Path;

use aurora_memory::{NewTurn, Owner, Scope};
use serde_json::json;

use super::add::root_of;
use super::document;
use crate::args_memory::{TurnArgs, TurnCommand};
use crate::failure::Outcome;
use crate::memories::{create, failure, project};
use crate::output::{json as written, sanitize, time};
use crate::program::Program;
use crate::values::ReportFormat;

/// Appends a turn to a session.
pub(crate) fn turn(command: &TurnCommand, program: &Program) -> Outcome {
    let TurnCommand::Add(args) = command;
    add(args, program)
}

fn add(args: &TurnArgs, program: &Program) -> Outcome {
    let now = time::now();
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
    let owner = Owner::of(args.scope);
    // A turn is kept with the user, unless its scope is the project: no directory is looked for then.
    let root = if args.scope == Scope::Project { project(args.root.as_deref())? } else { None };
    let memory = create(owner, &root_of(owner, root)?)?;
    let id = memory.add_turn(&turn, args.scope, now).map_err(failure)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => written::write_indented(&mut out, &json!({ "id": id }))?,
        ReportFormat::Text => writeln!(out, "{}", sanitize::line(&id))?,
    }
    Ok(out.flush()?)
}
