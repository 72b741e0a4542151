//! Where a log lies: `YYYY/MM/keyword1-keyword2-YYYY-MM-DD.md`, or `.md.gz` once it is compressed.

use std::fmt;

use jiff::civil::Date;

/// What a name begins with where the query has no keywords.
const FALLBACK: &str = "query";
/// Ending of a log.
pub(crate) const PLAIN: &str = ".md";
/// Ending of a compressed log.
pub(crate) const PACKED: &str = ".md.gz";
/// Characters of a date.
const DATE_LENGTH: usize = 10;

/// A month of logs, and its directory. Displayed as the path of the directory: `2025/12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    year: i16,
    month: i8,
}

impl Month {
    /// The month of a day.
    pub fn of(day: Date) -> Self {
        Self { year: day.year(), month: day.month() }
    }

    /// The month whose directories are called `year`, four digits, and `month`, two digits.
    pub fn named(year: &str, month: &str) -> Option<Self> {
        Some(Self::of(date(&format!("{year}-{month}-01"))?))
    }

    /// Its first day.
    pub fn first(self) -> Date {
        // `of` took the year and the month from a day.
        Date::new(self.year, self.month, 1).unwrap_or(Date::MIN)
    }

    /// Its last day.
    pub fn last(self) -> Date {
        self.first().last_of_month()
    }

    /// The names of its two directories.
    pub(crate) fn names(self) -> [String; 2] {
        [format!("{:04}", self.year), format!("{:02}", self.month)]
    }
}

impl fmt::Display for Month {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}/{:02}", self.year, self.month)
    }
}

/// The day written as `YYYY-MM-DD`, in the Gregorian calendar.
pub fn date(text: &str) -> Option<Date> {
    let bytes = text.as_bytes();
    let shape = |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    if bytes.len() != DATE_LENGTH || !bytes.iter().enumerate().all(shape) {
        return None;
    }
    Date::new(text[..4].parse().ok()?, text[5..7].parse().ok()?, text[8..].parse().ok()?).ok()
}

/// Days from the first to the last one, both included; open where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRange {
    /// The first day.
    pub from: Option<Date>,
    /// The last day.
    pub to: Option<Date>,
}

impl DateRange {
    /// One day.
    pub fn day(day: Date) -> Self {
        Self { from: Some(day), to: Some(day) }
    }

    /// All days of a month.
    pub fn month(month: Month) -> Self {
        Self { from: Some(month.first()), to: Some(month.last()) }
    }

    /// Whether the range has all days from the first to the last one.
    pub fn contains(&self, first: Date, last: Date) -> bool {
        self.from.is_none_or(|from| from <= first) && self.to.is_none_or(|to| last <= to)
    }

    /// Whether the range has a day of the month.
    pub(crate) fn touches(&self, month: Month) -> bool {
        self.from.is_none_or(|from| from <= month.last()) && self.to.is_none_or(|to| month.first() <= to)
    }
}

/// A log in the directory of a month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFile {
    /// Its month.
    pub month: Month,
    /// Its name without the ending.
    pub name: String,
    /// Whether there is a file that is not compressed.
    pub is_plain: bool,
    /// Whether there is a compressed file.
    pub is_packed: bool,
}

impl LogFile {
    /// The day in the name, if it lies in the month of the directory: `…-YYYY-MM-DD` or `…-YYYY-MM-DD-2`.
    pub fn day(&self) -> Option<Date> {
        day_in(&self.name).filter(|day| Month::of(*day) == self.month)
    }

    /// Whether it lies in a range. A log without a day in its name lies in ranges that have its whole month.
    pub fn is_in(&self, range: &DateRange) -> bool {
        match self.day() {
            Some(day) => range.contains(day, day),
            None => range.contains(self.month.first(), self.month.last()),
        }
    }

    /// The name of the file that is read: the one that is not compressed, if there are both.
    pub fn file_name(&self) -> String {
        format!("{}{}", self.name, if self.is_plain { PLAIN } else { PACKED })
    }

    /// The path of that file below the directory of the logs, with `/`.
    pub fn path(&self) -> String {
        format!("{}/{}", self.month, self.file_name())
    }
}

/// The name of a log without its ending, and whether it is compressed; `None` for other files. A name that begins with a
/// dot is that of an unfinished file.
pub(crate) fn parse_file_name(file: &str) -> Option<(&str, bool)> {
    let packed = file.strip_suffix(PACKED).map(|name| (name, true));
    let found = packed.or_else(|| file.strip_suffix(PLAIN).map(|name| (name, false)));
    found.filter(|(name, _)| !name.is_empty() && !name.starts_with('.'))
}

/// The `number`th name, from 1, for a log of these keywords and this day.
pub(crate) fn numbered_name(keywords: &[String], day: Date, number: u32) -> String {
    match (keywords, number) {
        ([], number) => format!("{FALLBACK}-{number}-{day}"),
        (keywords, 1) => format!("{}-{day}", keywords.join("-")),
        (keywords, number) => format!("{}-{day}-{number}", keywords.join("-")),
    }
}

/// The day at the end of a name, before its number.
fn day_in(name: &str) -> Option<Date> {
    let at_end = |text: &str| {
        let start = text.len().checked_sub(DATE_LENGTH)?;
        let is_apart = start == 0 || text.as_bytes()[start - 1] == b'-';
        date(text.get(start..)?).filter(|_| is_apart)
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
    fn days_in_names() {
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
    fn months() {
        for (year, month) in [("2025", "13"), ("2025", "00"), ("25", "12"), ("2025", "1"), ("+025", "12"), ("..", "..")]
        {
            assert_eq!(Month::named(year, month), None, "{year}/{month}");
        }
        let month = Month::named("2024", "02").unwrap();
        assert_eq!((month.to_string(), month.last()), ("2024/02".to_owned(), civil::date(2024, 2, 29)));
    }

    #[test]
    fn logs_without_a_day_lie_in_ranges_of_their_month() {
        let (dated, undated) = (log("2025/12", "a-2025-12-13"), log("2025/12", "notes"));
        let month = DateRange::month(dated.month);
        let day = DateRange::day(civil::date(2025, 12, 13));
        assert!(dated.is_in(&month) && undated.is_in(&month) && dated.is_in(&day) && !undated.is_in(&day));
        assert!(undated.is_in(&DateRange::default()));
    }

    #[test]
    fn files_that_are_logs() {
        assert_eq!(parse_file_name("a.md"), Some(("a", false)));
        assert_eq!(parse_file_name("a.md.gz"), Some(("a", true)));
        for file in [".md", ".md.gz", "a.txt", "a.gz", ".a.md.0123.tmp", ".a.md"] {
            assert_eq!(parse_file_name(file), None, "{file}");
        }
    }

    proptest! {
        #[test]
        fn names_are_valid_and_tell_their_day(query in any::<String>(), count in 1_usize..5, number in 1_u32..100_000, days in 0_i32..40_000) {
            let day = civil::date(1970, 1, 1).saturating_add(jiff::Span::new().days(days));
            let name = numbered_name(&keywords(&query, count), day, number);
            let file = format!("{name}{PACKED}");
            // The name of an unfinished file is 22 bytes longer.
            prop_assert!(file.len() + 22 <= 255, "{file}");
            prop_assert!(!file.contains(['/', '\\', ':', '*', '?', '"', '<', '>', '|', '\0']) && !file.starts_with(['.', '-']));
            prop_assert!(!file.contains(char::is_control) && !file.contains(char::is_whitespace));
            prop_assert_eq!(parse_file_name(&file), Some((name.as_str(), true)));
            let found = LogFile { month: Month::of(day), name, is_plain: true, is_packed: false };
            prop_assert_eq!(found.day(), Some(day));
            let path = found.path();
            let parts: Vec<_> = std::path::Path::new(&path).components().collect();
            prop_assert!(parts.len() == 3 && parts.iter().all(|part| matches!(part, std::path::Component::Normal(_))));
        }
    }
}
