//! The state that one thread needs to attribute files: readers, caches and the line differ.

use std::sync::Arc;

use gix::ObjectId;

use crate::diff_cache::DiffCache;
use crate::line_diff::{LineDiffer, MAX_FILE_BYTES};
use crate::objects::ObjectReader;
use crate::outcome::Unattributed;
use crate::rename::RenameDetector;
use crate::tree::TreeCache;

/// The state that one thread needs to attribute files, one after the other.
pub(crate) struct Blamer {
    pub(crate) reader: ObjectReader,
    pub(crate) trees: TreeCache,
    pub(crate) renames: RenameDetector,
    pub(crate) differ: LineDiffer,
    pub(crate) diff_cache: Option<Arc<DiffCache>>,
    buffer: Vec<u8>,
}

impl Blamer {
    /// Creates a blamer for the calling thread.
    pub(crate) fn new(reader: ObjectReader, indent_heuristic: bool, diff_cache: Option<Arc<DiffCache>>) -> Self {
        Self {
            reader,
            trees: TreeCache::new(),
            renames: RenameDetector::new(),
            differ: LineDiffer::new(indent_heuristic),
            diff_cache,
            buffer: Vec::new(),
        }
    }

    /// Returns the reason why `blob` has no attribution.
    pub(crate) fn failure(&self, blob: &ObjectId) -> Unattributed {
        let reason = match self.reader.size(blob) {
            Some(size) => format!("blob {blob} has {size} bytes, too many to attribute"),
            None => format!("blob {blob} is missing from this clone"),
        };
        Unattributed::Unavailable { reason }
    }

    /// Returns the content of `blob`, or `None` if the blob is missing or too large. The content is copied out of the
    /// read buffer, because decoding a delta makes the buffer several times as large as the content.
    pub(crate) fn read_file(&mut self, blob: &ObjectId) -> Option<Vec<u8>> {
        let kind = self.reader.read(blob, &mut self.buffer)?;
        let is_usable = kind == gix::objs::Kind::Blob && self.buffer.len() <= MAX_FILE_BYTES;
        is_usable.then(|| self.buffer.as_slice().to_vec())
    }
}
