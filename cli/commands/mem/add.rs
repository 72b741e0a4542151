//! `aur mem add`: adds an entry to memory.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aurora_memory::{Memory, Owner, Placement, Scope};
use aurora_memory_schema::{Draft, Kind, Outcome as Stored};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::context::{Failure, Outcome, PlacementArgs, Program, ReportFormat, Terminal, document, memories};
use crate::output::sanitize;

/// Add a reasoning pattern, knowledge or a note to memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem add note -m \"The staging database is reset every Sunday\"
  aur mem add note docs/decision.md --tag architecture
  aur mem add knowledge oauth.json --scope project
  echo '{\"content\": {\"pattern\": \"auth-setup\", \"success_score\": 0.9}}' | aur mem add reasoning - --format json

FILE is a JSON object; a note can also be Markdown or plain text. `aur mem schema KIND` prints the
schema. Reasoning and knowledge entries with a score below 0.5 are not stored; entries with a score
of at least 0.8 are marked as patterns.
Exits with 1 if the entry is not stored.")]
pub(crate) struct AddArgs {
    /// Kind of the entry
    #[arg(value_parser = addable_kind())]
    pub(crate) kind: Kind,

    /// File to read; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "message")]
    pub(crate) file: Option<PathBuf>,

    /// Text of a note
    #[arg(long, short, value_name = "TEXT", conflicts_with = "file")]
    pub(crate) message: Option<String>,

    /// Tag of the entry; may be given more than once
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,

    #[command(flatten)]
    pub(crate) placement: PlacementArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Adds an entry, or reports why it is not stored.
pub(crate) fn run(args: &AddArgs, program: &Program) -> Outcome {
    let mut draft = read(args)?;
    let tags: Vec<&str> = args.tag.iter().map(String::as_str).collect();
    draft.entry_mut().set_tags(&tags, &[])?;
    let (memory, placement) = open_target(&args.placement)?;
    let stored = memory.add(draft, &placement, aurora_clock::now_seconds())?;
    print(&stored, memory.place().owner(), args.format, &program.terminal)
}

/// Prints the result for an entry. Fails with exit code 1 if the entry was not stored.
pub(super) fn print(stored: &Stored, owner: Owner, format: ReportFormat, terminal: &Terminal) -> Outcome {
    terminal.print(format, stored, |out| {
        if !stored.stored {
            return Ok(());
        }
        let pattern = if stored.is_pattern { ", as a pattern" } else { "" };
        writeln!(out, "stored {} in the {}'s memory{pattern}", sanitize::line(&stored.id), owner.as_str())
    })?;
    match stored.stored {
        true => Ok(()),
        false => Err(Failure::Short(format!("not stored: {}", stored.reason))),
    }
}

/// Returns a parser for the kinds of entries that users can add.
fn addable_kind() -> impl TypedValueParser<Value = Kind> {
    let names = [Kind::Reasoning, Kind::Knowledge, Kind::Note].map(Kind::name);
    PossibleValuesParser::new(names).map(|name| Kind::from_name(&name).unwrap_or(Kind::Note))
}

fn read(args: &AddArgs) -> Outcome<Draft> {
    let kind = args.kind;
    let given = match (&args.message, &args.file) {
        (Some(_), _) if kind != Kind::Note => return Err(Failure::new("only a note can be given with --message")),
        (Some(text), _) => document::NamedText { name: "--message".to_owned(), text: text.clone() },
        (None, Some(file)) => document::read(file)?,
        (None, None) => return Err(Failure::new("nothing to add: give FILE or --message")),
    };
    document::draft(kind, &given)
}

/// Opens the memory for a new entry. Returns the memory and the placement of the entry.
pub(super) fn open_target(args: &PlacementArgs) -> Outcome<(Memory, Placement)> {
    let root = memories::project(args.root.as_deref())?;
    let scope = match (args.scope, &args.session, &root) {
        (Some(scope), _, _) => scope,
        (None, Some(_), _) => Scope::Session,
        (None, None, Some(_)) => Scope::Project,
        (None, None, None) => Scope::User,
    };
    let owner = Owner::for_scope(scope);
    let memory = memories::create(owner, &root_of(owner, root)?)?;
    Ok((memory, Placement { scope, session: args.session.clone() }))
}

/// Returns the project directory for opening a memory. For the user's memory, which belongs to no project, any
/// directory is suitable.
pub(super) fn root_of(owner: Owner, root: Option<PathBuf>) -> Outcome<PathBuf> {
    match (owner, root) {
        (_, Some(root)) => Ok(root),
        (Owner::User, None) => Ok(Path::new(".").to_owned()),
        (Owner::Project, None) => Err(Failure::new("the current directory is not in a project")
            .with_help("give the project directory with --root, or another scope, such as --scope user")),
    }
}
