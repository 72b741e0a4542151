//! `use = "process"` in a pipeline's file.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_pipeline::{ByteSize, Described, Key, Problems};
use serde::{Deserialize, Serialize};

use crate::declaration::{Declaration, DropRows, WrittenType};

/// The configuration of a stage that is a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Process {
    /// The program and its arguments. A program without a `/` is looked up in `PATH`; other relative paths start at the root
    /// of the project, where the program is run.
    pub command: Vec<String>,
    /// Columns that the program gets.
    pub reads: Vec<String>,
    /// Columns that the program fills.
    pub writes: BTreeMap<String, WrittenType>,
    /// Languages of the files that the program gets, or of which it gets the chunks; all if there are none.
    pub languages: Vec<String>,
    /// Rows that the program may drop.
    pub drops: DropRows,
    /// Handed to the program as it is.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Raised by the author when the same input gives another output.
    pub version: String,
    /// Files and directories of the program beside those that the command names.
    pub files: Vec<String>,
    /// Files that the output depends on.
    pub inputs: Vec<String>,
    /// Names of environment variables that the program gets.
    pub env: Vec<String>,
    /// Longest time without an answer, in seconds.
    pub timeout: u64,
    /// How often the program is started again in one run.
    pub max_restarts: u32,
    /// Most memory of a process, in bytes: its data, where the system can limit it.
    pub memory: ByteSize,
    /// Messages that a process gets before it has answered.
    pub in_flight: usize,
    /// Most rows in a message, which carries about 1 MiB of values at most.
    pub rows: usize,
}

impl Default for Process {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            reads: Vec::new(),
            writes: BTreeMap::new(),
            languages: Vec::new(),
            drops: DropRows::None,
            config: serde_json::Map::new(),
            version: String::new(),
            files: Vec::new(),
            inputs: Vec::new(),
            env: Vec::new(),
            timeout: 60,
            max_restarts: 10,
            memory: ByteSize(2 << 30),
            in_flight: 4,
            rows: 256,
        }
    }
}

impl Described for Process {
    const SUMMARY: &'static str =
        "Runs a program that fills custom columns or drops rows; see the guide to custom stages.";
    const KEYS: &'static [Key] = &[
        Key::strings(
            "command",
            "The program and its arguments. A program without a `/` is looked up in `PATH`. Relative paths start at the root.",
        ),
        Key::strings("reads", "Columns that the program gets."),
        Key::table(
            "writes",
            "Columns that the program fills: `name = \"type\"`, or a table with `type`, `filter`, `terms`, `embed` and `boost`.",
        ),
        Key::strings("languages", "Languages of the files that it gets, or of which it gets the chunks; all if empty."),
        Key::one_of("drops", DropRows::NAMES, "Rows that the program may drop."),
        Key::table("config", "Handed to the program as it is."),
        Key::string("version", "Raised by the author when the same input gives another output."),
        Key::strings("files", "Files and directories of the program beside those that the command names."),
        Key::strings("inputs", "Files that the output depends on: the stage runs again when one changes."),
        Key::strings("env", "Names of environment variables that the program gets."),
        Key::count_up("timeout", "seconds", "Longest time without an answer."),
        Key::count("max_restarts", "restarts", "How often the program is started again in one run."),
        Key::size("memory", "Most memory of a process for its data, where the system can limit it."),
        Key::count_up_to(
            "in_flight",
            MAX_IN_FLIGHT,
            "messages",
            "Messages that a process gets before it has answered.",
        ),
        Key::count_up_to(
            "rows",
            MAX_ROWS,
            "rows",
            "Most rows in a message, which carries about 1 MiB of values at most.",
        ),
    ];
}

pub(super) const MAX_IN_FLIGHT: usize = 64;
pub(super) const MAX_ROWS: usize = 65_536;

impl Process {
    /// Reports mistakes in the keys about the program itself.
    pub(super) fn check_program(&self, problems: &mut Problems<'_>) {
        if self.command.first().is_none_or(|program| program.is_empty()) {
            problems.error("command", "the stage has no command").help("command = [\"python3\", \"tools/owner.py\"]");
        }
        if self.command.iter().any(|part| part.contains('\0')) {
            problems.error("command", "an argument contains a NUL character");
        }
        for name in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) {
                problems
                    .error("env", format!("`{name}` is not the name of an environment variable"))
                    .help("name the variable; its value is taken from the environment of the run");
            }
        }
        if self.timeout == 0 {
            problems.error("timeout", "`timeout` must be at least 1 second");
        }
    }

    pub(crate) fn declaration(&self) -> Declaration {
        Declaration::new(&self.reads, &self.writes, self.drops)
    }

    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}
