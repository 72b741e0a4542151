//! The manifest of a mined directory. Mining writes golden sets to this directory, and the manifest describes them and
//! the trees on which they are evaluated.

use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::{Deserialize, Serialize};

use crate::golden::{self, GoldenErrors, GoldenSource, Question};
use crate::mine::error::MineError;
use crate::mine::selection::Selection;
use crate::mine::tree::failed;

/// Name of the manifest file, which identifies a mined directory.
pub const MANIFEST: &str = "manifest.json";
/// Maximum size of the manifest, in bytes.
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// Version of the layout that this version of the program writes and reads.
const FORMAT: u32 = 2;

/// The contents of a mined directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub format: u32,
    /// The seed of the choice of questions.
    pub seed: u64,
    /// Percentage of the questions that are held out.
    pub held_out_percent: f64,
    /// The trees to index.
    pub trees: Vec<MinedTree>,
    /// The golden sets.
    pub sets: Vec<MinedSet>,
}

/// A tree on which golden sets are evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MinedTree {
    /// Name of the tree.
    pub name: String,
    /// The directory to index, relative to the directory of the trees, with `/` as separator.
    pub root: String,
    /// Commit of the tree; `None` without git.
    pub commit: Option<String>,
    /// Number of documentation comments that were blanked.
    pub blanked: usize,
}

/// A golden set in a mined directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MinedSet {
    /// Name of the set.
    pub name: String,
    /// Path of the set's file, relative to the mined directory.
    pub file: String,
    /// Name of the tree on which the questions are evaluated.
    pub tree: String,
    /// Number of questions.
    pub questions: usize,
    /// Whether the set is excluded from tuning.
    pub held_out: bool,
}

impl Manifest {
    /// Creates an empty manifest.
    pub(crate) fn new(selection: &Selection) -> Self {
        let (seed, held_out_percent) = (selection.seed, selection.held_out);
        Self { format: FORMAT, seed, held_out_percent, trees: Vec::new(), sets: Vec::new() }
    }

    /// Reads the manifest of a directory. Returns `None` if the directory has no manifest.
    ///
    /// # Errors
    /// Fails if the manifest cannot be read, or if another version of the program has written it.
    pub fn read(directory: &Directory) -> Result<Option<Self>, MineError> {
        let path = directory.path().join(MANIFEST);
        let bytes = match directory.read(MANIFEST, MAX_MANIFEST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, error)),
        };
        let broken = |reason: String| MineError::Manifest { path: path.clone(), reason };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(broken(format!("its layout version is {}, this program reads {FORMAT}", manifest.format)));
        }
        let is_inside =
            |path: &str| Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let mut paths = manifest.trees.iter().map(|tree| &tree.root).chain(manifest.sets.iter().map(|set| &set.file));
        if let Some(path) = paths.find(|path| !is_inside(path)) {
            return Err(broken(format!("`{path}` is outside of the directory")));
        }
        Ok(Some(manifest))
    }

    /// Returns the directory to index for a set. `trees` is the directory that contains all trees.
    ///
    /// # Errors
    /// Fails if the directory does not exist or is outside of `trees`.
    pub fn root_of(&self, trees: &Path, set: &MinedSet) -> Result<PathBuf, MineError> {
        let Some(tree) = self.trees.iter().find(|tree| tree.name == set.tree) else {
            return Ok(trees.to_owned());
        };
        let opened = Directory::open_root(trees).and_then(|trees| trees.open_directory(&tree.root));
        let opened = opened.map_err(|error| failed(&trees.join(&tree.root), error))?;
        Ok(opened.path().to_owned())
    }

    /// Reads the questions of a set.
    ///
    /// # Errors
    /// Returns all errors in the set's file.
    pub fn questions(&self, directory: &Directory, set: &MinedSet) -> Result<Vec<Question>, GoldenErrors> {
        match set.questions {
            0 => Ok(Vec::new()),
            _ => golden::read([GoldenSource::below(directory, &set.file)]),
        }
    }
}
