//! Why a model cannot be added or used.

use std::io;
use std::path::{Path, PathBuf};

use crate::embedder::STATIC;
use crate::model_use::ModelUse;

/// Why a model cannot be added or used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// There is no such model.
    #[error("there is no {wanted} model `{name}` in {}; there is {known}", directory.display())]
    Unknown {
        /// The name asked for.
        name: String,
        /// What it was asked for.
        wanted: ModelUse,
        /// Where it was looked for.
        directory: PathBuf,
        /// The names that there are, as a list for people.
        known: String,
    },
    /// There is such a model, for another use.
    #[error("`{name}` is no {wanted} model: {}", match wanted {
        ModelUse::Embedding => "it scores results and makes no vectors",
        ModelUse::Reranking => "it makes vectors and scores no results",
    })]
    OtherUse {
        /// The name asked for.
        name: String,
        /// What it was asked for.
        wanted: ModelUse,
    },
    /// A model other than the embedded one is named in a program that is built without BERT.
    #[error(
        "the model `{name}` needs BERT, and this program was built without it (cargo feature `bert`); its own model is `{STATIC}`"
    )]
    NotCompiled {
        /// The name asked for.
        name: String,
    },
    /// Neither `AURORA_HOME` nor a home directory is known.
    #[error("no home directory is known; set AURORA_HOME to the folder that shall hold Aurora's models")]
    NoHome,
    /// A folder holds no model that can be read.
    #[error("{} holds no model: {reason}", path.display())]
    NoModel {
        /// The folder that was given.
        path: PathBuf,
        /// What was looked for, and what was found.
        reason: String,
    },
    /// A folder holds a model of a kind that is not supported.
    #[error("{}: {what} is {found}, and only {supported} is supported", path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// The setting.
        what: &'static str,
        /// Its value.
        found: String,
        /// The values that are supported.
        supported: &'static str,
    },
    /// A model's file does not hold what it should.
    #[error("{}: {reason}", path.display())]
    Damaged {
        /// The file, or the model's folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A name that cannot be the name of a folder, or that is taken.
    #[error("`{name}` cannot be a model's name: {reason}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ModelError {
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
