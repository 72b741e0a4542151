//! The imports of a file with the files and definitions to which they resolve, and the files that import a file.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use aurora_storage::{Binding, ChunkId, Label, LabelKind};
use rustc_hash::FxHashSet;

use super::crates;
use super::imports::{self, ExportSearch};
use super::index::{Definition, Index, Result, directory};
use super::meaning::Meaning;
use super::modules;
use super::relations::RelationIndex;
use super::syntax::Imports;

/// Maximum number of imports of one file that are resolved.
const MAX_IMPORTS: usize = 4_096;
/// Maximum number of files that are examined for whether they import a file.
const MAX_FILES: usize = 4_096;

/// The imports of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileImports {
    /// The imports, ordered by path.
    pub list: Vec<FileImport>,
    /// Whether imports may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// An imported path with the names that it binds.
#[derive(Debug, Clone, PartialEq)]
pub struct FileImport {
    /// The path, as the index stores it: `./router`, `java.util.List`, `crate::net::send`.
    pub path: String,
    /// The names that the import binds in the file if they differ from the end of the path; `*` for all names.
    pub names: Vec<String>,
    /// Files, and directories of packages, to which the import resolves; empty if it is outside the repository.
    pub files: Vec<String>,
    /// The first chunks of the definitions to which the import resolves.
    pub definitions: Vec<ChunkId>,
}

/// The files that import a file or directory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Importers {
    /// The files, ordered by path.
    pub list: Vec<Importer>,
    /// Whether files may be missing, because of a limit or because the request was cancelled.
    pub is_cut: bool,
}

/// A file that imports another file.
#[derive(Debug, Clone, PartialEq)]
pub struct Importer {
    /// Path of the importing file.
    pub file: String,
    /// The imports that resolve to the file.
    pub imports: Vec<FileImport>,
}

impl RelationIndex<'_> {
    /// Returns the imports of a file.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn imports_of(&self, path: &str) -> Result<FileImports> {
        let index = &self.index;
        index.begin();
        let file = index.file(path)?;
        let Some(from) = file.definitions.iter().find(|one| one.is_module).or(file.definitions.first()) else {
            return Ok(FileImports::default());
        };
        let mut by_path: BTreeMap<&str, Vec<&Binding>> = BTreeMap::new();
        for import in &file.imports {
            by_path.entry(import).or_default();
        }
        for binding in &file.bindings {
            // A name that the file exports is bound to a path that the file does not import.
            by_path.entry(&binding.path).or_default().push(binding);
        }
        let mut found = FileImports { is_cut: by_path.len() > MAX_IMPORTS, ..FileImports::default() };
        for (path, bindings) in by_path.into_iter().take(MAX_IMPORTS) {
            let mut import = FileImport {
                path: path.to_owned(),
                names: bindings.iter().map(|binding| binding.name.clone()).collect(),
                files: Vec::new(),
                definitions: Vec::new(),
            };
            import.names.sort_unstable();
            import.names.dedup();
            let mut meanings = Vec::new();
            for binding in bindings.iter().filter(|binding| binding.name != "*") {
                meanings.push(imports::imported(index, &binding.name, from, &mut ExportSearch::default())?);
            }
            if !meanings.iter().any(|meaning| matches!(meaning, Meaning::Definitions(..) | Meaning::Variable(..))) {
                meanings.push(imports::named_by(index, path, from, &mut ExportSearch::default())?);
            }
            let (mut files, mut definitions) = (BTreeSet::new(), BTreeSet::new());
            for meaning in meanings {
                match meaning {
                    Meaning::Definitions(found, _) => {
                        files.extend(found.iter().map(|one| one.path.to_string()));
                        definitions.extend(found.into_iter().map(|one| one.id));
                    }
                    Meaning::Variable(file, _) => drop(files.insert(file)),
                    Meaning::Module(module, _) => files.extend(module_files(index, &module, from)?),
                    Meaning::External | Meaning::Unknown => files.extend(module_files(index, path, from)?),
                }
            }
            import.files = files.into_iter().collect();
            import.definitions = definitions.into_iter().collect();
            found.list.push(import);
        }
        found.is_cut |= index.is_spent();
        Ok(found)
    }

    /// Returns the files that import one of `paths`, which are files, or directories of packages.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn importers_of(&self, paths: &[String]) -> Result<Importers> {
        let index = &self.index;
        let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
        let mut words = FxHashSet::default();
        for path in &paths {
            let mut parts = path.rsplit('/');
            let stem = parts.next().map_or("", |name| name.split('.').next().unwrap_or(name));
            let is_index = matches!(stem, "index" | "__init__" | "mod" | "lib" | "main" | "init");
            words.insert(stem.to_lowercase());
            words.extend(parts.take(if is_index { 2 } else { 1 }).map(str::to_lowercase));
            let file = index.file(path)?;
            let top = file.definitions.iter().filter(|one| one.owner().is_empty() && !one.is_module);
            words.extend(top.map(|one| one.name.to_lowercase()));
        }
        let mut found = Importers::default();
        let mut candidates = BTreeSet::new();
        for label in index.snapshot.labels(LabelKind::Imports) {
            if index.is_cancelled() || candidates.len() > MAX_FILES {
                found.is_cut = true;
                break;
            }
            let (label, _) = label?;
            let is_relative = label.bytes().all(|byte| matches!(byte, b'.' | b'/'));
            let mut parts = label.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
            if !(is_relative || parts.any(|part| words.contains(part))) {
                continue;
            }
            for id in index.snapshot.label(Label::Imports(&label))?.iter().map(ChunkId) {
                if let Some(chunk) = index.snapshot.chunk(id)?
                    && !paths.contains(chunk.path())
                    && !candidates.contains(chunk.path())
                {
                    candidates.insert(chunk.path().to_owned());
                }
            }
        }
        for file in candidates.into_iter().take(MAX_FILES) {
            if index.is_cancelled() {
                found.is_cut = true;
                break;
            }
            let imports = self.imports_of(&file)?;
            found.is_cut |= imports.is_cut;
            let is_it = |import: &FileImport| import.files.iter().any(|target| paths.contains(target.as_str()));
            let imports: Vec<FileImport> = imports.list.into_iter().filter(is_it).collect();
            if !imports.is_empty() {
                found.list.push(Importer { file, imports });
            }
        }
        Ok(found)
    }
}

/// Returns the files of a module, or the directory of a package, that a path in the file of `from` names.
fn module_files(index: &Index<'_>, path: &str, from: &Rc<Definition>) -> Result<Vec<String>> {
    Ok(match from.syntax.imports {
        Imports::Python | Imports::Ecma | Imports::Lua => modules::files(index, path, &from.path, from.syntax.imports)?,
        Imports::Go => modules::go_directory(index, path, from)?.into_iter().collect(),
        Imports::Rust => crates::file(index, path, from)?.into_iter().collect(),
        Imports::Modules => modules::named(index, path, from)?.iter().map(|one| one.path.to_string()).collect(),
        Imports::Package | Imports::Global => {
            // A path that names a file: `#include "a/b.h"`, `import 'b.dart'`
            let place = path.trim_start_matches("./");
            let near = [directory(&from.path), "", "include", "src", "lib"];
            let candidates =
                near.map(|base| if base.is_empty() { place.to_owned() } else { format!("{base}/{place}") });
            let mut found = Vec::new();
            for candidate in candidates.into_iter().filter(|candidate| candidate.contains('.')) {
                if found.is_empty() && index.has_file(&candidate)? {
                    found.push(candidate);
                }
            }
            found
        }
    })
}
