//! `aur logs view`: a log as it is, or section by section.

use std::io::{self, IsTerminal, Write};

use aurora_logs::{LogDirectory, LogFile, LogHeader, SectionText};
use serde::Serialize;

use crate::commands::logs::args::LogFormat;
use crate::commands::logs::rows::Rows;
use crate::commands::logs::{named, place};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::output::{json, sanitize};

/// Prints the log.
pub(super) fn run(given: &str, format: LogFormat, program: &Program) -> Outcome {
    let (logs, log) = named::find(given, program)?;
    let mut out = program.terminal.stdout();
    match format {
        LogFormat::Text => print(&logs, &log, &mut out)?,
        LogFormat::Jsonl => {
            let mut rows = Rows::new(&mut out, false);
            each_section(&logs, &log, |section| rows.push(&section))?;
        }
        LogFormat::Json => write_object(&logs, &log, &mut out)?,
    }
    Ok(out.flush()?)
}

/// Prints the bytes of the log, unpacked; on a terminal its lines, made safe.
pub(super) fn print(logs: &LogDirectory, log: &LogFile, out: &mut impl Write) -> Outcome {
    let mut text = logs.read(log).map_err(unread(log))?;
    if !io::stdout().is_terminal() {
        return copy(&mut text, out, log);
    }
    let mut lines = text.lines();
    while let Some((_, line)) = lines.read().map_err(unread(log))? {
        writeln!(out, "{}", sanitize::block(&String::from_utf8_lossy(line)))?;
    }
    Ok(())
}

/// Copies, and tells errors of reading from those of writing.
pub(super) fn copy(text: &mut impl io::BufRead, out: &mut impl Write, log: &LogFile) -> Outcome {
    loop {
        let buffer = match text.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled.map_err(unread(log))?,
        };
        if buffer.is_empty() {
            return Ok(());
        }
        out.write_all(buffer)?;
        let used = buffer.len();
        text.consume(used);
    }
}

/// What a log says about itself, as JSON.
#[derive(Serialize)]
struct ViewedLog {
    file: String,
    id: Option<String>,
    time: Option<String>,
    query: Option<String>,
    keywords: Vec<String>,
}

/// One object whose last key is the list of sections. A section is held at a time.
fn write_object(logs: &LogDirectory, log: &LogFile, out: &mut impl Write) -> Outcome {
    let LogHeader { time, id, query, keywords } = logs.header(log).map_err(unread(log))?;
    let viewed = ViewedLog { file: log.path(), id, time: time.map(|time| time.to_string()), query, keywords };
    let mut head = Vec::new();
    json::write_line(&mut head, &viewed)?;
    let head = head.trim_ascii_end();
    out.write_all(head.strip_suffix(b"}").unwrap_or(head))?;
    out.write_all(b",\"sections\":")?;
    let mut rows = Rows::new(&mut *out, true);
    each_section(logs, log, |section| rows.push(&section))?;
    rows.finish()?;
    Ok(out.write_all(b"}\n")?)
}

fn each_section(logs: &LogDirectory, log: &LogFile, mut write: impl FnMut(SectionText) -> io::Result<()>) -> Outcome {
    let mut failed = None;
    let mut take = |section| {
        failed = write(section).err();
        failed.is_none()
    };
    logs.sections(log, &mut take).map_err(unread(log))?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// A log that cannot be read. It may be gone by now.
fn unread(log: &LogFile) -> impl FnOnce(io::Error) -> Failure {
    let file = log.path();
    move |error| place::unread(&file, &error)
}
