//! The embedding models of a run.

use std::sync::OnceLock;

use aurora_analysis::ModelDirectory;
use aurora_storage::ModelInfo;

/// Where models are found, and which ones this run uses.
pub(crate) struct Models {
    /// The user's models; the static model is part of the program.
    pub(crate) directory: ModelDirectory,
    vectors: OnceLock<(String, usize)>,
    tokens: OnceLock<String>,
}

impl Models {
    pub(crate) fn new(directory: ModelDirectory) -> Self {
        Self { directory, vectors: OnceLock::new(), tokens: OnceLock::new() }
    }

    /// The model whose vectors this run stores; `None` in a pipeline without embeddings.
    pub(crate) fn used(&self) -> Option<ModelInfo> {
        let (id, dimensions) = self.vectors.get().cloned()?;
        Some(ModelInfo { id, dimensions, tokens: self.tokens.get().cloned().unwrap_or_default() })
    }

    /// Records which model makes the vectors of this run, and how many dimensions they have.
    pub(crate) fn set_vectors(&self, id: &str, dimensions: usize) {
        self.vectors.get_or_init(|| (id.to_owned(), dimensions));
    }

    /// Records which model makes the tokens of this run.
    pub(crate) fn set_tokens(&self, id: &str) {
        self.tokens.get_or_init(|| id.to_owned());
    }
}
