//! One mining run: questions are chosen, and the trees that they are asked of are written and indexed.

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

/// Most bytes of a file that questions are made of.
const MOST_BYTES: u64 = 1 << 30;
/// The directory of the copies within a mined one.
const TREES: &str = "trees";
/// The copy of HEAD.
const HEAD: &str = "head";
/// The copy of HEAD without the documentation of functions that is asked for.
const STRIPPED: &str = "stripped";
/// The copy of HEAD without the documentation of files that is asked for.
const STRIPPED_TOPICS: &str = "stripped-topics";
/// The copy from before the commits that are asked about.
const PIN: &str = "pin";

/// What to mine, and where to put it.
#[derive(Debug, Clone)]
pub struct MineOptions {
    /// The repository, or a directory in it; absolute.
    pub root: PathBuf,
    /// The directory to write: empty or mined before, opened by an absolute path.
    pub out: Directory,
    /// The directory of the copies, if it is not in `out`: empty or mined before.
    pub trees: Option<Directory>,
    /// Which questions are asked.
    pub selection: Selection,
}

/// Mines the repository and writes the sets, the trees that they are asked of and their indexes.
///
/// # Errors
/// When the history or a file cannot be read, a tree cannot be indexed, or the directory holds something else. What was
/// mined there before is lost then.
pub fn run(options: &MineOptions, backend: &dyn IndexerBackend) -> Result<Manifest, MineError> {
    let MineOptions { root, out, trees, selection } = options;
    clear(out, trees.as_ref())?;
    let trees = match trees {
        Some(trees) => trees.clone(),
        None => out.create_private_directory(TREES).map_err(|error| tree::failed(out.path(), error))?,
    };
    // Ignore files in the directories above are about other files: an index hides itself from git, and its neighbours.
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

    let texts = SqueezedTexts::of(&files);
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
        let questions = documented.into_iter().map(|documented| (documented.path, documented.question)).collect();
        add_set(&mut manifest, out, (set, name), questions, selection)?;
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

/// Removes what an earlier run has left, also one that was killed. A directory with other content is left alone.
fn clear(out: &Directory, trees: Option<&Directory>) -> Result<(), MineError> {
    let failed = |error| tree::failed(out.path(), error);
    let has_entries = !out.entries().map_err(failed)?.is_empty();
    let has = |path: &str| out.metadata(path).is_ok();
    // A run that was killed has left no manifest, but a first tree.
    let has_tree = || has(&format!("{TREES}/{HEAD}")) || trees.is_some_and(|trees| trees.metadata(HEAD).is_ok());
    if has_entries && !has(MANIFEST) && !has_tree() {
        return Err(MineError::Occupied(out.path().to_owned()));
    }
    [MANIFEST, TREES].into_iter().try_for_each(|name| out.remove(name)).map_err(failed)?;
    let Some(trees) = trees else { return Ok(()) };
    let removed = [STRIPPED, STRIPPED_TOPICS, PIN, HEAD].into_iter().try_for_each(|name| trees.remove(name));
    removed.map_err(|error| tree::failed(trees.path(), error))
}

/// Where the copies come from, and where they go.
struct TreeSource<'a> {
    root: &'a Path,
    trees: &'a Directory,
    /// The root below the work tree, without a slash at its end.
    prefix: &'a str,
    history: Option<&'a CommitHistory>,
    backend: &'a dyn IndexerBackend,
}

impl TreeSource<'_> {
    /// The directory to index of a copy.
    fn below(&self, name: &str) -> PathBuf {
        let tree = self.trees.path().join(name);
        if self.prefix.is_empty() { tree } else { tree.join(self.prefix) }
    }

    /// The same, opened.
    fn open(&self, name: &str) -> Result<Directory, MineError> {
        let below = Path::new(name).join(self.prefix);
        self.trees.create_directories(below).map_err(|error| tree::failed(&self.below(name), error))
    }

    /// Writes the tree of a commit, or without git the files of the directory's index.
    fn copy(&self, name: &str, commit: Option<gix::ObjectId>) -> Result<(), MineError> {
        let directory = self.trees.create_directory(name).map_err(|error| tree::failed(self.trees.path(), error))?;
        match (self.history, commit) {
            (Some(history), Some(commit)) => {
                let missing = tree::check_out(history, commit, &directory)?;
                if missing > 0 {
                    self.backend.progress(&format!("{missing} files are missing from this clone and left out"));
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

/// The files at `paths`, those of code with their definitions. Files that are not UTF-8, and paths with secrets, are left out.
fn read(root: &Directory, paths: &[String], backend: &dyn IndexerBackend) -> Result<Vec<SourceFile>, MineError> {
    let files = paths.par_iter().map(|path| {
        let bytes = root.read(path, MOST_BYTES).map_err(|error| tree::failed(&root.path().join(path), error))?;
        let text = String::from_utf8(bytes).ok().filter(|_| !has_secret(path));
        Ok(text.map(|text| source_file(path, &text, backend)))
    });
    let files: Vec<Option<SourceFile>> = files.collect::<Result<_, MineError>>()?;
    Ok(files.into_iter().flatten().collect())
}

/// A file with its secrets masked, as in the index. A definition whose name is masked cannot be asked for.
fn source_file(path: &str, original: &str, backend: &dyn IndexerBackend) -> SourceFile {
    let text = masked(original.to_owned());
    let mut outline = if backend.is_code(path) { backend.outline(path, &text) } else { Outline::default() };
    if text != original {
        outline.definitions.retain(|Definition { name, .. }| !name.contains(MASK) || original.contains(name));
    }
    SourceFile { path: path.to_owned(), text, definitions: outline.definitions, overviews: outline.overviews }
}

/// Blanks documentation, that of one file after another's.
fn strip(root: &Directory, documentation: &[DocSpan<'_>]) -> Result<(), MineError> {
    for of_file in documentation.chunk_by(|a, b| a.file.path == b.file.path) {
        let SourceFile { path, text, .. } = of_file[0].file;
        let ranges = of_file.iter().map(|span| span.bytes.clone()).collect();
        tree::write(root, path, blanked(text, ranges).as_bytes())?;
    }
    Ok(())
}

/// Writes both parts of a set. Every question comes with what it is split by.
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
