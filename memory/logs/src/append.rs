//! Appends text to an existing log. The bytes of the existing text are not changed.

use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::PathBuf;

use aurora_confined::Directory;
use jiff::Timestamp;
use serde::Serialize;

use crate::copy::{CopyError, copy_body};
use crate::directory::{LogDirectory, remove_file};
use crate::document;
use crate::draft::Draft;
use crate::error::LogError;
use crate::heading::{SectionTracker, is_title};
use crate::interaction::Sections;
use crate::layout::{LogFile, PACKED, PLAIN};
use crate::reader::{LogReader, MAX_LINE_BYTES};

/// The content to append to a log.
pub enum AddedText<'a> {
    /// Phases, exchanges, a response and a summary.
    Sections(Sections),
    /// Markdown that is stored verbatim in a new section.
    Markdown {
        /// The heading of the section.
        section: &'a str,
        /// A reader for the text. The text is streamed, so it does not have to fit in memory.
        body: &'a mut dyn Read,
    },
}

/// The location of text that was appended durably.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Appended {
    /// The path of the log relative to the log directory, with `/` as separator.
    pub file: String,
    /// The full path of the log.
    pub path: PathBuf,
    /// The line number of the heading that precedes the appended text, from 1.
    pub line: u64,
}

impl LogDirectory {
    /// Appends text to the end of a log.
    ///
    /// The extended log is written to a new file, which atomically replaces the log. A reader sees either the old log
    /// or the new log, even if the process is killed. A compressed log is replaced with an uncompressed log, which
    /// maintenance compresses again.
    ///
    /// # Errors
    /// Fails if the log or the text cannot be read, the section name is invalid, or the log cannot be written.
    pub fn append(&self, log: &LogFile, text: AddedText<'_>, time: Timestamp) -> Result<Appended, LogError> {
        if let AddedText::Markdown { section, .. } = &text
            && !is_title(section)
        {
            return Err(LogError::SectionName);
        }
        let file = format!("{}{PLAIN}", log.name);
        let path = self.path().join(log.month.to_string()).join(&file);
        let io = |action| LogError::io(action, &path);
        let month = self.month(log.month).map_err(io("open"))?;
        // The lock prevents other processes from compressing, removing or extending the log.
        let _names = self.lock()?;
        let (old, was_packed) = open(&month, &log.name).map_err(io("read"))?;
        let mut draft = Draft::create(&month).map_err(io("write"))?;
        let line = write_extended(old, &mut draft, text, time).map_err(|error| error.at("write", &path))?;
        draft.synchronise().map_err(io("synchronise"))?;
        draft.replace(&file).map_err(io("replace"))?;
        if was_packed {
            let removed = remove_file(&month, &format!("{}{PACKED}", log.name)).and_then(|()| month.synchronise());
            removed.map_err(io("remove the compressed copy of"))?;
        }
        Ok(Appended { file: format!("{}/{file}", log.month), path, line })
    }
}

/// Opens a log. Also returns whether the log is compressed.
fn open(month: &Directory, name: &str) -> io::Result<(LogReader, bool)> {
    match LogReader::open_plain(month, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((LogReader::open_packed(month, name)?, true)),
        opened => Ok((opened?, false)),
    }
}

/// Writes the existing log and the appended text to a draft. Returns the line number of the heading of the appended
/// text.
fn write_extended(old: LogReader, draft: &mut Draft, text: AddedText<'_>, time: Timestamp) -> Result<u64, CopyError> {
    let mut out = BufWriter::new(draft.file());
    let end = copy_log(old, &mut out)?;
    let mut addition = end.closing;
    addition.push_str(&document::addition_heading(time));
    // An empty line precedes the heading of the appended text.
    let line = end.lines + 2;
    match text {
        AddedText::Sections(sections) => {
            addition.push_str(&document::sections(&sections, end.last_phase));
            addition.push_str(document::END);
            out.write_all(addition.as_bytes()).map_err(CopyError::Log)?;
        }
        AddedText::Markdown { section, body } => {
            addition.push_str(&document::section_heading(section));
            out.write_all(addition.as_bytes()).map_err(CopyError::Log)?;
            copy_body(body, &mut out)?;
        }
    }
    out.flush().map_err(CopyError::Log)?;
    Ok(line)
}

/// The state at the end of a log.
struct LogEnd {
    /// Number of lines, including the lines in `closing`.
    lines: u64,
    /// The number of the last phase, or 0 if there is no phase.
    last_phase: u32,
    /// The text that ends an unfinished last line and closes an open fenced block; empty if neither is necessary.
    closing: String,
}

/// Copies the text of a log to `out`. Returns the state at the end of the log.
fn copy_log(mut old: LogReader, out: &mut impl Write) -> Result<LogEnd, CopyError> {
    let mut tracker = SectionTracker::default();
    let (mut line, mut lines, mut last_phase) = (Vec::new(), 0, 0);
    let mut process = |line: &mut Vec<u8>| {
        let phase = tracker.line(line).and_then(|section| section.phase);
        last_phase = phase.unwrap_or(last_phase);
        lines += 1;
        line.clear();
    };
    loop {
        let buffer = match old.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            filled => filled.map_err(CopyError::Log)?,
        };
        if buffer.is_empty() {
            break;
        }
        out.write_all(buffer).map_err(CopyError::Log)?;
        for part in buffer.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = MAX_LINE_BYTES.saturating_sub(line.len());
            line.extend_from_slice(&text[..text.len().min(room)]);
            if part.len() > text.len() {
                process(&mut line);
            }
        }
        let used = buffer.len();
        old.consume(used);
    }
    let mut closing = String::new();
    if !line.is_empty() {
        process(&mut line);
        closing.push('\n');
    }
    if let Some(fence) = tracker.closing_fence() {
        lines += 1;
        closing.push_str(&fence);
        closing.push('\n');
    }
    Ok(LogEnd { lines, last_phase, closing })
}
