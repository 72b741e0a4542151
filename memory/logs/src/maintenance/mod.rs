//! Compressing old logs and removing those beyond the retention.
//!
//! A log is compressed aside, synchronised, renamed, and only then removed. A process that is killed leaves the log, or the log
//! and its compressed copy with the same content, or the copy; the next run removes what is too much. Only logs in the
//! directory of a month are ever removed, and unfinished files that nobody writes any more.

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
use crate::draft::{is_draft, remove_left_behind};
use crate::error::{LogError, UnreadLog};
use crate::layout::{DateRange, LogFile, Month, PACKED, PLAIN};

const DAY: SignedDuration = SignedDuration::from_hours(24);

/// When logs are compressed and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Logs of more days ago are removed; 0 keeps them for ever.
    pub retention_days: u32,
    /// Logs of more days ago are compressed; 0 leaves them as they are.
    pub compress_after_days: u32,
}

/// How maintenance runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MaintenanceOptions {
    /// The time from which ages are counted.
    pub now: Timestamp,
    /// Change nothing, and say what would be done.
    pub is_rehearsal: bool,
    /// Begin nothing more after this.
    pub deadline: Option<Instant>,
    /// Leave logs alone that were modified less than a day before `now`, whatever day is in their names.
    pub spares_recent: bool,
}

/// What is done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It is compressed.
    Compress,
    /// It is beyond the retention, and removed.
    Remove,
    /// It is a compressed copy of a log that is there too, which a killed process has left behind, and removed.
    RemoveCopy,
    /// It is an unfinished file of a process that was killed, and removed.
    RemoveUnfinished,
}

/// What was done, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MaintenanceReport {
    /// Logs that were compressed.
    pub compressed: u64,
    /// Bytes of these before. 0 in a rehearsal.
    pub bytes_before: u64,
    /// Bytes of these after.
    pub bytes_after: u64,
    /// Logs that were removed.
    pub removed: u64,
    /// Compressed copies that were removed beside their logs.
    pub copies_removed: u64,
    /// Unfinished files that were removed.
    pub unfinished_removed: u64,
    /// Logs that stay as they are.
    pub kept: u64,
    /// Files and directories that could not be read, or changed, and were left alone.
    pub unread: Vec<UnreadLog>,
    /// Whether all was done before the deadline.
    pub complete: bool,
    /// The time of the last maintenance, if it is too long ago for maintenance without a request: nothing was done.
    #[serde(skip)]
    pub withheld_since: Option<Timestamp>,
}

impl LogDirectory {
    /// Compresses and removes logs as the policy says. `on_action` is told of every file, before or after it is done.
    ///
    /// The age of a log is that of the day in its name, in whole days of UTC, or else that of its modification time.
    ///
    /// # Errors
    /// The directory cannot be read. A file that cannot be read or changed is a part of the report.
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
        // The oldest first, as they are the ones to be removed.
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
        for log in self.logs.logs_of(month)? {
            if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.report.complete = false;
                return Ok(());
            }
            match self.log(&directory, &log) {
                // Somebody has removed it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.unread(log.path(), &error),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    fn unfinished(&mut self, directory: &Directory, month: Month, name: &str) {
        let path = format!("{month}/{name}");
        match remove_left_behind(directory, name, self.options.is_rehearsal) {
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

    /// Whole days since the day of the log.
    fn age(&self, directory: &Directory, log: &LogFile) -> io::Result<i64> {
        let day = match log.day() {
            Some(day) => day,
            None => self.modified(directory, log)?.to_zoned(TimeZone::UTC).date(),
        };
        Ok(self.today.duration_since(day).as_secs() / 86_400)
    }

    /// Whether the log is left alone because it was just written. A time far in the future was written while the clock was wrong.
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
            forms.iter().filter(|(is_there, _)| *is_there).map(|(_, ending)| format!("{}{ending}", log.name)).collect();
        for file in &files {
            // What cannot be read is left alone.
            drop(directory.open_file(file)?);
        }
        if !self.options.is_rehearsal {
            let _names = self.logs.try_lock()?;
            // Somebody may have removed it and written another one of the same name meanwhile.
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
            return Err(io::Error::other("it has a compressed copy with another content; both are left as they are"));
        }
        if !self.options.is_rehearsal {
            let _names = self.logs.try_lock()?;
            // Somebody may have compressed or extended it meanwhile.
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
