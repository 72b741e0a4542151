//! The definitions that the differing lines of two versions of the sources touch.

use std::collections::{BTreeMap, BTreeSet};

use aurora_history::{FileChange, History, Options};
use aurora_languages::{FileSymbols, Language, Parser, SymbolKind, by_extension, by_file_name};
use aurora_query::{RelationIndex, WorkBudget};
use aurora_redact::masked;
use serde::Serialize;

use crate::chunk_name::Names;
use crate::error::ProjectError;

/// Maximum number of changed definitions.
const MAX_CHANGED: usize = 2_000;
/// Maximum number of differing files in a report.
const MAX_FILES: usize = 2_000;

/// A file that differs between two versions of the sources.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChangedFile {
    /// Path below the root.
    pub file: String,
    /// The change: `added`, `changed`, `removed` or `renamed`.
    pub change: &'static str,
    /// The path before a renaming.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renamed_from: Option<String>,
    /// Whether the file is binary, so that its lines are not compared.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binary: bool,
}

/// A definition that differing lines touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ChangedDefinition {
    /// Path of the file, or its old path if the definition was removed.
    pub file: String,
    /// Line of the definition in the version that contains it, from 1.
    pub line: u32,
    /// Qualified name.
    pub qualified_name: String,
    /// Name.
    pub name: String,
    /// The change: `added`, `changed` or `removed`.
    pub change: &'static str,
    /// Whether the definition is a member of a type.
    pub is_member: bool,
}

/// The differences between two versions of the sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceChanges {
    /// The range, as given; empty for the working tree.
    pub range: String,
    /// Whether the new version is the working tree.
    pub is_working_tree: bool,
    /// The differing files, ordered by path.
    pub files: Vec<ChangedFile>,
    /// The definitions, ordered by path and line.
    pub definitions: Vec<ChangedDefinition>,
    /// Whether nothing was left out because of a limit or a missing object.
    pub is_complete: bool,
}

/// Compares two versions of the sources of a project. `range` has the forms that `git diff` accepts, and is empty for
/// the working tree against HEAD.
///
/// # Errors
/// Returns [`ProjectError::NoRepository`] if the project is not in a git repository, and [`ProjectError::History`] if
/// the range is invalid. Also fails if the index cannot be read.
pub fn source_changes(names: &Names<'_>, range: &str) -> Result<SourceChanges, ProjectError> {
    let history = History::open(names.root, Options::default())?;
    let history = history.ok_or_else(|| ProjectError::NoRepository { root: names.root.to_owned() })?;
    let sides = history.resolve_range(range)?;
    let mut failed = None;
    let mut working = names.snapshot.files().filter_map(|file| file.map_err(|error| failed = Some(error)).ok());
    let mut working = working.by_ref().map(|file| file.path);
    let mut found = SourceChanges {
        range: range.to_owned(),
        is_working_tree: sides.new.is_none(),
        is_complete: true,
        ..SourceChanges::default()
    };
    let parser = Parser::new();
    let is_cancelled = || names.work.is_some_and(WorkBudget::is_cancelled);
    let compared = history.compare(sides, &mut working, &is_cancelled, &mut |change| {
        found.is_complete &= found.files.len() < MAX_FILES && found.definitions.len() < MAX_CHANGED;
        if found.files.len() < MAX_FILES {
            found.files.push(changed_file(&change));
        }
        if !change.is_binary && found.definitions.len() < MAX_CHANGED {
            found.definitions.extend(changed_definitions(&parser, &change, &is_cancelled));
        }
    })?;
    drop(working);
    if let Some(error) = failed {
        return Err(error.into());
    }
    names.check()?;
    found.definitions.sort();
    found.definitions.truncate(MAX_CHANGED);
    found.is_complete &= !compared.is_incomplete;
    Ok(found)
}

/// Returns the qualified names of the definitions that are still in the index, as chunks or members.
pub(crate) fn indexed(
    relations: &RelationIndex<'_>,
    changed: &ChangedDefinition,
) -> Result<Option<aurora_query::Named>, ProjectError> {
    if changed.change == "removed" {
        return Ok(None);
    }
    Ok(relations.find_in_file(&changed.file, &changed.qualified_name, &changed.name)?)
}

fn changed_file(change: &FileChange) -> ChangedFile {
    let kind = match change {
        FileChange { new: None, .. } => "removed",
        FileChange { renamed_from: Some(_), .. } => "renamed",
        FileChange { old: None, .. } => "added",
        _ => "changed",
    };
    ChangedFile {
        file: masked(change.path.clone()),
        change: kind,
        renamed_from: change.renamed_from.clone().map(masked),
        binary: change.is_binary,
    }
}

/// One version of a file.
struct Version {
    symbols: FileSymbols,
    /// For each line, the innermost symbol that contains it.
    owners: Vec<Option<usize>>,
    /// The constants by line, counted from 0.
    constants: BTreeMap<u32, Vec<String>>,
    /// Whether each line is blank.
    blank: Vec<bool>,
}

impl Version {
    fn read(parser: &Parser, language: &'static Language, bytes: &[u8], is_cancelled: &dyn Fn() -> bool) -> Self {
        let text = aurora_encoding::decode(bytes.to_vec()).map(|decoded| decoded.text).unwrap_or_default();
        let text = masked(text);
        let symbols = parser.parse_cancellable(Some(language), &text, is_cancelled);
        let blank: Vec<bool> = text.lines().map(|line| line.trim().is_empty()).collect();
        let mut owners = vec![None; blank.len()];
        for (at, symbol) in symbols.symbols.iter().enumerate() {
            let (first, last) = symbol.lines;
            let lines = first.saturating_sub(1) as usize..(last as usize).min(owners.len());
            if let Some(lines) = owners.get_mut(lines) {
                lines.fill(Some(at));
            }
        }
        let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let mut constants: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for constant in &symbols.constants {
            let line = starts.partition_point(|start| *start <= constant.at as usize).saturating_sub(1);
            constants.entry(line as u32).or_default().push(constant.name.clone());
        }
        Self { symbols, owners, constants, blank }
    }

    /// Returns the qualified name, the name and the line of each definition that lines touch.
    fn touched(&self, lines: impl Iterator<Item = u32>) -> BTreeSet<(String, String, u32, bool)> {
        let mut found = BTreeSet::new();
        for line in lines {
            if self.blank.get(line as usize).is_none_or(|blank| *blank) {
                continue;
            }
            if let Some(at) = self.owners[line as usize] {
                let symbol = &self.symbols.symbols[at];
                let is_named = !matches!(
                    symbol.kind,
                    SymbolKind::Section | SymbolKind::Block | SymbolKind::Module | SymbolKind::Implementation
                );
                if is_named {
                    let is_member = symbol.kind == SymbolKind::Method;
                    found.insert((symbol.qualified_name.clone(), symbol.name.clone(), symbol.lines.0, is_member));
                    continue;
                }
            }
            for name in self.constants.get(&line).into_iter().flatten() {
                found.insert((name.clone(), name.clone(), line + 1, false));
            }
        }
        found
    }

    fn names(&self) -> BTreeSet<&str> {
        let symbols = self.symbols.symbols.iter().map(|symbol| symbol.qualified_name.as_str());
        symbols.chain(self.constants.values().flatten().map(String::as_str)).collect()
    }
}

fn changed_definitions(
    parser: &Parser,
    change: &FileChange,
    is_cancelled: &dyn Fn() -> bool,
) -> Vec<ChangedDefinition> {
    let name = change.path.rsplit('/').next().unwrap_or(&change.path);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let language = by_file_name(name).or_else(|| by_extension(ending)).filter(|language| !language.is_prose());
    let Some(language) = language else { return Vec::new() };
    let empty = Vec::new();
    let read =
        |bytes: &Option<Vec<u8>>| Version::read(parser, language, bytes.as_ref().unwrap_or(&empty), is_cancelled);
    let (old, new) = (read(&change.old), read(&change.new));
    let (old_names, new_names) = (old.names(), new.names());
    let mut found: BTreeMap<String, ChangedDefinition> = BTreeMap::new();
    let before = old.touched(change.hunks.iter().flat_map(|(before, _)| before.clone()));
    let after = new.touched(change.hunks.iter().flat_map(|(_, after)| after.clone()));
    // The line in the new version takes precedence.
    for (is_new, touched) in [(true, after), (false, before)] {
        for (qualified_name, name, line, is_member) in touched {
            let (in_old, in_new) =
                (old_names.contains(qualified_name.as_str()), new_names.contains(qualified_name.as_str()));
            let kind = match (in_old, in_new) {
                (true, true) => "changed",
                (false, _) => "added",
                (true, false) => "removed",
            };
            let line = match new.symbols.symbols.iter().find(|symbol| symbol.qualified_name == qualified_name) {
                Some(symbol) if !is_new => symbol.lines.0,
                _ => line,
            };
            let old_path = change.renamed_from.as_ref().unwrap_or(&change.path);
            let file = if kind == "removed" { old_path } else { &change.path };
            found.entry(qualified_name.clone()).or_insert(ChangedDefinition {
                file: file.clone(),
                line,
                qualified_name,
                name,
                change: kind,
                is_member,
            });
        }
    }
    found.into_values().collect()
}
