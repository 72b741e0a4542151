//! `aur mem edit`: replaces an entry.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use aurora_memory::Memory;
use aurora_memory_schema::Kind;
use clap::Args;

use crate::commands::mem::add::print;
use crate::commands::mem::browse::Editor;
use crate::context::{Failure, Memories, MemoryArgs, Outcome, Program, ReportFormat, document};

/// Replace an entry of memory
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// Id of the entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// File with the new content; `-` is standard input [default: edit the entry in $VISUAL or $EDITOR]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Replaces an entry with the content of a file, or with the result of the user's editor.
pub(crate) fn run(args: &EditArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.containing(&args.id)?;
    let kind = Kind::from_id(&args.id).ok_or_else(|| Failure::new(format!("{} is not the id of an entry", args.id)))?;
    let given = match &args.file {
        Some(file) => document::read(file)?,
        None => edit_document(memory, &args.id)?,
    };
    let draft = document::draft(kind, &given)?;
    let stored = memory.edit(&args.id, draft, aurora_clock::now_seconds())?;
    print(&stored, memory.place().owner(), args.format, &program.terminal)
}

/// Opens the document of an entry in the user's editor, and returns the edited text.
fn edit_document(memory: &Memory, id: &str) -> Outcome<document::NamedText> {
    let version = memory.get(id)?;
    let document = version.and_then(|version| version.document).unwrap_or_default();
    let io = |error: std::io::Error| Failure::new(format!("cannot write a temporary file: {error}"));
    let mut file = tempfile::Builder::new().prefix("aurora-").suffix(".json").tempfile().map_err(io)?;
    serde_json::to_writer_pretty(&mut file, &document).map_err(|error| io(error.into()))?;
    file.write_all(b"\n").and_then(|()| file.flush()).map_err(io)?;
    let editor = Editor::from_environment().map_err(Failure::new)?;
    let (directory, name) = (file.path().parent(), file.path().file_name());
    let name = name.unwrap_or_default().to_string_lossy();
    let command = editor.command(directory.unwrap_or(Path::new(".")), None, &name, None);
    match command.and_then(|mut command| command.status()) {
        Ok(status) if status.success() => document::read(file.path()),
        Ok(_) => Err(Failure::new(format!("{} failed; nothing was changed", editor.name()))),
        Err(error) => Err(Failure::new(format!("cannot run {}: {error}", editor.name()))),
    }
}
