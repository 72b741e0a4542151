//! `aur init`: adds the MCP server or hooks to the configurations of agents and editors, adds instructions for agents,
//! or removes them.

mod clients;
mod diff;
mod edit;
mod entry;
mod hooks;
mod instructions;
mod json_config;
mod json_document;
#[cfg(test)]
mod tests;
mod toml_config;

use std::io::{self, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use clap::Args;
use clients::{CLIENTS, Client, Home, Written, command};
use entry::NAME;
use hooks::HookConfig;

use crate::context::{Failure, Outcome, Program, Terminal, place};
use crate::output::{Role, sanitize};

/// Connect agents and editors to the index
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur init                     all agents and editors in use here
  aur init claude-code vscode  only these two
  aur init --hooks             recall memory and code for every prompt, and log sessions
  aur init --instructions      tell agents in AGENTS.md when to search
  aur init --remove --yes      remove everything again, without asking

Clients: claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed.")]
pub(crate) struct InitArgs {
    /// Agents and editors to configure [default: all that are in use here]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// Project directory [default: the nearest enclosing project]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Add hooks instead of the server: for prompts, and for the end of a session
    #[arg(long)]
    pub(crate) hooks: bool,

    /// Add a section to AGENTS.md instead of the server
    #[arg(long)]
    pub(crate) instructions: bool,

    /// Remove what `aur init` has added: everything, or only the hooks or the section
    #[arg(long)]
    pub(crate) remove: bool,

    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}

/// Maximum size of a configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 4 << 20;

/// A part of the configuration that `aur init` adds or removes.
#[derive(Clone, Copy)]
enum Part {
    /// The server in the configuration of a client.
    Server(&'static Client),
    /// The hooks of a client.
    Hooks(&'static Client, &'static HookConfig),
    /// The section for agents in the project.
    Instructions,
}

/// A change to a configuration file.
struct Change {
    part: Part,
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
    let removes_all = args.remove && !args.hooks && !args.instructions;
    let mut changes: Vec<Change> = Vec::new();
    for part in select_parts(args, removes_all, &root, &home)? {
        let (base, file) = part.file(&root, &home);
        // Several parts may belong to the same file.
        if let Some(earlier) = changes.iter_mut().find(|change| change.base == base && change.file == file) {
            let text = earlier.after.take();
            let (after, is_foreign) = part.edit(text, args.remove, &root, &base.join(&file))?;
            (earlier.after, earlier.replaces_foreign_entry) = (after, earlier.replaces_foreign_entry || is_foreign);
            continue;
        }
        let before = read(&base, &file)?;
        let (after, replaces_foreign_entry) = part.edit(before.clone(), args.remove, &root, &base.join(&file))?;
        let change = Change { part, base, file, before, after, replaces_foreign_entry };
        if change.before != change.after {
            changes.push(change);
        } else if !removes_all || matches!(part, Part::Server(_)) {
            let state = if args.remove { "not there" } else { "already there" };
            program.terminal.note(&format!("{}: {state}, in {}", part.title(), display_path(&change)));
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
        program.terminal.note(&format!("{}: {done} {}", change.part.title(), display_path(change)));
    }
    Ok(())
}

/// Returns the parts to add or remove.
fn select_parts(args: &InitArgs, removes_all: bool, root: &Path, home: &Home) -> Outcome<Vec<Part>> {
    let has_instructions = args.instructions || removes_all && args.clients.is_empty();
    let mut parts = Vec::new();
    if !args.instructions || args.hooks || !args.clients.is_empty() {
        match select_clients(args, root, home) {
            Ok(chosen) => parts = client_parts(args, removes_all, &chosen)?,
            // Without a client, the section may still be there.
            Err(failure)
                if !(removes_all && has_instructions && read(root, Path::new(instructions::FILE))?.is_some()) =>
            {
                return Err(failure);
            }
            Err(_) => {}
        }
    }
    parts.extend(has_instructions.then_some(Part::Instructions));
    Ok(parts)
}

fn client_parts(args: &InitArgs, removes_all: bool, chosen: &[&'static Client]) -> Outcome<Vec<Part>> {
    let hooks = |client: &&'static Client| client.hooks.as_ref().map(|hooks| Part::Hooks(client, hooks));
    if args.hooks {
        let parts: Vec<Part> = chosen.iter().filter_map(hooks).collect();
        let known: Vec<&str> =
            CLIENTS.iter().filter(|client| client.hooks.is_some()).map(|client| client.name).collect();
        return match chosen.iter().find(|client| client.hooks.is_none() && !args.clients.is_empty()) {
            Some(client) => Err(Failure::new(format!("{} has no hooks for prompts", client.title))
                .with_help(format!("clients with hooks: {}", known.join(", ")))),
            None if parts.is_empty() => Err(Failure::new("no agent with hooks is in use here")
                .with_help(format!("give the name of a client: {}", known.join(", ")))),
            None => Ok(parts),
        };
    }
    let parts = |client: &&'static Client| {
        let hooks = if removes_all { hooks(client) } else { None };
        std::iter::once(Part::Server(client)).chain(hooks)
    };
    Ok(if args.instructions { Vec::new() } else { chosen.iter().flat_map(parts).collect() })
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

/// Reads a configuration file; `None` if it does not exist.
fn read(base: &Path, file: &Path) -> Outcome<Option<String>> {
    match Directory::open_root(base).and_then(|base| base.read_to_string(file, MAX_CONFIG_BYTES)) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Failure::new(format!("cannot read {}: {error}", base.join(file).display()))),
    }
}

impl Part {
    /// Returns the name of the client on the command line; empty for the instructions.
    fn client_name(self) -> &'static str {
        match self {
            Self::Server(client) | Self::Hooks(client, _) => client.name,
            Self::Instructions => "",
        }
    }

    fn title(self) -> String {
        match self {
            Self::Server(client) => client.title.to_owned(),
            Self::Hooks(client, _) => format!("Hooks of {}", client.title),
            Self::Instructions => "Instructions for agents".to_owned(),
        }
    }

    /// Returns the trusted base directory and the path of the file below it.
    fn file(self, root: &Path, home: &Home) -> (PathBuf, PathBuf) {
        match self {
            Self::Server(client) => client.file(root, home),
            Self::Hooks(client, _) => client.hooks_file(root, home),
            Self::Instructions => (root.to_owned(), instructions::FILE.into()),
        }
    }

    /// Adds the part to the text of the file, or removes it. Returns the new text, or `None` to remove the file, and
    /// whether the part replaces an entry that `aur init` did not write. `path` is the path of the file in messages.
    fn edit(self, text: Option<String>, removes: bool, root: &Path, path: &Path) -> Outcome<(Option<String>, bool)> {
        let failed = |reason: String| Failure::new(format!("cannot change {}: {reason}", path.display()));
        if removes {
            let Some(text) = text else { return Ok((None, false)) };
            let (after, what) = match self {
                Self::Server(client) => (client.without_entry(&text), format!("`{NAME}`")),
                Self::Hooks(client, hooks) => (hooks.without_hooks(&text, client.name), "the hooks".to_owned()),
                Self::Instructions => (instructions::without_section(&text), "the section".to_owned()),
            };
            let after = after.map_err(|reason| failed(reason).with_help(format!("remove {what} by hand")))?;
            return Ok((after, false));
        }
        let add = |before: Option<&str>| match self {
            Self::Server(client) => client.with_entry(before, root),
            Self::Hooks(client, hooks) => own(hooks.with_hooks(before, &command(), client.name)),
            Self::Instructions => own(instructions::with_section(before)),
        };
        let by_hand = || add(None).map(|written| written.text).unwrap_or_default();
        let written = add(text.as_deref())
            .map_err(|reason| failed(reason).with_help(format!("add this by hand:\n{}", by_hand())))?;
        Ok((Some(written.text), written.replaces_foreign_entry))
    }
}

/// A text that replaces no entry of anybody else.
fn own(text: Result<String, String>) -> Result<Written, String> {
    Ok(Written { text: text?, replaces_foreign_entry: false })
}

/// Prints the differing lines of every change.
fn show(changes: &[Change], terminal: &Terminal) -> Outcome {
    let paint = terminal.out;
    terminal.write(|out| {
        for change in changes {
            let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
            let heading = format!("{} ({})", display_path(change), change.part.title());
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
            let (file, name) = (display_path(change), change.part.client_name());
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
