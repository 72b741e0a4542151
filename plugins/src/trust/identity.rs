//! The identity of a program: its command, and the content of its files in the project.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Component, Path, PathBuf};

use aurora_confined::{Directory, EntryKind};
use aurora_pipeline::ProgramSpec;

use super::files::{MAX_FILE_BYTES, ProgramError, add_content, candidates, real_path};
use super::imports::{Imports, Uncovered};

/// Names of entry points. A directory that a command names is part of the program only if it contains one of these
/// files.
const ENTRY_POINTS: [&str; 3] = ["__main__.py", "index.js", "package.json"];

/// The identity of a program that the user can allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramIdentity {
    /// BLAKE3 hash of `program`, `modules`, the names of the inputs, and the configuration. The user gives consent for
    /// this digest.
    pub digest: [u8; 32],
    /// BLAKE3 hash of the command, the names of the environment variables, and the paths and contents of `files`.
    pub program: [u8; 32],
    /// Files of the project that the command names or the configuration lists, sorted by path.
    pub files: Vec<ProgramFile>,
    /// Other files of the project that `files` import directly or indirectly, sorted by path.
    pub modules: Vec<ProgramFile>,
    /// Files and modules that the program may load although the digest does not cover them.
    pub(super) uncovered: Uncovered,
}

/// A file of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFile {
    /// Path relative to the root of the project, separated by `/`.
    pub path: String,
    /// BLAKE3 hash of the content.
    pub hash: [u8; 32],
}

impl ProgramFile {
    /// The hash as hexadecimal text.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.hash).to_hex().to_string()
    }
}

impl ProgramIdentity {
    /// Reads the files of a program in the project at `root`: the files that the command names (as a whole argument or
    /// as a part of one), the files that the specification lists, and all files that these files import directly or
    /// indirectly. Files outside of the project are not included, because a repository cannot change them.
    ///
    /// # Errors
    /// Returns an error if a named file is a symbolic link out of the project, if a listed file is a symbolic link, if
    /// a file cannot be read, or if there are too many files.
    pub fn from_spec(spec: &ProgramSpec, root: &Path) -> Result<Self, ProgramError> {
        let unreadable = |source| ProgramError::Unreadable { path: ".".to_owned(), source };
        let directory = Directory::open_root(root).map_err(unreadable)?;
        let mut imports = Imports::from_command(&spec.command);
        let mut files = FileSet { root: &directory, found: BTreeMap::new(), imports: Some(&mut imports) };
        for path in spec.command.iter().flat_map(|argument| candidates(argument)) {
            if let Some(path) = below(root, path).filter(|path| !path.is_empty()) {
                files.add_named(&path)?;
            }
        }
        if let Some(imports) = &mut files.imports {
            imports.expect_listed_files();
        }
        for given in &spec.files {
            let path = below(root, given).ok_or_else(|| ProgramError::Outside { path: given.clone() })?;
            files.add(&path)?;
        }
        let found = files.found;
        let program = digest_of_program(spec, &sorted(found.clone()));
        let mut modules = found.clone();
        let mut uncovered = imports.resolve(&directory, &mut modules)?;
        uncovered.forget(&spec.inputs);
        modules.retain(|path, _| !found.contains_key(path));
        let (files, modules) = (sorted(found), sorted(modules));
        Ok(Self { digest: digest(program, &modules, spec), program, files, modules, uncovered })
    }

    /// The digest as hexadecimal text.
    pub fn hex(&self) -> String {
        blake3::Hash::from_bytes(self.digest).to_hex().to_string()
    }

    /// Describes everything that the program may load although the digest does not cover it. Searches the project at
    /// `root` for candidate files.
    pub fn not_covered(&self, root: &Path) -> Vec<String> {
        let Ok(directory) = Directory::open_root(root) else { return Vec::new() };
        self.uncovered.describe(&directory, |path| self.covered().any(|file| file.path == path))
    }

    /// Iterates over the files that the digest covers.
    pub fn covered(&self) -> impl Iterator<Item = &ProgramFile> {
        self.files.iter().chain(&self.modules)
    }

    /// Whether the digest covers any file of the project. If it does not, the program can change without a change of
    /// the digest.
    pub fn has_files(&self) -> bool {
        self.covered().next().is_some()
    }

    /// Returns the BLAKE3 hash of `modules`, or `None` if the program imports no module of the project.
    pub(crate) fn modules_hash(&self) -> Option<blake3::Hash> {
        let mut hasher = blake3::Hasher::new_derive_key("aurora program modules 1");
        put_files(&mut hasher, &self.modules);
        (!self.modules.is_empty()).then(|| hasher.finalize())
    }
}

fn sorted(found: BTreeMap<String, [u8; 32]>) -> Vec<ProgramFile> {
    found.into_iter().map(|(path, hash)| ProgramFile { path, hash }).collect()
}

/// Returns the BLAKE3 hash of the files in the project at `root` on which the output of a stage depends. The hash also
/// covers which files are missing, so it changes when such a file is created.
///
/// # Errors
/// Returns an error if a path leads out of the project, or if a file cannot be read.
pub fn digest_of_inputs(inputs: &[String], root: &Path) -> Result<[u8; 32], ProgramError> {
    let unreadable = |source| ProgramError::Unreadable { path: ".".to_owned(), source };
    let directory = Directory::open_root(root).map_err(unreadable)?;
    let mut files = FileSet { root: &directory, found: BTreeMap::new(), imports: None };
    let mut hasher = blake3::Hasher::new_derive_key("aurora stage inputs 1");
    for given in inputs {
        let path = below(root, given).ok_or_else(|| ProgramError::Outside { path: given.clone() })?;
        match files.add(&path) {
            Err(ProgramError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                put(&mut hasher, given.as_bytes());
            }
            added => added?,
        }
    }
    for (path, hash) in files.found {
        put(&mut hasher, path.as_bytes());
        hasher.update(&hash);
    }
    Ok(*hasher.finalize().as_bytes())
}

fn digest_of_program(spec: &ProgramSpec, files: &[ProgramFile]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("aurora program 1");
    put_list(&mut hasher, &spec.command);
    put_set(&mut hasher, &spec.environment);
    put_files(&mut hasher, files);
    *hasher.finalize().as_bytes()
}

fn digest(program: [u8; 32], modules: &[ProgramFile], spec: &ProgramSpec) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("aurora program 2");
    hasher.update(&program);
    hasher.update(&(modules.len() as u64).to_le_bytes());
    put_files(&mut hasher, modules);
    put_set(&mut hasher, &spec.inputs);
    // The text is deterministic, because maps of `serde_json` have sorted keys.
    let config = serde_json::Value::Object(spec.config.clone()).to_string();
    put(&mut hasher, config.as_bytes());
    *hasher.finalize().as_bytes()
}

fn put_list<T: AsRef<str>>(hasher: &mut blake3::Hasher, texts: &[T]) {
    hasher.update(&(texts.len() as u64).to_le_bytes());
    texts.iter().for_each(|text| put(hasher, text.as_ref().as_bytes()));
}

fn put_set(hasher: &mut blake3::Hasher, texts: &[String]) {
    let texts: BTreeSet<&String> = texts.iter().collect();
    put_list(hasher, &texts.into_iter().collect::<Vec<_>>());
}

fn put_files(hasher: &mut blake3::Hasher, files: &[ProgramFile]) {
    for file in files {
        put(hasher, file.path.as_bytes());
        hasher.update(&file.hash);
    }
}

fn put(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// Returns a path relative to the root, separated by `/`. Returns `None` if the path is outside of the root.
fn below(root: &Path, path: &str) -> Option<String> {
    let path = Path::new(path);
    let relative = if path.is_absolute() { path.strip_prefix(root).ok()? } else { path };
    let mut plain = PathBuf::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => plain.push(name),
            Component::CurDir => {}
            Component::ParentDir if plain.pop() => {}
            _ => return None,
        }
    }
    let parts: Option<Vec<&str>> = plain.iter().map(|part| part.to_str()).collect();
    Some(parts?.join("/"))
}

/// The files of a program that have been read.
struct FileSet<'a> {
    root: &'a Directory,
    found: BTreeMap<String, [u8; 32]>,
    /// Collects the imports of the files; `None` if the files are inputs, whose imports do not matter.
    imports: Option<&'a mut Imports>,
}

impl FileSet<'_> {
    /// Adds a path that a command names, if it is a file of the project or a directory with an entry point.
    fn add_named(&mut self, path: &str) -> Result<(), ProgramError> {
        let real = match real_path(self.root, path) {
            Ok(Some(real)) => real,
            Ok(None) => return Err(ProgramError::Special { path: path.to_owned() }),
            Err(_) => return Ok(()),
        };
        let Ok(metadata) = self.root.metadata(&real) else { return Ok(()) };
        let is_program = |name: &&str| self.root.metadata(format!("{real}/{name}")).is_ok();
        if metadata.kind == EntryKind::Directory && !ENTRY_POINTS.iter().any(is_program) {
            return Ok(());
        }
        // If `path` leads through a symbolic link, the program may find modules next to the link and next to its
        // target.
        if let Some(imports) = self.imports.as_mut().filter(|_| real != path) {
            imports.search_directory_of(path);
        }
        self.add(&real)
    }

    /// Adds a file, or all files below a directory.
    fn add(&mut self, path: &str) -> Result<(), ProgramError> {
        let unreadable = |source| ProgramError::Unreadable { path: path.to_owned(), source };
        match self.root.metadata(path).map_err(unreadable)?.kind {
            EntryKind::File => {
                let content = self.root.read(path, MAX_FILE_BYTES).map_err(unreadable)?;
                add_content(&mut self.found, path, &content)?;
                if let Some(imports) = &mut self.imports {
                    imports.add_program(path, &content);
                }
                Ok(())
            }
            EntryKind::Directory => {
                let entries = self.root.open_directory(path).and_then(|below| below.entries()).map_err(unreadable)?;
                for (name, kind) in entries {
                    let Some(name) = name.to_str() else { continue };
                    // A link in a program is passed to `add`, which rejects it, because the digest would not cover its
                    // target. Links in inputs are skipped.
                    let is_part = matches!(kind, EntryKind::File | EntryKind::Directory)
                        || kind == EntryKind::Link && self.imports.is_some();
                    if is_part && name != "__pycache__" && name != ".git" {
                        self.add(&format!("{path}/{name}"))?;
                    }
                }
                Ok(())
            }
            _ => Err(ProgramError::Special { path: path.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn spec(command: &[&str]) -> ProgramSpec {
        ProgramSpec { command: command.iter().map(|&part| part.to_owned()).collect(), ..ProgramSpec::default() }
    }

    fn project() -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir_all(root.path().join("tools/app/lib")).expect("the directory is created");
        fs::create_dir_all(root.path().join("src")).expect("the directory is created");
        for path in ["tools/a.py", "tools/app/__main__.py", "tools/app/lib/b.py", "src/main.c", "rules"] {
            fs::write(root.path().join(path), path).expect("written");
        }
        root
    }

    fn paths(command: &[&str], root: &Path) -> Vec<String> {
        let identity = ProgramIdentity::from_spec(&spec(command), root).expect("readable");
        identity.files.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn the_files_that_a_command_names_belong_to_the_program() {
        let root = project();
        let absolute = root.path().join("tools/a.py");
        for (command, expected) in [
            (vec!["python3", "tools/a.py"], vec!["tools/a.py"]),
            (vec!["python3", "./tools/../tools/a.py"], vec!["tools/a.py"]),
            (vec!["python3", absolute.to_str().expect("text")], vec!["tools/a.py"]),
            (vec!["sh", "-c", "cat rules | python3 'tools/a.py'"], vec!["rules", "tools/a.py"]),
            (vec!["run", "--script=tools/a.py"], vec!["tools/a.py"]),
            (vec!["python3", "tools/app"], vec!["tools/app/__main__.py", "tools/app/lib/b.py"]),
            (vec!["count", "src"], vec![]),
            (vec!["count", "../elsewhere", "."], vec![]),
        ] {
            assert_eq!(paths(&command, root.path()), expected, "{command:?}");
        }
    }

    #[test]
    fn a_change_of_any_part_of_a_program_changes_the_digest() {
        let root = project();
        let digest = |spec: &ProgramSpec| ProgramIdentity::from_spec(spec, root.path()).expect("readable").digest;
        let plain = spec(&["python3", "tools/a.py"]);
        let first = digest(&plain);
        assert_eq!(digest(&plain), first);
        assert_ne!(digest(&spec(&["python3", "tools/a.py", "-x"])), first);
        assert_ne!(digest(&ProgramSpec { environment: vec!["TOKEN".to_owned()], ..plain.clone() }), first);
        assert_ne!(digest(&ProgramSpec { files: vec!["rules".to_owned()], ..plain.clone() }), first);
        assert_ne!(digest(&ProgramSpec { inputs: vec!["rules".to_owned()], ..plain.clone() }), first);
        let config = |text: &str| ProgramSpec { config: serde_json::from_str(text).expect("a map"), ..plain.clone() };
        assert_ne!(digest(&config(r#"{"a": 1, "b": 2}"#)), first);
        assert_eq!(digest(&config(r#"{"a": 1, "b": 2}"#)), digest(&config(r#"{"b": 2, "a": 1}"#)));
        fs::write(root.path().join("tools/a.py"), "changed").expect("written");
        assert_ne!(digest(&plain), first);
    }

    #[test]
    fn files_that_are_missing_or_outside_the_project_are_rejected() {
        let root = project();
        let with = |file: &str| ProgramSpec { files: vec![file.to_owned()], ..spec(&["run"]) };
        let message =
            |file: &str| ProgramIdentity::from_spec(&with(file), root.path()).expect_err("refused").to_string();
        assert_eq!(message("../rules"), "`../rules` is not below the root of the project");
        assert!(message("tools/none.py").starts_with("cannot read tools/none.py, which belongs to the program: "));
    }

    #[cfg(unix)]
    #[test]
    fn listed_links_and_links_out_of_the_project_are_rejected() {
        let root = project();
        std::os::unix::fs::symlink("/bin/sh", root.path().join("tools/link")).expect("linked");
        let listed = ProgramSpec { files: vec!["tools".to_owned()], ..spec(&["run"]) };
        for spec in [spec(&["tools/link"]), listed] {
            let error = ProgramIdentity::from_spec(&spec, root.path()).expect_err("refused");
            assert!(matches!(error, ProgramError::Special { .. }), "{error}");
        }
        // The command names a file through a link inside the project.
        std::os::unix::fs::symlink("tools", root.path().join("linked")).expect("linked");
        assert_eq!(paths(&["python3", "linked/a.py"], root.path()), ["tools/a.py"]);
    }

    #[test]
    fn inputs_may_be_missing() {
        let root = project();
        let digest = |input: &str| digest_of_inputs(&[input.to_owned()], root.path()).expect("readable");
        let (missing, present) = (digest("owners"), digest("rules"));
        assert_eq!(digest("owners"), missing);
        fs::write(root.path().join("owners"), "").expect("written");
        fs::write(root.path().join("rules"), "other").expect("written");
        assert!(digest("owners") != missing && digest("rules") != present);
    }
}
