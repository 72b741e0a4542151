//! A project: a directory, its index, and the stage types that its pipeline may use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_confined::Directory;
use aurora_pipeline::Registry;
use aurora_query::{ConfigLayers, FlagValue, SearchConfig};
use aurora_stages::document_source::{self, DocumentSource};
use aurora_stages::index::IndexOptions;
use aurora_storage::{Environment, KnownIndexes, OpenMode, ProjectDirectory, Snapshot, StorageError};

use crate::error::ProjectError;
use crate::user_settings::{LogSettings, RedactSettings, SettingsTable as _, UsageSettings};
use crate::{programs, user};

/// Tables of a configuration file that are not part of the search configuration.
const OTHER_TABLES: [&str; 2] = ["memory", "remote"];
/// Additional tables in the user's own configuration file that are not part of the search configuration.
const USER_TABLES: [&str; 6] = [
    aurora_stages::limits::TABLE,
    aurora_logs::TABLE,
    LogSettings::NAME,
    UsageSettings::NAME,
    RedactSettings::NAME,
    "remotes",
];

/// A directory, its index, and the stage types that its pipeline may use.
#[derive(Debug, Clone)]
pub struct Project {
    root: PathBuf,
    registry: Arc<Registry>,
}

impl Project {
    /// Creates a project at an absolute path. Its index need not exist.
    pub fn new(root: PathBuf, registry: Arc<Registry>) -> Self {
        Self { root, registry }
    }

    /// The indexed directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The `.aurora` directory, which contains the index.
    pub fn directory(&self) -> PathBuf {
        self.root.join(ProjectDirectory::NAME)
    }

    /// Whether the project has been indexed. An index whose first run was killed before publishing a generation does
    /// not count.
    pub fn has_index(&self) -> bool {
        Environment::is_present(&self.directory()) && !matches!(self.any_snapshot(), Err(StorageError::NoIndex { .. }))
    }

    /// Size of the index on disk, in bytes.
    pub fn index_bytes(&self) -> u64 {
        let index = ProjectDirectory::in_root(&self.root)
            .open()
            .and_then(|directory| directory.open_directory(ProjectDirectory::INDEX));
        let Ok(index) = index else { return 0 };
        let entries = index.entries().unwrap_or_default();
        entries.iter().filter_map(|(name, _)| index.metadata(name).ok()).map(|file| file.len).sum()
    }

    /// Opens the published generation, if the index is trusted.
    ///
    /// # Errors
    /// Returns [`ProjectError::Distrusted`] if the index is not trusted. Also fails if there is no index, or if it
    /// cannot be read.
    pub fn snapshot(&self) -> Result<Snapshot, ProjectError> {
        let snapshot = self.any_snapshot()?;
        user::trust()
            .check(&self.root, &snapshot)
            .map_err(|reason| ProjectError::Distrusted { root: self.root.clone(), reason })?;
        Ok(snapshot)
    }

    /// Like [`Self::snapshot`], without checking whether the index is trusted.
    ///
    /// # Errors
    /// Fails if there is no index, or if it cannot be read.
    pub fn any_snapshot(&self) -> Result<Snapshot, StorageError> {
        Environment::open(&self.directory(), OpenMode::Existing)?.snapshot()
    }

    /// Records that this process has just written the index, so that the user trusts it.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or if the record cannot be written and the index would not be trusted without
    /// it.
    pub fn record(&self) -> Result<(), StorageError> {
        self.record_with(KnownIndexes::record)
    }

    /// Records that the user accepts the index, which somebody else has made.
    ///
    /// # Errors
    /// See [`Self::record`].
    pub fn accept(&self) -> Result<(), StorageError> {
        self.record_with(KnownIndexes::accept)
    }

    fn record_with(
        &self,
        record: fn(&KnownIndexes, &Path, &Snapshot) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        let trust = user::trust();
        match record(&trust.known, &self.directory(), &self.any_snapshot()?) {
            Err(error) if !trust.accepts_unknown => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the search configuration, merged from the built-in defaults, the user's file, the project's file, the
    /// environment, and `flags`. Later sources override earlier ones.
    ///
    /// # Errors
    /// Returns [`ProjectError::Configuration`] with all errors of the configuration.
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
        tracing::debug!(user = ?user, project = %self.root.display(), "loaded the search configuration");
        loaded.map_err(ProjectError::Configuration)
    }

    /// Returns the options of an index run that takes its whole configuration from the project.
    ///
    /// # Errors
    /// Fails if the user's directory is unknown, or if the user's limits or log settings are invalid.
    pub fn options(&self) -> Result<IndexOptions, ProjectError> {
        Ok(IndexOptions { services: programs::services(), ..self.options_without_programs()? })
    }

    /// Returns the options of a run that cannot ask the user for consent. Stages whose programs the user has not
    /// allowed are not run; their values stay in the index and are marked as stale.
    ///
    /// # Errors
    /// See [`Self::options`]; also fails if the pipeline is invalid.
    pub fn unattended_options(&self) -> Result<IndexOptions, ProjectError> {
        let options = self.options()?;
        Ok(IndexOptions { untrusted: programs::untrusted(&options)?, ..options })
    }

    /// Returns the options of a run that reads its documents from `source` instead of the tree. No stage of such a run
    /// uses a program.
    ///
    /// # Errors
    /// See [`Self::options`].
    pub fn options_of_source<S: DocumentSource>(&self, source: Arc<S>) -> Result<IndexOptions, ProjectError> {
        let pipeline = document_source::pipeline::<S>();
        let mut options = IndexOptions { pipeline, ..self.options_without_programs()? };
        options.services.insert(source);
        Ok(options)
    }

    /// Like [`Self::options`], for a run whose stages use no programs.
    ///
    /// # Errors
    /// See [`Self::options`].
    pub fn options_without_programs(&self) -> Result<IndexOptions, ProjectError> {
        Ok(IndexOptions {
            registry: Arc::clone(&self.registry),
            limits: user::limits()?,
            conversations: user::logs()?.map(|logs| logs.path),
            ..IndexOptions::new(self.root.clone(), user::models()?, user::trust())
        })
    }
}

/// Whether a project's directory contains an entry whose name does not begin with a dot. An index can be imported
/// without the sources. In this case, the directory contains only `.aurora`.
pub fn has_sources(root: &Path) -> bool {
    let Ok(entries) = Directory::open_root(root).and_then(|root| root.entries()) else { return false };
    entries.iter().any(|(name, _)| !name.as_encoded_bytes().starts_with(b"."))
}
