//! `aur mem import`: an exported index takes the place of the one that is there.

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::Path;

use aurora_confined::{Refusal, open_regular, refusal_of};
use aurora_project::user;
use aurora_storage::{Arrival, Environment, Workers};

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
    let (known, workers) = (&user::trust().known, Workers::default());
    let arrival = Arrival { name, root: &shown, now: time::now(), known, workers };
    let imported = Environment::import(&project.directory(), &mut input, arrival).map_err(opened::failure)?;
    project.record().map_err(opened::failure)?;
    if !imported.complete {
        terminal.warn("the index is not complete: the run that made it was stopped before it had seen every file, could not read all of them, or lacks results of stages");
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

/// Opens a regular file that the user has named. Pipes and devices are refused, because opening or reading one may wait without
/// end.
pub(crate) fn open(path: &Path) -> Outcome<File> {
    open_regular(path).map_err(|error| {
        let shown = path.display();
        match refusal_of(&error) {
            Some(Refusal::NotRegular) if path.is_dir() => Failure::new(format!("{shown} is a directory"))
                .with_help("give the file that `aur mem export` has written"),
            Some(Refusal::NotRegular) => Failure::new(format!("cannot open {shown}: {error}"))
                .with_help("`-` reads standard input, which may be a pipe"),
            _ => Failure::new(format!("cannot open {shown}: {error}")),
        }
    })
}
