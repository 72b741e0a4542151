//! Options of a writer.

use crate::column::ColumnDeclaration;

/// Memory, threads and custom columns of a writer.
#[derive(Debug, Clone, PartialEq)]
pub struct WriterOptions {
    /// Approximate memory in bytes. Half of it is for new postings. If they need more, they are written to temporary
    /// files. An eighth each is for the batch being built, the batch that waits, the batch being written, and the pages
    /// of that batch.
    pub memory: usize,
    /// Number of threads that build segments. The number does not affect the written data.
    pub threads: usize,
    /// The custom columns of the generation that this writer publishes (see
    /// [`Manifest::columns`](crate::Manifest::columns)).
    pub columns: Vec<ColumnDeclaration>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { memory: 256 << 20, threads, columns: Vec::new() }
    }
}
