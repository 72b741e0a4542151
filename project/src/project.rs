//! A project: a directory, its index, and the stage types that its pipeline may use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_pipeline::Registry;
use aurora_query::{ConfigLayers, FlagValue, SearchConfig};
use aurora_stages::index::IndexOptions;
use aurora_storage::{Environment, KnownIndexes, OpenMode, ProjectDirectory, Snapshot, StorageError};

use crate::error::ProjectError;
use crate::{programs, user};

/// Tables of a configuration that others read.
const OTHER_TABLES: [&str; 1] = ["memory"];
/// The same in the user's own configuration.
const USER_TABLES: [&str; 2] = [aurora_stages::limits::TABLE, "logs"];

/// A directory, its index, and the stage types that its pipeline may use.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    registry: Arc<Registry>,
}

impl Project {
    /// The project at an absolute path. Its index need not exist.
    pub fn new(root: PathBuf, registry: Arc<Registry>) -> Self {
        Self { root, registry }
    }

    /// The indexed directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The `.aurora` directory, which holds the index.
    pub fn directory(&self) -> PathBuf {
        self.root.join(ProjectDirectory::NAME)
    }

    /// Whether the project has been indexed. An index of which a run was killed before it published anything does not count.
    pub fn has_index(&self) -> bool {
        Environment::is_present(&self.directory()) && !matches!(self.any_snapshot(), Err(StorageError::NoIndex { .. }))
    }

    /// Whether the root has other files than its index: an imported index needs no sources.
    pub fn has_sources(&self) -> bool {
        let Ok(entries) = Directory::open_root(&self.root).and_then(|root| root.entries()) else { return false };
        entries.iter().any(|(name, _)| !name.as_encoded_bytes().starts_with(b"."))
    }

    /// Size of the index on disk, in bytes.
    pub fn index_bytes(&self) -> u64 {
        let index =
            ProjectDirectory::of(&self.root).open().and_then(|home| home.open_directory(ProjectDirectory::INDEX));
        let Ok(index) = index else { return 0 };
        let entries = index.entries().unwrap_or_default();
        entries.iter().filter_map(|(name, _)| index.metadata(name).ok()).map(|file| file.len).sum()
    }

    /// The published generation, if the index is trusted.
    ///
    /// # Errors
    /// [`ProjectError::Distrusted`], or that there is no index, or that it cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot, ProjectError> {
        let snapshot = self.any_snapshot()?;
        user::trust()
            .check(&self.root, &snapshot)
            .map_err(|reason| ProjectError::Distrusted { root: self.root.clone(), reason })?;
        Ok(snapshot)
    }

    /// The same without asking whether the index is to be trusted.
    ///
    /// # Errors
    /// That there is no index, or that it cannot be read.
    pub fn any_snapshot(&self) -> Result<Snapshot, StorageError> {
        Environment::open(&self.directory(), OpenMode::Existing)?.snapshot()
    }

    /// Records the index, which this process has just written, as the user's own.
    ///
    /// # Errors
    /// When it cannot be read, or the record cannot be written and the index would not be trusted without.
    pub fn record(&self) -> Result<(), StorageError> {
        self.recorded(KnownIndexes::record)
    }

    /// Records the index, which somebody else has made, as one that the user accepts.
    ///
    /// # Errors
    /// As for [`Self::record`].
    pub fn accept(&self) -> Result<(), StorageError> {
        self.recorded(KnownIndexes::accept)
    }

    fn recorded(
        &self,
        record: fn(&KnownIndexes, &Path, &Snapshot) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let trust = user::trust();
        match record(&trust.known, &self.directory(), &self.any_snapshot()?) {
            Err(error) if !trust.accepts_unknown => Err(error),
            _ => Ok(()),
        }
    }

    /// The search configuration: built-in, the user's, the project's, the environment's, then `flags`.
    ///
    /// # Errors
    /// [`ProjectError::Configuration`] with everything that is wrong.
    pub fn settings(&self, flags: Vec<FlagValue>) -> Result<SearchConfig, ProjectError> {
        let user = user::config();
        let loaded = SearchConfig::load(&ConfigLayers {
            user: user.as_deref(),
            project: Some(&self.root),
            environment: user::environment(),
            flags,
            other_tables: &OTHER_TABLES,
            user_tables: &USER_TABLES,
        });
        loaded.map_err(ProjectError::Configuration)
    }

    /// The options of an index run in which the project decides everything.
    ///
    /// # Errors
    /// When the user's directory is not known, or the user's limits are wrong.
    pub fn options(&self) -> Result<IndexOptions, ProjectError> {
        Ok(IndexOptions { services: programs::services(), ..self.options_without_programs()? })
    }

    /// The options of a run that asks nobody: stages are not run if the user has not allowed their programs, and their values are
    /// kept as stale ones.
    ///
    /// # Errors
    /// As for [`Self::options`], or when the pipeline is wrong.
    pub fn unattended_options(&self) -> Result<IndexOptions, ProjectError> {
        let options = self.options()?;
        Ok(IndexOptions { untrusted: programs::untrusted(&options)?, ..options })
    }

    /// The same for a run whose stages run no programs.
    ///
    /// # Errors
    /// As for [`Self::options`].
    pub fn options_without_programs(&self) -> Result<IndexOptions, ProjectError> {
        Ok(IndexOptions {
            registry: Arc::clone(&self.registry),
            limits: user::limits()?,
            conversations: user::logs()?.map(|logs| logs.path),
            ..IndexOptions::new(self.root.clone(), user::models()?, user::trust())
        })
    }
}
