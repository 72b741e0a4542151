//! The parts of an index that filters read.

use std::path::Path;

use aurora_storage::{Annotations, Snapshot};

use crate::memory::Retention;

/// An index from which a filter selects chunks.
pub(crate) struct FilteredIndex<'i> {
    pub(crate) snapshot: &'i Snapshot,
    /// The indexed directory. Absolute paths are resolved against this directory.
    pub(crate) root: Option<&'i Path>,
    /// Tags that users have given to chunks of the index.
    pub(crate) annotations: Option<&'i Annotations>,
    /// The rules of visibility and ageing, for the index of a memory; `None` for a project.
    pub(crate) memory: Option<&'i dyn Retention>,
}
