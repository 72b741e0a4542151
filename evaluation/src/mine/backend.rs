//! What mining needs from a parser and an indexer, which the binary provides.

use std::path::Path;

use crate::mine::source::Outline;

/// Parses files and indexes directories for the miner.
pub trait IndexerBackend: Sync {
    /// Whether a file holds code with definitions, judged by its name.
    fn is_code(&self, path: &str) -> bool;

    /// The definitions of a text and what it says about itself.
    fn outline(&self, path: &str, text: &str) -> Outline;

    /// Brings the index of a directory up to date and returns the paths of the files in it.
    ///
    /// # Errors
    /// A message that says why there is no index.
    fn index(&self, root: &Path) -> Result<Vec<String>, String>;

    /// Tells how far it has come.
    fn progress(&self, message: &str);
}
