//! Input for log commands: a file or standard input.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use aurora_confined::open_regular;

use crate::context::{Failure, Outcome, Terminal};
use crate::output::units;

/// Maximum size of JSON input in bytes.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// Input of a log command.
pub(super) struct Input {
    /// Name in messages.
    name: String,
    pub(super) reader: Box<dyn Read>,
}

impl Input {
    /// Opens the given file, or standard input for `-` or `None`.
    pub(super) fn open(file: Option<&Path>, terminal: &Terminal) -> Outcome<Self> {
        match file.filter(|file| *file != Path::new("-")) {
            Some(path) => {
                let name = path.display().to_string();
                let file = open_regular(path).map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
                Ok(Self { name, reader: Box::new(file) })
            }
            None => {
                if io::stdin().is_terminal() {
                    terminal.note("reading from the terminal; Ctrl-D ends the input");
                }
                Ok(Self { name: "standard input".to_owned(), reader: Box::new(io::stdin()) })
            }
        }
    }

    /// Reads the whole input, which is JSON. Returns its name and its bytes.
    pub(super) fn read_json(self) -> Outcome<(String, Vec<u8>)> {
        let Self { name, reader } = self;
        let mut bytes = Vec::new();
        let read = reader.take(MAX_JSON_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
        if bytes.len() as u64 > MAX_JSON_BYTES {
            return Err(Failure::new(format!("{name} exceeds {} of JSON", units::bytes(MAX_JSON_BYTES)))
                .with_help("Markdown may be longer: use --query for a log, or --section for an addition"));
        }
        Ok((name, bytes))
    }
}
