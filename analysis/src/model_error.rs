//! Errors that occur when a model is added or used.

use std::io;
use std::path::{Path, PathBuf};

use crate::embedder::STATIC;
use crate::model_use::ModelUse;

/// The reason why a model cannot be added or used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The model does not exist.
    #[error("there is no {wanted} model `{name}` in {}; available models: {known}", directory.display())]
    Unknown {
        /// The requested name.
        name: String,
        /// The requested purpose.
        wanted: ModelUse,
        /// The directory that was searched.
        directory: PathBuf,
        /// The names of the existing models, as a list for users.
        known: String,
    },
    /// The model exists, but for another purpose.
    #[error("`{name}` cannot be used for {wanted}: {}", match wanted {
        ModelUse::Embedding => "it scores results and does not produce vectors",
        ModelUse::Reranking => "it produces vectors and does not score results",
    })]
    OtherUse {
        /// The requested name.
        name: String,
        /// The requested purpose.
        wanted: ModelUse,
    },
    /// The model needs BERT, but the program was built without it.
    #[error(
        "the model `{name}` needs BERT, but this program was built without it (cargo feature `bert`); use the built-in model `{STATIC}`"
    )]
    NotCompiled {
        /// The requested name.
        name: String,
    },
    /// Neither `AURORA_HOME` nor a home directory is known.
    #[error("no home directory is known; set AURORA_HOME to the folder for Aurora's models")]
    NoHome,
    /// A folder contains no readable model.
    #[error("{} contains no model: {reason}", path.display())]
    NoModel {
        /// The folder that was given.
        path: PathBuf,
        /// The expected files, and what was found instead.
        reason: String,
    },
    /// A folder contains a model of an unsupported kind.
    #[error("{}: {what} is {found}, but only {supported} is supported", path.display())]
    Unsupported {
        /// The file with the unsupported setting.
        path: PathBuf,
        /// The setting.
        what: &'static str,
        /// Value of the setting.
        found: String,
        /// The supported values.
        supported: &'static str,
    },
    /// A file of a model has invalid content.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file, or the model's folder.
        path: PathBuf,
        /// Description of the problem.
        reason: String,
    },
    /// The name is not allowed, or another model has this name.
    #[error("`{name}` cannot be a model's name: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Description of the problem.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl ModelError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
