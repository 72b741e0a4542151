//! Finds candidate files for imports.

use std::collections::{BTreeSet, HashMap};
use std::io;

use aurora_confined::Directory;

use super::super::files::real_path;
use super::import::Import;
use super::language::Language;
use super::paths::{above, directory_of, join, normal};

/// Extensions that an import in JavaScript or TypeScript may omit. An import of a directory may omit `/index`, too.
const JAVASCRIPT_EXTENSIONS: [&str; 10] =
    [".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".json", ".node"];
/// Extensions that an import in Ruby may omit.
const RUBY_ENDINGS: [&str; 5] = ["", ".rb", ".so", ".bundle", ".dll"];
/// Pairs of an extension in a TypeScript import and the extension of the source file.
const TYPESCRIPT_ENDINGS: [(&str, &str); 5] =
    [(".js", ".ts"), (".js", ".tsx"), (".jsx", ".tsx"), (".mjs", ".mts"), (".cjs", ".cts")];

/// A cache of the names of the entries in each directory.
pub(super) struct Listings<'a> {
    root: &'a Directory,
    known: HashMap<String, Vec<String>>,
    /// A requested directory that can only be reached through a symbolic link out of the project.
    pub(super) outside: Option<String>,
}

impl<'a> Listings<'a> {
    pub(super) fn new(root: &'a Directory) -> Self {
        Self { root, known: HashMap::new(), outside: None }
    }

    /// Returns the paths to which an import in a file of `directory` may refer. `bases` contains the directories of the
    /// search path.
    pub(super) fn paths(&mut self, import: &Import, directory: &str, bases: &BTreeSet<String>) -> Vec<String> {
        let paths: Vec<String> = match import {
            Import::Python { level: 0, module } => {
                bases.iter().flat_map(|base| self.python_files(base, module)).collect()
            }
            Import::Python { level, module } => self.python_files(&join(directory, &"../".repeat(level - 1)), module),
            Import::Relative { path, language } => with_endings(&join(directory, path), *language),
            Import::Searched(path) => {
                bases.iter().flat_map(|base| with_endings(&join(base, path), Language::Ruby)).collect()
            }
            Import::Word(word) => vec![word.clone(), join(directory, word.trim_start_matches('/'))],
            Import::NodePackage(name) if name.starts_with('#') => {
                above(directory).map(|above| join(above, "package.json")).collect()
            }
            Import::NodePackage(name) => above(directory).flat_map(|above| node_files(above, name)).collect(),
            Import::Package(_) => Vec::new(),
        };
        paths.iter().filter_map(|path| normal(path)).filter(|path| !path.is_empty()).collect()
    }

    /// Returns the files of a Python module and its parent packages: source files, compiled modules and libraries.
    fn python_files(&mut self, base: &str, module: &str) -> Vec<String> {
        let mut stems = Vec::new();
        let mut path = base.trim_end_matches('/').to_owned();
        for part in module.split('.').filter(|part| !part.is_empty()) {
            path = join(&path, part);
            stems.extend([path.clone(), join(&path, "__init__")]);
        }
        if module.is_empty() {
            stems.push(join(&path, "__init__"));
        }
        let mut files = Vec::new();
        for stem in stems.iter().filter_map(|stem| normal(stem)) {
            let (directory, module) = (directory_of(&stem), stem.rsplit('/').next().unwrap_or(&stem));
            let names = self.names(directory).iter().filter(|name| is_python_module(name, module));
            files.extend(names.map(|name| join(directory, name)));
        }
        files
    }

    fn names(&mut self, directory: &str) -> &[String] {
        let Self { root, known, outside } = self;
        known.entry(directory.to_owned()).or_insert_with(|| {
            let opened = match directory {
                "" => Ok((*root).clone()),
                _ => real_path(root, directory).and_then(|real| match real {
                    Some(real) => root.open_directory(real),
                    None => {
                        *outside = Some(directory.to_owned());
                        Err(io::ErrorKind::NotFound.into())
                    }
                }),
            };
            let entries = opened.and_then(|opened| opened.entries()).unwrap_or_default();
            entries.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect()
        })
    }
}

/// Whether Python would load a file with this name for a module. The name of a library may contain a platform tag, as
/// in `teams.cpython-311-x86_64-linux-gnu.so`.
fn is_python_module(name: &str, module: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "py" | "pyw" | "pyc")) => stem == module,
        Some((stem, "so" | "pyd")) => stem.split('.').next() == Some(module),
        _ => false,
    }
}

/// Returns the candidate files of a JavaScript package in the `node_modules` of a directory.
fn node_files(directory: &str, name: &str) -> Vec<String> {
    let path = join(directory, &format!("node_modules/{name}"));
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let description = join(directory, &format!("node_modules/{}/package.json", package.join("/")));
    javascript_files(&path).chain([description]).collect()
}

/// Returns the files to which an import of `path` in JavaScript or TypeScript may refer.
fn javascript_files(path: &str) -> impl Iterator<Item = String> {
    let [file, index] = [path.to_owned(), format!("{path}/index")]
        .map(|stem| JAVASCRIPT_EXTENSIONS.into_iter().map(move |extension| format!("{stem}{extension}")));
    [path.to_owned()].into_iter().chain(file).chain([format!("{path}/package.json")]).chain(index)
}

/// Returns the files to which an import of `path` may refer: the path with each extension that an import in the
/// language may omit, and, for a TypeScript import, the path with the extension of the source file.
fn with_endings(path: &str, language: Language) -> Vec<String> {
    let given: Vec<String> = match language {
        Language::Ruby => RUBY_ENDINGS.iter().map(|ending| format!("{path}{ending}")).collect(),
        _ => javascript_files(path).collect(),
    };
    let renamed = TYPESCRIPT_ENDINGS.iter().filter_map(|(from, to)| Some(format!("{}{to}", path.strip_suffix(from)?)));
    given.into_iter().chain(renamed).collect()
}
