//! The layout of the log directory. The path of a log is `YYYY/MM/keyword1-keyword2-YYYY-MM-DD.md`. A compressed log
//! has the extension `.md.gz`.

use std::fmt;

use jiff::civil::Date;

/// Beginning of a log's name if the query has no keywords.
const FALLBACK: &str = "query";
/// Extension of an uncompressed log.
pub(crate) const PLAIN: &str = ".md";
/// Extension of a compressed log.
pub(crate) const PACKED: &str = ".md.gz";
/// Length of a date in bytes.
const DATE_LENGTH: usize = 10;

/// A month, which has one directory of logs. It is displayed as the path of the directory, such as `2025/12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// Returns the month of a day.
    pub fn from_date(day: Date) -> Self {
        Self { year: day.year(), month: day.month() }
    }

    /// Parses a month from the names of its directories: four digits for the year and two digits for the month.
    pub fn named(year: &str, month: &str) -> Option<Self> {
        Some(Self::from_date(date(&format!("{year}-{month}-01"))?))
    }

    /// Returns the first day of the month.
    pub fn first(self) -> Date {
        // Every `Month` is created from a valid date, so the fallback is never used.
        Date::new(self.year, self.month, 1).unwrap_or(Date::MIN)
    }

    /// Returns the last day of the month.
    pub fn last(self) -> Date {
        self.first().last_of_month()
    }

    /// Returns the name of the year's directory and the name of the month's directory.
    pub(crate) fn directory_names(self) -> [String; 2] {
        [format!("{:04}", self.year), format!("{:02}", self.month)]
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}/{:02}", self.year, self.month)
    }
}

/// Parses a day written as `YYYY-MM-DD`, in the Gregorian calendar.
pub fn date(text: &str) -> Option<Date> {
    text.parse().ok().filter(|_| text.len() == DATE_LENGTH)
}

/// A range of days, which includes both ends. `None` means that the range is unbounded at this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRange {
    /// The first day.
    pub from: Option<Date>,
    /// The last day.
    pub to: Option<Date>,
}

impl DateRange {
    /// Returns the range of one day.
    pub fn day(day: Date) -> Self {
        Self { from: Some(day), to: Some(day) }
    }

    /// Returns the range of all days of a month.
    pub fn month(month: Month) -> Self {
        Self { from: Some(month.first()), to: Some(month.last()) }
    }

    /// Returns `true` if the range contains all days from `first` to `last`.
    pub fn contains(&self, first: Date, last: Date) -> bool {
        self.from.is_none_or(|from| from <= first) && self.to.is_none_or(|to| last <= to)
    }

    /// Returns `true` if the range contains at least one day of the month.
    pub(crate) fn overlaps(&self, month: Month) -> bool {
        self.from.is_none_or(|from| from <= month.last()) && self.to.is_none_or(|to| month.first() <= to)
    }
}

/// A log in the directory of a month. A log can have a plain file, a compressed file, or both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// The month of the directory.
    pub month: Month,
    /// The name without the extension.
    pub name: String,
    /// Whether a plain file exists.
    pub is_plain: bool,
    /// Whether a compressed file exists.
    pub is_packed: bool,
}

impl LogFile {
    /// Returns the day in the name, which has the form `…-YYYY-MM-DD` or `…-YYYY-MM-DD-2`. Returns `None` if the name
    /// has no day, or if the day is not in the month of the directory.
    pub fn day(&self) -> Option<Date> {
        parse_day(&self.name).filter(|day| Month::from_date(*day) == self.month)
    }

    /// Returns `true` if the log is in a range. A log without a day in its name is in a range if the range contains the
    /// whole month of the log.
    pub fn is_in(&self, range: &DateRange) -> bool {
        match self.day() {
            Some(day) => range.contains(day, day),
            None => range.contains(self.month.first(), self.month.last()),
        }
    }

    /// Returns the name of the file to read. If both files exist, it is the plain file.
    pub fn file_name(&self) -> String {
        format!("{}{}", self.name, if self.is_plain { PLAIN } else { PACKED })
    }

    /// Returns the path of the file to read, relative to the log directory and with `/` as separator.
    pub fn path(&self) -> String {
        format!("{}/{}", self.month, self.file_name())
    }
}

/// Parses the file name of a log. Returns the name without the extension, and whether the file is compressed. Returns
/// `None` for other files, including unfinished files, whose names begin with a dot.
pub(crate) fn parse_file_name(file: &str) -> Option<(&str, bool)> {
    let packed = file.strip_suffix(PACKED).map(|name| (name, true));
    let found = packed.or_else(|| file.strip_suffix(PLAIN).map(|name| (name, false)));
    found.filter(|(name, _)| !name.is_empty() && !name.starts_with('.'))
}

/// Returns the name for the log with the given number, from 1, among the logs with the same keywords and day.
pub(crate) fn numbered_name(keywords: &[String], day: Date, number: u32) -> String {
    match (keywords, number) {
        ([], number) => format!("{FALLBACK}-{number}-{day}"),
        (keywords, 1) => format!("{}-{day}", keywords.join("-")),
        (keywords, number) => format!("{}-{day}-{number}", keywords.join("-")),
    }
}

/// Parses the day at the end of a name. A number can follow the day.
fn parse_day(name: &str) -> Option<Date> {
    let at_end = |text: &str| {
        let start = text.len().checked_sub(DATE_LENGTH)?;
        let is_separate = start == 0 || text.as_bytes()[start - 1] == b'-';
        date(text.get(start..)?).filter(|_| is_separate)
    };
    let unnumbered = || {
        let (rest, number) = name.rsplit_once('-')?;
        at_end(rest).filter(|_| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    at_end(name).or_else(unnumbered)
}

#[cfg(test)]
mod tests {
    use jiff::civil;
    use proptest::prelude::*;

    use super::*;
    use crate::keywords::keywords;

    fn log(month: &str, name: &str) -> LogFile {
        let (year, month) = month.split_once('/').unwrap();
        LogFile { month: Month::named(year, month).unwrap(), name: name.to_owned(), is_plain: true, is_packed: false }
    }

    #[test]
    fn days_are_parsed_from_names() {
        let day = |name: &str| log("2025/12", name).day().map(|day| day.to_string());
        for name in ["a-b-2025-12-13", "2025-12-13", "a-2025-12-13-2", "a-2025-12-13-117"] {
            assert_eq!(day(name).as_deref(), Some("2025-12-13"), "{name}");
        }
        for name in ["a", "a2025-12-13", "a-2025-12-13-x", "a-2025-12-13-", "a-2025-13-01", "a-2024-12-13", "é-2025-12"]
        {
            assert_eq!(day(name), None, "{name}");
        }
    }

    #[test]
    fn months_are_parsed_from_directory_names() {
        for (year, month) in [("2025", "13"), ("2025", "00"), ("25", "12"), ("2025", "1"), ("+025", "12"), ("..", "..")]
        {
            assert_eq!(Month::named(year, month), None, "{year}/{month}");
        }
        let month = Month::named("2024", "02").unwrap();
        assert_eq!((month.to_string(), month.last()), ("2024/02".to_owned(), civil::date(2024, 2, 29)));
    }

    #[test]
    fn logs_without_a_day_are_in_ranges_of_their_whole_month() {
        let (dated, undated) = (log("2025/12", "a-2025-12-13"), log("2025/12", "notes"));
        let month = DateRange::month(dated.month);
        let day = DateRange::day(civil::date(2025, 12, 13));
        assert!(dated.is_in(&month) && undated.is_in(&month) && dated.is_in(&day) && !undated.is_in(&day));
        assert!(undated.is_in(&DateRange::default()));
    }

    #[test]
    fn only_markdown_files_are_logs() {
        assert_eq!(parse_file_name("a.md"), Some(("a", false)));
        assert_eq!(parse_file_name("a.md.gz"), Some(("a", true)));
        for file in [".md", ".md.gz", "a.txt", "a.gz", ".a.md.0123.tmp", ".a.md"] {
            assert_eq!(parse_file_name(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn names_are_valid_and_contain_their_day(query in any::<String>(), count in 1_usize..5, number in 1_u32..100_000, days in 0_i32..40_000) {
            let day = civil::date(1970, 1, 1).saturating_add(jiff::Span::new().days(days));
            let name = numbered_name(&keywords(&query, count), day, number);
            let file = format!("{name}{PACKED}");
            // Most file systems limit names to 255 bytes. Names of logs stay at least 22 bytes below the limit.
            prop_assert!(file.len() + 22 <= 255, "{file}");
            prop_assert!(!file.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|', '\0']) && !file.starts_with(['.', '-']));
            prop_assert!(!file.contains(char::is_control) && !file.contains(char::is_whitespace));
            prop_assert_eq!(parse_file_name(&file), Some((name.as_str(), true)));
            let found = LogFile { month: Month::from_date(day), name, is_plain: true, is_packed: false };
            prop_assert_eq!(found.day(), Some(day));
            let path = found.path();
            let parts: Vec<_> = std::path::Path::new(&path).components().collect();
            prop_assert!(parts.len() == 3 && parts.iter().all(|part| matches!(part, std::path::Component::Normal(_))));
        }
    }
}
