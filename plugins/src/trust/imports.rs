//! The modules that a program imports from the project, found by reading its text.
//!
//! Imports of Python, JavaScript, TypeScript, Ruby and shell scripts are read, not run: a name that is computed is not found. What
//! is not found is reported.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aurora_confined::{Directory, EntryKind};
use serde_json::Value;

use super::files::{MAX_FILE_BYTES, ProgramError, add_content, candidates, real_path};

/// Maximum size in bytes of a text that is read for imports.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// The module that comes with the program itself.
const HELPER: &str = "aurora_stage";
/// Endings of files that contain no program.
const DATA: [&str; 9] = ["csv", "json", "md", "rst", "toml", "txt", "xml", "yaml", "yml"];
/// Endings that an import in JavaScript or TypeScript may leave out.
const JAVASCRIPT_ENDINGS: [&str; 22] = [
    "",
    ".js",
    ".mjs",
    ".cjs",
    ".jsx",
    ".ts",
    ".mts",
    ".cts",
    ".tsx",
    ".json",
    ".node",
    "/package.json",
    "/index.js",
    "/index.mjs",
    "/index.cjs",
    "/index.jsx",
    "/index.ts",
    "/index.mts",
    "/index.cts",
    "/index.tsx",
    "/index.json",
    "/index.node",
];
/// Endings that an import in Ruby may leave out.
const RUBY_ENDINGS: [&str; 5] = ["", ".rb", ".so", ".bundle", ".dll"];
/// Keys of a `package.json` with the modules that an import of the package means.
const PACKAGE_KEYS: [&str; 4] = ["main", "module", "exports", "imports"];

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
    /// A package of JavaScript, or a module of one, in a directory `node_modules`.
    NodePackage(String),
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
        let mut words = command.iter().flat_map(|argument| candidates(argument));
        if language == Some(Language::Shell) && words.any(|word| word == "cd") {
            imports.uncovered.insert("files that the command names after `cd`".to_owned());
        }
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
        if path.rsplit('/').next() == Some("package.json") {
            return self.add_package(path, content);
        }
        // A compiled program loads libraries of the user, compiled Python other modules.
        if content.contains(&0) {
            if path.ends_with(".pyc") {
                self.uncovered.insert(format!("what {path} loads, whose imports are not read"));
            }
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

    /// Adds the modules that a `package.json` names.
    fn add_package(&mut self, path: &str, content: &[u8]) {
        let Ok(package) = serde_json::from_slice::<Value>(content) else { return };
        let mut values: Vec<&Value> = PACKAGE_KEYS.iter().filter_map(|key| package.get(key)).collect();
        while let Some(value) = values.pop() {
            match value {
                Value::String(module) if module.contains('*') => {
                    self.uncovered.insert(format!("modules that {path} names by a pattern"));
                }
                Value::String(module) => {
                    let import = Import::Relative { path: module.clone(), endings: &JAVASCRIPT_ENDINGS };
                    self.found.push((directory_of(path).to_owned(), import));
                }
                Value::Array(inner) => values.extend(inner),
                Value::Object(inner) => values.extend(inner.values()),
                _ => {}
            }
        }
    }

    fn read(&mut self, directory: &str, language: Language, text: &str) {
        let imports = match language {
            Language::Python => {
                let is_path = |line: &&str| line.contains("sys.path") || line.contains("addsitedir");
                let lines = text.lines().filter(is_path);
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
        let mut listings = Listings { root, known: HashMap::new(), outside: None };
        let mut linked = BTreeSet::new();
        while let Some((directory, import)) = self.found.pop() {
            let mut is_found = false;
            let paths = import.candidates(&directory, &self.bases, &mut listings);
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
                        self.uncovered.insert(format!("{path}, which is a symbolic link out of the project"));
                        continue;
                    }
                    Ok(None) => return Err(ProgramError::Special { path }),
                    Err(_) => continue,
                };
                match root.metadata(&real).map(|metadata| metadata.kind) {
                    Ok(EntryKind::File) => {}
                    Ok(EntryKind::Directory) | Err(_) => continue,
                    Ok(_) => {
                        self.uncovered.insert(format!("{path}, which is no regular file"));
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
            if let Some(name) = import.package().filter(|_| !is_found) {
                self.uncovered.insert(format!("the module {name}, which was not found in the project"));
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
    fn candidates(&self, directory: &str, bases: &BTreeSet<String>, listings: &mut Listings<'_>) -> Vec<String> {
        let paths: Vec<String> = match self {
            Self::Python { level: 0, module } => {
                bases.iter().flat_map(|base| listings.python_files(base, module)).collect()
            }
            Self::Python { level, module } => listings.python_files(&join(directory, &"../".repeat(level - 1)), module),
            Self::Relative { path, endings } => {
                endings.iter().map(|ending| join(directory, &format!("{path}{ending}"))).collect()
            }
            Self::Word(word) => vec![word.clone(), join(directory, word.trim_start_matches('/'))],
            Self::NodePackage(name) if name.starts_with('#') => {
                above(directory).map(|above| join(above, "package.json")).collect()
            }
            Self::NodePackage(name) => above(directory).flat_map(|above| node_files(above, name)).collect(),
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
            Self::Relative { path, .. } | Self::NodePackage(path) | Self::Package(path) => Some(path),
            // A name that a package defines may be no module.
            Self::Python { .. } | Self::Word(_) => None,
        }
    }
}

/// The names of the entries of directories.
struct Listings<'a> {
    root: &'a Directory,
    known: HashMap<String, Vec<String>>,
    /// A directory that was asked for and lies behind a link out of the project.
    outside: Option<String>,
}

impl Listings<'_> {
    /// The files of a module of Python and of the packages around it: texts, compiled modules and libraries.
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
                        Err(std::io::ErrorKind::NotFound.into())
                    }
                }),
            };
            let entries = opened.and_then(|opened| opened.entries()).unwrap_or_default();
            entries.into_iter().filter_map(|(name, _)| name.into_string().ok()).collect()
        })
    }
}

/// Whether Python loads a file of this name for a module. A library may have a tag, as in `teams.cpython-311-x86_64-linux-gnu.so`.
fn is_python_module(name: &str, module: &str) -> bool {
    match name.rsplit_once('.') {
        Some((stem, "py" | "pyw" | "pyc")) => stem == module,
        Some((stem, "so" | "pyd")) => stem.split('.').next() == Some(module),
        _ => false,
    }
}

/// A directory and all directories above it, up to the root.
fn above(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |&below| (!below.is_empty()).then(|| directory_of(below)))
}

/// The files of a package of JavaScript in the directory `node_modules` of another one.
fn node_files(directory: &str, name: &str) -> Vec<String> {
    let place = join(directory, &format!("node_modules/{name}"));
    let parts = if name.starts_with('@') { 2 } else { 1 };
    let package: Vec<&str> = name.split('/').take(parts).collect();
    let description = join(directory, &format!("node_modules/{}/package.json", package.join("/")));
    let files = JAVASCRIPT_ENDINGS.iter().map(|ending| format!("{place}{ending}"));
    files.chain([description]).collect()
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
    for (at, call) in ["import_module", "__import__"].into_iter().flat_map(|call| text.match_indices(call)) {
        let argument = text[at + call.len()..].trim_start().strip_prefix('(').map(str::trim_start);
        let literal = argument.and_then(|argument| argument.strip_prefix(['"', '\'']));
        if let Some(module) = literal.and_then(|rest| rest.split(['"', '\'']).next()) {
            let name = module.trim_start_matches('.');
            imports.push(Import::Python { level: module.len() - name.len(), module: name.to_owned() });
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
                false => match path.strip_prefix("node:") {
                    Some(name) => Import::Package(name.to_owned()),
                    None => Import::NodePackage(path.to_owned()),
                },
            });
        }
    }
    imports.retain(|import| {
        let (Import::Package(name) | Import::NodePackage(name)) = import else { return true };
        !name.is_empty() && !name.contains([' ', '\n'])
    });
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
            true => Import::Relative { path: path.to_owned(), endings: &RUBY_ENDINGS },
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
        assert_eq!(uncovered, ["the module json, which was not found in the project"]);
        let (files, _) = covered(&python[1..], &["python3", "-m", "tools.teams"]);
        assert!(
            files.contains(&"tools/teams.py".to_owned()) && files.contains(&"tools/near.py".to_owned()),
            "{files:?}"
        );
        let (files, _) = covered(&python, &["python3", "-c", "import rules.names"]);
        assert_eq!(files, ["rules/__init__.py", "rules/names.py"]);
    }

    #[test]
    fn libraries_and_compiled_modules_that_appear_beside_a_module_change_the_digest() {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir_all(root.path().join("tools/deep")).expect("made");
        fs::write(root.path().join("tools/a.py"), "import helper, deep.inner\n").expect("written");
        for path in ["tools/helper.py", "tools/deep/inner.py"] {
            fs::write(root.path().join(path), "").expect("written");
        }
        let command = ["python3", "tools/a.py"].map(str::to_owned).to_vec();
        let spec = ProgramSpec { command, ..ProgramSpec::default() };
        let digest = || ProgramIdentity::of(&spec, root.path()).expect("readable").digest;
        let first = digest();
        let names = [
            "helper.so",
            "helper.pyc",
            "helper.pyd",
            "helper.abi3.so",
            "helper.cpython-311-x86_64-linux-gnu.so",
            "deep.so",
            "deep.py",
            "deep/__init__.abi3.so",
            "deep/inner.cpython-312-darwin.so",
        ];
        for name in names {
            let path = root.path().join("tools").join(name);
            fs::write(&path, "\0").expect("written");
            assert_ne!(digest(), first, "{name}");
            fs::remove_file(&path).expect("removed");
        }
        for name in ["helper.txt", "helpers.so", "other.py"] {
            fs::write(root.path().join("tools").join(name), "\0").expect("written");
            assert_eq!(digest(), first, "{name}");
        }
    }

    #[test]
    fn modules_of_the_project_were_described_as_missing() {
        let text = "import importlib\nfrom one import \\\n    name\nfrom two import (\n    name,\n)\n\ndef f():\n    if True:\n        from three import name\n\nimportlib.import_module(\"four\")\n__import__( 'five.inner' )\n";
        let names = ["one", "two", "three", "four", "five/inner"].map(|name| format!("tools/{name}.py"));
        let mut files = vec![("tools/a.py", text)];
        files.extend(names.iter().map(|name| (name.as_str(), "")));
        let (found, uncovered) = covered(&files, &["python3", "tools/a.py"]);
        assert!(names.iter().all(|name| found.contains(name)), "{found:?}");
        assert_eq!(uncovered, ["the module importlib, which was not found in the project"]);
    }

    #[test]
    fn packages_of_javascript_were_described_as_missing() {
        let files = [
            (
                "tools/a.mjs",
                "require('../lib/pd'); import x from \"left\"; import y from '@team/right/sub'; import '#own';",
            ),
            ("lib/pd/package.json", r#"{"main": "src/main"}"#),
            ("lib/pd/src/main.js", ""),
            ("node_modules/left/package.json", r#"{"exports": {".": {"import": "./es.mjs"}, "./*": "./more/*.js"}}"#),
            ("node_modules/left/es.mjs", "import 'deeper'"),
            ("node_modules/deeper/index.js", ""),
            ("tools/node_modules/@team/right/sub.js", ""),
            ("package.json", r##"{"imports": {"#own": "./own.js"}}"##),
            ("own.js", ""),
        ];
        let (found, uncovered) = covered(&files, &["node", "tools/a.mjs"]);
        assert_eq!(found.len(), files.len(), "{found:?}");
        assert_eq!(uncovered, ["modules that node_modules/left/package.json names by a pattern"]);
    }

    #[test]
    fn directories_that_python_searches_are_read_from_the_text() {
        let text =
            "import os, sys\nsys.path.insert(0, os.path.join(os.path.dirname(__file__), \"../lib\"))\nimport teams\n";
        let (files, uncovered) = covered(&[("tools/a.py", text), ("lib/teams.py", "")], &["python3", "tools/a.py"]);
        assert_eq!(files, ["tools/a.py", "lib/teams.py"]);
        assert_eq!(uncovered.len(), 2, "{uncovered:?}");
    }

    #[cfg(unix)]
    #[test]
    fn modules_behind_symbolic_links_were_not_covered() {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in [("tools/a.py", "import sys\nsys.path.append('lib')\nimport b\n"), ("common/b.py", "")] {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("made");
            fs::write(path, text).expect("written");
        }
        let link = root.path().join("tools/lib");
        std::os::unix::fs::symlink("../common", &link).expect("linked");
        let command = ["python3", "tools/a.py"].map(str::to_owned).to_vec();
        let spec = ProgramSpec { command, ..ProgramSpec::default() };
        let identity = ProgramIdentity::of(&spec, root.path()).expect("readable");
        assert_eq!(identity.modules.iter().map(|file| file.path.as_str()).collect::<Vec<_>>(), ["common/b.py"]);
        fs::remove_file(&link).expect("removed");
        std::os::unix::fs::symlink("/", &link).expect("linked");
        assert!(ProgramIdentity::of(&spec, root.path()).is_err());
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
        assert_eq!(uncovered, ["the module fs, which was not found in the project"]);
        let (found, _) = covered(&files, &["tools/run.sh"]);
        assert_eq!(found, ["tools/run.sh", "tools/d.py", "tools/e.py", "tools/lib.sh"]);
        let (found, uncovered) = covered(&files, &["ruby", "tools/f.rb"]);
        assert_eq!((found.len(), uncovered.len()), (2, 1), "{found:?} {uncovered:?}");
        let (_, uncovered) = covered(&files, &["perl", "tools/h.pl"]);
        assert_eq!(uncovered, ["what tools/h.pl loads, whose imports are not read"]);
    }
}
