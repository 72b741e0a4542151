//! The modules that a program imports from the project, found by reading its text.
//!
//! Imports of Python, JavaScript, TypeScript, Ruby and shell scripts are read, not run: a name that is computed is not found. What
//! is not found is reported.

use std::collections::{BTreeMap, BTreeSet};

use aurora_confined::{Directory, EntryKind};

use super::files::{MAX_FILE_BYTES, ProgramError, add_content, candidates};

/// Maximum size in bytes of a text that is read for imports.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// The module that comes with the program itself.
const HELPER: &str = "aurora_stage";
/// Endings of files that contain no program.
const DATA: [&str; 9] = ["csv", "json", "md", "rst", "toml", "txt", "xml", "yaml", "yml"];
/// Endings that an import in JavaScript or TypeScript may leave out.
const JAVASCRIPT_ENDINGS: [&str; 11] =
    ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".json", "/index.js", "/index.mjs", "/index.ts"];

/// A language whose imports are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Python,
    JavaScript,
    Ruby,
    Shell,
}

/// One import, as a file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Import {
    /// A module of Python by its dotted name, and how many dots stand before it.
    Python { level: usize, module: String },
    /// A path relative to the importing file, whose ending may be missing.
    Relative { path: String, endings: &'static [&'static str] },
    /// A word of a shell script that may be a file, relative to the root or to the script.
    Word(String),
    /// A package that is installed elsewhere.
    Package(String),
}

/// The imports of a program that have been found so far.
pub(super) struct Imports {
    /// Directories in which Python looks for modules.
    bases: BTreeSet<String>,
    /// Imports with the directory of the file that states them.
    found: Vec<(String, Import)>,
    uncovered: BTreeSet<String>,
    /// Whether a file in an unknown language is reported.
    reports_unread: bool,
}

impl Imports {
    /// The imports in the arguments of a command.
    pub(super) fn from_command(command: &[String]) -> Self {
        let mut imports = Self {
            bases: BTreeSet::from([String::new()]),
            found: Vec::new(),
            uncovered: BTreeSet::new(),
            reports_unread: true,
        };
        let program = command.first().map(|program| program.rsplit('/').next().unwrap_or_default());
        let language = program.and_then(Language::from_interpreter);
        for pair in command.windows(2) {
            match (language, pair[0].as_str()) {
                (Some(Language::Python), "-m") => {
                    let module = Import::Python { level: 0, module: pair[1].clone() };
                    let main = Import::python_main(&pair[1]);
                    imports.found.extend([(String::new(), module), (String::new(), main)]);
                }
                (Some(Language::Python), "-c") => imports.read("", Language::Python, &pair[1]),
                (Some(Language::JavaScript), "-e" | "--eval" | "-p" | "--print") => {
                    imports.read("", Language::JavaScript, &pair[1]);
                }
                _ => {}
            }
        }
        imports
    }

    /// Takes files that follow as listed in the configuration, where data is as likely as a program.
    pub(super) fn expect_listed_files(&mut self) {
        self.reports_unread = false;
    }

    /// Adds the imports of a file that the command names or the configuration lists.
    pub(super) fn add_program(&mut self, path: &str, content: &[u8]) {
        self.bases.insert(directory_of(path).to_owned());
        self.add(path, content);
    }

    fn add(&mut self, path: &str, content: &[u8]) {
        // A compiled program loads libraries of the user.
        if content.contains(&0) {
            return;
        }
        let text = String::from_utf8_lossy(&content[..content.len().min(MAX_TEXT_BYTES)]);
        if content.len() > MAX_TEXT_BYTES {
            self.uncovered.insert(format!("imports of {path} beyond its first {} MiB", MAX_TEXT_BYTES >> 20));
        }
        match Language::from_file(path, &text) {
            Some(language) => self.read(directory_of(path), language, &text),
            None if !self.reports_unread || DATA.iter().any(|ending| path.rsplit('.').next() == Some(ending)) => {}
            None => {
                self.uncovered.insert(format!("what {path} loads, whose imports are not read"));
            }
        }
    }

    fn read(&mut self, directory: &str, language: Language, text: &str) {
        let imports = match language {
            Language::Python => {
                let lines = text.lines().filter(|line| line.contains("sys.path"));
                let places = lines.flat_map(quoted).flat_map(|place| [place.to_owned(), join(directory, place)]);
                self.bases.extend(places.filter_map(|place| normal(&place)));
                python(text)
            }
            Language::JavaScript => javascript(text),
            Language::Ruby => ruby(text),
            Language::Shell => candidates(text).skip(1).map(|word| Import::Word(word.to_owned())).collect(),
        };
        self.found.extend(imports.into_iter().map(|import| (directory.to_owned(), import)));
    }

    /// Adds the files of the project that are imported, directly or by another one, to `files`. Returns descriptions of everything
    /// else that the program may load.
    pub(super) fn resolve(
        mut self,
        root: &Directory,
        files: &mut BTreeMap<String, [u8; 32]>,
    ) -> Result<Vec<String>, ProgramError> {
        while let Some((directory, import)) = self.found.pop() {
            let mut is_found = false;
            for path in import.candidates(&directory, &self.bases) {
                if files.contains_key(&path) {
                    is_found = true;
                    continue;
                }
                match root.metadata(&path).map(|metadata| metadata.kind) {
                    Ok(EntryKind::File) => {}
                    Ok(EntryKind::Directory) | Err(_) => continue,
                    Ok(_) => {
                        self.uncovered.insert(format!("{path}, which is no regular file"));
                        continue;
                    }
                }
                let unreadable = |source| ProgramError::Unreadable { path: path.clone(), source };
                let content = root.read(&path, MAX_FILE_BYTES).map_err(unreadable)?;
                add_content(files, &path, &content)?;
                if matches!(import, Import::Word(_)) {
                    self.bases.insert(directory_of(&path).to_owned());
                }
                self.add(&path, &content);
                is_found = true;
            }
            if let Some(name) = import.package().filter(|_| !is_found) {
                self.uncovered.insert(format!("the module {name}, which is not in the project"));
            }
        }
        Ok(self.uncovered.into_iter().collect())
    }
}

impl Language {
    fn from_file(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("py" | "pyw") => Some(Self::Python),
            Some("js" | "mjs" | "cjs" | "jsx" | "ts" | "mts" | "cts" | "tsx") => Some(Self::JavaScript),
            Some("rb") => Some(Self::Ruby),
            Some("sh" | "bash" | "zsh" | "ksh") => Some(Self::Shell),
            _ => {
                let line = text.lines().next()?.strip_prefix("#!")?;
                line.split([' ', '/']).find_map(Self::from_interpreter)
            }
        }
    }

    /// The language that an interpreter runs, such as `python3.12`.
    fn from_interpreter(name: &str) -> Option<Self> {
        let name = name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
        match name {
            "python" | "pypy" => Some(Self::Python),
            "node" | "nodejs" | "deno" | "bun" => Some(Self::JavaScript),
            "ruby" => Some(Self::Ruby),
            "sh" | "bash" | "dash" | "zsh" | "ksh" => Some(Self::Shell),
            _ => None,
        }
    }
}

impl Import {
    /// What `python -m` runs of a package.
    fn python_main(module: &str) -> Self {
        Self::Python { level: 0, module: format!("{module}.__main__") }
    }

    /// The paths that may be meant.
    fn candidates(&self, directory: &str, bases: &BTreeSet<String>) -> Vec<String> {
        let paths: Vec<String> = match self {
            Self::Python { level: 0, module } => bases.iter().flat_map(|base| python_files(base, module)).collect(),
            Self::Python { level, module } => python_files(&join(directory, &"../".repeat(level - 1)), module),
            Self::Relative { path, endings } => {
                endings.iter().map(|ending| join(directory, &format!("{path}{ending}"))).collect()
            }
            Self::Word(word) => vec![word.clone(), join(directory, word.trim_start_matches('/'))],
            Self::Package(_) => Vec::new(),
        };
        paths.iter().filter_map(|path| normal(path)).filter(|path| !path.is_empty()).collect()
    }

    /// The name by which it is missed if there is no file.
    fn package(&self) -> Option<&str> {
        match self {
            Self::Python { level: 0, module } if !module.ends_with(".__main__") => {
                module.split('.').next().filter(|name| *name != HELPER)
            }
            Self::Relative { path, .. } | Self::Package(path) => Some(path),
            // A name that a package defines may be no module.
            Self::Python { .. } | Self::Word(_) => None,
        }
    }
}

/// The files of a module and of the packages around it.
fn python_files(base: &str, module: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut path = base.trim_end_matches('/').to_owned();
    for part in module.split('.').filter(|part| !part.is_empty()) {
        path = join(&path, part);
        paths.push(format!("{path}/__init__.py"));
    }
    if module.is_empty() {
        paths.push(join(&path, "__init__.py"));
    } else {
        paths.push(format!("{path}.py"));
    }
    paths
}

fn python(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut line = line.split('#').next().unwrap_or_default().to_owned();
        while (line.trim_end().ends_with('\\') || line.contains('(') && !line.contains(')'))
            && line.trim_start().starts_with("from")
        {
            let Some(next) = lines.next() else { break };
            line = format!("{} {}", line.trim_end().trim_end_matches('\\'), next.split('#').next().unwrap_or_default());
        }
        for statement in line.split([';', ':']).map(str::trim) {
            if let Some(names) = statement.strip_prefix("import ") {
                let modules = names.split(',').filter_map(|name| name.split_whitespace().next());
                imports.extend(modules.map(|module| Import::Python { level: 0, module: module.to_owned() }));
            } else if let Some((module, names)) =
                statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import"))
            {
                let module = module.trim();
                let name = module.trim_start_matches('.');
                let level = module.len() - name.len();
                imports.push(Import::Python { level, module: name.to_owned() });
                let names = names.trim_matches(|char: char| "() ".contains(char)).split(',');
                for member in names.filter_map(|name| name.split_whitespace().next()).filter(|name| *name != "*") {
                    let module = if name.is_empty() { member.to_owned() } else { format!("{name}.{member}") };
                    imports.push(Import::Python { level, module });
                }
            }
        }
    }
    let is_name = |module: &str| module.split('.').all(|part| part.chars().all(|c| c.is_alphanumeric() || c == '_'));
    imports.retain(|import| matches!(import, Import::Python { module, .. } if is_name(module)));
    imports
}

fn javascript(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for keyword in ["require", "import", "from"] {
        for (at, _) in text.match_indices(keyword) {
            let rest = text[at + keyword.len()..].trim_start();
            let rest = if keyword == "from" { rest } else { rest.trim_start_matches('(').trim_start() };
            let Some(path) = rest.strip_prefix(['"', '\'', '`']).and_then(|rest| rest.split(['"', '\'', '`']).next())
            else {
                continue;
            };
            imports.push(match path.starts_with('.') {
                true => Import::Relative { path: path.to_owned(), endings: &JAVASCRIPT_ENDINGS },
                false => Import::Package(path.strip_prefix("node:").unwrap_or(path).to_owned()),
            });
        }
    }
    imports.retain(|import| !matches!(import, Import::Package(name) if name.is_empty() || name.contains([' ', '\n'])));
    imports
}

fn ruby(text: &str) -> Vec<Import> {
    let mut imports = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let (is_relative, rest) = match (line.strip_prefix("require_relative"), line.strip_prefix("require")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => match line.strip_prefix("load") {
                Some(rest) => (false, rest),
                None => continue,
            },
        };
        let Some(path) = quoted(rest).into_iter().next() else { continue };
        imports.push(match is_relative || path.starts_with('.') {
            true => Import::Relative { path: path.to_owned(), endings: &["", ".rb"] },
            false => Import::Package(path.to_owned()),
        });
    }
    imports
}

/// The texts between quotation marks on a line.
fn quoted(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let inner = &rest[start + 1..];
        let Some(end) = inner.find(quote) else { break };
        found.push(&inner[..end]);
        rest = &inner[end + 1..];
    }
    found
}

fn directory_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

fn join(directory: &str, path: &str) -> String {
    if directory.is_empty() { path.to_owned() } else { format!("{directory}/{path}") }
}

/// The path without `.` and `..`; `None` if it leads out of the project.
fn normal(path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop()?,
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use aurora_pipeline::ProgramSpec;

    use crate::trust::ProgramIdentity;

    /// The files that are covered and what is not, of a command in a project with these files.
    fn covered(files: &[(&str, &str)], command: &[&str]) -> (Vec<String>, Vec<String>) {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            fs::write(path, text).expect("written");
        }
        let command = command.iter().map(|&part| part.to_owned()).collect();
        let spec = ProgramSpec { command, ..ProgramSpec::default() };
        let identity = ProgramIdentity::of(&spec, root.path()).expect("readable");
        (identity.covered().map(|file| file.path.clone()).collect(), identity.uncovered)
    }

    #[test]
    fn modules_of_the_project_are_covered() {
        let python = [
            ("tools/owner.py", "import json, teams\nfrom rules import (\n    by_path,  # a comment\n    names,\n)\n"),
            ("tools/teams.py", "from . import near\nif True: import deep.inner as inner\n"),
            ("tools/near.py", ""),
            ("tools/deep/__init__.py", ""),
            ("tools/deep/inner.py", "from ..near import x"),
            ("rules/__init__.py", ""),
            ("rules/names.py", ""),
            ("rules/other.py", ""),
        ];
        let expected = [
            "tools/owner.py",
            "rules/__init__.py",
            "rules/names.py",
            "tools/deep/__init__.py",
            "tools/deep/inner.py",
            "tools/near.py",
            "tools/teams.py",
        ];
        let (files, uncovered) = covered(&python, &["python3", "tools/owner.py"]);
        assert_eq!(files, expected);
        assert_eq!(uncovered, ["the module json, which is not in the project"]);
        let (files, _) = covered(&python[1..], &["python3", "-m", "tools.teams"]);
        assert!(
            files.contains(&"tools/teams.py".to_owned()) && files.contains(&"tools/near.py".to_owned()),
            "{files:?}"
        );
        let (files, _) = covered(&python, &["python3", "-c", "import rules.names"]);
        assert_eq!(files, ["rules/__init__.py", "rules/names.py"]);
    }

    #[test]
    fn directories_that_python_searches_are_read_from_the_text() {
        let text =
            "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), \"../lib\"))\nimport teams\n";
        let (files, uncovered) = covered(&[("tools/a.py", text), ("lib/teams.py", "")], &["python3", "tools/a.py"]);
        assert_eq!(files, ["tools/a.py", "lib/teams.py"]);
        assert_eq!(uncovered.len(), 2, "{uncovered:?}");
    }

    #[test]
    fn other_languages_are_read_too_or_reported() {
        let files = [
            ("tools/a.mjs", "import fs from \"node:fs\";\nimport { b } from './b';\nconst c = require(\"../c\");\n"),
            ("tools/b.ts", ""),
            ("c/index.js", ""),
            ("tools/run.sh", "#!/bin/sh\n. \"$(dirname \"$0\")/lib.sh\"\nexec python3 tools/d.py --all\n"),
            ("tools/lib.sh", ""),
            ("tools/d.py", "import e\n"),
            ("tools/e.py", ""),
            ("tools/f.rb", "require_relative 'g'\nrequire \"json\"\n"),
            ("tools/g.rb", ""),
            ("tools/h.pl", "use lib 'tools';\n"),
        ];
        let (found, uncovered) = covered(&files, &["node", "tools/a.mjs"]);
        assert_eq!(found, ["tools/a.mjs", "c/index.js", "tools/b.ts"]);
        assert_eq!(uncovered, ["the module fs, which is not in the project"]);
        let (found, _) = covered(&files, &["tools/run.sh"]);
        assert_eq!(found, ["tools/run.sh", "tools/d.py", "tools/e.py", "tools/lib.sh"]);
        let (found, uncovered) = covered(&files, &["ruby", "tools/f.rb"]);
        assert_eq!((found.len(), uncovered.len()), (2, 1), "{found:?} {uncovered:?}");
        let (_, uncovered) = covered(&files, &["perl", "tools/h.pl"]);
        assert_eq!(uncovered, ["what tools/h.pl loads, whose imports are not read"]);
    }
}
