//! Places at which configuration values are set.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// The place at which a value is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Place {
    /// A location in a file.
    File(Location),
    /// An environment variable.
    Environment(String),
    /// A command line flag, as typed.
    Flag(String),
}

impl Place {
    /// Returns the location in a file, or `None` for another kind of place.
    pub fn location(&self) -> Option<&Location> {
        match self {
            Self::File(location) => Some(location),
            Self::Environment(_) | Self::Flag(_) => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(Location { file, line, column, .. }) => write!(f, "{file}:{line}:{column}"),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// A location in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Name of the file, as passed by the caller.
    pub file: String,
    /// Byte range in the file.
    pub span: Range<usize>,
    /// Line number, from 1.
    pub line: usize,
    /// Column number in characters, from 1.
    pub column: usize,
    /// Text of the line, without trailing white space.
    pub excerpt: String,
}

impl Location {
    /// Locates a byte range of `text`, the content of `file`. A range that ends after the text is shortened to the end
    /// of the text.
    pub fn from_span(file: &str, text: &str, span: Range<usize>) -> Self {
        let start = text.floor_char_boundary(span.start);
        let end = span.end.clamp(start, text.len());
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[line_start..].find('\n').map_or(text.len(), |at| line_start + at);
        Self {
            file: file.to_owned(),
            span: start..end,
            line: text[..start].matches('\n').count() + 1,
            column: text[line_start..start].chars().count() + 1,
            excerpt: text[line_start..line_end].trim_end().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let location = Location::from_span("f", "a\n  ü = 1 \nb", 6..7);
        assert_eq!((location.line, location.column, location.excerpt.as_str()), (2, 4, "  ü = 1"));
    }

    #[test]
    fn a_span_after_the_end_of_the_text_is_moved_to_the_end() {
        let location = Location::from_span("f", "a\nb", 9..12);
        assert_eq!((location.line, location.column, location.span), (2, 2, 3..3));
    }
}
