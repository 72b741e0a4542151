//! Reports of the imports of files, and of the files that import a file.

use std::collections::BTreeSet;

use aurora_query::{FileImport, RelationIndex};
use aurora_storage::{Snapshot, StorageError};
use serde::Serialize;

use crate::chunk_name::Names;
use crate::error::ProjectError;
use crate::relations::{RelatedChunk, described};

/// Maximum number of files that an error lists.
const MAX_LISTED: usize = 10;
/// Maximum number of files of one package.
const MAX_FILES: usize = 256;
/// Names of files that represent their directory.
const INDEX_FILES: [&str; 6] = ["__init__", "index", "mod", "lib", "main", "init"];

/// The imports of files, or the files that import them, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportReport {
    /// The relation: `imports` or `imported-by`.
    pub relation: &'static str,
    /// The requested files: one file, or the files of a package.
    pub files: Vec<String>,
    /// The imports of each requested file, or the imports by which each importing file refers to the requested files.
    pub importing: Vec<ImportingFile>,
    /// Whether the report is complete: nothing was left out because of limits.
    pub complete: bool,
}

/// A file with imports.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportingFile {
    /// Path below the root.
    pub file: String,
    /// The imports, ordered by path.
    pub imports: Vec<ImportedPath>,
}

/// An import.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ImportedPath {
    /// The imported module or definition, as the source names it.
    pub path: String,
    /// The names that the import binds, if they differ from the end of the path; `*` for all names.
    pub names: Vec<String>,
    /// Whether the import resolves to nothing in the repository.
    pub external: bool,
    /// The files, or directories of packages, to which the import resolves.
    pub files: Vec<String>,
    /// The definitions to which the import resolves.
    pub definitions: Vec<RelatedChunk>,
}

/// Returns the imports of a file or of the files of a module.
///
/// # Errors
/// Returns [`ProjectError::UnknownFile`] or [`ProjectError::AmbiguousModule`] if `name` is not one file or module. Also
/// fails if the index cannot be read.
pub fn imports(names: &Names<'_>, relations: &RelationIndex<'_>, name: &str) -> Result<ImportReport, ProjectError> {
    let (files, _) = module(names, name)?;
    let mut report = ImportReport { relation: "imports", complete: true, ..ImportReport::default() };
    for file in files.iter().take(MAX_FILES) {
        let found = relations.imports_of(file)?;
        report.complete &= !found.is_cut;
        report.importing.push(ImportingFile { file: file.clone(), imports: paths(names.snapshot, found.list)? });
    }
    report.complete &= files.len() <= MAX_FILES;
    report.files = files;
    Ok(report)
}

/// Returns the files that import a file or module.
///
/// # Errors
/// See [`imports`].
pub fn imported_by(names: &Names<'_>, relations: &RelationIndex<'_>, name: &str) -> Result<ImportReport, ProjectError> {
    let (files, directory) = module(names, name)?;
    let mut wanted: Vec<String> = files.iter().take(MAX_FILES).cloned().collect();
    // A Go file is imported through the directory of its package.
    let directories: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.rsplit_once('/')?.0)).collect();
    let is_go = |directory: &&str| files.iter().any(|file| file.ends_with(".go") && file.starts_with(*directory));
    wanted.extend(directories.iter().copied().filter(is_go).map(str::to_owned));
    wanted.extend(directory);
    let found = relations.importers_of(&wanted)?;
    let mut report = ImportReport { relation: "imported-by", complete: !found.is_cut, ..ImportReport::default() };
    for importer in found.list {
        let imports = paths(names.snapshot, importer.imports)?;
        report.importing.push(ImportingFile { file: importer.file, imports });
    }
    report.complete &= files.len() <= MAX_FILES;
    report.files = files;
    Ok(report)
}

fn paths(snapshot: &Snapshot, imports: Vec<FileImport>) -> Result<Vec<ImportedPath>, StorageError> {
    let path = |import: FileImport| {
        let definitions = import.definitions.iter().filter_map(|id| described(snapshot, *id).transpose());
        Ok(ImportedPath {
            definitions: definitions.collect::<Result<_, StorageError>>()?,
            path: import.path,
            names: import.names,
            external: import.files.is_empty(),
            files: import.files,
        })
    };
    imports.into_iter().map(path).collect()
}

/// Returns the files that `name` refers to: a path, the directory of a package, or the name of a module, such as
/// `app.models` or `crate::net::send`. The second value is the directory.
fn module(names: &Names<'_>, name: &str) -> Result<(Vec<String>, Option<String>), ProjectError> {
    if let Some(file) = names.find_file(name)? {
        return Ok((vec![file.path], None));
    }
    names.check_inside(name)?;
    let plain = name.trim_start_matches("./").trim_end_matches('/');
    let dotted = plain.strip_prefix("crate::").unwrap_or(plain).replace("::", "/").replace(['.', '\\'], "/");
    let (mut exact, mut ending) = (Vec::new(), Vec::new());
    let (mut members, mut directories) = (Vec::new(), BTreeSet::new());
    for file in names.snapshot.files() {
        names.check()?;
        let path = file?.path;
        let (directory, last) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = last.split('.').next().unwrap_or(last);
        let whole = match INDEX_FILES.contains(&stem) {
            true => directory.to_owned(),
            false if directory.is_empty() => stem.to_owned(),
            false => format!("{directory}/{stem}"),
        };
        let ends_in =
            |whole: &str, end: &str| whole.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
        if whole == dotted {
            exact.push(path.clone());
        } else if ends_in(&whole, &dotted) {
            ending.push(path.clone());
        }
        // The path of a Go import begins with the name of the module.
        if !directory.is_empty() && (directory == plain || ends_in(directory, &dotted) || ends_in(plain, directory)) {
            directories.insert(directory.to_owned());
            members.push(path);
        }
    }
    let found = if exact.is_empty() { ending } else { exact };
    match found.as_slice() {
        [] => {}
        [one] => return Ok((vec![one.clone()], None)),
        several => {
            let files = several.iter().take(MAX_LISTED).cloned().collect();
            return Err(ProjectError::AmbiguousModule { name: name.to_owned(), count: several.len(), files });
        }
    }
    // The longest directory that matches.
    let longest = directories.iter().map(String::len).max().unwrap_or_default();
    let mut longest_ones = directories.into_iter().filter(|directory| directory.len() == longest);
    match (longest_ones.next(), longest_ones.next()) {
        (Some(directory), None) => {
            members.retain(|path| path.rsplit_once('/').is_some_and(|(own, _)| own == directory));
            Ok((members, Some(directory)))
        }
        _ => Err(ProjectError::UnknownFile { path: name.to_owned() }),
    }
}
