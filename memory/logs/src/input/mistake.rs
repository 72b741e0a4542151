//! Mistakes in the JSON of an interaction.

use std::fmt;

use serde::Serialize;

/// Maximum number of mistakes that are listed.
const MAX_MISTAKES: usize = 1000;

/// A mistake and its position.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The path of the value, such as `phases[2].name`; empty for the text as a whole.
    pub place: String,
    /// A description of the mistake.
    pub cause: String,
}

impl Mistake {
    /// Creates a mistake that concerns the text as a whole.
    pub(super) fn in_whole_text(line: usize, column: usize, cause: impl Into<String>) -> Self {
        Self { line: line.max(1), column: column.max(1), place: String::new(), cause: cause.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: ", self.line, self.column)?;
        if !self.place.is_empty() {
            write!(f, "`{}` ", self.place)?;
        }
        f.write_str(&self.cause)
    }
}

/// A mistake with the byte offset of its value.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) offset: usize,
    pub(super) place: String,
    pub(super) cause: String,
}

/// All mistakes in a text, in the order of the text. Beyond a thousand, mistakes are only counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Mistakes(Vec<Mistake>);

impl Mistakes {
    /// Creates the list of mistakes from the findings in a text.
    pub(super) fn new(text: &str, mut findings: Vec<Finding>) -> Self {
        findings.sort_by_key(|finding| finding.offset);
        let more = findings.len().saturating_sub(MAX_MISTAKES);
        findings.truncate(MAX_MISTAKES);
        let (mut line, mut line_start, mut at) = (1, 0, 0);
        let mut mistakes = Vec::with_capacity(findings.len());
        for Finding { offset, place, cause } in findings {
            let offset = text.floor_char_boundary(offset);
            line += text[at..offset].matches('\n').count();
            line_start = text[at..offset].rfind('\n').map_or(line_start, |end| at + end + 1);
            at = offset;
            mistakes.push(Mistake { line, column: text[line_start..at].chars().count() + 1, place, cause });
        }
        if more > 0 {
            mistakes.push(Mistake::in_whole_text(line, 1, format!("{more} more mistakes follow")));
        }
        Self(mistakes)
    }

    /// Creates a list with one mistake at a byte offset of a text.
    pub(super) fn at(text: &str, offset: usize, cause: impl Into<String>) -> Self {
        Self::new(text, vec![Finding { offset, place: String::new(), cause: cause.into() }])
    }

    /// Iterates over the mistakes.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.0.iter()
    }
}

impl From<Mistake> for Mistakes {
    fn from(mistake: Mistake) -> Self {
        Self(vec![mistake])
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}
