//! Automatic maintenance, at most once a day.

use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{DAY, MaintenanceOptions, MaintenanceReport, Policy};
use crate::directory::{LogDirectory, make_private};
use crate::error::LogError;

/// Name of the file that is written when maintenance begins. The modification time of the file is the time of the last
/// maintenance.
const STAMP: &str = ".maintained";

impl LogDirectory {
    /// Runs maintenance, unless maintenance has begun within the last 24 hours. After `max_duration`, no new work is
    /// started. The remaining work is left to the next run, a day later.
    ///
    /// Logs that were modified within the last 24 hours are kept, even if their interactions are older. Otherwise,
    /// maintenance could remove a log that another process has just written for an old interaction.
    ///
    /// If the last maintenance is longer ago than the retention period, nothing is done, because a wrong clock would
    /// otherwise remove all logs. The user can run [`LogDirectory::maintain`] instead.
    ///
    /// # Errors
    /// Fails like [`LogDirectory::maintain`].
    pub fn maintain_daily(
        &self,
        policy: Policy,
        now: Timestamp,
        max_duration: Duration,
    ) -> Result<Option<MaintenanceReport>, LogError> {
        if !self.is_due(now)? {
            return Ok(None);
        }
        if let Some(last) = self.last_maintenance()?
            && policy.retention_days > 0
            && now.duration_since(last) > DAY * i32::try_from(policy.retention_days).unwrap_or(i32::MAX)
        {
            let report = MaintenanceReport { withheld_since: Some(last), ..MaintenanceReport::default() };
            return Ok(Some(report));
        }
        {
            let _names = self.lock()?;
            // Another process may have run maintenance in the meantime.
            if !self.is_due(now)? {
                return Ok(None);
            }
            self.note_maintenance()?;
        }
        let deadline = Some(Instant::now() + max_duration);
        let options = MaintenanceOptions { now, is_rehearsal: false, deadline, spares_recent: true };
        self.maintain(policy, options, &mut |_, _| {}).map(Some)
    }

    /// Records the current time of the file system as the time of the last maintenance.
    ///
    /// # Errors
    /// Fails if the directory cannot be written.
    pub fn note_maintenance(&self) -> Result<(), LogError> {
        let stamp = self.root().replace(STAMP, |file| make_private(file));
        stamp.map_err(LogError::io("write", self.path().join(STAMP)))
    }

    fn is_due(&self, now: Timestamp) -> Result<bool, LogError> {
        // The absolute value is used, because a wrong clock may have recorded a time far in the future.
        Ok(self.last_maintenance()?.is_none_or(|last| now.duration_since(last).abs() >= DAY))
    }

    fn last_maintenance(&self) -> Result<Option<Timestamp>, LogError> {
        match self.root().metadata(STAMP) {
            Ok(metadata) => {
                let time = Timestamp::from_nanosecond(metadata.modified.into());
                Ok(Some(time.unwrap_or(Timestamp::UNIX_EPOCH)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(LogError::io("read", self.path().join(STAMP))(error)),
        }
    }
}
