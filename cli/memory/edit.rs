//! `aur mem edit`: replaces an entry.

use std::io::Write as _;
use std::path::Path;

use aurora_memory::Memory;
use aurora_memory_schema::Kind;

use super::add::print;
use super::document::{self, NamedText};
use crate::args_memory::EditArgs;
use crate::browse::Editor;
use crate::failure::{Failure, Outcome};
use crate::memories::{Memories, failure};
use crate::output::time;
use crate::program::Program;

/// Replaces an entry by a file, or by what the user's editor makes of it.
pub(crate) fn edit(args: &EditArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, false)?;
    let kind = Kind::of_id(&args.id).ok_or_else(|| Failure::new(format!("{} is the id of no entry", args.id)))?;
    let given = match &args.file {
        Some(file) => document::read(file)?,
        None => edited(memory, &args.id)?,
    };
    let draft = document::draft(kind, &given, &program.terminal)?;
    let stored = memory.edit(&args.id, draft, time::now()).map_err(failure)?;
    print(&stored, memory.place().owner(), args.format, &program.terminal)
}

/// What the user's editor makes of the document of an entry.
fn edited(memory: &Memory, id: &str) -> Outcome<NamedText> {
    let version = memory.get(id).map_err(failure)?;
    let document = version.and_then(|version| version.document).unwrap_or_default();
    let io = |error: std::io::Error| Failure::new(format!("cannot write a temporary file: {error}"));
    let mut file = tempfile::Builder::new().prefix("aurora-").suffix(".json").tempfile().map_err(io)?;
    serde_json::to_writer_pretty(&mut file, &document).map_err(|error| io(error.into()))?;
    file.write_all(b"\n").and_then(|()| file.flush()).map_err(io)?;
    let editor = Editor::of_user().map_err(Failure::new)?;
    let (directory, name) = (file.path().parent(), file.path().file_name());
    let name = name.unwrap_or_default().to_string_lossy();
    let command = editor.command(directory.unwrap_or(Path::new(".")), None, &name, None);
    match command.and_then(|mut command| command.status()) {
        Ok(status) if status.success() => document::read(file.path()),
        Ok(_) => Err(Failure::new(format!("{} failed; nothing was changed", editor.name()))),
        Err(error) => Err(Failure::new(format!("cannot run {}: {error}", editor.name()))),
    }
}
