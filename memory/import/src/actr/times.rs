//! Times as aurora-actr writes them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::table::Cell;

/// Unix seconds of a time: RFC 3339, with a space instead of the `T` too, and UTC where no offset says otherwise.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    let time = text.parse::<DateTime>().ok()?;
    TimeZone::UTC.to_timestamp(time).ok().map(Timestamp::as_second)
}

/// The same of a value, which may be Unix seconds.
pub(super) fn of_cell(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Text(text) => seconds(text),
        Cell::Integer(seconds) => Timestamp::from_second(*seconds).ok().map(Timestamp::as_second),
        Cell::Real(seconds) => Timestamp::from_second(*seconds as i64).ok().map(Timestamp::as_second),
        Cell::Null | Cell::Blob | Cell::NotText | Cell::TooLong(_) => None,
    }
}

/// A time as entries have it.
pub(super) fn rfc3339(seconds: i64) -> Option<String> {
    // Entries have years of four digits.
    let time = Timestamp::from_second(seconds).ok()?.to_string();
    time.starts_with(|c: char| c.is_ascii_digit()).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_they_are_written() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(seconds(text), expected, "{text}");
        check("2026-10-13T13:35:06.532332+00:00", Some(1_791_898_506));
        check("2026-10-13 13:35:06.532332+00:00", Some(1_791_898_506));
        check("2026-10-13 15:35:06+02:00", Some(1_791_898_506));
        check("2026-10-13T13:35:06Z", Some(1_791_898_506));
        check("2026-10-13 13:35:06", Some(1_791_898_506));
        check("2026-10-13T13:35:06.5", Some(1_791_898_506));
        check("2026-10-13", Some(1_791_849_600));
        for wrong in ["", "now", "2026-13-01", "13:35", "2026-10-13T25:00:00Z", "9999999999999999999"] {
            check(wrong, None);
        }
        assert_eq!(of_cell(&Cell::Real(1.5)), Some(1));
        assert_eq!(of_cell(&Cell::Real(f64::NAN)), Some(0));
        assert_eq!(of_cell(&Cell::Integer(i64::MAX)), None);
        assert_eq!(rfc3339(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(rfc3339(-70_000_000_000), None);
    }
}
