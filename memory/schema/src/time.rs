//! Parses times into Unix seconds.

use std::ops::RangeInclusive;

use jiff::civil::{Date, date};

/// Description of valid times, for messages.
pub(crate) const EXPECTED: &str = "a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339)";

/// Parses a time as specified in [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6), or a date, which
/// means midnight UTC. Ignores fractions of a second. A leap second counts as the first second of the next minute.
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    parse_time(text).filter(|_| has_strict_form(text))
}

/// Returns `true` if a text has the form of a date, or of a date and a time with seconds and an offset.
fn has_strict_form(text: &str) -> bool {
    let form: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c.to_ascii_uppercase() }).collect();
    let Some(time) = form.strip_prefix("0000-00-00") else { return false };
    let Some(rest) = time.strip_prefix(['T', ' ']).and_then(|time| time.strip_prefix("00:00:00")) else {
        return time.is_empty();
    };
    let zone = rest.strip_prefix(".0").map_or(rest, |fraction| fraction.trim_start_matches('0'));
    matches!(zone, "Z" | "+00:00" | "-00:00")
}

/// Returns a hint for a time that is invalid only because it has no offset; `None` for any other text.
pub(crate) fn help(text: &str) -> Option<String> {
    let is_without_offset = text.len() > 10 && unix_seconds(&format!("{text}Z")).is_some();
    is_without_offset.then(|| "append `Z` for UTC, or an offset such as `+01:00`".to_owned())
}

/// Parses a date `YYYY-MM-DD`, or a date and a time. The time consists of `T` or a space, `HH:MM`, optional seconds
/// with an optional fraction, and an optional `Z` or offset. Without an offset, the time is in UTC.
pub fn parse_time(text: &str) -> Option<i64> {
    let text = text.trim();
    let (day, rest) = (text.get(..10)?, text.get(10..)?);
    let day = day.parse::<Date>().ok()?.duration_since(date(1970, 1, 1)).as_secs();
    let Some(time) = rest.strip_prefix(['T', 't', ' ']) else {
        return rest.is_empty().then_some(day);
    };
    let clock = number_in(0..=23, time.get(..2)?)? * 3_600 + minutes(time.get(2..5)?)? * 60;
    let (seconds, rest) = match time[5..].strip_prefix(':') {
        Some(rest) => (number_in(0..=60, rest.get(..2)?)?, &rest[2..]),
        None => (0, &time[5..]),
    };
    let zone = rest.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    Some(day + clock + seconds - offset(zone)?)
}

fn minutes(text: &str) -> Option<i64> {
    number_in(0..=59, text.strip_prefix(':')?)
}

fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first() {
        None | Some(b'Z' | b'z') => return (zone.len() <= 1).then_some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    let (hours, rest) = (zone.get(1..3)?, zone.get(3..)?);
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let minutes = if rest.is_empty() { 0 } else { number_in(0..=59, rest)? };
    Some(sign * (number_in(0..=23, hours)? * 3_600 + minutes * 60))
}

fn number_in(range: RangeInclusive<i64>, digits: &str) -> Option<i64> {
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|number| is_number && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rfc_3339_times_and_dates_are_parsed() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(unix_seconds(text), expected, "{text}");
        check("1970-01-01", Some(0));
        check("1969-12-31T23:59:59Z", Some(-1));
        check("2025-12-12T14:20:00Z", Some(1_765_549_200));
        check("2025-12-12t15:20:00.25+01:00", Some(1_765_549_200));
        check("2025-12-12 12:50:00-01:30", Some(1_765_549_200));
        check("2016-12-31T23:59:60Z", unix_seconds("2017-01-01T00:00:00Z"));
        for wrong in [
            "",
            "yesterday",
            "2025-02-29",
            "2025-13-01",
            "12-12-2025",
            "2025-12-12T14:20:00",
            "2025-12-12T14:20Z",
            "2025-12-12T24:00:00Z",
            "2025-12-12T14:20:00.Z",
            "2025-12-12T14:20:00+0100",
            "2025-12-12T14:20:00Zulu",
            "2025-12-12x",
            "２025-12-12",
        ] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_missing_offset_gets_a_hint() {
        assert!(help("2025-12-12T14:20:00").is_some_and(|help| help.contains("append `Z`")));
        assert_eq!(help("2025-12-12x"), None);
        assert_eq!(help("soon"), None);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "[0-9TZ:+.é -]{0,30}") {
            let _ = (unix_seconds(&text), help(&text));
        }
    }
}
