//! `aur logs view`: prints a log unchanged or section by section.

use std::io::{self, IsTerminal, Write};

use aurora_logs::{LogDirectory, LogFile, LogHeader, SectionText};
use serde::Serialize;

use crate::commands::logs::args::LogFormat;
use crate::commands::logs::place;
use crate::commands::logs::rows::Rows;
use crate::context::{Failure, Outcome, Program};
use crate::output::{json, sanitize};

pub(super) fn run(given: &str, format: LogFormat, program: &Program) -> Outcome {
    let (logs, log) = place::find(given, &program.terminal)?;
    let mut out = program.terminal.stdout();
    match format {
        LogFormat::Text => print(&logs, &log, &mut out)?,
        LogFormat::Jsonl => {
            let mut rows = Rows::new(&mut out, false);
            for_each_section(&logs, &log, |section| rows.push(&section))?;
        }
        LogFormat::Json => write_object(&logs, &log, &mut out)?,
    }
    Ok(out.flush()?)
}

/// Prints the decompressed bytes of the log. On a terminal, prints its lines with control characters as symbols.
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

/// Copies the text, and distinguishes read errors from write errors.
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

/// The metadata of a log, as JSON.
#[derive(Serialize)]
struct ViewedLog {
    file: String,
    id: Option<String>,
    time: Option<String>,
    query: Option<String>,
    keywords: Vec<String>,
}

/// Writes one object whose last key is the list of sections. Only one section is in memory at a time.
fn write_object(logs: &LogDirectory, log: &LogFile, out: &mut impl Write) -> Outcome {
    let LogHeader { time, id, query, keywords } = logs.header(log).map_err(unread(log))?;
    let viewed = ViewedLog { file: log.path(), id, time: time.map(|time| time.to_string()), query, keywords };
    let mut head = Vec::new();
    json::write_line(&mut head, &viewed)?;
    let head = head.trim_ascii_end();
    out.write_all(head.strip_suffix(b"}").unwrap_or(head))?;
    out.write_all(b",\"sections\":")?;
    let mut rows = Rows::new(&mut *out, true);
    for_each_section(logs, log, |section| rows.push(&section))?;
    rows.finish()?;
    Ok(out.write_all(b"}\n")?)
}

fn for_each_section(
    logs: &LogDirectory,
    log: &LogFile,
    mut write: impl FnMut(SectionText) -> io::Result<()>,
) -> Outcome {
    let mut failed = None;
    let mut take = |section| {
        failed = write(section).err();
        failed.is_none()
    };
    logs.sections(log, &mut take).map_err(unread(log))?;
    failed.map_or(Ok(()), |error| Err(error.into()))
}

/// Returns a function that makes the failure for a log that cannot be read.
fn unread(log: &LogFile) -> impl FnOnce(io::Error) -> Failure {
    let file = log.path();
    move |error| place::unread_failure(&file, &error)
}
