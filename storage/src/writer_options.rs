//! What a caller decides about a writer.

use crate::column::ColumnDeclaration;

/// What a writer may take, and which labels it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct WriterOptions {
    /// About how many bytes of memory to use: half for the inversion, which is spilled to disk beyond
    /// that, and an eighth for each batch on its way to disk: the one being built, one that waits, the one being
    /// written, and its pages.
    pub memory: usize,
    /// Number of threads that make segments. It does not change what is written.
    pub threads: usize,
    /// See [`Manifest::columns`](crate::Manifest::columns): what this writer publishes.
    pub columns: Vec<ColumnDeclaration>,
}

impl Default for WriterOptions {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { memory: 256 << 20, threads, columns: Vec::new() }
    }
}
