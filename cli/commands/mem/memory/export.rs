//! `aur mem export --memory`: writes the entries of a memory as lines of JSON.

use std::io::{self, Write};
use std::path::Path;

use aurora_memory::{Memory, MemoryError, Owner};
use serde_json::json;

use crate::commands::mem::export::{ExportArgs, check_target};
use crate::context::args::ReportFormat;
use crate::context::failure::{Failure, Outcome};
use crate::context::memories::{failure, owned};
use crate::context::place;
use crate::context::program::Program;
use crate::output::{json as written, sanitize, units};

/// Writes the entries to a file or to standard output.
pub(crate) fn run(args: &ExportArgs, owner: Owner, program: &Program) -> Outcome {
    let root = place::for_search(args.root.as_deref())?;
    let memory = owned(owner, &root)?;
    let file = match args.file.as_deref() {
        Some(file) if file != Path::new("-") => file,
        _ => return to_stdout(&memory, program),
    };
    check_target(file, &root)?;
    let entries = memory.export_to(file).map_err(failure)?;
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => written::write_indented(&mut out, &json!({ "entries": entries }))?,
        ReportFormat::Text => {
            let file = sanitize::line(&file.display().to_string());
            writeln!(out, "Exported {} to {file}", units::counted(entries, "entry"))?;
        }
    }
    Ok(out.flush()?)
}

fn to_stdout(memory: &Memory, program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    let name = Path::new("standard output");
    let exported = memory.export(&mut SafeJson { out: &mut out, rest: Vec::new() }, name);
    let entries = exported.map_err(|error| match error {
        MemoryError::Io { source, .. } => Failure::from(source),
        error => failure(error),
    })?;
    out.flush()?;
    program.terminal.note(&format!("exported {}", units::counted(entries, "entry")));
    Ok(())
}

/// Writes JSON and escapes every character that a terminal could act on. The data stays the same.
struct SafeJson<W> {
    out: W,
    /// The first bytes of an incomplete UTF-8 character.
    rest: Vec<u8>,
}

impl<W: Write> Write for SafeJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let after = self.rest.split_off(whole);
        let text = String::from_utf8_lossy(&self.rest);
        let mut written = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| *c != '\n' && sanitize::is_unsafe(*c)) {
            self.out.write_all(&text.as_bytes()[written..at])?;
            write!(self.out, "\\u{:04x}", u32::from(c))?;
            written = at + c.len_utf8();
        }
        self.out.write_all(&text.as_bytes()[written..])?;
        self.rest = after;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_control_characters_are_escaped() {
        let text = "{\"a\":\"\u{7f}ü\u{9b}日\u{202e}\"}\n";
        let mut out = Vec::new();
        let mut safe = SafeJson { out: &mut out, rest: Vec::new() };
        text.as_bytes().chunks(1).for_each(|byte| safe.write_all(byte).expect("memory can be written"));
        let written = String::from_utf8(out).expect("text");
        assert_eq!(written, "{\"a\":\"\\u007fü\\u009b日\\u202e\"}\n");
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(parse(&written), parse(text));
    }
}
