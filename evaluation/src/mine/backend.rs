//! The parser and indexer that mining uses; the binary provides them.

use std::path::Path;

use crate::mine::source::Outline;

/// Parses files and indexes directories for the miner.
pub trait IndexerBackend: Sync {
    /// Returns `true` if the name of a file indicates that the file contains code with definitions.
    fn is_code(&self, path: &str) -> bool;

    /// Returns the definitions in a file, and the documentation of the file and of its types.
    fn outline(&self, path: &str, text: &str) -> Outline;

    /// Updates the index of a directory, and returns the paths of the indexed files.
    ///
    /// # Errors
    /// Returns a message with the reason why the directory cannot be indexed.
    fn index(&self, root: &Path) -> Result<Vec<String>, String>;

    /// Reports progress.
    fn progress(&self, message: &str);
}
