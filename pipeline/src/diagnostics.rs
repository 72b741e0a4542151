//! Diagnostics: every error or warning has a code, a location in the file, and a help text.

use std::fmt;

use aurora_suggest::did_you_mean;
use serde::Serialize;

pub use crate::source_map::Location;
use crate::source_map::SourceMap;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The pipeline cannot run.
    Error,
    /// The pipeline can run, but something about it is unusual.
    Warning,
}

/// The codes of all diagnostics.
pub mod code {
    /// The file is not TOML.
    pub const SYNTAX: &str = "A0100";
    /// `use`, or the name of a stage, names no known type.
    pub const UNKNOWN_STAGE: &str = "A0101";
    /// A key that nothing reads.
    pub const UNKNOWN_KEY: &str = "A0102";
    /// A value of the wrong type, or out of range.
    pub const INVALID_VALUE: &str = "A0103";
    /// A column is read and no earlier stage writes it.
    pub const MISSING_COLUMN: &str = "A0104";
    /// Two stages write one column and nothing says which comes first.
    pub const UNORDERED_WRITERS: &str = "A0105";
    /// Stages depend on each other in a cycle.
    pub const CYCLE: &str = "A0106";
    /// `after` names no stage of the pipeline.
    pub const UNKNOWN_AFTER: &str = "A0107";
    /// `extends` names no pipeline, or pipelines extend each other.
    pub const EXTENDS: &str = "A0108";
    /// No stage emits batches.
    pub const NO_SOURCE: &str = "A0109";
    /// More than one stage emits batches.
    pub const TWO_SOURCES: &str = "A0110";
    /// A required key of the stage is missing.
    pub const MISSING_KEY: &str = "A0111";
    /// A column is read with another type than it is written with.
    pub const COLUMN_TYPE: &str = "A0112";
    /// A column name starts with neither `file.` nor `chunk.`.
    pub const COLUMN_NAME: &str = "A0113";
    /// The stage's own check has rejected its configuration.
    pub const CHECK: &str = "A0114";
    /// A value exceeds the limit for the file.
    pub const LIMIT: &str = "A0115";
    /// Warning: a column is written and no stage reads it.
    pub const UNREAD_COLUMN: &str = "A0201";
    /// Warning: the pipeline has no sink.
    pub const NO_SINK: &str = "A0202";
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The code, see [`code`].
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Location in the file; `None` if the pipeline was built in code.
    pub location: Option<Location>,
    /// How to fix it.
    pub help: Option<String>,
}

impl Diagnostic {
    pub(crate) fn error(code: &'static str, location: Option<Location>, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, message: message.into(), location, help: None }
    }

    pub(crate) fn warning(code: &'static str, location: Option<Location>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, location, message) }
    }

    /// Sets the help text.
    pub fn help(&mut self, text: impl Into<String>) -> &mut Self {
        self.help = Some(text.into());
        self
    }

    pub(crate) fn with_help(mut self, text: Option<String>) -> Self {
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
        if let Some(Location { file, line, column, excerpt, .. }) = &self.location {
            gutter = line.to_string().len();
            write!(f, "\n{:gutter$}--> {file}:{line}:{column}", "")?;
            write!(f, "\n{line} | {excerpt}")?;
        }
        match &self.help {
            Some(help) => write!(f, "\n{:gutter$} = help: {help}", ""),
            None => Ok(()),
        }
    }
}

/// All diagnostics of one pipeline, in file order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Diagnostics {
    items: Vec<Diagnostic>,
}

impl Diagnostics {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.items.push(diagnostic);
    }

    /// All diagnostics.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.items.iter()
    }

    /// Whether there are no diagnostics.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether the pipeline cannot run.
    pub fn has_errors(&self) -> bool {
        self.items.iter().any(|item| item.severity == Severity::Error)
    }

    pub(crate) fn sort(&mut self, sources: &SourceMap) {
        let place = |item: &Diagnostic| item.location.as_ref().map(|at| (sources.rank(&at.file), at.span.start));
        self.items.sort_by_cached_key(|item| {
            (item.severity, item.location.is_none(), place(item), item.code, item.message.clone())
        });
        self.items.dedup();
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

/// Collects the diagnostics of a stage's own [`check`](crate::StageConfig::check), by configuration key.
pub struct Problems<'a> {
    pub(crate) diagnostics: &'a mut Diagnostics,
    pub(crate) locate: &'a dyn Fn(&str) -> Option<Location>,
}

impl Problems<'_> {
    /// Reports that the value of a key is invalid.
    pub fn error(&mut self, key: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Diagnostic::error(code::CHECK, (self.locate)(key), message))
    }

    /// Reports that the value of a key is unusual.
    pub fn warning(&mut self, key: &str, message: impl Into<String>) -> &mut Diagnostic {
        self.push(Diagnostic::warning(code::CHECK, (self.locate)(key), message))
    }

    fn push(&mut self, diagnostic: Diagnostic) -> &mut Diagnostic {
        let at = self.diagnostics.items.len();
        self.diagnostics.items.push(diagnostic);
        &mut self.diagnostics.items[at]
    }
}

/// "Did you mean" if a known name is similar to the mistyped one, else the list of known names.
pub(crate) fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>, what: &str) -> Option<String> {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    did_you_mean(name, known.iter().copied())
        .or_else(|| (!known.is_empty()).then(|| format!("{what}: {}", quoted(&known))))
}

/// `` `a`, `b` ``
pub(crate) fn quoted<S: AsRef<str>>(names: &[S]) -> String {
    names.iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}
