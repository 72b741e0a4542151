//! What attributing one file yields.

use crate::attribution::WorktreeBlame;

/// What a request about one file yields: its attribution, or why there is none.
pub type Outcome<T = AttributedFile> = Result<T, Unattributed>;

/// The attribution of a file and of ranges of its lines.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AttributedFile {
    /// The commit of each line.
    pub blame: WorktreeBlame,
    /// How many commits touched each of the ranges that were asked for, in their order.
    pub touches: Vec<u32>,
}

/// Why a file has no attribution.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unattributed {
    /// The commit at HEAD has no regular file at this path.
    #[error("not in the commit at HEAD")]
    Untracked,
    /// HEAD has the file, but objects that its attribution needs are missing, damaged or too large.
    #[error("{reason}")]
    Unavailable {
        /// Which objects, and what helps.
        reason: String,
    },
}
