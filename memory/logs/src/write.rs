//! Writes new logs.

use std::io::{self, BufWriter, Read, Write};
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::copy::{CopyError, copy_body};
use crate::directory::LogDirectory;
use crate::document;
use crate::draft::Draft;
use crate::error::LogError;
use crate::interaction::Interaction;
use crate::keywords::keywords;
use crate::layout::{LogFile, Month, PACKED, PLAIN, numbered_name};
use crate::query_id::QueryId;
use crate::reader::Lines;

/// Maximum number that is tried for the name of a log.
const MAX_NAME_NUMBER: u32 = 100_000;

/// The content of a new log.
pub enum LogText<'a> {
    /// An interaction.
    Interaction(Interaction),
    /// The conversation of a session. If the log of the same first prompt has the same id, and nothing was
    /// appended to it, it is replaced, because clients can end a session several times.
    Session(Interaction),
    /// Markdown that is stored verbatim after the header.
    Markdown {
        /// The query of the user.
        query: String,
        /// The id of the interaction. If it is `None`, an id is generated.
        id: Option<QueryId>,
        /// The time at which the interaction began. If it is `None`, the current time is used.
        time: Option<Timestamp>,
        /// A reader for the text. The text is streamed, so it does not have to fit in memory.
        body: &'a mut dyn Read,
    },
}

/// The id and location of a log that was written durably.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The id of the interaction.
    pub id: QueryId,
    /// The path of the log relative to the log directory, with `/` as separator.
    pub file: String,
    /// The full path of the log.
    pub path: PathBuf,
}

impl LogDirectory {
    /// Writes a new log. Its name consists of up to `keyword_count` keywords of the query and the day of the
    /// interaction in UTC. If another log has this name, a number is added. The log is durable when this function
    /// returns. Readers do not see the log before it is complete.
    ///
    /// # Errors
    /// Fails if the text cannot be read or the log cannot be written.
    pub fn write(&self, text: LogText<'_>, keyword_count: usize) -> Result<Written, LogError> {
        let (query, id, time) = match &text {
            LogText::Interaction(Interaction { query, id, time, .. })
            | LogText::Session(Interaction { query, id, time, .. }) => (query, id, time),
            LogText::Markdown { query, id, time, .. } => (query, id, time),
        };
        // The current time is rounded down to whole seconds, as in the examples in the documentation.
        let now = || Timestamp::from_second(aurora_clock::now_seconds()).unwrap_or(Timestamp::UNIX_EPOCH);
        let time = time.unwrap_or_else(now);
        let id = id.clone().map_or_else(|| QueryId::random(time), Ok)?;
        let words = keywords(query, keyword_count);
        let is_session = matches!(text, LogText::Session(_));
        let header = document::header(time, &id, query, &words);
        let day = time.to_zoned(TimeZone::UTC).date();
        let month = Month::from_date(day);
        let directory = self.create_month(month)?;
        let at_month = || self.path().join(month.to_string());
        let mut draft = Draft::create(&directory).map_err(LogError::io("write in", at_month()))?;
        write_text(&mut draft, &header, text).map_err(|error| error.at("write in", &at_month()))?;
        draft.synchronise().map_err(LogError::io("synchronise", at_month()))?;
        let _names = self.lock()?;
        for number in 1..=MAX_NAME_NUMBER {
            let name = numbered_name(&words, day, number);
            let file = format!("{name}{PLAIN}");
            let path = at_month().join(&file);
            let packed_exists = directory.contains(format!("{name}{PACKED}"));
            let log = LogFile { month, name, is_plain: true, is_packed: false };
            if is_session && self.is_unchanged(&log, &id).unwrap_or_default() {
                draft.replace(&file).map_err(LogError::io("replace", &path))?;
                return Ok(Written { id, file: format!("{month}/{file}"), path });
            }
            let published = packed_exists.and_then(|exists| if exists { Ok(false) } else { draft.publish(&file) });
            if published.map_err(LogError::io("create", &path))? {
                return Ok(Written { id, file: format!("{month}/{file}"), path });
            }
        }
        Err(LogError::NoName(at_month()))
    }

    /// Returns whether a log has the id, and nothing was appended to it.
    fn is_unchanged(&self, log: &LogFile, id: &QueryId) -> io::Result<bool> {
        if self.header(log)?.id.as_deref() != Some(id.as_str()) {
            return Ok(false);
        }
        let mut lines = Lines::new(self.read(log)?);
        while let Some((_, line)) = lines.read()? {
            if line.starts_with(document::ADDITION.as_bytes()) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn write_text(draft: &mut Draft, header: &str, text: LogText<'_>) -> Result<(), CopyError> {
    let mut out = BufWriter::new(draft.file());
    out.write_all(header.as_bytes()).map_err(CopyError::Log)?;
    match text {
        LogText::Interaction(interaction) | LogText::Session(interaction) => {
            let sections = document::sections(&interaction.sections, 0);
            out.write_all(sections.as_bytes()).map_err(CopyError::Log)?;
            out.write_all(document::END.as_bytes()).map_err(CopyError::Log)?;
        }
        LogText::Markdown { body, .. } => copy_body(body, &mut out)?,
    }
    out.flush().map_err(CopyError::Log)
}
