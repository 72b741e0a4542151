//! Parses paths with ranges of lines, as agents write them.

/// A range of lines in a file. Lines count from 1, and both ends are included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Lines {
    /// Parses `12`, `12-40`, or `12-`, which means up to the end of the file.
    ///
    /// # Errors
    /// Returns a message if `text` is not a range of lines.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a range of lines; expected a range such as `12-40`");
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|line| *line > 0);
        let lines = match text.split_once('-') {
            None => number(text).map(|line| Self { first: line, last: line }),
            Some((first, "")) => number(first).map(|first| Self { first, last: u32::MAX }),
            Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| Self { first, last }),
        };
        lines.filter(|lines| lines.first <= lines.last).ok_or_else(wrong)
    }

    /// The range of all lines.
    pub(crate) const ALL: Self = Self { first: 1, last: u32::MAX };

    pub(crate) fn contains(self, line: u32) -> bool {
        (self.first..=self.last).contains(&line)
    }
}

/// Splits a text such as `src/a.rs:12-40` into the path and the lines.
pub(crate) fn path_and_lines(place: &str) -> (&str, Option<Lines>) {
    match place.rsplit_once(':') {
        Some((path, lines)) if !path.is_empty() => match Lines::parse(lines) {
            Ok(lines) => (path, Some(lines)),
            Err(_) => (place, None),
        },
        _ => (place, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed() {
        let lines = |first, last| Ok(Lines { first, last });
        assert_eq!(Lines::parse("12"), lines(12, 12));
        assert_eq!(Lines::parse("12-40"), lines(12, 40));
        assert_eq!(Lines::parse("12-"), lines(12, u32::MAX));
        for wrong in ["", "0", "-3", "5-2", "a-b", "1-2-3", "99999999999"] {
            assert!(Lines::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(path_and_lines("a/b.rs:3-4"), ("a/b.rs", Some(Lines { first: 3, last: 4 })));
        assert_eq!(path_and_lines("code:a.rs:run"), ("code:a.rs:run", None));
        assert_eq!(path_and_lines("a.rs"), ("a.rs", None));
    }
}
