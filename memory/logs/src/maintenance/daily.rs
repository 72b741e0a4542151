//! Maintenance at most once a day.

use std::io;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use super::{MaintenanceOptions, MaintenanceReport, Policy};
use crate::directory::{LogDirectory, make_private};
use crate::error::LogError;

/// Written when maintenance begins; its modification time is what counts.
const STAMP: &str = ".maintained";
const DAY: SignedDuration = SignedDuration::from_hours(24);

impl LogDirectory {
    /// Does maintenance if none has begun within 24 hours; begins nothing more after `longest`. What is left is done a day later.
    /// `written` is the path of the log that was just written, below the directory of the logs: it stays, however old its
    /// interaction is, so that a log is there when its writer has ended.
    ///
    /// # Errors
    /// As for [`LogDirectory::maintain`].
    pub fn maintain_daily(
        &self,
        policy: Policy,
        now: Timestamp,
        longest: Duration,
        written: Option<&str>,
    ) -> Result<Option<MaintenanceReport>, LogError> {
        if !self.is_due(now)? {
            return Ok(None);
        }
        {
            let _names = self.lock()?;
            // Another process may have been faster.
            if !self.is_due(now)? {
                return Ok(None);
            }
            let stamp = self.root().replace(STAMP, |file| make_private(file));
            stamp.map_err(LogError::io("write", self.path().join(STAMP)))?;
        }
        let deadline = Some(Instant::now() + longest);
        let options = MaintenanceOptions { now, is_rehearsal: false, deadline, except: written };
        self.maintain(policy, options, &mut |_, _| {}).map(Some)
    }

    fn is_due(&self, now: Timestamp) -> Result<bool, LogError> {
        let last = match self.root().metadata(STAMP) {
            Ok(metadata) => metadata.modified,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(LogError::io("read", self.path().join(STAMP))(error)),
        };
        let last = Timestamp::from_nanosecond(last.into()).unwrap_or(Timestamp::UNIX_EPOCH);
        // One far in the future is that of a clock that was wrong.
        Ok(now.duration_since(last).abs() >= DAY)
    }
}
