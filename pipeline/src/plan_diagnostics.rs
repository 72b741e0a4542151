//! Error and warning messages for the dependency graph.

use std::fmt::Display;

use crate::access::Access;
use crate::column::ColumnSpec;
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
    /// The stage. `site.writes` contains the columns that it probably writes.
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
    /// Reports that no stage before `reader` writes the column. `later` is a stage that writes the column afterwards,
    /// if any. Returns `None` if this may only be a consequence of another error.
    pub(crate) fn missing(&self, reader: usize, column: &str, later: Option<usize>) -> Option<Diagnostic> {
        let writes = |stage: &BrokenStage| stage.site.writes.iter().any(|written| written == column);
        let is_consequence = !self.known && !self.is_typing_error(column) || self.broken.iter().any(writes);
        (!is_consequence).then(|| self.missing_from(self.sites[reader], column, later))
    }

    pub(crate) fn unordered(&self, column: &str, first: usize, second: usize) -> Diagnostic {
        let (first, name) = (self.name(first), self.name(second));
        let message =
            format!("stages `{first}` and `{name}` both write column `{column}`, but their order is undefined");
        let help = format!(
            "add `after = [\"{first}\"]` to `{name}` or the other way round, or leave one out with `enabled = false`"
        );
        Diagnostic::error(code::UNORDERED_WRITERS, self.place(second), message).with_help(Some(help))
    }

    pub(crate) fn types(&self, reader: usize, read: &ColumnSpec, writer: usize, written: &ColumnSpec) -> Diagnostic {
        let message = format!(
            "stage `{}` reads column `{}` as `{}`, but `{}` writes it as `{}`",
            self.name(reader),
            read.name,
            read.cell,
            self.name(writer),
            written.cell
        );
        Diagnostic::error(code::COLUMN_TYPE, self.place(reader), message)
    }

    pub(crate) fn column_name(&self, stage: usize, column: &str) -> Diagnostic {
        let message = format!("stage `{}` names a column `{column}`", self.name(stage));
        let like = self.like(column).unwrap_or_else(|| "columns are named `file.*` or `chunk.*`".to_owned());
        Diagnostic::error(code::COLUMN_NAME, self.place(stage), message).with_help(Some(like))
    }

    /// Reports that there is no source. Returns `None` if this may only be a consequence of another error.
    pub(crate) fn no_source(&self) -> Option<Diagnostic> {
        let help = "a pipeline starts with a stage that emits batches".to_owned();
        let error = Diagnostic::error(code::NO_SOURCE, None, "the pipeline has no source").with_help(Some(help));
        (self.known && self.broken.is_empty()).then_some(error)
    }

    pub(crate) fn two_sources(&self, first: usize, second: usize) -> Diagnostic {
        let (first, name) = (self.name(first), self.name(second));
        let message = format!("`{name}` is a second source, in addition to `{first}`");
        let help = format!("disable one of them: `enabled = false` in [stage.{first}]");
        Diagnostic::error(code::TWO_SOURCES, self.place(second), message).with_help(Some(help))
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
            found.extend(certain.map(|column| self.missing_from(&stage.site, column, None)));
        }
        found
    }

    pub(crate) fn unread(&self, writer: usize, column: &str) -> Diagnostic {
        let message = format!("no stage reads column `{column}`, which `{}` writes", self.name(writer));
        Diagnostic::warning(code::UNREAD_COLUMN, self.place(writer), message)
    }

    fn missing_from(&self, reader: &StageSite, column: &str, later: Option<usize>) -> Diagnostic {
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

    /// Whether `column` is certainly a mistyped name: no registered stage type writes such a column, and the name
    /// differs by only one edit from the name of an existing column. This holds whatever columns the broken stages
    /// write.
    fn is_typing_error(&self, column: &str) -> bool {
        let has_writer = self.registry.is_some_and(|registry| registry.writer_of(column).is_some());
        !has_writer && aurora_suggest::nearest_within(column, self.existing_names(), |_| 1).is_some()
    }

    /// Suggests a similar name from the columns that stages write and the built-in columns.
    fn like(&self, column: &str) -> Option<String> {
        aurora_suggest::did_you_mean(column, self.existing_names().filter(|name| *name != column))
    }

    /// Returns the names of the columns that stages write, and of the built-in columns.
    fn existing_names(&self) -> impl Iterator<Item = &str> {
        let written = self.accesses.iter().flat_map(|access| access.written()).map(|column| column.name());
        written.chain(self.registry.into_iter().flat_map(Registry::columns).map(|known| known.name))
    }

    /// Reports stages that depend on each other in a cycle. `path` contains each stage of the cycle with the reason why
    /// the next stage depends on it. The first stage is not repeated at the end.
    pub(crate) fn cycle(&self, path: &[(usize, impl Display)]) -> Diagnostic {
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

pub(crate) fn no_sink() -> Diagnostic {
    Diagnostic::warning(code::NO_SINK, None, "the pipeline has no sink: nothing is kept")
}
