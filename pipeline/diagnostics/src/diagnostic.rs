//! Errors and warnings. Each has a code and a message, and may have a place and a help text.

use std::fmt;

use serde::Serialize;

use crate::place::{Location, Place};

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The configuration cannot be used.
    Error,
    /// The configuration can be used, but something about it is unusual.
    Warning,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The diagnostic code, see [`crate::code`].
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// Description of the problem.
    pub message: String,
    /// Place where the value was set; `None` if the diagnostic does not concern a single value, the value was set in
    /// code, or the file cannot be read.
    pub location: Option<Place>,
    /// Advice on how to fix the problem.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Creates an error at a location in a file.
    pub fn error(code: &'static str, location: Option<Location>, message: impl Into<String>) -> Self {
        let location = location.map(Place::File);
        Self { code, severity: Severity::Error, message: message.into(), location, help: None }
    }

    /// Creates a warning at a location in a file.
    pub fn warning(code: &'static str, location: Option<Location>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, location, message) }
    }

    /// Sets the help text.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    /// Returns the diagnostic with the given place.
    pub fn at(mut self, place: Place) -> Self {
        self.location = Some(place);
        self
    }

    /// Returns the diagnostic with the given help text, or with no help text.
    pub fn with_help(mut self, text: Option<String>) -> Self {
        self.help = text;
        self
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(f, "{kind}[{}]: {}", self.code, self.message)?;
        let mut gutter = 1;
        if let Some(place) = &self.location {
            let location = place.location();
            gutter = location.map_or(1, |location| location.line.to_string().len());
            write!(f, "\n{:gutter$}--> {place}", "")?;
            if let Some(Location { line, excerpt, .. }) = location {
                write!(f, "\n{line} | {excerpt}")?;
            }
        }
        match &self.help {
            Some(help) => write!(f, "\n{:gutter$} = help: {help}", ""),
            None => Ok(()),
        }
    }
}

/// All diagnostics of one configuration. [`Diagnostics::sort`] orders them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds a diagnostic and returns a reference for changing it.
    pub fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let at = self.items.len();
        self.items.push(diagnostic);
        &mut self.items[at]
    }

    /// All diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the configuration cannot be used.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.severity == Severity::Error)
    }

    /// Sorts by severity, then by place, and removes duplicates. `rank` maps the name of a file to its position among
    /// all files.
    pub fn sort(&mut self, rank: impl Fn(&str) -> usize) {
        let place = |item: &Diagnostic| {
            item.location.as_ref().and_then(Place::location).map(|at| (rank(&at.file), at.span.start))
        };
        self.items.sort_by_cached_key(|item| {
            (item.severity, item.location.is_none(), place(item), item.code, item.message.clone())
        });
        self.items.dedup();
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.items.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, item) in self.items.iter().enumerate() {
            if index > 0 {
                f.write_str("\n\n")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Diagnostics {}
