//! The supported agents and editors, with the path and format of their configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::commands::init::edit::byte_order_mark;
use crate::commands::init::entry::{Config, Entry, Found, PROGRAM};
use crate::commands::init::hooks::{Hook, HookConfig, HookShape};
use crate::commands::init::json_config::{JsonConfig, Shape};
use crate::commands::init::toml_config::TomlConfig;

/// An agent or editor.
pub(super) struct Client {
    /// Name on the command line.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    location: Location,
    config: &'static dyn Config,
    root: RootArgument,
    /// The hooks of the client, if it has hooks for prompts.
    pub(super) hooks: Option<HookConfig>,
    hooks_location: Location,
    /// Files and directories that exist only if the client is in use.
    traces: &'static [Location],
}

/// The location of a file or directory.
enum Location {
    Project(&'static str),
    Home(&'static str),
    /// In the operating system's directory for application settings (`~/.config` on Linux).
    Desktop(&'static str),
}

/// The way in which the client passes the project to the server.
enum RootArgument {
    /// No argument: the client starts the server in the project.
    None,
    /// A variable that the client replaces with the path of the project.
    Variable(&'static str),
    /// The path of this project.
    Path,
}

/// A configuration that contains the server's entry.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    /// Whether the text replaces an entry that `aur init` did not write.
    pub(super) replaces_foreign_entry: bool,
}

/// All clients, sorted by name.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        location: Location::Project(".mcp.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::None,
        hooks_location: Location::Project(".claude/settings.json"),
        hooks: Some(HookConfig {
            events: &[("UserPromptSubmit", Hook::Prompt), ("SessionEnd", Hook::SessionEnd)],
            shape: HookShape::Nested(1),
        }),
        traces: &[
            Location::Project(".claude"),
            Location::Project("CLAUDE.md"),
            Location::Project(".mcp.json"),
            Location::Home(".claude"),
        ],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        location: Location::Desktop("Claude/claude_desktop_config.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Path,
        hooks_location: Location::Project(""),
        hooks: None,
        traces: &[Location::Desktop("Claude")],
    },
    Client {
        name: "codex",
        title: "Codex",
        location: Location::Home(".codex/config.toml"),
        config: &TomlConfig { servers: "mcp_servers" },
        root: RootArgument::None,
        hooks_location: Location::Home(".codex/hooks.json"),
        hooks: Some(HookConfig {
            // Versions before 0.145 ignore `SessionEnd`.
            events: &[("UserPromptSubmit", Hook::Prompt), ("SessionEnd", Hook::SessionEnd)],
            shape: HookShape::Nested(1),
        }),
        traces: &[Location::Home(".codex")],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        location: Location::Project(".cursor/mcp.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Variable("${workspaceFolder}"),
        hooks_location: Location::Project(".cursor/hooks.json"),
        hooks: Some(HookConfig {
            events: &[("beforeSubmitPrompt", Hook::Prompt), ("sessionEnd", Hook::SessionEnd)],
            shape: HookShape::Flat,
        }),
        traces: &[Location::Project(".cursor"), Location::Home(".cursor")],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        location: Location::Project(".gemini/settings.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::None,
        hooks_location: Location::Project(".gemini/settings.json"),
        hooks: Some(HookConfig {
            events: &[("BeforeAgent", Hook::Prompt), ("SessionEnd", Hook::SessionEnd)],
            shape: HookShape::Nested(1_000),
        }),
        traces: &[Location::Project(".gemini"), Location::Home(".gemini")],
    },
    Client {
        name: "opencode",
        title: "opencode",
        location: Location::Project("opencode.json"),
        config: &JsonConfig { servers: "mcp", shape: Shape::Local },
        root: RootArgument::None,
        hooks_location: Location::Project(""),
        hooks: None,
        traces: &[Location::Project("opencode.json"), Location::Project(".opencode")],
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        location: Location::Project(".vscode/mcp.json"),
        config: &JsonConfig { servers: "servers", shape: Shape::Typed },
        root: RootArgument::Variable("${workspaceFolder}"),
        hooks_location: Location::Project(""),
        hooks: None,
        traces: &[Location::Project(".vscode"), Location::Home(".vscode")],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        location: Location::Home(".codeium/windsurf/mcp_config.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Path,
        hooks_location: Location::Project(""),
        hooks: None,
        traces: &[Location::Home(".codeium/windsurf")],
    },
    Client {
        name: "zed",
        title: "Zed",
        location: Location::Project(".zed/settings.json"),
        config: &JsonConfig { servers: "context_servers", shape: Shape::Plain },
        root: RootArgument::None,
        hooks_location: Location::Project(""),
        hooks: None,
        traces: &[Location::Project(".zed")],
    },
];

/// The home directory, and the operating system's directory for application settings.
pub(super) struct Home {
    pub(super) path: PathBuf,
    desktop: PathBuf,
}

impl Home {
    pub(super) fn new(path: PathBuf) -> Self {
        let below = if cfg!(target_os = "macos") {
            "Library/Application Support"
        } else if cfg!(windows) {
            "AppData/Roaming"
        } else {
            ".config"
        };
        Self { desktop: path.join(below), path }
    }
}

impl Location {
    /// Returns the trusted base directory and the path below it.
    fn resolve(&self, root: &Path, home: &Home) -> (PathBuf, PathBuf) {
        match *self {
            Self::Project(path) => (root.to_owned(), path.into()),
            Self::Home(path) => (home.path.clone(), path.into()),
            Self::Desktop(path) => (home.desktop.clone(), path.into()),
        }
    }
}

impl Client {
    /// Returns the trusted base directory and the path of the configuration below it.
    pub(super) fn file(&self, root: &Path, home: &Home) -> (PathBuf, PathBuf) {
        self.location.resolve(root, home)
    }

    /// Returns the trusted base directory and the path of the configuration of hooks below it.
    pub(super) fn hooks_file(&self, root: &Path, home: &Home) -> (PathBuf, PathBuf) {
        self.hooks_location.resolve(root, home)
    }

    pub(super) fn is_in_use(&self, root: &Path, home: &Home) -> bool {
        self.traces.iter().map(|trace| trace.resolve(root, home)).any(|(base, below)| base.join(below).exists())
    }

    /// Returns the configuration `before` with the server's entry, or a new configuration if `before` is `None`.
    ///
    /// # Errors
    ///
    /// Returns the reason if the configuration cannot be changed.
    pub(super) fn with_entry(&self, before: Option<&str>, root: &Path) -> Result<Written, String> {
        let entry = Entry { command: command(), arguments: self.arguments(root) };
        let Some(text) = before else {
            return Ok(Written { text: self.config.new_file(&entry), replaces_foreign_entry: false });
        };
        let (mark, content) = text.split_at(byte_order_mark(text).len());
        let (is_there, replaces_foreign_entry) = match self.config.find_entry(content)? {
            Found::Nothing => (false, false),
            Found::Entry(found) => (found == entry, !self.is_written_by_init(&found)),
            Found::Other => (false, true),
        };
        let content = if is_there { content.to_owned() } else { self.config.put(content, &entry)? };
        Ok(Written { text: mark.to_owned() + &content, replaces_foreign_entry: replaces_foreign_entry && !is_there })
    }

    /// Returns the configuration without the server's entry, or `None` if `text` equals the content of a new file
    /// with only this entry, so that the file can be removed.
    ///
    /// # Errors
    ///
    /// Returns the reason if the configuration cannot be changed.
    pub(super) fn without_entry(&self, text: &str) -> Result<Option<String>, String> {
        let (mark, content) = text.split_at(byte_order_mark(text).len());
        let rest = self.config.take(content)?;
        Ok(if mark.is_empty() { rest } else { Some(mark.to_owned() + &rest.unwrap_or_default()) })
    }

    /// Whether `aur init` may have written the entry, perhaps for another project or for a program at another path. A
    /// program that was built with a team's own stages may have a name other than `aur`.
    fn is_written_by_init(&self, entry: &Entry) -> bool {
        let own = std::env::current_exe().ok();
        let own = own.as_deref().and_then(Path::file_stem).and_then(OsStr::to_str);
        let stem = Path::new(&entry.command).file_stem().and_then(OsStr::to_str);
        let arguments: Vec<&str> = entry.arguments.iter().map(String::as_str).collect();
        let are_written = match (&arguments[..], &self.root) {
            (["mcp"], _) | (["mcp", "--root", _], RootArgument::Path) => true,
            (["mcp", "--root", root], RootArgument::Variable(variable)) => root == variable,
            _ => false,
        };
        are_written && (stem == Some(PROGRAM) || stem == own)
    }

    fn arguments(&self, root: &Path) -> Vec<String> {
        let mut arguments = vec!["mcp".to_owned()];
        match self.root {
            RootArgument::None => {}
            RootArgument::Variable(variable) => arguments.extend(["--root".to_owned(), variable.to_owned()]),
            RootArgument::Path => arguments.extend(["--root".to_owned(), root.display().to_string()]),
        }
        arguments
    }
}

/// Returns `aur` if the first program with this name in `PATH` is the running program; otherwise returns the path to
/// the running program.
pub(super) fn command() -> String {
    let Ok(own) = std::env::current_exe().and_then(|own| own.canonicalize()) else { return PROGRAM.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&path).find_map(|directory| directory.join(&name).canonicalize().ok());
    if found.is_some_and(|found| found == own) { PROGRAM.to_owned() } else { own.display().to_string() }
}
