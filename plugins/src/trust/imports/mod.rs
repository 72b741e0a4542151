//! Finds the modules that a program imports from the project by reading its source text.
//!
//! The source text of Python, JavaScript, TypeScript, Ruby and shell programs is read but not executed, so computed
//! names are not found. Imports for which no file is found are reported. A literal that is the path of a program in the
//! project is treated as an import. A literal that is the path of another file is reported.

mod import;
mod language;
mod lookup;
mod paths;
#[cfg(test)]
mod tests;
mod texts;
mod uncovered;

use std::collections::{BTreeMap, BTreeSet};

use aurora_confined::{Directory, EntryKind};
use serde_json::Value;

use self::import::Import;
use self::language::Language;
use self::lookup::Listings;
use self::paths::{directory_of, normal};
pub(super) use self::uncovered::Uncovered;
use super::files::{MAX_FILE_BYTES, ProgramError, add_content, candidates, real_path};

/// Maximum size of the source text that is read for imports, in bytes.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// Maximum length of a literal that may be a path, in bytes.
const MAX_LITERAL_BYTES: usize = 255;
/// Extensions of files that contain data and no program.
const DATA: [&str; 9] = ["csv", "json", "md", "rst", "toml", "txt", "xml", "yaml", "yml"];
/// Keys of a `package.json` that name the modules loaded by an import of the package.
const PACKAGE_KEYS: [&str; 4] = ["main", "module", "exports", "imports"];

/// The imports of a program that have been found.
pub(super) struct Imports {
    /// Directories in which Python and Ruby search for modules.
    bases: BTreeSet<String>,
    /// Pairs of the directory of a file and an import in this file.
    found: Vec<(String, Import)>,
    uncovered: Uncovered,
    /// Whether files in unknown languages are reported.
    reports_unread: bool,
}

impl Imports {
    /// Finds the imports in the arguments of a command.
    pub(super) fn from_command(command: &[String]) -> Self {
        let mut imports = Self {
            bases: BTreeSet::from([String::new()]),
            found: Vec::new(),
            uncovered: Uncovered::default(),
            reports_unread: true,
        };
        let program = command.first().map(|program| program.rsplit('/').next().unwrap_or_default());
        let language = program.and_then(Language::from_interpreter);
        let mut words = command.iter().flat_map(|argument| candidates(argument));
        if language == Some(Language::Shell) && words.any(|word| word == "cd") {
            imports.describe("files that the command names after `cd`".to_owned());
        }
        for (at, argument) in command.iter().enumerate() {
            let next = command.get(at + 1).map(String::as_str);
            if let Some(language) = language
                && let Some((option, value)) = option(language, argument, next)
            {
                imports.add_option(language, option, value);
            }
        }
        imports
    }

    /// Adds the module that an interpreter option loads.
    fn add_option(&mut self, language: Language, option: &str, value: &str) {
        let import = match (language, option) {
            (Language::Python, "m") => {
                self.found.push((String::new(), Import::python_main(value)));
                Import::Python { level: 0, module: value.to_owned() }
            }
            (Language::JavaScript, "r" | "--require" | "--import") => Import::node(value),
            (Language::Ruby, "r") => Import::Searched(value.to_owned()),
            (Language::Ruby, "I") => return self.bases.extend(value.split(':').filter_map(normal)),
            (Language::Python, "c")
            | (Language::JavaScript, "e" | "--eval" | "p" | "--print")
            | (Language::Ruby, "e") => return self.read("", language, value),
            _ => return,
        };
        self.found.push((String::new(), import));
    }

    /// Prepares for files that the configuration lists. They may be data, so files in unknown languages are no longer
    /// reported.
    pub(super) fn expect_listed_files(&mut self) {
        self.reports_unread = false;
    }

    /// Adds the imports of a file that is named in the command or listed in the configuration.
    pub(super) fn add_program(&mut self, path: &str, content: &[u8]) {
        self.search_directory_of(path);
        self.add(path, content);
    }

    /// Adds the directory of a file to the search path.
    pub(super) fn search_directory_of(&mut self, path: &str) {
        self.bases.insert(directory_of(path).to_owned());
    }

    fn add(&mut self, path: &str, content: &[u8]) {
        if path.rsplit('/').next() == Some("package.json") {
            return self.add_package(path, content);
        }
        // The imports of a compiled file cannot be read. This is reported only for compiled Python, which can load
        // modules of the project. Other compiled programs load only libraries from outside of the project.
        let unread = || format!("everything that {path} loads, because its imports are not read");
        if content.contains(&0) {
            if path.ends_with(".pyc") {
                self.describe(unread());
            }
            return;
        }
        let text = String::from_utf8_lossy(&content[..content.len().min(MAX_TEXT_BYTES)]);
        if content.len() > MAX_TEXT_BYTES {
            self.describe(format!("imports of {path} beyond its first {} MiB", MAX_TEXT_BYTES >> 20));
        }
        match Language::from_file(path, &text) {
            Some(language) => self.read(path, language, &text),
            None if !self.reports_unread || DATA.iter().any(|ending| path.rsplit('.').next() == Some(ending)) => {}
            None => self.describe(unread()),
        }
    }

    /// Adds a description of something that the program may load although its digest does not cover it.
    fn describe(&mut self, description: String) {
        self.uncovered.descriptions.insert(description);
    }

    /// Adds the modules named in a `package.json`.
    fn add_package(&mut self, path: &str, content: &[u8]) {
        let Ok(package) = serde_json::from_slice::<Value>(content) else { return };
        let mut values: Vec<&Value> = PACKAGE_KEYS.iter().filter_map(|key| package.get(key)).collect();
        while let Some(value) = values.pop() {
            match value {
                Value::String(module) if module.contains('*') => {
                    self.describe(format!("modules that {path} names by a pattern"));
                }
                Value::String(module) => {
                    let import = Import::Relative { path: module.clone(), language: Language::JavaScript };
                    self.found.push((directory_of(path).to_owned(), import));
                }
                Value::Array(inner) => values.extend(inner),
                Value::Object(inner) => values.extend(inner.values()),
                _ => {}
            }
        }
    }

    /// Adds the imports in a source text. `path` is empty for a text that is part of the command.
    fn read(&mut self, path: &str, language: Language, text: &str) {
        let directory = directory_of(path);
        let is_search_path = |line: &&str| texts::SEARCH_PATHS.iter().any(|name| line.contains(name));
        let places = text.lines().filter(is_search_path).flat_map(|line| texts::search_path(line, directory));
        self.bases.extend(places);
        let mut imports = match language {
            Language::Python => texts::python(text),
            Language::JavaScript => texts::javascript(text),
            Language::Ruby => texts::ruby(text),
            Language::Shell => candidates(text).skip(1).map(|word| Import::Word(word.to_owned())).collect(),
        };
        // Literals that are not programs are not listed for shell scripts, whose words are all imports already, and for
        // packages, which contain too many literals.
        let is_listed = language != Language::Shell && !path.is_empty() && !path.contains("node_modules/");
        for literal in text.lines().flat_map(texts::quoted) {
            if Language::from_file(literal, "").is_some() {
                imports.push(Import::Word(literal.to_owned()));
            } else if is_listed && is_path(literal) && !self.uncovered.literals.contains_key(literal) {
                self.uncovered.literals.insert(literal.to_owned(), path.to_owned());
            }
        }
        self.found.extend(imports.into_iter().map(|import| (directory.to_owned(), import)));
    }

    /// Adds the files of the project that are imported directly or indirectly to `files`. Returns everything else that
    /// the program may load.
    pub(super) fn resolve(
        mut self,
        root: &Directory,
        files: &mut BTreeMap<String, [u8; 32]>,
    ) -> Result<Uncovered, ProgramError> {
        let mut listings = Listings::new(root);
        let (mut linked, mut missing) = (BTreeSet::new(), Vec::new());
        let mut known_bases = self.bases.len();
        loop {
            let Some((directory, import)) = self.found.pop() else {
                if missing.is_empty() || self.bases.len() == known_bases {
                    break;
                }
                known_bases = self.bases.len();
                self.found.append(&mut missing);
                continue;
            };
            let mut is_found = false;
            let paths = listings.paths(&import, &directory, &self.bases);
            if let Some(path) = listings.outside.take() {
                return Err(ProgramError::Special { path });
            }
            for path in paths {
                if files.contains_key(&path) || linked.contains(&path) {
                    is_found = true;
                    continue;
                }
                let real = match real_path(root, &path) {
                    Ok(Some(real)) => real,
                    Ok(None) if matches!(import, Import::Word(_)) => {
                        self.describe(format!("{path}, which is a symbolic link out of the project"));
                        continue;
                    }
                    Ok(None) => return Err(ProgramError::Special { path }),
                    Err(_) => continue,
                };
                match root.metadata(&real).map(|metadata| metadata.kind) {
                    Ok(EntryKind::File) => {}
                    Ok(EntryKind::Directory) | Err(_) => continue,
                    Ok(_) => {
                        self.describe(format!("{path}, which is not a regular file"));
                        continue;
                    }
                }
                let unreadable = |source| ProgramError::Unreadable { path: path.clone(), source };
                let content = root.read(&real, MAX_FILE_BYTES).map_err(unreadable)?;
                add_content(files, &real, &content)?;
                if matches!(import, Import::Word(_)) {
                    self.bases.insert(directory_of(&path).to_owned());
                }
                self.add(&path, &content);
                if real != path {
                    self.add(&real, &content);
                    linked.insert(path);
                }
                is_found = true;
            }
            if !is_found && import.missing().is_some() {
                missing.push((directory, import));
            }
        }
        self.uncovered.missing = missing.iter().filter_map(|(_, import)| import.missing()).collect();
        Ok(self.uncovered)
    }
}

/// Parses an interpreter option and its value, which is in the same argument or in the next one. The result for a long
/// option includes the dashes.
fn option<'a>(language: Language, argument: &'a str, next: Option<&'a str>) -> Option<(&'a str, &'a str)> {
    if argument.starts_with("--") {
        return argument.split_once('=').or_else(|| Some((argument, next?)));
    }
    let letters = argument.strip_prefix('-')?;
    let at = letters.find(|letter: char| !language.flags().contains(letter))?;
    let (name, value) = (letters.get(at..at + 1)?, &letters[at + 1..]);
    if value.is_empty() { Some((name, next?)) } else { Some((name, value)) }
}

/// Whether a literal may be a file path.
fn is_path(literal: &str) -> bool {
    !literal.is_empty() && literal.len() <= MAX_LITERAL_BYTES && !literal.contains(char::is_whitespace)
}
