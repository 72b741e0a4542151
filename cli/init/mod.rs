//! `aur init`: writes the MCP server into the configuration of agents and editors, and removes it again.

mod clients;
mod diff;
mod edit;
mod entry;
mod json_config;
mod json_document;
#[cfg(test)]
mod tests;
mod toml_config;

use std::io::{self, BufRead, IsTerminal, Read, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;

use crate::args_mcp::InitArgs;
use crate::failure::{Failure, Outcome};
use crate::output::sanitize;
use crate::output::style::Role;
use crate::place;
use crate::program::Program;
use clients::{CLIENTS, Client, Home};

/// Most bytes of a configuration that is changed.
const MOST_BYTES: u64 = 4 << 20;

/// A file that would be changed.
struct Change {
    client: &'static Client,
    /// The directory that is trusted: the project, or the home directory.
    base: PathBuf,
    /// Below it.
    file: PathBuf,
    before: Option<String>,
    /// Nothing where the file is to go.
    after: Option<String>,
}

/// Shows what would be changed, asks, and changes it.
pub(crate) fn run(args: &InitArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let home = std::env::home_dir().ok_or_else(|| Failure::new("no home directory is known"))?;
    let home = Home::new(home);
    let chosen = chosen(args, &root, &home)?;
    let mut changes = Vec::new();
    for client in chosen {
        let change = change(client, args.remove, &root, &home)?;
        if change.before == change.after {
            let is = if args.remove { "not there" } else { "there already" };
            program.terminal.note(&format!("{}: {is}, in {}", client.title, shown(&change)));
        } else {
            changes.push(change);
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    show(&changes, program)?;
    if !args.yes && !agreed()? {
        return Err(Failure::new("nothing was written"));
    }
    for change in &changes {
        write(change)?;
        let done = if args.remove { "removed from" } else { "written to" };
        program.terminal.note(&format!("{}: {done} {}", change.client.title, shown(change)));
    }
    Ok(())
}

/// The clients that the user names; without any, those that are in use here.
fn chosen(args: &InitArgs, root: &Path, home: &Home) -> Outcome<Vec<&'static Client>> {
    let known = || CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
    let mut chosen = Vec::new();
    for name in &args.clients {
        let client = CLIENTS.iter().find(|client| client.name == *name);
        let unknown = || Failure::new(format!("no client is called {name}")).with_help(format!("one of {}", known()));
        chosen.push(client.ok_or_else(unknown)?);
    }
    if args.clients.is_empty() {
        chosen.extend(CLIENTS.iter().filter(|client| client.is_in_use(root, home)));
    }
    if chosen.is_empty() {
        return Err(Failure::new("no agent or editor is in use here").with_help(format!("name one of {}", known())));
    }
    Ok(chosen)
}

fn change(client: &'static Client, removes: bool, root: &Path, home: &Home) -> Outcome<Change> {
    let (base, file) = client.file(root, home);
    let before = match Directory::open_root(&base).and_then(|base| base.read_to_string(&file, MOST_BYTES)) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", base.join(&file).display()))),
    };
    let text = before.clone().unwrap_or_default();
    let after = if removes { client.without(&text) } else { client.with(&text, root) };
    let after = after.map_err(|reason| {
        Failure::new(format!("cannot change {}: {reason}", base.join(&file).display()))
            .with_help(format!("add this by hand:\n{}", client.with("", root).unwrap_or_default()))
    })?;
    Ok(Change { client, base, file, before, after: Some(after).filter(|text| !text.trim().is_empty()) })
}

/// Every change as its lines that differ.
fn show(changes: &[Change], program: &Program) -> Outcome {
    let (mut out, paint) = (program.terminal.stdout(), program.terminal.out);
    for change in changes {
        let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
        writeln!(out, "{}", paint.paint(Role::Heading, &format!("{} ({})", shown(change), change.client.title)))?;
        for (sign, line) in edit::differing_lines(before, after) {
            let role = if sign == '+' { Role::Good } else { Role::Error };
            writeln!(out, "{}", paint.paint(role, &format!("{sign} {}", sanitize::line(line))))?;
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}

fn agreed() -> Outcome<bool> {
    if !io::stdin().is_terminal() {
        return Err(Failure::new("nothing was written: there is no terminal to ask on").with_help("`--yes` agrees"));
    }
    let mut err = io::stderr().lock();
    write!(err, "Write this? [y/N] ")?;
    err.flush()?;
    let mut answer = String::new();
    io::stdin().lock().take(64).read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn write(change: &Change) -> Outcome {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", shown(change)));
    let base = Directory::open_root(&change.base).map_err(failed)?;
    let name = change.file.file_name().unwrap_or_default();
    let parent = change.file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = match parent {
        Some(parent) => base.create_directories(parent).map_err(failed)?,
        None => base,
    };
    match &change.after {
        Some(text) => directory.replace(name, |file| file.write_all(text.as_bytes())).map_err(failed),
        None => directory.remove(name).map_err(failed),
    }
}

fn shown(change: &Change) -> String {
    sanitize::line(&change.base.join(&change.file).display().to_string())
}
