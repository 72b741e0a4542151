//! Maintenance compresses old logs and removes logs whose retention period is over.
//!
//! Compression writes a temporary file, synchronises it, renames it, and only then removes the plain file. If the
//! process is killed, the plain file, the compressed file, or both with the same content remain. The next run removes
//! the duplicate. Maintenance removes only logs in the directory of a month, and unfinished files that no process is
//! writing.

mod compress;
mod daily;
mod duplicate;

use std::io;
use std::time::Instant;

use aurora_confined::{Directory, EntryKind};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use crate::directory::{LogDirectory, remove_file};
use crate::draft::{is_draft, remove_abandoned};
use crate::error::{LogError, UnreadLog};
use crate::layout::{DateRange, LogFile, Month, PACKED, PLAIN};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The ages at which logs are compressed and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Age in days beyond which logs are removed; 0 to keep all logs.
    pub retention_days: u32,
    /// Age in days beyond which logs are compressed; 0 to compress no logs.
    pub compress_after_days: u32,
}

/// The options of a maintenance run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// The current time, from which the ages of logs are computed.
    pub now: Timestamp,
    /// Whether this is a dry run. A dry run changes nothing, and reports the changes that it would make.
    pub is_rehearsal: bool,
    /// The time after which no new work is started; `None` for no limit.
    pub deadline: Option<Instant>,
    /// Whether to skip logs that were modified less than a day before `now`, regardless of the day in their names.
    pub spares_recent: bool,
}

/// An action on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Compresses a log.
    Compress,
    /// Removes a log whose retention period is over.
    Remove,
    /// Removes the compressed copy of a log that a killed process left behind.
    RemoveCopy,
    /// Removes an unfinished file that a killed process left behind.
    RemoveUnfinished,
}

/// The result of a maintenance run, or of a dry run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MaintenanceReport {
    /// Number of logs that were compressed.
    pub compressed: u64,
    /// Total size of the compressed logs before compression, in bytes; 0 in a dry run.
    pub bytes_before: u64,
    /// Total size of the compressed logs after compression, in bytes; 0 in a dry run.
    pub bytes_after: u64,
    /// Number of logs that were removed.
    pub removed: u64,
    /// Number of compressed copies that were removed because the plain file also exists.
    pub copies_removed: u64,
    /// Number of unfinished files that were removed.
    pub unfinished_removed: u64,
    /// Number of logs that were neither compressed nor removed.
    pub kept: u64,
    /// Files and directories that could not be read or changed.
    pub unread: Vec<UnreadLog>,
    /// Whether the run has processed all logs. If `false`, the deadline was reached first.
    pub complete: bool,
    /// The time of the last maintenance, if automatic maintenance did nothing because that time is too long ago.
    #[serde(skip)]
    pub withheld_since: Option<Timestamp>,
}

impl LogDirectory {
    /// Compresses and removes logs according to the policy. Calls `on_action` for every action.
    ///
    /// The age of a log is the number of days from the day in its name to `options.now`, in UTC. If the name has no
    /// day, the modification time of the file determines the day.
    ///
    /// # Errors
    /// Fails if the log directory cannot be read. The report lists files and directories of months that cannot be read
    /// or changed.
    pub fn maintain(
        &self,
        policy: Policy,
        options: MaintenanceOptions,
        on_action: &mut dyn FnMut(Action, &str),
    ) -> Result<MaintenanceReport, LogError> {
        let (months, unread) = self.months(&DateRange::default())?;
        let today = options.now.to_zoned(TimeZone::UTC).date();
        let report = MaintenanceReport { unread, complete: true, ..MaintenanceReport::default() };
        let mut run = Run { logs: self, policy, options, today, report, on_action };
        // The oldest months come first, because they contain the logs to remove.
        for month in months.into_iter().rev() {
            match run.month(month) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => run.unread(month.to_string(), &error),
                _ => {}
            }
        }
        Ok(run.report)
    }
}

struct Run<'r> {
    logs: &'r LogDirectory,
    policy: Policy,
    options: MaintenanceOptions,
    today: Date,
    report: MaintenanceReport,
    on_action: &'r mut dyn FnMut(Action, &str),
}

impl Run<'_> {
    fn month(&mut self, month: Month) -> io::Result<()> {
        let directory = self.logs.month(month)?;
        for (name, kind) in directory.entries()? {
            if let Some(name) = name.to_str().filter(|name| kind == EntryKind::File && is_draft(name)) {
                self.unfinished(&directory, month, name);
            }
        }
        for log in self.logs.logs_in_month(month)? {
            if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.report.complete = false;
                return Ok(());
            }
            match self.log(&directory, &log) {
                // Another process has removed the log in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.unread(log.path(), &error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn unfinished(&mut self, directory: &Directory, month: Month, name: &str) {
        let path = format!("{month}/{name}");
        match remove_abandoned(directory, name, self.options.is_rehearsal) {
            Ok(true) => {
                self.report.unfinished_removed += 1;
                (self.on_action)(Action::RemoveUnfinished, &path);
            }
            Ok(false) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => self.unread(path, &error),
        }
    }

    fn log(&mut self, directory: &Directory, log: &LogFile) -> io::Result<()> {
        if self.is_spared(directory, log)? {
            self.report.kept += 1;
            return Ok(());
        }
        let age = self.age(directory, log)?;
        let is_beyond = |days: u32| days > 0 && age > i64::from(days);
        if is_beyond(self.policy.retention_days) {
            return self.remove(directory, log);
        }
        if log.is_plain && log.is_packed {
            self.remove_copy(directory, log)?;
        }
        if log.is_plain && is_beyond(self.policy.compress_after_days) {
            return self.compress(directory, log);
        }
        self.report.kept += 1;
        Ok(())
    }

    /// Returns the age of the log in whole days.
    fn age(&self, directory: &Directory, log: &LogFile) -> io::Result<i64> {
        let day = match log.day() {
            Some(day) => day,
            None => self.modified(directory, log)?.to_zoned(TimeZone::UTC).date(),
        };
        Ok(self.today.duration_since(day).as_secs() / 86_400)
    }

    /// Returns `true` if the log is skipped because it was modified less than a day ago. The absolute value is used,
    /// because a wrong clock may have set a modification time far in the future.
    fn is_spared(&self, directory: &Directory, log: &LogFile) -> io::Result<bool> {
        Ok(self.options.spares_recent && self.options.now.duration_since(self.modified(directory, log)?).abs() < DAY)
    }

    fn modified(&self, directory: &Directory, log: &LogFile) -> io::Result<Timestamp> {
        let modified = directory.metadata(log.file_name())?.modified;
        Ok(Timestamp::from_nanosecond(modified.into()).unwrap_or(self.options.now))
    }

    fn remove(&mut self, directory: &Directory, log: &LogFile) -> io::Result<()> {
        let forms = [(log.is_packed, PACKED), (log.is_plain, PLAIN)];
        let files: Vec<String> =
            forms.iter().filter(|(exists, _)| *exists).map(|(_, ending)| format!("{}{ending}", log.name)).collect();
        for file in &files {
            // Fails for a file that cannot be read, so that it is reported and not removed.
            drop(directory.open_file(file)?);
        }
        if !self.options.is_rehearsal {
            let _names = self.logs.try_lock()?;
            // Another process may have created a new log with the same name in the meantime.
            if self.is_spared(directory, log)? {
                self.report.kept += 1;
                return Ok(());
            }
            for file in &files {
                remove_file(directory, file)?;
            }
            directory.synchronise()?;
        }
        self.report.removed += 1;
        (self.on_action)(Action::Remove, &log.path());
        Ok(())
    }

    fn remove_copy(&mut self, directory: &Directory, log: &LogFile) -> io::Result<()> {
        let copy = format!("{}{PACKED}", log.name);
        if !duplicate::begins_with_copy(directory, &log.name)? {
            return Err(io::Error::other("its compressed copy has different content; both files were kept"));
        }
        if !self.options.is_rehearsal {
            let _names = self.logs.try_lock()?;
            // Another process may have compressed or extended the log in the meantime.
            if !duplicate::begins_with_copy(directory, &log.name)? {
                return Ok(());
            }
            remove_file(directory, &copy)?;
            directory.synchronise()?;
        }
        self.report.copies_removed += 1;
        (self.on_action)(Action::RemoveCopy, &format!("{}/{copy}", log.month));
        Ok(())
    }

    fn compress(&mut self, directory: &Directory, log: &LogFile) -> io::Result<()> {
        if self.options.is_rehearsal {
            drop(directory.open_file(log.file_name())?);
        } else {
            let Some(bytes) = compress::compress(self.logs, directory, &log.name)? else {
                self.report.kept += 1;
                return Ok(());
            };
            self.report.bytes_before += bytes.before;
            self.report.bytes_after += bytes.after;
        }
        self.report.compressed += 1;
        (self.on_action)(Action::Compress, &log.path());
        Ok(())
    }

    fn unread(&mut self, file: String, cause: &io::Error) {
        self.report.unread.push(UnreadLog::new(file, cause));
    }
}
