//! The configuration of stages with `use = "process"`.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_pipeline::{ByteSize, Described, Key, Problems};
use serde::{Deserialize, Serialize};

use crate::declaration::{Declaration, DropRows, WrittenType};

/// The configuration of a stage that runs a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Process {
    /// The program and its arguments. A program without a `/` is looked up in `PATH`. All other relative paths start at
    /// the root of the project, which is also the working directory.
    pub command: Vec<String>,
    /// Columns that the program receives.
    pub reads: Vec<String>,
    /// Columns that the program fills.
    pub writes: BTreeMap<String, WrittenType>,
    /// Languages of the files that are sent to the program, alone or with their chunks; all languages if the list is
    /// empty.
    pub languages: Vec<String>,
    /// Rows that the program may drop.
    pub drops: DropRows,
    /// Configuration that is passed to the program unchanged.
    pub config: serde_json::Map<String, serde_json::Value>,
    /// Version of the program. The author must change it when the same input gives a different output.
    pub version: String,
    /// Files and directories that belong to the program, in addition to the files in `command`.
    pub files: Vec<String>,
    /// Files that the output depends on.
    pub inputs: Vec<String>,
    /// Names of environment variables that are passed to the program.
    pub env: Vec<String>,
    /// Maximum time to wait for an answer, in seconds.
    pub timeout: u64,
    /// Maximum number of restarts of the program in one run.
    pub max_restarts: u32,
    /// Maximum memory in bytes for the data of a process, if the system supports a limit.
    pub memory: ByteSize,
    /// Maximum number of messages in flight to a process.
    pub in_flight: usize,
    /// Maximum number of rows in a message. Each message contains at most about 1 MiB of values.
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
        Key::strings("languages", "Languages of the files that it gets, or whose chunks it gets; all if empty."),
        Key::one_of("drops", DropRows::NAMES, "Rows that the program may drop."),
        Key::table("config", "Passed to the program unchanged."),
        Key::string("version", "Version that the author raises when the same input gives another output."),
        Key::strings("files", "Files and directories of the program, in addition to the files that the command names."),
        Key::strings("inputs", "Files that the output depends on: the stage runs again when one changes."),
        Key::strings("env", "Names of environment variables that the program gets."),
        Key::count_up("timeout", "seconds", "Maximum time without an answer."),
        Key::count("max_restarts", "restarts", "Maximum number of restarts of the program in one run."),
        Key::size("memory", "Maximum memory for the data of a process, if the system can limit it."),
        Key::count_up_to(
            "in_flight",
            MAX_IN_FLIGHT,
            "messages",
            "Maximum number of messages that a process receives before it answers.",
        ),
        Key::count_up_to(
            "rows",
            MAX_ROWS,
            "rows",
            "Maximum number of rows in a message. A message carries at most about 1 MiB of values.",
        ),
    ];
}

pub(super) const MAX_IN_FLIGHT: usize = 64;
pub(super) const MAX_ROWS: usize = 65_536;

impl Process {
    /// Reports mistakes in the keys that describe how the program is run.
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
