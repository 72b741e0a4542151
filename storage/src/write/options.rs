//! Options of a writer.

use crate::column::ColumnDeclaration;

/// Memory, threads and custom columns of a writer.
#[derive(Debug, Clone, PartialEq)]
pub struct WriterOptions {
    /// Approximate memory in bytes: half for the inversion, which spills the rest to disk, and an eighth for each batch
    /// on its way to disk: the batch being built, the batch that waits, the batch being written, and its pages.
    pub memory: usize,
    /// Number of threads that build segments. It does not affect the written data.
    pub threads: usize,
    /// The columns that this writer publishes, see [`Manifest::columns`](crate::Manifest::columns).
    pub columns: Vec<ColumnDeclaration>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { memory: 256 << 20, threads, columns: Vec::new() }
    }
}
