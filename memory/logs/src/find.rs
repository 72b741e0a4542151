//! Finds a log by its name or by the id of its interaction. Given names and ids are only compared, and never used as
//! paths.

use crate::directory::LogDirectory;
use crate::error::{LogError, UnreadLog};
use crate::layout::{DateRange, LogFile, PACKED, PLAIN};

/// Maximum number of candidates that a search returns.
const MAX_CANDIDATES: usize = 20;

/// The result of a search by name or id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one log matches.
    One(LogFile),
    /// Several logs match. Contains the number of matching logs and the first candidates.
    Several(usize, Vec<Candidate>),
    /// No log matches.
    Nothing,
}

/// A log that matches a name or an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The log.
    pub log: LogFile,
    /// The id of the interaction; `None` if the log was found by name, or has no id.
    pub id: Option<String>,
}

impl LogDirectory {
    /// Finds a log by its name, with or without the month and the extension. If no name matches, finds a log by its id,
    /// and otherwise by a prefix of its name or id.
    ///
    /// A log whose header cannot be read has no id. Calls `unread` for every such log, and for every directory that
    /// cannot be read.
    ///
    /// # Errors
    /// Fails if the directory cannot be read.
    pub fn find(&self, given: &str, unread: &mut dyn FnMut(UnreadLog)) -> Result<Found, LogError> {
        let (month, name) = given.rsplit_once('/').map_or((None, given), |(month, name)| (Some(month), name));
        let name = name.strip_suffix(PACKED).or_else(|| name.strip_suffix(PLAIN)).unwrap_or(name);
        let is_in_month = |log: &LogFile| month.is_none_or(|month| month == log.month.to_string());
        if name.is_empty() {
            return Ok(Found::Nothing);
        }
        let mut by_name = Matches::default();
        for file in self.files(DateRange::default())? {
            if let Ok(log) = file
                && log.name == name
                && is_in_month(&log)
            {
                by_name.push(log, None);
            }
        }
        if by_name.count > 0 {
            return Ok(by_name.into_found());
        }
        let (mut by_id, mut by_prefix) = (Matches::default(), Matches::default());
        for file in self.files(DateRange::default())? {
            let log = match file {
                Ok(log) => log,
                Err(problem) => {
                    unread(problem);
                    continue;
                }
            };
            if !is_in_month(&log) {
                continue;
            }
            let id = match self.header(&log) {
                Ok(header) => header.id,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => {
                    unread(UnreadLog::new(log.path(), &error));
                    None
                }
            };
            if id.as_deref() == Some(given) {
                by_id.push(log, id);
            } else if log.name.starts_with(name) || id.as_deref().is_some_and(|id| id.starts_with(given)) {
                by_prefix.push(log, id);
            }
        }
        Ok(if by_id.count > 0 { by_id } else { by_prefix }.into_found())
    }
}

#[derive(Default)]
struct Matches {
    count: usize,
    first: Vec<Candidate>,
}

impl Matches {
    fn push(&mut self, log: LogFile, id: Option<String>) {
        self.count += 1;
        if self.first.len() < MAX_CANDIDATES {
            self.first.push(Candidate { log, id });
        }
    }

    fn into_found(mut self) -> Found {
        match (self.count, self.first.pop()) {
            (1, Some(only)) => Found::One(only.log),
            (count, Some(last)) => {
                self.first.push(last);
                Found::Several(count, self.first)
            }
            (_, None) => Found::Nothing,
        }
    }
}
