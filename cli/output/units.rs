//! Formats numbers and times for people: grouped digits, bytes, durations, rates and days.

use std::time::Duration;

use aurora_project::units::significant;
pub(crate) use aurora_project::units::{bytes, count, counted, duration};
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Formats a rate per second: `12.3k lines/s`, or `850/s` without a noun; `-` if no time passed.
pub(crate) fn rate(number: u64, noun: &str, time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds <= 0.0 {
        return "-".to_owned();
    }
    let value = number as f64 / seconds;
    let value = match value {
        ..999.5 => significant(value),
        999.5..999_500.0 => format!("{}k", significant(value / 1e3)),
        _ => format!("{}M", significant(value / 1e6)),
    };
    match noun {
        "" => format!("{value}/s"),
        noun => format!("{value} {noun}/s"),
    }
}

/// Formats the day in UTC, such as `2025-12-15`, of a time in seconds since the epoch.
pub(crate) fn date(seconds: i64) -> String {
    let date = |time: Timestamp| time.to_zoned(TimeZone::UTC).date().to_string();
    Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_grouped_digits_and_a_noun() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(12_345_678), "12,345,678");
        assert_eq!(counted(1, "file"), "1 file");
        assert_eq!(counted(2_000, "chunk"), "2,000 chunks");
        assert_eq!(counted(1, "entry"), "1 entry");
        assert_eq!(counted(2, "entry"), "2 entries");
        assert_eq!(counted(2, "key"), "2 keys");
    }

    #[test]
    fn sizes_have_three_significant_digits() {
        assert_eq!(bytes(812), "812 B");
        assert_eq!(bytes(1024), "1.00 KiB");
        assert_eq!(bytes(1024 * 1023), "1.00 MiB");
        assert_eq!(bytes(256 << 20), "256 MiB");
    }

    #[test]
    fn durations_and_rates_have_units() {
        assert_eq!(duration(Duration::from_millis(830)), "830 ms");
        assert_eq!(duration(Duration::from_millis(4_160)), "4.2 s");
        assert_eq!(duration(Duration::from_secs(200)), "3 min 20 s");
        assert_eq!(duration(Duration::from_secs(7_500)), "2 h 5 min");
        assert_eq!(rate(12_345, "lines", Duration::from_secs(1)), "12.3k lines/s");
        assert_eq!(rate(3, "", Duration::from_secs(2)), "1.50/s");
        assert_eq!(rate(3, "", Duration::ZERO), "-");
    }
}
