//! The configuration of stages with `use = "process"`.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_pipeline::{ByteSize, Problems, stage_options};

use crate::declaration::{Declaration, DropRows, WrittenType};

stage_options! {
    /// Runs a program that fills custom columns or drops rows; see the guide to custom stages.
    pub struct Process {
        /// The program and its arguments. A program without a `/` is looked up in `PATH`. Other relative paths start
        /// at the root of the project.
        command: Vec<String> = Vec::new(), strings;
        /// Columns that the program receives.
        reads: Vec<String> = Vec::new(), strings;
        /// Columns that the program fills: `name = "type"`, or a table with `type`, `filter`, `terms`, `embed` and
        /// `boost`.
        writes: BTreeMap<String, WrittenType> = BTreeMap::new(), table;
        /// Languages of the files whose rows the program receives; all languages if empty.
        languages: Vec<String> = Vec::new(), strings;
        /// Rows that the program may drop.
        drops: DropRows = DropRows::None, one_of(DropRows::NAMES);
        /// Configuration that is passed to the program unchanged.
        config: serde_json::Map<String, serde_json::Value> = serde_json::Map::new(), table;
        /// Version of the program. Its author must change it when the same input gives a different output.
        version: String = String::new(), string;
        /// Files and directories of the program, in addition to the files that the command names. The stage runs
        /// again when one of them changes.
        files: Vec<String> = Vec::new(), strings;
        /// Files that the output depends on. The stage runs again when one of them changes.
        inputs: Vec<String> = Vec::new(), strings;
        /// Names of environment variables that are passed to the program.
        env: Vec<String> = Vec::new(), strings;
        /// Maximum time to wait for an answer.
        timeout: u64 = 60, count_up("seconds");
        /// Maximum number of restarts of the program in one run.
        max_restarts: u32 = 10, count("restarts");
        /// Maximum memory for the data of a process, if the system can limit it.
        memory: ByteSize = ByteSize(2 << 30), size;
        /// Maximum number of unanswered messages to a process.
        in_flight: usize = 4, count_up_to(MAX_IN_FLIGHT, "messages");
        /// Maximum number of rows in a message. A message carries at most about 1 MiB of values.
        rows: usize = 256, count_up_to(MAX_ROWS, "rows");
    }
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
