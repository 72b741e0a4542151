//! Runs the mining: chooses the questions, then writes and indexes the trees on which the questions are evaluated.

use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_redact::{MASK, has_secret, masked};
use rayon::prelude::*;

use crate::golden::{self, Question};
use crate::mine::backend::IndexerBackend;
use crate::mine::documented::{DocSpan, SqueezedTexts, blanked};
use crate::mine::error::MineError;
use crate::mine::history::CommitHistory;
use crate::mine::manifest::{MANIFEST, Manifest, MinedSet, MinedTree};
use crate::mine::selection::Selection;
use crate::mine::source::{Definition, Outline, SourceFile};
use crate::mine::{commit, docstring, exact, topics, tree};

/// Maximum size of a source file, in bytes.
const MAX_SOURCE_BYTES: u64 = 1 << 30;
/// Directory of all copies of trees, within the directory for the results.
const TREES: &str = "trees";
/// Name of the copy of HEAD.
const HEAD: &str = "head";
/// Name of the copy of HEAD without the documentation of functions.
const STRIPPED: &str = "stripped";
/// Name of the copy of HEAD without the documentation of files.
const STRIPPED_TOPICS: &str = "stripped-topics";
/// Name of the copy of the pin: the commit that precedes all commits from which questions were made.
const PIN: &str = "pin";

/// The source, the destination and the selection of a mining run.
#[derive(Debug, Clone)]
pub struct MineOptions {
    /// Absolute path of the repository, or of a directory in it.
    pub root: PathBuf,
    /// Directory for the results, opened by an absolute path. It must be empty or contain the results of an earlier
    /// run.
    pub out: Directory,
    /// Directory for the copies, if it is outside of `out`. It must be empty or contain copies of an earlier run.
    pub trees: Option<Directory>,
    /// Number and choice of questions.
    pub selection: Selection,
}

/// Mines the repository. Writes the golden sets, the trees on which they are evaluated, and the indexes of these trees.
///
/// # Errors
/// Fails if the history or a file cannot be read, if a tree cannot be indexed, or if the directory contains other
/// files. The results of an earlier run may be lost in this case.
pub fn run(options: &MineOptions, backend: &dyn IndexerBackend) -> Result<Manifest, MineError> {
    let MineOptions { root, out, trees, selection } = options;
    clear(out, trees.as_ref())?;
    let trees = match trees {
        Some(trees) => trees.clone(),
        None => out.create_private_directory(TREES).map_err(|error| tree::failed(out.path(), error))?,
    };
    // This file overrides `.gitignore` files in parent directories, such as those that `aur` writes to hide indexes
    // from git.
    tree::write(&trees, ".gitignore", b"!*\n")?;
    let history = CommitHistory::open(root)?;
    let prefix = history.as_ref().map_or("", |history| history.prefix.trim_end_matches('/'));
    let head = history.as_ref().map(CommitHistory::head);
    let mut manifest = Manifest::new(selection);
    let source = TreeSource { root, trees: &trees, prefix, history: history.as_ref(), backend };

    source.copy(HEAD, head)?;
    let files = source.read(HEAD)?;
    manifest.add_tree(HEAD, prefix, head, 0);
    backend.progress("choosing questions");
    add_set(&mut manifest, out, (exact::SET, HEAD), exact::questions(&files, selection), selection)?;

    let texts = SqueezedTexts::new(&files);
    let functions: Vec<DocSpan<'_>> = docstring::documentation(&files).collect();
    let wholes: Vec<DocSpan<'_>> = topics::documentation(&files).collect();
    for (set, name, documented, documentation) in [
        (docstring::SET, STRIPPED, docstring::questions(&files, &texts, selection), functions),
        (topics::SET, STRIPPED_TOPICS, topics::questions(&files, &texts, selection), wholes),
    ] {
        if !documented.is_empty() {
            source.copy(name, head)?;
            strip(&source.open(name)?, &documentation)?;
            source.index(&source.below(name))?;
            manifest.add_tree(name, prefix, head, documentation.len());
        }
        add_set(&mut manifest, out, (set, name), documented, selection)?;
    }

    let mut committed = Vec::new();
    if let Some(history) = &history {
        backend.progress("reading the history");
        if let Some(plan) = commit::plan(history, backend, selection)? {
            source.copy(PIN, Some(plan.pin))?;
            committed = commit::questions(&plan, &source.read(PIN)?, selection);
            manifest.add_tree(PIN, prefix, Some(plan.pin), 0);
        }
    }
    add_set(&mut manifest, out, (commit::SET, PIN), committed, selection)?;
    let text = serde_json::to_string_pretty(&manifest).map_err(|error| tree::failed(out.path(), error.into()))?;
    tree::write(out, MANIFEST, format!("{text}\n").as_bytes())?;
    Ok(manifest)
}

impl Manifest {
    fn add_tree(&mut self, name: &str, prefix: &str, commit: Option<gix::ObjectId>, blanked: usize) {
        let root = if prefix.is_empty() { name.to_owned() } else { format!("{name}/{prefix}") };
        self.trees.push(MinedTree { name: name.to_owned(), root, commit: commit.map(|id| id.to_string()), blanked });
    }
}

/// Removes the results of an earlier run, even if it was killed. A directory with other content is not changed.
fn clear(out: &Directory, trees: Option<&Directory>) -> Result<(), MineError> {
    let failed = |error| tree::failed(out.path(), error);
    let has_entries = !out.entries().map_err(failed)?.is_empty();
    let has = |path: &str| out.metadata(path).is_ok();
    // A killed run has left no manifest, but may have left its first tree.
    let has_tree = || has(&format!("{TREES}/{HEAD}")) || trees.is_some_and(|trees| trees.metadata(HEAD).is_ok());
    if has_entries && !has(MANIFEST) && !has_tree() {
        return Err(MineError::Occupied(out.path().to_owned()));
    }
    [MANIFEST, TREES].into_iter().try_for_each(|name| out.remove(name)).map_err(failed)?;
    let Some(trees) = trees else { return Ok(()) };
    let removed = [STRIPPED, STRIPPED_TOPICS, PIN, HEAD].into_iter().try_for_each(|name| trees.remove(name));
    removed.map_err(|error| tree::failed(trees.path(), error))
}

/// The source and the destination of the copies of trees.
struct TreeSource<'a> {
    root: &'a Path,
    trees: &'a Directory,
    /// Path of the root relative to the work tree, without a trailing slash.
    prefix: &'a str,
    history: Option<&'a CommitHistory>,
    backend: &'a dyn IndexerBackend,
}

impl TreeSource<'_> {
    /// Returns the directory to index in the copy `name`.
    fn below(&self, name: &str) -> PathBuf {
        let tree = self.trees.path().join(name);
        if self.prefix.is_empty() { tree } else { tree.join(self.prefix) }
    }

    /// Opens the directory that [`Self::below`] returns. Creates it if it does not exist.
    fn open(&self, name: &str) -> Result<Directory, MineError> {
        let below = Path::new(name).join(self.prefix);
        self.trees.create_directories(below).map_err(|error| tree::failed(&self.below(name), error))
    }

    /// Writes the tree of a commit. Without git, copies the files that the index of the directory contains.
    fn copy(&self, name: &str, commit: Option<gix::ObjectId>) -> Result<(), MineError> {
        let directory = self.trees.create_directory(name).map_err(|error| tree::failed(self.trees.path(), error))?;
        match (self.history, commit) {
            (Some(history), Some(commit)) => {
                let missing = tree::check_out(history, commit, &directory)?;
                if missing > 0 {
                    self.backend.progress(&format!("skipped {missing} files that are missing from this clone"));
                }
                Ok(())
            }
            _ => tree::copy(self.root, &self.index(self.root)?, &directory),
        }
    }

    /// Indexes a copy and reads its files.
    fn read(&self, name: &str) -> Result<Vec<SourceFile>, MineError> {
        let root = self.open(name)?;
        read(&root, &self.index(root.path())?, self.backend)
    }

    fn index(&self, root: &Path) -> Result<Vec<String>, MineError> {
        self.backend.progress(&format!("indexing {}", root.display()));
        self.backend.index(root).map_err(|reason| MineError::Index { root: root.to_owned(), reason })
    }
}

/// Reads the files at `paths`, and parses the definitions of code files. Skips files that are not UTF-8, and paths that
/// contain secrets.
fn read(root: &Directory, paths: &[String], backend: &dyn IndexerBackend) -> Result<Vec<SourceFile>, MineError> {
    let files = paths.par_iter().map(|path| {
        let bytes = root.read(path, MAX_SOURCE_BYTES).map_err(|error| tree::failed(&root.path().join(path), error))?;
        let text = String::from_utf8(bytes).ok().filter(|_| !has_secret(path));
        Ok(text.map(|text| source_file(path, &text, backend)))
    });
    let files: Vec<Option<SourceFile>> = files.collect::<Result<_, MineError>>()?;
    Ok(files.into_iter().flatten().collect())
}

/// Creates a source file with masked secrets, as in the index. A definition whose name is masked is removed, because no
/// question can ask for it.
fn source_file(path: &str, original: &str, backend: &dyn IndexerBackend) -> SourceFile {
    let text = masked(original.to_owned());
    let mut outline = if backend.is_code(path) { backend.outline(path, &text) } else { Outline::default() };
    if text != original {
        outline.definitions.retain(|Definition { name, .. }| !name.contains(MASK) || original.contains(name));
    }
    SourceFile { path: path.to_owned(), text, definitions: outline.definitions, overviews: outline.overviews }
}

/// Blanks documentation in the files of a tree.
fn strip(root: &Directory, documentation: &[DocSpan<'_>]) -> Result<(), MineError> {
    for of_file in documentation.chunk_by(|a, b| a.file.path == b.file.path) {
        let SourceFile { path, text, .. } = of_file[0].file;
        let ranges = of_file.iter().map(|span| span.bytes.clone()).collect();
        tree::write(root, path, blanked(text, ranges).as_bytes())?;
    }
    Ok(())
}

/// Writes the development part and the held-out part of a set. Each question comes with the key that decides whether
/// the question is held out.
fn add_set(
    manifest: &mut Manifest,
    out: &Directory,
    (name, tree): (&str, &str),
    questions: Vec<(String, Question)>,
    selection: &Selection,
) -> Result<(), MineError> {
    let (mut held_out, mut development) = (Vec::new(), Vec::new());
    for (key, question) in questions {
        if selection.is_held_out(&key) {
            held_out.push(Question { set: format!("{name}.held-out"), ..question });
        } else {
            development.push(question);
        }
    }
    for (mut questions, held_out) in [(development, false), (held_out, true)] {
        questions.sort_by(|a, b| a.id.cmp(&b.id));
        questions.dedup_by(|a, b| a.id == b.id);
        let name = if held_out { format!("{name}.held-out") } else { name.to_owned() };
        let file = format!("{name}.jsonl");
        tree::write(out, &file, golden::to_jsonl(&questions).as_bytes())?;
        manifest.sets.push(MinedSet { name, file, tree: tree.to_owned(), questions: questions.len(), held_out });
    }
    Ok(())
}
