//! `aur logs export`: writes a log unchanged to a file outside the log directory.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use aurora_confined::Directory;
use aurora_logs::{LogDirectory, LogFile};

use crate::commands::logs::{place, view};
use crate::context::{Failure, Outcome, Program};
use crate::output::sanitize;

/// Writes the log to a file or to standard output.
pub(super) fn run(given: &str, output: Option<&Path>, is_forced: bool, program: &Program) -> Outcome {
    let (logs, log) = place::find(given, &program.terminal)?;
    let mut out = program.terminal.stdout();
    match output.filter(|output| *output != Path::new("-")) {
        None => view::print(&logs, &log, &mut out)?,
        Some(target) => {
            write(&logs, &log, target, is_forced)?;
            writeln!(out, "Exported {} to {}", log.path(), sanitize::line(&target.display().to_string()))?;
        }
    }
    Ok(out.flush()?)
}

fn write(logs: &LogDirectory, log: &LogFile, target: &Path, is_forced: bool) -> Outcome {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", target.display()));
    let above = target.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = target.file_name().ok_or_else(|| Failure::new(format!("{} is not a file", target.display())))?;
    let directory = Directory::open_root(above).map_err(failed)?;
    if is_forced {
        // An existing file stays until the log is written completely.
        let mut copied = Ok(());
        let replaced = directory.replace(name, |file| {
            copied = copy(logs, log, file);
            copied.as_ref().map_err(|_| io::Error::other("cannot read the log")).copied()
        });
        copied?;
        replaced.map_err(failed)?;
    } else {
        let mut file = directory.create_new(name).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Failure::new(format!("{} already exists", target.display())).with_help("--force replaces it")
            }
            _ => failed(error),
        })?;
        if let Err(failure) = copy(logs, log, &mut file) {
            // Ignore an error of the removal, because the failure of the copy is more informative.
            let _ = directory.remove(name);
            return Err(failure);
        }
    }
    directory.synchronise().map_err(failed)
}

/// Copies the log into a new file. Like the log, the file can be read only by the user.
fn copy(logs: &LogDirectory, log: &LogFile, file: &mut File) -> Outcome {
    make_private(file)?;
    let mut text = logs.read(log).map_err(|error| place::unread_failure(&log.path(), &error))?;
    let mut out = BufWriter::new(file);
    view::copy(&mut text, &mut out, log)?;
    out.flush()?;
    Ok(out.get_ref().sync_all()?)
}

#[cfg(unix)]
fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}
