//! `aur init`: adds the MCP server to the configurations of agents and editors, or removes it from them.

mod clients;
mod diff;
mod edit;
mod entry;
mod json_config;
mod json_document;
#[cfg(test)]
mod tests;
mod toml_config;

use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use clap::Args;
use clients::{CLIENTS, Client, Home};
use entry::NAME;

use crate::context::{Failure, Outcome, Program, Terminal, place};
use crate::output::{Role, sanitize};

/// Connect agents and editors to the index
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur init                     all agents and editors in use here
  aur init claude-code vscode  only these two
  aur init --remove --yes      remove the server again, without asking

Clients: claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed.")]
pub(crate) struct InitArgs {
    /// Agents and editors to configure [default: all that are in use here]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Remove the server from the configuration
    #[arg(long)]
    pub(crate) remove: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Maximum size of a configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// A change to a configuration file.
struct Change {
    client: &'static Client,
    /// The trusted base directory: the project or the home directory.
    base: PathBuf,
    /// Path below `base`.
    file: PathBuf,
    before: Option<String>,
    /// The new content, or `None` to remove the file.
    after: Option<String>,
    /// Whether the change replaces an entry that `aur init` did not write.
    replaces_foreign_entry: bool,
}

/// Shows the changes, asks for confirmation, and applies them.
pub(crate) fn run(args: &InitArgs, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let home = std::env::home_dir().ok_or_else(|| Failure::new("the home directory is unknown"))?;
    let home = Home::new(home);
    let chosen = select_clients(args, &root, &home)?;
    let mut changes = Vec::new();
    for client in chosen {
        let change = change(client, args.remove, &root, &home)?;
        if change.before == change.after {
            let state = if args.remove { "not there" } else { "already there" };
            program.terminal.note(&format!("{}: {state}, in {}", client.title, display_path(&change)));
        } else {
            changes.push(change);
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    show(&changes, &program.terminal)?;
    if !confirm(args, &changes, &program.terminal)? {
        return Err(Failure::new(nothing_done(args)));
    }
    for change in &changes {
        write(change, &home)?;
        let done = if args.remove { "removed from" } else { "written to" };
        program.terminal.note(&format!("{}: {done} {}", change.client.title, display_path(change)));
    }
    Ok(())
}

/// Returns the clients that the user named, or all that are in use here.
fn select_clients(args: &InitArgs, root: &Path, home: &Home) -> Outcome<Vec<&'static Client>> {
    let known = || CLIENTS.iter().map(|client| client.name).collect::<Vec<_>>().join(", ");
    let mut chosen = Vec::new();
    for name in &args.clients {
        let client = CLIENTS.iter().find(|client| client.name == *name);
        let unknown =
            || Failure::new(format!("there is no client called {name}")).with_help(format!("one of {}", known()));
        chosen.push(client.ok_or_else(unknown)?);
    }
    if args.clients.is_empty() {
        chosen.extend(CLIENTS.iter().filter(|client| client.is_in_use(root, home)));
    }
    if chosen.is_empty() {
        return Err(Failure::new("no agent or editor is in use here")
            .with_help(format!("give the name of a client: {}", known())));
    }
    Ok(chosen)
}

fn change(client: &'static Client, removes: bool, root: &Path, home: &Home) -> Outcome<Change> {
    let (base, file) = client.file(root, home);
    let before = match Directory::open_root(&base).and_then(|base| base.read_to_string(&file, MAX_CONFIG_BYTES)) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(Failure::new(format!("cannot read {}: {error}", base.join(&file).display()))),
    };
    let failed = |reason: String| Failure::new(format!("cannot change {}: {reason}", base.join(&file).display()));
    let (after, replaces_foreign_entry) = if removes {
        let after = before.as_deref().map(|text| client.without_entry(text)).transpose();
        (after.map_err(|reason| failed(reason).with_help(format!("remove `{NAME}` by hand")))?.flatten(), false)
    } else {
        let by_hand = || client.with_entry(None, root).map(|written| written.text).unwrap_or_default();
        let written = client.with_entry(before.as_deref(), root);
        let written =
            written.map_err(|reason| failed(reason).with_help(format!("add this by hand:\n{}", by_hand())))?;
        (Some(written.text), written.replaces_foreign_entry)
    };
    Ok(Change { client, base, file, before, after, replaces_foreign_entry })
}

/// Prints the differing lines of every change.
fn show(changes: &[Change], terminal: &Terminal) -> Outcome {
    let paint = terminal.out;
    terminal.write(|out| {
        for change in changes {
            let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
            let heading = format!("{} ({})", display_path(change), change.client.title);
            writeln!(out, "{}", paint.paint(Role::Heading, &heading))?;
            if change.replaces_foreign_entry {
                writeln!(out, "replaces an entry `{NAME}` that `aur init` did not write:")?;
            }
            for (sign, line) in diff::differing_lines(before, after) {
                let role = if sign == '+' { Role::Good } else { Role::Error };
                writeln!(out, "{}", paint.paint(role, &format!("{sign} {}", sanitize::line(line))))?;
            }
            writeln!(out)?;
        }
        Ok(())
    })
}

fn nothing_done(args: &InitArgs) -> &'static str {
    if args.remove { "nothing was removed" } else { "nothing was written" }
}

/// Asks whether to apply the changes. An entry that `aur init` did not write is replaced only if the user confirms this
/// on a terminal.
fn confirm(args: &InitArgs, changes: &[Change], terminal: &Terminal) -> Outcome<bool> {
    let foreign = changes.iter().find(|change| change.replaces_foreign_entry);
    let can_ask = io::stdin().is_terminal();
    match foreign {
        Some(change) if args.yes || !can_ask => {
            let (file, name) = (display_path(change), change.client.name);
            let message = format!("nothing was written: {file} has an entry `{NAME}` that `aur init` did not write");
            let help = format!(
                "`aur init {name} --remove` removes it; on a terminal, `aur init {name}` asks whether to replace it"
            );
            Err(Failure::new(message).with_help(help))
        }
        _ if args.yes => Ok(true),
        _ if !can_ask => Err(Failure::new(format!("{}: there is no terminal to ask on", nothing_done(args)))
            .with_help("`--yes` confirms without asking")),
        _ => Ok(terminal.confirms(match foreign {
            _ if args.remove => "Remove this?",
            Some(_) => "Write this and replace the existing entry?",
            None => "Write this?",
        })?),
    }
}

fn write(change: &Change, home: &Home) -> Outcome {
    let failed = |error: io::Error| Failure::new(format!("cannot write {}: {error}", display_path(change)));
    let base = base(change, home).map_err(failed)?;
    let name = change.file.file_name().unwrap_or_default();
    let parent = change.file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = match parent {
        Some(parent) => base.create_directories(parent).map_err(failed)?,
        None => base,
    };
    let Some(text) = &change.after else { return directory.remove(name).map_err(failed) };
    let old = directory.open_file(name).and_then(|old| old.metadata()).ok();
    let written = directory.replace(name, |file| {
        // The configuration may contain secrets, so the new file keeps the permissions of the old one.
        old.map_or(Ok(()), |old| file.set_permissions(old.permissions()))?;
        file.write_all(text.as_bytes())
    });
    written.map_err(failed)
}

/// Opens the trusted base directory. Creates it if it is below the home directory and does not exist.
fn base(change: &Change, home: &Home) -> io::Result<Directory> {
    match (Directory::open_root(&change.base), change.base.strip_prefix(&home.path)) {
        (Err(error), Ok(below)) if error.kind() == io::ErrorKind::NotFound && !below.as_os_str().is_empty() => {
            Directory::open_root(&home.path)?.create_directories(below)
        }
        (opened, _) => opened,
    }
}

fn display_path(change: &Change) -> String {
    sanitize::line(&change.base.join(&change.file).display().to_string())
}
