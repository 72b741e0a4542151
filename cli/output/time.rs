//! Formats points in time.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns the current time in seconds since the epoch.
pub(crate) fn now() -> i64 {
    aurora_clock::now_seconds()
}

/// Formats a time as RFC 3339.
pub(crate) fn rfc3339(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}

/// Formats the day in UTC, such as `2025-12-15`.
pub(crate) fn date(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.to_zoned(TimeZone::UTC).date().to_string(),
        Err(_) => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(1_765_756_800), "2025-12-15");
        assert_eq!(date(i64::MAX), "-");
    }
}
