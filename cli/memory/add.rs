//! `aur mem add`: adds an entry.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aurora_memory::{Memory, Owner, Placement, Scope};
use aurora_memory_schema::{Draft, Kind, Outcome as Stored};

use super::document::{self, NamedText};
use crate::args_memory::{AddArgs, KindArg, PlacementArgs};
use crate::failure::{Failure, Outcome};
use crate::memories::{create, failure, project};
use crate::output::{json, sanitize, time};
use crate::program::Program;
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Adds an entry, or says why it is not stored.
pub(crate) fn add(args: &AddArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let mut draft = read(args, terminal)?;
    let tags: Vec<&str> = args.tag.iter().map(String::as_str).collect();
    draft.entry_mut().set_tags(&tags, &[]).map_err(|error| Failure::from_error(&error))?;
    let (memory, placement) = place(&args.placement)?;
    let stored = memory.add(draft, &placement, time::now()).map_err(failure)?;
    print(&stored, memory.place().owner(), args.format, terminal)
}

/// Prints what became of an entry; one that was not stored is not what was asked for.
pub(super) fn print(stored: &Stored, owner: Owner, format: ReportFormat, terminal: &Terminal) -> Outcome {
    let mut out = terminal.stdout();
    match format {
        ReportFormat::Json => json::write_indented(&mut out, stored)?,
        ReportFormat::Text if stored.stored => {
            let pattern = if stored.is_pattern { ", as a pattern" } else { "" };
            writeln!(out, "{} in the {}'s memory{pattern}", sanitize::line(&stored.id), owner.as_str())?;
        }
        ReportFormat::Text => {}
    }
    out.flush()?;
    match stored.stored {
        true => Ok(()),
        false => Err(Failure::Short(format!("not stored: {}", stored.reason))),
    }
}

fn read(args: &AddArgs, terminal: &Terminal) -> Outcome<Draft> {
    let kind = match args.kind {
        KindArg::Reasoning => Kind::Reasoning,
        KindArg::Knowledge => Kind::Knowledge,
        KindArg::Note => Kind::Note,
    };
    let given = match (&args.message, &args.file) {
        (Some(_), _) if kind != Kind::Note => return Err(Failure::new("only a note can be given with --message")),
        (Some(text), _) => NamedText { name: "--message".to_owned(), text: text.clone() },
        (None, Some(file)) => document::read(file)?,
        (None, None) => return Err(Failure::new("nothing to add: give FILE or --message")),
    };
    document::draft(kind, &given, terminal)
}

/// The memory that an entry goes into, and where it belongs.
pub(super) fn place(args: &PlacementArgs) -> Outcome<(Memory, Placement)> {
    let root = project(args.root.as_deref())?;
    let scope = match (args.scope, &args.session, &root) {
        (Some(scope), _, _) => scope,
        (None, Some(_), _) => Scope::Session,
        (None, None, Some(_)) => Scope::Project,
        (None, None, None) => Scope::User,
    };
    let owner = Owner::of(scope);
    let memory = create(owner, &root_of(owner, root)?)?;
    Ok((memory, Placement { scope, session: args.session.clone() }))
}

/// The project of a memory; the user's has none.
pub(super) fn root_of(owner: Owner, root: Option<PathBuf>) -> Outcome<PathBuf> {
    match (owner, root) {
        (_, Some(root)) => Ok(root),
        (Owner::User, None) => Ok(Path::new(".").to_owned()),
        (Owner::Project, None) => Err(Failure::new("the current directory is in no project")
            .with_help("give its directory with --root, or another scope: --scope user")),
    }
}
