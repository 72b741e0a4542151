//! What is known of a model that was added.

use serde::{Deserialize, Serialize};

use crate::model_file::ModelFile;
use crate::model_use::ModelUse;

/// A model that was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// What it is called in configurations.
    pub name: String,
    /// What it is for. Records of earlier versions do not say so: these knew embedding models only.
    #[serde(default, rename = "use")]
    pub model_use: ModelUse,
    /// BLAKE3 over the names and contents of its files, 16 hexadecimal digits.
    pub digest: String,
    /// Length of its vectors; 0 where it makes none.
    pub dimensions: usize,
    /// Tokens of a text, or of a pair of texts, that it looks at.
    pub max_tokens: usize,
    /// Its files, relative to its folder, in order of name.
    pub files: Vec<ModelFile>,
}
