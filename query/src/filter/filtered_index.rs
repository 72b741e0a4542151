//! What a filter looks at of an index.

use std::path::Path;

use aurora_storage::{Annotations, Snapshot};

use crate::memory::Retention;

/// An index that chunks are picked from.
pub(crate) struct FilteredIndex<'i> {
    pub(crate) snapshot: &'i Snapshot,
    /// The indexed directory, against which absolute paths are resolved.
    pub(crate) root: Option<&'i Path>,
    /// Tags that users have given to its chunks.
    pub(crate) annotations: Option<&'i Annotations>,
    /// What holds of an index of memories.
    pub(crate) memory: Option<&'i dyn Retention>,
}
