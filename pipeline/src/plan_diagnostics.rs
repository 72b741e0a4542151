//! Error and warning messages for the dependency graph.

use crate::access::Access;
use crate::graph::{EdgeReason, PlanError, PlanWarning};
use crate::registry::Registry;
use aurora_diagnostics::{Diagnostic, Location, code};

/// The name and location of a stage, for messages.
pub(crate) struct StageSite {
    pub(crate) name: String,
    pub(crate) location: Option<Location>,
    /// Location of the stage's key `reads`, if it has the key.
    pub(crate) reads: Option<Location>,
    /// Columns that the stage writes, or would write if it were enabled.
    pub(crate) writes: Vec<String>,
}

/// A stage whose type or configuration is invalid.
pub(crate) struct BrokenStage {
    /// The stage. Its columns are those that it probably writes.
    pub(crate) site: StageSite,
    /// Whether `site.writes` is complete.
    pub(crate) are_writes_known: bool,
    /// The columns listed under the key `reads`.
    pub(crate) reads: Vec<String>,
    /// The stages listed under the key `after`, with their locations.
    pub(crate) after: Vec<(String, Option<Location>)>,
}

/// The pipeline in which the errors occurred.
pub(crate) struct PlanContext<'a> {
    pub(crate) sites: Vec<&'a StageSite>,
    pub(crate) accesses: Vec<&'a Access>,
    pub(crate) disabled: &'a [StageSite],
    pub(crate) broken: &'a [BrokenStage],
    pub(crate) registry: Option<&'a Registry>,
    /// Whether the written columns of all stages are known. Only then is a column without a writer certainly missing.
    pub(crate) known: bool,
}

impl PlanContext<'_> {
    /// Returns the diagnostic for an error; `None` if the error may only be a consequence of another error.
    pub(crate) fn error(&self, error: &PlanError) -> Option<Diagnostic> {
        let is_consequence = match error {
            PlanError::Missing { column, .. } => {
                let writes = |stage: &BrokenStage| stage.site.writes.contains(column);
                !self.known && !self.is_typing_error(column) || self.broken.iter().any(writes)
            }
            PlanError::NoSource => !self.known || !self.broken.is_empty(),
            _ => false,
        };
        if is_consequence {
            return None;
        }
        Some(match error {
            PlanError::Missing { reader, column, later } => self.missing(self.sites[*reader], column, *later),
            PlanError::Unordered { column, first, second } => {
                let (first, second) = (self.name(*first), *second);
                let message = format!(
                    "stages `{first}` and `{}` both write column `{column}`, but their order is undefined",
                    self.name(second)
                );
                let name = self.name(second);
                let help = format!(
                    "add `after = [\"{first}\"]` to `{name}` or the other way round, or leave one out with `enabled = false`"
                );
                Diagnostic::error(code::UNORDERED_WRITERS, self.place(second), message).with_help(Some(help))
            }
            PlanError::Cycle { path } => self.cycle(path),
            PlanError::Types { column, reader, reads, writer, writes } => {
                let message = format!(
                    "stage `{}` reads column `{column}` as `{reads}`, but `{}` writes it as `{writes}`",
                    self.name(*reader),
                    self.name(*writer)
                );
                Diagnostic::error(code::COLUMN_TYPE, self.place(*reader), message)
            }
            PlanError::ColumnName { stage, column } => {
                let message = format!("stage `{}` names a column `{column}`", self.name(*stage));
                let like = self.like(column).unwrap_or_else(|| "columns are named `file.*` or `chunk.*`".to_owned());
                Diagnostic::error(code::COLUMN_NAME, self.place(*stage), message).with_help(Some(like))
            }
            PlanError::NoSource => {
                let help = "a pipeline starts with a stage that emits batches".to_owned();
                Diagnostic::error(code::NO_SOURCE, None, "the pipeline has no source").with_help(Some(help))
            }
            PlanError::TwoSources { first, second } => {
                let message =
                    format!("`{}` is a second source, in addition to `{}`", self.name(*second), self.name(*first));
                let help = format!("disable one of them: `enabled = false` in [stage.{}]", self.name(*first));
                Diagnostic::error(code::TWO_SOURCES, self.place(*second), message).with_help(Some(help))
            }
        })
    }

    /// Returns a diagnostic for each column that a broken stage reads and no stage writes.
    pub(crate) fn missing_in_broken(&self) -> Vec<Diagnostic> {
        let is_written = |column: &String| {
            self.accesses.iter().any(|access| access.writes_column(column))
                || self.broken.iter().any(|stage| stage.site.writes.contains(column))
        };
        let mut found = Vec::new();
        for stage in self.broken {
            let missing = stage.reads.iter().filter(|column| !is_written(column));
            let certain = missing.filter(|column| self.known || self.is_typing_error(column));
            found.extend(certain.map(|column| self.missing(&stage.site, column, None)));
        }
        found
    }

    /// Returns the diagnostic for a warning.
    pub(crate) fn warning(&self, warning: &PlanWarning) -> Diagnostic {
        match warning {
            PlanWarning::Unread { writer, column } => {
                let message = format!("no stage reads column `{column}`, which `{}` writes", self.name(*writer));
                Diagnostic::warning(code::UNREAD_COLUMN, self.place(*writer), message)
            }
            PlanWarning::NoSink => {
                Diagnostic::warning(code::NO_SINK, None, "the pipeline has no sink: nothing is kept")
            }
        }
    }

    fn missing(&self, reader: &StageSite, column: &str, later: Option<usize>) -> Diagnostic {
        let name = &reader.name;
        let message = format!("stage `{name}` reads column `{column}`, which no earlier stage writes");
        let switched_off = self.disabled.iter().find(|stage| stage.writes.iter().any(|written| written == column));
        let help = if let Some(later) = later {
            Some(format!("`{}` writes it, but comes after `{name}`", self.name(later)))
        } else if let Some(stage) = switched_off {
            Some(format!("`{}` writes it, but is disabled", stage.name))
        } else if let Some(known) = self.registry.and_then(|registry| registry.writer_of(column)) {
            Some(format!("`{known}` writes it; add it before `{name}`"))
        } else {
            self.like(column)
        };
        let place = reader.reads.clone().or_else(|| reader.location.clone());
        Diagnostic::error(code::MISSING_COLUMN, place, message).with_help(help)
    }

    /// Whether no registered stage type writes the column, and its name differs by only one edit from an existing
    /// column's. Such a name is a typing error, whatever columns the broken stages write.
    fn is_typing_error(&self, column: &str) -> bool {
        let has_writer = self.registry.is_some_and(|registry| registry.writer_of(column).is_some());
        !has_writer && aurora_suggest::nearest_within(column, self.proper_names(), |_| 1).is_some()
    }

    /// Suggests a similar name from the columns that stages write and the built-in columns.
    fn like(&self, column: &str) -> Option<String> {
        aurora_suggest::did_you_mean(column, self.proper_names().filter(|name| *name != column))
    }

    /// Returns the names of the columns that stages write, and of the built-in columns.
    fn proper_names(&self) -> impl Iterator<Item = &str> {
        let written = self.accesses.iter().flat_map(|access| access.written()).map(|column| column.name());
        written.chain(self.registry.into_iter().flat_map(Registry::columns).map(|known| known.name))
    }

    fn cycle(&self, path: &[(usize, EdgeReason)]) -> Diagnostic {
        let start = path.first().map_or(0, |(stage, _)| *stage);
        let mut text = format!("`{}`", self.name(start));
        for (at, (_, why)) in path.iter().enumerate() {
            let next = path.get(at + 1).map_or(start, |(stage, _)| *stage);
            text.push_str(&format!(" -> `{}` ({why})", self.name(next)));
        }
        let message = format!("stages wait for each other: {text}");
        let help = "remove one of these dependencies: an `after`, or a column in brackets".to_owned();
        Diagnostic::error(code::CYCLE, self.place(start), message).with_help(Some(help))
    }

    fn name(&self, stage: usize) -> &str {
        &self.sites[stage].name
    }

    fn place(&self, stage: usize) -> Option<Location> {
        self.sites[stage].location.clone()
    }
}
