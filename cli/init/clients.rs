//! The agents and editors that are known: where their configuration is, and what it looks like.

use std::path::{Path, PathBuf};

use super::edit::{self, Entry};

/// How the server is called in every configuration.
const NAME: &str = "aurora";

/// An agent or editor.
pub(super) struct Client {
    /// What the user types.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    place: Place,
    /// The key that holds the servers.
    servers: &'static str,
    shape: Shape,
    root: RootArgument,
    /// Files and directories, in the project or at home, that tell that it is in use.
    marks: &'static [Mark],
}

enum Place {
    Project(&'static str),
    Home(&'static str),
    /// In the directory of configurations of the system's desktop.
    Desktop(&'static str),
}

enum Mark {
    Project(&'static str),
    Home(&'static str),
    Desktop(&'static str),
}

/// What an entry looks like.
enum Shape {
    /// `{"command": …, "args": […]}` in JSON.
    Plain,
    /// The same with `"type": "stdio"`.
    Typed,
    /// `{"type": "local", "command": […]}`.
    Local,
    /// The plain one as a table in TOML.
    Toml,
}

/// How the server learns which project it serves.
enum RootArgument {
    /// It is started in the project.
    None,
    /// The client puts in the project.
    Variable(&'static str),
    /// The path of this project.
    Path,
}

/// Every client, by name.
pub(super) const CLIENTS: &[Client] = &[
    Client {
        name: "claude-code",
        title: "Claude Code",
        place: Place::Project(".mcp.json"),
        servers: "mcpServers",
        shape: Shape::Plain,
        root: RootArgument::None,
        marks: &[
            Mark::Project(".claude"),
            Mark::Project("CLAUDE.md"),
            Mark::Project(".mcp.json"),
            Mark::Home(".claude"),
        ],
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        place: Place::Desktop("Claude/claude_desktop_config.json"),
        servers: "mcpServers",
        shape: Shape::Plain,
        root: RootArgument::Path,
        marks: &[Mark::Desktop("Claude")],
    },
    Client {
        name: "codex",
        title: "Codex",
        place: Place::Home(".codex/config.toml"),
        servers: "mcp_servers",
        shape: Shape::Toml,
        root: RootArgument::None,
        marks: &[Mark::Home(".codex")],
    },
    Client {
        name: "cursor",
        title: "Cursor",
        place: Place::Project(".cursor/mcp.json"),
        servers: "mcpServers",
        shape: Shape::Plain,
        root: RootArgument::Variable("${workspaceFolder}"),
        marks: &[Mark::Project(".cursor"), Mark::Home(".cursor")],
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        place: Place::Project(".gemini/settings.json"),
        servers: "mcpServers",
        shape: Shape::Plain,
        root: RootArgument::None,
        marks: &[Mark::Project(".gemini"), Mark::Home(".gemini")],
    },
    Client {
        name: "opencode",
        title: "opencode",
        place: Place::Project("opencode.json"),
        servers: "mcp",
        shape: Shape::Local,
        root: RootArgument::None,
        marks: &[Mark::Project("opencode.json"), Mark::Project(".opencode")],
    },
    Client {
        name: "vscode",
        title: "Visual Studio Code",
        place: Place::Project(".vscode/mcp.json"),
        servers: "servers",
        shape: Shape::Typed,
        root: RootArgument::Variable("${workspaceFolder}"),
        marks: &[Mark::Project(".vscode"), Mark::Home(".vscode")],
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        place: Place::Home(".codeium/windsurf/mcp_config.json"),
        servers: "mcpServers",
        shape: Shape::Plain,
        root: RootArgument::Path,
        marks: &[Mark::Home(".codeium/windsurf")],
    },
    Client {
        name: "zed",
        title: "Zed",
        place: Place::Project(".zed/settings.json"),
        servers: "context_servers",
        shape: Shape::Plain,
        root: RootArgument::None,
        marks: &[Mark::Project(".zed")],
    },
];

/// The home directory, and where the desktop's programs have their configuration.
pub(super) struct Home {
    path: PathBuf,
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

impl Client {
    /// The directory that is trusted, and the configuration below it.
    pub(super) fn file(&self, root: &Path, home: &Home) -> (PathBuf, PathBuf) {
        match self.place {
            Place::Project(file) => (root.to_owned(), file.into()),
            Place::Home(file) => (home.path.clone(), file.into()),
            Place::Desktop(file) => (home.desktop.clone(), file.into()),
        }
    }

    pub(super) fn is_in_use(&self, root: &Path, home: &Home) -> bool {
        self.marks.iter().any(|mark| match mark {
            Mark::Project(name) => root.join(name).exists(),
            Mark::Home(name) => home.path.join(name).exists(),
            Mark::Desktop(name) => home.desktop.join(name).exists(),
        })
    }

    /// The configuration with the server in it.
    ///
    /// # Errors
    /// Why it cannot be changed.
    pub(super) fn with(&self, text: &str, root: &Path) -> Result<String, String> {
        let (command, arguments) = (command(), self.arguments(root));
        match self.shape {
            Shape::Toml => edit::add_to_toml(text, self.servers, NAME, &command, &arguments),
            Shape::Plain => edit::add_to_json(text, self.servers, NAME, Entry { kind: None, command, arguments }),
            Shape::Typed => {
                edit::add_to_json(text, self.servers, NAME, Entry { kind: Some("stdio"), command, arguments })
            }
            Shape::Local => edit::add_local_to_json(text, self.servers, NAME, command, arguments),
        }
    }

    /// The configuration without the server; empty if nothing is left.
    ///
    /// # Errors
    /// Why it cannot be changed.
    pub(super) fn without(&self, text: &str) -> Result<String, String> {
        match self.shape {
            Shape::Toml => edit::remove_from_toml(text, self.servers, NAME),
            _ => edit::remove_from_json(text, self.servers, NAME),
        }
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

/// `aur` where that starts this program, else its path.
fn command() -> String {
    const PROGRAM: &str = "aur";
    let Ok(own) = std::env::current_exe().and_then(|own| own.canonicalize()) else { return PROGRAM.to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&path).find_map(|directory| directory.join(&name).canonicalize().ok());
    if found.is_some_and(|found| found == own) { PROGRAM.to_owned() } else { own.display().to_string() }
}
