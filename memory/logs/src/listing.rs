//! Lists logs, newest first. Only the names of one month and the headers of one day are in memory at the same time.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::vec;

use aurora_confined::EntryKind;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Serialize, Serializer};

use crate::directory::LogDirectory;
use crate::error::{LogError, UnreadLog};
use crate::header::{HeaderReader, LogHeader};
use crate::layout::{DateRange, LogFile, Month, parse_file_name};
use crate::reader::Lines;

/// Maximum number of bytes that are read from a log to find its header.
const MAX_HEADER_BYTES: u64 = 256 << 10;

impl LogDirectory {
    /// Iterates over the logs in a range. Newer days come first, and the logs of a day are sorted by name. Yields an
    /// error for each directory that cannot be listed.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn files(&self, range: DateRange) -> Result<LogFiles<'_>, LogError> {
        let (months, unread) = self.months(&range)?;
        Ok(LogFiles {
            logs: self,
            range,
            months: months.into_iter(),
            unread: unread.into_iter(),
            month: Vec::new().into_iter(),
        })
    }

    /// Iterates over the logs in a range, with their headers. Newer days come first, and within a day, later times come
    /// first.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn summaries(&self, range: DateRange) -> Result<Summaries<'_>, LogError> {
        let files = self.files(range)?;
        Ok(Summaries { logs: self, files, next: None, unread: Vec::new(), day: Vec::new().into_iter() })
    }

    /// Reads the header of a log.
    ///
    /// # Errors
    /// Fails if the log cannot be read.
    pub fn header(&self, log: &LogFile) -> io::Result<LogHeader> {
        let mut lines = Lines::new(self.read(log)?.take(MAX_HEADER_BYTES));
        let mut header = HeaderReader::default();
        while let Some((_, line)) = lines.read()? {
            if !header.line(line) {
                break;
            }
        }
        Ok(header.finish())
    }

    /// Returns the logs of a month, sorted by name.
    pub(crate) fn logs_in_month(&self, month: Month) -> io::Result<Vec<LogFile>> {
        let directory = self.month(month)?;
        // Without the lock, the listing could miss a log whose plain file is being replaced with a compressed file, or
        // the reverse.
        let mut names = self.lock_shared();
        let mut entries = directory.entries()?;
        if names.is_none() {
            // If the lock file did not exist, the directory was listed without a lock. Another process may have created
            // the lock file in the meantime and begun to change names. In this case, list the directory again.
            names = self.lock_shared();
            if names.is_some() {
                entries = directory.entries()?;
            }
        }
        drop(names);
        let mut logs = BTreeMap::new();
        for (entry, kind) in &entries {
            let parsed = entry.to_str().filter(|_| *kind == EntryKind::File).and_then(parse_file_name);
            let Some((name, is_packed)) = parsed else { continue };
            let log = logs.entry(name).or_insert_with(|| LogFile {
                month,
                name: name.to_owned(),
                is_plain: false,
                is_packed: false,
            });
            log.is_plain |= !is_packed;
            log.is_packed |= is_packed;
        }
        Ok(logs.into_values().collect())
    }
}

/// An iterator over the logs in a range. See [`LogDirectory::files`].
#[derive(Debug)]
pub struct LogFiles<'d> {
    logs: &'d LogDirectory,
    range: DateRange,
    months: vec::IntoIter<Month>,
    unread: vec::IntoIter<UnreadLog>,
    /// The remaining logs of the current month.
    month: vec::IntoIter<LogFile>,
}

impl Iterator for LogFiles<'_> {
    type Item = Result<LogFile, UnreadLog>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(unread) = self.unread.next() {
                return Some(Err(unread));
            }
            if let Some(log) = self.month.next() {
                return Some(Ok(log));
            }
            let month = self.months.next()?;
            match self.logs.logs_in_month(month) {
                Ok(mut logs) => {
                    logs.retain(|log| log.is_in(&self.range));
                    logs.sort_by_cached_key(|log| (std::cmp::Reverse(log.day()), log.name.clone()));
                    self.month = logs.into_iter();
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Some(Err(UnreadLog::new(month.to_string(), &error))),
            }
        }
    }
}

/// Summary of a log for a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogSummary {
    /// The path of the log relative to the log directory, with `/` as separator.
    pub file: String,
    /// The id of the interaction.
    pub id: Option<String>,
    /// The time at which the interaction began.
    #[serde(serialize_with = "as_text")]
    pub time: Option<Timestamp>,
    /// The day in the name of the log.
    #[serde(serialize_with = "as_text")]
    pub day: Option<Date>,
    /// The query, truncated to 4096 bytes.
    pub query: Option<String>,
    /// The keywords of the query.
    pub keywords: Vec<String>,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Whether the file is compressed.
    pub compressed: bool,
}

fn as_text<T: ToString, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    value.as_ref().map(T::to_string).serialize(serializer)
}

/// An iterator over the summaries of the logs in a range. See [`LogDirectory::summaries`].
#[derive(Debug)]
pub struct Summaries<'d> {
    logs: &'d LogDirectory,
    files: LogFiles<'d>,
    /// The first log of the next day, which has been read from `files`.
    next: Option<LogFile>,
    unread: Vec<UnreadLog>,
    /// The remaining logs of the current day.
    day: vec::IntoIter<LogSummary>,
}

impl Summaries<'_> {
    /// Reads the headers of the next day.
    fn read_day(&mut self) {
        let mut day = Vec::new();
        let mut first = None;
        loop {
            let log = match self.next.take() {
                Some(log) => log,
                None => match self.files.next() {
                    Some(Ok(log)) => log,
                    Some(Err(unread)) => {
                        self.unread.push(unread);
                        break;
                    }
                    None => break,
                },
            };
            let day_of_log = (log.month, log.day());
            if *first.get_or_insert(day_of_log) != day_of_log {
                self.next = Some(log);
                break;
            }
            match self.summary(&log) {
                Ok(summary) => day.push(summary),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.unread.push(UnreadLog::new(log.path(), &error)),
            }
        }
        day.sort_by(|a, b| b.time.cmp(&a.time).then_with(|| a.file.cmp(&b.file)));
        self.day = day.into_iter();
    }

    fn summary(&self, log: &LogFile) -> io::Result<LogSummary> {
        let LogHeader { time, id, query, keywords } = self.logs.header(log)?;
        let bytes = self.logs.month(log.month)?.metadata(log.file_name())?.len;
        Ok(LogSummary { file: log.path(), id, time, day: log.day(), query, keywords, bytes, compressed: !log.is_plain })
    }
}

impl Iterator for Summaries<'_> {
    type Item = Result<LogSummary, UnreadLog>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(unread) = self.unread.pop() {
                return Some(Err(unread));
            }
            if let Some(summary) = self.day.next() {
                return Some(Ok(summary));
            }
            self.read_day();
            if self.day.len() == 0 && self.unread.is_empty() && self.next.is_none() {
                return None;
            }
        }
    }
}
