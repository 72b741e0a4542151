//! Catalogues, with their clones and the result of the last index run of each repository.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use aurora_confined::Directory;
use aurora_project::{Catalog, CatalogRepository, RepositorySource, user};
use serde::{Deserialize, Serialize};

use crate::context::{Failure, Outcome};

/// Name of the file with the results. No repository has this name, because names begin with a letter or a digit.
const RESULTS: &str = ".results.json";
/// Maximum size of this file in bytes.
const MAX_RESULTS_BYTES: u64 = 64 << 20;

/// Loads a catalogue.
pub(crate) fn load(file: &Path) -> Outcome<Catalog> {
    Catalog::load(file).map_err(|found| Failure::findings("the catalogue", &found))
}

/// The directory of a catalogue in the user's directory.
pub(crate) struct CatalogStore {
    path: PathBuf,
    /// The directory; `None` if it does not exist.
    directory: Option<Directory>,
}

/// The result of the last index run of a repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuildResult {
    pub(crate) outcome: BuildOutcome,
    /// Time of the end, in Unix seconds.
    pub(crate) finished: i64,
    /// Duration in seconds.
    pub(crate) seconds: f64,
    /// The commit that was checked out, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) commit: Option<String>,
    /// A message, if there is something to report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BuildOutcome {
    /// The index is up to date.
    Indexed,
    /// The index is up to date, except for files that could not be read or stages that failed.
    Incomplete,
    /// The clone or the index run failed. The last good index is unchanged.
    Failed,
}

impl CatalogStore {
    /// Opens the directory of the catalogue `file`, if it exists.
    pub(crate) fn open(file: &Path) -> Outcome<Self> {
        let user = user::absolute_directory().ok_or_else(|| {
            Failure::new("no home directory is known").with_help("set AURORA_HOME to an absolute path")
        })?;
        let file =
            file.canonicalize().map_err(|error| Failure::new(format!("cannot open {}: {error}", file.display())))?;
        let name = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
        let path = user.catalogs().join(&name[..32]);
        match Directory::open_private_root(&path) {
            Ok(directory) => Ok(Self { path, directory: Some(directory) }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self { path, directory: None }),
            Err(error) => Err(Failure::new(format!("cannot open {}: {error}", path.display()))),
        }
    }

    /// Creates the directory if it does not exist.
    pub(crate) fn create(&mut self) -> Outcome {
        let created = Directory::create_private_root(&self.path);
        let directory =
            created.map_err(|error| Failure::new(format!("cannot create {}: {error}", self.path.display())))?;
        self.directory = Some(directory);
        Ok(())
    }

    /// Creates the directory of a clone if it does not exist.
    pub(crate) fn create_clone(&self, name: &str) -> io::Result<()> {
        Directory::create_private_root(&self.path)?.create_private_directory(name).map(drop)
    }

    /// Returns the directory whose files are indexed. A clone need not exist.
    pub(crate) fn root(&self, of: &CatalogRepository) -> PathBuf {
        match &of.source {
            RepositorySource::Directory(path) => path.clone(),
            RepositorySource::Remote { .. } => self.path.join(&of.name),
        }
    }

    /// Returns the results by the name of the repository. A damaged file counts as empty.
    pub(crate) fn results(&self) -> BTreeMap<String, BuildResult> {
        let text =
            self.directory.as_ref().and_then(|directory| directory.read_to_string(RESULTS, MAX_RESULTS_BYTES).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// Replaces the results.
    pub(crate) fn write(&self, results: &BTreeMap<String, BuildResult>) -> io::Result<()> {
        let Some(directory) = &self.directory else { return Ok(()) };
        let text = serde_json::to_vec(results)?;
        directory.replace(RESULTS, |file| file.write_all(&text))
    }
}
