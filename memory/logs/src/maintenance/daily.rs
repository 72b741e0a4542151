//! Maintenance at most once a day.

use std::io;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::{DAY, MaintenanceOptions, MaintenanceReport, Policy};
use crate::directory::{LogDirectory, make_private};
use crate::error::LogError;

/// Written when maintenance begins; its modification time is what counts.
const STAMP: &str = ".maintained";

impl LogDirectory {
    /// Does maintenance if none has begun within 24 hours; begins nothing more after `longest`. What is left is done a day later.
    /// Logs that were modified within 24 hours stay, however old their interactions are, so that a log is there when its writer
    /// has ended, whoever does maintenance.
    ///
    /// Does nothing if the last maintenance is older than the retention: after a jump of the clock it would remove all logs.
    /// [`LogDirectory::maintain`] does it on request.
    ///
    /// # Errors
    /// As for [`LogDirectory::maintain`].
    pub fn maintain_daily(
        &self,
        policy: Policy,
        now: Timestamp,
        longest: Duration,
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
            // Another process may have been faster.
            if !self.is_due(now)? {
                return Ok(None);
            }
            self.note_maintenance()?;
        }
        let deadline = Some(Instant::now() + longest);
        let options = MaintenanceOptions { now, is_rehearsal: false, deadline, spares_recent: true };
        self.maintain(policy, options, &mut |_, _| {}).map(Some)
    }

    /// Notes that maintenance was done now, by the clock of the file system.
    ///
    /// # Errors
    /// The directory cannot be written.
    pub fn note_maintenance(&self) -> Result<(), LogError> {
        let stamp = self.root().replace(STAMP, |file| make_private(file));
        stamp.map_err(LogError::io("write", self.path().join(STAMP)))
    }

    fn is_due(&self, now: Timestamp) -> Result<bool, LogError> {
        // A time far in the future was written while the clock was wrong.
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
