//! The supported agents and editors, with the path and format of their configuration.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::commands::init::entry::{Config, Entry, Found};
use crate::commands::init::json_config::{JsonConfig, Shape};
use crate::commands::init::toml_config::TomlConfig;

/// An agent or editor.
pub(super) struct Client {
    /// Name on the command line.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    place: Place,
    config: &'static dyn Config,
    root: RootArgument,
    /// Files and directories whose existence shows that the client is in use.
    marks: &'static [Place],
}

/// Location of a file or directory.
enum Place {
    Project(&'static str),
    Home(&'static str),
    /// In the directory for application settings of the desktop system.
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

/// A configuration that includes the server.
#[derive(Debug)]
pub(super) struct Written {
    pub(super) text: String,
    /// Whether the text replaces an entry that `aur init` did not write.
    pub(super) replaces_own: bool,
}

/// Name of the program.
const PROGRAM: &str = "aur";

/// All clients, sorted by name.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        place: Place::Project(".mcp.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::None,
        marks: &[
            Place::Project(".claude"),
            Place::Project("CLAUDE.md"),
            Place::Project(".mcp.json"),
            Place::Home(".claude"),
        ],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        place: Place::Desktop("Claude/claude_desktop_config.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Path,
        marks: &[Place::Desktop("Claude")],
    },
    Client {
        name: "codex",
        title: "Codex",
        place: Place::Home(".codex/config.toml"),
        config: &TomlConfig { servers: "mcp_servers" },
        root: RootArgument::None,
        marks: &[Place::Home(".codex")],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        place: Place::Project(".cursor/mcp.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Variable("${workspaceFolder}"),
        marks: &[Place::Project(".cursor"), Place::Home(".cursor")],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        place: Place::Project(".gemini/settings.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::None,
        marks: &[Place::Project(".gemini"), Place::Home(".gemini")],
    },
    Client {
        name: "opencode",
        title: "opencode",
        place: Place::Project("opencode.json"),
        config: &JsonConfig { servers: "mcp", shape: Shape::Local },
        root: RootArgument::None,
        marks: &[Place::Project("opencode.json"), Place::Project(".opencode")],
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        place: Place::Project(".vscode/mcp.json"),
        config: &JsonConfig { servers: "servers", shape: Shape::Typed },
        root: RootArgument::Variable("${workspaceFolder}"),
        marks: &[Place::Project(".vscode"), Place::Home(".vscode")],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        place: Place::Home(".codeium/windsurf/mcp_config.json"),
        config: &JsonConfig { servers: "mcpServers", shape: Shape::Plain },
        root: RootArgument::Path,
        marks: &[Place::Home(".codeium/windsurf")],
    },
    Client {
        name: "zed",
        title: "Zed",
        place: Place::Project(".zed/settings.json"),
        config: &JsonConfig { servers: "context_servers", shape: Shape::Plain },
        root: RootArgument::None,
        marks: &[Place::Project(".zed")],
    },
];

/// The home directory, and the directory for application settings of the desktop system.
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

impl Place {
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
        self.place.resolve(root, home)
    }

    pub(super) fn is_in_use(&self, root: &Path, home: &Home) -> bool {
        self.marks.iter().map(|mark| mark.resolve(root, home)).any(|(base, below)| base.join(below).exists())
    }

    /// Returns the configuration with the entry of the server.
    ///
    /// # Errors
    ///
    /// The reason why the configuration cannot be changed.
    pub(super) fn with(&self, before: Option<&str>, root: &Path) -> Result<Written, String> {
        let entry = Entry { command: command(), arguments: self.arguments(root) };
        let Some(text) = before else {
            return Ok(Written { text: self.config.new_file(&entry), replaces_own: false });
        };
        let (mark, content) = text.split_at(byte_order_mark(text).len());
        let (is_there, replaces_own) = match self.config.find_entry(content)? {
            Found::Nothing => (false, false),
            Found::Entry(found) => (found == entry, !self.is_own_entry(&found)),
            Found::Other => (false, true),
        };
        let content = if is_there { content.to_owned() } else { self.config.put(content, &entry)? };
        Ok(Written { text: mark.to_owned() + &content, replaces_own: replaces_own && !is_there })
    }

    /// Returns the configuration without the server, or `None` if the file was created for the server.
    ///
    /// # Errors
    ///
    /// The reason why the configuration cannot be changed.
    pub(super) fn without(&self, text: &str) -> Result<Option<String>, String> {
        let (mark, content) = text.split_at(byte_order_mark(text).len());
        let rest = self.config.take(content)?;
        Ok(if mark.is_empty() { rest } else { Some(mark.to_owned() + &rest.unwrap_or_default()) })
    }

    /// Whether `aur init` writes entries of this form. The entry may contain another path of the program or another
    /// project. A program that was built with a team's own stages may have another name than `aur`.
    fn is_own_entry(&self, entry: &Entry) -> bool {
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

/// Returns the byte order mark at the start of `text`, or an empty string.
fn byte_order_mark(text: &str) -> &str {
    const MARK: &str = "\u{feff}";
    if text.starts_with(MARK) { MARK } else { "" }
}

/// Returns `aur` if that name starts this program, else the path of the program.
fn command() -> String {
    let Ok(own) = std::env::current_exe().and_then(|own| own.canonicalize()) else { return PROGRAM.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&path).find_map(|directory| directory.join(&name).canonicalize().ok());
    if found.is_some_and(|found| found == own) { PROGRAM.to_owned() } else { own.display().to_string() }
}
