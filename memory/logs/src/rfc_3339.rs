//! Parses times, which occur in the JSON of an interaction and in the header of a log.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Valid years, from the beginning of Unix time to the last year with four digits.
const YEARS: RangeInclusive<i16> = 1970..=9999;

/// Parses a time as specified in RFC 3339, section 5.6. The year in UTC must be from 1970 to 9999, because the names of
/// log directories have four digits for the year.
pub fn rfc_3339(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let is_date_time = bytes.len() >= 20 && matches!(bytes[10], b'T' | b't' | b' ') && text.is_ascii();
    let has_seconds = is_date_time && bytes[13] == b':' && bytes[16] == b':';
    let is_plain = has_seconds && !text.contains(['[', ',']);
    let time: Timestamp = is_plain.then(|| text.parse().ok()).flatten()?;
    YEARS.contains(&time.to_zoned(TimeZone::UTC).year()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rfc_3339_times_are_parsed() {
        for text in ["2025-12-13T14:32:15Z", "2025-12-13t14:32:15.123456789+01:00", "2025-12-13 14:32:15-00:00"] {
            assert!(rfc_3339(text).is_some(), "{text}");
        }
        for text in [
            "2025-12-13",
            "2025-12-13T14:32Z",
            "2025-12-13T14:32:15",
            "20251213T143215Z",
            "2025-12-13T14:32:15Z[UTC]",
            "2025-12-13T14:32:15,5Z",
            "2025-02-30T14:32:15Z",
            "+002025-12-13T14:32:15Z",
            "é025-12-13T14:32:15Z",
        ] {
            assert_eq!(rfc_3339(text), None, "{text}");
        }
    }
}
