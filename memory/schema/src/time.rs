//! Parses the times of an entry as Unix seconds.

use std::ops::RangeInclusive;

use jiff::civil::{Date, date};

/// The rule for times, for messages.
pub(crate) const EXPECTED: &str = "a date such as 2025-12-12, or a time such as 2025-12-12T14:20:00Z (RFC 3339)";

/// Parses a time of [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339#section-5.6), or a date, which means midnight UTC. Fractions
/// of a second are dropped. A leap second becomes the first second of the next minute.
pub(crate) fn unix_seconds(text: &str) -> Option<i64> {
    let day = day(text.get(..10)?)?.duration_since(date(1970, 1, 1)).as_secs();
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return Some(day);
    }
    let time = rest.strip_prefix(['T', 't', ' '])?;
    let (clock, rest) = (time.get(..8)?, time.get(8..)?);
    let colons = (clock.get(2..3)?, clock.get(5..6)?) == (":", ":");
    let hours = number(clock.get(..2)?, 0..=23)?;
    let minutes = number(clock.get(3..5)?, 0..=59)?;
    let seconds = number(clock.get(6..)?, 0..=60)?;
    let offset = offset(without_fraction(rest)?)?;
    colons.then_some(day + hours * 3_600 + minutes * 60 + seconds - offset)
}

/// Returns a hint for fixing an invalid time.
pub(crate) fn help(text: &str) -> Option<String> {
    let is_without_offset = text.len() > 10 && unix_seconds(&format!("{text}Z")).is_some();
    is_without_offset.then(|| "append `Z` for UTC, or an offset such as `+01:00`".to_owned())
}

fn day(text: &str) -> Option<Date> {
    let is_separated = (text.get(4..5)?, text.get(7..8)?) == ("-", "-");
    let year = number(text.get(..4)?, 0..=9_999)?;
    let month = number(text.get(5..7)?, 1..=12)?;
    let day = number(text.get(8..)?, 1..=31)?;
    let found = Date::new(year.try_into().ok()?, month.try_into().ok()?, day.try_into().ok()?).ok()?;
    is_separated.then_some(found)
}

fn without_fraction(text: &str) -> Option<&str> {
    let Some(fraction) = text.strip_prefix('.') else { return Some(text) };
    let rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < fraction.len()).then_some(rest)
}

fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.as_bytes().first()? {
        b'Z' | b'z' => return (zone.len() == 1).then_some(0),
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let is_complete = zone.len() == 6 && zone.get(3..4)? == ":";
    let seconds = number(zone.get(1..3)?, 0..=23)? * 3_600 + number(zone.get(4..)?, 0..=59)? * 60;
    is_complete.then_some(sign * seconds)
}

fn number(digits: &str, range: RangeInclusive<i64>) -> Option<i64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
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
