//! What a directory of mined golden sets holds.

use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use serde::{Deserialize, Serialize};

use crate::golden::{self, GoldenErrors, GoldenSource, Question};
use crate::mine::error::MineError;
use crate::mine::selection::Selection;
use crate::mine::tree::failed;

/// Name of the file, by which a mined directory is known.
pub const MANIFEST: &str = "manifest.json";
/// Most bytes of it.
const MOST_BYTES: u64 = 1 << 20;
/// The layout that is written and read.
const FORMAT: u32 = 2;

/// The contents of a mined directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout.
    pub format: u32,
    /// The seed that chose the questions.
    pub seed: u64,
    /// Percentage that was held out.
    pub held_out_percent: f64,
    /// The trees that have to be indexed.
    pub trees: Vec<MinedTree>,
    /// The sets.
    pub sets: Vec<MinedSet>,
}

/// A tree of a mined directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MinedTree {
    /// Its name.
    pub name: String,
    /// The directory to index, relative to the directory of the trees, with `/`.
    pub root: String,
    /// Its commit; `None` without git.
    pub commit: Option<String>,
    /// How many documentation comments were blanked.
    pub blanked: usize,
}

/// A set of a mined directory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MinedSet {
    /// Its name.
    pub name: String,
    /// Its file, relative to the mined directory.
    pub file: String,
    /// Name of the tree that it is asked of.
    pub tree: String,
    /// How many questions it has.
    pub questions: usize,
    /// Whether it is kept from tuning.
    pub held_out: bool,
}

impl Manifest {
    /// An empty manifest of this layout.
    pub(crate) fn new(selection: &Selection) -> Self {
        let (seed, held_out_percent) = (selection.seed, selection.held_out);
        Self { format: FORMAT, seed, held_out_percent, trees: Vec::new(), sets: Vec::new() }
    }

    /// The manifest of a directory; `None` where it has none.
    ///
    /// # Errors
    /// When it cannot be read, or was written by another version.
    pub fn read(directory: &Directory) -> Result<Option<Self>, MineError> {
        let path = directory.path().join(MANIFEST);
        let bytes = match directory.read(MANIFEST, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(&path, error)),
        };
        let broken = |reason: String| MineError::Manifest { path: path.clone(), reason };
        let manifest: Self = serde_json::from_slice(&bytes).map_err(|error| broken(error.to_string()))?;
        if manifest.format != FORMAT {
            return Err(broken(format!("its layout is {}, this program reads {FORMAT}", manifest.format)));
        }
        let is_inside =
            |path: &str| Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
        let mut paths = manifest.trees.iter().map(|tree| &tree.root).chain(manifest.sets.iter().map(|set| &set.file));
        if let Some(path) = paths.find(|path| !is_inside(path)) {
            return Err(broken(format!("`{path}` leads out of the directory")));
        }
        Ok(Some(manifest))
    }

    /// The directory to index for a set, given the directory of the trees.
    ///
    /// # Errors
    /// When it is not there, or leads elsewhere.
    pub fn root_of(&self, trees: &Path, set: &MinedSet) -> Result<PathBuf, MineError> {
        let Some(tree) = self.trees.iter().find(|tree| tree.name == set.tree) else {
            return Ok(trees.to_owned());
        };
        let opened = Directory::open_root(trees).and_then(|trees| trees.open_directory(&tree.root));
        let opened = opened.map_err(|error| failed(&trees.join(&tree.root), error))?;
        Ok(opened.path().to_owned())
    }

    /// The questions of a set.
    ///
    /// # Errors
    /// Everything that is wrong with its file.
    pub fn questions(&self, directory: &Directory, set: &MinedSet) -> Result<Vec<Question>, GoldenErrors> {
        match set.questions {
            0 => Ok(Vec::new()),
            _ => golden::read([GoldenSource::below(directory, &set.file)]),
        }
    }
}
