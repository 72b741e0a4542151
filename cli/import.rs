//! `aur mem import`: an exported index takes the place of the one that is there.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use aurora_project::user;
use aurora_storage::{Arrival, Environment};

use crate::args_artefact::ImportArgs;
use crate::export::{contents, write_commit};
use crate::failure::{Failure, Outcome};
use crate::output::{json, sanitize, time};
use crate::program::Program;
use crate::values::ReportFormat;
use crate::{opened, place};

/// Verifies the artefact, puts it into place and says what came.
pub(crate) fn run(args: &ImportArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let project = program.project(place::for_search(args.root.as_deref())?);
    let (mut input, name): (Box<dyn Read>, &Path) = match args.file.as_path() {
        dash if dash == Path::new("-") => (Box::new(std::io::stdin().lock()), Path::new("standard input")),
        file => (Box::new(BufReader::new(open(file)?)), file),
    };
    let shown = project.root().display().to_string();
    let arrival = Arrival { name, root: &shown, now: time::now(), known: &user::trust().known };
    let imported = Environment::import(&project.directory(), &mut input, arrival).map_err(opened::failure)?;
    project.record().map_err(opened::failure)?;
    if !imported.complete {
        terminal.warn("the index is not complete: the run that made it was stopped before it had seen every file, or could not read all of them");
    }
    let mut out = terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &imported)?,
        ReportFormat::Text => {
            writeln!(out, "Imported {} into {}", contents(&imported), sanitize::line(&shown))?;
            write_commit(&mut out, &imported)?;
        }
    }
    Ok(out.flush()?)
}

/// Opens a file that the user has named, which may be a pipe.
pub(crate) fn open(path: &Path) -> Outcome<File> {
    #[allow(clippy::disallowed_methods, reason = "the user has named it, and may name a pipe")]
    let file = File::open(path).map_err(|error| Failure::new(format!("cannot open {}: {error}", path.display())))?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(Failure::new(format!("{} is a directory", path.display()))
            .with_help("give the file that `aur mem export` has written")),
        _ => Ok(file),
    }
}
