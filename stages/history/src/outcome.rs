//! The result of attributing one file.

use crate::attribution::WorktreeBlame;

/// The result of a request about one file: its attribution, or the reason why it has no attribution.
pub type Outcome<T = AttributedFile> = Result<T, Unattributed>;

/// The attribution of a file and of ranges of its lines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AttributedFile {
    /// The commit of each line.
    pub blame: WorktreeBlame,
    /// The number of commits that touched each requested range, in the order of the request.
    pub touches: Vec<u32>,
}

/// The reason why a file has no attribution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unattributed {
    /// The commit at HEAD has no regular file at this path.
    #[error("not in the commit at HEAD")]
    Untracked,
    /// HEAD has the file, but objects that are needed to attribute it are missing, damaged or too large.
    #[error("{reason}")]
    Unavailable {
        /// A description of the objects and the problem with them.
        reason: String,
    },
}
