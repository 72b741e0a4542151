//! A filter as given by the user, and the resolution of the filter to a bitmap of chunks.

use std::collections::BTreeSet;
use std::path::PathBuf;

use aurora_storage::{ChunkType, Label, LabelKind, Snapshot, StorageError};
use roaring::{MultiOps, RoaringBitmap};

use crate::filter::columns::{self, unreadable_tags_note};
use crate::filter::condition::Condition;
use crate::filter::error::{FilterError, MAX_TOTAL_BYTES, MAX_VALUE_BYTES, MAX_VALUES, SelectError};
use crate::filter::filtered_index::FilteredIndex;
use crate::filter::paths::PathPatterns;
use crate::filter::properties::language_chunks;
use crate::filter::text::TextFilter;
use crate::filter::types::parse_type;
use crate::memory::Source;
use crate::work::WorkBudget;

/// Filters as given by the user. A chunk must match every field that is not empty. For types, languages, paths and
/// sources, one matching item is sufficient.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FilterSpec {
    /// Chunk types; `code` means every type of source code. An item can contain several types, separated by commas.
    pub types: Vec<String>,
    /// Languages, such as `python`.
    pub languages: Vec<String>,
    /// Globs over paths relative to the root: `src/**/*.py`, `*.py` (at any depth), `src/auth` (everything below it).
    /// Paths can also be absolute, or relative to [`from`](Self::from).
    pub paths: Vec<String>,
    /// Another directory, in addition to the root, to which paths can be relative.
    pub from: Option<PathBuf>,
    /// Conditions on metadata. A chunk must meet all of them.
    pub where_: Vec<Condition>,
    /// Regular expressions that must all match the chunk's text; see [`TextFilter`].
    pub grep: Vec<String>,
    /// Literal texts. The chunk's text must contain all of them.
    pub fixed: Vec<String>,
    /// Sources of results; empty for all sources.
    pub sources: Vec<Source>,
}

/// A valid filter.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    types: BTreeSet<ChunkType>,
    languages: Vec<String>,
    paths: Option<PathPatterns>,
    /// See [`FilterSpec::from`].
    from: Option<PathBuf>,
    where_: Vec<Condition>,
    text: TextFilter,
    sources: Vec<Source>,
}

/// The chunks that pass a filter, and notes about the filter.
#[derive(Debug, Default)]
pub(crate) struct ChunkSelection {
    /// `None` if every chunk passes.
    pub(crate) chunks: Option<RoaringBitmap>,
    pub(crate) notes: Vec<String>,
}

impl FilterSpec {
    /// Adds a condition such as `owner=payments`, `churn>5` or `owner in a,b`.
    ///
    /// # Errors
    /// Returns [`FilterError::Condition`] if `text` has no operator or no key, and [`FilterError::List`] if its list is
    /// invalid.
    pub fn add_condition(&mut self, text: &str) -> Result<(), FilterError> {
        self.where_.push(text.parse()?);
        Ok(())
    }

    /// Checks the filters without reading an index.
    ///
    /// # Errors
    /// Returns the first error: an invalid type, path or pattern, or too many values.
    pub fn check(&self) -> Result<(), FilterError> {
        self.resolve(&WorkBudget::default()).map(drop)
    }

    pub(crate) fn resolve(&self, work: &WorkBudget) -> Result<Filter, FilterError> {
        let conditions: Vec<String> = self.where_.iter().map(Condition::to_string).collect();
        for (what, values) in [
            ("chunk types", &self.types),
            ("languages", &self.languages),
            ("path patterns", &self.paths),
            ("conditions", &conditions),
        ] {
            check_size(what, values)?;
        }
        let types = names_in(&self.types).map(parse_type).collect::<Result<Vec<_>, _>>()?;
        let languages: BTreeSet<String> = names_in(&self.languages).map(str::to_owned).collect();
        Ok(Filter {
            types: types.into_iter().flatten().collect(),
            languages: languages.into_iter().collect(),
            paths: (!self.paths.is_empty())
                .then(|| PathPatterns::new(self.paths.clone(), self.from.clone()))
                .transpose()?,
            from: self.from.clone(),
            where_: self.where_.clone(),
            text: self.text(work)?,
            sources: self.sources.clone(),
        })
    }

    /// Compiles the patterns that a chunk's text must match.
    ///
    /// # Errors
    /// Returns [`FilterError::Pattern`] for the first invalid pattern, and other errors if the patterns are too many,
    /// too long, or need too much memory.
    pub fn text(&self, work: &WorkBudget) -> Result<TextFilter, FilterError> {
        check_size("patterns", &self.grep)?;
        check_size("fixed texts", &self.fixed)?;
        TextFilter::within(&self.grep, &self.fixed, work)
    }

    /// Returns whether a condition names the column.
    pub(crate) fn names(&self, column: &str) -> bool {
        self.where_.iter().any(|condition| condition.key == column)
    }

    /// Returns whether the filter accepts every chunk. A search without a query requires a filter that is not empty.
    pub fn is_empty(&self) -> bool {
        let Self { types, languages, paths, from: _, where_, grep, fixed, sources } = self;
        let has_names =
            |values: &[String]| values.iter().any(|value| value.contains(|char: char| !",\t ".contains(char)));
        !has_names(types)
            && !has_names(languages)
            && [paths, grep, fixed].into_iter().all(Vec::is_empty)
            && where_.is_empty()
            && sources.is_empty()
    }
}

/// Checks the number and the length of values.
fn check_size(what: &'static str, values: &[String]) -> Result<(), FilterError> {
    let is_fine = values.len() <= MAX_VALUES
        && values.iter().all(|value| value.len() <= MAX_VALUE_BYTES)
        && values.iter().map(String::len).sum::<usize>() <= MAX_TOTAL_BYTES;
    if is_fine { Ok(()) } else { Err(FilterError::TooMuch { what }) }
}

impl Filter {
    /// The compiled patterns that a chunk's text must match.
    pub(crate) fn text(&self) -> &TextFilter {
        &self.text
    }

    /// Checks that every condition fits the column that it names, in each index that has the column.
    ///
    /// A column that no index has is an error if the name is probably misspelt or if there are custom columns.
    /// Otherwise the stage that writes the column may not have run yet, so the condition finds nothing.
    ///
    /// # Errors
    /// Fails if a condition does not fit its column, or if a path is outside of all indexed directories.
    pub(crate) fn check_against(&self, indexes: &[FilteredIndex<'_>]) -> Result<(), SelectError> {
        self.paths.iter().try_for_each(|paths| paths.check(indexes))?;
        let snapshots = indexes.iter().map(|index| index.snapshot);
        for condition in &self.where_ {
            let (mut unknown, mut is_known) = (None, columns::is_built_in(&condition.key));
            for snapshot in snapshots.clone() {
                match columns::check(condition, snapshot) {
                    Ok(()) => is_known = true,
                    // Projects precede memories in the list of indexes, so the first error is the most useful one.
                    Err(SelectError::Filter(error @ FilterError::Column { .. })) => unknown = unknown.or(Some(error)),
                    Err(error) => return Err(error),
                }
            }
            let has_columns = snapshots.clone().any(|snapshot| !snapshot.manifest().columns.is_empty());
            let is_mistake = |error: &FilterError| {
                has_columns || matches!(error, FilterError::Column { help, .. } if help.is_some())
            };
            if let Some(error) = unknown.filter(|error| !is_known && is_mistake(error)) {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Returns the chunks of an index that pass the filter, among the chunks that a search may find.
    ///
    /// # Errors
    /// Fails if a condition does not fit its column, or if the index cannot be read.
    pub(crate) fn select(&self, index: &FilteredIndex<'_>, work: &WorkBudget) -> Result<ChunkSelection, SelectError> {
        let snapshot = index.snapshot;
        let visible = index.memory.map(|memory| memory.visible(snapshot)).transpose()?.flatten();
        let mut selection = ChunkSelection { chunks: visible, notes: Vec::new() };
        if !self.sources.is_empty() {
            let is_provided =
                |kind: &ChunkType| self.sources.iter().any(|source| source.provides(*kind, index.memory.is_some()));
            if !ChunkType::ALL.iter().all(is_provided) {
                let kinds = ChunkType::ALL.iter().copied().filter(is_provided);
                let any = kinds.map(|kind| snapshot.label(Label::Type(kind))).union()?;
                selection.require(any, || Ok("No chunk comes from the requested source".to_owned()))?;
            }
        }
        if !self.types.is_empty() {
            let any = self.types.iter().map(|kind| snapshot.label(Label::Type(*kind))).union()?;
            selection.require(any, || Ok("No chunk has the requested type".to_owned()))?;
        }
        if !self.languages.is_empty() {
            let any = self.languages.iter().map(|language| language_chunks(snapshot, language)).union()?;
            selection.require(any, || no_language(snapshot, &self.languages))?;
        }
        for condition in &self.where_ {
            match columns::select(condition, index, self.from.as_deref(), selection.chunks.as_ref(), work) {
                Ok(some) => selection.require(some, || Ok(no_chunk(condition)))?,
                // The column belongs to another index, or no chunk has a value yet. Entries of memory and code have
                // different columns, so entries do not count as chunks without a value.
                Err(SelectError::Filter(missing @ FilterError::Column { .. })) => {
                    let passes = condition.accepts_missing() && index.memory.is_none();
                    let chunks = if passes { snapshot.live().clone() } else { RoaringBitmap::new() };
                    selection.require(chunks, || Ok(missing.to_string()))?;
                }
                // Only conditions on tags read records that can be damaged in this way. The search continues without
                // tags.
                Err(SelectError::Storage(error @ StorageError::DamagedRecords { .. })) => {
                    selection.require(RoaringBitmap::new(), || Ok(unreadable_tags_note(&error)))?;
                }
                Err(error) => return Err(error),
            }
        }
        if let Some(paths) = &self.paths {
            let below = paths.select(index, work)?;
            selection.require(below, || Ok("No indexed file matches the requested path".to_owned()))?;
        }
        if !self.text.is_empty() {
            // The text filter is last, because reading texts is the most expensive step.
            let found = self.text.select(snapshot, selection.chunks.as_ref(), work)?;
            selection.require(found, || Ok("No chunk contains the requested text".to_owned()))?;
        }
        Ok(selection)
    }
}

impl ChunkSelection {
    /// Restricts the selection to `chunks`. If `chunks` is empty, adds the note that `note` returns.
    fn require(
        &mut self,
        chunks: RoaringBitmap,
        note: impl FnOnce() -> Result<String, StorageError>,
    ) -> Result<(), StorageError> {
        if chunks.is_empty() {
            self.notes.push(note()?);
        }
        self.chunks = Some(match self.chunks.take() {
            Some(already) => already & chunks,
            None => chunks,
        });
        Ok(())
    }
}

/// Splits values at commas into names.
pub(super) fn names_in(values: &[String]) -> impl Iterator<Item = &str> {
    values.iter().flat_map(|item| item.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

fn no_chunk(condition: &Condition) -> String {
    let hint = if condition.resembles_list() {
        format!("; a list is written as '{} in a,b'", condition.key)
    } else {
        String::new()
    };
    format!("No chunk has {condition}{hint}")
}

fn no_language(snapshot: &Snapshot, languages: &[String]) -> Result<String, StorageError> {
    let known =
        snapshot.labels(LabelKind::Language).map(|row| row.map(|(name, _)| name)).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("No chunk is written in {}; indexed languages: {}", languages.join(" or "), known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_and_too_many_values_are_rejected() {
        let long = vec!["a".repeat(MAX_VALUE_BYTES + 1)];
        let many = vec!["a".to_owned(); MAX_VALUES + 1];
        let much = vec!["a".repeat(MAX_VALUE_BYTES - 10); MAX_TOTAL_BYTES / MAX_VALUE_BYTES + 1];
        for values in [long, many, much] {
            let where_ = values.iter().map(|value| format!("owner={value}").parse().expect("a condition")).collect();
            for spec in [
                FilterSpec { languages: values.clone(), ..FilterSpec::default() },
                FilterSpec { paths: values.clone(), ..FilterSpec::default() },
                FilterSpec { where_, ..FilterSpec::default() },
                FilterSpec { grep: values.clone(), ..FilterSpec::default() },
                FilterSpec { fixed: values.clone(), ..FilterSpec::default() },
            ] {
                assert!(matches!(spec.check(), Err(FilterError::TooMuch { .. })));
            }
        }
    }

    #[test]
    fn an_error_names_the_invalid_pattern() {
        let spec = FilterSpec { paths: vec!["src/[".to_owned()], ..FilterSpec::default() };
        assert!(spec.check().expect_err("the glob is invalid").to_string().starts_with("Invalid path pattern 'src/['"));
    }
}
