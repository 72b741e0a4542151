//! The text that a log is written from: a file, or standard input.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Stdin};
use std::path::Path;

use aurora_confined::open_regular;

use crate::context::failure::{Failure, Outcome};
use crate::context::terminal::Terminal;
use crate::output::units;

/// Most bytes of JSON.
const MOST_JSON: u64 = 64 << 20;

/// Where a text comes from.
pub(super) struct Input {
    /// What messages call it.
    name: String,
    reader: Reader,
}

enum Reader {
    File(File),
    Stdin(Stdin),
}

impl Input {
    /// Opens the file that the user has named; standard input for `-` or none.
    pub(super) fn open(file: Option<&Path>, terminal: &Terminal) -> Outcome<Self> {
        match file.filter(|file| *file != Path::new("-")) {
            Some(path) => {
                let name = path.display().to_string();
                let file = open_regular(path).map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
                Ok(Self { name, reader: Reader::File(file) })
            }
            None => {
                if io::stdin().is_terminal() {
                    terminal.note("the text is read from the terminal; Ctrl-D ends it");
                }
                Ok(Self { name: "standard input".to_owned(), reader: Reader::Stdin(io::stdin()) })
            }
        }
    }

    /// All of it, as JSON.
    pub(super) fn json(self) -> Outcome<(String, Vec<u8>)> {
        let name = self.name.clone();
        let mut bytes = Vec::new();
        let read = self.take(MOST_JSON + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failure::new(format!("cannot read {name}: {error}")))?;
        if bytes.len() as u64 > MOST_JSON {
            return Err(Failure::new(format!("{name} has more than {} of JSON", units::bytes(MOST_JSON)))
                .with_help("Markdown may be longer: --query for a log, --section for an addition"));
        }
        Ok((name, bytes))
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.reader {
            Reader::File(file) => file.read(buffer),
            Reader::Stdin(stdin) => stdin.read(buffer),
        }
    }
}
